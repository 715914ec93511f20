package alertlimit

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"toptau/calibrate"
	"toptau/internal/core/text"
	"toptau/internal/tests/provenance"
)

var update = flag.Bool("update", false, "write docs/results/alertlimit.csv again")

// The simulated stream: a limit of 200 alerts a day, 50,000 rows a day plus or minus 30 %, 0.4 % positives whose
// scores are three standard deviations above those of the negatives, and an operating point that 1 % of the
// negatives exceed.
const (
	simLimit     = 200
	simRows      = 50_000
	simSpread    = 0.3
	simPositives = 0.004
	simLift      = 3.0
	simPoint     = 2.326
)

// scenario is a kind of stream.
type scenario struct {
	name string
	// rate of arrivals at a fraction of day d, relative to the mean; at most 2
	rate   func(day int, time float64) float64
	shift  func(day int) float64       // of all scores
	round  func(score float64) float64 // nil: continuous scores
	sample int                         // rows of the reference; 0: none
	// the reference has no positives
	negatives bool
	expect    int // the forecast
}

func even(int, float64) float64 { return 1 }
func still(int) float64         { return 0 }
func weekend(day int, _ float64) float64 {
	if day%7 >= 5 {
		return 0.4
	}
	return 1.24
}
func busyNoon(_ int, t float64) float64 { return 1 - 0.9*math.Cos(2*math.Pi*t) }
func shiftAt(day, at int, by float64) float64 {
	if day >= at {
		return by
	}
	return 0
}

func scenarios() []scenario {
	return []scenario{
		{name: "steady", rate: even, shift: still, sample: 10_000, expect: simRows},
		{name: "busy at noon, quiet at night", rate: busyNoon, shift: still, sample: 10_000, expect: simRows},
		{name: "weekends with a third of the rows", rate: weekend, shift: still, sample: 10_000, expect: simRows},
		{name: "scores 0.5 higher from day 50 on", rate: even, shift: func(d int) float64 { return shiftAt(d, 50, 0.5) }, sample: 10_000, expect: simRows},
		{name: "scores in steps of 0.5", rate: even, shift: still, round: func(s float64) float64 { return math.Floor(2*s) / 2 }, sample: 10_000, expect: simRows},
		{name: "forecast five times too high", rate: even, shift: still, sample: 10_000, expect: 5 * simRows},
		{name: "no reference and no forecast", rate: even, shift: still},
		{name: "reference of 500 rows", rate: even, shift: still, sample: 500, expect: simRows},
		{name: "reference without positives", rate: even, shift: still, sample: 10_000, negatives: true, expect: simRows},
	}
}

// bestThreshold returns the threshold that the first day exceeds simLimit times on average.
func (c *scenario) bestThreshold() float64 {
	const rows = 500_000
	r := rand.New(rand.NewPCG(7, 7))
	scores := make([]float64, rows)
	for i := range scores {
		scores[i] = c.row(r, 0).score
	}
	slices.Sort(scores)
	return scores[rows-1-rows*simLimit/simRows]
}

// simRow is a row of a simulated day.
type simRow struct {
	time     float64 // of the day, from 0 to 1
	score    float64
	positive bool
}

func (c *scenario) row(r *rand.Rand, day int) simRow {
	row := simRow{time: r.Float64(), score: r.NormFloat64(), positive: r.Float64() < simPositives}
	for r.Float64()*2 > c.rate(day, row.time) { // by rejection
		row.time = r.Float64()
	}
	if row.positive {
		row.score += simLift
	}
	row.score += c.shift(day)
	if c.round != nil {
		row.score = c.round(row.score)
	}
	return row
}

// rows returns the rows of a day in their order.
func (c *scenario) rows(r *rand.Rand, day int) []simRow {
	mean := 0.0
	for i := range 100 {
		mean += c.rate(day, (float64(i)+0.5)/100) / 100
	}
	rows := make([]simRow, int(simRows*mean*(1+simSpread*(2*r.Float64()-1))))
	for i := range rows {
		rows[i] = c.row(r, day)
	}
	slices.SortFunc(rows, func(a, b simRow) int { return cmp.Compare(a.time, b.time) })
	return rows
}

// reference returns a sample of scores on day 0.
func (c *scenario) reference(r *rand.Rand) *calibrate.Sample {
	if c.sample == 0 {
		return nil
	}
	scores := make([]float64, c.sample)
	for i := range scores {
		for {
			row := c.row(r, 0)
			scores[i] = row.score
			if !row.positive || !c.negatives {
				break
			}
		}
	}
	return sampleAll(scores)
}

