package table

import (
	"fmt"
	"slices"
	"strings"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/schema"
)

// matching lists the places of a schema's columns in another file.
type matching struct {
	features  []int // by schema column: the column of the file; -1: the file lacks it
	label     int   // -1: there is none
	missing   []string
	extra     []string
	reordered []string
}

// hasColumnName reports whether one of the fields is the name of a feature or of the label.
func hasColumnName(m *schema.Schema, fields [][]byte) bool {
	known := map[string]bool{}
	for i := range m.Columns {
		known[m.Columns[i].FileColumn()] = true
	}
	if m.Label != nil {
		known[m.Label.Name] = true
	}
	return slices.ContainsFunc(fields, func(f []byte) bool { return known[string(trimBlanks(f))] })
}

// hasNumeric reports whether a feature is numeric. Then a row without any number is a header.
func hasNumeric(m *schema.Schema) bool {
	return m != nil && slices.ContainsFunc(m.Columns, func(c schema.Column) bool { return c.Kind == schema.Numeric })
}

// matchNames finds the schema's columns by name.
func matchNames(m *schema.Schema, n *names) matching {
	g := matching{label: -1}
	known := map[string]bool{}
	for k := range m.Columns {
		name := m.Columns[k].FileColumn()
		i, ok := n.index[name]
		if !ok {
			if !known[name] && !m.Columns[k].Unused { // several features may come from one column
				g.missing = append(g.missing, name)
			}
			i = -1
		}
		known[name] = true
		g.features = append(g.features, i)
	}
	for _, c := range m.Others {
		known[c.Name] = true
	}
	if m.Label != nil {
		known[m.Label.Name] = true
		if i, ok := n.index[m.Label.Name]; ok {
			g.label = i
		}
	}
	for _, name := range n.all {
		if !known[name] {
			g.extra = append(g.extra, name)
		}
	}
	for _, k := range outOfOrder(distinct(g.features)) {
		g.reordered = append(g.reordered, m.Columns[k].FileColumn())
	}
	return g
}

// matchNumbers finds the schema's columns by number. If no label is needed and the file has one column less
// than the training file, the label's column is the one that is absent, and the columns after it move up.
func matchNumbers(m *schema.Schema, n *names, unlabelled bool) matching {
	g := matching{label: -1}
	width := len(n.all)
	removed := m.Width + 1 // the number of the absent column
	if m.Label != nil && unlabelled && width == m.Width-1 {
		removed = m.Label.Number
	}
	place := func(number int) int {
		switch {
		case number == removed || number > width+1 || number == width+1 && removed > m.Width:
			return -1
		case number > removed:
			return number - 2
		}
		return number - 1
	}
	for _, c := range m.Columns {
		i := place(c.Number)
		if i < 0 {
			if name := c.FileColumn(); !c.Unused && !slices.Contains(g.missing, name) {
				g.missing = append(g.missing, name)
			}
		}
		g.features = append(g.features, i)
	}
	if m.Label != nil {
		g.label = place(m.Label.Number)
	}
	for i := m.Width; i < width; i++ {
		g.extra = append(g.extra, n.all[i])
	}
	return g
}

// distinct returns a copy in which places that repeat the one before are -1.
func distinct(places []int) []int {
	list := slices.Clone(places)
	for k := 1; k < len(list); k++ {
		if places[k] == places[k-1] {
			list[k] = -1
		}
	}
	return list
}

// outOfOrder returns the indices of the places that are not part of the longest ascending subsequence.
// Negative places are ignored.
func outOfOrder(places []int) []int {
	ends := []int{}                    // ends[l] ends the subsequence of length l + 1 with the smallest end
	before := make([]int, len(places)) // the index before this one in such a subsequence
	for k, p := range places {
		before[k] = -1
		if p < 0 {
			continue
		}
		l, _ := slices.BinarySearchFunc(ends, p, func(e, p int) int { return places[e] - p })
		if l > 0 {
			before[k] = ends[l-1]
		}
		if l == len(ends) {
			ends = append(ends, k)
		} else {
			ends[l] = k
		}
	}
	keep := map[int]bool{}
	if len(ends) > 0 {
		for k := ends[len(ends)-1]; k >= 0; k = before[k] {
			keep[k] = true
		}
	}
	var out []int
	for k, p := range places {
		if p >= 0 && !keep[k] {
			out = append(out, k)
		}
	}
	return out
}

