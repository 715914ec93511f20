package repository_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toptau/internal/core/heldout"
	"toptau/threshold"
)

// readText returns a file of the repository with single blanks instead of white space.
func readText(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(string(content)), " ")
}

// Figures in sentences are those of the pages of results, and of the output that the same page shows.
func TestFiguresInProse(t *testing.T) {
	var sets []struct {
		LR, GBDT, TopTau float64
	}
	content, err := os.ReadFile("docs/results/quality.json")
	if err == nil {
		err = json.Unmarshal(content, &sets)
	}
	if err != nil {
		t.Fatal(err)
	}
	var overLR, overGBDT float64
	for _, s := range sets {
		overLR += (s.TopTau - s.LR) / float64(len(sets))
		overGBDT += (s.TopTau - s.GBDT) / float64(len(sets))
	}
	match := func(path, pattern string) []string {
		found := regexp.MustCompile(pattern).FindStringSubmatch(readText(t, path))
		if found == nil {
			t.Fatalf("%s has nothing like %s", path, pattern)
		}
		return found[1:]
	}
	const index, readme = "docs/results/README.md", "README.md"
	at := match("docs/results/thresholds.md", `Mean R over cells: ([0-9.]+) at 0.1 %, ([0-9.]+) at 1 %, ([0-9.]+) at 5 %`)
	passed := match("docs/results/thresholds.md", `R <= 1.05 \+ 2 standard errors in \d+ of \d+ \(([0-9.]+ %)\), goal ([0-9]+ %)`)
	var count, loss float64
	if _, err := fmt.Sscan(strings.Join(match("docs/results/money.csv", `german,"[^"]*",20 %,12,([0-9.]+),[0-9.]+,([0-9.]+),`), " "), &count, &loss); err != nil {
		t.Fatal(err)
	}
	smallest := func(enough func(n int) bool) int {
		n := 1
		for !enough(n) {
			n++
		}
		return n
	}
	alpha, delta := threshold.MustRate("1%"), threshold.MustRate("5%")
	needed := func(groups int) int {
		return smallest(func(n int) bool {
			deltas, err := heldout.Jointly(slices.Repeat([]int{n}, groups), alpha, delta)
			return err == nil && !slices.Contains(deltas, threshold.Rate{})
		})
	}
	one, more := needed(1), func(groups int) float64 { return 100 * (float64(needed(groups))/float64(needed(1)) - 1) }
	size := match(readme, `positive; ([0-9,]+) weights `)
	for _, c := range []struct{ path, want string }{
		{readme, fmt.Sprintf("The chart has the test parts of %d public data sets", len(sets))},
		{readme, fmt.Sprintf("finds %.1f points more of the positives than logistic regression, and %.1f more than a tuned gradient boosting", overLR, overGBDT)},
		{index, fmt.Sprintf("%.1f points more positives at 1 %% false alarms than logistic regression over %d sets, %.1f more than boosting", overLR, len(sets), overGBDT)},
		{index, fmt.Sprintf("plain thresholds have %s of the allowed false alarms at 0.1 %%, %s at 1 %% and %s at 5 %%; %s of the cells pass, goal %s", at[0], at[1], at[2], passed[0], passed[1])},
		{index, fmt.Sprintf("finds %.1f points more of the money where amounts can be seen", loss-count)},
		{"docs/guide/data-science.md", fmt.Sprintf("that found [%.1f points more of the money](../results/money.csv)", loss-count)},
		{"docs/guide/guarantees.md", fmt.Sprintf("%d negatives in each branch; together %.0f %% more for 2 branches, %.0f %% for 10", one, more(2), more(10))},
		{"docs/guide/guarantees.md", fmt.Sprintf("%d negatives that do not train; 773 cost less recall", one)},
		{readme, "leaves of trees by default: " + size[0] + " of them in the example below"},
	} {
		if !strings.Contains(readText(t, c.path), c.want) {
			t.Errorf("%s lacks %q", c.path, c.want)
		}
	}
}