// sampleAll returns the sample that keeps every score.
func sampleAll(scores []float64) *calibrate.Sample {
	slices.Sort(scores)
	s := &calibrate.Sample{Rows: len(scores), Scores: scores}
	for i := range scores {
		s.Above = append(s.Above, len(scores)-1-i)
	}
	return s
}

// simResult counts the days of one rule.
type simResult struct {
	found  int // positives among the alerts
	alerts []int
}

func (s *simResult) add(found, alerts int) {
	s.found += found
	s.alerts = append(s.alerts, alerts)
}

// cells returns the positives found, and the least, most and mean alerts of a day.
func (s *simResult) cells(best int) []string {
	sum := 0
	for _, n := range s.alerts {
		sum += n
	}
	return []string{text.Percent(float64(s.found) / float64(best)), fmt.Sprint(slices.Min(s.alerts)), fmt.Sprint(slices.Max(s.alerts)),
		fmt.Sprintf("%.0f", float64(sum)/float64(len(s.alerts)))}
}

// simulate returns, over some days, the positives of the best rows in hindsight and the results of the budget, of
// a fixed threshold, and of a fixed threshold until the limit is reached.
func (c *scenario) simulate(t testing.TB, days int) (best int, results [3]simResult) {
	r := rand.New(rand.NewPCG(11, 5))
	reference := c.reference(r)
	threshold := max(simPoint, c.bestThreshold())
	b, err := newBudget(&stateFile{disk: &memoryDisk{}}, nil, Options{Limit: Limit{simLimit, Day}, Expect: c.expect, Reference: reference})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	for day := range days {
		rows := c.rows(r, day)
		var found, alerts [3]int
		for _, row := range rows {
			now := start.AddDate(0, 0, day).Add(time.Duration(row.time * float64(24*time.Hour)))
			hits := [3]bool{
				b.Decide(now, row.score, row.score > simPoint).Alert,
				row.score > threshold,
				row.score > threshold && alerts[2] < simLimit,
			}
			for k, hit := range hits {
				if hit {
					alerts[k]++
					if row.positive {
						found[k]++
					}
				}
			}
		}
		slices.SortStableFunc(rows, func(a, b simRow) int { return cmp.Compare(b.score, a.score) })
		for _, row := range rows[:simLimit] {
			if row.positive && row.score > simPoint {
				best++
			}
		}
		for k := range results {
			results[k].add(found[k], alerts[k])
		}
	}
	return best, results
}

// TestSimulation compares the rule with fixed thresholds on simulated streams. With -update it writes the table.
func TestSimulation(t *testing.T) {
	days, cases := 3, scenarios()
	if testing.Short() {
		days, cases = 1, cases[:1]
	}
	if *update {
		days = 100
	}
	table := [][]string{{"stream"}}
	for _, rule := range []string{"limit", "fixed threshold", "with a cap"} {
		for _, cell := range []string{"found", "least alerts a day", "most", "mean"} {
			table[0] = append(table[0], rule+": "+cell)
		}
	}
	for i, c := range cases {
		best, results := c.simulate(t, days)
		if most := slices.Max(results[0].alerts); most > simLimit {
			t.Errorf("%s: %d alerts on a day", c.name, most)
		}
		if share := float64(results[0].found) / float64(best); i == 0 && share < 0.95 {
			t.Errorf("%s: %.3f of the positives of the best rows", c.name, share)
		}
		table = append(table, slices.Concat([]string{c.name}, results[0].cells(best), results[1].cells(best), results[2].cells(best)))
		t.Log(table[len(table)-1])
	}
	if *update {
		if err := provenance.WriteRun("../../../docs/results/alertlimit.csv", "go test ./internal/app/alertlimit -run Simulation -update", simNotes, table); err != nil {
			t.Fatal(err)
		}
	}
}

const simNotes = `Alerts that --alert-limit decides row by row, next to the best N rows of a day, which are only known in the evening: 100 days of 50,000 rows
± 30 %, 0.4 % positives whose scores are 3 standard deviations higher, a limit of 200 alerts a day, and an operating point that 1 % of the negatives
exceed. "found" is the number of positives among the alerts over that among the best 200 rows of each day. The fixed threshold is the
best possible one: 200 alerts on average on a day like the first. With a cap it stops at 200 alerts.`
