package tune

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/method"
)

// Identifiers that repeat show that several rows are about one thing: a card, a host, a patient. Such rows are not independent.

// RepeatedIDs describes rows that share an identifier: "6,000 rows have 1,200 values of card". Only rows for which counts is true are
// looked at, and of copies one. It returns "" if all identifiers differ, and if groups or entities are known.
func (u *Units) RepeatedIDs(t *table.Table, counts func(class table.Class) bool) string {
	if len(t.ID) == 0 || t.Group != nil || u.Column != "" {
		return ""
	}
	var hashes []uint64
	for row, class := range t.Label {
		if counts(class) && u.Counts(row) {
			h := fnv.New64a()
			empty := true
			for i := range t.ID {
				value := strings.TrimSpace(t.ID[i].Values[row])
				empty = empty && value == ""
				h.Write([]byte(value))
				h.Write([]byte{0})
			}
			if !empty {
				hashes = append(hashes, h.Sum64())
			}
		}
	}
	slices.Sort(hashes)
	rows := len(hashes)
	ids := len(slices.Compact(hashes))
	if ids == rows {
		return ""
	}
	var names []string
	for i := range t.ID {
		names = append(names, t.ID[i].Name)
	}
	return fmt.Sprintf("%s rows have %s of %s", text.Count(rows), text.Plural(ids, "value"), text.List(names, "and"))
}

// AgainstIDs returns why identifiers rule out a guarantee about a population, "" if they do not. fitted means that other rows of the table fit
// the model.
func (u *Units) AgainstIDs(t *table.Table, of method.Population, fitted bool) string {
	words := u.RepeatedIDs(t, func(class table.Class) bool {
		return class != table.Unknown && (fitted || of == method.AllRows || (of == method.Positives) == (class == table.Positive))
	})
	if words != "" {
		words += " and are not independent"
	}
	return words
}

// IDFixes are the options that count or keep together the rows of an identifier.
func IDFixes(t *table.Table) []diag.Fix {
	if len(t.ID) != 1 {
		return nil
	}
	return []diag.Fix{{Param: "entity", Value: t.ID[0].Name}, {Param: "group", Value: t.ID[0].Name}}
}

// IDWarning returns a warning about identifiers that repeat, nil if they all differ.
func (u *Units) IDWarning(t *table.Table) *Warning {
	words := u.RepeatedIDs(t, func(class table.Class) bool { return class != table.Unknown })
	if words == "" {
		return nil
	}
	return &Warning{Code: "repeated-ids", Text: words + ": rows of one value are not independent, so rates may be worse and vary more than printed",
		Fixes: IDFixes(t)}
}
