package scan

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/internal/models/dialect"
	export "toptau/internal/models/export/sql"
	"toptau/schema"
)

// layout is what the catalogue and the statistics say about a table.
type layout struct {
	columns  []*tableColumn
	features []*tableColumn // in their order; the position is that of a sample's column
	key      *tableColumn
	label    *tableColumn
	weight   *tableColumn // nil: all weights are 1
	group    *tableColumn // nil: the key
}

// role is what a column is for.
type role int

const (
	ignored role = iota
	number
	category
)

// tableColumn is a column of the table.
type tableColumn struct {
	name     string
	number   int // 1-based
	kind     dialect.Kind
	database string // the type's name in the catalogue
	role     role

	part    schema.Part  // of a time or an address: the column is derived
	element int          // of an array, from 1: the column is derived
	source  *tableColumn // of which it is a part or an element

	missing     int  // NULL and NaN, or blank texts
	padded      bool // some texts have blanks around them, which are not part of the category
	least, most float64
}

// expr returns the value of a column; true and false count as 1 and 0, but are the categories true and false.
func (c *tableColumn) expr(d *dialect.Dialect) string {
	if c.kind == dialect.Bool && c.role != category {
		return export.Boolean(d.Quote(c.name), d.Num)
	}
	return d.Quote(c.name)
}

// feature returns the feature at a position of the samples' tables, or nil.
func (l *layout) feature(position int) *tableColumn {
	if position < 0 || position >= len(l.features) {
		return nil
	}
	return l.features[position]
}

// readLayout reads the catalogue. Every server must have the same columns.
func (r *Rows) readLayout(ctx context.Context) (*layout, error) {
	l := &layout{}
	for k := range r.shards {
		var columns []*tableColumn
		var name, kind string
		err := r.query(ctx, k, r.dialect.Columns(r.dialect, r.table.Name), []any{&name, &kind}, func() { columns = nil }, func() error {
			columns = append(columns, newColumn(r.dialect, name, kind, len(columns)+1))
			return nil
		})
		if err != nil {
			return nil, err
		}
		if len(columns) == 0 {
			return nil, &diag.Error{Kind: diag.Usage, Param: "table", Found: diag.Quote(r.title()), Expected: "a table that the role may read"}
		}
		same := func(a, b *tableColumn) bool { return a.name == b.name && a.database == b.database }
		if k > 0 && !slices.EqualFunc(columns, l.columns, same) {
			return nil, &diag.Error{Kind: diag.Data, File: r.title(), Found: "other columns on server " + strconv.Itoa(k+1),
				Expected: "the same columns and types on all servers"}
		}
		l.columns = columns
	}
	elements := named(r.table.Columns)
	if r.table.Columns == nil {
		var err error
		if elements, err = r.readLengths(ctx, l); err != nil {
			return nil, err
		}
	}
	l.columns = withElements(r.dialect, withParts(r.dialect, l.columns), elements)
	return l, l.assign(&r.table)
}

// withParts adds the parts of times and addresses after their columns, with the names that they have in files.
func withParts(d *dialect.Dialect, columns []*tableColumn) (list []*tableColumn) {
	taken := map[string]bool{}
	for _, c := range columns {
		taken[c.name] = true
	}
	for _, c := range columns {
		list = append(list, c)
		var parts []schema.Part
		switch c.kind {
		case dialect.Time:
			parts = table.TimeParts()
		case dialect.Address:
			parts = table.AddressParts()
		}
		for _, part := range parts {
			kind := dialect.Int
			if part.Kind() == schema.Categorical {
				kind = dialect.Text
			}
			name := c.name + " " + string(part)
			if !taken[name] {
				list = append(list, &tableColumn{name: name, number: c.number, kind: kind, database: c.database, part: part, source: c})
			}
		}
	}
	return list
}

