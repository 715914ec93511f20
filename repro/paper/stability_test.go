package paper

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"toptau/diag"
	"toptau/internal/core/matrix"
)

func TestChangesKeepTheRows(t *testing.T) {
	parts, err := probeRows().divide(division{shares: halfQuarterQuarter, seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	w := []float64{1, 3, 7}
	sorted := func(x *matrix.Matrix) ([]float64, []float64) {
		s := scoreRows(x, w)
		order := append(slices.Clone(s.Positives), s.Negatives...)
		slices.Sort(s.Positives)
		slices.Sort(s.Negatives)
		return append(s.Positives, s.Negatives...), order
	}
	all, order := sorted(parts.Training)
	seen := [][]float64{order}
	for _, c := range append(changesOf(solverAdam), changesOf(solverCertified)...) {
		x := c.apply(parts.Training)
		same, other := sorted(x)
		if !slices.Equal(same, all) {
			t.Errorf("%s: other rows", c)
		}
		rows, start, gap := x != parts.Training, c.jitter() > 0, c.gap() < certifiedGap
		if kind, _, _ := strings.Cut(string(c), "1"); rows != strings.HasPrefix(string(c), "rows") || start != (kind == "start") || gap != (kind == "gap") {
			t.Errorf("%s changes the rows: %v, the start: %v, the gap: %v", c, rows, start, gap)
		}
		if rows && slices.ContainsFunc(seen[:1], func(o []float64) bool { return slices.Equal(o, other) }) {
			t.Errorf("%s: the same order", c)
		}
		seen = append(seen, other)
	}
}

// TestStabilityCampaign runs a campaign, reads it in a run that marks its tables, and refuses damaged files.
func TestStabilityCampaign(t *testing.T) {
	if testing.Short() {
		t.Skip("a campaign takes seconds")
	}
	data := dataDirectory(t)
	o := Options{Sets: []string{"ionosphere"}, Data: data, Seeds: 1, Solver: solverAdam, Start: "zero", Out: t.TempDir()}
	r, err := Stability(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	// One split: plain, scaled, and three other steps.
	if r.Cells != 5*len(tableEntries()) || len(r.Text) == 0 || !strings.Contains(r.Text[0], "90 cells") {
		t.Errorf("%d cells: %s", r.Cells, r.Text)
	}
	want, err := os.ReadFile(r.File)
	if err != nil {
		t.Fatal(err)
	}
	if rows := strings.Count(string(want), "\n") - 1; rows != 4*r.Cells {
		t.Errorf("%d rows, want one and three changed ones for each of %d cells", rows, r.Cells)
	}
	// Another number of threads, continued from a part of the cells, gives the same bytes.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	cache := filepath.Join(o.Out, "cache", "ionosphere")
	files, err := os.ReadDir(cache)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range files {
		if i%7 == 0 {
			if err := os.Remove(filepath.Join(cache, f.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := Stability(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(r.File); string(got) != string(want) {
		t.Error("a continued campaign on one thread wrote other bytes")
	}

	o.Items = []string{"ranks", "fails", "stability"}
	if _, err := Run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	page, _ := os.ReadFile(filepath.Join(o.Out, "stability.md"))
	if !strings.Contains(string(page), "ADAM with other steps") || !strings.Contains(string(page), "ranks") {
		t.Errorf("the page of the campaign: %s", page)
	}
	marked := 0
	for name, content := range contents(t, o.Out) {
		table := name != "stability.csv" && filepath.Ext(name) == ".csv" || name == "index.html"
		if table && strings.Contains(content, strings.TrimSpace(unstableMark)) {
			marked++
		}
	}
	if marked < 2 {
		t.Errorf("%d files with marked cells, want a table and the page, because 351 random rows have ties at w = 0", marked)
	}
	for _, damaged := range []string{"", "cell\n", strings.Replace(string(want), ",1", ",one", 1)} {
		path := filepath.Join(t.TempDir(), "s.csv")
		if err := os.WriteFile(path, []byte(damaged), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := readStability(Options{Stable: path}); diag.Of(err) == nil || diag.Of(err).Kind != diag.Data {
			t.Errorf("a damaged file gave %v", err)
		}
	}
	_, err = readStability(Options{Stable: filepath.Join(t.TempDir(), "none")})
	if diag.Of(err) == nil || diag.Of(err).Kind != diag.IO {
		t.Errorf("a missing file gave %v", err)
	}
}
