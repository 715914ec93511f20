package feature

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"toptau/diag"
	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
	"toptau/schema"
)

// Map turns rows of a table into rows of a matrix. Fit makes one, and so does the program of a model. It does not change
// afterwards and is safe for concurrent use.
type Map struct {
	Scale    schema.Scale  `json:"scale"`
	Impute   schema.Impute `json:"impute"`
	Numbered bool          `json:"numbered,omitempty"` // columns have numbers instead of names: Input.Name is a number
	Medians  bool          `json:"medians,omitempty"`  // Input.Fill is the median of the training rows even if Impute does not use it
	Sparse   bool          `json:"sparse,omitempty"`   // made from indices (LIBSVM) instead of columns
	Inputs   []Input       `json:"inputs"`             // the columns in use, in the order of the table; indices only where they are encoded
	Derived  []Derived     `json:"derived,omitempty"`  // the numbers that are computed from two inputs
	Dropped  []Dropped     `json:"dropped"`            // the columns not in use
	Blocks   blocks        `json:"blocks"`

	layout // of Blocks

	boosting *Boosting // of a map that Fit made with a boosted encoding
	every    bool      // of Every: fingerprints have all features
}

// Boosting returns the sum of trees that boosting itself would predict with, nil unless Fit made the map with a
// boosted encoding. Models do not keep it.
func (m *Map) Boosting() *Boosting { return m.boosting }

// Dropped is a column without a weight, with the reason.
type Dropped struct {
	Column int    `json:"column"` // position among the table's columns, 0-based
	Name   string `json:"name"`
	Reason string `json:"reason"` // "constant", "no values", "rare values"
}

// Weights describes every weight, in order.
func (m *Map) Weights() []Weight {
	list := make([]Weight, 0, m.cols)
	for _, b := range m.Blocks {
		list = b.appendWeights(m, list)
	}
	return list
}

// title returns the name of an input for people.
func title(m *Map, input int) string {
	if m.Numbered {
		return "column " + m.Inputs[input].Name
	}
	return m.Inputs[input].Name
}

// Names returns one name per weight.
func (m *Map) Names() []string {
	weights := m.Weights()
	names := make([]string, len(weights))
	for i, w := range weights {
		names[i] = w.Name
	}
	return names
}

// Check returns an error unless the table has the columns that the map was fitted on. Encode relies on it.
func (m *Map) Check(t *table.Table) error {
	if m.Sparse != (t.Sparse != nil) {
		return &diag.Error{Kind: diag.Model, Found: form(t.Sparse != nil), Expected: form(m.Sparse) + ", as in training"}
	}
	if m.Sparse {
		return nil
	}
	for k := range m.Inputs {
		in := &m.Inputs[k]
		if in.Column >= len(t.Columns) {
			return &diag.Error{Kind: diag.Model, Column: in.Name, Found: "no such column", Expected: "the columns of the training data"}
		}
		column := &t.Columns[in.Column]
		if kindOf(column) != in.Kind || column.Name != in.Name {
			return &diag.Error{Kind: diag.Model, Column: columnLabel(column), Found: "a " + string(kindOf(column)) + " column",
				Expected: "the " + string(in.Kind) + " column " + strconv.Quote(in.Name) + " at this place"}
		}
	}
	return nil
}

func form(sparse bool) string {
	if sparse {
		return "rows of index:value"
	}
	return "rows of columns"
}

func kindOf(c *table.Column) schema.Kind {
	if c.Kind == schema.Categorical {
		return schema.Categorical
	}
	return schema.Numeric
}

// MarshalJSON writes the map with its fields in a fixed order and floats in their shortest form.
func (m *Map) MarshalJSON() ([]byte, error) {
	type file Map
	return marshal((*file)(m))
}

// Prepare checks a map and sets its private fields. Nothing else may be called before.
func (m *Map) Prepare() error {
	if o, err := (Options{Scale: m.Scale, Impute: m.Impute}).Check(); err != nil || o.Scale != m.Scale || o.Impute != m.Impute {
		return fmt.Errorf("scale %q, impute %q", m.Scale, m.Impute)
	}
	if m.Sparse {
		if err := checkIndices(m); err != nil {
			return err
		}
	}
	last := -1
	for k := range m.Inputs {
		in := &m.Inputs[k]
		if in.Column <= last {
			return fmt.Errorf("input %q is out of order", in.Name)
		}
		last = in.Column
		if err := in.prepare(); err != nil {
			return fmt.Errorf("input %q: %w", in.Name, err)
		}
	}
	for i := range m.Derived {
		if err := m.Derived[i].check(m); err != nil {
			return err
		}
	}
	m.layout = layout{blocks: m.Blocks, runs: make([]run, len(m.Blocks))}
	for i, b := range m.Blocks {
		if err := b.check(m); err != nil {
			return fmt.Errorf("feature block %d (%s): %w", i+1, b.Kind(), err)
		}
		spec := b.Spec()
		m.runs[i] = run{dense: spec.Kind == matrix.Dense, first: m.cols, end: m.cols + spec.Cols}
		if m.cols += spec.Cols; m.cols > math.MaxInt32 {
			return fmt.Errorf("%d weights", m.cols)
		}
		if m.runs[i].dense {
			m.dense += spec.Cols
		}
	}
	return nil
}

func (in *Input) prepare() error {
	switch {
	case in.Kind != schema.Numeric && in.Kind != schema.Categorical:
		return fmt.Errorf("kind %q", in.Kind)
	case in.Kind == schema.Numeric && (in.Categories != nil || in.Rare):
		return errors.New("a numeric column with categories")
	case in.Kind == schema.Categorical && len(in.Categories) == 0:
		return errors.New("a categorical column without categories")
	case math.IsNaN(in.Fill) || math.IsInf(in.Fill, 0):
		return errors.New("a stand-in for missing values that is not finite")
	case !utf8.ValidString(in.Name):
		return errors.New("a name that is not UTF-8")
	}
	if in.Kind == schema.Numeric {
		return nil
	}
	in.codes = make(map[string]int32, len(in.Categories))
	for i, category := range in.Categories {
		if _, twice := in.codes[category]; twice || !utf8.ValidString(category) {
			return fmt.Errorf("category %q twice or not UTF-8", category)
		}
		in.codes[category] = int32(i)
	}
	return nil
}

// rowCount and rowAt read a list of rows in which nil means all of them.
func rowCount(t *table.Table, rows []int) int {
	if rows == nil {
		return t.Rows()
	}
	return len(rows)
}

func rowAt(rows []int, i int) int {
	if rows == nil {
		return i
	}
	return rows[i]
}