// derived returns the parts and elements that are used.
func (l *layout) derived(used func(c *tableColumn) bool) (list []dialect.Column) {
	for _, c := range l.columns {
		if c.source != nil && used(c) {
			list = append(list, dialect.Column{Name: c.name, Source: c.source.name, Type: c.source.database, Part: c.part, Element: c.element})
		}
	}
	return list
}

// Catalogue is the columns of a table, with the parts of its times and addresses, and elements of its arrays.
type Catalogue struct {
	d      *dialect.Dialect
	path   []string
	layout *layout
}

// ReadCatalogue reads the columns of a table. Of arrays it has those elements that are among names. query runs a statement.
func ReadCatalogue(ctx context.Context, d *dialect.Dialect, query func(ctx context.Context, statement string, dest []any, each func() error) error,
	path, names []string) (*Catalogue, error) {
	l := &layout{}
	var name, kind string
	err := query(ctx, d.Columns(d, path), []any{&name, &kind}, func() error {
		l.columns = append(l.columns, newColumn(d, name, kind, len(l.columns)+1))
		return nil
	})
	l.columns = withElements(d, withParts(d, l.columns), named(names))
	return &Catalogue{d, path, l}, err
}

// Names returns the names of all columns.
func (c *Catalogue) Names() []string { return c.layout.names() }

// Booleans returns the names of the columns of true and false.
func (c *Catalogue) Booleans() []string { return c.layout.booleans() }

// From returns the table with those parts and elements that are among the columns.
func (c *Catalogue) From(columns []string) string {
	return c.d.With(c.path, c.layout.derived(func(c *tableColumn) bool { return slices.Contains(columns, c.name) }))
}

func newColumn(d *dialect.Dialect, name, kind string, number int) *tableColumn {
	return &tableColumn{name: strings.Clone(name), number: number, database: strings.Clone(kind), kind: d.Kind(kind)}
}

// find returns a column by its name. param is the flag that has the name.
func (l *layout) find(param, name string) (*tableColumn, error) {
	for _, c := range l.columns {
		if c.name == name {
			return c, nil
		}
	}
	e := &diag.Error{Kind: diag.Usage, Param: param, Expected: "a column of the table"}
	if name != "" {
		e.Found = diag.Quote(name)
		if near := text.Nearest(name, l.names()); near != "" {
			e.Hint = "did you mean " + diag.Quote(near) + "?"
		}
	}
	return nil, e
}

// findAll returns the columns of a list, whose elements are names, or names with commas between them.
func (l *layout) findAll(param string, list []string) (map[*tableColumn]bool, error) {
	found := map[*tableColumn]bool{}
	for _, names := range list {
		parts := strings.Split(names, ",")
		if _, err := l.find(param, names); err == nil {
			parts = []string{names} // a name with a comma
		}
		for _, name := range parts {
			c, err := l.find(param, name)
			if err != nil {
				return nil, err
			}
			found[c] = true
		}
	}
	return found, nil
}

// assign gives the columns their roles.
func (l *layout) assign(t *Table) (err error) {
	for _, role := range []struct {
		param, name string
		to          **tableColumn
		required    bool
	}{{"key", t.Key, &l.key, true}, {"label", t.Label, &l.label, true}, {"weight", t.Weight, &l.weight, false}, {"group", t.Group, &l.group, false}} {
		if role.name == "" && !role.required {
			continue
		}
		if *role.to, err = l.find(role.param, role.name); err != nil {
			return err
		}
	}
	if l.key.kind != dialect.Int && l.key.kind != dialect.Text {
		return &diag.Error{Kind: diag.Usage, Param: "key", Found: fmt.Sprintf("%s of type %s", diag.Quote(t.Key), l.key.database),
			Expected: "whole numbers or texts, different in every row"}
	}
	return l.chooseFeatures(t)
}

