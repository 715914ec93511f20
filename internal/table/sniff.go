package table

import (
	"bytes"
	"io"

	"toptau/schema"
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
func formatOf(p prefix) schema.FileFormat {
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
