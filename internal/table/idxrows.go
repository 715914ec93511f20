package table

import (
	"io"
	"math"
	"slices"
	"strconv"

	"toptau/diag"
	"toptau/schema"
)

// idxRows turns the items of an IDX file into rows whose columns are the values' 1-based places ("pixels").
type idxRows struct {
	reader   *Reader
	items    *idx
	names    *names
	features []int
}

func newIDXRows(r *Reader, source io.Reader) (*idxRows, error) {
	o := &r.options
	if err := noColumns(o, "an IDX file, whose columns are all features", o.Label); err != nil {
		return nil, err
	}
	if o.LabelsFile == "" && !o.Unlabelled {
		return nil, &diag.Error{Kind: diag.Usage, File: r.file, Found: "an IDX file without labels",
			Expected: "--labels-file with the file of its labels"}
	}
	items, err := newIDX(r.file, source)
	if err != nil {
		return nil, err
	}
	s := &idxRows{reader: r, items: items}
	if s.names, err = newNames(r.file, nil, items.cols); err != nil {
		return nil, err
	}
	if err := s.assign(); err != nil {
		return nil, err
	}
	r.schema.Width = items.cols
	t := &r.table
	taken := make([]bool, items.cols)
	for _, i := range s.features {
		taken[i] = true
		t.Columns = append(t.Columns, Column{Name: s.names.all[i], Number: i + 1, Kind: schema.Numeric})
	}
	for i, name := range s.names.all {
		if !taken[i] {
			r.schema.Others = append(r.schema.Others, schema.Name{Name: name, Number: i + 1})
		}
	}
	return s, nil
}

// assign finds the features.
func (s *idxRows) assign() error {
	o := &s.reader.options
	if m := o.Schema; m != nil {
		return s.match(m)
	}
	roles, err := newRoles(&Options{Format: schema.Format{Drop: o.Drop}}, s.names)
	if err != nil {
		return err
	}
	if err := roles.takeFeatures(s.names); err != nil {
		return err
	}
	s.features = roles.features
	return nil
}

// match takes the features from a schema by number.
func (s *idxRows) match(m *schema.Schema) error {
	categorical := slices.ContainsFunc(m.Columns, func(c schema.Column) bool { return c.Kind == schema.Categorical })
	if m.Format == "libsvm" || m.Header || categorical {
		return wrongFormat(s.reader.file, "an IDX file", "a file with columns as the model was trained on")
	}
	g := matchNumbers(m, s.names, true)
	if err := g.problem(s.reader.file, len(m.Columns)); err != nil {
		return err
	}
	g.report(s.reader)
	s.features = g.features
	return nil
}

// more implements rowSource.
func (s *idxRows) more(t *Table, limit int) error {
	size := int64(s.items.size * s.items.cols)
	for t.Rows() < limit {
		if limit == math.MaxInt {
			if err := s.reader.outlook.check(t, s.reader.in, int64(s.items.item)*size); err != nil {
				return err
			}
		}
		values, err := s.items.next()
		if err != nil {
			return err
		}
		var label []byte
		if s.reader.labelsFile != nil {
			if label, err = s.reader.labelsFile.next(s.reader.file); err != nil {
				return err
			}
		}
		t.Label = append(t.Label, s.reader.count(label))
		for k, i := range s.features {
			t.Columns[k].Values = append(t.Columns[k].Values, values[i])
		}
		if s.reader.options.Raw {
			row := make([]string, len(values))
			for i, v := range values {
				row[i] = strconv.FormatFloat(v, 'g', -1, 64)
			}
			t.Raw = append(t.Raw, row)
		}
		t.Line = append(t.Line, s.items.item)
		if s.reader.packs && t.Rows()%segmentRows == 0 {
			t.pack(false)
		}
	}
	return nil
}

// columnNames implements rowSource.
func (s *idxRows) columnNames() []string { return s.names.all }

// check implements rowSource.
func (s *idxRows) check() error { return nil }

// finish implements rowSource.
func (s *idxRows) finish() {}

// noColumns refuses flags that name columns where there are none to name.
func noColumns(o *Options, where, label string) error {
	for _, f := range []struct {
		flag string
		set  bool
	}{
		{"--label", label != ""}, {"--weight", o.Weight != ""}, {"--group", o.Group != ""},
		{"--segment", o.Segment != ""}, {"--time", o.Time != ""}, {"--id", len(o.ID) > 0},
		{"--categorical", len(o.Categorical) > 0}, {"--numeric", len(o.Numeric) > 0},
	} {
		if f.set {
			return usage(f.flag+" with "+where, "delimited text", "")
		}
	}
	return nil
}
