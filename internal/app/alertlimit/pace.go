package alertlimit

import "math"

// pace forecasts how many rows of a window are still to come, from the rows of today and of former windows. Rows
// do not arrive evenly over a day, so it also learns when they arrive.
type pace struct {
	Windows float64          `json:"windows"` // former windows, each weighted by keepHistory to its age
	Rows    float64          `json:"rows"`    // their rows
	By      [profile]float64 `json:"by"`      // their rows by the time of arrival, in equal parts of the window; all 0: not known
}

const (
	// profile is the number of parts: the hours of a day.
	profile = 24
	// forecastWeight is the weight of the forecast against the rows of today, as a fraction of a window. With 0.1,
	// both count alike after a tenth of the window.
	forecastWeight = 0.1
	// evenRows are rows that are assumed to have arrived evenly, as a fraction of those that were seen, so that no
	// part of a window counts as empty.
	evenRows = 0.02
)

// expected returns the number of rows in a window, 0 if nothing is known.
func (p *pace) expected() float64 {
	if p.Windows == 0 {
		return 0
	}
	return p.Rows / p.Windows
}

// elapsed returns the fraction of a window's rows that arrive before a fraction of its time has passed.
func (p *pace) elapsed(time float64) float64 {
	time = min(max(time, 0), 1)
	total := 0.0
	for _, n := range p.By {
		total += n
	}
	if total == 0 {
		return time
	}
	part, into := math.Modf(float64(time * profile))
	sum := 0.0
	for i, n := range p.By {
		switch {
		case i < int(part):
			sum += n
		case i == int(part):
			sum += float64(n * into)
		}
	}
	return (sum/total + float64(evenRows*time)) / (1 + evenRows)
}

// left forecasts the rows to come, with this one, after some rows and a fraction of the window's time.
func (p *pace) left(rows, time float64) float64 {
	u, weight := p.elapsed(time), forecastWeight
	expected := p.expected()
	if expected == 0 {
		weight = 0
	}
	if u+weight == 0 {
		return math.MaxFloat64
	}
	return max(1, (float64(weight*expected)+rows)/(weight+u)*(1-u))
}

// part returns the part of a window in which a row arrives.
func part(time float64) int { return min(int(min(max(time, 0), 1)*profile), profile-1) }
