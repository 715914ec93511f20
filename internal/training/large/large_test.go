package large

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"toptau/internal/core/heldout"
	"toptau/internal/core/ranking"
	"toptau/internal/data/table"
	"toptau/metric"
	"toptau/threshold"
)

// fakeScores are scores in memory that answer by counting.
type fakeScores struct {
	z      [2][]float64
	passes int
}

func (f *fakeScores) Tally(_ context.Context, cuts []float64) ([]Cell, error) {
	f.passes++
	cells := slices.Repeat([]Cell{emptyCell}, len(cuts)+1)
	for class, list := range f.z {
		for _, z := range list {
			cells[cellOf(cuts, z)].add(table.Class(class), z)
		}
	}
	return cells, nil
}

func (f *fakeScores) Between(_ context.Context, c table.Class, low, high float64, most int) (z []float64, all int, err error) {
	f.passes++
	for _, x := range f.z[c] {
		if x >= low && x <= high {
			z = append(z, x)
		}
	}
	return smallest(slices.Clone(z), most, true), len(z), nil
}

// draw returns scores of some shape: continuous, tied, or many orders of magnitude apart.
func draw(r *rand.Rand, n int) []float64 {
	z := make([]float64, n)
	kind := r.IntN(4)
	for i := range z {
		x := r.NormFloat64()
		switch kind {
		case 1:
			x = math.Round(x)
		case 2:
			x = math.Copysign(math.Exp(300*r.Float64()), x)
		case 3:
			if r.IntN(3) > 0 {
				x = 1
			}
		}
		z[i] = x + 0
	}
	return z
}

// The thresholds, their evidence and the criteria are those of all scores in memory, whatever the first cuts.
func TestCountsGiveTheSameAsAllScores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		f := &fakeScores{z: [2][]float64{draw(r, 1+r.IntN(5000)), draw(r, 1+r.IntN(300))}}
		c := &counted{Scores: f, rows: [2]int{len(f.z[0]), len(f.z[1])}, start: spread(draw(r, r.IntN(50)), 20)}
		ctx := context.Background()
		all := slices.Concat(f.z[0], f.z[1])
		rate, delta := threshold.MustRate("3%"), threshold.MustRate("10%")
		for _, g := range []metric.Goal{{Kind: metric.GoalMaxFPR, Rate: rate}, {Kind: metric.GoalTop, Rate: rate}, {Kind: metric.GoalAbsoluteTop}} {
			z := f.z[0]
			if g.Kind == metric.GoalTop {
				z = all
			}
			for _, d := range []threshold.Rate{{}, delta} {
				got, err := c.threshold(ctx, g, d)
				sorted, wantErr := heldout.Sort(z, nil, g.Population())
				if wantErr != nil {
					t.Fatal(wantErr)
				}
				want, wantErr := heldout.For(g, d, sorted)
				if !reflect.DeepEqual(got, want) || (err == nil) != (wantErr == nil) {
					t.Fatalf("%s: threshold %+v, want %+v; errors %v and %v", g, got, want, err, wantErr)
				}
			}
		}
		exact, err := ranking.Rank(ranking.Scores{Positives: f.z[1], Negatives: f.z[0]})
		if err != nil {
			t.Fatal(err)
		}
		criteria := []ranking.Criterion{ranking.Top(), ranking.NP(rate), ranking.Quantile(rate), ranking.NP(threshold.MustRate("0.5"))}
		at := []float64{all[r.IntN(len(all))], r.NormFloat64()}
		m, err := c.measure(ctx, criteria, at)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range criteria {
			got, err := m.Ranking.Positives(k)
			want, err2 := exact.Positives(k)
			if err != nil || err2 != nil || got != want {
				t.Fatalf("%s: %+v, want %+v (%v %v)", k, got, want, err, err2)
			}
		}
		for _, x := range at {
			got, _ := m.Ranking.At(x, 0)
			want, _ := exact.At(x, 0)
			if got.TruePositives != want.TruePositives || got.FalsePositives != want.FalsePositives {
				t.Fatalf("at %v: %+v, want %+v", x, got, want)
			}
		}
		a, b := m.Ranking.AUC(), exact.AUC()
		if low, high := a.Against, 2*a.Half-a.Against; b.Half < low-1e-12 || b.Half > high+1e-12 {
			t.Fatalf("the area %v is not between %v and %v", b.Half, low, high)
		}
		if p, n := m.Ranking.Rows(); p != len(f.z[1]) || n != len(f.z[0]) {
			t.Fatalf("%d and %d rows counted", p, n)
		}
	})
}

// Scores that are held answer as those that are counted.
func TestHeldScoresAnswerAsCountedOnes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		f := &fakeScores{z: [2][]float64{draw(r, r.IntN(300)), draw(r, r.IntN(30))}}
		all := slices.Concat(f.z[0], f.z[1])
		h := HoldScores([2][]float64{slices.Clone(f.z[0]), slices.Clone(f.z[1])})
		ctx := context.Background()
		cuts := slices.Compact(slices.Sorted(slices.Values(append(draw(r, r.IntN(20)), all[:len(all)/2]...))))
		got, _ := h.Tally(ctx, cuts)
		if want, _ := f.Tally(ctx, cuts); !slices.Equal(got, want) {
			t.Fatalf("cells %v, want %v", got, want)
		}
		ends := append([]float64{math.Inf(-1), math.Inf(1), 0}, all...)
		low, high, most := ends[r.IntN(len(ends))], ends[r.IntN(len(ends))], r.IntN(400)
		for class := range f.z {
			z, n, _ := h.Between(ctx, table.Class(class), low, high, most)
			if want, all, _ := f.Between(ctx, table.Class(class), low, high, most); n != all || !slices.Equal(z, want) {
				t.Fatalf("%d scores from %v to %v: %v, want %d: %v", n, low, high, z, all, want)
			}
		}
	})
}

// growing are scores of rows of which more come.
type growing struct{ fakeScores }

func (g *growing) Tally(ctx context.Context, cuts []float64) ([]Cell, error) {
	g.z[0] = append(g.z[0], 0.5)
	return g.fakeScores.Tally(ctx, cuts)
}

// Rows that change while they are counted are an error.
func TestRowsThatChange(t *testing.T) {
	g := &growing{fakeScores{z: [2][]float64{{1, 2, 3}, {4}}}}
	c := &counted{Scores: g, rows: [2]int{3, 1}}
	if _, err := c.measure(context.Background(), []ranking.Criterion{ranking.Top()}, nil); err == nil {
		t.Error("no error")
	}
}

// A search for orders of many scores takes few passes.
func TestFewPassesFindOrders(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, value := range map[string]func() float64{
		"normal": r.NormFloat64, "log-normal": func() float64 { return math.Exp(6 * r.NormFloat64()) }, "tied": func() float64 { return float64(r.IntN(50)) },
	} {
		f := &fakeScores{}
		for range 400_000 {
			f.z[0] = append(f.z[0], value())
		}
		c := &counted{Scores: f, rows: [2]int{len(f.z[0]), 0}, start: spread(slices.Clone(f.z[0][:sampledScores]), cutsAtOnce/4)}
		_, err := c.threshold(context.Background(), metric.Goal{Kind: metric.GoalMaxFPR, Rate: threshold.MustRate("0.1%")}, threshold.MustRate("5%"))
		if err != nil || f.passes > 4 {
			t.Errorf("%s: %d passes, %v", name, f.passes, err)
		}
		t.Logf("%s: %d passes", name, f.passes)
	}
}
