package heldout

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"toptau/calibrate"
	"toptau/diag"
	"toptau/metric"
	"toptau/threshold"
)

// mixture is a distribution of labelled scores: normal ones with a shift of the positives, in steps if tied.
type mixture struct {
	prevalence, shift, step float64
}

// draw returns labelled scores of rows.
func (d mixture) draw(r *rand.Rand, rows int) (positives, negatives []float64) {
	for range rows {
		z := r.NormFloat64()
		real := r.Float64() < d.prevalence
		if real {
			z += d.shift
		}
		if d.step > 0 {
			z = float64(math.Floor(z/d.step) * d.step)
		}
		if real {
			positives = append(positives, z)
		} else {
			negatives = append(negatives, z)
		}
	}
	return positives, negatives
}

// rates returns the true recall and precision of score > t.
func (d mixture) rates(t float64) (recall, precision float64) {
	if d.step > 0 { // a score in steps is above t if the score itself reaches the next step
		k := math.Floor(t / d.step)
		for float64(k*d.step) <= t {
			k++
		}
		t = float64(k * d.step)
	}
	above := func(shift float64) float64 { return math.Erfc((t-shift)/math.Sqrt2) / 2 }
	recall = above(d.shift)
	found := float64(d.prevalence * recall)
	return recall, found / (found + float64((1-d.prevalence)*above(0)))
}

// violationsAllowed is the largest number of violations in a simulation: delta and three standard errors.
func violationsAllowed(draws int, delta float64) int {
	return int(float64(draws)*delta + 3*math.Sqrt(float64(draws)*delta*(1-delta)))
}

// With confidence 1 - delta the recall is at least the rate, also with tied scores; the threshold of the score itself
// would fail on them.
func TestRecallBySimulation(t *testing.T) {
	draws := drawsOf(2000)
	for _, d := range []mixture{{shift: 2}, {shift: 2, step: 0.1}, {shift: 2, step: 0.5}, {shift: 2, step: 100}} {
		for _, n := range []int{59, 60, 200} {
			r := rand.New(rand.NewPCG(uint64(n), 21))
			d.prevalence = 1
			broken, naive := 0, 0
			for range draws {
				z, _ := d.draw(r, n)
				at, err := thresholdOf(z, metric.RateGoal(metric.GoalMinRecall, "95%"), "5%")
				if err != nil {
					t.Fatal(err)
				}
				if recall, _ := d.rates(at.Value); recall < 0.95 {
					broken++
				}
				if recall, _ := d.rates(math.Nextafter(at.Value, math.Inf(1))); recall < 0.95 {
					naive++
				}
				if value, known, err := Check(at.Guarantee); err != nil || !known || value != at.Value {
					t.Fatalf("%v, %v, %v; the threshold is %v", value, known, err, at.Value)
				}
			}
			t.Logf("%+v, %d positives: %d of %d violations, %d without ties counted", d, n, broken, draws, naive)
			if broken > violationsAllowed(draws, 0.05) {
				t.Errorf("%+v, %d positives: %d of %d violations", d, n, broken, draws)
			}
			if d.step >= 0.5 && naive <= violationsAllowed(draws, 0.05) {
				t.Errorf("%+v, %d positives: %d violations with ties left out: the test cannot fail", d, n, naive)
			}
		}
	}
	_, err := thresholdOf(make([]float64, 58), metric.RateGoal(metric.GoalMinRecall, "95%"), "5%")
	if e := diag.Of(err); e == nil || e.Kind != diag.Guarantee || !strings.Contains(err.Error(), "59") {
		t.Error(err)
	}
}

// The plain threshold for a recall misses 1 - rate of the positives on average.
func TestPlainRecallUsesItsBudget(t *testing.T) {
	const draws = 2000
	d := mixture{prevalence: 1, shift: 1}
	for _, n := range []int{50, 333} {
		r := rand.New(rand.NewPCG(uint64(n), 22))
		sum := 0.0
		for range draws {
			z, _ := d.draw(r, n)
			at, err := thresholdOf(z, metric.RateGoal(metric.GoalMinRecall, "90%"), "")
			if err != nil {
				t.Fatal(err)
			}
			recall, _ := d.rates(at.Value)
			sum += 1 - recall
		}
		if missed := sum / draws; missed < 0.095 || missed > 0.105 {
			t.Errorf("%d positives: %.4f missed on average, want 0.1", n, missed)
		}
	}
}

