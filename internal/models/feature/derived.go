package feature

import (
	"fmt"
	"math"

	"toptau/schema"
)

// Derived is a number that is computed from two numeric inputs, after the policy for missing values. Blocks of trees
// read it by the number len(Map.Inputs) plus its position in Map.Derived.
//
// A part is used if it is 0 or its absolute value is from MinPart to MaxPart. So no difference, product or ratio overflows or becomes
// subnormal by more than its parts are, and databases that refuse such results have none. The value is missing if a part
// is missing or not used, and if the divisor of a ratio is 0.
type Derived struct {
	Op Op  `json:"op"`
	A  int `json:"a"` // positions in Map.Inputs
	B  int `json:"b"`
}

// Op is the operation of a derived column. Its result is rounded to float64 once.
type Op string

const (
	Difference Op = "-"
	Product    Op = "*"
	Ratio      Op = "/"
)

// The absolute values of parts other than 0 that derived columns use.
const (
	MinPart = 0x1p-500
	MaxPart = 0x1p500
)

// Value returns the value for two parts, NaN if it is missing.
func (op Op) Value(a, b float64) float64 {
	switch {
	case !isPart(a) || !isPart(b):
	case op == Difference:
		return a - b
	case op == Product:
		return a * b
	case b != 0:
		return a / b
	}
	return math.NaN()
}

func isPart(x float64) bool {
	size := math.Abs(x)
	return x == 0 || MinPart <= size && size <= MaxPart
}

// Derivation is a derived column that a fit adds to trees, by positions among the table's columns.
type Derivation struct {
	Op   Op
	A, B int
}

// check returns an error unless a derived column is one of two different numeric inputs.
func (d *Derived) check(m *Map) error {
	if d.Op != Difference && d.Op != Product && d.Op != Ratio {
		return fmt.Errorf("the operation %q of a derived column", d.Op)
	}
	for _, k := range []int{d.A, d.B} {
		if k < 0 || k >= len(m.Inputs) || m.Inputs[k].Kind != schema.Numeric {
			return fmt.Errorf("a derived column of input %d, which is not a numeric input", k)
		}
	}
	if d.A == d.B {
		return fmt.Errorf("a derived column of input %d alone", d.A)
	}
	return nil
}

// isDerived reports whether the number of an input is that of a derived column.
func isDerived(m *Map, input int) bool { return input >= len(m.Inputs) }

// numberCount returns the number of inputs and derived columns.
func numberCount(m *Map) int { return len(m.Inputs) + len(m.Derived) }

// derive computes the derived columns from the numbers of a resolved row.
func derive(m *Map, numbers []float64) {
	for i, d := range m.Derived {
		numbers[len(m.Inputs)+i] = d.Op.Value(numbers[d.A], numbers[d.B])
	}
}

// deriveRows is derive for many rows: numbers has their values by input, and space memory for the derived ones.
func deriveRows(m *Map, numbers [][]float64, space func(input int) []float64) {
	for i, d := range m.Derived {
		to := space(len(m.Inputs) + i)
		a, b := numbers[d.A], numbers[d.B]
		for row := range to {
			to[row] = d.Op.Value(a[row], b[row])
		}
		numbers[len(m.Inputs)+i] = to
	}
}

// shareDerived adds half of what each derived column adds to either of its inputs.
func shareDerived(m *Map, adds []float64) {
	for i, d := range m.Derived {
		half := float64(adds[len(m.Inputs)+i] / 2)
		adds[d.A] += half
		adds[d.B] += half
	}
}

// DerivedNames returns the derived columns as people write them, such as "debt / income".
func DerivedNames(m *Map) []string {
	names := make([]string, len(m.Derived))
	for i, d := range m.Derived {
		names[i] = fmt.Sprintf("%s %s %s", title(m, d.A), d.Op, title(m, d.B))
	}
	return names
}