// chooseFeatures makes features of the columns without another role: those that a model reads, or else all but the dropped ones.
func (l *layout) chooseFeatures(t *Table) error {
	dropped, err := l.findAll("drop", t.Drop)
	if err != nil {
		return err
	}
	categories, err := l.findAll("categorical", t.Categorical)
	if err != nil {
		return err
	}
	read := map[*tableColumn]bool{}
	for _, name := range t.Columns {
		c, err := l.find("", name)
		if err != nil {
			e := *diag.Of(err)
			e.Kind, e.Found = diag.Data, "no column "+e.Found+", which the model reads"
			return &e
		}
		read[c] = true
	}
	taken := func(c *tableColumn) bool {
		return c == l.key || c == l.label || c == l.weight || c == l.group || dropped[c]
	}
	var refused []*tableColumn
	for _, c := range l.columns {
		switch {
		case t.Columns != nil && !read[c] || taken(c) || c.source != nil && t.Columns == nil && (taken(c.source) || categories[c.source]):
			continue
		case (c.kind == dialect.Time || c.kind == dialect.Address || c.kind == dialect.Array) && !categories[c]:
			continue // its parts are features
		case c.kind == dialect.Other || c.kind == dialect.Array:
			refused = append(refused, c)
			continue
		case c.kind == dialect.Text || categories[c]:
			c.role = category
		default:
			c.role = number
		}
		l.features = append(l.features, c)
	}
	if len(refused) > 0 {
		return refusedColumns(refused)
	}
	if len(l.features) == 0 {
		return &diag.Error{Kind: diag.Data, Found: "no column besides the key and the label", Expected: "columns for a model to read"}
	}
	return nil
}

// refusedColumns is the error for columns of types that no model reads, all of them at once.
func refusedColumns(list []*tableColumn) error {
	var types, names []string
	for _, c := range list {
		types, names = append(types, diag.Quote(c.name)+" of type "+c.database), append(names, c.name)
	}
	return &diag.Error{Kind: diag.Usage, Found: text.Plural(len(list), "column") + " that no model reads: " + strings.Join(types, ", "),
		Expected: "numbers, booleans or texts", Fixes: []diag.Fix{{Param: "drop", Value: strings.Join(names, ",")}},
		Hint: "a view can make numbers of them"}
}

// names returns the names of all columns.
func (l *layout) names() []string {
	list := make([]string, len(l.columns))
	for i, c := range l.columns {
		list[i] = c.name
	}
	return list
}

// booleans returns the names of the columns of true and false.
func (l *layout) booleans() (list []string) {
	for _, c := range l.columns {
		if c.kind == dialect.Bool {
			list = append(list, c.name)
		}
	}
	return list
}

// schema describes the columns as those of a file with a header, so that a model also scores files.
func (l *layout) schema(t *Table) schema.Schema {
	used := map[*tableColumn]bool{}
	width := 0
	for _, c := range l.columns {
		width = max(width, c.number)
		if c.source != nil && c.role != ignored {
			used[c.source] = true
		}
	}
	s := schema.Schema{Format: schema.CSV, Header: true, Width: width, Positive: slices.Clone(t.Positive), ID: []string{l.key.name},
		Label: &schema.Name{Name: l.label.name, Number: l.label.number}}
	for _, c := range l.columns {
		switch {
		case c.role != ignored:
			column := schema.Column{Name: c.name, Number: c.number, Kind: c.role.kind(), Part: c.part}
			if c.part != schema.Whole {
				column.Source = c.source.name
			}
			s.Columns = append(s.Columns, column)
		case c != l.label && (c.source == nil && c.kind != dialect.Array && !used[c] || c.element > 0):
			s.Others = append(s.Others, schema.Name{Name: c.name, Number: c.number})
		}
	}
	if l.group != nil {
		s.Group = l.group.name
	}
	return s
}

func (r role) kind() schema.Kind {
	if r == category {
		return schema.Categorical
	}
	return schema.Numeric
}

// positiveByDefault is the positive label of numbers, and of true and false.
const positiveByDefault = "1"

