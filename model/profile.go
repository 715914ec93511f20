package model

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"toptau/internal/core/evidence"
	"toptau/schema"
)

// Profile describes the columns of training rows, or of other rows that count as normal, so that later rows can
// be compared with them. It has order statistics of each column and no row.
//
// The rows of a column are in a fixed order: numbers ascending, then missing values; categories in the order of
// Cells. Equal ones are in the order of uniform tie-breakers, which later rows have too. The kept ranks are
// chosen from other rows than the Rows that are counted, so they do not depend on these.
type Profile struct {
	Rows    int              `json:"rows"` // counted rows
	Columns []ProfiledColumn `json:"columns"`
}

// ProfiledColumn has order statistics of one column. Rank[i] of the rows are not above the i-th, which is the
// number Values[i], a missing value if Values is shorter, or a category of the cell At[i].
type ProfiledColumn struct {
	Input  int       `json:"input"` // position among the inputs of the features
	Rank   []int     `json:"rank"`  // ascending, from 1
	Ties   []uint32  `json:"tie"`
	Values []float64 `json:"values,omitempty"` // numeric: ascending
	Cells  []int     `json:"cells,omitempty"`  // categorical: positions among the input's categories, and OtherCell, MissingCell
	At     []int     `json:"at,omitempty"`     // categorical: positions in Cells, ascending
	// Counts are numbers of rows by their values alone. Categorical: in each of Cells. Numeric: of rows with at least the value, or with more,
	// whichever is nearer to Rank; absent if no kept value is that of several rows.
	Counts []int `json:"counts,omitempty"`
}

// Cells that are no categories.
const (
	MissingCell = -1 // missing values
	OtherCell   = -2 // all other values, also those that training did not have
)

// Limits of a profile, so that a model file grows by at most 100 KB. Chosen by hand.
const (
	ProfileColumns    = 200 // columns
	ProfileCategories = 30  // categories of a column
	ProfileRanks      = 20  // order statistics of a numeric column
)

// Keys returns what the order statistics are compared by, ascending: numbers, +Inf for missing values; positions
// in Cells.
func (c *ProfiledColumn) Keys() []float64 {
	keys := make([]float64, len(c.Rank))
	for i := range keys {
		switch {
		case c.Cells != nil:
			keys[i] = float64(c.At[i])
		case i < len(c.Values):
			keys[i] = c.Values[i]
		default:
			keys[i] = math.Inf(1)
		}
	}
	return keys
}

func (p *Parts) checkProfile() error {
	f := p.Profile
	if f == nil {
		return nil
	}
	if f.Rows < 1 || len(f.Columns) > ProfileColumns {
		return fmt.Errorf("profile of %d rows and %d columns", f.Rows, len(f.Columns))
	}
	last := -1
	for i := range f.Columns {
		c := &f.Columns[i]
		if c.Input <= last || c.Input >= len(p.encoding().Inputs) {
			return fmt.Errorf("profile of input %d", c.Input)
		}
		last = c.Input
		in := &p.encoding().Inputs[c.Input]
		if err := c.check(f.Rows, in.Kind == schema.Categorical, len(in.Categories)); err != nil {
			return fmt.Errorf("profile of %q: %w", in.Name, err)
		}
	}
	return nil
}

func (c *ProfiledColumn) check(rows int, categorical bool, categories int) error {
	n := len(c.Rank)
	if n < 1 || n > ProfileRanks+ProfileCategories || len(c.Ties) != n {
		return fmt.Errorf("%d ranks and %d tie-breakers", n, len(c.Ties))
	}
	for i, rank := range c.Rank {
		if rank < 1 || rank > rows || i > 0 && rank <= c.Rank[i-1] {
			return fmt.Errorf("rank %d of %d rows, or out of order", rank, rows)
		}
	}
	if categorical != (len(c.Cells) > 0) || categorical != (c.At != nil) || categorical && c.Values != nil {
		return errors.New("not of the column's kind")
	}
	if err := c.checkCells(categories); err != nil {
		return err
	}
	if err := c.checkCounts(rows); err != nil {
		return err
	}
	if len(c.Values) > n || slices.ContainsFunc(c.Values, func(x float64) bool { return !finite(x) }) {
		return errors.New("values that are not finite, or too many")
	}
	keys := c.Keys()
	for i := 1; i < n; i++ {
		if cmp.Or(cmp.Compare(keys[i-1], keys[i]), cmp.Compare(c.Ties[i-1], c.Ties[i])) > 0 {
			return errors.New("order statistics out of order")
		}
	}
	return nil
}

func (c *ProfiledColumn) checkCounts(rows int) error {
	if c.Cells == nil {
		return evidence.CheckLevelCounts(c.Counts, rows, len(c.Rank))
	}
	total := 0
	for _, n := range c.Counts {
		if n < 0 || n > rows-total {
			return fmt.Errorf("%d rows in a category of %d rows", n, rows)
		}
		total += n
	}
	if len(c.Counts) != len(c.Cells) || total != rows {
		return fmt.Errorf("%d of %d rows in %d categories", total, rows, len(c.Counts))
	}
	return nil
}

func (c *ProfiledColumn) checkCells(categories int) error {
	if len(c.Cells) > ProfileCategories+2 || c.Cells != nil && len(c.At) != len(c.Rank) {
		return fmt.Errorf("%d cells", len(c.Cells))
	}
	for i, cell := range c.Cells {
		if cell < OtherCell || cell >= categories || slices.Contains(c.Cells[:i], cell) {
			return fmt.Errorf("category %d of %d, or twice", cell, categories)
		}
	}
	for _, at := range c.At {
		if at < 0 || at >= len(c.Cells) {
			return fmt.Errorf("cell %d of %d", at, len(c.Cells))
		}
	}
	return nil
}
