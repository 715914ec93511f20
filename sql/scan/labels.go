package scan

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toptau/diag"
	"toptau/internal/data/table"
	"toptau/internal/models/dialect"
)

// maxLabels bounds the labels that are counted. A label with more values is probably a mistake, and the model keeps none of them.
const maxLabels = 1000

// readLabels counts the values of a label, for the model that is trained on the rows, and checks them against those of the model
// that reads them, as for files. It is one statement for each server.
func (r *Rows) readLabels(ctx context.Context) error {
	l, d := r.layout.label, r.dialect
	if l.kind == dialect.Other {
		return nil
	}
	trained, given := r.table.Trained, r.table.Positive
	if trained == nil {
		s := r.Schema()
		trained = &s
	} else if !r.table.Again {
		given = nil
	}
	if len(trained.Positive) == 0 && len(given) == 0 {
		given = []string{positiveByDefault} // a new label is negative, as in layout.conditions, and a note says so
	}
	labels, err := table.NewLabelReader(trained, given)
	if err != nil {
		return err
	}
	counts, of := map[string]int{}, map[string]int{}
	for k := range r.shards {
		var q query
		var name string
		var rows int64
		q.add("toptau_v", &name)
		q.add(d.Int("count(*)")+" AS toptau_n", &rows)
		clear(of)
		statement := "SELECT " + strings.Join(q.columns, ", ") + " FROM (SELECT " + d.String(d.Quote(l.name)) + " AS toptau_v FROM " + r.from(r.is.all) +
			") toptau_a GROUP BY toptau_v LIMIT " + fmt.Sprint(maxLabels+1)
		if err := r.query(ctx, k, statement, q.dest, func() { clear(of) }, func() error {
			of[strings.Clone(name)] += int(rows)
			return nil
		}); err != nil {
			return err
		}
		for name, rows := range of {
			counts[name] += rows
		}
	}
	r.count(func(t *Traffic) { t.Scans++ })
	e := diag.Error{Kind: diag.Data, File: r.title(), Column: l.name}
	for _, name := range byCount(counts) {
		if bare := strings.Trim(name, " \t"); bare != name && table.Names(r.table.Positive, bare) {
			e.Found, e.Expected, e.Hint = "the label "+diag.Quote(name)+" with blanks around it", "labels without them", "trim it in a view"
			return &e
		}
		labels.Add(name, counts[name])
	}
	if w, err := labels.Check(e); err != nil {
		return err
	} else if w != nil {
		r.notes = append(r.notes, *w)
	}
	if len(counts) <= maxLabels {
		r.labels, r.otherLabels = labels.Kept()
	}
	return nil
}

// byCount returns names by falling count, then by their bytes.
func byCount(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
}

// Notes returns what is noteworthy about the rows.
func (r *Rows) Notes() []diag.Warning { return r.notes }
