package table

import (
	"fmt"
	"slices"
	"strings"

	"toptau/diag"
	"toptau/schema"
)

// matching is where the columns of a schema stand in another file.
type matching struct {
	features  []int // by schema column: the column of the file
	label     int   // -1: there is none
	missing   []string
	extra     []string
	reordered []string
}

// namesOneOf reports whether a feature or the label has one of the names.
func namesOneOf(m *schema.Schema, fields [][]byte) bool {
	known := map[string]bool{}
	for _, c := range m.Columns {
		known[c.Name] = true
	}
	if m.Label != nil {
		known[m.Label.Name] = true
	}
	return slices.ContainsFunc(fields, func(f []byte) bool { return known[string(trimBlanks(f))] })
}

// match finds the schema's columns in a file of named columns.
func matchNames(m *schema.Schema, n *names) matching {
	g := matching{label: -1}
	known := map[string]bool{}
	for _, c := range m.Columns {
		known[c.Name] = true
		i, ok := n.index[c.Name]
		if !ok {
			g.missing = append(g.missing, c.Name)
			i = -1
		}
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
	for _, k := range outOfOrder(g.features) {
		g.reordered = append(g.reordered, m.Columns[k].Name)
	}
	return g
}

// matchNumbers finds the schema's columns by number. A file with one column less than the training file, in which no
// label is needed, lacks the label's column: those behind it move up.
func matchNumbers(m *schema.Schema, n *names, unlabelled bool) matching {
	g := matching{label: -1}
	width := len(n.all)
	removed := m.Width + 1 // the number of the column that is not there
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
			g.missing = append(g.missing, c.Name)
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

// outOfOrder returns the elements of a list of places, those not negative, that are outside its longest ascending part.
func outOfOrder(places []int) []int {
	ends := []int{}                    // of the ascending parts of length l + 1, the last element with the smallest place
	before := make([]int, len(places)) // the element before this one in such a part
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

// problem is the error of a file that lacks columns of the model.
func (g *matching) problem(file string, want int) error {
	if len(g.missing) == 0 {
		return nil
	}
	parts := []string{"missing columns: " + enumerate(g.missing, 20)}
	if len(g.extra) > 0 {
		parts = append(parts, "extra columns: "+enumerate(g.extra, 20))
	}
	if len(g.reordered) > 0 {
		parts = append(parts, "columns in another order: "+enumerate(g.reordered, 20))
	}
	return &diag.Error{Kind: diag.Model, File: file, Found: strings.Join(parts, "; "),
		Expected: fmt.Sprintf("the %s that the model was trained on", plural(want, "column"))}
}

// report warns of columns that are ignored or stand elsewhere.
func (g *matching) report(r *Reader) {
	if len(g.extra) > 0 {
		r.warn("extra_columns", fmt.Sprintf("%s: ignored, because the model does not know %s: %s",
			r.file, themOrIt(len(g.extra)), enumerate(g.extra, 20)))
	}
	if len(g.reordered) > 0 {
		r.warn("reordered_columns", fmt.Sprintf("%s: matched by name in another order than in training: %s",
			r.file, enumerate(g.reordered, 20)))
	}
}

func themOrIt(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// match takes the features and the label of a delimited file from the schema.
func (s *delimitedRows) match() error {
	o, m, r := &s.reader.options, s.reader.options.Schema, s.reader
	if m.Format == "libsvm" {
		return wrongFormat(r.file, "delimited text", "LIBSVM, as the model was trained on")
	}
	if m.Header && !s.names.header && o.Header != "no" {
		return &diag.Error{Kind: diag.Model, File: r.file, Found: "no header", Expected: "the model's column names",
			Hint: "use --header no to match columns by number"}
	}
	unlabelled := o.Unlabelled || o.LabelsFile != ""
	var g matching
	if m.Header && s.names.header {
		g = matchNames(m, s.names)
	} else {
		g = matchNumbers(m, s.names, unlabelled && o.Label == "")
	}
	g.extra = slices.DeleteFunc(g.extra, func(name string) bool {
		i := s.names.index[name]
		return s.roles.other[i] || i == s.roles.label
	})
	if err := g.problem(r.file, len(m.Columns)); err != nil {
		return err
	}
	if o.Label == "" && o.LabelsFile == "" {
		s.roles.label = g.label
		if g.label < 0 && !o.Unlabelled {
			return missingLabel(m, s.names)
		}
	}
	g.report(r)
	s.roles.features = g.features
	for k, i := range g.features {
		c := m.Columns[k]
		s.kinds = append(s.kinds, c.Kind)
		codes := map[string]int32{}
		for code, value := range c.Dictionary {
			codes[value] = int32(code)
		}
		s.codes = append(s.codes, codes)
		r.table.Columns = append(r.table.Columns, Column{Name: c.Name, Number: i + 1, Kind: c.Kind,
			Dictionary: slices.Clone(c.Dictionary)})
	}
	return nil
}

// missingLabel is the error of a file that should have the label of training.
func missingLabel(m *schema.Schema, n *names) error {
	if m.Label == nil {
		return noLabel(n)
	}
	e := n.unknown("the label", m.Label.Name)
	if e.Hint == "" {
		e.Hint = "use --label or --labels-file"
	}
	return e
}

func wrongFormat(file, found, expected string) error {
	return &diag.Error{Kind: diag.Model, File: file, Found: found, Expected: expected}
}
