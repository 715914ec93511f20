package table

import (
	"bytes"
	"io"
)

const (
	// sniffBytes is the size of the prefix that decides the format and the delimiter. Chosen by hand (a change moves results).
	sniffBytes = 256 << 10

	// sniffRecords is the number of records that decide the delimiter. Chosen by hand (a change moves results).
	sniffRecords = 100
)

// prefix is the first part of a file, without its byte order mark.
type prefix struct {
	bytes []byte
	whole bool // it is the whole file
}

// byteOrderMark may be the first bytes of a text.
var byteOrderMark = []byte("\xef\xbb\xbf")

// readPrefix reads the prefix of a file and returns it, and a reader of the whole file without its byte order
// mark.
func readPrefix(r io.Reader) (prefix, io.Reader, error) {
	buffer := make([]byte, sniffBytes)
	n, err := io.ReadFull(r, buffer)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		// The bytes before the failure are read again, so that the error has the line.
		r = &failing{err}
	}
	p := prefix{bytes: bytes.TrimPrefix(buffer[:n], byteOrderMark), whole: err != nil}
	if n == 0 && err != io.EOF {
		return p, nil, err
	}
	return p, io.MultiReader(bytes.NewReader(p.bytes), r), nil
}

// failing is a reader that fails.
type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// lines returns the complete lines of the prefix, at most limit, and an incomplete one if it is the only one
// or ends the file.
func (p prefix) lines(limit int) [][]byte {
	l := linesOf(p.bytes)
	var all [][]byte
	for len(all) <= limit {
		line, err := l.next()
		if err != nil {
			if !p.whole && len(all) > 1 {
				all = all[:len(all)-1]
			}
			break
		}
		all = append(all, bytes.Clone(line))
	}
	return all[:min(limit, len(all))]
}

// namedDelimiter returns the delimiter of a first line sep=;, which Excel reads and writes, and the text after it; 0 if
// there is none.
func (p prefix) namedDelimiter() (delimiter byte, rest []byte) {
	line, rest, _ := bytes.Cut(p.bytes, []byte("\n"))
	line = bytes.Trim(bytes.TrimSuffix(line, []byte("\r")), `"`)
	if len(line) != len("sep=;") || string(bytes.ToLower(line[:4])) != "sep=" {
		return 0, nil
	}
	delimiter, err := delimiterOf(string(line[4:]))
	if err != nil {
		return 0, nil
	}
	return delimiter, rest
}

// comments returns the number of lines of comments at the start, and the text after them. They begin with '#' and have
// another number of fields than the first line without '#': a line with as many is a header. A delimiter of 0 is
// detected from the other lines.
func (p prefix) comments(delimiter byte) (n int, rest []byte) {
	if !bytes.HasPrefix(p.bytes, []byte("#")) {
		return 0, p.bytes
	}
	var all [][]byte
	for rest = p.bytes; bytes.HasPrefix(rest, []byte("#")); {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			return 0, p.bytes
		}
		all, rest = append(all, rest[:end+1]), rest[end+1:]
	}
	if delimiter == 0 {
		delimiter = sniffDelimiter(prefix{rest, p.whole})
	}
	fields := func(text []byte) int {
		d := &delimited{lines: linesOf(text), delimiter: delimiter}
		r, err := d.next()
		if err != nil {
			return 0
		}
		return len(r.fields)
	}
	n = len(all)
	if width := fields(rest); width > 1 && fields(all[n-1]) == width {
		n--
		rest = p.bytes[len(p.bytes)-len(rest)-len(all[n]):]
	}
	return n, rest
}

// sniffDelimiter returns the delimiter for which most records have as many fields as the first, at least two.
// It tries tab, semicolon, comma and pipe, in this order, then blanks if none of them fits more than half of
// the records. It returns none if there is no delimiter.
func sniffDelimiter(p prefix) byte {
	best, most := none, 0
	for _, c := range []byte{'\t', ';', ',', '|'} {
		agree, all := countAgreeing(p, c)
		if agree > most && 2*agree > all {
			best, most = c, agree
		}
	}
	if best != none {
		return best
	}
	for _, c := range []byte{blank, '\t', ';', ',', '|'} {
		if agree, _ := countAgreeing(p, c); agree > most {
			best, most = c, agree
		}
	}
	return best
}

// countAgreeing returns the number of records in a prefix, and of those with as many fields as the first, at
// least two.
func countAgreeing(p prefix, delimiter byte) (agree, all int) {
	d := &delimited{lines: linesOf(p.bytes), delimiter: delimiter}
	width, lastAgreed := 0, false
	for all <= sniffRecords {
		r, err := d.next()
		if err != nil {
			if err == io.EOF && !p.whole && all > 1 { // the last record may be cut off
				all--
				if lastAgreed {
					agree--
				}
			}
			break
		}
		if width == 0 {
			width = len(r.fields)
		}
		lastAgreed = len(r.fields) == width && width > 1
		all++
		if lastAgreed {
			agree++
		}
	}
	return agree, all
}
