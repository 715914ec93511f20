package model

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"toptau/diag"
	"toptau/internal/feature"
	"toptau/internal/table"
	"toptau/schema"
)

// Scorer scores single records and keeps the space for it. Use one in each goroutine.
type Scorer struct {
	schema *schema.Schema
	inner  *feature.Scorer
	row    table.Table // of one row

	weights []feature.Weight // set by the first explanation
}

// NewScorer returns a Scorer of a sealed model.
func (m *Model) NewScorer() (*Scorer, error) {
	if m.Features.m == nil {
		return nil, &diag.Error{Kind: diag.Model, Found: "a model without features"}
	}
	inner, err := feature.NewScorer(m.Features.m, m.Weights, m.Offset)
	if err != nil {
		return nil, err
	}
	s := &Scorer{schema: &m.Schema, inner: inner}
	s.row.Line = []int{0}
	if m.Schema.Format == schema.LIBSVM {
		s.row.Sparse = &table.Sparse{Cols: m.Schema.Width, Start: []int64{0, 0}}
	} else {
		s.row.Columns = make([]table.Column, len(m.Schema.Columns))
		for j, c := range m.Schema.Columns {
			s.row.Columns[j] = newColumn(c)
		}
	}
	return s, inner.Map.Check(&s.row)
}

func newColumn(c schema.Column) table.Column {
	column := table.Column{Name: c.Name, Number: c.Number, Kind: c.Kind}
	if c.Kind == schema.Categorical {
		column.Codes, column.Dictionary = []int32{0}, []string{""}
	} else {
		column.Values = []float64{0}
	}
	return column
}

// Score returns the score of one record, given as text by column name (libsvm: by index, "17"; absent ones are 0).
// Columns that the model does not know are ignored, so labels and identifiers may stay in the record.
//
// Errors: a column is absent, a number is not a number, a value is missing and the model's policy is error.
func (m *Model) Score(record map[string]string) (float64, error) {
	s, err := m.NewScorer()
	if err != nil {
		return 0, err
	}
	return s.Score(record)
}

// ScoreFields returns the score of one record, given as text in the order of Schema.Columns (libsvm: "index:value" each).
func (m *Model) ScoreFields(fields []string) (float64, error) {
	s, err := m.NewScorer()
	if err != nil {
		return 0, err
	}
	return s.ScoreFields(fields)
}

// Score is Model.Score.
func (s *Scorer) Score(record map[string]string) (float64, error) {
	if err := s.read(record); err != nil {
		return 0, err
	}
	return s.inner.Score(&s.row, 0)
}

// ScoreFields is Model.ScoreFields.
func (s *Scorer) ScoreFields(fields []string) (float64, error) {
	if err := s.readFields(fields); err != nil {
		return 0, err
	}
	return s.inner.Score(&s.row, 0)
}

func (s *Scorer) read(record map[string]string) error {
	if s.row.Sparse != nil {
		fields := make([]string, 0, len(record))
		for index, value := range record {
			fields = append(fields, strings.TrimPrefix(index, "index ")+":"+value)
		}
		return s.readFields(fields)
	}
	fields := make([]string, len(s.schema.Columns))
	var absent []string
	for j, c := range s.schema.Columns {
		value, found := record[c.Name]
		if !found {
			absent = append(absent, strconv.Quote(c.Name))
		}
		fields[j] = value
	}
	if len(absent) > 0 {
		return &diag.Error{Kind: diag.Model, Found: "a record without " + strings.Join(absent, ", "),
			Expected: fmt.Sprintf("the %d columns of the training data", len(fields))}
	}
	return s.readFields(fields)
}

func (s *Scorer) readFields(fields []string) error {
	if s.row.Sparse != nil {
		return s.readSparse(fields)
	}
	if len(fields) != len(s.row.Columns) {
		return &diag.Error{Kind: diag.Model, Found: fmt.Sprintf("%d fields", len(fields)),
			Expected: fmt.Sprintf("%d, one for each column of the model", len(s.row.Columns))}
	}
	for j, field := range fields {
		column := &s.row.Columns[j]
		missing := s.missing(field)
		if column.Kind == schema.Categorical {
			column.Codes[0], column.Dictionary[0] = 0, field
			if missing {
				column.Codes[0] = -1
			}
			continue
		}
		column.Values[0] = math.NaN()
		if !missing {
			x, err := parseNumber(column.Name, field)
			if err != nil {
				return err
			}
			column.Values[0] = x
		}
	}
	return nil
}

// missing reports whether a field is empty or one of the schema's spellings of a missing value, blanks around it aside.
func (s *Scorer) missing(field string) bool {
	field = strings.Trim(field, blanks)
	return field == "" || slices.ContainsFunc(s.schema.Missing, func(spelling string) bool {
		return strings.Trim(spelling, blanks) == field
	})
}

const blanks = " \t"

func (s *Scorer) readSparse(fields []string) error {
	sparse := s.row.Sparse
	type entry struct {
		index uint32
		value float64
	}
	entries := make([]entry, 0, len(fields))
	for _, field := range fields {
		left, right, _ := strings.Cut(field, ":")
		index, err := strconv.ParseUint(left, 10, 32)
		if err != nil || index == 0 {
			return &diag.Error{Kind: diag.Data, Found: diag.Quote(field), Expected: "index:value with an index from 1"}
		}
		value, err := parseNumber("index "+left, right)
		if err != nil {
			return err
		}
		entries = append(entries, entry{uint32(index - 1), value})
	}
	slices.SortFunc(entries, func(a, b entry) int { return int(int64(a.index) - int64(b.index)) })
	sparse.Index, sparse.Value = sparse.Index[:0], sparse.Value[:0]
	for i, e := range entries {
		if i > 0 && e.index == entries[i-1].index {
			return &diag.Error{Kind: diag.Data, Found: fmt.Sprintf("index %d twice", e.index+1)}
		}
		sparse.Index, sparse.Value = append(sparse.Index, e.index), append(sparse.Value, e.value)
	}
	sparse.Start[1] = int64(len(entries))
	return nil
}

// parseNumber reads a decimal number as the readers of files do.
func parseNumber(column, field string) (float64, error) {
	text := strings.Trim(field, blanks)
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || strings.ContainsAny(text, "xX_") {
		return 0, &diag.Error{Kind: diag.Data, Column: column, Found: diag.Quote(field), Expected: "a number"}
	}
	return x, nil
}
