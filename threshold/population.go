package threshold

import (
	"fmt"
	"math"

	"toptau/diag"
)

// NewPopulation describes rows rows of the given weights (nil: all 1). Rows of weight 0 count as absent.
func NewPopulation(rows int, weights []float64) Population {
	if weights == nil {
		return Population{Rows: rows, Mass: float64(rows), MinWeight: 1, Whole: true}
	}
	p := Population{Rows: rows, MinWeight: math.Inf(1), Whole: true}
	var mass sum
	for _, m := range weights {
		mass.add(m)
		if m != math.Floor(m) {
			p.Whole = false
		}
		if m > 0 && m < p.MinWeight {
			p.MinWeight = m
		}
	}
	p.Mass = mass.total()
	return p
}

// top returns kappa for a fraction tau: max(1, ceil(M tau)) for whole weights, max(min m_j, M tau) for others.
func (p Population) top(tau Rate) float64 {
	if p.Whole {
		return tau.ceilMass(p.Mass)
	}
	return max(p.MinWeight, tau.Times(p.Mass))
}

// check refuses a population that no rule can work on.
func (p Population) check() error {
	if p.Rows > 0 && p.Mass > 0 && !math.IsInf(p.Mass, 0) {
		return nil
	}
	return &diag.Error{
		Kind:     diag.Data,
		Found:    p.size(),
		Expected: "at least one row, and a positive finite total weight",
	}
}

// size says how large the population is, for messages.
func (p Population) size() string {
	if p.Mass == float64(p.Rows) {
		return fmt.Sprintf("a population of %d rows", p.Rows)
	}
	return fmt.Sprintf("a population of %d rows, total weight %v", p.Rows, p.Mass)
}
