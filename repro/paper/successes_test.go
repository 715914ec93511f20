package paper

import (
	"slices"
	"testing"
)

// Every printed cell is read, and reading it back gives the cell.
func TestPrintedCellsAreRead(t *testing.T) {
	for i, row := range printedFails {
		e := entries()[i]
		problems, err := e.problems()
		if err != nil {
			t.Fatal(err)
		}
		var points []Point
		for _, p := range problems {
			points = append(points, Point{Lambda: p.Lambda, Beta: p.Beta, K: p.K})
		}
		for _, cell := range row {
			o, err := printedOutcomes(cell, e)
			if err != nil {
				t.Fatal(err)
			}
			got := describeSettings(points, e, func(p *Point) bool { return o[slices.Index(points, *p)] })
			if got != cell {
				t.Errorf("%s: %q is read as %q", e.Key(), cell, got)
			}
		}
	}
	if _, err := printedOutcomes("β about 1", entries()[4]); err == nil {
		t.Error("a cell without a number is read")
	}
}

// The paper's own observations hold in its own table, with its own exceptions.
func TestThePaperCountsItsSuccesses(t *testing.T) {
	c, err := printedSuccesses()
	if err != nil {
		t.Fatal(err)
	}
	// TopPushK: all on Ionosphere, Gisette and CTA, 18 of 36. Pat&Mat-NP: 5 + 5, 1 + 1, 6 + 6, 4 + 4, 6 + 6, 4 + 4 = 52 of 72.
	if a, of, sets, ofSets := c.tally("toppushk", false); a != 18 || of != 36 || sets != 3 || ofSets != 6 {
		t.Errorf("TopPushK: %d of %d, %d of %d sets", a, of, sets, ofSets)
	}
	if a, of, sets, _ := c.tally("patmat-np", false); a != 52 || of != 72 || sets != 6 {
		t.Errorf("Pat&Mat-NP: %d of %d, %d sets", a, of, sets)
	}
	for _, check := range [][2]string{
		{c.fewer("toppushk", "patmat-np"), "yes: 50.0 % and 72.2 %"},
		{c.fewer("patmat-np", "toppushk"), "no: 72.2 % and 50.0 %"},
		{c.everywhere(), "Pat&Mat and Pat&Mat-NP"},
		{c.upToBeta(), "20 of 24 cells; not on Spambase"},
		{c.topMeanSucceeds(), "τ = 0.03 on CTA"},
	} {
		if check[0] != check[1] {
			t.Errorf("%q, want %q", check[0], check[1])
		}
	}
}

// Outcomes that are not known do not count.
func TestUnknownOutcomesDoNotCount(t *testing.T) {
	list := make([]outcomes, len(tableEntries()))
	list[1] = outcomes{true, false, false, false, false, false}
	c := successCounts{"CTA": list}
	if a, of, sets, ofSets := c.tally("toppushk", false); a != 1 || of != 6 || sets != 1 || ofSets != 1 {
		t.Errorf("%d of %d, %d of %d sets", a, of, sets, ofSets)
	}
	if got := c.fewer("toppushk", "patmat-np"); got != "-" {
		t.Errorf("%q", got)
	}
	if got := c.upToBeta(); got != "-" {
		t.Errorf("%q", got)
	}
}
