package plot

import (
	"math"
	"strconv"
)

// tick is a mark on an axis. Minor ticks have no label.
type tick struct {
	at    float64
	label string
}

// step is the round number digit * 10^exponent. The digit is 1, 2 or 5.
type step struct{ digit, exponent int }

// decade returns 10^exponent.
func decade(exponent int) float64 {
	x, _ := strconv.ParseFloat("1e"+strconv.Itoa(exponent), 64)
	return x
}

func (s step) size() float64 { return s.times(1) }

// times returns count steps, rounded once. Powers of ten up to 10^22 are exact in float64, but 0.1 is not, so
// negative exponents divide.
func (s step) times(count float64) float64 {
	if s.exponent < 0 && s.exponent >= -22 {
		return count * float64(s.digit) / decade(-s.exponent)
	}
	return count * (float64(s.digit) * decade(s.exponent))
}

// exponentOf returns the e with 10^e <= x < 10^(e+1), for x > 0.
func exponentOf(x float64) int {
	text := strconv.FormatFloat(x, 'e', -1, 64)
	for i := range text {
		if text[i] == 'e' {
			e, _ := strconv.Atoi(text[i+1:])
			return e
		}
	}
	return 0
}

// niceStep returns the smallest round number that is not below x.
func niceStep(x float64) step {
	if !(x > 0) {
		return step{1, -300}
	}
	e := exponentOf(x)
	for _, digit := range []int{1, 2, 5} {
		if s := (step{digit, e}); s.size() >= x*(1-1e-9) {
			return s
		}
	}
	return step{1, e + 1}
}

// nearStep returns the round number with the ratio to x > 0 that is closest to 1.
func nearStep(x float64) step {
	above := niceStep(x)
	below := above
	switch above.digit {
	case 5:
		below.digit = 2
	case 2:
		below.digit = 1
	default:
		below = step{5, above.exponent - 1}
	}
	if x*x < above.size()*below.size() {
		return below
	}
	return above
}

// next returns the next round number: 1, 2, 5, 10.
func (s step) next() step {
	switch s.digit {
	case 1:
		return step{2, s.exponent}
	case 2:
		return step{5, s.exponent}
	}
	return step{1, s.exponent + 1}
}

// roundDown returns the largest round number that is not above x > 0.
func roundDown(x float64) float64 {
	e := exponentOf(x)
	for _, digit := range []int{5, 2} {
		if v := (step{digit, e}).size(); v <= x {
			return v
		}
	}
	return decade(e)
}

// roundUp returns the smallest round number that is not below x > 0.
func roundUp(x float64) float64 { return niceStep(x).size() }

// placeTicks chooses ticks whose labels do not touch.
func (m *mapping) placeTicks(labelSize func(string) float64) {
	if m.Marks != nil {
		m.placeMarks(labelSize)
		return
	}
	if m.Scale == Logarithmic {
		m.logarithmicTicks(labelSize)
		return
	}
	span, length := m.high-m.low, math.Abs(m.to-m.from)
	for s := niceStep(span / 8); ; s = s.next() {
		first, last := math.Ceil(m.low/s.size()-1e-6), math.Floor(m.high/s.size()+1e-6)
		var ticks []tick
		widest := 0.0
		for i := first; i <= last; i++ {
			at := s.times(i)
			label := m.tickLabel(at, s)
			ticks = append(ticks, tick{at, label})
			widest = max(widest, labelSize(label))
		}
		switch {
		case len(ticks) < 2: // fewer than two fit, so the ends are labelled
			m.ticks = []tick{{m.low, m.Unit.Write(m.low, 4)}, {m.high, m.Unit.Write(m.high, 4)}}
			return
		case float64(widest*span) <= float64(length*s.size()):
			m.ticks = ticks
			return
		}
	}
}

// tickLabel returns a multiple of a step with the decimals that the step needs.
func (m *mapping) tickLabel(x float64, s step) string {
	switch e := s.exponent; {
	case e < -6 || e > 7:
		return m.Unit.Write(x, 4)
	default:
		return m.Unit.writeFixed(x, max(0, -e))
	}
}

