package certified

import (
	"math"

	"toptau/internal/core/certified/form"
)

// problem is the problem of a solve, with facts about its data that cost no pass.
type problem struct {
	form   form.Form
	shape  Shape
	atZero float64 // F(0)
	zero   *Point  // w = 0
	wide   bool    // few rows matter, and the products of rows solve the problem
	unit   float64 // weightUnit of all rows, for a sample of them; 0: its own
}

// valueRounding is the relative rounding error of F, and of the scores or their squares that it is computed from.
const valueRounding = 1e-14

// beats reports whether F = f, computed from scores of about the given size, is below another value by more than rounding. Sums of
// squared losses are formed from sums of squared scores.
func (p *problem) beats(value, size, other float64) bool {
	if p.form.Squared {
		size *= size
	}
	return value < other-float64(valueRounding*(other+math.Abs(size)))
}

// wholeMean reports whether the threshold is the mean of the whole population. Then a = m/M is the only
// choice, and the restricted problem has no interior. It gets the mean of the rows as its only row, with a
// cap that is never reached.
func (p *problem) wholeMean() bool {
	return p.form.Kind == form.TopMean && p.shape.Population.Mass <= p.form.Kappa*(1+massNoise)
}

// massNoise is the relative rounding error of a mass.
const massNoise = 1e-12

// firstRows is the number of best rows that a solve starts with: clearly more than kappa, or the restricted
// problem has no interior.
func (p *problem) firstRows() int {
	return int(math.Min(math.Max(violatorsNear, firstKappas*math.Ceil(p.rowsOnTop())), float64(p.shape.Population.Rows)))
}

// rowsOnTop returns kappa as a number of rows.
func (p *problem) rowsOnTop() float64 { return p.form.Kappa / p.weightUnit() }

// weightUnit returns the mean weight of the population's rows, so that only ratios of weights decide how a problem is solved.
func (p *problem) weightUnit() float64 {
	if p.unit > 0 {
		return p.unit
	}
	return p.shape.Population.Mass / float64(p.shape.Population.Rows)
}
