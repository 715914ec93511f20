package table

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/internal/data/jsontext"
	"toptau/schema"
)

// jsonRows reads JSON lines: an object a line. The package documentation has the rules.
type jsonRows struct {
	*assembler
	lines   *lines
	scanner jsonScanner
	line    []byte // the last line; nil: none could be read
	row     row
	count   int64 // bytes of the lines so far

	paths  []string       // by column; its name may differ in blanks
	index  map[string]int // by path: the column
	at     []int          // by column: where its text ends in buffer, and the start of it
	begin  []int
	set    []int           // by column: the number of the last row that has it
	number int             // of rows
	buffer []byte          // the texts of the row
	guess  []int           // the columns of the row before, in their order
	place  int             // in guess
	had    []int           // the columns of the row before that it had
	cells  int64           // values of the features in all rows so far, missing ones included
	unused map[string]bool // paths without a column
}

// looksJSON reports whether a file begins with an object, or with a list of objects, which is refused.
func looksJSON(p prefix, o *Options) bool {
	if !o.detectsDelimiter() {
		return false
	}
	b := bytes.TrimLeft(p.bytes, " \t\r\n")
	if len(b) > 0 && b[0] == '[' {
		b = bytes.TrimLeft(b[1:], " \t\r\n")
		return len(b) > 0 && b[0] == '{'
	}
	if len(b) == 0 || b[0] != '{' {
		return false
	}
	b = bytes.TrimLeft(b[1:], " \t\r\n")
	return len(b) > 0 && (b[0] == '"' || b[0] == '}')
}

func newJSONRows(r *Reader, p prefix, source io.Reader) (rowSource, error) {
	if b := bytes.TrimLeft(p.bytes, " \t\r\n"); len(b) > 0 && b[0] == '[' {
		return nil, &diag.Error{Kind: diag.Data, File: r.file, Found: "a JSON list", Expected: "JSON lines: an object a line",
			Hint: "convert it, for example with jq -c '.[]'"}
	}
	if r.options.Header == schema.NoHeader {
		return nil, &diag.Error{Kind: diag.Usage, Param: "header", Found: "no, with " + r.format.words, Expected: "names, which every object has"}
	}
	ahead := &replay{source: source, limit: headBytes}
	names, counts, err := readJSONHead(r, ahead)
	if err != nil {
		return nil, err
	}
	header := row{line: 1}
	for _, name := range names {
		header.fields = append(header.fields, []byte(name))
	}
	n, err := newNames(r.file, &header, len(names))
	if err != nil {
		return nil, err
	}
	s := &jsonRows{lines: newLines(ahead.again()), paths: names, index: map[string]int{}, unused: map[string]bool{}}
	for i, path := range names {
		s.index[path] = i
	}
	s.at, s.begin, s.set = make([]int, len(names)), make([]int, len(names)), make([]int, len(names))
	s.row.fields, s.row.points, s.row.numbers = make([][]byte, len(names)), make([]bool, len(names)), make([]float64, len(names))
	s.scanner.emit = s.keepValue
	if s.assembler, err = newAssembler(r, n, counts); err != nil {
		return nil, err
	}
	return s, nil
}

// readJSONHead returns the paths of the first rows in the order of their first appearance, with the counts
// that decide their kinds. With a schema, its columns that no row has follow: their values are missing. At
// least one of them must be there.
func readJSONHead(r *Reader, source *replay) ([]string, []kindCount, error) {
	var names []string
	var counts []kindCount
	index := map[string]int{}
	size := 0
	s := jsonScanner{emit: func(path []byte, kind jsontext.Kind, value []byte) error {
		i, known := index[string(path)]
		if !known {
			if i = len(names); i == MaxColumns || size+len(path) > maxText {
				return &jsontext.Error{Found: "too many keys", Expected: fmt.Sprintf("at most %d, of 16 MiB", MaxColumns)}
			}
			size += len(path)
			index[string(path)] = i
			names, counts = append(names, string(path)), append(counts, kindCount{})
		}
		counts[i].countJSON(kind, value, r.missing)
		return nil
	}}
	most := r.policy.head
	switch {
	case r.in.live != nil:
		most = 1
	case r.options.Schema != nil:
		most = headRowsSchema
	}
	l, rows := newLines(source), 0
	for rows < most {
		l.passEmpty(none)
		line, err := l.next()
		if err != nil {
			if rows == 0 && err == io.EOF {
				return nil, nil, &diag.Error{Kind: diag.Data, File: r.file, Found: "an empty file", Expected: "rows"}
			}
			if rows == 0 {
				return nil, nil, lineFailure(r.file, l, err)
			}
			break
		}
		if len(trimBlanks(line)) == 0 {
			continue
		}
		// A bad row is reported when it is read as a row, unless it is the first.
		if err := s.scan(line); err != nil && rows == 0 && !r.options.keepsBadRows() {
			return nil, nil, jsonFailure(r.file, l.number, s.path, err)
		}
		rows++
	}
	if m := r.options.Schema; m != nil && slices.ContainsFunc(m.Columns, func(c schema.Column) bool { _, ok := index[c.FileColumn()]; return ok }) {
		for _, c := range m.Columns {
			if name := c.FileColumn(); !c.Unused && !slices.Contains(names, name) {
				names, counts = append(names, name), append(counts, kindCount{})
			}
		}
	}
	return names, counts, nil
}

