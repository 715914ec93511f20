package table

import (
	"fmt"

	"toptau/diag"
	"toptau/internal/data/packed"
	"toptau/schema"
)

// setup gives the columns of a file their roles and kinds: those of a training file by the options and the first rows,
// those of a later file by the schema. Then the assembler is ready for rows.
type setup struct{ *assembler }

// newAssembler gives the columns their roles and kinds, and prepares the reader's table and schema. counts
// describes the first rows by column and decides the kinds; nil: all columns are numeric.
func newAssembler(r *Reader, n *names, counts []kindCount) (*assembler, error) {
	a := setup{&assembler{reader: r, names: n, dictionaries: &dictionaries{}}}
	if _, taken := n.index[r.options.FileColumn]; taken && r.options.FileColumn != "" {
		return nil, &diag.Error{Kind: diag.Usage, File: r.file, Param: "file-column", Found: diag.Quote(r.options.FileColumn),
			Expected: "a name that no column has"}
	}
	var err error
	if a.roles, err = newRoles(&r.options, n); err != nil {
		return nil, err
	}
	if r.options.Schema != nil {
		err = a.matchSchema()
	} else {
		err = a.chooseFeatures(counts)
	}
	if err != nil {
		return nil, err
	}
	a.addTextColumns()
	a.describeColumns()
	return a.assembler, nil
}

// chooseFeatures makes features of all columns without another role in a training file. A column of times or addresses becomes its
// parts. counts may be nil: then all columns are numeric.
func (a setup) chooseFeatures(counts []kindCount) error {
	o := &a.reader.options
	if a.roles.label < 0 && o.LabelsFile == "" && !o.Unlabelled {
		return noLabel(a.names)
	}
	a.roles.takeFeatures(a.names)
	if o.texts && counts != nil {
		a.choosePacking(counts)
		return nil
	}
	columns := a.roles.features
	a.roles.features = nil // addFeature and addParts list them again
	for _, i := range columns {
		c := Column{Name: a.names.all[i], Number: i + 1, Kind: schema.Numeric}
		if parts := a.partsOf(i, counts); parts != nil {
			a.addParts(c, parts)
			continue
		}
		if counts != nil {
			c.Kind = a.kindOf(i, counts[i])
			if c.Kind == schema.Numeric {
				c.Unit = counts[i].commonUnit()
			}
		}
		a.addFeature(c)
	}
	return a.checkDerivedNames()
}

// choosePacking makes features of columns of numbers, and keeps the texts of the others. Whole numbers keep their texts if a number does
// not give one back, or if the options name them. Those that do are features that are also kept, so that all rows can be checked.
func (a setup) choosePacking(counts []kindCount) {
	named := map[int]bool{}
	for _, ref := range a.reader.options.spelled {
		if i, ok := a.names.find(ref); ok {
			named[i] = true
		}
	}
	a.packing = make([]packed.Column, len(a.names.all))
	columns := a.roles.features
	a.roles.features = nil
	for _, i := range columns {
		name, c, as := a.names.all[i], &counts[i], &a.packing[i]
		kind := a.kindOf(i, *c)
		as.Name, as.Kind = name, packed.Numbers
		whole := c.numbers > 0 && c.whole == c.numbers
		switch {
		case kind == schema.Categorical || c.parts(name) != nil || named[i] || whole && c.spelled > 0:
			as.Kind, as.Numeric = packed.Texts, kind == schema.Numeric && c.numbers == c.seen && c.seen > 0
			a.roles.kept = append(a.roles.kept, i)
			continue
		case whole && !c.exact:
			a.roles.kept = append(a.roles.kept, i)
		default:
			as.Respelled = !c.exact && c.seen > 0
		}
		a.addFeature(Column{Name: name, Number: i + 1, Kind: schema.Numeric, Unit: c.commonUnit()})
	}
}

// addFeature makes a feature of a training file.
func (a setup) addFeature(c Column) {
	a.roles.features = append(a.roles.features, c.Number-1)
	a.kinds = append(a.kinds, c.Kind)
	a.derived = append(a.derived, derivation{part: c.Part, origin: c.Origin, unit: c.Unit})
	a.codes = append(a.codes, map[string]int32{})
	a.reader.table.Columns = append(a.reader.table.Columns, c)
}

// partsOf returns the features that a column of times or addresses is replaced by, nil for another column. The
// options decide, then the first rows.
func (a setup) partsOf(column int, counts []kindCount) []schema.Part {
	parts := a.roles.parts[column]
	_, forced := a.roles.forced[column]
	if parts != nil || forced || counts == nil {
		return parts
	}
	name := a.names.all[column]
	parts = counts[column].parts(name)
	if parts == nil {
		return nil
	}
	quoted := shellQuote(name)
	otherwise := diag.Fix{Param: "categorical", Value: quoted, When: "otherwise"}
	if counts[column].numbers > 0 {
		otherwise.Param = "numeric"
	}
	code, what := "addresses", "IP addresses: their networks and ranges are features"
	fixes := []diag.Fix{otherwise}
	if parts[0] == schema.Hour {
		code, what = "times", "times: the hour and the weekday are features"
		fixes = []diag.Fix{{Param: "time", Value: quoted, When: "to order the rows"}, {Param: "drop", Value: quoted, When: "to leave it out"}, otherwise}
	}
	a.reader.warn(code, fmt.Sprintf("column %s is read as %s", diag.Quote(name), what))
	a.reader.warnings[len(a.reader.warnings)-1].Fixes = fixes
	return parts
}