// logarithmicTicks labels the decades, or 1, 2 and 5 if the axis shows at most three decades, and marks the
// digits between.
func (m *mapping) logarithmicTicks(labelSize func(string) float64) {
	if m.zero {
		m.ticks = append(m.ticks, tick{0, m.Unit.Write(0, 1)})
	}
	first, last := exponentOf(m.low), exponentOf(m.high)
	stride := m.decadesPerLabel(first, last, labelSize)
	digits := map[int]bool{1: true}
	powers := m.Unit == Number && (first < -4 || last > 6)
	if last-first < 3 && stride == 1 {
		digits = m.labelledDigits(labelSize)
	}
	for e := first; e <= last; e++ {
		for digit := 1; digit <= 9; digit++ {
			at := (step{digit, e}).size()
			if at < m.low || at > m.high {
				continue
			}
			label := ""
			if digits[digit] && (last-e)%stride == 0 {
				label = m.Unit.Write(at, 3)
			}
			if label != "" && powers && digit == 1 {
				label = powerOfTen(e)
			}
			if label != "" || stride == 1 {
				m.ticks = append(m.ticks, tick{at, label})
			}
		}
	}
	m.clearZero(labelSize)
	m.labelEnds(labelSize)
}

// clearZero removes the first label if it would touch the label of 0.
func (m *mapping) clearZero(labelSize func(string) float64) {
	if !m.zero {
		return
	}
	for i, t := range m.ticks[1:] {
		if t.label == "" {
			continue
		}
		at, _ := m.at(t.at)
		if (labelSize(t.label)+labelSize(m.ticks[0].label))/2 > math.Abs(at-m.start) {
			m.ticks[i+1].label = ""
		}
		return
	}
}

// labelEnds labels the ends of an axis if fewer than two ticks have a label.
func (m *mapping) labelEnds(labelSize func(string) float64) {
	labels := 0
	for _, t := range m.ticks {
		if t.label != "" {
			labels++
		}
	}
	ends := m.Unit.Write(m.low, 3) + m.Unit.Write(m.high, 3)
	if labels >= 2 || labelSize(ends) > math.Abs(m.to-m.from) {
		return
	}
	var ticks []tick
	for _, t := range m.ticks {
		if t.at > m.low && t.at < m.high {
			t.label = ""
		}
		if t.at != m.low && t.at != m.high {
			ticks = append(ticks, t)
		}
	}
	m.ticks = append(ticks, tick{m.low, m.Unit.Write(m.low, 3)}, tick{m.high, m.Unit.Write(m.high, 3)})
}

// decadesPerLabel returns the number of decades between two labels.
func (m *mapping) decadesPerLabel(first, last int, labelSize func(string) float64) int {
	widest := 0.0
	for e := first; e <= last; e++ {
		widest = max(widest, labelSize(m.Unit.Write(decade(e), 3)))
	}
	low, _ := m.at(m.low)
	high, _ := m.at(m.high)
	decades := float64(last-first) + float64(float64(m.high/decade(last))/10) - float64(float64(m.low/decade(first))/10)
	perDecade := math.Abs(high-low) / max(decades, 0.5)
	return max(1, int(math.Ceil(widest/perDecade)))
}

// labelledDigits returns the digits to label: {1, 2, 5} if those labels fit, otherwise {1, 3} or {1}.
func (m *mapping) labelledDigits(labelSize func(string) float64) map[int]bool {
	for _, set := range [][]int{{1, 2, 5}, {1, 3}} {
		end, fits := math.Inf(-1), true
		chosen := map[int]bool{}
		for e := exponentOf(m.low); e <= exponentOf(m.high); e++ {
			for _, digit := range set {
				chosen[digit] = true
				v := (step{digit, e}).size()
				if v < m.low || v > m.high {
					continue
				}
				at, _ := m.at(v)
				at = math.Abs(at - m.start)
				half := Half(labelSize(m.Unit.Write(v, 3)))
				fits = fits && at-half >= end
				end = at + half
			}
		}
		if fits {
			return chosen
		}
	}
	return map[int]bool{1: true}
}

// RoundNumbers returns about n round numbers with equal steps between low and high, both included if they are
// round.
func RoundNumbers(low, high float64, n int) []float64 {
	if !(low < high) {
		return nil
	}
	s := niceStep((high - low) / float64(n+1))
	var numbers []float64
	for i := math.Ceil(low / s.size()); i <= math.Floor(high/s.size()); i++ {
		numbers = append(numbers, s.times(i))
	}
	return numbers
}

// placeMarks makes ticks of the axis's marks. A mark too close to the one before has no label, and the last one
// always has one.
func (m *mapping) placeMarks(labelSize func(string) float64) {
	free := math.Inf(-1)
	for i, mark := range m.Marks {
		at, ok := m.at(mark.At)
		if !ok {
			continue
		}
		t := tick{mark.At, mark.Label}
		half := Half(labelSize(mark.Label))
		if at-half < free {
			if i < len(m.Marks)-1 {
				t.label = ""
			} else if n := len(m.ticks); n > 0 {
				m.ticks[n-1].label = ""
			}
		}
		if t.label != "" {
			free = at + half
		}
		m.ticks = append(m.ticks, t)
	}
}
