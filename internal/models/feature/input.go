package feature

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"toptau/diag"
	"toptau/internal/data/table"
	"toptau/schema"
)

// Input is one column of the table that the map uses.
type Input struct {
	Column     int         `json:"column"` // position among the table's columns, 0-based
	Name       string      `json:"name"`
	Kind       schema.Kind `json:"kind"`
	Categories []string    `json:"categories,omitempty"` // categorical: as seen in training, by mass descending, then by bytes
	Rare       bool        `json:"rare,omitempty"`       // categorical: all other values share a level
	Fill       float64     `json:"fill,omitzero"`        // numeric: what replaces a missing value under median; otherwise 0

	codes map[string]int32 // category to its position in Categories
}

// A resolved categorical value is a position in Categories, or one of these.
const (
	codeMissing int32 = -1
	codeUnknown int32 = -2
)

// Category returns the text of a category of the input at a column of the table, or "" if the input has no
// such category. Text of a column that is not in use returns "". It does not allocate.
func (m *Map) Category(column int, text []byte) string {
	k, found := slices.BinarySearchFunc(m.Inputs, column, func(in Input, column int) int { return in.Column - column })
	if !found {
		return ""
	}
	code, known := m.Inputs[k].codes[string(text)]
	if !known {
		return ""
	}
	return m.Inputs[k].Categories[code]
}

// Levels returns, for each category of a dictionary, its position among the categories of a categorical input, or
// -2 for one that has none. A missing value has the code -1.
func (in *Input) Levels(dictionary []string) []int32 {
	list := make([]int32, len(dictionary))
	for c, category := range dictionary {
		code, known := in.codes[category]
		if !known {
			code = codeUnknown
		}
		list[c] = code
	}
	return list
}

// errorAt returns an error that names a row of the table.
func errorAt(t *table.Table, row int) *diag.Error {
	e := &diag.Error{Kind: diag.Data, File: t.FileOf(row)}
	if row < t.Rows() {
		e.Line = t.LineOf(row)
	}
	return e
}

func missingError(t *table.Table, row int, column *table.Column) error {
	e := errorAt(t, row)
	e.Column, e.Found = columnLabel(column), "a missing value"
	e.Fixes = []diag.Fix{{Param: "impute", Value: string(schema.ImputeMedian)}, {Param: "impute", Value: string(schema.ImputeIndicator)}}
	e.Expected = "a number"
	if column.Kind == schema.Categorical {
		e.Expected = "a category"
	}
	return e
}

func columnLabel(column *table.Column) string {
	if column.Name != "" {
		return column.Name
	}
	return strconv.Itoa(column.Number)
}

// fits reports whether a value is finite after it is rounded to float32.
func fits(v float64) bool {
	x := float32(v)
	return x-x == 0
}

func rangeError(t *table.Table, row int, column string, x float64) error {
	e := errorAt(t, row)
	e.Column, e.Found = column, strconv.FormatFloat(x, 'g', -1, 64)+" is too large to be scored"
	e.Expected = fmt.Sprintf("a value that stays below %.0g after scaling", math.MaxFloat32)
	return e
}
