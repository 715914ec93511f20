package serve

import (
	"net/http"
	"slices"
	"strings"

	"toptau/diag"
	words "toptau/internal/core/text"
	"toptau/internal/data/scoredrow"
)

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
	asCSV   bool // the answer is CSV, whose rows have no place for columns to list
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
	terse   bool // Options.TerseErrors
	fixed   bool // the options of the body do not count
	b       *bundle
	s       *scratch
	n       int // rows so far, with those that have no score
	most    int
	chunks  []*chunk
	bad     []rowProblem
	reserve func(bytes int64) error         // counts memory; nil: not counted
	between func(c *chunk, last bool) error // is called with each full chunk before it is scored
	out     scoredrow.Row                   // the last result
}

// open returns the chunk and the place for the next row.
func (r *rows) open() (*chunk, int, error) {
	if r.n == r.most {
		return nil, 0, r.tooMany()
	}
	if n := len(r.chunks); n == 0 || r.chunks[n-1].rows == chunkRows {
		if n > 0 {
			if err := r.scoreChunk(false); err != nil {
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

// scoreChunk scores the chunk that was filled last. With end no other one follows. It returns the first error that refuses the request; other
// errors are results of their rows.
func (r *rows) scoreChunk(end bool) error {
	if len(r.chunks) == 0 {
		return nil
	}
	c := r.chunks[len(r.chunks)-1]
	if r.between != nil {
		if err := r.between(c, end); err != nil {
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
	if err := r.scoreChunk(true); err != nil {
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

// newRows returns rows without content.
func (b *bundle) newRows(o rowOptions, most int) *rows {
	r := &rows{rowOptions: o, b: b, most: most}
	r.takeScratch()
	return r
}

// takeScratch lets rows be decoded and scored.
func (r *rows) takeScratch() {
	if r.s, _ = r.b.scratches.Get().(*scratch); r.s == nil {
		r.s = r.b.newScratch()
	}
	r.s.extra = 0
}

// done returns what the rows use.
func (r *rows) done() {
	r.release()
	r.giveScratch()
}

func (r *rows) giveScratch() {
	if r.s != nil {
		r.s.Bytes, r.s.Pause = nil, nil
		r.b.scratches.Put(r.s)
		r.s = nil
	}
}

// point returns the operating point of the request.
func (r *rows) point() (int, error) {
	i, found := r.b.pointOf(r.at)
	if found {
		return i, nil
	}
	var names []string
	for k := range r.b.points {
		names = append(names, diag.Quote(r.b.points[k].Name))
	}
	return 0, wrongRequest("the operating point "+diag.Quote(r.at), "one of "+strings.Join(names, ", "))
}

// count counts the rows of a request after the first ones, which were counted before.
func (r *rows) count(before int) {
	c := r.b.counters
	c.rows.Add(uint64(r.n - before - len(r.bad)))
	if n := len(r.bad); n > 0 {
		c.rejected.Add(uint64(n))
	}
	unknownIndices := uint64(0)
	for _, k := range r.chunks {
		for _, z := range k.score[:k.rows] {
			if z == z {
				i, _ := slices.BinarySearch(c.scores.limits, z) // le: at most the limit
				c.scores.counts[i].Add(1)
			}
		}
		for _, o := range k.odd {
			switch {
			case o.input == indexInput:
				unknownIndices++
			case o.unknown:
				c.unknown[o.input].Add(1)
			default:
				c.missing[o.input].Add(1)
			}
		}
	}
	if unknownIndices > 0 {
		c.counter("unknown", "index").Add(unknownIndices)
	}
}
