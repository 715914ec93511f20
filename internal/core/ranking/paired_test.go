package ranking

import (
	"encoding/json"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"toptau/method"
	"toptau/metric"
	"toptau/threshold"
)

// pairedOf makes models of tied scores on the same rows.
func pairedOf(models, positives, negatives, levels int, seed uint64) PairedScores {
	var s PairedScores
	for m := range models {
		one := tiedSample(positives, negatives, levels, seed+uint64(m))
		s.Positives, s.Negatives = append(s.Positives, one.Positives), append(s.Negatives, one.Negatives)
	}
	return s
}

// listed is what model m has in a replicate.
func (d *drawing) listed(s PairedScores, m int) []massed {
	var out []massed
	for row, mass := range d.mass {
		if row < d.counts[0] {
			out = append(out, massed{s.Positives[m][row], mass, true})
		} else {
			out = append(out, massed{s.Negatives[m][row-d.counts[0]], mass, false})
		}
	}
	return out
}

// The result in every replicate is that of its rows sorted anew, whatever part of the rows was drawn at
// first.
func TestPairedReplicatesAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := [2]int{rapid.IntRange(1, 12).Draw(t, "positives"), rapid.IntRange(1, 60).Draw(t, "negatives")}
		s := pairedOf(3, n[0], n[1], rapid.IntRange(1, 40).Draw(t, "levels"), rapid.Uint64().Draw(t, "seed"))
		kind := rapid.SampledFrom([]string{"plain", "weighted", "entities", "both"}).Draw(t, "kind")
		draw := func(n, most int) []int {
			out := make([]int, n)
			for i := range out {
				out[i] = rapid.IntRange(0, most).Draw(t, "number")
			}
			return out
		}
		if kind != "plain" && kind != "entities" {
			for i, counts := range [2][]int{draw(n[0], 3), draw(n[1], 3)} {
				for _, c := range counts {
					if i == 0 {
						s.PositiveWeights = append(s.PositiveWeights, float64(c))
					} else {
						s.NegativeWeights = append(s.NegativeWeights, float64(c))
					}
				}
			}
		}
		if kind == "entities" || kind == "both" {
			s.PositiveGroups, s.NegativeGroups = draw(n[0], n[0]), draw(n[1], n[0])
		}
		for _, c := range criteria(rates.Draw(t, "tau")) {
			r, err := Rank(s.model(0))
			if err != nil {
				t.Fatal(err)
			}
			res, err := r.Positives(c)
			if err != nil {
				t.Fatal(err)
			}
			if !res.Defined() {
				continue
			}
			p := newPairing(s, c, r, res.Budget)
			if p.fixed { // a shorter prefix, so that the rest is needed now and then
				for m := range p.orders {
					o := &p.orders[m]
					o.prefix = rapid.IntRange(0, len(o.rows)).Draw(t, "prefix")
					for o.prefix > 0 && o.prefix < len(o.rows) && o.scores[o.prefix] == o.scores[o.prefix-1] {
						o.prefix++
					}
				}
				p.core, p.rest = [2][]int32{}, [2][]int32{}
				p.splitCore()
			}
			d := p.newDrawing()
			for i := range 4 {
				d.draw(stream(3, i))
				var got [][3]float64
				for m := range p.orders {
					got = append(got, d.found(&p.orders[m]))
				}
				if !d.complete {
					d.drawRest()
				}
				var mass [2]float64
				for row, x := range d.mass {
					if row < n[0] {
						mass[0] += x
					} else {
						mass[1] += x
					}
				}
				for class, gap := range d.gap {
					if math.Abs(mass[class]+gap-d.total[class]) > 1e-9*d.total[class] {
						t.Fatalf("%v of class %d drawn, %v in all", mass[class]+gap, class, d.total[class])
					}
				}
				taken := 0.0
				if c.Name == method.AtQuantile {
					taken = d.gap[0]
				}
				for m := range got {
					for k, above := range []float64{0, d.gap[1], taken} {
						if want := walk(d.listed(s, m), c, above, d.budget) / d.total[0]; math.Abs(got[m][k]-want) > 1e-12 {
							t.Fatalf("%v, model %d, %v above: %v, sorted rows give %v", c, m, above, got[m][k], want)
						}
					}
				}
			}
		}
	})
}

// Drawing the rows near the top first does not change the distribution of a difference.
func TestPairedCoreIsResampling(t *testing.T) {
	const replicates = 2000
	s := pairedOf(2, 60, 2000, 300, 4)
	for _, c := range []Criterion{Top(), NP(threshold.MustRate("1%")), Quantile(threshold.MustRate("4%"))} {
		r := mustRank(t, s.model(0))
		res, _ := r.Positives(c)
		fast, slow := newPairing(s, c, r, res.Budget), newPairing(s, c, r, res.Budget)
		if slow.fixed = false; len(fast.rest[1]) == 0 {
			t.Fatal("no rows outside the core: nothing is tested")
		}
		differences := func(p *pairing, seed uint64) []float64 {
			drawn := p.drawAll(Bootstrap{Replicates: replicates, Seed: seed})
			out := make([]float64, replicates)
			for i := range out {
				out[i] = drawn.lead(i, 1, 0)
			}
			return out
		}
		if d := kolmogorov(differences(fast, 1), differences(slow, 2)); d > 1.95*math.Sqrt(2.0/replicates) {
			t.Errorf("%v: distance %v", c, d)
		}
	}
}

