package table

import "bytes"

// withPoint returns a number that has another decimal mark with a point, and without the marks between groups of three
// digits: with the mark ',' 1.234,5 becomes 1234.5. It returns another text, such as 12.34, with a character that no
// number has.
func withPoint(field []byte, mark byte) []byte {
	group := byte('.' + ',' - mark)
	b := trimBlanks(field)
	if bytes.IndexByte(b, mark) < 0 && bytes.IndexByte(b, group) < 0 {
		return b
	}
	whole, fraction, hasMark := bytes.Cut(b, []byte{mark})
	sign := whole[:len(whole)-len(afterSign(whole))]
	groups := bytes.Split(whole[len(sign):], []byte{group})
	point := append([]byte(nil), sign...)
	for i, digits := range groups {
		if len(groups) > 1 && (len(afterDigits(digits)) > 0 || i == 0 && (len(digits) < 1 || len(digits) > 3) || i > 0 && len(digits) != 3) {
			return []byte{group, group}
		}
		point = append(point, digits...)
	}
	if hasMark {
		point = append(append(point, '.'), fraction...)
	}
	return point
}

// WithPoint returns the text of a number with a point instead of a schema's decimal mark.
func WithPoint(field, decimal string) string {
	if decimal == "" {
		return field
	}
	return string(withPoint([]byte(field), decimal[0]))
}
