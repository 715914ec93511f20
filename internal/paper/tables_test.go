package paper

import (
	"strings"
	"testing"

	"toptau/internal/report"
)

var sampleTable = report.Table{Caption: "Ranks & more", Header: []string{"method", "β_1"}, Numbers: []int{1}, Strong: []int{1},
	Rows: [][]string{{"Pat&Mat τ = 0.01", "4.2 ●"}, {"a|b, c", "50 %"}}}

func TestMarkdown(t *testing.T) {
	want := "Ranks & more\n\n| method | β_1 |\n| --- | ---: |\n| Pat&Mat τ = 0.01 | 4.2 ● |\n| **a\\|b, c** | **50 %** |\n"
	if got := string(markdown(sampleTable)); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestCSV(t *testing.T) {
	want := "method,β_1\nPat&Mat τ = 0.01,4.2 ●\n\"a|b, c\",50 %\n"
	if got := string(commaSeparated(sampleTable)); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestLaTeXEscapes(t *testing.T) {
	got := string(latex("x", sampleTable))
	for _, want := range []string{`\caption{Ranks \& more}`, `\label{tab:x}`, `{@{}lr@{}}`, `Pat\&Mat $\tau$ = 0.01 & 4.2 $\bullet$ \\`,
		`\textbf{a|b, c} & \textbf{50 \%} \\`, `$\beta$\_1`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	for _, r := range got {
		if r > 127 {
			t.Errorf("%q is not plain text of LaTeX", r)
		}
	}
}

func TestWhereNamesSettings(t *testing.T) {
	var points []Point
	for _, b := range []float64{0.0001, 0.001, 0.01, 0.1, 1, 10} {
		points = append(points, Point{Beta: b, Lambda: b, K: int(10000 * b), AtZero: 1})
	}
	var patmat, toppush, toppushk entry
	for _, e := range entries() {
		switch e.Key() {
		case "patmat-0.01":
			patmat = e
		case "toppush":
			toppush = e
		case "toppushk":
			toppushk = e
		}
	}
	for _, c := range []struct {
		e    entry
		beat string // + where F is below F(0)
		want string
	}{
		{patmat, "++++++", "all"}, {patmat, "------", "none"}, {patmat, "++++--", "β ≤ 0.1"}, {patmat, "-+----", "β = 0.001"},
		{toppush, "----++", "λ ≥ 1"}, {toppushk, "+-----", "k = 1"}, {patmat, "+-+---", "β = 0.0001, 0.01"}, {toppushk, "--++++", "k ≥ 100"},
	} {
		for i := range points {
			points[i].F = 1
			if c.beat[i] == '+' {
				points[i].F = 0.5
			}
		}
		if got := describeSettings(points, c.e, (*Point).Beats); got != c.want {
			t.Errorf("%s: %q, want %q", c.beat, got, c.want)
		}
	}
}

func TestPrintedTablesHaveTheirShape(t *testing.T) {
	if n := len(entries()); n != 14 || len(printedRanks) != n || len(printedFails) != n {
		t.Errorf("%d entries, %d rows of ranks, %d of fails", n, len(printedRanks), len(printedFails))
	}
	for i, row := range printedFails {
		if len(row) != len(failSets) {
			t.Errorf("row %d of fails has %d cells", i, len(row))
		}
	}
	// The paper's ranks of each criterion add up to 14 * 15/2, up to rounding.
	for k := range criterionCount {
		var sum float64
		for _, row := range printedRanks {
			sum += row[k]
		}
		if sum < 104 || sum > 106 {
			t.Errorf("printed ranks of criterion %d add up to %v", k, sum)
		}
	}
}
