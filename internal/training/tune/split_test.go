package tune

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"toptau/diag"
	"toptau/internal/data/table"
)

// labels returns the given number of positives, then of negatives.
func labels(positives, negatives int) []table.Class {
	return append(slices.Repeat([]table.Class{table.Positive}, positives),
		slices.Repeat([]table.Class{table.Negative}, negatives)...)
}

func divide(t interface{ Fatal(...any) }, c Cut, label []table.Class) [][]int {
	parts, err := c.Divide(label)
	if err != nil {
		t.Fatal(err)
	}
	return parts
}

func sizes(label []table.Class, parts [][]int) string {
	var text []string
	for _, part := range parts {
		c := CountRows(label, part)
		text = append(text, fmt.Sprintf("%d+%d", c.Positives, c.Negatives))
	}
	return strings.Join(text, " ")
}

// The sizes of the paper's Table "counts" for ionosphere (175, 88, 88), and what happens with hardly any
// positives.
func TestStratifiedSizes(t *testing.T) {
	halves := []float64{2, 1, 1}
	tests := []struct {
		positives, negatives int
		shares               []float64
		want                 string
	}{
		{126, 225, halves, "63+112 32+56 31+57"},
		{8, 8, halves, "4+4 2+2 2+2"},
		{4, 100, halves, "2+50 1+25 1+25"},
		{3, 100, halves, "1+50 1+25 1+25"},
		{2, 100, halves, "1+50 1+25 0+25"},
		{1, 100, halves, "1+50 0+25 0+25"},
		{0, 4, halves, "0+2 0+1 0+1"},
		{5, 100, []float64{0.98, 0.01, 0.01}, "3+98 1+1 1+1"},
		{3, 3, []float64{0.98, 0.01, 0.01}, "1+1 1+1 1+1"},
		{10, 10, []float64{1, 1}, "5+5 5+5"},
		{10, 0, []float64{1}, "10+0"},
	}
	for _, test := range tests {
		label := labels(test.positives, test.negatives)
		c := Cut{Shares: test.shares, Seed: 1}
		got := sizes(label, divide(t, c, label))
		if got != test.want {
			t.Errorf("%d+%d by %v: %s, want %s", test.positives, test.negatives, test.shares, got, test.want)
		}
	}
}

// cutOf draws a cut with its labels.
func cutOf(t *rapid.T) (Cut, []table.Class) {
	class := rapid.SampledFrom([]table.Class{table.Negative, table.Negative, table.Positive, table.Unknown})
	label := rapid.SliceOfN(class, 0, 60).Draw(t, "label")
	c := Cut{
		Shares: rapid.SliceOfN(rapid.Float64Range(0.05, 1), 1, 5).Draw(t, "shares"),
		Seed:   rapid.Uint64().Draw(t, "seed"),
	}
	if rapid.Bool().Draw(t, "grouped") {
		for range label {
			c.Group = append(c.Group, rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", ""}).Draw(t, "group"))
		}
	}
	if rapid.Bool().Draw(t, "timed") {
		c.Time = []int{}
		for range label {
			c.Time = append(c.Time, rapid.IntRange(0, 20).Draw(t, "time"))
		}
	}
	return c, label
}

// Every labelled row is in exactly one part, groups do not straddle, periods do not overlap, and it is
// repeatable.
func TestCutRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, label := cutOf(t)
		parts := divide(t, c, label)
		if again := divide(t, c, label); fmt.Sprint(again) != fmt.Sprint(parts) {
			t.Fatalf("not repeatable: %v, %v", parts, again)
		}
		if len(parts) != len(c.Shares) {
			t.Fatalf("%d parts for %d shares", len(parts), len(c.Shares))
		}
		where := slices.Repeat([]int{-1}, len(label))
		for p, rows := range parts {
			if !slices.IsSorted(rows) {
				t.Fatalf("part %d is not ascending: %v", p, rows)
			}
			for _, row := range rows {
				if where[row] >= 0 {
					t.Fatalf("row %d is in two parts", row)
				}
				where[row] = p
			}
		}
		for row, class := range label {
			if (where[row] >= 0) != (class != table.Unknown) {
				t.Fatalf("row %d of class %d is in part %d", row, class, where[row])
			}
		}
		for a := range label {
			for b := range label {
				if where[a] < 0 || where[b] < 0 {
					continue
				}
				if c.Group != nil && c.Group[a] == c.Group[b] && where[a] != where[b] {
					t.Fatalf("group %q is in parts %d and %d", c.Group[a], where[a], where[b])
				}
				if c.Group == nil && c.Time != nil && where[a] < where[b] && c.Time[a] >= c.Time[b] {
					t.Fatalf("time %d is in part %d, time %d in part %d", c.Time[a], where[a], c.Time[b], where[b])
				}
			}
		}
	})
}

