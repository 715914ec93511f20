package feature

import (
	"fmt"
	"math"

	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
	"toptau/schema"
)

const numericKind = "numeric"

// NumericBlock has a dense feature (x - shift) / scale for each numeric input. A missing value that is not
// replaced becomes 0, which is the mean after standard scaling.
type NumericBlock struct {
	Inputs []int     `json:"inputs"`
	Shift  []float64 `json:"shift,omitempty"` // by position in Inputs; absent: x is not changed
	Scale  []float64 `json:"scale,omitempty"`
}

// Kind returns "numeric".
func (b *NumericBlock) Kind() string { return numericKind }

// Spec returns one dense column for each input.
func (b *NumericBlock) Spec() matrix.BlockSpec {
	return matrix.BlockSpec{Kind: matrix.Dense, Cols: len(b.Inputs)}
}

func (b *NumericBlock) appendWeights(m *Map, list []Weight) []Weight {
	for _, k := range b.Inputs {
		list = append(list, Weight{Name: title(m, k), Input: k})
	}
	return list
}

func (b *NumericBlock) encode(m *Map, t *table.Table, row int, _ uint32, dst *Encoded) error {
	for i, k := range b.Inputs {
		x := dst.numbers[k]
		if math.IsNaN(x) {
			dst.Dense = append(dst.Dense, 0)
			continue
		}
		v := x
		if b.Scale != nil {
			v = (x - b.Shift[i]) / b.Scale[i]
		}
		if !fits(v) {
			return rangeError(t, row, columnLabel(&t.Columns[m.Inputs[k].Column]), x)
		}
		dst.Dense = append(dst.Dense, v)
	}
	return nil
}

func (b *NumericBlock) reads(inputs []bool) {
	for _, k := range b.Inputs {
		inputs[k] = true
	}
}

func (b *NumericBlock) check(m *Map) error {
	if b.Scale == nil && b.Shift != nil || b.Scale != nil && (len(b.Scale) != len(b.Inputs) || len(b.Shift) != len(b.Inputs)) {
		return fmt.Errorf("%d inputs, %d shifts, %d scales", len(b.Inputs), len(b.Shift), len(b.Scale))
	}
	for i, k := range b.Inputs {
		if k < 0 || k >= len(m.Inputs) || m.Inputs[k].Kind != schema.Numeric {
			return fmt.Errorf("input %d is not a numeric input", k)
		}
		if b.Scale != nil && !(b.Scale[i] > 0) {
			return fmt.Errorf("scale %g of %q is not positive", b.Scale[i], m.Inputs[k].Name)
		}
	}
	return nil
}
