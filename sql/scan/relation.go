package scan

import (
	"encoding/hex"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/internal/models/dialect"
	"toptau/internal/training/large"
	"toptau/schema"
)

// relation is a table as statements name it, and as errors do.
type relation struct {
	dialect *dialect.Dialect
	table   Table
	layout  *layout
	is      conditions

	labels      []schema.LabelCount // of the label
	otherLabels int
}

// title is the table's name for people.
func (r *relation) title() string { return strings.Join(r.table.Name, ".") }

// Schema describes the columns that a model may read.
func (r *relation) Schema() schema.Schema {
	s := r.layout.schema(&r.table)
	s.Labels, s.OtherLabels = slices.Clone(r.labels), r.otherLabels
	return s
}

// from returns the table with conditions; "" are none.
func (r *relation) from(conditions ...string) string {
	if r.table.Where != "" {
		conditions = append(conditions, "("+r.table.Where+"\n)") // a comment in it ends with its line
	}
	conditions = slices.DeleteFunc(conditions, func(c string) bool { return c == "" })
	from := r.dialect.With(r.table.Name, r.layout.derived(func(c *tableColumn) bool { return c.role != ignored }))
	if len(conditions) > 0 {
		from += " WHERE " + strings.Join(conditions, " AND ")
	}
	return from
}

// class returns the class of a row: 1 for a positive, 0 for a negative. They are doubles, because ClickHouse takes the literal 1 for a
// column with the name 1.
func (r *relation) class() string {
	d := r.dialect
	return "CASE WHEN " + r.is.positive + " THEN " + d.Num(1) + " ELSE " + d.Num(0) + " END"
}

// part returns the condition of a part.
func (r *relation) part(p large.Part) string {
	of := r.layout.key
	if r.layout.group != nil {
		of = r.layout.group
	}
	bucket := r.dialect.Bucket(r.dialect.Quote(of.name), partSeed)
	where := dialect.Part(bucket, p.From, p.To)
	if p.Positives > 0 {
		where = "(" + where + " OR " + r.is.positive + " AND " + dialect.Part(bucket, p.From-p.Positives, p.From) + ")"
	}
	return where
}

// checked lists the columns whose values make the checksum.
func (r *relation) checked() (list []string) {
	l := r.layout
	for _, c := range l.columns {
		if c.source != nil {
			continue // the checksum has the column itself
		}
		if c.role != ignored || c.kind == dialect.Time || c.kind == dialect.Address || c.kind == dialect.Array || c == l.key || c == l.label || c == l.weight || c == l.group {
			column := r.dialect.Quote(c.name)
			if r.dialect.Hashed != nil {
				column = r.dialect.Hashed(c.database, column)
			}
			list = append(list, column)
		}
	}
	return list
}

// keyText returns a key as a text that sorts, compares and travels: decimal digits, or a text's bytes as hexadecimal digits.
func (r *relation) keyText(name string) string {
	if r.layout.key.kind == dialect.Int {
		return r.dialect.Whole(name)
	}
	return r.dialect.Hex(r.dialect.String(name))
}

// literal returns the literal of a key.
func (r *relation) literal(key string) string {
	if r.layout.key.kind == dialect.Int {
		return key
	}
	text, err := unhex(key)
	if err != nil {
		return "NULL"
	}
	literal, _ := r.dialect.Text(text)
	return literal
}

// validKey reports whether a text may be a key. Keys come from files, and become part of statements.
func (r *relation) validKey(key string) bool {
	if r.layout.key.kind == dialect.Int {
		n, whole := new(big.Int).SetString(key, 10)
		return whole && n.String() == key && n.BitLen() <= 64
	}
	b, err := hex.DecodeString(key)
	return err == nil && utf8.Valid(b)
}

// changed is the error for rows that are not those of the start.
func (r *relation) changed() error {
	return &diag.Error{Kind: diag.Data, File: r.title(), Found: "the data changed while they were read", Expected: "the same rows throughout",
		Hint: "repeat, or name a condition that leaves new rows out"}
}

// wrongKeys is the error for rows that are not those asked for by their keys.
func (r *relation) wrongKeys(keys []string) error {
	for i := 1; i < len(keys); i++ {
		if keys[i] == keys[i-1] {
			name := keys[i]
			if text, err := unhex(name); err == nil && !strings.HasPrefix(r.literal(name), name) {
				name = text
			}
			return r.twice(name)
		}
	}
	return r.changed()
}

// checkKeys fails if two rows of a sample have the same key. Rows are drawn by the hash of their keys, so the rows of a key that a sample
// has are all there. A column that is no key therefore never passes, and a single pair of rows with equal keys passes only if no
// sample has it.
func (r *relation) checkKeys(keys []string) error {
	if repeated, _, one := r.layout.repeatedIn(keys); repeated > 0 {
		return r.twice(one)
	}
	return nil
}

// severalTimes is the error for some repeated keys of some rows.
func (r *relation) severalTimes(keys, rows int, one string) error {
	return r.repeated(text.Plural(rows, "row") + " with " + text.Plural(keys, "repeated value") + ", for example " + diag.Quote(r.readable(one)))
}

// twice is the error for a key of two rows.
func (r *relation) twice(key string) error {
	return r.repeated(diag.Quote(r.readable(key)) + " in more than one row")
}

// repeated is the error for a key that is not one.
func (r *relation) repeated(found string) error {
	return &diag.Error{Kind: diag.Data, File: r.title(), Column: r.layout.key.name, Found: found, Expected: "a key that differs in every row",
		Hint: "name another column, or leave repeated rows out", Fixes: []diag.Fix{{Param: "key", Value: "COL"}, {Param: "where-sql", Value: "SQL"}}}
}

// readable returns a key as the table has it.
func (r *relation) readable(key string) string {
	if r.layout.key.kind == dialect.Text {
		if s, err := unhex(key); err == nil {
			return s
		}
	}
	return key
}

// hold reports whether a class has rows with a label.
func (is *conditions) hold(where string, label table.Class) bool {
	switch where {
	case is.positive:
		return label == table.Positive
	case is.negative:
		return label == table.Negative
	}
	return true
}
