package model

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/internal/models/reason"
	"toptau/schema"
)

// Score returns the score of one record, given as text by column name; Record makes one of a struct. LIBSVM records have indices as names
// ("17"); an index that is not there is 0. Columns that the model does not know are ignored, so that records
// may contain labels and identifiers.
//
// A record may lack a column without a weight.
//
// Errors (diag.Model, diag.Data): a column is absent, a number is not a number, or a value is missing and the
// model's policy is error.
func (m *Model) Score(record map[string]string) (float64, error) {
	s := m.scorer()
	defer m.scorers.Put(s)
	return s.Score(record)
}

// ScoreFields returns the score of one record, given as text in the order of Schema().Columns. A column with a
// Part has the derived value ("13" for an hour, "10.0.0.0/8" for a network). LIBSVM records
// have "index:value" in each field.
func (m *Model) ScoreFields(fields []string) (float64, error) {
	s := m.scorer()
	defer m.scorers.Put(s)
	return s.ScoreFields(fields)
}

// ScoreNumbers returns the score of one record, given as numbers in the order of Schema().Columns; NaN is a
// missing value. LIBSVM records have the value of index i+1 at i, up to any index. The score has the same
// bits as that of the numbers written as text, in decimal without an exponent: 80 is the category "80" of a
// categorical column, and -1 is missing where "-1" is.
func (m *Model) ScoreNumbers(values []float64) (float64, error) {
	s := m.scorer()
	defer m.scorers.Put(s)
	return s.ScoreNumbers(values)
}

func (m *Model) scorer() *Scorer { return m.scorers.Get().(*Scorer) }

// Scorer scores records in one goroutine and remembers which values of the last one were missing or unknown.
// The methods of Model are the same without that.
type Scorer struct {
	m     *Model
	inner *feature.Scorer
	row   table.Table // of one row

	fields  []string // scratch
	entries []entry
	text    []byte

	divider *reason.Divider // set by the first explanation
}

// entry is a non-zero value of a LIBSVM record.
type entry struct {
	index uint32 // from 0
	value float64
}

// NewScorer returns a Scorer.
func (m *Model) NewScorer() *Scorer {
	p := &m.parts
	s := &Scorer{m: m, inner: feature.ScorerOf(m)}
	s.row = p.emptyRow()
	s.fields = make([]string, len(p.Schema.Columns))
	return s
}

// emptyRow returns a table of one row without values.
func (p *Parts) emptyRow() table.Table {
	row := table.Table{Line: []int{0}}
	if p.Schema.Sparse() {
		row.Sparse = &table.Sparse{Cols: p.Schema.Width, Start: []int64{0, 0}}
		return row
	}
	row.Columns = make([]table.Column, len(p.Schema.Columns))
	for j, c := range p.Schema.Columns {
		column := table.Column{Name: c.Name, Number: c.Number, Kind: c.Kind}
		if c.Kind == schema.Categorical {
			column.Codes, column.Dictionary = []int32{0}, []string{""}
		} else {
			column.Values = []float64{0}
		}
		row.Columns[j] = column
	}
	return row
}

// Score is Model.Score.
func (s *Scorer) Score(record map[string]string) (float64, error) {
	if s.row.Sparse != nil {
		if err := s.readEntries(record); err != nil {
			return 0, err
		}
		return s.scoreRow()
	}
	for j := range s.row.Columns {
		c := &s.m.parts.Schema.Columns[j]
		value, found := record[c.FileColumn()]
		if !found && s.m.used[j] {
			return 0, s.absent(record)
		}
		var err error
		if c.Kind == schema.Numeric && c.Part == schema.Whole && !s.m.missing.text(value) {
			value = table.WithPoint(table.WithoutUnit(value, c.Unit), s.m.parts.Schema.Decimal)
		}
		if s.fields[j], err = table.DeriveText(c, value, s.m.missing.text); err != nil {
			return 0, err
		}
	}
	return s.ScoreFields(s.fields)
}

