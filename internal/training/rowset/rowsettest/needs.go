// Package rowsettest checks what verbs need of rows in memory.
package rowsettest

import (
	"os"
	"strings"
	"testing"

	"toptau/diag"
	"toptau/internal/training/rowset"
)

// Needs are what uses of a verb need: one without options, and two that have all of them between them.
type Needs struct{ Plain, Full, Other rowset.Needs }

// Check tests that what a verb needs of rows in memory is refused for rows in a file and in a database by an error that names both, and is
// in the document. Nothing is refused for rows in memory, or for a use without options. Goals need not be among the uses, if free.
func Check(t *testing.T, n Needs, document string, free bool) {
	t.Helper()
	page, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Plain.Check(rowset.InDatabase); err != nil {
		t.Error(err)
	}
	if err := n.Full.Check(rowset.InMemory); err != nil {
		t.Errorf("rows in memory: %v", err)
	}
	for i, only := range n.Full {
		if goals := free && strings.HasPrefix(only.Param, "min-"); !only.Used && !n.Other[i].Used && !goals && only.Param != "segment" {
			t.Errorf("no case has %s%s", only.Param, only.Words)
		}
		only.Used = true
		for _, where := range []rowset.Place{rowset.InFile, rowset.InDatabase} {
			e := diag.Of(rowset.Needs{only}.Check(where))
			if e == nil || e.Kind != diag.Usage || e.Param != only.Param || !strings.Contains(e.Found, only.Words) || !strings.Contains(e.Found, string(where)) {
				t.Errorf("%s%s of %s: %v", only.Param, only.Words, where, e)
			}
		}
		if word := "`--" + only.Param + "`"; only.Words == "" && !strings.Contains(string(page), word) || !strings.Contains(string(page), only.Words) {
			t.Errorf("%s does not name %s%s", document, only.Param, only.Words)
		}
	}
}