// The results are those of Rank, and a model against itself differs by exactly 0.
func TestPairedResults(t *testing.T) {
	s := pairedOf(2, 50, 900, 1<<40, 8)
	s.Positives, s.Negatives = append(s.Positives, s.Positives[0]), append(s.Negatives, s.Negatives[0])
	for _, c := range criteria(threshold.MustRate("5%")) {
		out, err := PairedBootstrap(s, c, 0, Bootstrap{Replicates: 300, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		for m := range s.Positives {
			want, _ := mustRank(t, s.model(m)).Positives(c)
			got := out.Results[m]
			got.Interval = nil
			if got != want {
				t.Errorf("%v: %+v, want %+v", c, got, want)
			}
			d := out.Differences[m]
			if d.Rate != out.Results[m].Rate-out.Results[0].Rate || d.Gained-d.Lost != int(want.Numerator-out.Results[0].Numerator) {
				t.Errorf("%v: %+v", c, d)
			}
		}
		for _, m := range []int{0, 2} {
			d := out.Differences[m]
			if d.Interval.Low != 0 || d.Interval.High != 0 || d.Gained+d.Lost != 0 || d.Verdict() != metric.Undecided {
				t.Errorf("%v: against itself %+v", c, d)
			}
		}
	}
}

func TestPairedIsDeterministic(t *testing.T) {
	s := pairedOf(3, 40, 3000, 700, 2)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first []byte
	for _, processors := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(processors)
		out, err := PairedBootstrap(s, NP(threshold.MustRate("2%")), 1, Bootstrap{Replicates: 200, Seed: 6})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = text
		}
		if diff := cmp.Diff(string(first), string(text)); diff != "" {
			t.Errorf("%d processors: %s", processors, diff)
		}
	}
}

// simulatedPair draws two detectors that see the same signal with noise of their own.
func simulatedPair(positives, negatives int, noise float64, seed uint64) PairedScores {
	r := newStream(seed)
	bell := func() float64 { return uniform(r) + uniform(r) + uniform(r) + uniform(r) - 2 }
	s := PairedScores{Positives: make([][]float64, 2), Negatives: make([][]float64, 2)}
	for i := range positives + negatives {
		signal := bell()
		to := s.Negatives
		if i < positives {
			signal++
			to = s.Positives
		}
		to[0] = append(to[0], signal+bell()*noise)
		to[1] = append(to[1], signal+bell()*0.5)
	}
	return s
}

