package table

import "math"

// missingNumber stands for a missing value among numbers.
var missingNumber = math.NaN()

// missingSpellings are the spellings of a missing value: the empty field and those of Options.Missing.
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

// derivedNumber returns the numeric part of a field; NaN if it is missing.
func (m *missingSpellings) derivedNumber(d derivation, field []byte) (float64, bool) {
	if m.has(field) {
		return math.NaN(), true
	}
	return d.number(field)
}

// number parses a field of a numeric column. A missing value is NaN and counts as a number.
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