// The precision of certified thresholds is at least the rate in all but a fraction delta of the draws, with ties, and
// most draws have a threshold. Plain thresholds are near the rate.
func TestPrecisionBySimulation(t *testing.T) {
	const delta = 0.1
	draws := 2000
	if testing.Short() {
		draws = 300
	}
	for _, c := range []struct {
		mixture
		rows   int
		rate   string
		most   float64 // fraction of the draws without a threshold
		recall string
		at     string // prevalence
	}{
		{mixture{0.1, 2.5, 0}, 1500, "80%", 0.2, "", ""}, {mixture{0.1, 2.5, 0.25}, 1500, "80%", 0.2, "", ""}, {mixture{0.3, 2.5, 0}, 300, "75%", 0.2, "", ""},
		{mixture{0.3, 3, 0}, 600, "80%", 0.2, "80%", ""},
		// Around the minimum, 11 real alerts: 20, 40 and 80 positives, without ties and with 4 scores a unit.
		{mixture{0.2, 3, 0}, 100, "80%", 1, "", ""}, {mixture{0.2, 3, 0}, 200, "80%", 1, "", ""}, {mixture{0.2, 3, 0.25}, 200, "80%", 1, "", ""}, {mixture{0.2, 3, 0}, 400, "80%", 0.5, "", ""},
		// Half of the positives, and a mix that is wrong.
		{mixture{0.3, 3, 0}, 1500, "60%", 0.2, "", "3%"}, {mixture{0.05, 3, 0.25}, 3000, "60%", 0.5, "", "3%"},
	} {
		r := rand.New(rand.NewPCG(uint64(c.rows), 23))
		goal := metric.RateGoal(metric.GoalMinPrecision, c.rate)
		if c.recall != "" {
			goal.Recall = rate(c.recall)
		}
		if c.at != "" {
			goal.Prevalence = rate(c.at)
		}
		var sequence []float64
		broken, none, found := 0, 0, 0.0
		plain, plains := 0.0, 0
		for draw := range draws {
			if draw%20 == 0 {
				p, n := c.draw(r, c.rows)
				var err error
				if sequence, err = PrecisionSequence(goal, rate("10%"), p, n); err != nil {
					t.Fatal(err)
				}
				if at, err := plainPrecision(goal.RateOn(len(p), len(n)), p, n); err == nil {
					_, precision := c.under(goal).rates(at.Threshold)
					plain += precision
					plains++
				}
			}
			p, n := c.draw(r, c.rows)
			at, err := ForLabelled(goal, rate("10%"), sequence, p, n)
			if err != nil {
				if e := diag.Of(err); e == nil || e.Kind != diag.Guarantee {
					t.Fatal(err)
				}
				none++
				continue
			}
			recall, precision := c.under(goal).rates(at.Value)
			if precision < goal.Rate.Float64() || !goal.Recall.IsZero() && recall < goal.Recall.Float64() {
				broken++
			}
			found += recall
			if value, known, err := Check(at.Guarantee); err != nil || !known || value != at.Value {
				t.Fatalf("%v, %v, %v; the threshold is %v", value, known, err, at.Value)
			}
		}
		t.Logf("%+v: %d of %d violations, %d without a threshold; recall %.3f; plain precision %.3f", c, broken, draws, none,
			found/float64(draws-none), plain/float64(plains))
		if broken > violationsAllowed(draws, delta) {
			t.Errorf("%+v: %d of %d violations", c, broken, draws)
		}
		if float64(none) > c.most*float64(draws) {
			t.Errorf("%+v: %d of %d draws without a threshold", c, none, draws)
		}
		if mean := plain / float64(plains); c.rows > 400 && c.step == 0 && math.Abs(mean-goal.Rate.Float64()) > 0.05 {
			t.Errorf("%+v: plain thresholds have a precision of %.3f", c, mean)
		}
	}
}

// under returns the mixture with the prevalence of a goal.
func (d mixture) under(g metric.Goal) mixture {
	if !g.Prevalence.IsZero() {
		d.prevalence = g.Prevalence.Float64()
	}
	return d
}

