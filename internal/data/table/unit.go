package table

import (
	"bytes"
)

// Units returns the units that numbers in text may have: of a column whose first rows have one, the unit belongs to the column.
func Units() []string { return []string{"%", "$", "€", "£", "¥"} }

// trimUnit splits a text into the unit after it, or before it and after the sign, and the rest. Without a unit, unit is "".
func trimUnit(field []byte) (unit string, rest []byte) {
	b := trimBlanks(field)
	unsigned := afterSign(b)
	for _, unit := range Units() {
		if rest, found := bytes.CutSuffix(b, []byte(unit)); found {
			return unit, trimBlanks(rest)
		}
		if rest, found := bytes.CutPrefix(unsigned, []byte(unit)); found {
			return unit, append(b[:len(b)-len(unsigned):len(b)-len(unsigned)], trimBlanks(rest)...)
		}
	}
	return "", b
}

// numberIn is number for a column of numbers with a unit: 12.5% and 12.5 are both 12.5 in a column of percentages. With
// another unit a field is not a number.
func (m *missingSpellings) numberIn(unit string, field []byte) (float64, numeral) {
	v, what := m.number(field)
	if what != notNumber || unit == "" {
		return v, what
	}
	if found, rest := trimUnit(field); found == unit && len(rest) > 0 {
		return m.parse(rest)
	}
	return v, what
}

// WithoutUnit returns the text of a number without the unit of its column.
func WithoutUnit(field, unit string) string {
	if found, rest := trimUnit([]byte(field)); unit != "" && found == unit {
		return string(rest)
	}
	return field
}
