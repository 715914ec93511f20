package paper

import (
	"testing"
)

// The paper's conclusions must follow from its printed ranks.
func TestThePaperAgreesWithItself(t *testing.T) {
	for _, s := range statements() {
		c, ok := s.contrast(func(k int) []float64 {
			var r []float64
			for _, row := range printedRanks {
				r = append(r, row[k])
			}
			return r
		})
		if !ok || c >= 0 {
			t.Errorf("%s: %+.2f by the paper's ranks", s.text, c)
		}
	}
}

func TestContrastUsesTheCriteriaThatThereAre(t *testing.T) {
	s := statement{better: withNames("toppush"), worse: withNames("toppushk"), criteria: everyCriterion}
	ranks := make([]float64, 14)
	ranks[0], ranks[1] = 3, 5
	c, ok := s.contrast(func(k int) []float64 {
		if k == 1 {
			return nil
		}
		return ranks
	})
	if !ok || c != -2 {
		t.Errorf("contrast = %v, %v", c, ok)
	}
	if _, ok := s.contrast(func(int) []float64 { return nil }); ok {
		t.Error("a contrast exists without ranks")
	}
}

func TestShortfallTellsItsCases(t *testing.T) {
	lower := func(f float64) *float64 { return &f }
	optimum := &Cell{Points: []Point{
		{F: 0.5, AtZero: 1, Lower: lower(0.5), Converged: true},
		{F: 0.5, AtZero: 1, Lower: lower(0.5), Converged: true},
		{F: 1, AtZero: 1, Lower: lower(1), Converged: true, Zero: true},
		{F: 0.7, AtZero: 1, Lower: lower(0.2)},
		{Failed: "x"},
		{F: 0.5, AtZero: 1, Lower: lower(0.5), Converged: true},
	}}
	adam := &Cell{Points: []Point{{F: 0.6, AtZero: 1}, {F: 1.5, AtZero: 1}, {F: 1.2, AtZero: 1}, {F: 0.8, AtZero: 1}, {F: 1, AtZero: 1}, {F: 0.4, AtZero: 1}}}
	var f shortfall
	f.addCells(adam, optimum)
	if f.compared != 5 || f.atZero != 1 || f.unproven != 1 || f.wasted != 1 || f.undercuts != 1 || len(f.missing) != 3 {
		t.Errorf("%+v", f)
	}
	if m := f.missing[0]; m < 0.2-1e-9 || m > 0.2+1e-9 {
		t.Errorf("a tenth of a half is missing, not %v", m)
	}
}
