package table

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/schema"
)

// delimitedRows reads the rows of delimited text: those of scanned chunks at once, all others record by
// record from the tokenizer.
type delimitedRows struct {
	*assembler
	chunks   *chunkQueue
	records  *delimited
	ended    error // what the records ended with
	firstRow int   // the line of the first row
}

// newDelimitedRows reads the head of a delimited file and decides the role and kind of each column. Then the
// head is read again, as rows.
func newDelimitedRows(r *Reader, p prefix, source io.Reader) (rowSource, error) {
	delimiter, err := delimiterOf(r.options.Delimiter)
	if err != nil {
		return nil, err
	}
	top := newLines(source)
	if named, rest := p.namedDelimiter(); named != 0 {
		if _, err := top.next(); err != nil {
			return nil, err
		}
		p.bytes, delimiter = rest, cmp.Or(delimiter, named)
	}
	skip, after := p.comments(delimiter)
	for range skip {
		if _, err := top.next(); err != nil {
			return nil, err
		}
	}
	p.bytes = after
	if delimiter == 0 {
		delimiter = sniffDelimiter(p)
	}
	top.passEmpty(delimiter)
	ahead := &replay{source: top.rest(), limit: math.MaxInt}
	h, err := readHead(r, ahead, top.number, delimiter)
	if err != nil {
		return nil, err
	}
	header, err := headerOf(r, h)
	if err != nil {
		return nil, err
	}
	n, err := newNames(r.file, header, len(h.first.fields))
	if err != nil {
		return nil, err
	}
	if header != nil && h.rows == 0 && h.ended == io.EOF && r.first == nil {
		return nil, &diag.Error{Kind: diag.Data, File: r.file, Line: header.line, Found: "only a header line",
			Expected: "rows below it", Fixes: []diag.Fix{{Param: "header", Value: "no", When: "if the line is a row"}}}
	}
	s := &delimitedRows{firstRow: h.second}
	if s.assembler, err = newAssembler(r, n, h.kinds(header != nil, r.missing)); err != nil {
		return nil, err
	}
	if header == nil {
		s.firstRow = h.first.line
		if r.options.detectsHeader() {
			s.headerLine = s.firstRow
		}
	}
	if err := s.checkFirstLabel(h); err != nil {
		return nil, err
	}
	return s, s.start(ahead.again(), top.number, delimiter)
}

// start prepares to read the rows from source, which begins after a number of lines.
func (s *delimitedRows) start(source io.Reader, line int, delimiter byte) error {
	if s.names.header {
		header := &delimited{file: s.reader.file, lines: newLines(source), delimiter: delimiter, most: MaxColumns}
		header.lines.number = line
		if _, err := header.next(); err != nil {
			return err
		}
		source, line = header.lines.rest(), header.lines.number
	}
	s.chunks = newChunkQueue(source, s.reader.in, s.reader.policy)
	s.records = &delimited{file: s.reader.file, lines: newLines(s.chunks), delimiter: delimiter,
		most: MaxColumns, begun: s.names.header, goesOn: s.reader.options.keepsBadRows()}
	s.records.keeps, s.records.whole = s.reader.options.Text || s.records.goesOn, make([]byte, 0, 256)
	s.records.lines.number = line
	s.records.current.fields = make([][]byte, len(s.names.all)) // as many as in other lines
	if c := s.newScan(); c != nil && !s.reader.policy.careful {
		s.chunks.scan = c.scan
	}
	return nil
}

// detectsHeader reports whether the content decides whether there is a header.
func (o *Options) detectsHeader() bool {
	return o.Header != schema.HasHeader && o.Header != schema.NoHeader
}

// headerOf returns the first record of the head if it is a header, otherwise nil.
func headerOf(r *Reader, h *head) (*row, error) {
	o := &r.options
	has := o.Header == schema.HasHeader
	if o.detectsHeader() {
		if m := o.Schema; m != nil && m.Header {
			if has = hasColumnName(m, h.first.fields); !has {
				e := &diag.Error{Kind: diag.Model, File: r.file, Line: h.first.line,
					Found: "a first line without the model's column names", Expected: "a header",
					Fixes: matchByNumber}
				if r.first != nil {
					e.Kind, e.Found, e.Fixes = diag.Data, "a first line without the column names of "+r.first.file, nil
				}
				return nil, e
			}
		} else {
			has = o.nameOneOf(h.first.fields) || h.looksHeader() || r.in.live != nil && h.words && hasNumeric(o.Schema)
			if !has && h.numbersColumns() {
				return nil, &diag.Error{Kind: diag.Data, File: r.file, Line: h.first.line, Found: "numbers in order, which may be a header or a row",
					Expected: "to know which", Fixes: []diag.Fix{{Param: "header", Value: "yes", When: "if they name the columns, as pandas does"},
						{Param: "header", Value: "no", When: "if they are a row"}}}
			}
		}
	}
	if !has {
		return nil, nil
	}
	return &h.first, nil
}

// nameOneOf reports whether an option names, not numbers, a column that is one of the fields.
func (o *Options) nameOneOf(fields [][]byte) bool {
	refs := []string{o.Label, o.Weight, o.Group, o.Segment, o.Time}
	refs = slices.Concat(refs, o.Drop, o.ID, o.Kept, o.Categorical, o.Numeric, o.Date, o.Address)
	for _, ref := range refs {
		if _, what := parseNumber([]byte(ref)); ref == "" || ref == "first" || ref == "last" || what == number {
			continue
		}
		for _, f := range fields {
			if string(trimBlanks(f)) == ref {
				return true
			}
		}
	}
	return false
}

