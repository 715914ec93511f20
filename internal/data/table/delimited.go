package table

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"toptau/diag"
	"toptau/internal/core/text"
)

// blank is the delimiter of text whose fields are separated by runs of blanks and tabs. none is the delimiter
// of text with a single column.
const (
	blank byte = ' '
	none  byte = '\n'
)

// delimited reads records of delimited text, the tokenizer. The package documentation has the rules. The
// fields of its rows are decoded: without quotes and, outside quotes, without blanks around them.
type delimited struct {
	file      string
	lines     *lines
	delimiter byte
	most      int // the limit of the fields of a record; 0: none

	current row
	text    []byte // the decoded text of a record with quotes
	ends    []int  // the ends of its fields in text
	starts  []int
	whole   []byte // the text of the record, with keeps
	keeps   bool   // keep the text of records
	goesOn  bool   // go on after a bad record; empty lines are ignored
	failed  bool   // the lines have ended or failed
	empty   int    // the first of the empty lines before the current line; 0: none
	begun   bool
}

// next returns the next record, valid until the following call; io.EOF at the end.
func (d *delimited) next() (*row, error) {
	before := d.lines.number
	d.lines.passEmpty(d.delimiter)
	if d.empty == 0 && d.lines.number > before {
		d.empty = before + 1
	}
	line, err := d.lines.next()
	if err != nil {
		return nil, d.failure(err)
	}
	if d.isEmpty(line) { // blanks without a line's end, at the end of the file
		return nil, io.EOF
	}
	if d.empty > 0 && d.begun && !d.goesOn {
		return nil, d.emptyLine()
	}
	d.empty, d.begun = 0, true
	return d.parse(line)
}

// emptyLine is the error of an empty line between records.
func (d *delimited) emptyLine() error {
	width := len(d.current.fields)
	e := &diag.Error{Kind: diag.Data, File: d.file, Line: d.empty, Found: "an empty line",
		Expected: text.Plural(width, "field") + " as in the other lines", Hint: "remove the line"}
	if width == 1 {
		e.Hint = `a missing value is written ""`
	}
	return e
}

// parse decodes the record that begins with line.
func (d *delimited) parse(line []byte) (*row, error) {
	r := &d.current
	r.line, r.starts, r.fields = d.lines.number, nil, r.fields[:0]
	if d.keeps {
		d.whole = append(d.whole[:0], line...)
	}
	if err := d.checkText(line, r.line, 1); err != nil {
		return nil, err
	}
	if bytes.IndexByte(line, '"') >= 0 {
		return d.parseQuoted(line)
	}
	if d.most > 0 && len(line) > d.most && d.fieldAt(line) > d.most {
		return nil, d.tooWide() // before allocating a slice for each field
	}
	switch d.delimiter {
	case blank:
		r.fields = splitBlanks(r.fields, line)
	case none:
		r.fields = append(r.fields, trimBlanks(line))
	default:
		r.fields = splitFields(r.fields, line, d.delimiter)
	}
	if d.most > 0 && len(r.fields) > d.most {
		return nil, d.tooWide()
	}
	return r, nil
}

// tooWide is the error of a record with more fields than the limit.
func (d *delimited) tooWide() error {
	return &diag.Error{Kind: diag.Data, File: d.file, Line: d.current.line,
		Found:    "more than " + text.Plural(d.most, "field"),
		Expected: fmt.Sprintf("at most %s columns", text.Count(d.most)),
		Fixes:    []diag.Fix{{Param: "delimiter", Value: "D", When: "if the line has fewer fields"}},
		Hint:     "a LIBSVM file may have more"}
}

// splitFields cuts a line without quotes at every delimiter.
func splitFields(dst [][]byte, line []byte, delimiter byte) [][]byte {
	begin := 0
	for i, c := range line {
		if c == delimiter {
			dst = append(dst, trimField(line[begin:i]))
			begin = i + 1
		}
	}
	return append(dst, trimField(line[begin:]))
}