// jsonFailure returns the error of a line.
func jsonFailure(file string, line int, path []byte, err error) error {
	e := &diag.Error{Kind: diag.Data, File: file, Line: line, Column: string(path)}
	if j, ok := err.(*jsontext.Error); ok {
		e.Found, e.Expected, e.Hint = cmp.Or(j.Found, "the end of the line"), j.Expected, j.Hint
		if j.Found == "" {
			e.Hint = "JSON lines has one object a line"
		}
		if j.At > 0 {
			e.Found += fmt.Sprintf(" at byte %d of the line", j.At)
		}
		return e
	}
	return err
}

// appendRows implements rowSource.
func (s *jsonRows) appendRows(t *Table, limit int) error { return s.appendAll(t, limit, s) }

// nextRow implements rowReader.
func (s *jsonRows) nextRow() (*row, error) {
	for {
		s.line = nil
		s.lines.passEmpty(none)
		line, err := s.lines.next()
		if err != nil {
			return nil, lineFailure(s.reader.file, s.lines, err)
		}
		s.count += int64(len(line)) + 1
		if len(trimBlanks(line)) == 0 {
			continue
		}
		s.line = line
		return s.parse(line)
	}
}

func (s *jsonRows) parse(line []byte) (*row, error) {
	s.row.line = s.lines.number
	s.number++
	s.buffer, s.place = s.buffer[:0], 0
	bad := func(found, expected string) error {
		return &diag.Error{Kind: diag.Data, File: s.reader.file, Line: s.lines.number, Found: found, Expected: expected}
	}
	if !utf8.Valid(line) {
		return nil, bad("bytes that are not UTF-8", "UTF-8 text")
	}
	if bytes.IndexByte(line, 0) >= 0 {
		return nil, bad("a NUL byte", "text")
	}
	if err := s.scanner.scan(line); err != nil {
		return nil, jsonFailure(s.reader.file, s.lines.number, s.scanner.path, err)
	}
	for _, i := range s.had {
		s.row.fields[i] = nil
	}
	s.had = append(s.had[:0], s.guess[:s.place]...)
	for _, i := range s.had {
		s.row.fields[i] = s.buffer[s.begin[i]:s.at[i]:s.at[i]]
	}
	return &s.row, s.checkCells()
}

// A table has a place for every key in every row, also where the row lacks it. So that a small file does not take
// much time and memory, its places are bounded by its bytes. Chosen by hand: rows of 19 bytes may have 300 keys.
const (
	freeCells    = 1 << 22
	cellsPerByte = 16
)

// checkCells refuses a training file whose rows lack nearly all keys.
func (s *jsonRows) checkCells() error {
	s.cells += int64(len(s.roles.features))
	if s.reader.options.Schema != nil || s.cells <= freeCells+cellsPerByte*s.count {
		return nil
	}
	return &diag.Error{Kind: diag.Data, File: s.reader.file, Line: s.lines.number,
		Found:    fmt.Sprintf("%s keys as features in rows of %d bytes on average", text.Count(len(s.roles.features)), s.count/int64(s.number)),
		Expected: "keys that most rows have", Fixes: []diag.Fix{{Param: "drop", Value: "KEYS"}}, Hint: "or write rows that lack most features as LIBSVM, index:value"}
}

// keepValue keeps a value of the row. Keys usually come in the order of the row before.
func (s *jsonRows) keepValue(path []byte, kind jsontext.Kind, value []byte) error {
	i, known := -1, false
	if s.place < len(s.guess) && s.paths[s.guess[s.place]] == string(path) {
		i, known = s.guess[s.place], true
	} else {
		i, known = s.index[string(path)]
	}
	if !known {
		if len(s.unused) < 1000 && s.reader.options.Schema == nil {
			s.unused[string(path)] = true
		}
		return nil
	}
	if s.place < len(s.guess) {
		s.guess[s.place] = i
	} else {
		s.guess = append(s.guess, i)
	}
	s.place++
	if s.set[i] == s.number {
		return &jsontext.Error{Found: "a key that occurs twice", Expected: "different keys"}
	}
	s.set[i], s.begin[i], s.row.points[i] = s.number, len(s.buffer), kind == jsontext.Number
	s.row.numbers[i] = s.scanner.number
	s.buffer = append(s.buffer, value...)
	s.at[i] = len(s.buffer)
	return nil
}

// consumed implements rowReader.
func (s *jsonRows) consumed() int64 { return s.count + s.lines.passed }

// text implements rowReader.
func (s *jsonRows) text() []byte { return s.line }

// hasRow implements rowReader.
func (s *jsonRows) hasRow() bool { return s.lines.hasLine() }

// finish implements rowSource.
func (s *jsonRows) finish() {
	s.assembler.finish()
	if len(s.unused) > 0 {
		var list []string
		for path := range s.unused {
			list = append(list, path)
		}
		slices.Sort(list)
		s.reader.warn("extra-columns", fmt.Sprintf("%s: ignored, because the first rows do not have %s: %s",
			s.reader.file, themOrIt(len(list)), quotedList(list, 20)))
	}
}