// absent lists the columns that a record does not have.
func (s *Scorer) absent(record map[string]string) error {
	var names []string
	for j := range s.row.Columns {
		name := s.m.parts.Schema.Columns[j].FileColumn()
		if _, found := record[name]; !found && s.m.used[j] && !slices.Contains(names, strconv.Quote(name)) {
			names = append(names, strconv.Quote(name))
		}
	}
	return &diag.Error{Kind: diag.Model, Found: "a record without " + strings.Join(names, ", "), Expected: "the columns that the model needs"}
}

// ScoreFields is Model.ScoreFields.
func (s *Scorer) ScoreFields(fields []string) (float64, error) {
	read := s.readFields
	if s.row.Sparse != nil {
		read = s.readSparse
	}
	if err := read(fields); err != nil {
		return 0, err
	}
	return s.scoreRow()
}

// ScoreNumbers is Model.ScoreNumbers.
func (s *Scorer) ScoreNumbers(values []float64) (float64, error) {
	read := s.readNumbers
	if s.row.Sparse != nil {
		read = s.readSparseNumbers
	}
	if err := read(values); err != nil {
		return 0, err
	}
	return s.scoreRow()
}

func (s *Scorer) scoreRow() (float64, error) {
	s.inner.Row.Counts.Reset()
	return s.inner.Score(&s.row, 0)
}

// Missing returns the columns whose value was missing in the last record.
func (s *Scorer) Missing() []string { return s.counted(func(t feature.Tally) int { return t.Missing }) }

// Unknown returns the columns whose value in the last record does not occur in the training data: categories,
// and for LIBSVM "index" for all such indices.
func (s *Scorer) Unknown() []string { return s.counted(func(t feature.Tally) int { return t.Unknown }) }

func (s *Scorer) counted(count func(feature.Tally) int) []string {
	var names []string
	for _, t := range s.inner.Row.Counts.Tallies(s.inner.Map) {
		if count(t) > 0 {
			names = append(names, t.Column)
		}
	}
	return names
}

func (s *Scorer) readFields(fields []string) error {
	if err := s.checkLen(len(fields), "fields"); err != nil {
		return err
	}
	for j, field := range fields {
		column := &s.row.Columns[j]
		s.text = append(s.text[:0], field...)
		if column.Codes == nil {
			var err error
			if column.Values[0], err = s.m.readers[j].Number(s.text); err != nil {
				return err
			}
			continue
		}
		column.Codes[0] = -1
		if text, _ := s.m.readers[j].Category(s.text); text != nil {
			column.Codes[0], column.Dictionary[0] = 0, s.category(j, strings.Trim(field, blanks))
		}
	}
	return nil
}

func (s *Scorer) readNumbers(values []float64) error {
	if err := s.checkLen(len(values), "numbers"); err != nil {
		return err
	}
	for j, x := range values {
		column := &s.row.Columns[j]
		if math.IsInf(x, 0) {
			return &diag.Error{Kind: diag.Data, Column: column.Name, Found: strconv.FormatFloat(x, 'g', -1, 64), Expected: "a finite number"}
		}
		missing := x != x || s.m.missing.number(x)
		if column.Codes == nil {
			column.Values[0] = x
			if missing {
				column.Values[0] = math.NaN()
			}
			continue
		}
		column.Codes[0] = 0
		if missing {
			column.Codes[0] = -1
			continue
		}
		s.text = s.m.readers[j].NumberText(text.AppendDecimal(s.text[:0], x), func(category []byte) bool {
			return s.inner.Map.Category(j, category) != ""
		})
		if s.m.parts.Schema.Columns[j].Salt != "" {
			column.Dictionary[0] = s.category(j, string(s.text))
		} else {
			column.Dictionary[0] = s.inner.Map.Category(j, s.text)
		}
	}
	return nil
}