// addParts makes the features that replace a column. Seconds count from 2000-01-01, so that they keep a
// fraction of a microsecond.
func (a setup) addParts(c Column, parts []schema.Part) {
	c.Source = c.Name
	for _, part := range parts {
		c.Part, c.Name, c.Kind, c.Origin = part, c.Source+" "+string(part), part.Kind(), 0
		if part == schema.Seconds {
			c.Origin = 946684800
		}
		a.addFeature(c)
	}
}

// checkDerivedNames refuses a column with the name of a derived feature.
func (a setup) checkDerivedNames() error {
	for _, c := range a.reader.table.Columns {
		if i, taken := a.names.index[c.Name]; taken && c.Part != schema.Whole {
			return &diag.Error{Kind: diag.Data, File: a.reader.file, Column: a.names.all[i], Found: "the name of a feature of column " + diag.Quote(c.Source),
				Expected: "another name", Fixes: []diag.Fix{{Param: "categorical", Value: shellQuote(c.Source)}}}
		}
	}
	return nil
}

// kindOf returns the kind of a column: numeric if more than half of the values counted are numbers. Numbers that the file has as texts
// may be meant as either, so a note says what they became.
func (a setup) kindOf(column int, c kindCount) schema.Kind {
	if k, ok := a.roles.forced[column]; ok {
		return k
	}
	note := func(read, param string) {
		if name := a.names.all[column]; 2*c.asTexts > c.seen && !a.reader.options.texts {
			a.reader.warn("numbers-as-text", fmt.Sprintf("column %s has texts that are numbers, and is read as %s", diag.Quote(name), read))
			a.reader.warnings[len(a.reader.warnings)-1].Fixes = []diag.Fix{{Param: param, Value: shellQuote(name), When: "otherwise"}}
		}
	}
	if c.seen == 0 || c.isNumeric() || c.hasUnit() {
		note("numeric", "categorical")
		return schema.Numeric
	}
	note("categorical", "numeric")
	name := diag.Quote(a.names.all[column])
	switch {
	case 2*c.anyUnit > c.seen:
		a.reader.warn("units", "column "+name+" is read as categorical: its values are numbers with different units, such as $3.20 and 3 €;"+
			" write them in one unit")
	case 2*c.commas > c.seen:
		a.reader.warn("decimal-comma", "column "+name+" is read as categorical: its values look like numbers with commas")
		a.reader.warnings[len(a.reader.warnings)-1].Fixes = decimalFixes
	case 2*(c.numbers+c.forPeople) > c.seen:
		plain, _ := plainNumber([]byte(c.example))
		a.reader.warn("numbers-for-people", fmt.Sprintf("column %s is read as categorical: its values look like numbers; write %s as %s",
			name, diag.Quote(c.example), plain))
	}
	return schema.Categorical
}

// decimalFixes are the fixes for numbers with commas.
var decimalFixes = []diag.Fix{{Param: "decimal", Value: ",", When: "if the comma is the decimal mark"},
	{Param: "decimal", Value: ".", When: "if it separates groups of three digits"}}

// addTextColumns makes the columns that are kept as text.
func (a setup) addTextColumns() {
	t, r := &a.reader.table, a.roles
	text := func(column int) *Text {
		if column < 0 {
			return nil
		}
		return &Text{Name: a.names.all[column], Number: column + 1}
	}
	for _, i := range r.ids {
		t.ID = append(t.ID, *text(i))
	}
	t.Group, t.Segment, t.Time = text(r.group), text(r.segment), text(r.time)
	for _, i := range r.kept {
		t.Kept = append(t.Kept, *text(i))
	}
	o := &a.reader.options
	if t.Zone, _ = loadZone(o.Timezone); t.Zone == nil && o.Schema != nil {
		t.Zone, _ = loadZone(o.Schema.Timezone) // a zone that this machine does not know is UTC
	}
	name := Text{Name: o.FileColumn, Number: fileColumn}
	if r.fileID {
		t.ID = append(t.ID, name)
	}
	for _, c := range []struct {
		ref string
		to  **Text
	}{{o.Group, &t.Group}, {o.Segment, &t.Segment}, {o.Time, &t.Time}} {
		if o.isFileColumn(c.ref) {
			*c.to = &Text{Name: name.Name, Number: name.Number}
		}
	}
}

// describeColumns describes the file in the reader's schema.
func (a setup) describeColumns() {
	s := &a.reader.schema
	s.Header, s.Width = a.names.header, len(a.names.all)
	s.ID, s.Group, s.Time, s.Timezone = nil, "", "", ""
	if zone := a.reader.table.Zone; zone != nil {
		s.Timezone = zone.String()
	}
	for _, i := range a.roles.ids {
		s.ID = append(s.ID, a.names.all[i])
	}
	if i := a.roles.group; i >= 0 {
		s.Group = a.names.all[i]
	}
	if i := a.roles.time; i >= 0 {
		s.Time = a.names.all[i]
	}
	feature := map[int]bool{}
	for _, i := range a.roles.features {
		feature[i] = true
	}
	for i, name := range a.names.all {
		switch {
		case i == a.roles.label:
			s.Label, a.reader.label = &schema.Name{Name: name, Number: i + 1}, name
		case !feature[i]:
			s.Others = append(s.Others, schema.Name{Name: name, Number: i + 1})
		}
	}
}

// noLabel is the error of a training file without a label column or a labels file.
func noLabel(n *names) error {
	e := &diag.Error{Kind: diag.Usage, File: n.file, Found: "no label column",
		Expected: "a name, a number, first or last",
		Fixes: []diag.Fix{{Param: "label", Value: "COLUMN"},
			{Param: "labels-file", Value: "FILE", When: "with one label per row"}}}
	if n.header {
		e.Expected = "one of " + quotedList(n.all, 20)
	}
	return e
}
