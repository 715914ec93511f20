package serve

import (
	"bytes"
	"math"
	"slices"
	"sort"
	"strconv"

	"toptau/diag"
	"toptau/internal/data/jsontext"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/result"
	"toptau/schema"
)

// chunkRows is the largest number of rows in a chunk: what a feature.Batch scores at a time.
const chunkRows = feature.BatchRows

// chunk holds some rows of a request: a table as the readers of files make it, and what belongs to each row.
type chunk struct {
	t        table.Table
	rows     int // complete rows
	capacity int
	number   []int      // by row: its number in the request, from 1
	score    []float64  // by row; NaN: the row has none
	id       []span     // by row
	segment  []span     // by row
	optional []int      // plan.optional
	text     []byte     // what the spans are of
	odd      []oddValue // in the order of the rows
	verdicts []Verdict  // by row, after they were decided; those without a score are zero

	unknown   []unknownValue       // in the order of the rows
	explained []result.Explanation // by row, with explanations
}

// span is a text in chunk.text.
type span struct {
	first, end int
	form       idForm
}

// idForm is how an id was written, and so how an answer writes it.
type idForm uint8

const (
	noID idForm = iota
	textID
	rawID // a number or true: JSON as it is
)

// oddValue is a missing or an unknown value.
type oddValue struct {
	row, input int
	unknown    bool
}

// unknownValue is the text of a category without a weight.
type unknownValue struct {
	row, column int // of the table
	text        span
}

// unknownText returns the text of a row's unknown category, "" without one. A row that was refused may have left others in
// its place, which come before.
func (c *chunk) unknownText(row int, column string) string {
	for _, v := range slices.Backward(c.unknown) {
		if v.row == row && c.t.Columns[v.column].Name == column {
			return string(c.textOf(v.text))
		}
	}
	return ""
}

func (c *chunk) textOf(s span) []byte { return c.text[s.first:s.end] }

// newChunk returns a chunk for one row.
func (p *plan) newChunk() *chunk {
	c := &chunk{optional: p.optional}
	if p.schema.Sparse() {
		c.t.Sparse = &table.Sparse{Cols: p.schema.Width, Start: []int64{0}}
	}
	c.t.Columns = slices.Clone(p.columns)
	c.grow(1)
	return c
}

// reset empties a chunk and keeps its memory.
func (c *chunk) reset() {
	c.rows, c.text, c.odd, c.unknown, c.explained = 0, c.text[:0], c.odd[:0], c.unknown[:0], c.explained[:0]
	c.verdicts = c.verdicts[:0]
	if s := c.t.Sparse; s != nil {
		s.Start, s.Index, s.Value = s.Start[:1], s.Index[:0], s.Value[:0]
	}
}

// grow makes place for n rows.
func (c *chunk) grow(n int) {
	c.capacity = n
	for j := range c.t.Columns {
		column := &c.t.Columns[j]
		if column.Kind == schema.Categorical {
			column.Codes = lengthened(column.Codes, n)
		} else {
			column.Values = lengthened(column.Values, n)
		}
	}
	c.number, c.score = lengthened(c.number, n), lengthened(c.score, n)
	c.id, c.segment = lengthened(c.id, n), lengthened(c.segment, n)
}

// lengthened returns a list with n elements, the further ones zero.
func lengthened[T any](list []T, n int) []T { return append(list, make([]T, n-len(list))...) }

// begin prepares the next row and returns its place.
func (c *chunk) begin() int {
	if c.rows == c.capacity {
		c.grow(min(max(8, 4*c.capacity), chunkRows))
	}
	row := c.rows
	c.id[row], c.segment[row] = span{}, span{}
	for _, j := range c.optional {
		if column := &c.t.Columns[j]; column.Kind == schema.Categorical {
			column.Codes[row] = -1
		} else {
			column.Values[row] = math.NaN()
		}
	}
	if s := c.t.Sparse; s != nil {
		s.Start = s.Start[:row+1]
		s.Index, s.Value = s.Index[:s.Start[row]], s.Value[:s.Start[row]]
	}
	return row
}

// keepText keeps a text of a row.
func (c *chunk) keepText(value []byte, form idForm) span {
	first := len(c.text)
	c.text = append(c.text, value...)
	return span{first, len(c.text), form}
}

