package evidence

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestUrnIsAMartingale enumerates all gaps of a few rows. The mean of E, weighted by the probabilities of Polya's urn,
// must be 1 up to rounding down, with starts that are merged.
func TestUrnIsAMartingale(t *testing.T) {
	const rows, kept, arrivals, block = 5, 2, 9, 2
	masses := []int{2, 3, 1} // of the three gaps between two kept order statistics of five rows
	events := []Event{{First: 1, End: 3, Mass: 4}, {First: 2, End: 3, Mass: 1}, {First: 0, End: 1, Mass: 2}}
	total, sum := 0.0, 0.0
	var walk func(seq []int, p float64)
	walk = func(seq []int, p float64) {
		if len(seq) == arrivals {
			u := NewUrn(rows, events, 3)
			gaps := make([]int, kept+1)
			for i, g := range seq {
				gaps[g]++
				if (i+1)%block == 0 {
					u.EndBlock(gaps)
				}
			}
			total += p
			sum += p * math.Exp(u.Evidence(gaps).Log)
			return
		}
		counts := make([]int, kept+1)
		for _, g := range seq {
			counts[g]++
		}
		for g := range counts {
			walk(append(append([]int(nil), seq...), g), p*float64(masses[g]+counts[g])/float64(rows+1+len(seq)))
		}
	}
	walk(nil, 1)
	if math.Abs(total-1) > 1e-9 || sum > 1+1e-9 || sum < 0.99 {
		t.Errorf("probabilities sum to %v, and E has the mean %v, want 1, or little less", total, sum)
	}
}

// TestUrnFindsAChange moves all rows above the median after 5,000 rows.
func TestUrnFindsAChange(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	u := NewUrn(999, []Event{{First: 1, End: 2, Mass: 500}}, 12)
	gaps := []int{0, 0}
	for row := range 7000 {
		gap := random.IntN(2)
		if row >= 5000 && random.IntN(3) == 0 {
			gap = 1
		}
		gaps[gap]++
		if (row+1)%500 == 0 {
			u.EndBlock(gaps)
		}
	}
	v := u.Evidence(gaps)
	if v.Log < math.Log(1e6) || v.Since < 4500 || v.Since > 5500 || v.Rows != 7000-v.Since || math.Abs(float64(v.Before[0])/float64(v.Since)-0.5) > 0.03 {
		t.Errorf("%+v, want strong evidence since row 5,000", v)
	}
	if len(u.Starts) != 12 {
		t.Errorf("%d starts, want 12", len(u.Starts))
	}
}

func TestRestoredUrnGoesOnAlike(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	events := []Event{{First: 1, End: 4, Mass: 60}, {First: 2, End: 3, Mass: 20}}
	u := NewUrn(99, events, 4)
	gaps := make([]int, 4)
	for range 30 {
		for range 100 {
			gaps[random.IntN(4)]++
		}
		u.EndBlock(gaps)
		again, err := RestoreUrn(99, events, 4, u.Blocks, append([]UrnStart(nil), u.Starts...))
		if err != nil {
			t.Fatal(err)
		}
		if a, b := u.Evidence(gaps).Log, again.Evidence(gaps).Log; a != b {
			t.Fatalf("%v, restored %v", a, b)
		}
		u = again
	}
	for _, starts := range [][]UrnStart{nil, {{Row: -1, Counts: []int{0, 0}, Capital: []int{0, 0}}}, {{Row: 5, Counts: []int{6, 0}, Capital: []int{0, 0}}},
		{{Row: 5, Counts: []int{1}, Capital: []int{0, 0}}}} {
		if _, err := RestoreUrn(99, events, 4, 1, starts); err == nil {
			t.Errorf("%v was accepted", starts)
		}
	}
}

// TestBudgetTestIsASupermartingale enumerates all events of ten rows at the budget, with starts that are merged. Positives between them change
// nothing.
func TestBudgetTestIsASupermartingale(t *testing.T) {
	const rows, rate = 12, 0.15
	sum := 0.0
	for set := range 1 << rows {
		b := NewBudgetTest(rate, 3)
		p := 1.0
		for i := range rows {
			b.AddRows(3)
			b.LeaveOut(3*i + 1)
			b.LeaveOut(3*i + 2)
			if set>>i&1 != 0 {
				b.AddEvent(3*i + 3)
				p *= rate
			} else {
				p *= 1 - rate
			}
			if i%2 == 1 {
				b.EndBlock()
			}
		}
		sum += p * math.Exp(b.Evidence().Log)
	}
	if sum > 1+1e-9 || sum < 0.99 {
		t.Errorf("E has the mean %v at the budget, want 1, or little less", sum)
	}
}

// TestLateEventsOnlyDelay makes rows events, or leaves them out, long after they came, in any order: the evidence must never be above that
// of labels that are known at once.
func TestLateEventsOnlyDelay(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for range 200 {
		now, late := NewBudgetTest(0.05, 3), NewBudgetTest(0.05, 3)
		var waiting []int
		learn := func(b *BudgetTest, row int) {
			if row%3 == 0 {
				b.LeaveOut(row)
			} else {
				b.AddEvent(row)
			}
		}
		for row := 1; row <= 400; row++ {
			now.AddRows(1)
			late.AddRows(1)
			if random.IntN(10) == 0 {
				learn(now, row)
				waiting = append(waiting, row)
			}
			for len(waiting) > 0 && random.IntN(12) == 0 {
				i := random.IntN(len(waiting))
				learn(late, waiting[i])
				waiting = append(waiting[:i], waiting[i+1:]...)
			}
			if row%20 == 0 {
				now.EndBlock()
				late.EndBlock()
			}
			if a, b := late.Evidence().Log, now.Evidence().Log; a > b+0.02 { // of rounding down at merges
				t.Fatalf("row %d: %v with late events, %v with known ones", row, a, b)
			}
		}
	}
}

func TestBudgetAboveOneThirdSkipsAlternatives(t *testing.T) {
	b := NewBudgetTest(0.5, 4)
	for row := 1; row <= 200; row++ {
		b.AddRows(1)
		if row%10 < 9 {
			b.AddEvent(row)
		}
	}
	if v := b.Evidence(); v.Log < math.Log(1000) || math.IsInf(v.Log, 0) || v.Events != 180 {
		t.Errorf("%+v of 90 %% events at a budget of 50 %%", v)
	}
}

func TestLogGamma(t *testing.T) {
	for _, x := range []float64{1e-9, 0.001, 0.5, 1, 1.5, 2, 7.25, 15.99, 16, 1e3, 1e6, 1e12} {
		want, _ := math.Lgamma(x)
		if got := logGamma(x); math.Abs(got-want) > 1e-11+1e-14*math.Abs(want) {
			t.Errorf("log gamma(%v) = %v, want %v", x, got, want)
		}
	}
}
