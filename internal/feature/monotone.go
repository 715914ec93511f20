package feature

import (
	"slices"
	"strconv"

	"toptau/diag"
	"toptau/schema"
)

// signs returns the direction of each of the inputs that trees test, nil if none has one.
func (f *fitter) signs(inputs []int) ([]int8, error) {
	if len(f.o.Monotone) == 0 {
		return nil, nil
	}
	list := make([]int8, len(inputs))
	for _, s := range f.o.Monotone {
		column, err := f.signed(s)
		if err != nil {
			return nil, err
		}
		k := slices.IndexFunc(inputs, func(k int) bool { return f.m.Inputs[k].Column == column })
		if k < 0 {
			continue // constant in training: the score does not depend on it
		}
		list[k] = 1
		if s.Falling {
			list[k] = -1
		}
	}
	return list, nil
}

// signed returns the position of a column with a sign.
func (f *fitter) signed(s Sign) (int, error) {
	for j := range f.t.Columns {
		c := &f.t.Columns[j]
		if c.Name != s.Column && (c.Name != "" || strconv.Itoa(c.Number) != s.Column) {
			continue
		}
		if c.Kind == schema.Categorical {
			return 0, &diag.Error{Kind: diag.Usage, Param: "monotone", Column: s.Column, Found: "a categorical column",
				Expected: "a numeric column"}
		}
		return j, nil
	}
	return 0, &diag.Error{Kind: diag.Usage, Param: "monotone", Found: "no feature " + diag.Quote(s.Column),
		Expected: "the name or number of a numeric column"}
}
