package tune

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"toptau/internal/fault"
	"toptau/internal/feature"
	"toptau/internal/solver"
	"toptau/internal/table"
	"toptau/method"
	"toptau/metric"
	"toptau/threshold"
)

// gaussian is a table of two standard normal columns; positives are shifted by one along the first.
func gaussian(seed uint64, negatives, positives int) *table.Table {
	random := rand.New(rand.NewPCG(seed, 7))
	t := &table.Table{Columns: []table.Column{{Name: "a", Number: 1}, {Name: "b", Number: 2}}}
	for i := range negatives + positives {
		class, shift := table.Negative, 0.0
		if i < positives {
			class, shift = table.Positive, 1
		}
		t.Columns[0].Values = append(t.Columns[0].Values, random.NormFloat64()+shift)
		t.Columns[1].Values = append(t.Columns[1].Values, random.NormFloat64())
		t.Label = append(t.Label, class)
		t.Line = append(t.Line, i+1)
	}
	return t
}

// trueFPR is the exact false positive rate of the result's decision: a linear score of the normal negatives is normal, and
// the scores of three points tell its mean and deviation.
func trueFPR(t *testing.T, r *Result) float64 {
	scorer, err := feature.NewScorer(r.Map, r.Best().W, 0)
	if err != nil {
		t.Fatal(err)
	}
	points := &table.Table{Columns: []table.Column{{Name: "a", Number: 1, Values: []float64{0, 1, 0}},
		{Name: "b", Number: 2, Values: []float64{0, 0, 1}}}, Line: []int{1, 2, 3}}
	z := make([]float64, 3)
	if err := scorer.Scores(points, z); err != nil {
		t.Fatal(err)
	}
	deviation := math.Hypot(z[1]-z[0], z[2]-z[0])
	return 0.5 * math.Erfc((r.Threshold.Value-z[0])/deviation/math.Sqrt2)
}

// TestGuaranteeHoldsForTheWholeOfTrain counts how often the true false positive rate of a freshly trained model is above the
// budget: at most delta plus three standard errors of the draws.
func TestGuaranteeHoldsForTheWholeOfTrain(t *testing.T) {
	const draws, delta, alpha = 200, 0.1, 0.05
	topmean, err := method.ByName("topmean-np")
	if err != nil {
		t.Fatal(err)
	}
	violations, plain := 0, 0
	for draw := range draws {
		options := Options{Goal: metric.Goal{Kind: metric.GoalMaxFPR, Rate: threshold.MustRate("5%")}, Seed: uint64(draw),
			Methods: []method.Method{topmean}, Fitter: Paper{Options: solver.Options{Iterations: 30, Step: 0.1}}.Fit}
		data := Data{Table: gaussian(uint64(draw), 600, 100)}
		r, err := Train(context.Background(), data, options)
		if err != nil {
			t.Fatal(err)
		}
		if trueFPR(t, r) > alpha {
			plain++
		}
		options.Delta = threshold.MustRate("10%")
		if r, err = Train(context.Background(), data, options); err != nil {
			t.Fatal(err)
		}
		if !r.Threshold.Certified || r.Calibration.Positives != 0 || r.Calibration.Negatives < 45 {
			t.Fatalf("draw %d: %+v, calibration %v", draw, r.Threshold, r.Calibration)
		}
		if trueFPR(t, r) > alpha {
			violations++
		}
	}
	t.Logf("above the budget: %d of %d with the guarantee, %d of %d with the plain threshold", violations, draws, plain, draws)
	if allowed := draws*delta + 3*math.Sqrt(draws*delta*(1-delta)); float64(violations) > allowed {
		t.Errorf("%d violations in %d draws, at most %.1f allowed", violations, draws, allowed)
	}
	if plain < draws/4 {
		t.Errorf("the plain threshold was above the budget in only %d of %d draws: this test could not fail", plain, draws)
	}
}

// TestNoGuarantee lists what a guarantee cannot be given for: the plain threshold stays, and the error says why.
func TestNoGuarantee(t *testing.T) {
	weighted := gaussian(1, 600, 100)
	for range weighted.Rows() {
		weighted.Weight = append(weighted.Weight, 2)
	}
	grouped := gaussian(1, 600, 100)
	grouped.Group = &table.Text{Name: "host"}
	for i := range grouped.Rows() {
		grouped.Group.Values = append(grouped.Group.Values, string(rune('a'+i%200)))
	}
	for name, c := range map[string]struct {
		table *table.Table
		rate  string
		says  string
	}{
		"too few negatives":       {gaussian(1, 600, 100), "0.1%", "needs 2302"},
		"importance weights":      {weighted, "5%", "importance weights"},
		"several rows per entity": {grouped, "5%", "several rows belong to one entity (host)"},
	} {
		r, err := Train(context.Background(), Data{Table: c.table}, Options{
			Goal: metric.Goal{Kind: metric.GoalMaxFPR, Rate: threshold.MustRate(c.rate)}, Delta: threshold.MustRate("10%"),
			Fitter: Paper{Options: solver.Options{Iterations: 5}}.Fit})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		e := fault.Of(r.Threshold.NoGuarantee)
		if r.Threshold.Certified || e == nil || e.Kind != fault.Guarantee || !strings.Contains(e.Error(), c.says) {
			t.Errorf("%s: certified %v, %v", name, r.Threshold.Certified, r.Threshold.NoGuarantee)
		}
		if r.Calibration.Rows() != 0 {
			t.Errorf("%s: %v set aside for nothing", name, r.Calibration)
		}
	}
}
