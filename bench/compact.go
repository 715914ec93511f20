package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"toptau/internal/core/matrix"
)

// compact measures blocks that are not dense.
func (b *bench) compact() error {
	for _, columns := range []int{10_000, 47_000, 1_000_000} {
		if err := b.compressed(columns); err != nil {
			return err
		}
	}
	return b.coded()
}

// compressed measures rows of 44 stored values, most of them in few columns.
func (b *bench) compressed(columns int) error {
	const stored = 44
	rows := b.rows
	r := rand.New(rand.NewPCG(7, 1))
	cols, values := make([]uint32, 0, 2*stored), make([]float64, stored)
	for i := range values {
		values[i] = 0.25 + float64(i)/100
	}
	part, err := build(matrix.Layout{{Kind: matrix.Sparse, Cols: columns}}, rows, func(int) ([]float64, []uint32, []float64) {
		for cols = cols[:0]; len(cols) < stored; {
			for range stored {
				x := r.Float64()
				cols = append(cols, uint32(x*x*x*float64(columns)))
			}
			slices.Sort(cols)
			cols = slices.Compact(cols)
		}
		cols = cols[:stored]
		return nil, cols, values
	})
	if err != nil {
		return err
	}
	w, z, g := random(1, columns), make([]float64, rows), make([]float64, columns)
	b.perItem(fmt.Sprintf("scores of compressed rows, %d columns", columns), rows*stored,
		worked(func() { part.Scores(w, z) }), "ns a value", atMost(1))
	few := everyRow(part, 100)
	all, v := everyRow(part, 1), random(2, rows)
	b.perItem(fmt.Sprintf("X'v of compressed rows, all rows active, %d columns", columns), rows*stored,
		worked(func() { part.AddGradient(all, v, g) }), "ns a value", reported)
	b.compare(fmt.Sprintf("X'v of compressed rows, 1 %% of rows active, against X w, %d columns", columns),
		b.race(worked(func() { part.Scores(w, z) }), worked(func() { part.AddGradient(few, v[:len(few)], g) })), reported)
	return nil
}

// coded compares 30 groups of 16 levels with 30 float32 columns of the same number of rows.
func (b *bench) coded() error {
	const count, levels = 30, 16
	plain, err := densePart(count, b.bytes)
	if err != nil {
		return err
	}
	for _, between := range []bool{false, true} {
		part, err := codedPart(count, levels, between, plain.Rows())
		if err != nil {
			return err
		}
		w, z, g := random(1, part.Cols()), make([]float64, part.Rows()), make([]float64, part.Cols())
		name, bound := "30 groups of 16 levels", atMost(0.5)
		if between {
			name, bound = "30 groups of 16 levels and a fraction", reported
		}
		b.compare("scores of "+name+" against 30 float32 columns",
			b.race(worked(func() { plain.Scores(w[:count], z) }), worked(func() { part.Scores(w, z) })), bound,
			fmt.Sprintf("memory %s x", number(float64(part.Bytes())/float64(plain.Bytes()))))
		for _, every := range []int{1, 100} {
			visit := everyActive(every)
			b.compare(fmt.Sprintf("scores and gradient of %s against 30 float32 columns, 1 row of %d active", name, every),
				b.race(worked(func() { plain.Pass(w[:count], visit, g[:count]) }),
					worked(func() { part.Pass(w, visit, g) })), reported)
		}
	}
	return nil
}

func codedPart(count, levels int, between bool, rows int) (*matrix.ClassRows, error) {
	spec := matrix.CodedSpec(slices.Repeat([]matrix.Group{{Levels: levels, Between: between}}, count))
	r := rand.New(rand.NewPCG(9, 1))
	cols, values := make([]uint32, 0, 2*count), make([]float64, 0, 2*count)
	return build(matrix.Layout{spec}, rows, func(int) ([]float64, []uint32, []float64) {
		cols, values = cols[:0], values[:0]
		for k := range count {
			level := uint32(levels*k + r.IntN(levels-1))
			if !between {
				cols, values = append(cols, level), append(values, 1)
				continue
			}
			f := matrix.Fraction(0.25 + 0.5*r.Float64())
			cols, values = append(cols, level, level+1), append(values, 1-f, f)
		}
		return nil, cols, values
	})
}