// Without groups and time: the sizes are as near to the shares as whole numbers can be, no part lacks a class
// that has enough rows, and the choice of the positives does not depend on the negatives.
func TestStratification(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		positives, negatives := rapid.IntRange(0, 80).Draw(t, "positives"), rapid.IntRange(0, 80).Draw(t, "negatives")
		c := Cut{Shares: rapid.SliceOfN(rapid.Float64Range(0.2, 1), 1, 4).Draw(t, "shares"), Seed: rapid.Uint64().Draw(t,
			"seed")}
		label := labels(positives, negatives)
		parts := divide(t, c, label)
		fractions := c.fractions()
		for p, rows := range parts {
			got := CountRows(label, rows)
			for _, class := range []struct {
				name         string
				got, of, off int
			}{{"positives", got.Positives, positives, 1}, {"negatives", got.Negatives, negatives, 2}} {
				if class.of >= len(parts) && class.got == 0 {
					t.Fatalf("part %d has none of %d %s", p, class.of, class.name)
				}
				exact := float64(class.of) * fractions[p]
				if class.of*10 > 100*len(parts) && math.Abs(float64(class.got)-exact) > float64(class.off) {
					t.Fatalf("part %d has %d of %d %s, exactly %v", p, class.got, class.of, class.name, exact)
				}
			}
		}
		more := divide(t, c, labels(positives, negatives+7))
		for p := range parts {
			for _, row := range parts[p] {
				if row < positives && !slices.Contains(more[p], row) {
					t.Fatalf("positive %d has left part %d with more negatives", row, p)
				}
			}
		}
	})
}

// Every row has the same chance to come into each part: a count of 400 at probability 1/4 lies within 5
// standard deviations, for each of 12 rows.
func TestSplitIsUniform(t *testing.T) {
	label := labels(4, 8)
	const draws = 1600
	counts := make([]int, len(label))
	for seed := range uint64(draws) {
		for _, row := range divide(t, Cut{Shares: []float64{2, 1, 1}, Seed: seed}, label)[1] {
			counts[row]++
		}
	}
	for row, n := range counts {
		if math.Abs(float64(n)-draws/4) > 5*math.Sqrt(draws*3/16) {
			t.Errorf("row %d came into the second part %d times of %d", row, n, draws)
		}
	}
}

// Groups of any size leave no part without a class, and come near to the shares.
func TestGroupedSplitBalances(t *testing.T) {
	var label []table.Class
	var group []string
	for g := range 60 { // groups of 1 to 7 rows, every fourth of positives
		for range 1 + g%7 {
			label = append(label, table.Class(map[bool]int8{true: 1}[g%4 == 0]))
			group = append(group, fmt.Sprint(g))
		}
	}
	for seed := range uint64(20) {
		c := Cut{Shares: []float64{2, 1, 1}, Seed: seed, Group: group}
		parts := divide(t, c, label)
		total := CountRows(label, slices.Concat(parts...))
		for p, want := range []float64{0.5, 0.25, 0.25} {
			got := CountRows(label, parts[p])
			if math.Abs(float64(got.Positives)-want*float64(total.Positives)) > 7 ||
				math.Abs(float64(got.Negatives)-want*float64(total.Negatives)) > 7 {
				t.Errorf("seed %d, part %d: %v of %v", seed, p, got, total)
			}
		}
	}
	same := divide(t, Cut{Shares: []float64{2, 1, 1}, Seed: 1, Group: group}, label)
	other := divide(t, Cut{Shares: []float64{2, 1, 1}, Seed: 2, Group: group}, label)
	if fmt.Sprint(same) == fmt.Sprint(other) {
		t.Error("the seed does not change the groups")
	}
}

func TestTimeOrderedParts(t *testing.T) {
	label := labels(4, 4)
	c := Cut{Shares: []float64{2, 1, 1}, Time: []int{7, 6, 5, 4, 3, 2, 1, 0}}
	if got := fmt.Sprint(divide(t, c, label)); got != "[[4 5 6 7] [2 3] [0 1]]" {
		t.Error(got)
	}
	c.Time = []int{0, 0, 0, 0, 0, 1, 1, 1}
	if got := fmt.Sprint(divide(t, c, label)); got != "[[0 1 2 3 4] [] [5 6 7]]" && got != "[[0 1 2 3 4] [5 6 7] []]" {
		t.Error(got)
	}
}

func TestFolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, label := cutOf(t)
		k := rapid.IntRange(2, 6).Draw(t, "k")
		folds, err := c.Folds(label, k)
		if err != nil {
			t.Fatal(err)
		}
		if want := k - map[bool]int{true: 1}[c.Time != nil]; len(folds) != want {
			t.Fatalf("%d rounds, want %d", len(folds), want)
		}
		known := 0
		for _, class := range label {
			if class != table.Unknown {
				known++
			}
		}
		validated := 0
		for i, fold := range folds {
			validated += len(fold.Validation)
			both := slices.Concat(fold.Train, fold.Validation)
			slices.Sort(both)
			if len(slices.Compact(both)) != len(fold.Train)+len(fold.Validation) {
				t.Fatalf("round %d validates on rows it trains on", i)
			}
			if c.Time == nil && len(both) != known {
				t.Fatalf("round %d uses %d of %d rows", i, len(both), known)
			}
			if c.Time != nil && c.Group == nil && len(fold.Train) > 0 && len(fold.Validation) > 0 {
				latest, earliest := 0, math.MaxInt
				for _, row := range fold.Train {
					latest = max(latest, c.Time[row])
				}
				for _, row := range fold.Validation {
					earliest = min(earliest, c.Time[row])
				}
				if latest >= earliest {
					t.Fatalf("round %d trains on time %d and validates on %d", i, latest, earliest)
				}
			}
		}
		if c.Time == nil && validated != known {
			t.Fatalf("%d of %d rows validated", validated, known)
		}
	})
}

func TestCutWrong(t *testing.T) {
	label := labels(2, 2)
	for _, c := range []Cut{
		{}, {Shares: []float64{1, 0}}, {Shares: []float64{1, -1}}, {Shares: []float64{math.NaN()}},
		{Shares: []float64{math.Inf(1)}},
		{Shares: []float64{1}, Group: []string{"a"}}, {Shares: []float64{1}, Time: []int{1}},
	} {
		if parts, err := c.Divide(label); diag.Of(err) == nil {
			t.Errorf("%+v: %v, %v", c, parts, err)
		}
	}
	if _, err := (Cut{}).Folds(label, 1); diag.Of(err) == nil {
		t.Error("one fold")
	}
}

func TestTimeline(t *testing.T) {
	ranks := func(values ...string) string {
		line := make([]int, len(values))
		for i := range line {
			line[i] = i + 2
		}
		r, err := Timeline(&table.Table{File: "f.csv", Line: line, Time: &table.Text{Name: "when", Values: values}})
		if err != nil {
			if diag.Of(err) == nil {
				t.Errorf("%v is not a fault", err)
			}
			return err.Error()
		}
		return fmt.Sprint(r)
	}
	for _, test := range []struct {
		want   string
		values []string
	}{
		{"[2 0 1 0]", []string{"10", "-1", "9.5", "-1.0"}},
		{"[1 0 2]", []string{"2024-05-31 10:00:00", "2024-05-31", "2024-05-31 10:00:00.5"}},
		{"[1 0]", []string{"2024-05-31T10:00:00Z", "2024-05-31T10:00:00+02:00"}},
		{`f.csv:3: column "when": "soon", expected a number, as "1" in the first row`, []string{"1", "soon"}},
		{`f.csv:3: column "when": "2024-05-31", expected a number, as "1" in the first row`, []string{"1", "2024-05-31"}},
		{`f.csv:3: column "when": "1", expected a number, or a date such as 2024-05-31 23:59:59`, []string{"2024-05-31", "1"}},
		{`f.csv:2: column "when": "", expected a number, or a date such as 2024-05-31 23:59:59`, []string{""}},
		{`f.csv:2: column "when": "NaN", expected a number, or a date such as 2024-05-31 23:59:59`, []string{"NaN"}},
	} {
		if got := ranks(test.values...); got != test.want {
			t.Errorf("%q: %s, want %s", test.values, got, test.want)
		}
	}
	if r, err := Timeline(&table.Table{}); r != nil || err != nil {
		t.Error("ranks without a time column")
	}
}
