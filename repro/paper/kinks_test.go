package paper

import (
	"context"
	"math"
	"testing"

	"toptau/internal/core/objective"
	"toptau/internal/core/optim"
)

// kinkRows are the rows of the probe with a constant column that is so large that all scores are rounded to halves or
// quarters. So scores are equal at the threshold, and margins are at the hinge's kink.
func kinkRows(t *testing.T) *Parts {
	t.Helper()
	r := probeRows()
	fill, columns := r.fill, r.columns
	r.columns++
	r.fill = func(row int, dst []float64) {
		fill(row, dst[:columns])
		dst[columns] = 1 << 53
	}
	parts, err := r.divide(division{shares: halfQuarterQuarter, seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return parts
}

// TestACellOfTiesAndKinks computes cells that depend on both conventions of the steps: of equal scores the first row
// is on top, and the slope of the hinge at its kink is 0. None of the committed cells depends on the second.
func TestACellOfTiesAndKinks(t *testing.T) {
	parts := kinkRows(t)
	v := variant{Seed: 1, Solver: solverAdam, Start: optim.Random}
	w := workshop{parts: parts, minibatches: 1}
	cells, err := w.makeCells(context.Background(), v, entries()[:1])
	if err != nil {
		t.Fatal(err)
	}
	const want = "bfb9cedabf4ff0cb"
	if got := cells[0].digest()[:16]; got != want {
		t.Errorf("the cell is %s, want %s: %+v", got, want, cells[0].Points)
	}
	// The order of the rows decides which of the equal scores are on top.
	v.Change = "rows1"
	if other, err := w.makeCells(context.Background(), v, entries()[:1]); err != nil || math.Abs(other[0].Points[0].F-cells[0].Points[0].F) < 0.01 {
		t.Errorf("rows in another order: F = %v instead of %v, %v", other[0].Points[0].F, cells[0].Points[0].F, err)
	}
	kinks, ties := 0, 0
	problems, err := entries()[0].problems()
	if err != nil {
		t.Fatal(err)
	}
	o, err := objective.New(problems[0], parts.Training)
	if err != nil {
		t.Fatal(err)
	}
	walk := newWalk(o, []float64{1, 1, 1, 0.3})
	if err := walk.descend(context.Background(), 100); err != nil {
		t.Fatal(err)
	}
	for _, at := range walk.points {
		s, threshold, equal := scoreRows(parts.Training, at), o.At(at, nil).T, 0
		for _, z := range s.Positives {
			if z-threshold == 1 {
				kinks++
			}
		}
		for _, z := range s.Negatives {
			if z == threshold {
				equal++
			}
		}
		if equal > 1 {
			ties++
		}
	}
	if t.Logf("%d margins at the kink, %d iterates with ties", kinks, ties); kinks == 0 || ties < 10 {
		t.Errorf("%d margins at the kink, %d iterates with ties at the threshold", kinks, ties)
	}
}
