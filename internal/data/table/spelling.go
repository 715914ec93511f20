package table

import "strings"

// groupMarks separate groups of three digits in texts for people: blanks of several widths and apostrophes.
var groupMarks = []string{" ", "\u00a0", "\u202f", "\u2009", "'", "\u2019"}

// plainNumber returns a number as toptau reads it for one that is written for people: 1123 for 1 123, and -774.82 for (774.82), 774.82- and
// a number with the minus sign of typography. ok is false for other texts. Such texts are not read: a note or an error names the plain form.
func plainNumber(field []byte) (plain string, ok bool) {
	written := string(trimBlanks(field))
	if len(written) > 60 {
		return "", false
	}
	b := strings.ReplaceAll(written, "\u2212", "-")
	if inner, found := strings.CutPrefix(b, "("); found && strings.HasSuffix(inner, ")") {
		b = "-" + inner[:len(inner)-1]
	} else if before, found := strings.CutSuffix(b, "-"); found {
		b = "-" + before
	}
	_, bare := trimUnit([]byte(b))
	for _, marks := range []struct {
		decimal byte
		group   string // which withPoint expects between three digits
	}{{'.', ","}, {',', "."}} {
		number := string(bare)
		for _, group := range groupMarks {
			number = strings.ReplaceAll(number, group, marks.group)
		}
		if b == written && number == string(bare) { // nothing that people write: it is read, or is another text
			return "", false
		}
		if point := withPoint([]byte(number), marks.decimal); isDecimal(point) {
			return string(point), true
		}
	}
	return "", false
}