// conditions are those of the rows of each class. Rows without a label are in none.
type conditions struct{ all, positive, negative string }

func (l *layout) conditions(d *dialect.Dialect, t *Table) (c conditions, err error) {
	positive := t.Positive
	if len(positive) == 0 {
		if l.label.kind == dialect.Text || l.label.kind == dialect.Other {
			return c, &diag.Error{Kind: diag.Usage, Param: "positive", Expected: fmt.Sprintf("the positive labels of %s", diag.Quote(l.label.name))}
		}
		positive = []string{positiveByDefault}
	}
	label := l.label.expr(d)
	var list []string
	negated := strings.HasPrefix(positive[0], "!") && len(positive[0]) > 1
	for _, p := range positive {
		if negated {
			p = strings.TrimPrefix(p, "!")
		}
		x, notNumber := strconv.ParseFloat(p, 64)
		if l.label.kind == dialect.Bool {
			switch strings.ToLower(p) {
			case "true", "t", "yes":
				x, notNumber = 1, nil
			case "false", "f", "no":
				x, notNumber = 0, nil
			}
		}
		switch literal, ok := d.Text(p); {
		case l.label.kind == dialect.Text:
			if ok {
				list = append(list, d.String(label)+" = "+literal)
			}
		case notNumber != nil || !dialect.Finite(x):
			return c, &diag.Error{Kind: diag.Usage, Param: "positive", Found: diag.Quote(p),
				Expected: fmt.Sprintf("a value of %s, whose type is %s", diag.Quote(l.label.name), l.label.database)}
		default:
			list = append(list, d.Cast(label)+" = "+d.Num(x))
		}
	}
	c.all = d.Quote(l.label.name) + " IS NOT NULL"
	c.positive = "(" + strings.Join(list, " OR ") + ")"
	c.negative = c.all + " AND NOT " + c.positive
	if negated {
		c.positive, c.negative = "("+c.negative+")", c.positive
	}
	return c, nil
}

// missingError is the error for values that no policy replaces.
func missingError(c *tableColumn) error {
	e := &diag.Error{Kind: diag.Data, Column: c.name, Found: text.Plural(c.missing, "missing value"), Expected: "a number in every row",
		Fixes: []diag.Fix{{Param: "impute", Value: string(schema.ImputeMedian)}, {Param: "impute", Value: string(schema.ImputeIndicator)}}}
	if c.role == category {
		e.Expected = "a category in every row"
	}
	return e
}

// statistics are what one statement says about the rows.
type statistics struct {
	rows      [2]int // by class: negatives, positives
	mass      [2]float64
	least     [2]float64 // the smallest weight
	whole     [2]bool
	last      []string // for each server the largest key, of whole numbers
	checksums []string // of each server
}

// classCounts are the places for the numbers and the weights of the rows by class, in a row of an answer.
type classCounts struct {
	rows, fractions [2]int64
	mass, least     [2]sql.NullFloat64
}

// add adds the aggregates.
func (n *classCounts) add(q *query, r *Rows) {
	d := r.dialect
	for class, where := range []string{r.is.negative, r.is.positive} {
		q.add(d.CountIf(where), &n.rows[class])
		if r.layout.weight != nil {
			w := d.Cast(r.layout.weight.expr(d))
			q.add(d.SumIf(w, where), &n.mass[class])
			q.add("min(CASE WHEN "+where+" THEN "+w+" END)", &n.least[class])
			q.add(d.CountIf(where+" AND "+w+" <> floor("+w+")"), &n.fractions[class])
		}
	}
}

// merge adds what a server returned to the statistics.
func (n *classCounts) merge(s *statistics, weighted bool) {
	for class, rows := range n.rows {
		if !weighted {
			n.mass[class].Float64, n.least[class] = float64(rows), sql.NullFloat64{Float64: 1, Valid: rows > 0}
		}
		s.rows[class] += int(rows)
		s.mass[class] += n.mass[class].Float64
		if n.least[class].Valid {
			s.least[class] = min(s.least[class], n.least[class].Float64)
		}
		s.whole[class] = s.whole[class] && n.fractions[class] == 0
	}
}

