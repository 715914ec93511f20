package table

import "math"

// missingNumber stands for a missing value among numbers.
var missingNumber = math.NaN()

// missingSpellings are the spellings of a missing value: the empty field and those of Options.Missing.
type missingSpellings struct {
	all     []string
	numbers bool // one of them is a number
	decimal byte // the decimal mark of numbers in text; 0: a point, and no groups of digits
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

// setDecimal sets the decimal mark: "", "." or ",".
func (m *missingSpellings) setDecimal(mark string) {
	if mark != "" {
		m.decimal = mark[0]
	}
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

// derivedNumber returns the numeric part of a field; NaN if it is missing.
func (m *missingSpellings) derivedNumber(d derivation, field []byte) (float64, bool) {
	if m.has(field) {
		return math.NaN(), true
	}
	return d.number(field)
}

// parse is parseNumber for a text with the decimal mark.
func (m *missingSpellings) parse(field []byte) (float64, numeral) {
	if m.decimal == 0 {
		return parseNumber(field)
	}
	return parseNumber(withPoint(field, m.decimal))
}

// pointed returns the same spellings for numbers with a point, as JSON has them.
func (m *missingSpellings) pointed() *missingSpellings {
	if m.decimal == 0 {
		return m
	}
	p := *m
	p.decimal = 0
	return &p
}

// number parses a field of a numeric column. A missing value is NaN and counts as a number, and so does the text
// NaN in any case: programs write it for the NaN that is a missing value in Parquet, databases and readers. A boolean is 1 or 0.
func (m *missingSpellings) number(field []byte) (float64, numeral) {
	if len(field) == 0 || m.numbers && m.has(field) {
		return math.NaN(), number
	}
	v, what := m.parse(field)
	switch {
	case what == number:
	case what == notANumber || m.has(field):
		return math.NaN(), number
	case what == boolean:
		return v, number
	}
	return v, what
}
