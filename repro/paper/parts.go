package paper

import (
	"fmt"
	"math"
	"slices"

	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
	"toptau/internal/training/tune"
	"toptau/schema"
)

// Parts are a set divided as in the paper.
type Parts struct {
	Training, Validation, Test *matrix.Matrix
}

// inOrder returns the parts in the order of Table "counts".
func (p *Parts) inOrder() [3]*matrix.Matrix {
	return [3]*matrix.Matrix{p.Training, p.Validation, p.Test}
}

// rows are labelled rows with random access.
type rows struct {
	columns int
	class   []table.Class
	attack  []string // the attack's type, "" for none; nil if the set has no types
	fill    func(row int, dst []float64)
}

// division describes how rows are divided into parts.
type division struct {
	shares [3]float64 // relative sizes of the parts
	seed   uint64
	keep   float64 // fraction of the rows that is used, drawn by class; 0 for all
	mlt    bool    // the paper's label noise, see addLabelNoise
	scaled bool    // divide every column by its standard deviation on the training rows
}

// divide cuts rows into parts, stratified by class, and packs them.
func (r *rows) divide(d division) (*Parts, error) {
	shares := d.shares[:]
	if d.keep > 0 && d.keep < 1 {
		shares = make([]float64, 0, 4)
		var sum float64
		for _, s := range d.shares {
			shares = append(shares, float64(d.keep*s))
			sum += s
		}
		shares = append(shares, float64((1-d.keep)*sum))
	}
	cut, err := tune.Cut{Shares: shares, Seed: d.seed}.Divide(r.class)
	if err != nil {
		return nil, err
	}
	training, validation, test := cut[0], cut[1], cut[2]
	class := r.class
	if d.mlt {
		training, validation, class = r.addLabelNoise(training, validation, d.seed)
	}
	scale := ones(r.columns)
	if d.scaled {
		scale = r.deviations(training)
	}
	var p Parts
	for _, part := range []struct {
		to    **matrix.Matrix
		rows  []int
		class []table.Class
	}{{&p.Training, training, class}, {&p.Validation, validation, class}, {&p.Test, test, r.class}} {
		if *part.to, err = r.pack(part.rows, part.class, scale); err != nil {
			return nil, err
		}
	}
	return &p, nil
}

// pack rounds rows to float32, as in every training problem.
func (r *rows) pack(list []int, class []table.Class, scale []float64) (*matrix.Matrix, error) {
	b := newBuilder(r.columns)
	values := make([]float64, r.columns)
	for _, row := range list {
		r.fill(row, values)
		for j := range values {
			values[j] /= scale[j]
		}
		b.Add(class[row] == table.Positive, values, nil, nil, 1, row)
	}
	return b.Build()
}

// newBuilder returns a builder of a dense matrix of float32.
func newBuilder(columns int) *matrix.Builder {
	return matrix.NewBuilder(matrix.Layout{{Kind: matrix.Dense, Cols: columns}}, matrix.Float32)
}

// deviations returns the standard deviations of the columns on some rows, and 1 for a constant column.
// Columns are not
// centred: centring would move all scores and thresholds by the same number and change no objective.
func (r *rows) deviations(list []int) []float64 {
	n := float64(len(list))
	mean, deviation, values := make([]float64, r.columns), make([]float64, r.columns), make([]float64, r.columns)
	low, high := slices.Repeat([]float64{math.Inf(1)}, r.columns), slices.Repeat([]float64{math.Inf(-1)}, r.columns)
	for _, row := range list {
		r.fill(row, values)
		for j, v := range values {
			mean[j] += v / n
			low[j], high[j] = math.Min(low[j], v), math.Max(high[j], v)
		}
	}
	for _, row := range list {
		r.fill(row, values)
		for j, v := range values {
			deviation[j] += float64((v-mean[j])*(v-mean[j])) / n
		}
	}
	for j, d := range deviation {
		deviation[j] = math.Sqrt(d)
		if low[j] >= high[j] { // the mean is rounded, so d need not be 0
			deviation[j] = 1
		}
	}
	return deviation
}

// ones returns n ones.
func ones(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = 1
	}
	return list
}

// countRows returns the number of rows of a matrix and the fraction of positives.
func countRows(x *matrix.Matrix) (n int, positive float64) {
	n = x.Rows()
	return n, float64(x.Positives.Rows()) / float64(n)
}

// tableRows reads the numeric columns of a table.
func tableRows(t *table.Table) *rows {
	var columns [][]float64
	for _, c := range t.Columns {
		if c.Kind != schema.Categorical {
			columns = append(columns, c.Values)
		}
	}
	return &rows{columns: len(columns), class: t.Label, fill: func(row int, dst []float64) {
		for j, c := range columns {
			dst[j] = c[row]
		}
	}}
}

// joinRows appends the rows of b to those of a. Both must have the same columns.
func joinRows(a, b *rows) (*rows, error) {
	if a.columns != b.columns {
		return nil, fmt.Errorf("%d and %d columns", a.columns, b.columns)
	}
	return &rows{
		columns: a.columns,
		class:   append(append([]table.Class(nil), a.class...), b.class...),
		attack:  append(append([]string(nil), a.attack...), b.attack...),
		fill: func(row int, dst []float64) {
			if row < len(a.class) {
				a.fill(row, dst)
			} else {
				b.fill(row-len(a.class), dst)
			}
		},
	}, nil
}
