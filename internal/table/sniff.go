package table

import (
	"bytes"
	"io"
	"math"
)

const (
	// sniffBytes is how much of a file decides its format and delimiter: 256 KiB.
	sniffBytes = 256 << 10

	// sniffRecords is how many records decide the delimiter.
	sniffRecords = 100
)

// prefix is the beginning of a file, without its byte order mark.
type prefix struct {
	bytes []byte
	whole bool // there is no more
}

// readPrefix reads the beginning of a file and returns a reader that begins behind the byte order mark.
func readPrefix(r io.Reader) (prefix, io.Reader, error) {
	buffer := make([]byte, sniffBytes)
	n, err := io.ReadFull(r, buffer)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		// What precedes the failure is read again, so that rows before it are seen and its line is known.
		r = &failing{err}
	}
	p := prefix{bytes: bytes.TrimPrefix(buffer[:n], []byte("\xef\xbb\xbf")), whole: err != nil}
	if n == 0 && err != io.EOF {
		return p, nil, err
	}
	return p, io.MultiReader(bytes.NewReader(p.bytes), r), nil
}

// failing is a reader that fails.
type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// lines returns the complete lines of the prefix, and the last one where there is no more or no other.
func (p prefix) lines(limit int) [][]byte {
	l := newLines(bytes.NewReader(p.bytes))
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

// formatOf recognises the format of a file: "idx", "libsvm" or "csv".
func formatOf(p prefix) string {
	switch {
	case looksIDX(p.bytes):
		return "idx"
	case looksLIBSVM(p.lines(1000)):
		return "libsvm"
	}
	return "csv"
}

// looksIDX reports whether a file begins with an IDX header: two zero bytes, a type and a number of dimensions.
func looksIDX(b []byte) bool {
	return len(b) >= 4 && b[0] == 0 && b[1] == 0 && idxSize(b[2]) > 0 && b[3] > 0
}

// looksLIBSVM reports whether more than half of the lines are a label without a colon (or none) and index:value pairs,
// and at least one has a pair.
func looksLIBSVM(all [][]byte) bool {
	good, bad, pairs := 0, 0, 0
	for _, line := range all {
		if i := bytes.IndexByte(line, '#'); i >= 0 {
			line = line[:i]
		}
		tokens := bytes.Fields(line)
		if len(tokens) == 0 {
			continue
		}
		n := 0
		for _, t := range tokens {
			if looksPair(t) {
				n++
			}
		}
		if n == len(tokens) || n == len(tokens)-1 && bytes.IndexByte(tokens[0], ':') < 0 {
			good++
			pairs += n
		} else {
			bad++
		}
	}
	return good > bad && pairs > 0
}

// looksPair reports whether a token is digits, a colon and a value that could be meant as a number.
func looksPair(token []byte) bool {
	index, value, ok := bytes.Cut(token, []byte{':'})
	if !ok || len(index) == 0 || bytes.ContainsAny(value, ":,;|\"") {
		return false
	}
	for i, c := range index {
		if (c < '0' || c > '9') && !(i == 0 && c == '-') {
			return false
		}
	}
	return true
}

// sniffDelimiter returns the delimiter whose records agree best with the first in having the same number of fields, at
// least two. Tab, semicolon, comma and pipe are tried in this order; blanks only when none of them fits more than half
// of the records. It returns none when there is no delimiter at all.
func sniffDelimiter(p prefix) byte {
	best, most := none, 0
	for _, c := range []byte{'\t', ';', ',', '|'} {
		agree, all := agreement(p, c)
		if agree > most && 2*agree > all {
			best, most = c, agree
		}
	}
	if best != none {
		return best
	}
	for _, c := range []byte{blank, '\t', ';', ',', '|'} {
		if agree, _ := agreement(p, c); agree > most {
			best, most = c, agree
		}
	}
	return best
}

// agreement counts the first records of a prefix, and those with as many fields as the first, at least two.
func agreement(p prefix, delimiter byte) (agree, all int) {
	d := &delimited{lines: newLines(bytes.NewReader(p.bytes)), delimiter: delimiter}
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

// looksHeader decides whether the first record names the columns. It does when none of its fields is a number or a
// spelling of a missing value and one of these holds:
//
//   - a column is numeric in the other records (more than half of its values are numbers);
//   - no column is, there are at least two other records, and the names are not empty, differ from each other and do not
//     occur again in their columns.
func looksHeader(head []record, missing *missingSpellings) bool {
	first := head[0]
	distinct := map[string]bool{}
	for _, f := range first.fields {
		if _, what := parseNumber(f); what != notNumber || len(f) > 0 && missing.has(f) {
			return false
		}
		distinct[string(f)] = len(f) > 0
	}
	recurs := len(distinct) < len(first.fields) || !allTrue(distinct)
	for i := range first.fields {
		c := countKinds(head[1:], i, len(first.fields), missing)
		if 2*c.numbers > c.seen {
			return true
		}
		for _, r := range head[1:] {
			if len(r.fields) > i && bytes.Equal(r.fields[i], first.fields[i]) {
				recurs = true
			}
		}
	}
	return len(head) > 2 && !recurs
}

func allTrue(m map[string]bool) bool {
	for _, v := range m {
		if !v {
			return false
		}
	}
	return true
}

// kindCount is what the head of a file holds in a column.
type kindCount struct {
	seen    int // fields that are not missing
	numbers int // of these, how many look like numbers, NaN and infinity included
	commas  int // of these, how many look like numbers with a decimal comma
}

// countKinds looks at column i of the records that have the right width.
func countKinds(head []record, i, width int, missing *missingSpellings) kindCount {
	var c kindCount
	for _, r := range head {
		if len(r.fields) == width {
			c.add(r.fields[i], missing)
		}
	}
	return c
}

// countAllKinds is countKinds for all columns, in one pass over the records.
func countAllKinds(head []record, width int, missing *missingSpellings) []kindCount {
	all := make([]kindCount, width)
	for _, r := range head {
		if len(r.fields) == width {
			for i, field := range r.fields {
				all[i].add(field, missing)
			}
		}
	}
	return all
}

func (c *kindCount) add(field []byte, missing *missingSpellings) {
	if missing.has(field) {
		return
	}
	c.seen++
	if _, what := parseNumber(field); what != notNumber {
		c.numbers++
	} else if isDecimalComma(field) {
		c.commas++
	}
}

// isDecimalComma reports whether a field is a number once its only comma is a point.
func isDecimalComma(field []byte) bool {
	if bytes.Count(field, []byte{','}) != 1 {
		return false
	}
	_, what := parseNumber(bytes.Replace(field, []byte{','}, []byte{'.'}, 1))
	return what == number
}

// missingSpellings knows how a missing value is written: as an empty field, or by one of --missing.
type missingSpellings struct {
	all     []string
	numbers bool // one of them is a number
}

func newMissing(spellings ...[]string) *missingSpellings {
	m := &missingSpellings{}
	for _, list := range spellings {
		for _, s := range list {
			b := trimBlanks([]byte(s))
			if _, what := parseNumber(b); what == number {
				m.numbers = true
			}
			m.all = append(m.all, string(b))
		}
	}
	return m
}

func (m *missingSpellings) has(field []byte) bool {
	if len(field) == 0 {
		return true
	}
	if isBlank(field[0]) || isBlank(field[len(field)-1]) {
		if field = trimBlanks(field); len(field) == 0 {
			return true
		}
	}
	for _, s := range m.all {
		if string(field) == s {
			return true
		}
	}
	return false
}

// number reads the field of a numeric column; a missing one is NaN, which counts as a number.
func (m *missingSpellings) number(field []byte) (float64, numeral) {
	if len(field) == 0 || m.numbers && m.has(field) {
		return math.NaN(), number
	}
	v, what := parseNumber(field)
	if what != number && m.has(field) {
		return math.NaN(), number
	}
	return v, what
}
