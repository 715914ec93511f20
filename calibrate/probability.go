package calibrate

import (
	"fmt"
	"math"
	"sort"

	"toptau/internal/core/detmath"
)

// Probability turns scores into probabilities of the positive class, which never decrease with the score. With
// Knots it is isotonic. Otherwise it is beta calibration (Kull, Silva Filho and Flach 2017) on
// a scale of its own: with u = (score - Middle) / Scale and softplus(u) = log(1 + exp(u)),
//
//	log odds = C - A softplus(-u) + B softplus(u),   A, B >= 0.
//
// In the log odds that is a smooth line with slope A/Scale far below Middle and slope B/Scale far above it. A = B is Platt's
// logistic calibration. Three numbers need few positives.
type Probability struct {
	Method     string  `json:"method"`          // "beta" or "isotonic"
	Knots      []Knot  `json:"knots,omitempty"` // isotonic: ascending in both fields
	Middle     float64 `json:"middle"`          // where the slope changes, in units of the score
	Scale      float64 `json:"scale"`           // width of the change, above 0
	A          float64 `json:"a"`               // slope far below Middle, at least 0
	B          float64 `json:"b"`               // slope far above Middle, at least 0
	C          float64 `json:"c"`               // log odds at u = 0, plus (A - B) log 2
	Prevalence float64 `json:"prevalence"`      // fraction of positives that it assumes
	Rows       int     `json:"rows"`            // held-out rows that it was fitted to
	Positives  int     `json:"positives"`       // positives among them
	Source     string  `json:"source"`          // which rows these are, in words
	// probabilities and frequencies on rows that did not fit them (five folds), ascending
	Reliability []Reliability `json:"reliability"`
}

// Reliability compares predicted probabilities with what happened, for rows with similar predictions.
type Reliability struct {
	Rows      int     `json:"rows"`      // number of rows
	Positives int     `json:"positives"` // positives among them
	Predicted float64 `json:"predicted"` // mean predicted probability
	Observed  float64 `json:"observed"`  // fraction of positives, at the assumed prevalence
	Low       float64 `json:"low"`       // ends of its 95 % interval (Clopper-Pearson)
	High      float64 `json:"high"`      // likewise
}

// Methods of calibration.
const (
	Beta     = "beta"
	Isotonic = "isotonic"
)

// Terms returns the factors of A, B and C in the log odds.
func (p *Probability) Terms(score float64) [3]float64 {
	u := (score - p.Middle) / p.Scale
	return [3]float64{-detmath.Softplus(-u), detmath.Softplus(u), 1}
}

// LogOdds returns the log odds of a positive row with a score.
func (p *Probability) LogOdds(score float64) float64 {
	if p.Knots != nil {
		x := interpolate(p.Knots, score)
		return detmath.Log(x / (1 - x))
	}
	t := p.Terms(score)
	return float64(p.A*t[0]) + float64(p.B*t[1]) + p.C
}

// At returns the probability that a row with a score is positive.
func (p *Probability) At(score float64) float64 { return detmath.Logistic(p.LogOdds(score)) }

// AtPrevalence is At for rows of which another fraction is positive, if each class is as in training: the odds
// are multiplied by the ratio of the odds of the prevalences.
func (p *Probability) AtPrevalence(score, prevalence float64) float64 {
	shift := detmath.Log(prevalence/(1-prevalence)) - detmath.Log(p.Prevalence/(1-p.Prevalence))
	return detmath.Logistic(p.LogOdds(score) + shift)
}

// Knot is a score with its probability.
type Knot struct {
	Score       float64 `json:"score"`
	Probability float64 `json:"probability"`
}

// interpolate returns the probability at a score.
func interpolate(knots []Knot, score float64) float64 {
	i := sort.Search(len(knots), func(i int) bool { return knots[i].Score > score })
	switch {
	case i == 0:
		return knots[0].Probability
	case i == len(knots):
		return knots[i-1].Probability
	}
	a, b := knots[i-1], knots[i]
	return a.Probability + float64((b.Probability-a.Probability)*((score-a.Score)/(b.Score-a.Score)))
}

// Check returns an error for numbers that no fit returns.
func (p *Probability) Check() error {
	for _, x := range []float64{p.Middle, p.Scale, p.A, p.B, p.C, p.Prevalence} {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("a number that is not finite: %v", x)
		}
	}
	if p.Method != Beta && p.Method != Isotonic || (p.Method == Isotonic) != (len(p.Knots) > 0) {
		return fmt.Errorf("method %q with %d knots", p.Method, len(p.Knots))
	}
	for i, k := range p.Knots {
		if math.IsNaN(k.Score) || math.IsInf(k.Score, 0) || !(k.Probability > 0 && k.Probability < 1) ||
			i > 0 && (k.Score <= p.Knots[i-1].Score || k.Probability <= p.Knots[i-1].Probability) {
			return fmt.Errorf("knot %d at %v with probability %v", i+1, k.Score, k.Probability)
		}
	}
	if !(p.Scale > 0) || p.A < 0 || p.B < 0 || !(p.Prevalence > 0 && p.Prevalence < 1) || p.Positives < 0 || p.Positives > p.Rows {
		return fmt.Errorf("scale %v, slopes %v and %v, prevalence %v, %d positives of %d rows", p.Scale, p.A, p.B, p.Prevalence, p.Positives,
			p.Rows)
	}
	for _, r := range p.Reliability {
		for _, x := range []float64{r.Predicted, r.Observed, r.Low, r.High} {
			if !(x >= 0 && x <= 1) {
				return fmt.Errorf("a reliability of %v", x)
			}
		}
		if r.Rows < 1 || r.Positives < 0 || r.Positives > r.Rows {
			return fmt.Errorf("%d positives of %d rows", r.Positives, r.Rows)
		}
	}
	return nil
}