// category returns the category of a text of column j: the text, or its hash if the model has hashes. A text that
// is such a hash is that category.
func (s *Scorer) category(j int, text string) string {
	salt := s.m.parts.Schema.Columns[j].Salt
	if salt == "" || s.inner.Map.Category(j, []byte(text)) != "" {
		return text
	}
	return table.HashName(salt, text)
}

func (s *Scorer) checkLen(n int, what string) error {
	if n == len(s.row.Columns) {
		return nil
	}
	return &diag.Error{Kind: diag.Model, Found: fmt.Sprintf("%d %s", n, what),
		Expected: fmt.Sprintf("%d, one for each column of the model", len(s.row.Columns))}
}

func (s *Scorer) readEntries(record map[string]string) error {
	s.entries = s.entries[:0]
	for index, value := range record {
		if err := s.readEntry(strings.TrimPrefix(index, "index "), value); err != nil {
			return err
		}
	}
	return s.setEntries()
}

func (s *Scorer) readSparse(fields []string) error {
	s.entries = s.entries[:0]
	for _, field := range fields {
		index, value, _ := strings.Cut(field, ":")
		if err := s.readEntry(index, value); err != nil {
			return err
		}
	}
	return s.setEntries()
}

func (s *Scorer) readSparseNumbers(values []float64) error {
	sparse := s.row.Sparse
	sparse.Index, sparse.Value = sparse.Index[:0], sparse.Value[:0]
	for i, x := range values {
		if x-x != 0 {
			return &diag.Error{Kind: diag.Data, Column: "index " + strconv.Itoa(i+1), Found: strconv.FormatFloat(x, 'g', -1, 64),
				Expected: "a finite number"}
		}
		if x != 0 {
			sparse.Index, sparse.Value = append(sparse.Index, uint32(i)), append(sparse.Value, x)
		}
	}
	sparse.Start[1] = int64(len(sparse.Index))
	return nil
}

func (s *Scorer) readEntry(index, value string) error {
	i, err := strconv.ParseUint(index, 10, 32)
	if err != nil || i == 0 {
		return &diag.Error{Kind: diag.Data, Found: diag.Quote(index + ":" + value), Expected: "index:value with an index from 1"}
	}
	s.text = append(s.text[:0], value...)
	x, ok := table.ParseNumber(s.text)
	if !ok {
		return &diag.Error{Kind: diag.Data, Column: "index " + index, Found: diag.Quote(value), Expected: "a number"}
	}
	s.entries = append(s.entries, entry{uint32(i - 1), x})
	return nil
}

// setEntries makes the entries the row.
func (s *Scorer) setEntries() error {
	slices.SortFunc(s.entries, func(a, b entry) int { return int(int64(a.index) - int64(b.index)) })
	sparse := s.row.Sparse
	sparse.Index, sparse.Value = sparse.Index[:0], sparse.Value[:0]
	for i, e := range s.entries {
		if i > 0 && e.index == s.entries[i-1].index {
			return &diag.Error{Kind: diag.Data, Found: fmt.Sprintf("index %d twice", e.index+1), Expected: "each index at most once"}
		}
		sparse.Index, sparse.Value = append(sparse.Index, e.index), append(sparse.Value, e.value)
	}
	sparse.Start[1] = int64(len(s.entries))
	return nil
}

// missingValues are the spellings of a missing value, in addition to the empty field.
type missingValues struct {
	texts   []string // without blanks at the ends
	numbers []float64
}

func missingValuesOf(spellings []string) (v missingValues) {
	for _, spelling := range spellings {
		spelling = strings.Trim(spelling, blanks)
		v.texts = append(v.texts, spelling)
		if x, ok := table.ParseNumber([]byte(spelling)); ok {
			v.numbers = append(v.numbers, x)
		}
	}
	return v
}

func (v *missingValues) text(field string) bool {
	field = strings.Trim(field, blanks)
	return field == "" || slices.Contains(v.texts, field)
}

func (v *missingValues) number(x float64) bool { return slices.Contains(v.numbers, x) }

const blanks = " \t"