// trimField is trimBlanks with a fast path for the usual field.
func trimField(b []byte) []byte {
	if len(b) > 0 && (isBlank(b[0]) || isBlank(b[len(b)-1])) {
		return trimBlanks(b)
	}
	return b
}

// splitBlanks cuts a line without quotes at runs of blanks and tabs, ignoring those at its ends.
func splitBlanks(dst [][]byte, line []byte) [][]byte {
	for i := 0; i < len(line); {
		if isBlank(line[i]) {
			i++
			continue
		}
		begin := i
		for i < len(line) && !isBlank(line[i]) {
			i++
		}
		dst = append(dst, line[begin:i])
	}
	return dst
}

// parseQuoted decodes a record with a quote. It reads further lines while a quoted field is open.
func (d *delimited) parseQuoted(line []byte) (*row, error) {
	r := &d.current
	d.text, d.ends, d.starts = d.text[:0], d.ends[:0], d.starts[:0]
	for i := 0; ; {
		i = d.skipBlanks(line, i)
		if i >= len(line) && d.delimiter == blank && len(d.ends) > 0 {
			break // blanks after the last field
		}
		d.starts = append(d.starts, d.lines.number)
		var err error
		if i < len(line) && line[i] == '"' {
			line, i, err = d.quotedField(line, i+1)
		} else {
			i = d.plainField(line, i)
		}
		if err != nil {
			return nil, err
		}
		d.ends = append(d.ends, len(d.text))
		if d.most > 0 && len(d.ends) > d.most {
			return nil, d.tooWide()
		}
		if i >= len(line) {
			break
		}
		i++ // the delimiter
	}
	begin := 0
	for _, end := range d.ends {
		r.fields = append(r.fields, d.text[begin:end:end])
		begin = end
	}
	if d.lines.number > r.line {
		r.starts = d.starts
	}
	return r, nil
}

// skipBlanks returns the first place at or after i without a blank or tab. A tab that is the delimiter counts
// as text.
func (d *delimited) skipBlanks(line []byte, i int) int {
	for i < len(line) && isBlank(line[i]) && (line[i] != d.delimiter || d.delimiter == blank) {
		i++
	}
	return i
}

// plainField appends an unquoted field to text and returns the place of its delimiter, or the end of the
// line.
func (d *delimited) plainField(line []byte, i int) int {
	begin := i
	for i < len(line) && !d.isDelimiter(line[i]) {
		i++
	}
	d.text = append(d.text, trimBlanks(line[begin:i])...)
	return i
}

func (d *delimited) isDelimiter(c byte) bool {
	return c == d.delimiter || d.delimiter == blank && c == '\t'
}

// quotedField appends a quoted field whose text begins at i. It returns the line on which the field ends and
// the place of its delimiter in that line.
func (d *delimited) quotedField(line []byte, i int) ([]byte, int, error) {
	opened, field, size := d.lines.number, len(d.ends)+1, 0
	for {
		end := bytes.IndexByte(line[i:], '"')
		if end < 0 {
			end := byte('\n')
			if d.lines.cr {
				end = '\r'
			}
			d.text = append(append(d.text, line[i:]...), end)
			size += len(line) - i + 1
			next, err := d.lines.next()
			if d.keeps && err == nil {
				d.whole = append(append(d.whole, end), next...)
			}
			if err == io.EOF || err == errLongLine || err == nil && (size > d.lines.limit || d.isRunaway(size)) {
				return nil, 0, d.openQuote(opened, field)
			}
			if err != nil {
				return nil, 0, d.failure(err)
			}
			if err := d.checkText(next, d.lines.number, field); err != nil {
				return nil, 0, err
			}
			line, i = next, 0
			continue
		}
		d.text = append(d.text, line[i:i+end]...)
		i += end + 1
		if i < len(line) && line[i] == '"' {
			d.text = append(d.text, '"')
			i++
			continue
		}
		after := d.skipBlanks(line, i)
		if d.delimiter == blank && after > i && after < len(line) {
			return line, after - 1, nil
		}
		if after < len(line) && !d.isDelimiter(line[after]) {
			return nil, 0, &diag.Error{Kind: diag.Data, File: d.file, Line: d.lines.number, Column: fmt.Sprint(field),
				Found:    diag.Quote(string(line[after:])) + " after a closing double quote",
				Expected: "a delimiter or the end of the line", Hint: `a quote inside a quoted field is written ""`}
		}
		return line, after, nil
	}
}

