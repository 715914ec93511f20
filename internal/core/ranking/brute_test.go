package ranking

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"toptau/method"
	"toptau/metric"
	"toptau/threshold"
)

// row is one sample of a brute-force computation.
type row struct {
	score    float64
	positive bool
	weight   float64
}

// sample is a labelled sample, row by row.
type sample []row

func (s sample) scores(weighted bool) Scores {
	var out Scores
	for _, r := range s {
		if r.positive {
			out.Positives = append(out.Positives, r.score)
			out.PositiveWeights = append(out.PositiveWeights, r.weight)
		} else {
			out.Negatives = append(out.Negatives, r.score)
			out.NegativeWeights = append(out.NegativeWeights, r.weight)
		}
	}
	if !weighted {
		out.PositiveWeights, out.NegativeWeights = nil, nil
	}
	return out
}

func (s sample) rank(t interface{ Fatal(...any) }, weighted bool) *Ranking {
	r, err := Rank(s.scores(weighted))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// duplicated writes a row of weight m as m rows of weight 1.
func (s sample) duplicated() sample {
	var out sample
	for _, r := range s {
		for range int(r.weight) {
			out = append(out, row{r.score, r.positive, 1})
		}
	}
	return out
}

func (s sample) mass(keep func(row) bool) float64 {
	sum := 0.0
	for _, r := range s {
		if keep(r) {
			sum += r.weight
		}
	}
	return sum
}

func isPositive(r row) bool { return r.positive }
func isNegative(r row) bool { return !r.positive }
func anyRow(row) bool       { return true }

// drawSample draws few distinct scores, so that most of them are tied. Weights are drawn by weight.
func drawSample(t *rapid.T, weight *rapid.Generator[float64]) sample {
	levels := rapid.IntRange(1, 8).Draw(t, "levels")
	s := make(sample, rapid.IntRange(1, 40).Draw(t, "rows"))
	for i := range s {
		s[i] = row{float64(rapid.IntRange(-levels, levels).Draw(t, "score")) / 4, rapid.Bool().Draw(t, "positive"),
			weight.Draw(t, "weight")}
	}
	return s
}

var (
	one      = rapid.Just(1.0)
	whole    = rapid.Map(rapid.IntRange(0, 3), func(n int) float64 { return float64(n) })
	quarters = rapid.Map(rapid.IntRange(1, 9), func(n int) float64 { return float64(n) / 4 }) // exact in float64
	rates    = rapid.Map(rapid.IntRange(1, 99), func(n int) threshold.Rate {
		return threshold.MustRate(big.NewRat(int64(n), 100).RatString())
	})
)

// bruteCounted is the tie rule of the package comment, read literally, on rows of weight 1.
func bruteCounted(s sample, c Criterion) (numerator float64, t float64, defined bool) {
	var population []float64
	for _, r := range s {
		if c.Name == method.AtQuantile || !r.positive {
			population = append(population, r.score)
		}
	}
	if len(population) == 0 || s.mass(isPositive) == 0 {
		return 0, 0, false
	}
	slices.SortFunc(population, func(a, b float64) int { return int(math.Copysign(1, b-a)) })
	slices.Sort(population)
	slices.Reverse(population)
	if c.Paper {
		k := 1
		if c.Name != method.AtTop {
			k = c.Tau.Ceil(len(population))
		}
		t = population[k-1]
		return s.mass(func(r row) bool { return r.positive && r.score >= t }), t, true
	}
	budget := 0
	if c.Name != method.AtTop {
		budget = c.Tau.Floor(len(population))
	}
	if c.Name == method.AtQuantile && budget == 0 {
		return 0, 0, false
	}
	t = population[budget]
	return s.mass(func(r row) bool { return r.positive && r.score > t }), t, true
}

func criteria(tau threshold.Rate) []Criterion {
	list := []Criterion{Top(), Quantile(tau), NP(tau)}
	for _, c := range list[:3] {
		list = append(list, c.AsInPaper())
	}
	return list
}

func TestCriteriaAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSample(t, one)
		r := s.rank(t, false)
		for _, c := range criteria(rates.Draw(t, "tau")) {
			got, err := r.Positives(c)
			if err != nil {
				t.Fatal(err)
			}
			numerator, at, defined := bruteCounted(s, c)
			if got.Defined() != defined {
				t.Fatalf("%v: defined %v, want %v", c, got.Defined(), defined)
			}
			if !defined {
				continue
			}
			if got.Numerator != numerator || got.Threshold != at || got.Denominator != s.mass(isPositive) ||
				got.Rate != numerator/s.mass(isPositive) {
				t.Fatalf("%v: got %+v, want %v above %v", c, got, numerator, at)
			}
			if c.Paper != (got.Rule == metric.AtOrAbove) || (!c.Paper && got.Admitted > got.Budget) ||
				(c.Paper && got.Admitted < got.Budget) {
				t.Fatalf("%v: %+v", c, got)
			}
		}
	})
}

