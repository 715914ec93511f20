package table

import (
	"fmt"
	"math"
	"slices"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/internal/data/packed"
	"toptau/schema"
)

// unknownLimit bounds the values beyond a schema's dictionary that get separate codes, so that a column
// of ever new values does not fill the memory. All further values share the next code, whose text is empty.
const unknownLimit = 1 << 16

// maxCategories bounds the distinct values of all categorical columns of a training file. Each has a weight,
// which takes far more memory than the field in its row. maxText bounds the bytes of these values, and of the
// names of all columns: models, reports and messages hold several copies of them.
const (
	maxCategories = 1 << 18
	maxText       = 16 << 20
)

// assembler turns the rows of a file with columns into rows of a Table, for every format. A format provides
// the names of the columns and the rows; the assembler gives each column its role and kind, matches a model's
// schema, and handles labels, weights, categories and the columns that are kept as text.
type assembler struct {
	reader     *Reader
	names      *names
	roles      *roles
	kinds      []schema.Kind   // by feature
	derived    []derivation    // by feature: how its values come from the fields of its column
	headerLine int             // a first row that may be an unrecognised header; 0: none
	zeroWeight int             // rows left out for their weight of 0
	packing    []packed.Column // with Options.texts, by column: how it is packed

	*dictionaries
}

// dictionaries are the categories that occur. Several files that make one table share them.
type dictionaries struct {
	codes      []map[string]int32 // by feature: the index in the dictionary
	categories int                // of all features, in a training file
	text       int                // their bytes
}

// join implements rowSource.
func (a *assembler) join(first rowSource) {
	a.dictionaries = first.(interface{ assembled() *assembler }).assembled().dictionaries
}

func (a *assembler) assembled() *assembler { return a }

// rowReader reads rows one at a time.
type rowReader interface {
	nextRow() (*row, error) // valid until the following call; io.EOF after the last row
	consumed() int64        // bytes of the file so far
	text() []byte           // of the last row; nil if it has none, or if it could not be read
	hasRow() bool           // a further row has arrived
}

// appendAll appends rows of a format that is read row by row until t has limit rows.
func (a *assembler) appendAll(t *Table, limit int, rows rowReader) error {
	packer := packer{on: a.reader.packs}
	for t.Rows()+len(t.Bad) < limit {
		if t.Rows()+len(t.Bad) > 0 && !rows.hasRow() && a.reader.in.waits() {
			return nil
		}
		if limit == math.MaxInt {
			if err := a.reader.outlook.check(t, t.Rows(), a.reader.in, rows.consumed()+a.reader.in.before); err != nil {
				return err
			}
		}
		packer.pack(t)
		r, err := rows.nextRow()
		if err == nil {
			err = a.appendRow(t, r)
		}
		if err != nil {
			if err = a.keepBad(t, r, rows.text(), err); err != nil {
				return err
			}
			continue
		}
		if a.reader.options.Text {
			t.Text = append(t.Text, string(rows.text()))
		}
	}
	return nil
}

// keepBad keeps a row that is the cause of an error, or returns the error. r is nil if the row has not all its
// fields, and text if the error has another cause.
func (a *assembler) keepBad(t *Table, r *row, text []byte, err error) error {
	if text == nil || !a.reader.options.keepsBadRows() {
		return err
	}
	bad := BadRow{Text: string(text), ID: make([]string, len(a.roles.ids))}
	if e := diag.Of(err); e != nil {
		bad.Line = e.Line
	}
	if r != nil {
		bad.Line = r.line
		a.describeBad(&bad, r)
	}
	return a.reader.keepBadRow(t, err, bad)
}

// appendRow appends one row. The order of its checks is also that of appendChunk in delimitedchunk.go.
func (a *assembler) appendRow(t *Table, r *row) error {
	weight, err := a.weightOf(r)
	if err != nil {
		return err
	}
	label, err := a.labelOf(r)
	if err != nil {
		return err
	}
	if weight == 0 {
		a.zeroWeight++
		return nil
	}
	t.Label = append(t.Label, a.reader.countLabel(label))
	if a.roles.weight >= 0 {
		t.Weight = append(t.Weight, weight)
	}
	if err := a.appendFields(t, r); err != nil {
		return err
	}
	a.appendTexts(t, r)
	t.Line = append(t.Line, r.line)
	return nil
}

// appendFields appends the features of a row of text.
func (a *assembler) appendFields(t *Table, r *row) error {
	for k, i := range a.roles.features {
		c := &t.Columns[k]
		field := r.textOf(i)
		if a.kinds[k] == schema.Categorical {
			if r.isNumber(i) {
				field = a.numberText(k, DecimalText(field))
			}
			code, err := a.codeOf(k, c, field, r.lineOf(i))
			if err != nil {
				return err
			}
			c.Codes = append(c.Codes, code)
			continue
		}
		v, err := a.numberOf(k, r, field)
		if err != nil {
			return err
		}
		c.Values = append(c.Values, v)
	}
	return nil
}

