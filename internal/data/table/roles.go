package table

import (
	"slices"
	"strings"

	"toptau/diag"
	"toptau/schema"
)

// roles holds the columns of a file by role, -1 for a role without a column.
type roles struct {
	features []int // by feature: the column; -1: the file lacks it, and no weight needs it
	label    int
	weight   int
	group    int
	segment  int
	time     int
	ids      []int
	kept     []int // kept as text besides their role
	fileID   bool  // the name of the file is an id as well

	other  []bool // by column: neither feature nor label
	forced map[int]schema.Kind
	parts  map[int][]schema.Part // of the columns that the options name as times or addresses
}

// newRoles gives columns the roles that the options name.
func newRoles(o *Options, n *names) (*roles, error) {
	r := &roles{other: make([]bool, len(n.all)), forced: map[int]schema.Kind{}, parts: map[int][]schema.Part{}}
	for _, f := range []struct {
		param, ref string
		to         *int
	}{
		{"label", o.Label, &r.label},
		{"weight", o.Weight, &r.weight},
		{"group", o.Group, &r.group},
		{"segment", o.Segment, &r.segment},
		{"time", o.Time, &r.time},
	} {
		if o.isFileColumn(f.ref) && f.to != &r.label && f.to != &r.weight {
			*f.to = -1
			continue
		}
		i, err := n.findOne(f.param, f.ref)
		if err != nil {
			return nil, err
		}
		*f.to = i
		if i >= 0 && f.to != &r.label {
			r.other[i] = true
		}
	}
	var err error
	ids := o.ID
	if o.FileColumn != "" {
		ids = nil
		for part := range strings.SplitSeq(strings.Join(o.ID, ","), ",") {
			if part = strings.TrimSpace(part); o.isFileColumn(part) {
				r.fileID = true
			} else if part != "" {
				ids = append(ids, part)
			}
		}
	}
	if r.ids, err = n.findAll("id", ids); err != nil {
		return nil, err
	}
	r.remember(o, n)
	for _, ref := range o.Kept {
		i, err := n.findOne("", ref)
		if err != nil {
			return nil, err
		}
		r.kept = append(r.kept, i)
	}
	dropped, err := n.findAll("drop", o.Drop)
	if err != nil {
		return nil, err
	}
	for _, i := range append(dropped, r.ids...) {
		r.other[i] = true
	}
	if err := r.checkLabel(dropped, n); err != nil {
		return nil, err
	}
	return r, r.forceKinds(o, n)
}

// remember gives columns the roles that they had in the training file of a schema, where the options set none.
// A file need not have these columns. Rows without labels are only scored: they have no use for groups and times.
func (r *roles) remember(o *Options, n *names) {
	s := o.Schema
	if s == nil {
		return
	}
	if len(r.ids) == 0 {
		ids, err := n.findAll("", s.ID)
		if err == nil {
			r.ids = ids
		}
	}
	if o.Unlabelled {
		return
	}
	for _, f := range []struct {
		ref string
		to  *int
	}{{s.Group, &r.group}, {s.Time, &r.time}} {
		if o.NoTime && f.to == &r.time {
			continue
		}
		if i, found := n.find(f.ref); found && *f.to < 0 && f.ref != "" {
			*f.to, r.other[i] = i, true
		}
	}
}

// checkLabel refuses a label that is also the weight, an id or dropped.
func (r *roles) checkLabel(dropped []int, n *names) error {
	if r.label < 0 {
		return nil
	}
	conflict := ""
	if r.label == r.weight {
		conflict = "weight"
	}
	if slices.Contains(dropped, r.label) {
		conflict = "drop"
	}
	if slices.Contains(r.ids, r.label) {
		conflict = "id"
	}
	if conflict == "" {
		return nil
	}
	return sameColumn(n, r.label, "label", conflict)
}

// sameColumn is the error of a column with two roles that exclude each other.
func sameColumn(n *names, column int, first, second string) error {
	return &diag.Error{Kind: diag.Usage, File: n.file, Column: n.all[column],
		Found: "the same column as " + first + " and " + second, Expected: "different columns"}
}

// forceKinds reads the options that set the kinds of columns.
func (r *roles) forceKinds(o *Options, n *names) error {
	categorical, err := n.findAll("categorical", o.Categorical)
	if err != nil {
		return err
	}
	numeric, err := n.findAll("numeric", o.Numeric)
	if err != nil {
		return err
	}
	for _, i := range categorical {
		r.forced[i] = schema.Categorical
	}
	for _, i := range numeric {
		if k, ok := r.forced[i]; ok && k == schema.Categorical {
			return sameColumn(n, i, "categorical", "numeric")
		}
		r.forced[i] = schema.Numeric
	}
	for _, f := range []struct {
		param string
		refs  []string
		parts []schema.Part
	}{{"date", o.Date, append(slices.Clone(timeParts), schema.Day, schema.Seconds)}, {"address", o.Address, addressParts}} {
		columns, err := n.findAll(f.param, f.refs)
		if err != nil {
			return err
		}
		for _, i := range columns {
			if k, ok := r.forced[i]; ok {
				return sameColumn(n, i, string(k), f.param)
			}
			r.parts[i] = f.parts
		}
	}
	return nil
}

// takeFeatures makes features of all columns without another role. There may be none: scores of a file can be joined to ids and labels.
func (r *roles) takeFeatures(n *names) {
	for i := range n.all {
		if i != r.label && !r.other[i] {
			r.features = append(r.features, i)
		}
	}
}
