package heldout

import (
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"toptau/calibrate"
	"toptau/metric"
	"toptau/threshold"
)

var precisionDraws = flag.Int("precision", 0, "TestPlainPrecisionIsKept: draws for each case, instead of 100 of one shift")

// A lowest precision without a guarantee is missed about half the time, and met on average. The shift of a case is that of the positives, in
// standard deviations; where few positives are above the goal, all thresholds that look precise enough are luck. The figures of
// docs/guide/guarantees.md:
//
//	go test ./internal/core/heldout -run TestPlainPrecisionIsKept -precision 2000 -v
func TestPlainPrecisionIsKept(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation")
	}
	draws := *precisionDraws
	if draws == 0 {
		draws = 100
	}
	for _, c := range []struct {
		rows, positives int
		rate            string
		shifts          []float64
	}{
		{200, 40, "80%", []float64{2, 2.5, 3, 3.5}}, {700, 100, "80%", []float64{2, 2.5, 3, 3.5}}, {1000, 50, "80%", []float64{2, 2.5, 3, 3.5}},
		{2000, 40, "50%", []float64{2, 2.5, 3, 3.5}}, {5000, 50, "90%", []float64{3, 3.5, 4}},
	} {
		goal := metric.RateGoal(metric.GoalMinPrecision, c.rate)
		for _, shift := range c.shifts {
			if *precisionDraws == 0 && shift != 3 {
				continue
			}
			d := mixture{prevalence: float64(c.positives) / float64(c.rows), shift: shift}
			r := rand.New(rand.NewPCG(uint64(c.rows), uint64(10*shift)))
			missed, none, inside := 0, 0, 0
			var excess, recalls float64
			for range draws {
				p, n := drawnOf(r, c.positives, shift), drawnOf(r, c.rows-c.positives, 0)
				at, err := ForLabelled(goal, threshold.Rate{}, nil, p, n)
				if err != nil {
					none++
					continue
				}
				recall, precision := d.rates(at.Value)
				if precision < goal.Rate.Float64() {
					missed++
				}
				if at.Expected.Low <= precision && precision <= at.Expected.High {
					inside++
				}
				excess += precision - goal.Rate.Float64()
				recalls += recall
			}
			found := float64(draws - none)
			t.Logf("%d rows, %d positive, shift %v, goal %s: missed %d of %d (%d without a threshold), mean %+.2f points, recall %.1f %% of %.1f; %d in the interval",
				c.rows, c.positives, shift, c.rate, missed, draws-none, none, 100*excess/found, 100*recalls/found, 100*d.best(goal.Rate.Float64()), inside)
			if float64(missed) > .52*found+3*math.Sqrt(.25*found) || excess/found < -.005-.3/math.Sqrt(found) {
				t.Errorf("%d rows, %d positive, shift %v, goal %s: missed %d of %d, mean %+.2f points", c.rows, c.positives, shift, c.rate, missed, draws, 100*excess/found)
			}
			if none > draws/20 {
				t.Errorf("%d rows, %d positive, shift %v, goal %s: %d without a threshold", c.rows, c.positives, shift, c.rate, none)
			}
		}
	}
}

// Where no threshold has the precision, those that seem to have it are luck, and nearly all have a note with the best precision of more real alerts.
// Where one has it with many positives, nearly none has.
func TestLuckyPrecisions(t *testing.T) {
	const draws = 100
	for _, c := range []struct {
		rows, positives int
		shift           float64
		rate            string
		unreachable     bool
	}{
		{2000, 200, 0.5, "50%", true}, {2000, 200, 1, "80%", true}, {2000, 200, 1, "95%", true},
		{200, 40, 3, "80%", false}, {60, 15, 3, "80%", false}, {100, 12, 4, "80%", false},
	} {
		r := rand.New(rand.NewPCG(uint64(c.rows), 5))
		goal := metric.RateGoal(metric.GoalMinPrecision, c.rate)
		d := mixture{prevalence: float64(c.positives) / float64(c.rows), shift: c.shift}
		if expected := d.best(goal.Rate.Float64()) * float64(c.positives); (expected < 1) != c.unreachable {
			t.Fatalf("%+v: %.1f positives are above the goal", c, expected)
		}
		noted, refused := 0, 0
		for range draws {
			at, err := ForLabelled(goal, threshold.Rate{}, nil, drawnOf(r, c.positives, c.shift), drawnOf(r, c.rows-c.positives, 0))
			switch {
			case err != nil:
				refused++
			case at.Lucky != nil:
				noted++
				if l := at.Lucky; l.Real >= fewReal || l.BestRows > 0 && (l.BestReal < fewReal || l.Rate >= goal.Rate.Float64()) {
					t.Errorf("%+v: %+v", c, *l)
				}
			}
		}
		if given := draws - refused; c.unreachable && noted < given*8/10 || !c.unreachable && noted > given/20 {
			t.Errorf("%+v: %d of %d thresholds have a note", c, noted, given)
		}
	}
}