// numberOf returns the number of a field of feature k, or what is taken from it.
func (a *assembler) numberOf(k int, r *row, field []byte) (float64, error) {
	i := a.roles.features[k]
	if d := a.derived[k]; d.part != schema.Whole {
		v, ok := a.reader.missing.derivedNumber(d, field)
		if !ok {
			return 0, a.notDerived(k, field, r.lineOf(i))
		}
		return v, nil
	}
	missing := a.reader.missing
	if r.isNumber(i) {
		missing = missing.pointed()
		if v := r.numbers[i]; v == v && len(field) > 0 && !missing.numbers {
			return v, nil
		}
	}
	v, what := missing.numberIn(a.derived[k].unit, field)
	if what != number {
		return 0, a.notNumber(r, k, field, what)
	}
	return v, nil
}

// numberText returns the text that a number has as a category of feature k, from its decimal text.
func (a *assembler) numberText(k int, field []byte) []byte {
	return a.derived[k].numberText(slices.Clip(field), func(category []byte) bool {
		_, known := a.codes[k][string(category)]
		return known && a.reader.options.Schema != nil
	})
}

// codeOf returns the index of a categorical field in the dictionary of feature k, which grows if the field is
// new.
func (a *assembler) codeOf(k int, c *Column, field []byte, line int) (int32, error) {
	if field = trimField(field); a.reader.missing.has(field) {
		return -1, nil
	}
	value := ""
	code, ok := int32(0), false
	if d := a.derived[k]; d.changes() {
		if value, ok = d.category(field); !ok {
			return 0, a.notDerived(k, field, line)
		}
		code, ok = a.codes[k][value]
	} else if code, ok = a.codes[k][string(field)]; !ok {
		value = string(field)
	}
	if ok {
		return code, nil
	}
	code = int32(len(c.Dictionary))
	if m := a.reader.options.Schema; m != nil {
		switch first := len(m.Columns[k].Dictionary); {
		case len(c.Dictionary) > first+unknownLimit:
			return code - 1, nil
		case len(c.Dictionary) == first+unknownLimit:
			value = ""
		}
	} else if a.categories++; a.categories > maxCategories {
		return 0, a.tooManyCategories(k, line)
	} else if a.text += len(value); a.text > maxText {
		e := a.tooManyCategories(k, line)
		e.Found = "more than 16 MiB of text in the distinct values of the categorical columns"
		return 0, e
	}
	a.codes[k][value] = code
	c.Dictionary = append(c.Dictionary, value)
	return code, nil
}

// tooManyCategories is the error of a training file whose categorical columns have more values than the
// limit.
func (a *assembler) tooManyCategories(k, line int) *diag.Error {
	return &diag.Error{Kind: diag.Data, File: a.reader.file, Line: line,
		Column:   a.names.all[a.roles.features[k]],
		Found:    fmt.Sprintf("distinct value %s of the categorical columns", text.Count(maxCategories+1)),
		Expected: fmt.Sprintf("at most %s in all of them, of 16 MiB", text.Count(maxCategories)),
		Fixes: []diag.Fix{{Param: "drop", Value: a.columnValue(k)},
			{Param: "id", Value: a.columnValue(k), When: "for columns that identify rows"}}}
}

// columnValue returns the name of feature k as a parameter's value.
func (a *assembler) columnValue(k int) string {
	return shellQuote(a.names.all[a.roles.features[k]])
}

// notDerived is the error of a field that is not a time or not an address.
func (a *assembler) notDerived(k int, field []byte, line int) error {
	name := a.names.all[a.roles.features[k]]
	e := &diag.Error{Kind: diag.Data, File: a.reader.file, Line: line, Column: name, Found: diag.Quote(string(field)),
		Expected: a.derived[k].expected(), Fixes: []diag.Fix{{Param: "missing", Value: shellQuote(field)}}}
	if a.reader.options.Schema == nil {
		e.Fixes = append(e.Fixes, diag.Fix{Param: "categorical", Value: shellQuote(name)})
	}
	return e
}

// notNumber is the error of a field of feature k that should be a number.
func (a *assembler) notNumber(r *row, k int, field []byte, what numeral) error {
	column := a.roles.features[k]
	if a.repeatsHeader(r) {
		return &diag.Error{Kind: diag.Data, File: a.reader.file, Line: r.line, Found: "a second header line", Expected: "rows",
			Hint: "remove it; files are joined by giving all of them, not by cat"}
	}
	e := &diag.Error{Kind: diag.Data, File: a.reader.file, Line: r.lineOf(column), Column: a.names.all[column],
		Found: diag.Quote(string(field)), Expected: expectedNumber(what, a.derived[k].unit),
		Fixes: []diag.Fix{{Param: "missing", Value: shellQuote(field)}}}
	plain, written := plainNumber(field) // no advice to read a debit as a missing value
	switch {
	case what == notNumber && written:
		e.Fixes, e.Hint = nil, "write it as "+plain
	case what == notNumber && a.reader.missing.decimal == 0 && isMarked(field) && a.reader.options.Schema == nil:
		e.Fixes = decimalFixes
	}
	if e.Fixes != nil && what == notNumber {
		if a.reader.options.Schema == nil {
			e.Fixes = append(e.Fixes, diag.Fix{Param: "categorical", Value: shellQuote(a.names.all[column])})
		}
		if r.line == a.headerLine {
			e.Fixes = append(e.Fixes, diag.Fix{Param: "header", Value: "yes", When: "if this line names the columns"})
		}
	}
	return e
}

