package feature

import (
	"fmt"
	"math"

	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
	"toptau/schema"
)

const oneHotKind = "onehot"

// OneHotBlock has a feature for every category of its categorical inputs, in the order of Input.Categories,
// stored coded: 1 (divided by its scale) for the row's category, 0 for the others. All features of an unknown
// category are 0.
type OneHotBlock struct {
	Columns []OneHot `json:"columns"`

	widths []int          // number of weights of each column; set by check
	groups []matrix.Group // of the columns that have weights; set by check
}

// OneHot is one input of the block. A numeric input has no categories, only the indicator of a missing value.
// The last level is for rare values, if the input has them.
type OneHot struct {
	Input   int       `json:"input"`
	Missing bool      `json:"missing,omitempty"` // the weight after the categories is for missing values
	Scale   []float64 `json:"scale,omitempty"`   // one for each weight; absent: all 1
}

// Width returns the number of weights.
func (c *OneHot) Width(m *Map) int {
	n := len(m.Inputs[c.Input].Categories)
	if c.Missing {
		n++
	}
	if m.Inputs[c.Input].Rare {
		n++
	}
	return n
}

// value returns the feature of a level for a row at that level.
func (c *OneHot) value(level int) float64 {
	if c.Scale == nil {
		return 1
	}
	return 1 / c.Scale[level]
}

// group describes the column for package matrix.
func (c *OneHot) group(levels int) matrix.Group {
	g := matrix.Group{Levels: levels}
	for level := range c.Scale {
		g.Values = append(g.Values, c.value(level))
	}
	return g
}

// Kind returns "onehot".
func (b *OneHotBlock) Kind() string { return oneHotKind }

// Spec returns a group for each input with a column for each category.
func (b *OneHotBlock) Spec() matrix.BlockSpec { return matrix.CodedSpec(b.groups) }

func (b *OneHotBlock) appendWeights(m *Map, list []Weight) []Weight {
	for _, c := range b.Columns {
		title := title(m, c.Input)
		for _, category := range m.Inputs[c.Input].Categories {
			list = append(list, Weight{Name: title + "=" + category, Input: c.Input})
		}
		if c.Missing {
			list = append(list, Weight{Name: title + " missing", Input: c.Input})
		}
		if m.Inputs[c.Input].Rare {
			list = append(list, Weight{Name: title + " rare", Input: c.Input})
		}
	}
	return list
}

func (b *OneHotBlock) encode(m *Map, _ *table.Table, _ int, first uint32, dst *Encoded) error {
	for i := range b.Columns {
		c := &b.Columns[i]
		hot := codeUnknown
		if m.Inputs[c.Input].Kind == schema.Categorical {
			hot = dst.codes[c.Input]
		} else if math.IsNaN(dst.numbers[c.Input]) {
			hot = codeMissing
		}
		switch in := &m.Inputs[c.Input]; {
		case hot == codeMissing && c.Missing:
			hot = int32(len(in.Categories))
		case hot == codeUnknown && in.Rare:
			hot = int32(b.widths[i] - 1)
		}
		if hot >= 0 {
			dst.Cols = append(dst.Cols, first+uint32(hot))
			dst.Values = append(dst.Values, c.value(int(hot)))
		}
		first += uint32(b.widths[i])
	}
	return nil
}

func (b *OneHotBlock) reads(inputs []bool) {
	for i := range b.Columns {
		inputs[b.Columns[i].Input] = true
	}
}

func (b *OneHotBlock) check(m *Map) error {
	b.widths, b.groups = make([]int, len(b.Columns)), nil
	for i := range b.Columns {
		c := &b.Columns[i]
		if c.Input < 0 || c.Input >= len(m.Inputs) {
			return fmt.Errorf("there is no input %d", c.Input)
		}
		b.widths[i] = c.Width(m)
		if c.Scale != nil && len(c.Scale) != b.widths[i] {
			return fmt.Errorf("%q has %d scales for %d weights", m.Inputs[c.Input].Name, len(c.Scale), b.widths[i])
		}
		for _, s := range c.Scale {
			if !(s > 0) || !fits(1/s) {
				return fmt.Errorf("scale %g of %q is out of range", s, m.Inputs[c.Input].Name)
			}
		}
		if b.widths[i] > 0 {
			b.groups = append(b.groups, c.group(b.widths[i]))
		}
	}
	return nil
}
