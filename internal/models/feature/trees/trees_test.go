package trees

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
)

// The first tree on one column splits where the gain is largest, computed here for every edge of a bin.
func TestFirstSplitIsTheBest(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	for trial := range 20 {
		x, positive := make([]float64, 200), make([]bool, 200)
		for i := range x {
			x[i], positive[i] = float64(i), r.Float64() < 1/(1+math.Exp(float64(trial*10-i)/30))
		}
		positive[0], positive[199] = false, true
		shape := Shape{Rounds: 1, Leaves: 2, Depth: 1, Rate: .1, Ridge: .1, MinRows: 20, Columns: 1, Rows: 1}
		rows := Training{Columns: []Column{func([]float64) []float64 { return x }}, Positive: positive}
		grown, err := rows.Boost(context.Background(), shape, nil, true, 0)
		if err != nil {
			t.Fatal(err)
		}
		p, n := 0.0, float64(len(x))
		for _, positive := range positive {
			p += float64(indicator(positive)) / n
		}
		best, at := 0.0, 0
		c := binnedOf(x, valueBins, newRowBins(1, len(x))[0])
		for _, edge := range c.edges {
			k := sort.SearchFloat64s(x, edge)
			if k < shape.MinRows || k > len(x)-shape.MinRows {
				continue
			}
			g := 0.0
			for _, positive := range positive[:k] {
				g += p - float64(indicator(positive))
			}
			h := p * (1 - p)
			gain := g*g/(h*float64(k)+shape.Ridge) + g*g/(h*(n-float64(k))+shape.Ridge)
			if gain > best*(1+1e-12) {
				best, at = gain, k
			}
		}
		tree := grown.Trees[0]
		if !(tree.At[0] >= x[at-1] && tree.At[0] < x[at]) {
			t.Errorf("trial %d: split at %v, want between %v and %v", trial, tree.At[0], x[at-1], x[at])
		}
	}
}

func TestBinsHoldTheirValues(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for trial := range 30 {
		n := 1 + r.IntN(3000)
		x := make([]float64, n)
		for i := range x {
			x[i] = math.Round(math.Exp(3*r.NormFloat64())*10) / 10
			if trial%2 == 0 && r.IntN(5) == 0 {
				x[i] = math.NaN()
			}
		}
		most := []int{valueBins, 40}[trial%2]
		bins := newRowBins(1, n)
		c := binnedOf(x, most, bins[0])
		if c.count() > most || !slices.IsSorted(c.edges) {
			t.Fatalf("%d bins, edges %v", c.count(), c.edges)
		}
		filled := make([]int, c.count()+1)
		for i, v := range x {
			bin := bins.at(0, i)
			filled[bin]++
			switch {
			case v != v:
				if bin != c.count() {
					t.Fatalf("a missing value in bin %d", bin)
				}
			case bin > 0 && v <= c.edges[bin-1] || bin < len(c.edges) && v > c.edges[bin]:
				t.Fatalf("%v in bin %d of %v", v, bin, c.edges)
			}
		}
		if slices.Min(filled[:c.count()]) == 0 && !math.IsNaN(slices.Max(x)) {
			t.Errorf("an empty bin of %d", c.count())
		}
	}
}

func TestThresholdsAreShortAndInside(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for range 2000 {
		low := math.Ldexp(r.Float64()-.5, r.IntN(200)-100)
		high := low + math.Ldexp(r.Float64(), r.IntN(200)-150)
		if x := roundThreshold(low, high, r.Float64()); low < high && !(low <= x && x < high) {
			t.Fatalf("%v is not in [%v, %v)", x, low, high)
		}
	}
	if x := roundThreshold(1, 2, 1./3); x != 1.333 {
		t.Errorf("%v", x)
	}
	next := math.Nextafter(1, 2)
	if x := roundThreshold(1, next, .9); x != 1 {
		t.Errorf("%v", x)
	}
	if x := roundThreshold(-math.MaxFloat64, math.MaxFloat64, .5); x != 0 {
		t.Errorf("%v", x)
	}
}

