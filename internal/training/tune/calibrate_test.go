package tune

import (
	"context"
	"math"
	"strings"
	"testing"

	"toptau/diag"
	"toptau/internal/data/table"
	"toptau/method"
	"toptau/result"
	"toptau/threshold"
)

// falseAlarms is the false positive rate of a model on fresh rows.
func falseAlarms(t *testing.T, f *Found, fresh *table.Table) float64 {
	t.Helper()
	above, negatives := 0, 0
	for row, z := range scoresOf(t, f.Map, f.W, f.Offset, fresh) {
		if fresh.Label[row] == table.Negative {
			negatives++
			if z > f.Threshold.Value {
				above++
			}
		}
	}
	return float64(above) / float64(negatives)
}

// How often the false positive rate of a freshly trained model is above the budget on fresh rows: at most
// delta plus three standard errors of the draws. The same for out-of-fold calibration, which is not
// certified, is logged with -v.
func TestGuaranteeHoldsForTheWholeOfSearch(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: 400 searches")
	}
	const draws, delta, alpha = 200, 0.1, 0.05
	fresh := simulated(10, 5000, 12345)
	violations, outOfFold, plain := 0, 0, 0
	for draw := range draws {
		o := linear(t, "--max-fpr 5%", method.Logistic)
		o.Seed, o.Folds = uint64(draw), 2
		data := simulated(60, 400, uint64(draw))
		if falseAlarms(t, find(t, data, o), fresh) > alpha {
			plain++
		}
		o.Delta = threshold.MustRate("10%")
		f := find(t, data, o)
		if !f.Threshold.Certified || f.Calibration.Positives != 0 || f.Calibration.Negatives < 45 {
			t.Fatalf("draw %d: %+v, calibration %v", draw, f.Threshold, f.Calibration)
		}
		if falseAlarms(t, f, fresh) > alpha {
			violations++
		}
		o.OutOfFold = true
		f = find(t, data, o)
		if f.Threshold.Certified || f.Threshold.Guarantee == nil || f.Calibration.Rows() != 0 {
			t.Fatalf("draw %d: %+v, calibration %v", draw, f.Threshold, f.Calibration)
		}
		if falseAlarms(t, f, fresh) > alpha {
			outOfFold++
		}
	}
	t.Logf("above the budget in %d draws: %d with the guarantee, %d out of fold, %d with the plain threshold", draws, violations,
		outOfFold, plain)
	if allowed := draws*delta + 3*math.Sqrt(draws*delta*(1-delta)); float64(violations) > allowed {
		t.Errorf("%d violations in %d draws, at most %.1f allowed", violations, draws, allowed)
	}
	if plain < draws/4 {
		t.Errorf("the plain threshold was above the budget in only %d of %d draws: this test could not fail", plain, draws)
	}
}

// A guarantee that the rows cannot give is refused before anything is fitted.
func TestNoGuarantee(t *testing.T) {
	weighted := simulated(60, 400, 1)
	for i := range weighted.Rows() {
		weighted.Weight = append(weighted.Weight, float64(1+i%2))
	}
	grouped := simulated(60, 400, 1)
	grouped.Group = &table.Text{Name: "host"}
	for i := range grouped.Rows() {
		grouped.Group.Values = append(grouped.Group.Values, string(rune('a'+i%200)))
	}
	for name, c := range map[string]struct {
		table *table.Table
		rate  string
		says  string
	}{
		"too few negatives":       {simulated(60, 400, 1), "0.1%", "2,302"},
		"importance weights":      {weighted, "5%", "importance weights"},
		"several rows per entity": {grouped, "5%", "several rows belong to one entity (host)"},
	} {
		for _, outOfFold := range []bool{false, true} {
			o := linear(t, "--max-fpr "+c.rate, method.Logistic)
			o.Delta, o.OutOfFold = threshold.MustRate("10%"), outOfFold
			o.Progress = func(p result.Progress) { t.Errorf("%s: work began: %+v", name, p) }
			_, err := Search(context.Background(), Data{Table: c.table}, o)
			e := diag.Of(err)
			if e == nil || e.Kind != diag.Guarantee || !strings.Contains(e.Error(), c.says) {
				t.Errorf("%s, out of fold %v: %v", name, outOfFold, err)
			}
		}
	}
}

// What speaks against a guarantee in the rows: entities with several rows, weights that differ within the
// population.
func TestAgainstGuarantee(t *testing.T) {
	label := []table.Class{table.Positive, table.Negative, table.Negative, table.Unknown}
	for name, c := range map[string]struct {
		weight []float64
		group  []string
		all    bool
		fitted bool
		want   string
	}{
		"nothing":                           {nil, nil, true, false, ""},
		"one row each":                      {nil, []string{"a", "b", "c", "c"}, true, false, ""},
		"positives share an entity":         {nil, []string{"a", "a", "b", "b"}, false, false, ""},
		"positives share one, and all rows": {nil, []string{"a", "a", "b", "b"}, true, false, "one entity"},
		"a positive that fits shares one":   {nil, []string{"b", "a", "b", "c"}, false, true, "one entity"},
		"negatives share one":               {nil, []string{"a", "b", "b", "c"}, false, false, "one entity"},
		"thinned negatives":                 {[]float64{1, 20, 20, 1}, nil, false, false, ""},
		"thinned negatives, all rows":       {[]float64{1, 20, 20, 1}, nil, true, false, "importance weights"},
		"weights":                           {[]float64{1, 2, 3, 1}, nil, false, false, "importance weights"},
	} {
		rows := &table.Table{Label: label, Weight: c.weight}
		if c.group != nil {
			rows.Group = &table.Text{Name: "host", Values: c.group}
		}
		if got := AgainstGuarantee(rows, c.all, c.fitted, false); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