// A row of weight m is worth m equal rows, in every result.
func TestWholeWeightsAreDuplicates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSample(t, whole)
		weighted, rows := s.rank(t, true), s.duplicated().rank(t, false)
		for _, c := range criteria(rates.Draw(t, "tau")) {
			a, errA := weighted.Positives(c)
			b, errB := rows.Positives(c)
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			if a != b {
				t.Fatalf("%v: weighted %+v, duplicated %+v", c, a, b)
			}
		}
		if a, b := weighted.AUC(), rows.AUC(); a != b {
			t.Fatalf("AUC %v, %v", a, b)
		}
		for name, curve := range map[string]func(*Ranking) Curve{"roc": (*Ranking).ROC, "pr": (*Ranking).PR, "ptau": (*Ranking).PTau} {
			a, b := curve(weighted), curve(rows)
			if math.Abs(a.Area-b.Area) > 1e-12 {
				t.Fatalf("%s: areas %v, %v", name, a.Area, b.Area)
			}
		}
		if n := s.mass(anyRow); n > 0 {
			count := float64(rapid.IntRange(1, int(n)).Draw(t, "count"))
			a, errA := weighted.TopCount(count)
			b, errB := rows.TopCount(count)
			if errA != nil || errB != nil || a != b {
				t.Fatalf("weighted %+v %v, duplicated %+v %v", a, errA, b, errB)
			}
		}
	})
}

// With weights that are not whole the admitted set is the largest set of best scores whose mass is at most M
// tau.
func TestFractionalWeightsAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSample(t, quarters)
		r := s.rank(t, true)
		for _, c := range criteria(rates.Draw(t, "tau")) {
			member := isNegative
			if c.Name == method.AtQuantile {
				member = anyRow
			}
			if c.Paper || s.mass(isPositive) == 0 || s.mass(member) == 0 {
				continue
			}
			budget := 0.0
			if c.Name != method.AtTop {
				budget = c.Tau.Times(s.mass(member))
				if allWholeRows(s, member) {
					budget = math.Floor(budget)
				}
			}
			best := math.Inf(1) // the lowest score above which at most the budget lies
			for _, at := range s {
				if s.mass(func(o row) bool { return member(o) && o.score > at.score }) <= budget {
					best = min(best, at.score)
				}
			}
			want := s.mass(func(o row) bool { return o.positive && o.score > best })
			got, err := r.Positives(c)
			if err != nil {
				t.Fatal(err)
			}
			if c.Name == method.AtQuantile && budget == 0 {
				if got.Defined() {
					t.Fatalf("%v is defined with a budget of 0", c)
				}
				continue
			}
			if got.Numerator != want || got.Threshold != best || got.Budget != budget {
				t.Fatalf("%v: got %+v, want %v above %v with %v", c, got, want, best, budget)
			}
		}
	})
}

func allWholeRows(s sample, member func(row) bool) bool {
	for _, r := range s {
		if member(r) && r.weight != math.Floor(r.weight) {
			return false
		}
	}
	return true
}

func TestConfusionAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSample(t, quarters)
		at := float64(rapid.IntRange(-20, 20).Draw(t, "threshold")) / 8
		c, err := s.rank(t, true).At(at, 0)
		if err != nil {
			t.Fatal(err)
		}
		tp := s.mass(func(r row) bool { return r.positive && r.score > at })
		fp := s.mass(func(r row) bool { return !r.positive && r.score > at })
		tn := s.mass(func(r row) bool { return !r.positive && r.score <= at })
		fn := s.mass(func(r row) bool { return r.positive && r.score <= at })
		if c.TruePositives != tp || c.FalsePositives != fp || c.TrueNegatives != tn || c.FalseNegatives != fn {
			t.Fatalf("got %+v, want %v %v %v %v", c, tp, fp, tn, fn)
		}
		for _, p := range []struct {
			got           metric.Proportion
			part, counter float64
		}{{c.TruePositiveRate, tp, fn}, {c.FalsePositiveRate, fp, tn}, {c.Precision, tp, fp}} {
			if p.got.Defined() != (p.part+p.counter > 0) || (p.got.Defined() && p.got.Rate != p.part/(p.part+p.counter)) {
				t.Fatalf("got %+v for %v of %v", p.got, p.part, p.part+p.counter)
			}
		}
	})
}

// The worst order of equal scores puts negatives first.
func TestTopCountAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSample(t, one)
		count := rapid.IntRange(1, len(s)).Draw(t, "count")
		got, err := s.rank(t, false).TopCount(float64(count))
		if err != nil {
			t.Fatal(err)
		}
		order := slices.Clone(s)
		slices.SortStableFunc(order, func(a, b row) int {
			switch {
			case a.score != b.score:
				return int(math.Copysign(1, b.score-a.score))
			case a.positive == b.positive:
				return 0
			case b.positive:
				return -1
			}
			return 1
		})
		top := order[:count]
		if got.TruePositives != top.mass(isPositive) || got.FalsePositives != top.mass(isNegative) ||
			got.Threshold != top[count-1].score || got.Precision.Rate != top.mass(isPositive)/float64(count) {
			t.Fatalf("got %+v, want %v of %d above %v", got, top.mass(isPositive), count, top[count-1].score)
		}
		if got.FalsePositiveRate.Defined() && got.FalsePositiveRate.Rate != top.mass(isNegative)/s.mass(isNegative) {
			t.Fatalf("false positive rate %+v", got.FalsePositiveRate)
		}
	})
}

func TestAUCAgainstPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSample(t, quarters)
		var won, tied, pairs float64
		for _, p := range s {
			for _, n := range s {
				if !p.positive || n.positive {
					continue
				}
				m := p.weight * n.weight
				pairs += m
				if p.score > n.score {
					won += m
				}
				if p.score == n.score {
					tied += m
				}
			}
		}
		got := s.rank(t, true).AUC()
		if pairs == 0 {
			if got != (AUC{}) {
				t.Fatalf("%+v without pairs", got)
			}
			return
		}
		if got.Half != (won+tied/2)/pairs || got.Against != won/pairs {
			t.Fatalf("got %+v, want %v and %v", got, (won+tied/2)/pairs, won/pairs)
		}
	})
}

// Every point of a curve is what its threshold gives, and no distinct score is missing.
func TestCurvesAgainstConfusion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSample(t, quarters)
		r := s.rank(t, true)
		distinct := map[float64]bool{math.Inf(-1): true}
		largest := math.Inf(-1)
		for _, o := range s {
			distinct[o.score] = true
			largest = max(largest, o.score)
		}
		positives, n := s.mass(isPositive), s.mass(anyRow)
		for _, c := range []Curve{r.ROC(), r.PR(), r.PTau()} {
			want := len(distinct)
			if c.Name != "roc" {
				want-- // nothing lies above the largest score
			}
			if (c.Name == "roc" && (positives == 0 || positives == n)) || (c.Name == "pr" && positives == 0) {
				want = 0
			}
			if len(c.Points) != want {
				t.Fatalf("%s has %d points, want %d", c.Name, len(c.Points), want)
			}
			for i, p := range c.Points {
				conf, err := r.At(p.Threshold, 0)
				if err != nil {
					t.Fatal(err)
				}
				x, y := conf.FalsePositiveRate.Rate, conf.TruePositiveRate.Rate
				switch c.Name {
				case "pr":
					x, y = y, conf.Precision.Rate
				case "ptau":
					x, y = (conf.TruePositives+conf.FalsePositives)/n, conf.Precision.Rate
				}
				if p.X != x || p.Y != y || !distinct[p.Threshold] || (i > 0 && p.Threshold >= c.Points[i-1].Threshold) {
					t.Fatalf("%s: point %d is %+v, want (%v, %v)", c.Name, i, p, x, y)
				}
			}
			checkArea(t, c)
		}
	})
}

// checkArea recomputes areas from the points.
func checkArea(t *rapid.T, c Curve) {
	area := 0.0
	last := Point{}
	for i, p := range c.Points {
		if c.Name == "roc" {
			area += (p.X - last.X) * (p.Y + last.Y) / 2
		} else {
			area += (p.X - last.X) * p.Y
		}
		if i == 0 && c.Name == "roc" && (p.X != 0 || p.Y != 0) {
			t.Fatalf("the ROC curve starts at %+v", p)
		}
		last = p
	}
	if math.Abs(area-c.Area) > 1e-12 {
		t.Fatalf("%s: area %v, points give %v", c.Name, c.Area, area)
	}
}

func TestCornersKeepTheLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		full := drawSample(t, one).rank(t, false).ROC()
		corners := full.Corners()
		if len(corners.Points) > len(full.Points) {
			t.Fatal("more corners than points")
		}
		checkArea(t, corners)
	})
}

func TestDownsampleKeepsExactPoints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 3000).Draw(t, "scores")
		r := newStream(rapid.Uint64().Draw(t, "seed"))
		s := make(sample, n)
		for i := range s {
			s[i] = row{uniform(r), uniform(r) < 0.2, 1}
		}
		c := s.rank(t, false).PTau()
		limit := rapid.IntRange(2, 300).Draw(t, "limit")
		d := c.Downsample(limit)
		if len(d.Points) > max(limit, 2) || d.Area != c.Area {
			t.Fatalf("%d points for a limit of %d", len(d.Points), limit)
		}
		if d.Points[0] != c.Points[0] || d.Points[len(d.Points)-1] != c.Points[len(c.Points)-1] {
			t.Fatal("an end is missing")
		}
		at := 0
		for _, p := range d.Points {
			for at < len(c.Points) && c.Points[at] != p {
				at++
			}
			if at == len(c.Points) {
				t.Fatalf("%+v is not a point of the curve, or out of order", p)
			}
		}
		if len(c.Points) > limit && len(d.Points) < min(limit, len(c.Points))/3 {
			t.Fatalf("only %d points for a limit of %d", len(d.Points), limit)
		}
	})
}