// missingColumns returns the error of a file without some columns of the model.
func (g *matching) missingColumns(r *Reader, want int) error {
	if len(g.missing) == 0 {
		return nil
	}
	parts := []string{"missing columns: " + quotedList(g.missing, 20)}
	if len(g.extra) > 0 {
		parts = append(parts, "extra columns: "+quotedList(g.extra, 20))
	}
	if len(g.reordered) > 0 {
		parts = append(parts, "columns in another order: "+quotedList(g.reordered, 20))
	}
	e := &diag.Error{Kind: diag.Model, File: r.file, Found: strings.Join(parts, "; "),
		Expected: fmt.Sprintf("the %s that the model needs", text.Plural(want, "column"))}
	if r.first != nil {
		e.Kind, e.Expected = diag.Data, "the columns of "+r.first.file
	}
	return e
}

// warn reports columns that are ignored or in another order.
func (g *matching) warn(r *Reader) {
	who, where := "the model", "training"
	if r.first != nil {
		who, where = r.first.file, r.first.file
	}
	if len(g.extra) > 0 {
		r.warn("extra-columns", fmt.Sprintf("%s: ignored, because %s does not know %s: %s",
			r.file, who, themOrIt(len(g.extra)), quotedList(g.extra, 20)))
	}
	if len(g.reordered) > 0 {
		r.warn("reordered-columns", fmt.Sprintf("%s: matched by name in another order than in %s: %s",
			r.file, where, quotedList(g.reordered, 20)))
	}
}

func themOrIt(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// matchSchema finds the features and the label of a schema in the file.
func (a setup) matchSchema() error {
	o, m, r := &a.reader.options, a.reader.options.Schema, a.reader
	if m.Sparse() {
		return r.wrongFormat()
	}
	if m.Header && !a.names.header && o.Header != schema.NoHeader {
		return &diag.Error{Kind: diag.Model, File: r.file, Found: "no header", Expected: "the model's column names",
			Fixes: matchByNumber}
	}
	unlabelled := o.Unlabelled || o.LabelsFile != ""
	var g matching
	if m.Header && a.names.header {
		g = matchNames(m, a.names)
	} else {
		g = matchNumbers(m, a.names, unlabelled && o.Label == "")
	}
	g.extra = slices.DeleteFunc(g.extra, func(name string) bool {
		i := a.names.index[name]
		return a.roles.other[i] || i == a.roles.label || slices.Contains(a.roles.kept, i)
	})
	needed := 0
	for _, c := range m.Columns {
		if !c.Unused {
			needed++
		}
	}
	if err := g.missingColumns(r, needed); err != nil {
		return err
	}
	if o.Label == "" && o.LabelsFile == "" {
		a.roles.label = g.label
		if g.label < 0 && !o.Unlabelled {
			return missingLabel(m, a.names)
		}
	}
	g.warn(r)
	a.roles.features = g.features
	for k, i := range g.features {
		c := m.Columns[k]
		a.kinds = append(a.kinds, c.Kind)
		a.derived = append(a.derived, derivationOf(&c))
		codes := map[string]int32{}
		for code, value := range c.Dictionary {
			codes[value] = int32(code)
		}
		a.codes = append(a.codes, codes)
		r.table.Columns = append(r.table.Columns, Column{Name: c.Name, Number: i + 1, Kind: c.Kind,
			Part: c.Part, Source: c.Source, Origin: c.Origin, Salt: c.Salt, Unit: c.Unit, Dictionary: slices.Clone(c.Dictionary)})
	}
	return nil
}

// matchByNumber is the fix for a file without the names of the model's columns.
var matchByNumber = []diag.Fix{{Param: "header", Value: "no", When: "to match columns by number"}}

// missingLabel is the error of a file without the label column of the schema.
func missingLabel(m *schema.Schema, n *names) error {
	if m.Label == nil {
		return noLabel(n)
	}
	e := n.unknownColumn("", m.Label.Name)
	e.Found = "no label column " + e.Found
	e.Fixes = append(e.Fixes, diag.Fix{Param: "label", Value: "COLUMN"},
		diag.Fix{Param: "labels-file", Value: "FILE"})
	return e
}
