package toptau

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"toptau/internal/feature"
	"toptau/internal/table"
	"toptau/model"
	"toptau/result"
)

// Limits of the sample of training rows whose mean contributions a model keeps. Chosen by hand: the standard
// error of a mean is then 1 % of the standard deviation, and the sample takes at most 32 MB.
const (
	averageRows  = 10000
	averageCells = 4000000 // rows times columns
)

// averageSample returns a sample of training rows (nil: all), evenly spaced in the order of the file. It
// returns nil for raw indices of LIBSVM: in nearly every row an index is absent and adds 0.
func averageSample(m *feature.Map, t *table.Table, rows []int) *table.Table {
	if len(m.Inputs) == 0 {
		return nil
	}
	n := t.Rows()
	if rows != nil {
		n = len(rows)
	}
	limit := max(1, min(averageRows, averageCells/max(1, len(t.Columns))))
	taken := make([]int, 0, min(n, limit))
	for i := range min(n, limit) {
		place := i * n / min(n, limit)
		if rows != nil {
			place = rows[place]
		}
		taken = append(taken, place)
	}
	return t.Select(taken)
}

// averagesOf returns the mean score of the sampled rows, and the mean of what each column adds to it.
func averagesOf(p *model.Parts, sample *table.Table) (*model.Averages, error) {
	if sample == nil || sample.Rows() == 0 {
		return nil, nil
	}
	e, err := newReasoner(&feature.Scorer{Map: p.Features, Weights: p.Weights, Offset: p.Offset}, nil)
	if err != nil {
		return nil, err
	}
	a := &model.Averages{Rows: sample.Rows(), Adds: make([]float64, len(e.division.Columns))}
	mass := 0.0
	for row := range sample.Rows() {
		z, err := e.scorer.Score(sample, row)
		if err != nil {
			return nil, err
		}
		e.division.Row(&e.scorer.Row, e.adds)
		weight := 1.0
		if sample.Weight != nil {
			weight = sample.Weight[row]
		}
		mass += weight
		a.Score += float64(weight * z)
		for j, x := range e.adds {
			a.Adds[j] += float64(weight * x)
		}
	}
	a.Score /= mass
	for j := range a.Adds {
		a.Adds[j] /= mass
	}
	return a, nil
}

// reasoner divides the scores of rows among columns.
type reasoner struct {
	scorer   *feature.Scorer
	division *feature.Contributions
	averages *model.Averages // nil: not known
	adds     []float64       // by column: what it adds to the current row
}

func newReasoner(s *feature.Scorer, a *model.Averages) (*reasoner, error) {
	d, err := feature.NewContributions(s.Map, s.Weights)
	if err != nil {
		return nil, err
	}
	return &reasoner{scorer: s, division: d, averages: a, adds: make([]float64, len(d.Columns))}, nil
}

// averageOf returns what a column adds to the average training row, 0 if that is not known.
func averageOf(a *model.Averages, column int) float64 {
	if a == nil {
		return 0
	}
	return a.Adds[column]
}

// reasonsOf lists what columns add to a score against the average training row, the largest first. Columns
// that add as much as in the average row are left out. values are the row's values by column.
func reasonsOf(columns []string, adds []float64, values []string, a *model.Averages) []result.Reason {
	list := []result.Reason{}
	for j, x := range adds {
		above := x - averageOf(a, j)
		if x == 0 && above == 0 {
			continue
		}
		r := result.Reason{Column: columns[j], Adds: x, AboveAverage: above}
		if j < len(values) {
			r.Value = values[j]
		}
		list = append(list, r)
	}
	slices.SortStableFunc(list, func(a, b result.Reason) int {
		return cmp.Compare(math.Abs(b.AboveAverage), math.Abs(a.AboveAverage))
	})
	return list
}

// values appends the text of each column's value in a row to dst: a number in its shortest form, a category,
// or nothing if the value is missing.
func (e *reasoner) values(t *table.Table, row int, dst []string) []string {
	m := e.scorer.Map
	for j, name := range e.division.Columns {
		switch {
		case t.Sparse == nil:
			dst = append(dst, t.Columns[m.Inputs[j].Column].Text(row))
		case j < len(m.Inputs):
			dst = append(dst, strconv.FormatFloat(t.Sparse.At(row, uint32(m.Inputs[j].Column)), 'g', -1, 64))
		default:
			number, _ := strconv.Atoi(strings.TrimPrefix(name, "index "))
			dst = append(dst, strconv.FormatFloat(t.Sparse.At(row, uint32(number-1)), 'g', -1, 64))
		}
	}
	return dst
}
