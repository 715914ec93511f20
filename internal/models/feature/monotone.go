package feature

import (
	"slices"
	"strconv"

	"toptau/diag"
	"toptau/internal/data/table"
	"toptau/schema"
)

// signsOf returns the direction of each of the inputs that trees test, nil if none has one. A column with a direction
// must not be part of a derived one, which has none.
func signsOf(t *table.Table, signs []Sign, m *Map, inputs []int) ([]int8, error) {
	if len(signs) == 0 {
		return nil, nil
	}
	list := make([]int8, len(inputs))
	for _, s := range signs {
		column, err := signedColumn(t, s)
		if err != nil {
			return nil, err
		}
		k := slices.IndexFunc(inputs, func(k int) bool { return !isDerived(m, k) && m.Inputs[k].Column == column })
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

// CheckSigns returns an error unless the signs are those of numeric columns of a table. Indices of LIBSVM are
// checked by Fit.
func CheckSigns(t *table.Table, signs []Sign) error {
	if t.Sparse != nil {
		return nil
	}
	for _, s := range signs {
		if _, err := signedColumn(t, s); err != nil {
			return err
		}
	}
	return nil
}

// signedColumn returns the position of a column with a sign.
func signedColumn(t *table.Table, s Sign) (int, error) {
	for j := range t.Columns {
		c := &t.Columns[j]
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
