// Package reason divides the score of a record among its columns: why this score. The library, the commands and the
// server describe a score by it alone, and the readers in Python and JavaScript return the same numbers.
package reason

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/result"
)

// Divider divides the scores of a scorer, in one goroutine.
type Divider struct {
	scorer   *feature.Scorer
	division *feature.Contributions
	average  *float64  // mean score of the training rows; nil: not known
	means    []float64 // by column: what it adds to the average training row; nil: not known

	adds  []float64 // by column: what it adds to the current row
	order []int     // the columns of the current row's reasons
}

// New returns a Divider. The division is of the scorer's weights, and several dividers may share it. average is the mean
// score of the training rows, and means what each column adds to it; nil: not known.
func New(s *feature.Scorer, d *feature.Contributions, average *float64, means []float64) *Divider {
	return &Divider{scorer: s, division: d, average: average, means: means, adds: make([]float64, len(d.Columns))}
}

// Explain explains dst.Score, the score of row of t, which must be the last row that the scorer scored. It overwrites the
// other fields of dst and lists at most limit reasons, those with the largest difference to the average training row; 0:
// all. A column that adds 0, like in the average row, is no reason.
func (d *Divider) Explain(t *table.Table, row, limit int, dst *result.Explanation) {
	dst.AverageScore, dst.Offset = d.average, d.scorer.Offset+d.division.Row(&d.scorer.Row, d.adds)
	d.order = d.order[:0]
	for j, x := range d.adds {
		if x != 0 || d.above(j) != 0 {
			d.order = append(d.order, j)
		}
	}
	slices.SortStableFunc(d.order, func(a, b int) int { return cmp.Compare(math.Abs(d.above(b)), math.Abs(d.above(a))) })
	sum := dst.Offset
	for _, j := range d.order {
		sum += d.adds[j]
	}
	dst.Rounding = dst.Score - sum
	if limit == 0 {
		limit = len(d.order)
	}
	dst.Reasons = dst.Reasons[:0]
	for _, j := range d.order[:min(limit, len(d.order))] {
		dst.Reasons = append(dst.Reasons, result.Reason{Column: d.division.Columns[j], Value: d.value(t, row, j), Adds: d.adds[j],
			AboveAverage: d.above(j)})
	}
	if dst.Reasons == nil {
		dst.Reasons = []result.Reason{} // a list in JSON
	}
}

// above returns what a column adds to the current row more than to the average training row.
func (d *Divider) above(column int) float64 {
	if d.means == nil {
		return d.adds[column]
	}
	return d.adds[column] - d.means[column]
}

// value returns the text of a column's value in a row: a number in its shortest form, a category, or nothing if the value
// is missing.
func (d *Divider) value(t *table.Table, row, column int) string {
	inputs := d.scorer.Map.Inputs
	if t.Sparse == nil {
		return t.Columns[inputs[column].Column].Text(row)
	}
	index := 0
	if column < len(inputs) {
		index = inputs[column].Column
	} else {
		number, _ := strconv.Atoi(strings.TrimPrefix(d.division.Columns[column], "index "))
		index = number - 1
	}
	return text.Decimal(t.Sparse.At(row, uint32(index)))
}