// repeatsHeader reports whether a row has the names of the columns.
func (a *assembler) repeatsHeader(r *row) bool {
	for i, name := range a.names.all {
		if !a.names.header || i >= len(r.fields) || string(trimBlanks(r.fields[i])) != name {
			return false
		}
	}
	return true
}

// weightOf returns the weight of a row, 1 without a weight column.
func (a *assembler) weightOf(r *row) (float64, error) {
	i := a.roles.weight
	if i < 0 {
		return 1, nil
	}
	return a.checkWeight(r.textOf(i), r, i)
}

// checkWeight returns the number of a weight.
func (a *assembler) checkWeight(field []byte, r *row, i int) (float64, error) {
	v, what := a.reader.missing.parse(field)
	found := ""
	switch {
	case a.reader.missing.has(field):
		found = "a missing weight"
	case what != number || v < 0:
		found = diag.Quote(string(field))
	default:
		return v, nil
	}
	return 0, &diag.Error{Kind: diag.Data, File: a.reader.file, Line: r.lineOf(i), Column: a.names.all[i],
		Found: found, Expected: "a weight: a finite number of at least 0"}
}

// labelOf returns the label of a row from its column or from the labels file; nil if it is missing.
func (a *assembler) labelOf(r *row) ([]byte, error) {
	if a.reader.labelsFile != nil {
		return a.reader.labelsFile.nextFor(a.reader.file)
	}
	i := a.roles.label
	if i < 0 {
		return nil, nil
	}
	return a.checkLabel(r.textOf(i), r.lineOf(i))
}

// checkLabel returns a field of the label column, nil if it is missing and may be.
func (a *assembler) checkLabel(field []byte, line int) ([]byte, error) {
	if !a.reader.missing.has(field) {
		return field, nil
	}
	if a.reader.options.Unlabelled {
		return nil, nil
	}
	found := "an empty label"
	if len(trimBlanks(field)) > 0 {
		found = "the missing label " + diag.Quote(string(field))
	}
	return nil, &diag.Error{Kind: diag.Data, File: a.reader.file, Line: line, Column: a.names.all[a.roles.label],
		Found: found, Expected: "a label in every row"}
}

// appendTexts appends the fields that are kept as text.
func (a *assembler) appendTexts(t *Table, r *row) {
	for k, i := range a.roles.ids {
		t.ID[k].Values = append(t.ID[k].Values, string(r.textOf(i)))
	}
	for _, c := range []struct {
		text   *Text
		column int
	}{{t.Group, a.roles.group}, {t.Segment, a.roles.segment}, {t.Time, a.roles.time}} {
		if c.text != nil {
			field := trimField(r.textOf(c.column))
			if r.isNumber(c.column) {
				field = DecimalText(field)
			}
			c.text.Values = append(c.text.Values, string(field))
		}
	}
	for k, i := range a.roles.kept {
		t.Kept[k].Values = append(t.Kept[k].Values, string(r.textOf(i)))
	}
	if a.reader.options.Raw {
		fields := make([]string, len(a.names.all))
		for i := range fields {
			fields[i] = string(r.textOf(i))
		}
		t.Raw = append(t.Raw, fields)
	}
}

// describeBad adds the fields of a row to its description as a bad row.
func (a *assembler) describeBad(bad *BadRow, r *row) {
	for k, i := range a.roles.ids {
		bad.ID[k] = string(r.textOf(i))
	}
	if a.reader.options.Raw {
		for i := range a.names.all {
			bad.Raw = append(bad.Raw, string(r.textOf(i)))
		}
	}
}

// columnNames implements rowSource.
func (a *assembler) columnNames() []string { return a.names.all }

// checkEnd implements rowSource.
func (a *assembler) checkEnd() error { return nil }

// finish implements rowSource.
func (a *assembler) finish() {
	if a.zeroWeight > 0 {
		a.reader.warn("zero-weight",
			fmt.Sprintf("%s: %s of weight 0 left out", a.reader.file, text.Plural(a.zeroWeight, "row")))
	}
}

// shellQuote writes text so that a shell reads it as one word. A long text that needs quotes is VALUE.
func shellQuote[T []byte | string](word T) string {
	quoted := text.ShellWord(string(word))
	if len(word) > 60 && quoted != string(word) {
		return "VALUE"
	}
	return quoted
}
