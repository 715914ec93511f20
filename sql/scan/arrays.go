package scan

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/internal/models/dialect"
)

// maxElements is the number of elements of an array that are columns. PostgreSQL selects at most 1,664 expressions, and the first statement
// has three for each column.
const maxElements = 500

// elementName returns the name of an element of an array, from 1. A file of the same rows has columns of these names.
func elementName(array string, k int) string { return fmt.Sprintf("%s[%d]", array, k) }

// isArray reports whether the elements of a column are numbers.
func (c *tableColumn) isArray(d *dialect.Dialect) bool {
	if d.Arrays == nil || c.source != nil {
		return false
	}
	switch d.Kind(d.Arrays.Element(c.database)) {
	case dialect.Int, dialect.Number, dialect.Single:
		return true
	}
	return false
}

// withElements returns the columns with the elements of arrays after them. have returns the numbers of the elements of an array in
// ascending order; without one the column is of a type that no model reads. Columns are numbered as in a file of the same rows.
func withElements(d *dialect.Dialect, columns []*tableColumn, have func(c *tableColumn) []int) (list []*tableColumn) {
	number := 0
	for _, c := range columns {
		list = append(list, c)
		if c.source != nil {
			c.number = number
			continue
		}
		if c.isArray(d) {
			of := d.Arrays.Element(c.database)
			for _, k := range have(c) {
				number++
				c.kind = dialect.Array
				list = append(list, &tableColumn{name: elementName(c.name, k), number: number, kind: d.Kind(of), database: of, element: k, source: c})
			}
		}
		if c.kind != dialect.Array {
			number++
		}
		c.number = number
	}
	return list
}

// named returns the elements of an array among the names of columns.
func named(names []string) func(c *tableColumn) []int {
	return func(c *tableColumn) (list []int) {
		for _, name := range names {
			digits, found := strings.CutPrefix(strings.TrimSuffix(name, "]"), c.name+"[")
			if k, err := strconv.Atoi(digits); found && err == nil && elementName(c.name, k) == name {
				list = append(list, k)
			}
		}
		slices.Sort(list)
		return slices.Compact(list)
	}
}

// readLengths reads the lengths of the longest arrays, in a statement for each server, and returns the elements of each.
//
// Errors: diag.Usage for arrays that are too long.
func (r *Rows) readLengths(ctx context.Context, l *layout) (func(c *tableColumn) []int, error) {
	var arrays []*tableColumn
	for _, c := range l.columns {
		dropped := slices.ContainsFunc(r.table.Drop, func(names string) bool { return names == c.name || slices.Contains(strings.Split(names, ","), c.name) })
		if c.isArray(r.dialect) && !dropped {
			arrays = append(arrays, c)
		}
	}
	longest := map[*tableColumn]int64{}
	if len(arrays) == 0 {
		return func(*tableColumn) []int { return nil }, nil
	}
	r.layout = l
	for shard := range r.shards {
		var q query
		lengths := make([]sql.NullInt64, len(arrays))
		for i, c := range arrays {
			q.add(r.dialect.Int("max("+r.dialect.Arrays.Length(r.dialect.Quote(c.name))+")"), &lengths[i])
		}
		if err := r.one(ctx, shard, &q, r.from()); err != nil {
			return nil, err
		}
		for i, c := range arrays {
			longest[c] = max(longest[c], lengths[i].Int64)
		}
	}
	r.count(func(t *Traffic) { t.Scans++ })
	for _, c := range arrays {
		if longest[c] > maxElements {
			return nil, &diag.Error{Kind: diag.Usage, Column: c.name, Found: "arrays with up to " + text.Count(int(longest[c])) + " numbers",
				Expected: "at most " + text.Count(maxElements), Fixes: []diag.Fix{{Param: "drop", Value: c.name}},
				Hint: "let the database write wide rows as LIBSVM, and train from these: the guide to databases has the statement"}
		}
	}
	return func(c *tableColumn) (list []int) {
		for k := 1; k <= int(longest[c]); k++ {
			list = append(list, k)
		}
		return list
	}, nil
}
