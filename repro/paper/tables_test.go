package paper

import (
	"context"
	"strings"
	"testing"

	"toptau/internal/app/report"
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

// The tables that are the same in every run have no character that LaTeX does not know.
func TestFixedTablesAreLaTeX(t *testing.T) {
	for _, item := range []func(context.Context, *study) (*Piece, error){errataItem, criteriaItem, methodsItem} {
		p, err := item(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, named := range p.Tables {
			for _, r := range string(latex(named.Name, named.Table)) {
				if r > 127 {
					t.Errorf("table %s has %q", named.Name, r)
				}
			}
			for i, row := range named.Table.Rows {
				if len(row) != len(named.Table.Header) {
					t.Errorf("table %s, row %d has %d cells", named.Name, i, len(row))
				}
			}
		}
	}
}

// Table "methods" has the paper's column of sources, and Table "criteria" every method once.
func TestColumnsOfThePaper(t *testing.T) {
	p, err := methodsItem(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	table := p.Tables[0].Table
	if table.Header[1] != "source" || !strings.Contains(table.Caption, "agree") {
		t.Errorf("%q, %q", table.Header, table.Caption)
	}
	known := 0
	for _, row := range table.Rows {
		if !strings.HasPrefix(row[1], "Ours") {
			known++
		}
	}
	if known != 2 {
		t.Errorf("%d methods are not the authors' own, the paper has TopPush and Grill", known)
	}
	p, err = criteriaItem(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	of := ""
	for _, row := range p.Tables[0].Table.Rows {
		of += row[len(row)-1] + ", "
	}
	if n := strings.Count(of, ", "); n != 8 {
		t.Errorf("%d methods have a criterion: %s", n, of)
	}
}

// Without a set no item has anything to say, and none fails.
func TestItemsWithoutSets(t *testing.T) {
	st := &study{o: Options{Seeds: 2, Adam: true, Zero: true, Certified: true, Random: true}}
	for _, i := range []string{"findings", "observations", "claims", "fails", "curves", "optimum", "starts", "scaling", "times"} {
		for _, item := range items() {
			if item.name != i {
				continue
			}
			p, err := item.make(context.Background(), st)
			if err != nil {
				t.Errorf("%s: %v", i, err)
			}
			if i == "findings" && p != nil {
				t.Errorf("findings without a set: %q", p.Text)
			}
		}
	}
}
