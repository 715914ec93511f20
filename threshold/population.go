package threshold

import (
	"fmt"
	"math"

	"toptau/diag"
	"toptau/internal/core/detmath"
)

// NewPopulation returns the population of some number of rows with the given weights, one per row (nil: all
// 1). Rows of weight 0 count as absent.
func NewPopulation(rows int, weights []float64) Population {
	if weights == nil {
		return Population{Rows: rows, Mass: float64(rows), MinWeight: 1, Whole: true}
	}
	p := Population{Rows: rows, MinWeight: math.Inf(1), Whole: true}
	var mass detmath.Sum
	for _, m := range weights {
		mass.Add(m)
		if m != math.Floor(m) {
			p.Whole = false
		}
		if m > 0 && m < p.MinWeight {
			p.MinWeight = m
		}
	}
	p.Mass = mass.Value()
	return p
}

// massOnTop returns kappa for a fraction tau: max(1, ceil(M tau)) for whole weights, max(min m_j, M tau) for
// others.
func (p Population) massOnTop(tau Rate) float64 {
	if p.Whole {
		return tau.ceilMass(p.Mass)
	}
	return max(p.MinWeight, tau.Times(p.Mass))
}

// check returns an error of kind data unless some row has a positive weight and their sum is finite.
func (p Population) check() error {
	if p.Rows > 0 && p.Mass > 0 && !math.IsInf(p.Mass, 0) {
		return nil
	}
	return &diag.Error{
		Kind:     diag.Data,
		Found:    p.sizeText(),
		Expected: "at least one row, and a positive finite total weight",
	}
}

// sizeText describes the population in messages.
func (p Population) sizeText() string {
	if p.Mass == float64(p.Rows) {
		return fmt.Sprintf("a population of %d rows", p.Rows)
	}
	return fmt.Sprintf("a population of %d rows, total weight %v", p.Rows, p.Mass)
}
