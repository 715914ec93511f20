package table

import (
	"fmt"

	"toptau/diag"
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
// parts. With Options.texts a column that is not numeric is kept as text instead. counts may be nil: then all columns are numeric.
func (a setup) chooseFeatures(counts []kindCount) error {
	o := &a.reader.options
	if a.roles.label < 0 && o.LabelsFile == "" && !o.Unlabelled {
		return noLabel(a.names)
	}
	if err := a.roles.takeFeatures(a.names); err != nil {
		return err
	}
	columns := a.roles.features
	a.roles.features = nil // addFeature and addParts list them again
	for _, i := range columns {
		c := Column{Name: a.names.all[i], Number: i + 1, Kind: schema.Numeric}
		if o.texts && counts != nil && (counts[i].parts(c.Name) != nil || a.kindOf(i, counts[i]) == schema.Categorical) {
			a.roles.kept = append(a.roles.kept, i)
			continue
		}
		if parts := a.partsOf(i, counts); parts != nil {
			a.addParts(c, parts)
			continue
		}
		if counts != nil {
			c.Kind = a.kindOf(i, counts[i])
			if c.Kind == schema.Numeric && counts[i].hasUnit() {
				c.Unit = counts[i].unit
			}
		}
		a.addFeature(c)
	}
	return a.checkDerivedNames()
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
	switch {
	case parts == nil:
		return nil
	case parts[0] == schema.Hour:
		a.reader.warn("times", fmt.Sprintf("column %s is read as times: the hour, the weekday and the day of the month are features", diag.Quote(name)))
	default:
		a.reader.warn("addresses", fmt.Sprintf("column %s is read as IP addresses: their networks and ranges are features", diag.Quote(name)))
	}
	fixes := []diag.Fix{{Param: "categorical", Value: shellQuote([]byte(name)), When: "otherwise"}}
	if counts[column].numbers > 0 {
		fixes[0].Param = "numeric"
	}
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
				Expected: "another name", Fixes: []diag.Fix{{Param: "categorical", Value: shellQuote([]byte(c.Source))}}}
		}
	}
	return nil
}

// kindOf returns the kind of a column: numeric if more than half of the values counted are numbers.
func (a setup) kindOf(column int, c kindCount) schema.Kind {
	if k, ok := a.roles.forced[column]; ok {
		return k
	}
	if c.seen == 0 || c.isNumeric() {
		return schema.Numeric
	}
	if c.hasUnit() {
		return schema.Numeric
	}
	if 2*c.quoted > c.seen {
		name := a.names.all[column]
		a.reader.warn("texts-of-numbers", fmt.Sprintf("column %s is read as categorical: it has texts, which look like numbers", diag.Quote(name)))
		a.reader.warnings[len(a.reader.warnings)-1].Fixes = []diag.Fix{{Param: "numeric", Value: shellQuote([]byte(name)), When: "if they are numbers"}}
	}
	if 2*c.anyUnit > c.seen {
		a.reader.warn("units", fmt.Sprintf("column %s is read as categorical: its values are numbers with different units, such as $3.20 and 3 €;"+
			" write them in one unit", diag.Quote(a.names.all[column])))
	}
	if 2*c.commas > c.seen {
		a.reader.warn("decimal-comma", fmt.Sprintf("column %s is read as categorical: its values look like numbers"+
			" with commas", diag.Quote(a.names.all[column])))
		a.reader.warnings[len(a.reader.warnings)-1].Fixes = []diag.Fix{{Param: "decimal", Value: ",", When: "if the comma is the decimal mark"},
			{Param: "decimal", Value: ".", When: "if it separates groups of three digits"}}
	}
	return schema.Categorical
}

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
