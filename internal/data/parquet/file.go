package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"toptau/diag"
	"toptau/internal/core/parallel"
	"toptau/internal/data/memory"
)

// magic begins and ends a file; another one if its footer is encrypted.
const (
	magic          = "PAR1"
	magicEncrypted = "PARE"
)

// maxFooter bounds the footer, which is read into memory.
const maxFooter = 256 << 20

// Form is how the values of a column are read.
type Form int

const (
	Skip    Form = iota // not at all
	Numbers             // as numbers: finite, or NaN for a missing value
	Texts               // as texts
)

// Column describes a column. A column of numbers can also be read as texts.
type Column struct {
	Name    string
	Form    Form
	Refused string // why it cannot be read, "" if it can
}

// File is a Parquet file that is open for reading. It is read from its start, some rows at a time.
type File struct {
	path    string
	file    *os.File
	size    int64
	meta    *fileMeta
	group   int // row group that is read
	done    int64
	cursors []*cursor
	spaces  []*cursorSpace // by column, for Next
	idle    parallel.Spares[columnSpace]
	budget  budget
	bytes   int64 // of the row groups before
}

// Is reports whether a file begins like a Parquet file.
func Is(prefix []byte) bool {
	return len(prefix) >= 4 && (string(prefix[:4]) == magic || string(prefix[:4]) == magicEncrypted)
}

// New reads the footer of a Parquet file that is open. The File closes it. Errors are *diag.Error.
func New(file *os.File) (*File, error) {
	f := &File{path: file.Name(), file: file}
	if err := f.readFooter(); err != nil {
		file.Close()
		return nil, err
	}
	return f, nil
}

func (f *File) damaged(found string) *diag.Error {
	return &diag.Error{Kind: diag.Data, File: f.path, Found: found, Expected: "an intact Parquet file", Hint: "copy or download the file again"}
}

func (f *File) readFooter() error {
	info, err := f.file.Stat()
	if err != nil {
		return &diag.Error{Kind: diag.IO, File: f.path, Err: err}
	}
	f.size = info.Size()
	f.budget.limit = budgetBase + budgetTimes*f.size
	end := make([]byte, 8)
	if f.size < 12 {
		return f.damaged("a file of " + fmt.Sprint(f.size) + " bytes")
	}
	if _, err := f.file.ReadAt(end, f.size-8); err != nil {
		return &diag.Error{Kind: diag.IO, File: f.path, Err: err}
	}
	if string(end[4:]) == magicEncrypted {
		return &diag.Error{Kind: diag.Data, File: f.path, Found: "an encrypted Parquet file", Expected: "one that is not encrypted",
			Hint: "write it again without encryption"}
	}
	length := int64(binary.LittleEndian.Uint32(end))
	if string(end[4:]) != magic || length > f.size-12 {
		return f.damaged("no footer: the file was cut off or not completed")
	}
	if length > maxFooter {
		return &diag.Error{Kind: diag.Data, File: f.path, Found: fmt.Sprintf("a footer of %d bytes", length), Expected: "at most 256 MiB"}
	}
	footer := make([]byte, length)
	if _, err := f.file.ReadAt(footer, f.size-8-length); err != nil {
		return &diag.Error{Kind: diag.IO, File: f.path, Err: err}
	}
	if f.meta, err = parseMeta(footer); err != nil {
		return f.damaged(err.Error())
	}
	return nil
}

// Allow lets pages and dictionaries take some bytes of memory, if that is more than the size of the file allows.
func (f *File) Allow(bytes int64) { f.budget.limit = max(f.budget.limit, bytes) }

// Close closes the file.
func (f *File) Close() error {
	f.cursors, f.spaces = nil, nil
	return f.file.Close()
}

// Columns returns the columns. A column in a group has the path to it as its name, joined by dots.
func (f *File) Columns() []Column {
	list := make([]Column, len(f.meta.leaves))
	for k := range f.meta.leaves {
		l := &f.meta.leaves[k]
		list[k] = Column{Name: l.name, Form: l.form(), Refused: l.refused}
	}
	return list
}

// form returns how a column is read unless the caller wants texts.
func (l *leaf) form() Form {
	switch {
	case l.logical == timestamp || l.logical == date || l.logical == timeOfDay || l.logical == uuid || l.logical == utf8Text:
		return Texts
	case l.physical == byteArrays && l.logical != decimal:
		return Texts
	}
	return Numbers
}

// Rows returns the number of rows.
func (f *File) Rows() int64 { return f.meta.rows }

// Rewind makes Next return the first rows again.
func (f *File) Rewind() {
	f.cursors, f.group, f.done, f.bytes = nil, 0, 0, 0
}

// Consumed returns about the number of bytes that were read.
func (f *File) Consumed() int64 {
	if f.group == len(f.meta.groups) {
		return f.size
	}
	g := &f.meta.groups[f.group]
	total := int64(0)
	for k := range g.chunks {
		total += g.chunks[k].bytes
	}
	return f.bytes + int64(float64(total)*float64(f.done)/float64(max(1, g.rows)))
}

// Values are the values of a column in some rows.
type Values struct {
	Numbers    []float64
	Codes      []int32 // places in Dictionary; -1 for a missing value
	Dictionary []string
}

