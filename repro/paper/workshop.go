package paper

import (
	"context"

	"toptau/method"
)

// workshop makes cells from the parts of one split. It knows neither the store nor the catalogue, so that a
// run, the probe of the fingerprint and the test of the committed cells share every step.
type workshop struct {
	parts       *Parts
	minibatches int
	zero        func(method.Problem) (*ZeroAnswer, error) // whether w = 0 is optimal; for the certified solver
	progress    func(fraction float64)                    // nil: not
}

// makeCells fits some entries and measures them. Key and Set of the cells are empty. The certified solver
// takes one entry at a time, or several without a certificate.
func (w *workshop) makeCells(ctx context.Context, v variant, list []entry) ([]*Cell, error) {
	if w.progress == nil {
		w.progress = func(float64) {}
	}
	training := v.Change.apply(w.parts.Training)
	var cells []*Cell
	add := func(list []entry, fits []fitted) error {
		for i, e := range list {
			c := &Cell{Variant: v.String(), Entry: e.Key(), Points: fits[i].points, Rows: fits[i].rows,
				SecondsFit: fits[i].seconds, Limitations: fits[i].limits}
			drawn := v == variant{Seed: first, Solver: v.Solver} && drawnInFigures(e)
			if err := chooseAndTest(c, e, fits[i].w, w.parts, drawn); err != nil {
				return err
			}
			cells = append(cells, c)
		}
		return nil
	}
	if v.Solver == solverAdam || certifiedless(list[0]) {
		fits, err := fitAdam(ctx, training, w.minibatches, v, list, w.progress)
		if err != nil {
			return nil, err
		}
		return cells, add(list, fits)
	}
	for i, e := range list {
		f, err := fitCertified(ctx, training, e, v.Change.gap(), w.zero, w.progress)
		if err != nil {
			return nil, err
		}
		if err := add(list[i:i+1], []fitted{f}); err != nil {
			return nil, err
		}
	}
	return cells, nil
}