func drawnOf(r *rand.Rand, n int, shift float64) []float64 {
	z := make([]float64, n)
	for i := range z {
		z[i] = r.NormFloat64() + shift
	}
	return z
}

// best returns the highest recall with a precision.
func (d mixture) best(rate float64) float64 {
	low, high := -10.0, 10.0
	for range 60 {
		middle := (low + high) / 2
		if _, precision := d.rates(middle); precision < rate {
			low = middle
		} else {
			high = middle
		}
	}
	recall, _ := d.rates(high)
	return recall
}

// The threshold is where the excess of real alerts is used up first, after its peak.
func TestPlainPrecisionByHand(t *testing.T) {
	for _, c := range []struct {
		labels     string // from the top
		rate       string
		rows, real int
	}{
		{"11110000", "80%", 5, 4},      // used up exactly
		{"1111100000", "80%", 6, 5},    // the next one would be below
		{"1111010011000", "70%", 7, 5}, // 7 of 10 would be enough again
		{"0111111000", "80%", 7, 6},    // starts below
		{"111", "80%", 3, 3},           // never
		{"1011", "75%", 1, 1},          // the first peak
		{"10", "50%", 2, 1},
	} {
		var p, n []float64
		for i, label := range c.labels {
			if label == '1' {
				p = append(p, -float64(i))
			} else {
				n = append(n, -float64(i))
			}
		}
		got, err := plainPrecision(rate(c.rate), p, n)
		if err != nil || got.Rows != c.rows || got.Real != c.real {
			t.Errorf("%s at %s: %+v, %v", c.labels, c.rate, got, err)
		}
		slices.Reverse(p) // the order does not matter
		if again, _ := plainPrecision(rate(c.rate), p, n); again != got {
			t.Errorf("%s at %s: %+v and %+v", c.labels, c.rate, got, again)
		}
	}
}

// Tied scores below the threshold are counted, because the precision is above the goal then. One row below is no tie.
func TestPlainPrecisionOfTiedScores(t *testing.T) {
	for _, c := range []struct {
		positives, negatives []float64
		tied                 *calibrate.Tied
	}{
		{[]float64{3, 3, 3, 3}, []float64{1, 1, 1}, &calibrate.Tied{Equal: 3, Counted: 4}},
		{[]float64{3, 3, 3, 3, 1}, []float64{1, 1, 1}, &calibrate.Tied{Equal: 4, Counted: 4}},
		{[]float64{3, 3, 3, 3}, []float64{1, 0, 0}, &calibrate.Tied{Equal: 2, Counted: 4}},
		{[]float64{6, 5, 4, 3}, []float64{2, 1, 0}, nil},
		{[]float64{6, 5, 4, 3}, []float64{2}, &calibrate.Tied{Equal: 0, Counted: 4}},
	} {
		at, err := ForLabelled(metric.RateGoal(metric.GoalMinPrecision, "70%"), threshold.Rate{}, nil, c.positives, c.negatives)
		if err != nil {
			t.Fatal(err)
		}
		if got := at.Expected.Tied; (got == nil) != (c.tied == nil) || got != nil && *got != *c.tied {
			t.Errorf("%v and %v: %+v, %+v", c.positives, c.negatives, at, got)
		}
	}
}
