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
	"toptau/internal/table"
	"toptau/internal/text"
	"toptau/schema"
	"toptau/sql/dialect"
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

	missing     int  // NULL and NaN, or blank texts
	blanks      bool // some of the missing texts are not NULL
	least, most float64
}

// expr returns the value of a column; true and false count as 1 and 0.
func (c *tableColumn) expr(d *dialect.Dialect) string {
	if c.kind == dialect.Bool {
		return "CASE WHEN " + d.Quote(c.name) + " THEN " + d.Num(1) + " WHEN NOT " + d.Quote(c.name) + " THEN " + d.Num(0) + " END"
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
			columns = append(columns, &tableColumn{name: name, number: len(columns) + 1, database: kind, kind: r.dialect.Kind(kind)})
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
	return l, l.assign(&r.table)
}

// assign gives the columns their roles.
func (l *layout) assign(t *Table) error {
	find := func(param, name string, required bool) (*tableColumn, error) {
		if name == "" && !required {
			return nil, nil
		}
		for _, c := range l.columns {
			if c.name == name {
				return c, nil
			}
		}
		e := &diag.Error{Kind: diag.Usage, Param: param, Expected: "a column of the table"}
		if name != "" {
			e.Found = diag.Quote(name)
			if near := table.Nearest(name, l.names()); near != "" {
				e.Hint = "did you mean " + diag.Quote(near) + "?"
			}
		}
		return nil, e
	}
	var err error
	if l.key, err = find("key", t.Key, true); err != nil {
		return err
	}
	if l.key.kind != dialect.Int && l.key.kind != dialect.Text {
		return &diag.Error{Kind: diag.Usage, Param: "key", Found: fmt.Sprintf("%s of type %s", diag.Quote(t.Key), l.key.database),
			Expected: "whole numbers or texts, different in every row"}
	}
	if l.label, err = find("label", t.Label, true); err != nil {
		return err
	}
	if l.weight, err = find("weight", t.Weight, false); err != nil {
		return err
	}
	if l.group, err = find("group", t.Group, false); err != nil {
		return err
	}
	taken := map[*tableColumn]bool{l.key: true, l.label: true, l.weight: true, l.group: true}
	for _, name := range t.Drop {
		c, err := find("drop", name, true)
		if err != nil {
			return err
		}
		taken[c] = true
	}
	categories := map[string]bool{}
	for _, name := range t.Categorical {
		if _, err := find("categorical", name, true); err != nil {
			return err
		}
		categories[name] = true
	}
	read := map[*tableColumn]bool{}
	for _, name := range t.Columns {
		c, err := find("", name, true)
		if err != nil {
			e := *diag.Of(err)
			e.Kind, e.Found = diag.Data, "no column "+e.Found+", which the model reads"
			return &e
		}
		read[c] = true
	}
	for _, c := range l.columns {
		switch {
		case taken[c] || t.Columns != nil && !read[c]:
			continue
		case c.kind == dialect.Text || c.kind != dialect.Other && categories[c.name]:
			c.role = category
		case c.kind != dialect.Other:
			c.role = number
		default:
			return &diag.Error{Kind: diag.Usage, Column: c.name, Found: "type " + c.database, Expected: "numbers, booleans or texts",
				Fixes: []diag.Fix{{Param: "drop", Value: c.name}}}
		}
		l.features = append(l.features, c)
	}
	if len(l.features) == 0 {
		return &diag.Error{Kind: diag.Data, Found: "no column besides the key and the label", Expected: "columns for a model to read"}
	}
	return nil
}

// names returns the names of all columns.
func (l *layout) names() []string {
	list := make([]string, len(l.columns))
	for i, c := range l.columns {
		list[i] = c.name
	}
	return list
}

// schema describes the columns as those of a file with a header, so that a model also scores files.
func (l *layout) schema(t *Table) schema.Schema {
	s := schema.Schema{Format: schema.CSV, Header: true, Width: len(l.columns), Positive: slices.Clone(t.Positive), ID: []string{l.key.name},
		Label: &schema.Name{Name: l.label.name, Number: l.label.number}}
	for _, c := range l.columns {
		switch {
		case c.role != ignored:
			s.Columns = append(s.Columns, schema.Column{Name: c.name, Number: c.number, Kind: c.role.kind()})
		case c != l.label:
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

// conditions are those of the rows of each class. Rows without a label are in none.
type conditions struct{ all, positive, negative string }

func (l *layout) conditions(d *dialect.Dialect, t *Table) (c conditions, err error) {
	positive := t.Positive
	if len(positive) == 0 {
		if l.label.kind == dialect.Text || l.label.kind == dialect.Other {
			return c, &diag.Error{Kind: diag.Usage, Param: "positive", Expected: fmt.Sprintf("the positive labels of %s", diag.Quote(l.label.name))}
		}
		positive = []string{"1"}
	}
	label := l.label.expr(d)
	var list []string
	for _, p := range positive {
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

// readStatistics counts the rows and bounds their values, and fails for values that no model can read. It is one statement for
// each server, and another one where numbers are not finite.
func (r *Rows) readStatistics(ctx context.Context) (*statistics, error) {
	d, l := r.dialect, r.layout
	s := &statistics{least: [2]float64{math.Inf(1), math.Inf(1)}, whole: [2]bool{true, true}}
	for _, c := range l.features {
		c.least, c.most = math.Inf(1), math.Inf(-1)
	}
	for k := range r.shards {
		var q query
		var rows [2]int64
		var mass, least [2]sql.NullFloat64
		var fractions [2]int64
		for class, where := range []string{r.is.negative, r.is.positive} {
			q.add(d.CountIf(where), &rows[class])
			if l.weight != nil {
				w := d.Cast(l.weight.expr(d))
				q.add(d.SumIf(w, where), &mass[class])
				q.add("min(CASE WHEN "+where+" THEN "+w+" END)", &least[class])
				q.add(d.CountIf(where+" AND "+w+" <> floor("+w+")"), &fractions[class])
			}
		}
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
		type found struct {
			present          int64
			least, most, sum sql.NullFloat64
			blank            int64
		}
		of := make([]found, len(l.features))
		for i, c := range l.features {
			f := &of[i]
			name := d.Quote(c.name)
			q.add("count("+name+")", &f.present)
			if c.role == category {
				q.add(d.CountIf(d.Trim(d.String(c.expr(d)))+" = ''"), &f.blank)
				continue
			}
			x := c.expr(d)
			q.add(d.Cast("min("+x+")"), &f.least)
			q.add(d.Cast("max("+x+")"), &f.most)
			if !d.NaNLast {
				q.add("sum("+d.Cast(x)+")", &f.sum)
			}
		}
		if err := r.one(ctx, k, &q, r.from(r.is.all)); err != nil {
			return nil, err
		}
		r.count(func(t *Traffic) { t.Scans++ })
		total := int(rows[0] + rows[1])
		if noKey > 0 {
			return nil, &diag.Error{Kind: diag.Data, File: r.title(), Column: l.key.name, Found: text.Plural(int(noKey), "NULL"), Expected: "a key in every row"}
		}
		if noWeight > 0 {
			return nil, &diag.Error{Kind: diag.Data, File: r.title(), Column: l.weight.name, Found: text.Plural(int(noWeight), "weight") + " that is not positive",
				Expected: "weights greater than 0"}
		}
		for class := range rows {
			s.rows[class] += int(rows[class])
			if l.weight == nil {
				mass[class].Float64, least[class] = float64(rows[class]), sql.NullFloat64{Float64: 1, Valid: true}
			}
			s.mass[class] += mass[class].Float64
			if least[class].Valid {
				s.least[class] = min(s.least[class], least[class].Float64)
			}
			s.whole[class] = s.whole[class] && fractions[class] == 0
		}
		s.last, s.checksums = append(s.last, last.String), append(s.checksums, checksum)
		if total == 0 {
			continue
		}
		var odd []*tableColumn
		for i, c := range l.features {
			f := &of[i]
			c.missing += total - int(f.present) + int(f.blank)
			c.blanks = c.blanks || f.blank > 0
			if c.role == category || f.present == 0 {
				continue
			}
			if !dialect.Finite(f.least.Float64, f.most.Float64, f.sum.Float64) || !f.sum.Valid && !d.NaNLast {
				odd = append(odd, c)
				continue
			}
			c.least, c.most = min(c.least, f.least.Float64), max(c.most, f.most.Float64)
		}
		if err := r.readOdd(ctx, k, odd); err != nil {
			return nil, err
		}
	}
	for _, c := range l.features {
		if c.least > c.most {
			c.least, c.most = 0, 0
		}
	}
	return s, nil
}

// readOdd counts the values of columns that are not finite numbers. NaN is a missing value, an infinite number is an error.
func (r *Rows) readOdd(ctx context.Context, shard int, columns []*tableColumn) error {
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

// checked lists the columns whose values make the checksum.
func (r *Rows) checked() (list []string) {
	l := r.layout
	for _, c := range l.columns {
		if c.role != ignored || c == l.key || c == l.label || c == l.weight || c == l.group {
			list = append(list, r.dialect.Quote(c.name))
		}
	}
	return list
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

// one runs a query whose answer is one row.
func (r *Rows) one(ctx context.Context, shard int, q *query, from string) error {
	count := 0
	err := r.query(ctx, shard, "SELECT "+strings.Join(q.columns, ", ")+" FROM "+from, q.dest, func() { count = 0 }, func() error {
		count++
		return nil
	})
	if err == nil && count != 1 {
		err = fmt.Errorf("an aggregate gave %d rows", count)
	}
	return err
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
				code, known := codes[s]
				if strings.Trim(s, " \t") == "" {
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
