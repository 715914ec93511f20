package table

import (
	"toptau/internal/core/text"
	"toptau/internal/data/jsontext"
	"toptau/schema"
)

// kindCount counts the kinds of fields in the first rows of a column.
type kindCount struct {
	seen      int // fields that are not missing
	texts     int // fields that do not look like numbers
	numbers   int // fields that look like numbers, NaN and infinity included
	commas    int // fields that look like numbers with commas or groups of digits
	anyUnit   int // texts that are numbers with a unit
	units     int // those with the unit below
	unit      string
	whole     int  // numbers that are nothing but digits, with or without a sign
	spelled   int  // those whose text differs from that of the number, such as 007 and identifiers of 19 digits
	exact     bool // the numbers of the file have no other text
	forPeople int  // texts that are numbers as people write them (see plainNumber), and the first of them
	example   string
	epochs    int // numbers that may be times
	dates     int
	addresses int
	asTexts   int // numbers that are texts in a format that has numbers

	booleans int     // texts that are true, false, t or f
	words    bool    // one of them is true or false
	letters  [2]bool // one of them is f, and one is t
}

// isNumeric reports whether the column is numeric: more than half of its values are numbers, or all of them are
// numbers and booleans. A column of the letter f alone, or t alone, has no booleans.
func (c *kindCount) isNumeric() bool {
	return 2*c.numbers > c.seen || c.isBoolean() && (c.words || c.letters[0] && c.letters[1])
}

// isBoolean reports whether all values so far are numbers and booleans.
func (c *kindCount) isBoolean() bool { return c.booleans > 0 && c.booleans+c.numbers == c.seen }

// count counts a field.
func (c *kindCount) count(field []byte, missing *missingSpellings) {
	_, what := missing.parse(field)
	if what == notANumber || missing.has(field) {
		return
	}
	c.seen++
	if what != notNumber && what != boolean {
		c.countNumber(field)
		return
	}
	if missing.decimal == 0 && isMarked(field) {
		c.commas++
	}
	c.countUnit(field, missing)
	c.countForPeople(field)
	c.countText(field)
}

// countForPeople counts a text that is a number as people write it.
func (c *kindCount) countForPeople(field []byte) {
	if _, ok := plainNumber(field); !ok {
		return
	}
	if c.forPeople++; c.forPeople == 1 {
		c.example = string(field)
	}
}

// countJSON counts a value of JSON.
func (c *kindCount) countJSON(kind jsontext.Kind, value []byte, missing *missingSpellings) {
	switch _, what := parseNumber(value); {
	case kind == jsontext.Null || missing.has(value) || kind == jsontext.Text && what == notANumber:
		return
	case kind == jsontext.Number:
		c.countNumber(value)
	default:
		if what == number {
			c.asTexts++
		}
		c.countUnit(value, missing.pointed())
		c.countForPeople(value)
		c.countText(value)
	}
	c.seen++
}

func (c *kindCount) countNumber(field []byte) {
	c.numbers++
	if whole, given := givesBack(field); whole {
		c.whole++
		if !given {
			c.spelled++
		}
	}
	if c.epochs == c.numbers-1 && isEpoch(field) {
		c.epochs++
	}
}

// exactDigits is the number of digits up to which a whole number without leading zeros gives its text back.
const exactDigits = 15

// givesBack reports whether a field is a whole number, and whether its number has the same text.
func givesBack(field []byte) (whole, given bool) {
	digits := afterSign(trimBlanks(field))
	if len(digits) == 0 || len(afterDigits(digits)) > 0 {
		return false, false
	}
	plain := digits[0] != '0' || len(field) == 1
	if sign := len(field) - len(digits); plain && len(digits) <= exactDigits && (sign == 0 || sign == 1 && field[0] == '-') {
		return true, true
	}
	v, what := parseNumber(field)
	return true, what == number && text.Decimal(v) == string(field)
}

// countText counts a text, which may be a boolean. It looks for dates and addresses while all texts so far are such.
func (c *kindCount) countText(field []byte) {
	if what, v := wordOf(trimBlanks(field)); what == boolean {
		c.booleans++
		c.letters[int(v)] = c.letters[int(v)] || len(trimBlanks(field)) == 1
		c.words = c.words || len(trimBlanks(field)) > 1
	}
	if c.dates == c.texts && looksDate(field) {
		if _, ok := parseDate(field); ok {
			c.dates++
		}
	}
	if c.addresses == c.texts && looksAddress(field) {
		if _, ok := parseAddress(field); ok {
			c.addresses++
		}
	}
	c.texts++
}

// parts returns the features that a column is replaced by, nil if it is a feature itself.
func (c *kindCount) parts(name string) []schema.Part {
	switch {
	case c.seen < minRecognised:
		return nil
	case c.dates == c.seen, c.epochs == c.seen && namesEpoch(name):
		return timeParts
	case c.addresses == c.seen:
		return addressParts
	}
	return nil
}

// isMarked reports whether a field is a number with another decimal mark than a point, or with groups of digits.
func isMarked(field []byte) bool {
	_, comma := parseNumber(withPoint(field, ','))
	_, point := parseNumber(withPoint(field, '.'))
	return comma == number || point == number
}

// countUnit counts a text that is a number with a unit, if it is the unit of the first such text.
func (c *kindCount) countUnit(field []byte, missing *missingSpellings) {
	unit, rest := trimUnit(field)
	if _, what := missing.parse(rest); unit == "" || what != number {
		return
	}
	c.anyUnit++
	if c.unit == "" {
		c.unit = unit
	}
	if c.unit == unit {
		c.units++
	}
}

// commonUnit returns the unit of more than half of the values, "" without one.
func (c *kindCount) commonUnit() string {
	if c.hasUnit() {
		return c.unit
	}
	return ""
}

// hasUnit reports whether more than half of the values are numbers with the same unit.
func (c *kindCount) hasUnit() bool { return 2*c.units > c.seen }