// put sets the values of a row that come from a field. Texts are as in a file; the empty text is missing.
func (c *chunk) put(p *plan, f int, row int, k jsontext.Kind, value []byte) error {
	fd := &p.fields[f]
	if k == jsontext.Object || k == jsontext.List {
		if len(fd.features) == 0 && f != p.segment && f != p.id {
			return nil
		}
		what := "an object"
		if k == jsontext.List {
			what = "a list"
		}
		return &diag.Error{Kind: diag.Data, Column: fd.name, Found: what,
			Expected: "a number, a text, true, false or null"}
	}
	if f == p.id && k != jsontext.Null {
		form := rawID
		if k == jsontext.Text {
			form = textID
		}
		c.id[row] = c.keepText(value, form)
	}
	if f == p.segment {
		text := bytes.Trim(value, " \t")
		if k == jsontext.Number {
			text = table.DecimalText(text)
		}
		c.segment[row] = c.keepText(text, textID)
	}
	if fd.plain >= 0 {
		v, err := numberOf(fd.features[0].reader, k, value)
		c.t.Columns[fd.plain].Values[row] = v
		return err
	}
	for i := range fd.features {
		t := &fd.features[i]
		column := &c.t.Columns[t.column]
		if t.codes == nil {
			v, err := numberOf(t.reader, k, value)
			if err != nil {
				return err
			}
			column.Values[row] = v
			continue
		}
		category, err := t.categoryOf(k, value)
		if err != nil {
			return err
		}
		column.Codes[row] = -1
		if category != nil {
			code, known := t.codes[string(category)]
			if !known {
				code = int32(len(t.codes)) // unknownCategory
				c.unknown = append(c.unknown, unknownValue{row, t.column, c.keepText(category, textID)})
			}
			column.Codes[row] = code
		}
	}
	return nil
}

// putIndex sets a value of a LIBSVM row: index:value.
func (c *chunk) putIndex(key []byte, k jsontext.Kind, value []byte) error {
	index, err := strconv.ParseUint(string(key), 10, 32)
	if err != nil || index == 0 {
		return nil // another column, such as a label
	}
	name := "index " + string(key)
	if k == jsontext.Object || k == jsontext.List {
		return &diag.Error{Kind: diag.Data, Column: name, Found: "a list or an object", Expected: "a number"}
	}
	v, ok := table.ParseNumber(value)
	if !ok {
		return &diag.Error{Kind: diag.Data, Column: name, Found: diag.Quote(string(value)),
			Expected: "a finite number"}
	}
	if v != 0 {
		s := c.t.Sparse
		s.Index, s.Value = append(s.Index, uint32(index-1)), append(s.Value, v)
	}
	return nil
}

// keep makes the row that was begun last part of the chunk.
func (c *chunk) keep(number int) error {
	if s := c.t.Sparse; s != nil {
		if err := endSparseRow(s); err != nil {
			return err
		}
	}
	c.number[c.rows] = number
	c.rows++
	return nil
}

// endSparseRow puts the entries of the last row in order and ends the row.
func endSparseRow(s *table.Sparse) error {
	first := s.Start[len(s.Start)-1]
	sort.Sort(entries{s.Index[first:], s.Value[first:]})
	for i := first + 1; i < int64(len(s.Index)); i++ {
		if s.Index[i] == s.Index[i-1] {
			return wrongRequest("index "+strconv.Itoa(int(s.Index[i])+1)+" twice", "each index at most once")
		}
	}
	s.Start = append(s.Start, int64(len(s.Index)))
	return nil
}

// entries are the entries of a LIBSVM row, ordered by index.
type entries struct {
	index []uint32
	value []float64
}

func (e entries) Len() int           { return len(e.index) }
func (e entries) Less(i, j int) bool { return e.index[i] < e.index[j] }
func (e entries) Swap(i, j int) {
	e.index[i], e.index[j] = e.index[j], e.index[i]
	e.value[i], e.value[j] = e.value[j], e.value[i]
}

// takeChunk returns an empty chunk.
func (b *bundle) takeChunk() *chunk {
	c, _ := b.chunks.Get().(*chunk)
	if c == nil {
		c = b.plan.newChunk()
	}
	c.reset()
	return c
}

// numberOf reads a number of JSON, or the text of one.
func numberOf(r *table.FieldReader, k jsontext.Kind, value []byte) (float64, error) {
	if k == jsontext.Number {
		return r.Point(value)
	}
	return r.Number(value)
}

// categoryOf reads a category. A number is that of its decimal text, however it is written.
func (t *target) categoryOf(k jsontext.Kind, value []byte) ([]byte, error) {
	if k == jsontext.Number {
		value = t.reader.NumberText(slices.Clip(table.DecimalText(value)), func(category []byte) bool {
			_, known := t.codes[string(category)]
			return known
		})
	}
	return t.reader.Category(value)
}
