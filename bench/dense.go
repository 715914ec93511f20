package main

import (
	"fmt"
	"slices"

	"toptau/internal/core/kernel"
	"toptau/internal/core/lockstep"
	"toptau/internal/core/matrix"
)

var features = []int{10, 28, 128, 784, 5000}

// dense measures the passes of one model.
func (b *bench) dense() error {
	for _, d := range features {
		part, err := densePart(d, b.bytes)
		if err != nil {
			return err
		}
		pieces, err := memory(part)
		if err != nil {
			return err
		}
		w, z, g := random(1, d), make([]float64, part.Rows()), make([]float64, d)
		rows, v := everyRow(part, 1), random(2, part.Rows())
		probe, scores := worked(func() { read(pieces) }), worked(func() { part.Scores(w, z) })
		o := b.race(probe, scores)
		speed := float64(part.Rows()) * float64(4*d) / 1e9 / slices.Min(o.yardstick)
		b.compare(fmt.Sprintf("X w against the probe, d = %d", d), o, atMost(1.10), fmt.Sprintf("probe %.0f GB/s", speed))
		b.compare(fmt.Sprintf("X'v against the probe, d = %d", d),
			b.race(probe, worked(func() { part.AddGradient(rows, v, g) })), atMost(1.10))
		b.compare(fmt.Sprintf("scores and gradient against X w, all rows active, d = %d", d),
			b.race(scores, worked(func() { part.Pass(w, everyActive(1), g) })), atMost(1.3))
		b.compare(fmt.Sprintf("scores and gradient against X w, 0.1 %% of rows active, d = %d", d),
			b.race(scores, worked(func() { part.Pass(w, everyActive(1000), g) })), atMost(1.05))
	}
	return nil
}

// everyActive returns a callback that makes every n-th row active, with its score as coefficient.
func everyActive(every int) func(first int, z, v []float64) bool {
	if every == 1 {
		return func(_ int, z, v []float64) bool {
			copy(v, z)
			return true
		}
	}
	return func(first int, z, v []float64) bool {
		any := false
		for r := (every - first%every) % every; r < len(v); r += every {
			v[r], any = z[r], true
		}
		return any
	}
}

// models measures scores and gradients of several models in one pass.
func (b *bench) models() error {
	for _, d := range features {
		part, err := densePart(d, b.bytes)
		if err != nil {
			return err
		}
		w, z := random(1, d), make([]float64, part.Rows())
		scores := worked(func() { part.Scores(w, z) })
		part.Scores(w, z)
		floor, passes := topFloor(z, 0.01), lockstep.NewPasses(part)
		for _, models := range []int{16, 32} {
			plain, kept := make([]lockstep.Request, models), make([]lockstep.Request, models)
			for h := range plain {
				plain[h] = lockstep.Request{W: w}
				kept[h] = lockstep.Request{W: w, Candidates: &lockstep.Candidates{}, Floor: floor}
			}
			bound := map[int]goal{16: atMost(2.4), 32: atMost(4.2)}[models]
			b.compare(fmt.Sprintf("scores of %d models against X w, d = %d", models, d),
				b.race(scores, worked(func() { passes.Scores(plain) })), bound)
			b.compare(fmt.Sprintf("scores of %d models, the top 1 %% kept, against X w, d = %d", models, d),
				b.race(scores, worked(func() { passes.Scores(kept) })), bound)
			if d >= 28 { // below, coefficients of all rows take many times the memory of the data
				b.gradients(part, passes, scores, models)
			}
		}
	}
	return nil
}

func (b *bench) gradients(part *matrix.ClassRows, passes *lockstep.Passes, scores timer, models int) {
	g, rows := make([]float64, part.Cols()*models), everyRow(part, 1)
	v := make([]float32, len(rows))
	for i := range v {
		v[i] = 1 / float32(i%100+1)
	}
	c := make([]lockstep.Coefficients, models)
	for h := range c {
		c[h] = lockstep.Coefficients{Rows: rows, V: v}
	}
	b.compare(fmt.Sprintf("gradients of %d models, all rows active, against X w, d = %d", models, part.Cols()),
		b.race(scores, worked(func() { passes.AddGradients(c, g) })), reported)
}

// topFloor returns a score that is below a fraction of all scores.
func topFloor(z []float64, share float64) float32 {
	sorted := slices.Clone(z)
	slices.Sort(sorted)
	return float32(sorted[len(sorted)-1-int(share*float64(len(sorted)))])
}

// tile measures the tile on data that stays in cache, as a fraction of what the multiply-add units can do.
func (b *bench) tile() error {
	if multiplyAdds(1<<20) == 0 {
		b.note("Skipped: this processor runs the plain Go kernels.")
		return nil
	}
	for _, d := range []int{10, 28, 128, 784} {
		for _, models := range []int{16, 32} {
			panels := max(1, (128<<10)/(4*kernel.PanelRows*d))
			x, w := make([]float32, panels*kernel.PanelRows*d), make([]float32, d*models)
			group := min(panels, max(1, (48<<10)/(4*kernel.PanelRows*models))) // as many panels as a pass takes at a time
			z := make([]float32, group*kernel.PanelRows*models)
			all, lanes := make([]float32, panels*kernel.PanelRows*models), make([]float32, d*models*kernel.TileLanes)
			for i := range all {
				all[i] = 1
			}
			const rounds = 100
			work := rounds * len(x) * models
			peak := worked(func() { multiplyAdds(work) })
			o := b.race(peak, worked(func() {
				for range rounds {
					for p := 0; p < panels; p += group {
						n := min(group, panels-p)
						kernel.ScoreTile(x[p*kernel.PanelRows*d:], w, models, z[:n*kernel.PanelRows*models], false)
					}
				}
			})).swapped()
			rate := float64(work) / 1e9 / slices.Min(o.measured)
			b.compare(fmt.Sprintf("scores of %d models, fraction of the multiply-add peak, d = %d", models, d), o, atLeast(0.9),
				fmt.Sprintf("peak %.0f GFMA/s", rate))
			b.compare(fmt.Sprintf("gradients of %d models, fraction of the multiply-add peak, d = %d", models, d),
				b.race(peak, worked(func() {
					for range rounds {
						kernel.AccumulateTile(x, all, models, lanes)
					}
				})).swapped(), reported)
		}
	}
	return nil
}