func newStatistics() *statistics {
	return &statistics{least: [2]float64{math.Inf(1), math.Inf(1)}, whole: [2]bool{true, true}}
}

// readStatistics counts the rows and bounds their values, and fails for values that no model can read. It is one statement for
// each server, and another one where numbers are not finite.
func (r *Rows) readStatistics(ctx context.Context) (*statistics, error) {
	s := newStatistics()
	for _, c := range r.layout.features {
		c.least, c.most = math.Inf(1), math.Inf(-1)
	}
	for k := range r.shards {
		if err := s.addShard(ctx, r, k); err != nil {
			return nil, err
		}
	}
	for _, c := range r.layout.features {
		if c.least > c.most {
			c.least, c.most = 0, 0
		}
	}
	return s, nil
}

// addShard adds what a server has to the statistics.
func (s *statistics) addShard(ctx context.Context, r *Rows, k int) error {
	d, l := r.dialect, r.layout
	var q query
	var counts classCounts
	counts.add(&q, r)
	var noKey, noWeight int64
	var last sql.NullString
	var checksum string
	q.add(d.CountIf(d.Quote(l.key.name)+" IS NULL"), &noKey)
	if l.weight != nil {
		w := d.Missing(l.weight.expr(d))
		q.add("count(*) - "+d.CountIf(w+" > "+d.Num(0)+" AND "+w+" - "+w+" = "+d.Num(0)), &noWeight)
	}
	if l.key.kind == dialect.Int {
		q.add(d.Whole("max("+d.Quote(l.key.name)+")"), &last)
	}
	q.add(d.Checksum(r.checked()), &checksum)
	of := make([]valueCounts, len(l.features))
	for i, c := range l.features {
		of[i].add(&q, d, c)
	}
	if err := r.one(ctx, k, &q, r.from(r.is.all)); err != nil {
		return err
	}
	r.count(func(t *Traffic) { t.Scans++ })
	if noKey > 0 {
		return &diag.Error{Kind: diag.Data, File: r.title(), Column: l.key.name, Found: text.Plural(int(noKey), "NULL"), Expected: "a key in every row"}
	}
	if noWeight > 0 {
		return &diag.Error{Kind: diag.Data, File: r.title(), Column: l.weight.name, Found: text.Plural(int(noWeight), "weight") + " that is not positive",
			Expected: "weights greater than 0"}
	}
	counts.merge(s, l.weight != nil)
	s.last, s.checksums = append(s.last, last.String), append(s.checksums, checksum)
	total := int(counts.rows[0] + counts.rows[1])
	if total == 0 {
		return nil
	}
	var odd []*tableColumn
	for i, c := range l.features {
		if !of[i].merge(c, total, d.NaNLast) {
			odd = append(odd, c)
		}
	}
	return readOdd(ctx, r, k, odd)
}

// valueCounts are the places for the counts and bounds of a column, in a row of an answer.
type valueCounts struct {
	present          int64
	blank, padded    int64 // texts
	least, most, sum sql.NullFloat64
}

// add adds the aggregates.
func (n *valueCounts) add(q *query, d *dialect.Dialect, c *tableColumn) {
	q.add("count("+d.Quote(c.name)+")", &n.present)
	x := c.expr(d)
	if c.role == category {
		q.add(d.CountIf(d.Trim(d.String(x))+" = ''"), &n.blank)
		q.add(d.CountIf(d.Trim(d.String(x))+" <> "+d.String(x)), &n.padded)
		return
	}
	q.add(d.Cast("min("+x+")"), &n.least)
	q.add(d.Cast("max("+x+")"), &n.most)
	if !d.NaNLast {
		q.add("sum("+d.Cast(x)+")", &n.sum)
	}
}