// nextValues bounds the values that Next returns, in at least minRows and at most maxRows rows. Chosen by hand.
const (
	nextValues = 1 << 20
	minRows    = 64
	maxRows    = 1 << 16
)

// Next reads further rows, each column in its form, into space, whose memory it uses again. It returns the number of
// rows, and io.EOF after the last one.
func (f *File) Next(forms []Form, space []Values) (int, error) {
	for f.group < len(f.meta.groups) && f.done == f.meta.groups[f.group].rows {
		f.bytes = f.Consumed()
		f.cursors, f.group, f.done = nil, f.group+1, 0
	}
	if f.group == len(f.meta.groups) {
		return 0, io.EOF
	}
	g := &f.meta.groups[f.group]
	used := len(forms)
	for _, form := range forms {
		if form == Skip {
			used--
		}
	}
	n := int(min(int64(max(minRows, min(maxRows, nextValues/max(1, used)))), g.rows-f.done))
	if f.cursors == nil {
		f.cursors = make([]*cursor, len(f.meta.leaves))
	}
	if f.spaces == nil {
		f.spaces = make([]*cursorSpace, len(f.meta.leaves))
	}
	err := parallel.ForErr(len(f.meta.leaves), func(k int) error {
		if forms[k] == Skip {
			return nil
		}
		if f.cursors[k] == nil {
			if f.done > 0 {
				return f.inColumn(k, f.done, errors.New("a column that was left out before"))
			}
			if f.spaces[k] == nil {
				f.spaces[k] = &cursorSpace{budget: &f.budget}
			}
			c, err := f.newCursor(k, forms[k], f.spaces[k])
			if err != nil {
				return f.inColumn(k, f.done, err)
			}
			f.cursors[k] = c
		}
		if err := f.cursors[k].fill(n, &space[k]); err != nil {
			return f.inColumn(k, f.done, err)
		}
		return nil
	})
	f.done += int64(n)
	return n, err
}

// GroupEnds reports whether the rows that Next returned last are the end of a row group.
func (f *File) GroupEnds() bool { return f.done == f.meta.groups[f.group].rows }

// columnSpace is what ReadColumn uses for one column after the other.
type columnSpace struct {
	cursorSpace
	values Values
}

// ReadColumn reads a column of the row group whose rows Next returned last, from its first row on. It calls do with some values at
// a time, which are valid during the call, and the number of the rows before them. It may be called for several columns at
// the same time. The memory does not grow with the columns, unlike that of Next, which needs a page of each.
func (f *File) ReadColumn(k int, form Form, do func(first, n int, v *Values) error) error {
	s := f.idle.Take()
	if s == nil {
		s = &columnSpace{}
	}
	defer f.idle.Put(s)
	s.renew(f.budget.limit)
	c, err := f.newCursor(k, form, &s.cursorSpace)
	if err != nil {
		return f.inColumn(k, 0, err)
	}
	rows := int(f.meta.groups[f.group].rows)
	for first := 0; first < rows; first += maxRows {
		n := min(maxRows, rows-first)
		if err := c.fill(n, &s.values); err != nil {
			return f.inColumn(k, int64(first), err)
		}
		if err := do(first, n, &s.values); err != nil {
			return err
		}
	}
	return nil
}

// inColumn is the error of a column in the row group, at or after a number of its rows.
func (f *File) inColumn(k int, done int64, err error) error {
	var value *valueError
	var packed *codecError
	var large *budgetError
	l := &f.meta.leaves[k]
	switch {
	case diag.Of(err) != nil:
		return err
	case errors.As(err, &value):
		return &diag.Error{Kind: diag.Data, File: f.path, Row: int(f.before()+done) + value.row + 1, Column: l.name, Found: value.found,
			Expected: value.expected, Fixes: value.fixes(l.name)}
	case errors.As(err, &packed):
		return &diag.Error{Kind: diag.Data, File: f.path, Column: l.name, Found: err.Error(), Expected: "another codec",
			Hint: "write the file again with zstd or snappy"}
	case errors.As(err, &large): // of all columns together, so it has no column
		return &diag.Error{Kind: diag.Data, File: f.path, Found: fmt.Sprintf("row group %d of %d: %s", f.group+1, len(f.meta.groups), err),
			Expected: "smaller pages in a file of this size", Hint: "write the file again with pages of about 1 MiB",
			Fixes: []diag.Fix{memory.Permission(large.limit)}}
	}
	e := f.damaged(fmt.Sprintf("row group %d of %d: %s", f.group+1, len(f.meta.groups), err))
	e.Column = l.name
	return e
}

// before returns the number of rows before the row group.
func (f *File) before() int64 {
	rows := int64(0)
	for _, g := range f.meta.groups[:f.group] {
		rows += g.rows
	}
	return rows
}

// valueError is the error of a value. row counts the rows of the call.
type valueError struct {
	row             int
	found, expected string
	asText          bool // reading the column as text helps
}

func (e *valueError) Error() string { return e.found }

func (e *valueError) fixes(column string) []diag.Fix {
	list := []diag.Fix{{Param: "drop", Value: column}}
	if e.asText {
		list = append(list, diag.Fix{Param: "categorical", Value: column})
	}
	return list
}

// largestWhole is the largest size up to which float64 has all whole numbers.
const largestWhole = 1 << 53
