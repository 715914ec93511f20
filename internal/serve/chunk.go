package serve

import (
	"cmp"
	"math"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"sync"

	"toptau/diag"
	"toptau/internal/feature"
	"toptau/internal/jsontext"
	"toptau/internal/table"
	words "toptau/internal/text"
	"toptau/schema"
)

// chunkRows is the largest number of rows in a chunk: what a feature.Batch scores at a time.
const chunkRows = feature.BatchRows

// chunk holds some rows of a request: a table as the readers of files make it, and what belongs to each row.
type chunk struct {
	t        table.Table
	rows     int // complete rows
	capacity int
	number   []int     // by row: its number in the request, from 1
	score    []float64 // by row; NaN: the row has none
	id       []span    // by row
	segment  []span    // by row
	text     []byte    // what the spans are of
	odd      []oddity  // in the order of the rows
	verdicts []Verdict // by row, after they were decided; those without a score are zero

	terms []term    // with explanations: the columns listed, row by row
	ends  []int     // by row: where its terms end
	rest  []float64 // by row: the score less its terms
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

// oddity is a missing or an unknown value.
type oddity struct {
	row, input int
	unknown    bool
}

// indexInput is the input of all LIBSVM indices that training did not have.
const indexInput = -1

// term is what a column adds to a score.
type term struct {
	column int
	adds   float64
	above  float64 // the same, less what the column adds to the average training row
}

func (c *chunk) textOf(s span) []byte { return c.text[s.first:s.end] }

// newChunk returns a chunk for one row.
func (p *plan) newChunk() *chunk {
	c := &chunk{}
	if p.schema.Sparse() {
		c.t.Sparse = &table.Sparse{Cols: p.schema.Width, Start: []int64{0}}
	}
	c.t.Columns = slices.Clone(p.columns)
	c.grow(1)
	return c
}

// reset empties a chunk and keeps its memory.
func (c *chunk) reset() {
	c.rows, c.text, c.odd, c.terms, c.ends, c.rest = 0, c.text[:0], c.odd[:0], c.terms[:0], c.ends[:0], c.rest[:0]
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
		c.segment[row] = c.keepText(value, textID)
	}
	if fd.plain >= 0 {
		v, err := fd.features[0].reader.Number(value)
		c.t.Columns[fd.plain].Values[row] = v
		return err
	}
	for i := range fd.features {
		t := &fd.features[i]
		column := &c.t.Columns[t.column]
		if t.codes == nil {
			v, err := t.reader.Number(value)
			if err != nil {
				return err
			}
			column.Values[row] = v
			continue
		}
		category, err := t.reader.Category(value)
		if err != nil {
			return err
		}
		column.Codes[row] = -1
		if category != nil {
			code, known := t.codes[string(category)]
			if !known {
				code = int32(len(t.codes)) // unknownCategory
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

// scratch is what decoding and scoring of one request needs. It belongs to a bundle.
type scratch struct {
	jsontext.Scanner
	bundle *bundle
	set    []uint32 // by field: the mark of the last row that has it
	mark   uint32
	guess  []int32 // the fields of the last row, in their order; -1: none
	place  int     // in guess
	path   []byte  // of nested keys
	extra  int     // values without a column

	lacking, lacked []int    // fields that the row, and an earlier one, does not have
	lack            *problem // of lacked

	scorer *feature.Scorer
	batch  *feature.Batch // nil: rows are scored one by one
	adds   []float64      // with explanations, by column
}

func (b *bundle) newScratch() *scratch {
	s := &scratch{bundle: b, set: make([]uint32, len(b.plan.fields)), scorer: b.model.TableScorer(feature.Key{})}
	s.batch = feature.NewBatch(s.scorer)
	return s
}

// scoreChunk scores the rows of a chunk. Rows without a score have NaN, and bad is called with their errors
// in the order of the rows.
func (s *scratch) scoreChunk(c *chunk, explain int, bad func(row int, err error)) {
	z := c.score[:c.rows]
	together := s.batch != nil && explain == 0 && s.batch.Score(&c.t, 0, z)
	for row := range z {
		if !together {
			var err error
			if z[row], err = s.scorer.Score(&c.t, row); err != nil {
				z[row] = math.NaN()
				bad(row, err)
			}
			if s.scorer.Row.Counts.UnknownIndices > 0 {
				c.odd = append(c.odd, oddity{row, indexInput, true})
				s.scorer.Row.Counts.UnknownIndices = 0
			}
			if explain > 0 {
				s.explain(c, row, explain)
			}
		}
	}
	if s.bundle.categorical || !together {
		s.findOddities(c)
	}
	s.scorer.Row.Counts.Reset() // counts of one client must not reach another
}

// findOddities lists the missing and unknown values of a chunk.
func (s *scratch) findOddities(c *chunk) {
	if sparse := c.t.Sparse; sparse != nil {
		return
	}
	p := s.bundle.plan
	for k := range p.inputs {
		in := &p.inputs[k]
		column := &c.t.Columns[in.Column]
		if in.Kind != schema.Categorical {
			for row, x := range column.Values[:c.rows] {
				if x != x {
					c.odd = append(c.odd, oddity{row, k, false})
				}
			}
			continue
		}
		for row, code := range column.Codes[:c.rows] {
			if code < 0 || int(code) == len(column.Dictionary)-1 && !in.Rare {
				c.odd = append(c.odd, oddity{row, k, code >= 0})
			}
		}
	}
	if c.rows > 1 {
		slices.SortStableFunc(c.odd, func(a, b oddity) int { return a.row - b.row })
	}
}

// explain lists the columns that distinguish a row's score most from that of the average training row.
func (s *scratch) explain(c *chunk, row, most int) {
	if c.score[row] != c.score[row] {
		c.ends, c.rest = append(c.ends, len(c.terms)), append(c.rest, 0)
		return
	}
	d := s.bundle.division()
	s.adds = append(s.adds[:0], make([]float64, len(d.Columns))...)
	d.Row(&s.scorer.Row, s.adds)
	first := len(c.terms)
	for j, x := range s.adds {
		above := x
		if a := s.bundle.model.Averages(); a != nil {
			above -= a.Adds[j]
		}
		if x != 0 || above != 0 {
			c.terms = append(c.terms, term{j, x, above})
		}
	}
	slices.SortStableFunc(c.terms[first:], func(a, b term) int {
		return cmp.Compare(math.Abs(b.above),
			math.Abs(a.above))
	})
	c.terms = c.terms[:min(len(c.terms), first+most)]
	rest := c.score[row]
	for _, t := range c.terms[first:] {
		rest -= t.adds
	}
	c.ends, c.rest = append(c.ends, len(c.terms)), append(c.rest, rest)
}

// badRows is what becomes of a row that has no score.
type badRows uint8

const (
	refuseRows badRows = iota // the request is refused with its error
	emptyRows                 // its result is the error
	skipRows                  // it has no result
)

// rowOptions are the options of a request.
type rowOptions struct {
	at      string // the operating point of the decisions; "": the default
	explain int    // columns to list
	bad     badRows
	strict  bool // columns that the model does not have are refused
}

// The memory of rows without a score is counted in groups: an error with its texts, and its result.
const (
	badRowsReserved = 64
	badRowBytes     = 1 << 10
)

// rowProblem is a row without a score.
type rowProblem struct {
	row int
	*problem
}

// rows are the rows of a request, while they are decoded and afterwards.
type rows struct {
	rowOptions
	fixed   bool // the options of the body do not count
	b       *bundle
	s       *scratch
	n       int // rows so far, with those that have no score
	most    int
	chunks  []*chunk
	bad     []rowProblem
	reserve func(bytes int64) error         // counts memory; nil: not counted
	between func(c *chunk, last bool) error // is called with each full chunk before it is scored
}

// open returns the chunk and the place for the next row.
func (r *rows) open() (*chunk, int, error) {
	if r.n == r.most {
		return nil, 0, r.tooMany()
	}
	if n := len(r.chunks); n == 0 || r.chunks[n-1].rows == chunkRows {
		if n > 0 {
			if err := r.scoreLast(false); err != nil {
				return nil, 0, err
			}
		}
		r.chunks = append(r.chunks, r.b.takeChunk())
	}
	c := r.chunks[len(r.chunks)-1]
	return c, c.begin(), nil
}

func (r *rows) tooMany() error {
	return refused(http.StatusRequestEntityTooLarge, diag.Limit, "more than "+words.Plural(r.most, "row"),
		"fewer rows in a request, or NDJSON")
}

// close ends the row that was opened last. err is why it has no score.
func (r *rows) close(c *chunk, err error) error {
	r.n++
	if err == nil {
		err = c.keep(r.n)
	}
	if err != nil {
		return r.reject(r.n, err)
	}
	return nil
}

// reject notes a row without a score, or returns its error.
func (r *rows) reject(row int, err error) error {
	p := atRow(err, row)
	if r.rowOptions.bad == refuseRows {
		return p
	}
	if r.reserve != nil && len(r.bad)%badRowsReserved == 0 {
		if err := r.reserve(badRowsReserved * badRowBytes); err != nil {
			return err
		}
	}
	r.bad = append(r.bad, rowProblem{row, p})
	return nil
}

// scoreLast scores the last chunk.
func (r *rows) scoreLast(last bool) error {
	if len(r.chunks) == 0 {
		return nil
	}
	c := r.chunks[len(r.chunks)-1]
	if r.between != nil {
		if err := r.between(c, last); err != nil {
			return err
		}
	}
	var first error
	r.s.scoreChunk(c, r.explain, func(row int, err error) {
		if err := r.reject(c.number[row], err); err != nil && first == nil {
			first = err
		}
	})
	return first
}

// finish scores the last chunk and orders the problems by row.
func (r *rows) finish() error {
	if err := r.scoreLast(true); err != nil {
		return err
	}
	slices.SortStableFunc(r.bad, func(a, b rowProblem) int { return a.row - b.row })
	if r.strict && r.s.extra > 0 {
		return refused(http.StatusUnprocessableEntity, diag.Data, "columns that the model does not have",
			"the columns of the model only, because strict is set")
	}
	return nil
}

// restart forgets all rows.
func (r *rows) restart() {
	r.release()
	r.n, r.bad, r.s.extra = 0, r.bad[:0], 0
}

// release returns the chunks.
func (r *rows) release() {
	for _, c := range r.chunks {
		r.b.chunks.Put(c)
	}
	r.chunks = r.chunks[:0]
}

// takeChunk returns an empty chunk.
func (b *bundle) takeChunk() *chunk {
	c := b.chunks.Get().(*chunk)
	c.reset()
	return c
}

// pools of a bundle.
type pools struct {
	chunks    sync.Pool // of *chunk
	scratches sync.Pool // of *scratch
}