// merge adds what a server returned to a column. It returns false if some numbers are not finite.
func (n *valueCounts) merge(c *tableColumn, rows int, nanLast bool) bool {
	c.missing += rows - int(n.present) + int(n.blank)
	c.padded = c.padded || n.padded > 0
	if c.role == category || n.present == 0 {
		return true
	}
	if !dialect.Finite(n.least.Float64, n.most.Float64, n.sum.Float64) || !n.sum.Valid && !nanLast {
		return false
	}
	c.least, c.most = min(c.least, n.least.Float64), max(c.most, n.most.Float64)
	return true
}

// readOdd counts the values of columns that are not finite numbers. NaN is a missing value, an infinite number is an error.
func readOdd(ctx context.Context, r *Rows, shard int, columns []*tableColumn) error {
	if len(columns) == 0 {
		return nil
	}
	d := r.dialect
	var q query
	type found struct {
		nan, infinite int64
		least, most   sql.NullFloat64
	}
	of := make([]found, len(columns))
	for i, c := range columns {
		x, f := d.Double(c.expr(d)), &of[i]
		finite := "(" + x + ") - (" + x + ") = " + d.Num(0)
		q.add(d.CountIf("("+x+") IS NULL AND "+d.Quote(c.name)+" IS NOT NULL"), &f.nan)
		q.add(d.CountIf("("+x+") IS NOT NULL AND NOT coalesce("+finite+", 1 = 0)"), &f.infinite)
		q.add("min(CASE WHEN "+finite+" THEN ("+x+") END)", &f.least)
		q.add("max(CASE WHEN "+finite+" THEN ("+x+") END)", &f.most)
	}
	if err := r.one(ctx, shard, &q, r.from(r.is.all)); err != nil {
		return err
	}
	r.count(func(t *Traffic) { t.Scans++ })
	for i, c := range columns {
		f := &of[i]
		if f.infinite > 0 {
			return &diag.Error{Kind: diag.Data, File: r.title(), Column: c.name, Found: text.Plural(int(f.infinite), "infinite number"),
				Expected: "finite numbers", Hint: "replace them, or leave these rows out by a condition"}
		}
		c.missing += int(f.nan)
		if f.least.Valid {
			c.least, c.most = min(c.least, f.least.Float64), max(c.most, f.most.Float64)
		}
	}
	return nil
}

// query is a SELECT of expressions, with the places for their values.
type query struct {
	columns []string
	dest    []any
}

func (q *query) add(expr string, dest any) {
	q.columns = append(q.columns, expr)
	q.dest = append(q.dest, dest)
}

// tableOf makes a table of rows, as a reader of files would.
func (l *layout) tableOf(name string, b *batch) *table.Table {
	t := &table.Table{File: name, Label: b.label, Weight: b.weight, ID: []table.Text{{Name: l.key.name, Number: l.key.number, Values: b.keys}}}
	for i := range b.keys {
		t.Line = append(t.Line, i+1)
	}
	if l.group != nil {
		t.Group = &table.Text{Name: l.group.name, Number: l.group.number, Values: b.groups}
	}
	for i, c := range l.features {
		column := table.Column{Name: c.name, Number: c.number, Kind: c.role.kind()}
		if c.role == number {
			column.Values = b.numbers[i]
			if column.Values == nil {
				column.Values = []float64{}
			}
		} else {
			codes := map[string]int32{}
			column.Codes = make([]int32, 0, len(b.keys))
			for _, s := range b.texts[i] {
				s = strings.Trim(s, " \t")
				code, known := codes[s]
				if s == "" {
					code, known = -1, true
				}
				if !known {
					code = int32(len(column.Dictionary))
					codes[s] = code
					column.Dictionary = append(column.Dictionary, s)
				}
				column.Codes = append(column.Codes, code)
			}
		}
		t.Columns = append(t.Columns, column)
	}
	return t
}
