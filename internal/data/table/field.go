package table

import (
	"fmt"

	"toptau/diag"
	"toptau/internal/data/jsontext"
	"toptau/schema"
)

// FieldReader reads fields of one column of a schema that do not come from a file, by the rules of the readers of
// files. It does not change and is safe for concurrent use.
type FieldReader struct {
	derived derivation
	missing *missingSpellings
	pointed *missingSpellings // for numbers of JSON
	column  string
}

// NewFieldReader returns the reader of a column. missing are the schema's spellings of a missing value, and decimal is
// its decimal mark.
func NewFieldReader(c *schema.Column, missing []string, decimal string) *FieldReader {
	m := newMissing(missing)
	m.setDecimal(decimal)
	return &FieldReader{derived: derivationOf(c), missing: m, pointed: m.pointed(), column: c.FileColumn()}
}

// Point is Number for a number with a point whatever the decimal mark of texts, as JSON has them.
func (r *FieldReader) Point(field []byte) (float64, error) { return r.read(field, r.pointed) }

// Number returns the value of a field of a numeric column, NaN if it is missing.
//
// Errors: diag.Data if the field is not a finite number, or not a time where the feature is a part of one.
func (r *FieldReader) Number(field []byte) (float64, error) { return r.read(field, r.missing) }

func (r *FieldReader) read(field []byte, missing *missingSpellings) (float64, error) {
	if r.derived.part != schema.Whole {
		v, ok := r.missing.derivedNumber(r.derived, field)
		if !ok {
			return 0, r.wrong(field, r.derived.expected())
		}
		return v, nil
	}
	v, what := missing.numberIn(r.derived.unit, field)
	if what != number {
		return 0, r.wrong(field, expectedNumber(what, r.derived.unit))
	}
	return v, nil
}

// Category returns the category of a field of a categorical column, nil if it is missing. It may be the field
// itself.
//
// Errors: diag.Data if the field is not a time or an address where the feature is a part of one.
func (r *FieldReader) Category(field []byte) ([]byte, error) {
	if field = trimField(field); r.missing.has(field) {
		return nil, nil
	}
	if !r.derived.changes() {
		return field, nil
	}
	value, ok := r.derived.category(field)
	if !ok {
		return nil, r.wrong(field, r.derived.expected())
	}
	return []byte(value), nil
}

// NumberText returns what Category needs for a number that is not a text, from its decimal text (see DecimalText): 3, or 3.0 if only that
// is known. It may append to decimal.
func (r *FieldReader) NumberText(decimal []byte, known func(category []byte) bool) []byte {
	return r.derived.numberText(decimal, known)
}

func (r *FieldReader) wrong(field []byte, expected string) error {
	return &diag.Error{Kind: diag.Data, Column: r.column, Found: diag.Quote(string(field)), Expected: expected}
}

// expectedNumber describes what should replace a field that is not a finite number.
func expectedNumber(what numeral, unit string) string {
	switch what {
	case tooLarge:
		return "a number within the range of float64"
	case tooLong:
		return fmt.Sprintf("a number of at most %d bytes", jsontext.MaxNumber)
	case notNumber:
		if unit != "" {
			return "a number, with or without " + unit
		}
		return "a number"
	}
	return "a finite number"
}
