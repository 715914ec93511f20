package main

import (
	"fmt"
	"slices"

	"toptau/internal/core/lockstep"
	"toptau/threshold"
)

// selection measures the exact K-th largest score and the mean of the K largest.
func (b *bench) selection() error {
	sizes := []string{"100,000", "1,000,000", "10,000,000"}
	for i, n := range []int{100_000, 1_000_000, 10_000_000} {
		size, z := sizes[i], normals(5, n)
		for _, share := range []string{"1%", "50%"} {
			t, err := threshold.Quantile{Tau: threshold.MustRate(share)}.Bind(threshold.NewPopulation(n, nil))
			if err != nil {
				return err
			}
			var s threshold.Support
			b.perItem(fmt.Sprintf("K-th largest of %s scores, cold, K = %s", size, share), n,
				worked(func() { t.At(z, nil, &s) }), "ns a row", atMost(1))
		}
	}
	for _, d := range []int{10, 28, 128, 784} {
		if err := b.carried(d); err != nil {
			return err
		}
	}
	return nil
}

// carried measures the time that a threshold adds to a pass when its last value is known. The pass selects the candidates, a
// tenth more than are needed.
func (b *bench) carried(d int) error {
	part, err := densePart(d, b.bytes)
	if err != nil {
		return err
	}
	w, z := random(1, d), make([]float64, part.Rows())
	part.Scores(w, z)
	rule, err := threshold.Quantile{Tau: threshold.MustRate("1%")}.Bind(threshold.NewPopulation(part.Rows(), nil))
	if err != nil {
		return err
	}
	passes := lockstep.NewPasses(part)
	var found lockstep.Candidates
	var s threshold.Support
	candidates := []lockstep.Request{{W: w, Candidates: &found, Floor: topFloor(z, 0.011)}}
	plain := []lockstep.Request{{W: w}}
	o := b.race(worked(func() { passes.Scores(plain) }), worked(func() {
		passes.Scores(candidates)
		z = z[:0]
		for _, scores := range found.All() {
			for _, x := range scores {
				z = append(z, float64(x))
			}
		}
		rule.At(z, nil, &s)
	}))
	bound := reported
	if d >= 28 {
		bound = atMost(1.05)
	}
	b.compare(fmt.Sprintf("pass with the K-th largest, carried threshold, against the pass alone, K = 1%%, d = %d", d), o, bound)
	return nil
}

// perItem adds a line with the time of one of n items instead of a ratio.
func (b *bench) perItem(what string, n int, t timer, unit string, g goal) {
	o := b.race(func() float64 { return 0 }, t)
	each := 1e9 / float64(n)
	b.add(line{what: what, reached: each * slices.Min(o.measured), unit: " " + unit, goal: g,
		beside: "median " + number(each*middle(o.measured))})
}
