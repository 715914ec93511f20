package paper

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The page about the findings leaves verdicts and figures to the run, so that none differs from the tables.
func TestPageHasNoVerdictOfItsOwn(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "results", "paper.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range ownVerdicts(string(page)) {
		t.Errorf("docs/results/paper.md has %q outside the findings of the run", problem)
	}
	// The title, the line with the run, and the first paragraph.
	if head := strings.SplitN(string(page), "\n\n", 4); !strings.Contains(head[2], "errata.md") {
		t.Error("the first paragraph of docs/results/paper.md does not lead to the errata")
	}
}

// verdictWords and resultNumbers are what only the run may write: verdicts, differences with intervals, and
// counted cells.
var (
	verdictWords  = regexp.MustCompile(`(?i)\b(confirmed|refuted|contradicted|undecided)\b`)
	resultNumbers = regexp.MustCompile(`[+-]?\d+\.\d+ \[|\[[+-]?\d+\.\d|\b\d+ of \d+ (cells|sets|settings|cases)\b`)
)

// ownVerdicts returns verdicts and results in a text.
func ownVerdicts(text string) []string {
	return append(verdictWords.FindAllString(text, -1), resultNumbers.FindAllString(text, -1)...)
}

func TestOwnVerdictsAreFound(t *testing.T) {
	for text, want := range map[string]int{
		"TopMean is Confirmed, by 2.2 ranks [1.0, 3.5].": 2,
		"It succeeds in 24 of 24 cells.":                 1,
		"The verdict needs 14 ranks with two sets.":      0,
	} {
		if got := ownVerdicts(text); len(got) < want || want == 0 && len(got) > 0 {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// The committed table of conclusions has no verdict that its intervals do not show.
func TestCommittedVerdictsFollowTheirIntervals(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(committed, "claims.csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows := readTable(t, string(content))
	if len(rows) < 21 {
		t.Fatalf("%d rows, want at least the twenty conclusions and a header", len(rows))
	}
	column := func(name string) int {
		for j, title := range rows[0] {
			if title == name {
				return j
			}
		}
		t.Fatalf("no column %q", name)
		return -1
	}
	verdict, parts := column("verdict"), column("parts shown")
	all, without := column("real sets, all methods"), column("real sets, without collapsed")
	interval := regexp.MustCompile(`\[([+-][\d.e-]+), ([+-][\d.e-]+)\]`)
	for _, row := range rows[1:] {
		text := row[without]
		if text == "-" {
			text = row[all]
		}
		ends := interval.FindStringSubmatch(text)
		if ends == nil {
			if row[verdict] != "-" {
				t.Errorf("%s: %s without an interval", row[0], row[verdict])
			}
			continue
		}
		below, above := strings.HasPrefix(ends[2], "-"), strings.HasPrefix(ends[1], "+") && ends[1] != "+0.0"
		shown, of, _ := strings.Cut(strings.SplitN(row[parts], ",", 2)[0], " of ")
		switch row[verdict] {
		case confirmed:
			if !below || shown != of {
				t.Errorf("%s: confirmed by %s, with %s parts", row[0], text, row[parts])
			}
		case onAverage:
			if !below {
				t.Errorf("%s: %s by %s", row[0], onAverage, text)
			}
		case contradicted, averageNot:
			if !above {
				t.Errorf("%s: %s by %s", row[0], row[verdict], text)
			}
		case undecided:
			if below || above {
				t.Errorf("%s: undecided by %s", row[0], text)
			}
		default:
			t.Errorf("%s: %q", row[0], row[verdict])
		}
	}
}

// The committed errata are those of the code.
func TestCommittedErrataAreTheList(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(committed, "errata.csv"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := errataItem(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if string(content) != string(commaSeparated(p.Tables[0].Table)) {
		t.Error("repro/pages/errata.csv is not the list of this build: run toptau-paper errata and copy errata.*")
	}
}

// Every erratum with a check names one that has counterexamples, and every refuted statement of the paper is
// an erratum.
func TestErrataHaveTheirChecks(t *testing.T) {
	refuted := map[string]bool{"ordering": true}
	for _, c := range claimsOfPaper() {
		refuted[c.Name] = c.Refuted
	}
	for _, e := range errata() {
		if e.check != "" && !refuted[e.check] || e.kind == errorStatement && e.check == "" {
			t.Errorf("%s: the check %q is not a refuted statement", e.place, e.check)
		}
	}
	places := errataAt("")
	for _, want := range []string{"Introduction", "Section 2.2", "Lemma A.1", "Lemma A.6", "Table \"example\"", "Figure \"thresholds\""} {
		found := false
		for _, note := range places {
			found = found || strings.HasPrefix(note, want)
		}
		if !found {
			t.Errorf("no erratum at %s", want)
		}
	}
}

// readTable reads a table as CSV.
func readTable(t *testing.T, content string) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(content)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