// What no threshold can reach is refused with the numbers: equal scores, no positives, too few alerts, both rates.
func TestUnreachablePrecision(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 24))
	positives, negatives := mixture{prevalence: 0.2, shift: 2}.draw(r, 1000)
	equal := slices.Repeat([]float64{1}, 100)
	sequence, err := PrecisionSequence(metric.Goal{Kind: metric.GoalMinPrecision, Rate: rate("80%")}, rate("10%"), positives, negatives)
	if err != nil {
		t.Fatal(err)
	}
	both := metric.RateGoal(metric.GoalMinPrecision, "80%")
	both.Recall = rate("97%")
	for name, c := range map[string]struct {
		call func() error
		says string
	}{
		"equal scores": {func() error {
			_, err := plainPrecision(rate("80%"), equal, equal)
			return err
		}, "100 of 200 alerts are real"},
		"no positives": {func() error {
			_, err := ForLabelled(metric.RateGoal(metric.GoalMinPrecision, "80%"), rate("10%"), sequence, nil, negatives)
			return err
		}, "at least 11 alerts"},
		"both": {func() error {
			_, err := ForLabelled(both, rate("10%"), sequence, positives, negatives)
			return err
		}, "no threshold reaches a precision of 0.8 and a recall of 0.97"},
		"both, plain": {func() error {
			_, err := ForLabelled(both, threshold.Rate{}, nil, positives, negatives)
			return err
		}, "no threshold reaches a precision of 0.8 and a recall of 0.97"},
	} {
		e := diag.Of(c.call())
		if e == nil || e.Kind != diag.Guarantee || !strings.Contains(e.Error(), c.says) {
			t.Errorf("%s: %v", name, e)
		}
	}
}

// Each number of a precision's evidence, when changed, is refused.
func TestPrecisionClaims(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 25))
	d := mixture{prevalence: 0.3, shift: 3}
	goal := metric.RateGoal(metric.GoalMinPrecision, "80%")
	goal.Recall = rate("80%")
	p, n := d.draw(r, 1000)
	sequence, err := PrecisionSequence(goal, rate("10%"), p, n)
	if err != nil {
		t.Fatal(err)
	}
	p, n = d.draw(r, 1000)
	at, err := ForLabelled(goal, rate("10%"), sequence, p, n)
	if err != nil {
		t.Fatal(err)
	}
	last := len(at.Guarantee.Tested) - 1
	for name, edit := range map[string]func(*calibrate.Guarantee){
		"rate":                  func(g *calibrate.Guarantee) { g.Rate = rate("95%") },
		"delta":                 func(g *calibrate.Guarantee) { g.Delta = rate("1e-6") },
		"bound":                 func(g *calibrate.Guarantee) { g.Bound *= 0.9 },
		"rows":                  func(g *calibrate.Guarantee) { g.Rows = 100 },
		"negatives":             func(g *calibrate.Guarantee) { g.Negatives = 0 },
		"real":                  func(g *calibrate.Guarantee) { g.Tested[last].Real-- },
		"alerts":                func(g *calibrate.Guarantee) { g.Tested[last].Rows++ },
		"order":                 func(g *calibrate.Guarantee) { slices.Reverse(g.Tested) },
		"none":                  func(g *calibrate.Guarantee) { g.Tested = nil },
		"recall":                func(g *calibrate.Guarantee) { g.Recall.Rate = rate("99%") },
		"no recall":             func(g *calibrate.Guarantee) { g.Recall.Delta = rate("10%") },
		"other bound of recall": func(g *calibrate.Guarantee) { g.Recall.Bound /= 2 },
		"lower recall": func(g *calibrate.Guarantee) {
			g.Recall.Tested = []calibrate.Alerts{{Threshold: at.Value - 1, Rows: 1, Real: 1}}
		},
		"prevalence": func(g *calibrate.Guarantee) { g.Prevalence = rate("1%") },
		"other kind": func(g *calibrate.Guarantee) { g.Kind = metric.GoalMaxFPR },
	} {
		edited := *at.Guarantee
		edited.Tested = slices.Clone(edited.Tested)
		recall := *edited.Recall
		edited.Recall = &recall
		edit(&edited)
		if _, _, err := Check(&edited); err == nil || reflect.DeepEqual(edited, *at.Guarantee) {
			t.Errorf("%s passes", name)
		}
	}
}