// checkFirstLabel refuses a first line that may be a header which was not recognised because some of its
// names are numbers: its label is text, and all other labels of the head are numbers.
func (s *delimitedRows) checkFirstLabel(h *head) error {
	i := s.roles.label
	if s.reader.options.Schema != nil || i < 0 || s.headerLine == 0 {
		return nil
	}
	if c := h.counts[i]; c.seen == 0 || c.numbers < c.seen {
		return nil
	}
	label := h.first.fields[i]
	if _, what := parseNumber(label); what == number || s.reader.missing.has(label) {
		return nil
	}
	return &diag.Error{Kind: diag.Data, File: s.reader.file, Line: h.first.line, Column: s.names.all[i],
		Found: "the label " + diag.Quote(string(label)), Expected: "a number, as the other labels are",
		Fixes: []diag.Fix{{Param: "header", Value: "yes", When: "if this line names the columns"},
			{Param: "header", Value: "no", When: "otherwise"}}}
}

// appendRows implements rowSource.
func (s *delimitedRows) appendRows(t *Table, limit int) error {
	whole, packer := limit == math.MaxInt, packer{on: s.reader.packs}
	if whole {
		defer s.chunks.scanAhead()()
	}
	for t.Rows()+len(t.Bad) < limit {
		if t.Rows()+len(t.Bad) > 0 && s.chunks.waits(s.records.lines) {
			return nil
		}
		if whole {
			if err := s.reader.outlook.check(t, t.Rows(), s.reader.in, s.chunks.consumed()); err != nil {
				return err
			}
		}
		packer.pack(t)
		if s.nextIsScanned() {
			if whole {
				s.reserve(t, s.chunks.current.rows.count, s.chunks.progress())
			}
			if err := s.appendChunk(t, limit); err != nil {
				return err
			}
			continue
		}
		r, err := s.nextRecord()
		if err != nil {
			if err = s.keepBad(t, r, err); err != nil {
				return err
			}
			continue
		}
		if whole && len(t.Line) == cap(t.Line) {
			s.reserve(t, 1, s.chunks.consumed())
		}
		if err := s.appendRow(t, r); err != nil {
			if err = s.keepBad(t, r, err); err != nil {
				return err
			}
			continue
		}
		if s.reader.options.Text {
			t.Text = append(t.Text, string(s.records.whole))
		}
	}
	return nil
}

// nextRecord returns the next record of the tokenizer. With an error that the record is the cause of, it
// returns the record if that has all its fields, otherwise nil.
func (s *delimitedRows) nextRecord() (*row, error) {
	if s.ended != nil {
		return nil, s.ended
	}
	r, err := s.records.next()
	if err == nil && len(r.fields) != len(s.names.all) {
		err = s.ragged(r)
	}
	if err == nil {
		return r, nil
	}
	if err = s.withColumnName(err); s.records.failed || !s.reader.options.keepsBadRows() {
		s.ended = err
		return nil, err
	}
	s.records.giveBack()
	bad := *diag.Of(err)
	bad.Line = s.records.current.line
	return nil, &bad
}

// keepBad keeps a record that is the cause of an error, nil if it has not all its fields, or returns the error.
func (s *delimitedRows) keepBad(t *Table, r *row, err error) error {
	if s.ended != nil {
		return err
	}
	return s.assembler.keepBad(t, r, s.records.whole, err)
}

// withColumnName replaces the number of a column in an error of the tokenizer by its name.
func (s *delimitedRows) withColumnName(err error) error {
	e, ok := err.(*diag.Error)
	if !ok {
		return err
	}
	i, convErr := strconv.Atoi(e.Column)
	if convErr != nil || i < 1 || i > len(s.names.all) {
		return err
	}
	named := *e
	named.Column = s.names.all[i-1]
	return &named
}

// ragged is the error of a row with too few or too many fields.
func (s *delimitedRows) ragged(r *row) error {
	as := fmt.Sprintf("line %d", s.firstRow)
	if s.names.header {
		as = "the header"
	}
	e := &diag.Error{Kind: diag.Data, File: s.reader.file, Line: r.line,
		Found:    text.Plural(len(r.fields), "field"),
		Expected: fmt.Sprintf("%s as in %s", text.Plural(len(s.names.all), "field"), as)}
	if s.reader.options.detectsDelimiter() {
		e.Fixes = []diag.Fix{{Param: "delimiter", Value: "D"}}
		e.Hint = "the detected delimiter is " + delimiterName(s.records.delimiter)
	}
	if len(r.fields) > 0 && bytes.HasPrefix(r.fields[0], []byte("#")) {
		e.Fixes, e.Hint = nil, "lines of comments are skipped before the first row only"
	}
	return e
}

// delimiterName returns the name of a delimiter.
func delimiterName(c byte) string {
	switch c {
	case '\t':
		return "tab"
	case blank:
		return "blank"
	case ',':
		return "comma"
	case ';':
		return "semicolon"
	case '|':
		return "pipe"
	case none:
		return "none"
	}
	return string(c)
}