// TestRowsToGrow checks the sample of rows that grows random trees: its size, its classes and what its rows stand for.
func TestRowsToGrow(t *testing.T) {
	if rows, mass := rowsToGrow(make([]bool, GrowRows)); rows != nil || mass != [2]float64{1, 1} {
		t.Errorf("few rows: a sample of %d rows that stand for %v", len(rows), mass)
	}
	for _, c := range []struct {
		rows, every int // the distance between two positives
		kept        int // positives
	}{
		{200_000, 50, 4_000},           // all positives
		{200_000, 2, GrowRows / 2},     // equally many of both classes
		{1_000_000, 3, GrowRows / 2},   // positives up to one half
		{200_000, 1, GrowRows},         // no negative: the others cannot fill their half
		{GrowRows + 1, 100_000_000, 1}, // one positive, in the first row
	} {
		positive := make([]bool, c.rows)
		for i := 0; i < c.rows; i += c.every {
			positive[i] = true
		}
		rows, mass := rowsToGrow(positive)
		kept, total := 0, 0
		for _, row := range rows {
			kept += int(indicator(positive[row]))
		}
		for _, p := range positive {
			total += int(indicator(p))
		}
		if len(rows) != GrowRows || kept != c.kept || !slices.IsSorted(rows) {
			t.Errorf("%+v: a sample of %d rows, %d positive", c, len(rows), kept)
		}
		if whole := float64(len(rows)-kept)*mass[0] + float64(kept)*mass[1]; c.every > 1 && math.Abs(whole-float64(c.rows)) > 1e-6 {
			t.Errorf("%+v: the sample stands for %v rows", c, whole)
		}
		if math.Abs(float64(kept)*mass[1]-float64(total)) > 1e-6 {
			t.Errorf("%+v: positives of mass %v", c, mass[1])
		}
	}
}

func TestSortNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for trial := range 40 {
		x := make([]float64, r.IntN(4*radixRows))
		for i := range x {
			x[i] = math.Ldexp(r.NormFloat64(), r.IntN(1+50*trial)) / float64(1+trial%3)
			if trial%2 == 0 {
				x[i] = math.Trunc(x[i])
			}
		}
		want := slices.Clone(x)
		slices.Sort(want)
		if sortNumbers(x); !slices.Equal(x, want) {
			t.Fatalf("trial %d: not sorted", trial)
		}
	}
}

// Ranks are those of a search, in columns of few and many values, with missing ones and zeros of both signs.
func TestRanks(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, values := range []int{1, 3, 1000, 80_000} {
		x := make([]float64, 1+2*values)
		for i := range x {
			if x[i] = float64(r.IntN(values) - values/2); x[i] == 0 && i%2 == 0 {
				x[i] = math.Copysign(0, -1)
			}
			if i%5 == 4 {
				x[i] = math.NaN()
			}
		}
		c, rows, missing := rankedOf(x), make([]int32, len(x)), 0
		for i := range rows {
			rows[i] = int32(i)
		}
		ranks, low, high, lost := c.gather(rows, make([]uint32, len(x)))
		for i, v := range x {
			want, _ := slices.BinarySearch(c.values, v)
			if math.IsNaN(v) {
				want = missingRank
				missing++
			}
			if ranks[i] != uint32(want) {
				t.Fatalf("%d values: %v has rank %d, want %d", values, v, ranks[i], want)
			}
		}
		if last := uint32(len(c.values) - 1); low != 0 || high != last || lost != missing {
			t.Errorf("%d values: ranks %d to %d and %d missing, want 0 to %d and %d", values, low, high, lost, last, missing)
		}
		for k := range len(c.values) - 1 {
			if at := c.below(c.values[k], 0, high); at != uint32(k) {
				t.Fatalf("%d values: below %v is %d", values, c.values[k], at)
			}
		}
	}
}
