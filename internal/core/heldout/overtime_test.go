package heldout

import (
	"math"
	"math/rand/v2"
	"testing"
)

// If the order in time means nothing, P is at most 5 % in at most 5 % of the draws, with and without ties.
func TestOverTimeRaisesFewFalseAlarms(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation")
	}
	const level = 0.05
	draws := drawsOf(200)
	for _, d := range distributions() {
		for _, n := range []int{11, 60, 200} {
			r := rand.New(rand.NewPCG(uint64(n), 11))
			alarms := 0
			for range draws {
				z, order := make([]float64, n), make([]int, n)
				for i := range z {
					z[i], order[i] = d.sample(r), i/3
				}
				trend, err := OverTime(z, order)
				if err != nil {
					t.Fatal(err)
				}
				if trend.P <= level {
					alarms++
				}
			}
			mean := level * float64(draws)
			allowed := int(mean + 3*math.Sqrt(mean*(1-level)))
			t.Logf("%s, %d rows: %d of %d false alarms at the level %v", d.name, n, alarms, draws, level)
			if alarms > allowed {
				t.Errorf("%s, %d rows: %d of %d false alarms, at most %d are allowed", d.name, n, alarms, draws, allowed)
			}
		}
	}
}

// Of 80 rises of 0.6 standard deviations in the second half of 200 scores at least 60 are found at the level of the program, also with
// tied scores and times, and of 80 unchanged ones at most 3. A change that ends again is found, too.
func TestOverTimeFindsARise(t *testing.T) {
	const rows, draws, level = 200, 80, 0.01
	if testing.Short() {
		t.Skip("-short: TestOverTimeSeesADrift")
	}
	for _, c := range []struct {
		name        string
		step        float64 // of the scores; 0: continuous
		group       int     // rows with the same time
		from, to    int     // rows that are higher
		by          float64
		least, most int // alarms
	}{
		{"a rise", 0, 1, 100, 200, 0.6, 60, 80},
		{"a rise, tied", 0.5, 20, 100, 200, 0.6, 55, 80},
		{"a fall, tied", 0.5, 20, 100, 200, -0.6, 55, 80},
		{"a rise that ends", 0, 1, 80, 120, 0.9, 50, 80},
		{"unchanged", 0, 1, 0, 0, 0, 0, 3},
		{"unchanged, tied", 0.5, 20, 0, 0, 0, 0, 3},
	} {
		alarms := 0
		for s := range draws {
			r := rand.New(rand.NewPCG(uint64(s), rows))
			z, order := make([]float64, rows), make([]int, rows)
			for i := range z {
				if z[i], order[i] = r.NormFloat64(), i/c.group; i >= c.from && i < c.to {
					z[i] += c.by
				}
				if c.step > 0 {
					z[i] = math.Round(z[i]/c.step) * c.step
				}
			}
			trend, err := OverTime(z, order)
			if err != nil {
				t.Fatal(err)
			}
			if trend.P <= level {
				alarms++
			}
		}
		if t.Logf("%s: %d of %d", c.name, alarms, draws); alarms < c.least || alarms > c.most {
			t.Errorf("%s: %d alarms of %d, want %d to %d", c.name, alarms, draws, c.least, c.most)
		}
	}
}

// OverTime detects a drift of all scores, and one of the highest tenth alone, for every order of the rows in
// the file.
func TestOverTimeSeesADrift(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 11))
	const n = 1000
	for name, score := range map[string]func(when float64) float64{
		"all": func(when float64) float64 { return uniform(r) + 0.3*when },
		"top": func(when float64) float64 {
			if uniform(r) < 0.02+0.16*when {
				return 2 + uniform(r)
			}
			return uniform(r)
		},
	} {
		z, order := make([]float64, n), make([]float64, n)
		for i := range z {
			order[i] = uniform(r)
			z[i] = score(order[i])
		}
		trend, err := OverTime(z, order)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %+v", name, trend)
		first, last := trend.Blocks[0], trend.Blocks[len(trend.Blocks)-1]
		if trend.P > 0.01 || last.Above <= first.Above || last.Rank <= first.Rank || first.Rows != n/trendBlocks {
			t.Errorf("%s: %+v", name, trend)
		}
	}
}

func TestOverTimeOfLittle(t *testing.T) {
	if trend, err := OverTime([]float64{1, 2, 3}, []int{1, 2, 3}); err != nil || trend.P != 1 || trend.Blocks != nil {
		t.Errorf("%+v, %v", trend, err)
	}
	if _, err := OverTime([]float64{1, 2, 3}, []int{1}); err == nil {
		t.Error("times of other rows pass")
	}
	equal := make([]float64, 50)
	if trend, err := OverTime(equal, equal); err != nil || trend.P != 1 || trend.Blocks[0].Rank != 0.5 {
		t.Errorf("%+v, %v", trend, err)
	}
	many := make([]float64, 50000) // more than are compared: still the whole span of time
	for i := range many {
		many[i] = float64(i)
	}
	if trend, err := OverTime(many, many); err != nil || trend.P != 1.0/(trendPermutations+1)/trendParts[0] || trend.Blocks[4].Above != 0.5 {
		t.Errorf("%+v, %v", trend, err)
	}
}