// The interval of the difference covers the difference in the population as often as it says, within three
// standard errors of the simulation and the 2 % that a percentile bootstrap of 150 positives may lose; and at
// most 5 % of the verdicts are wrong.
func TestPairedCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: a simulation of seconds")
	}
	const draws = 200
	c := NP(threshold.MustRate("5%"))
	for _, noise := range []float64{0.5, 1} {
		large := simulatedPair(40_000, 80_000, noise, 99)
		truth := 0.0
		for m, sign := range []float64{-1, 1} {
			res, err := mustRank(t, large.model(m)).Positives(c)
			if err != nil {
				t.Fatal(err)
			}
			truth += sign * res.Rate
		}
		if noise == 0.5 {
			truth = 0 // the two are alike
		}
		covered, wrong, decided := 0, 0, 0
		for i := range draws {
			out, err := PairedBootstrap(simulatedPair(150, 1500, noise, uint64(i)), c, 0, Bootstrap{Replicates: 119, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			d := out.Differences[1]
			if d.Interval.Low <= truth && truth <= d.Interval.High {
				covered++
			}
			switch verdict := d.Verdict(); {
			case verdict == metric.Undecided:
			case (verdict == metric.Better) == (truth > 0) && truth != 0:
				decided++
			default:
				wrong++
			}
		}
		share := float64(covered) / draws
		slack := 3 * math.Sqrt(0.95*0.05/draws)
		if share < 0.93-slack || share > 0.98+slack {
			t.Errorf("noise %v: the interval covers %v in %v of the draws", noise, truth, share)
		}
		if allowed := 0.05*draws + 3*math.Sqrt(0.05*0.95*draws); float64(wrong) > allowed {
			t.Errorf("noise %v: %d wrong verdicts in %d draws", noise, wrong, draws)
		}
		t.Logf("noise %v: true difference %.4f, covered %.3f, verdicts right %d, wrong %d", noise, truth, share, decided, wrong)
	}
}

// Rows that stand five times for one entity are worth one row: the interval is as wide as without the copies.
func TestPairedEntities(t *testing.T) {
	plain := simulatedPair(60, 600, 1, 5)
	copies := PairedScores{Positives: make([][]float64, 2), Negatives: make([][]float64, 2)}
	var groups [2][]int
	for m := range 2 {
		for range 5 {
			copies.Positives[m] = append(copies.Positives[m], plain.Positives[m]...)
			copies.Negatives[m] = append(copies.Negatives[m], plain.Negatives[m]...)
		}
	}
	for range 5 {
		for i := range 60 {
			groups[0] = append(groups[0], i)
		}
		for i := range 600 {
			groups[1] = append(groups[1], 1000+i)
		}
	}
	c := NP(threshold.MustRate("5%"))
	width := func(s PairedScores) (float64, metric.Difference) {
		out, err := PairedBootstrap(s, c, 0, Bootstrap{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		i := out.Differences[1].Interval
		return i.High - i.Low, out.Differences[1]
	}
	alone, before := width(plain)
	narrow, rows := width(copies)
	copies.PositiveGroups, copies.NegativeGroups = groups[0], groups[1]
	kept, after := width(copies)
	if kept < 0.8*alone || kept > 1.25*alone || narrow > 0.7*alone {
		t.Errorf("width %v; of five copies %v, as entities %v", alone, narrow, kept)
	}
	if after.Interval.Kind != metric.GroupInterval || after.SignTest != before.SignTest || rows.SignTest >= before.SignTest {
		t.Errorf("%+v, %+v, %+v", before, rows, after)
	}
}

// Five positives that only the new model finds prove nothing, six do: the interval and the sign test agree.
func TestPairedVerdictOfAHandful(t *testing.T) {
	handful := func(n int) metric.Difference {
		s := PairedScores{Positives: make([][]float64, 2), Negatives: make([][]float64, 2)}
		for range n {
			s.Positives[0], s.Positives[1] = append(s.Positives[0], -1), append(s.Positives[1], 2)
		}
		for i := range 100 {
			z := float64(i) / 100
			s.Negatives[0], s.Negatives[1] = append(s.Negatives[0], z), append(s.Negatives[1], z)
		}
		out, err := PairedBootstrap(s, Top(), 0, Bootstrap{Replicates: 20_000})
		if err != nil {
			t.Fatal(err)
		}
		return out.Differences[1]
	}
	if d := handful(5); d.Interval.Low > 0 || d.SignTest != 0.0625 || d.Verdict() != metric.Undecided {
		t.Errorf("%+v is %s", d, d.Verdict())
	}
	if d := handful(6); d.Verdict() != metric.Better || d.Gained != 6 {
		t.Errorf("%+v is %s", d, d.Verdict())
	}
}

func TestPairedRefusesOtherRows(t *testing.T) {
	good := pairedOf(2, 3, 4, 9, 1)
	for name, change := range map[string]func(*PairedScores){
		"missing row":        func(s *PairedScores) { s.Positives[1] = s.Positives[1][:2] },
		"missing model":      func(s *PairedScores) { s.Negatives = s.Negatives[:1] },
		"NaN":                func(s *PairedScores) { s.Negatives[1][2] = math.NaN() },
		"weights":            func(s *PairedScores) { s.PositiveWeights = []float64{1} },
		"entities one class": func(s *PairedScores) { s.PositiveGroups = []int{1, 2, 3} },
		"entities short":     func(s *PairedScores) { s.PositiveGroups, s.NegativeGroups = []int{1}, []int{1, 2, 3, 4} },
	} {
		s := PairedScores{Positives: [][]float64{slices.Clone(good.Positives[0]), slices.Clone(good.Positives[1])},
			Negatives: [][]float64{slices.Clone(good.Negatives[0]), slices.Clone(good.Negatives[1])}}
		change(&s)
		if _, err := PairedBootstrap(s, Top(), 0, Bootstrap{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := PairedBootstrap(good, Top(), 2, Bootstrap{}); err == nil {
		t.Error("no error for a reference that is not there")
	}
	out, err := PairedBootstrap(good, Quantile(threshold.MustRate("1%")), 0, Bootstrap{})
	if err != nil || out.Differences[1].Undefined == "" || out.Differences[1].Verdict() != metric.Undecided {
		t.Errorf("a budget of 0: %+v, %v", out, err)
	}
}

// BenchmarkPairedMillion is a comparison of five models on a million rows.
func BenchmarkPairedMillion(b *testing.B) {
	s := pairedOf(5, 5_000, 995_000, 1<<50, 1)
	for b.Loop() {
		if _, err := PairedBootstrap(s, NP(threshold.MustRate("0.1%")), 0, Bootstrap{}); err != nil {
			b.Fatal(err)
		}
	}
}