// openQuote is the error of a quoted field that does not end.
func (d *delimited) openQuote(line, field int) error {
	return &diag.Error{Kind: diag.Data, File: d.file, Line: line, Column: fmt.Sprint(field),
		Found: "a quoted field that does not end", Expected: "a closing double quote",
		Hint: `a quote inside a quoted field is written ""`}
}

// isRunaway reports whether a quoted field is so long that its quote probably does not end.
func (d *delimited) isRunaway(size int) bool {
	return d.goesOn && (d.lines.number-d.current.line > maxBadLines || size > maxBadBytes)
}

// giveBack lets all lines of the last record but its first be read again: an open quote must not take good
// rows with it.
func (d *delimited) giveBack() {
	if first := bytes.IndexAny(d.whole, "\r\n"); first >= 0 {
		d.lines.unread(append(d.whole[first+1:], '\n'), d.current.line)
		d.whole = d.whole[:first]
	}
}

// isEmpty reports whether a line has no field. A line of tabs in a tab-separated file is a row.
func (d *delimited) isEmpty(line []byte) bool {
	for _, c := range line {
		if !isBlank(c) || c == d.delimiter && c != blank {
			return false
		}
	}
	return true
}

// checkText refuses NUL bytes and bytes that are not UTF-8. first is the number of the field in which the
// line begins.
func (d *delimited) checkText(line []byte, number, first int) error {
	if i := bytes.IndexByte(line, 0); i >= 0 {
		return &diag.Error{Kind: diag.Data, File: d.file, Line: number,
			Column: fmt.Sprint(first + d.fieldAt(line[:i])), Found: "a NUL byte", Expected: "text", Hint: "is this a binary file?"}
	}
	if utf8.Valid(line) {
		return nil
	}
	for i := 0; i < len(line); {
		c, size := utf8.DecodeRune(line[i:])
		if c == utf8.RuneError && size == 1 {
			return &diag.Error{Kind: diag.Data, File: d.file, Line: number,
				Column: fmt.Sprint(first + d.fieldAt(line[:i])), Found: fmt.Sprintf("the byte 0x%02x", line[i]),
				Expected: "UTF-8 text", Hint: "convert the file, for example with iconv -f ISO-8859-1 -t UTF-8"}
		}
		i += size
	}
	return nil
}

// fieldAt returns the number of delimiters outside quotes in the first part of a line.
func (d *delimited) fieldAt(before []byte) int {
	count, quoted := 0, false
	for i, c := range before {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted || !d.isDelimiter(c):
		case d.delimiter != blank || i > 0 && !d.isDelimiter(before[i-1]):
			count++
		}
	}
	return count
}

// failure returns the error that ended the lines, with its place.
func (d *delimited) failure(err error) error {
	d.failed = true
	return lineFailure(d.file, d.lines, err)
}

// lineFailure returns the error that ended a stream of lines, with its line.
func lineFailure(file string, l *lines, err error) error {
	if err == errLongLine {
		err = &diag.Error{Kind: diag.Data, File: file, Found: "a line longer than 32 MiB",
			Expected: "a text file with lines", Hint: "is this a binary file?"}
	}
	return diag.At(err, diag.Error{Line: l.number + 1})
}
