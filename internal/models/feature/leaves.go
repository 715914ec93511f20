package feature

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
	"toptau/internal/models/feature/trees"
	"toptau/schema"
)

const leavesKind = "leaves"

// LeavesBlock has a feature for each leaf of its trees, stored coded: 1 for the leaf that a row falls into, 0
// for the others. The trees divide the space of the inputs: random trees that of the numeric ones, boosted
// trees also that of the categorical ones, which have codes. A linear model on them adds one weight per tree.
type LeavesBlock struct {
	Inputs []int           `json:"inputs"`          // the inputs and derived columns that the trees test
	Codes  []CategoryCodes `json:"codes,omitempty"` // of the categorical ones, in their order
	Trees  []trees.Tree    `json:"trees"`

	groups []matrix.Group // by position in Trees; set by check, as walk
	walk   *trees.Walk
}

// Kind returns "leaves".
func (b *LeavesBlock) Kind() string { return leavesKind }

// Spec returns a group for each tree.
func (b *LeavesBlock) Spec() matrix.BlockSpec { return matrix.CodedSpec(b.groups) }

func (b *LeavesBlock) appendWeights(_ *Map, list []Weight) []Weight {
	for i := range b.Trees {
		for leaf := range b.Trees[i].Leaves() {
			list = append(list, Weight{Name: "tree " + strconv.Itoa(i+1) + " leaf " + strconv.Itoa(leaf+1), Input: -1})
		}
	}
	return list
}

func (b *LeavesBlock) encode(_ *Map, _ *table.Table, _ int, first uint32, dst *Encoded) error {
	b.readCodes(dst)
	dst.walked = b.walk.Row(dst.numbers, dst.walked[:0])
	dst.Cols = b.walk.Leaves(dst.walked, first, dst.Cols)
	for range b.Trees {
		dst.Values = append(dst.Values, 1)
	}
	return nil
}

// readCodes writes the numbers of the categorical inputs of a resolved row to its numbers.
func (b *LeavesBlock) readCodes(row *Encoded) {
	for i := range b.Codes {
		c := &b.Codes[i]
		row.numbers[c.Input] = c.number(row.codes[c.Input])
	}
}

func (b *LeavesBlock) reads(inputs []bool) {
	for _, k := range b.Inputs {
		inputs[k] = true
	}
}

func (b *LeavesBlock) check(m *Map) error {
	codes := b.Codes
	for i, k := range b.Inputs {
		if k < 0 || k >= numberCount(m) || i > 0 && k <= b.Inputs[i-1] {
			return fmt.Errorf("there is no input %d, or it is out of order", k)
		}
		if isDerived(m, k) || m.Inputs[k].Kind == schema.Numeric {
			continue
		}
		if len(codes) == 0 || codes[0].Input != k {
			return fmt.Errorf("input %d is not a numeric input and has no codes", k)
		}
		if err := codes[0].check(m); err != nil {
			return err
		}
		codes = codes[1:]
	}
	if len(codes) > 0 {
		return fmt.Errorf("codes of input %d, which no tree tests", codes[0].Input)
	}
	b.groups = make([]matrix.Group, len(b.Trees))
	for i := range b.Trees {
		if err := b.Trees[i].Prepare(b.Inputs); err != nil {
			return fmt.Errorf("tree %d: %w", i+1, err)
		}
		b.groups[i] = matrix.Group{Levels: b.Trees[i].Leaves()}
	}
	b.walk = trees.NewWalk(b.Trees, numberCount(m))
	return nil
}

// probeValues returns a few thresholds of an input, and a value on either side of all.
func (b *LeavesBlock) probeValues(input int) []float64 {
	const shown = 16
	var list []float64
	for i := range b.Trees {
		for in, at := range b.Trees[i].Tests() {
			if in == input && at < math.MaxFloat64 {
				list = append(list, at)
			}
		}
	}
	slices.Sort(list)
	if list = slices.Compact(list); len(list) == 0 {
		return nil
	}
	ends := []float64{beyond(list[len(list)-1], 1), beyond(list[0], -1)}
	if n := len(list); n > shown {
		for i := range shown {
			list[i] = list[i*(n-1)/(shown-1)]
		}
		list = list[:shown]
	}
	return append(list, ends...)
}

// rows returns the trees for many rows at a time, with the weights of their leaves or nil; nil: they are too large.
func (b *LeavesBlock) rows(w []float64) *trees.Rows {
	values, codes := make([][]float64, len(b.Inputs)), b.Codes
	for i, k := range b.Inputs {
		if len(codes) > 0 && codes[0].Input == k {
			values[i] = append(slices.Clone(codes[0].Values), codes[0].Unknown)
			codes = codes[1:]
		}
	}
	return trees.NewRows(b.Trees, b.Inputs, values, w)
}

// CategoryCodes are the numbers by which trees order the categories of an input: the fraction of positives,
// drawn towards that of all rows. A missing value has none and is missing for the trees too.
type CategoryCodes struct {
	Input   int       `json:"input"`
	Values  []float64 `json:"values"`  // one for each of Input.Categories
	Unknown float64   `json:"unknown"` // of a category that training did not have
}

// number returns the code of a resolved category.
func (c *CategoryCodes) number(code int32) float64 {
	switch {
	case code >= 0:
		return c.Values[code]
	case code == codeUnknown:
		return c.Unknown
	}
	return math.NaN()
}

func (c *CategoryCodes) check(m *Map) error {
	if c.Input < 0 || c.Input >= len(m.Inputs) || m.Inputs[c.Input].Kind != schema.Categorical {
		return fmt.Errorf("codes of input %d, which is not categorical", c.Input)
	}
	if n := len(m.Inputs[c.Input].Categories); len(c.Values) != n {
		return fmt.Errorf("%d codes for %d categories", len(c.Values), n)
	}
	for _, v := range append([]float64{c.Unknown}, c.Values...) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return errors.New("a code that is not finite")
		}
	}
	return nil
}
