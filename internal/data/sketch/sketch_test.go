package sketch

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"toptau/internal/core/binomial"
)

// mix hashes a number.
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

func of(rows []uint64) *Sketch {
	s := New()
	for _, v := range rows {
		s.Add(mix(v + 1))
	}
	return s
}

func compare(s *Sketch, rows []uint64) Overlap {
	given := s.Like()
	for _, v := range rows {
		given.Add(mix(v + 1))
	}
	return s.Compare(given, s.Sampled())
}

// Merged sketches have the smallest hashes with exact counts, for every division of the rows.
func TestSketchIsCanonical(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rows := make([]uint64, 100000)
	for i := range rows {
		rows[i] = r.Uint64N(60000)
	}
	whole := of(rows)
	want := whole.Hashes()
	if n := len(whole.counts); n != Capacity {
		t.Fatalf("%d hashes", n)
	}
	counts, all := map[uint64]int{}, []uint64{}
	for _, v := range rows {
		h := mix(v+1) >> (64 - Bits)
		if counts[h]++; counts[h] == 1 {
			all = append(all, h)
		}
	}
	slices.Sort(all)
	if whole.Cut != all[Capacity] {
		t.Errorf("cut %d, want %d", whole.Cut, all[Capacity])
	}
	for k, list := range want {
		for _, h := range list {
			if min(counts[h], MaxCounted) != k+1 {
				t.Fatalf("hash %d occurs %d times, not %d", h, counts[h], k+1)
			}
		}
	}
	r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	parts := []*Sketch{New(), New(), New()}
	for i, v := range rows {
		parts[i*i%3].Add(mix(v + 1))
	}
	merged := New()
	for _, p := range parts {
		merged.Merge(p)
	}
	got := merged.Hashes()
	for k := range got {
		if !slices.Equal(got[k], want[k]) {
			t.Errorf("merged sketches have other hashes that occur %d times", k+1)
		}
	}
	if merged.Cut != whole.Cut || merged.Sampled() != whole.Sampled() || merged.Rows != len(rows) {
		t.Errorf("merged: cut %d, %d rows of %d; want %d, %d", merged.Cut, merged.Sampled(), merged.Rows, whole.Cut, whole.Sampled())
	}
	again := Restore(whole.Cut, whole.Rows, want)
	if !slices.EqualFunc(again.sorted(), whole.sorted(), func(a, b uint64) bool { return a == b }) {
		t.Error("restored with other hashes")
	}
}

// The tails agree with an enumeration of all ways to label the rows.
func TestTails(t *testing.T) {
	for k := 2; k <= 3; k++ {
		for d := 1; d*k <= 12; d++ {
			count := map[[2]int]int{} // by rows of the second set and unsplit values
			for labels := range 1 << (d * k) {
				g, unsplit := 0, 0
				for v := range d {
					one := labels >> (v * k) & (1<<k - 1)
					g += bits.OnesCount(uint(one))
					if one == 0 || one == 1<<k-1 {
						unsplit++
					}
				}
				count[[2]int{g, unsplit}]++
			}
			for labels := range 1 << (d * k) {
				var n [4]int
				g, unsplit := 0, 0
				for v := range d {
					one := bits.OnesCount(uint(labels >> (v * k) & (1<<k - 1)))
					n[one]++
					g += one
				}
				unsplit = n[0] + n[k]
				tail, all := 0, 0
				for u := range d + 1 {
					all += count[[2]int{g, u}]
					if u <= unsplit {
						tail += count[[2]int{g, u}]
					}
				}
				got := doublesTail(n[0], n[1], n[2])
				if k == 3 {
					got = triplesTail(n[0], n[1], n[2], n[3])
				}
				if want := float64(tail) / float64(all); math.Abs(got-want) > 1e-12*want {
					t.Fatalf("%d values that occur %d times, %v: %v, want %v", d, k, n, got, want)
				}
			}
		}
	}
}

// worlds are distributions of rows, from all different to nearly all equal. drift changes the frequencies of
// the values.
var worlds = []struct {
	name string
	draw func(r *rand.Rand, drift float64) uint64
}{
	{"all different", func(r *rand.Rand, drift float64) uint64 { return r.Uint64() }},
	{"2,000 values", func(r *rand.Rand, drift float64) uint64 { return r.Uint64N(2000) }},
	{"20,000 values", func(r *rand.Rand, drift float64) uint64 { return r.Uint64N(20000) }},
	{"power law", func(r *rand.Rand, drift float64) uint64 { return uint64(math.Pow(r.Float64(), -1.2-drift)) }},
	{"floods", func(r *rand.Rand, drift float64) uint64 { // most rows are of a few values, as in kddcup99
		if r.Float64() < 0.75-drift/4 {
			return r.Uint64N(20)
		}
		if r.Float64() < 0.5 {
			return 100 + r.Uint64N(5000)
		}
		return r.Uint64()
	}},
	{"pairs", func(r *rand.Rand, drift float64) uint64 { // a value is likely to occur twice
		return uint64(float64(1000000*drift)) + r.Uint64N(3000)
	}},
}

// Fresh rows raise an alarm in at most a fraction Level of the draws, from the same distribution or another,
// with any fraction of repeated rows. The naive comparison of matched rows with 1 - singletons/n raises many
// if the frequencies of values drift.
func TestFalseAlarms(t *testing.T) {
	draws := 400
	if testing.Short() {
		draws = 100
	}
	alarms, naive, total := 0, 0, 0
	for w, world := range worlds {
		r := rand.New(rand.NewPCG(uint64(w), 7))
		for draw := range draws {
			drift := float64(draw%3) / 4
			rows := make([]uint64, 200+r.IntN(3000))
			for i := range rows {
				rows[i] = world.draw(r, 0)
			}
			given := make([]uint64, 50+r.IntN(3000))
			for i := range given {
				given[i] = world.draw(r, drift)
			}
			o := compare(of(rows), given)
			total++
			if o.Excess() {
				alarms++
				t.Logf("%s, drift %v: %+v", world.name, drift, o)
			}
			if binomial.AtLeast(o.Compared, o.Matched, o.Expected) <= Level {
				naive++
			}
		}
	}
	t.Logf("%d false alarms of %d draws (the naive test: %d)", alarms, total, naive)
	if binomial.AtLeast(total, alarms, Level) < 1e-4 {
		t.Errorf("%d false alarms of %d draws", alarms, total)
	}
}

// The test finds 400 of 2,000 training rows, alone and among fresh rows, and also a set that has each of them
// twice.
func TestPower(t *testing.T) {
	for w, world := range worlds {
		r := rand.New(rand.NewPCG(uint64(w), 11))
		rows := make([]uint64, 2000)
		for i := range rows {
			rows[i] = world.draw(r, 0)
		}
		s := of(rows)
		for _, fresh := range []int{0, 400, 1600, 10000} {
			given := slices.Clone(rows[:400])
			for range fresh {
				given = append(given, world.draw(r, 0))
			}
			o := compare(s, given)
			t.Logf("%s, 400 of 2,000 rows and %d fresh: P %.2g, estimated %.0f, expected %.3f, smallest %.0f", world.name, fresh, o.P,
				o.Shared, o.Expected, o.Smallest)
			if w == 0 && (!o.Excess() || math.Abs(o.Shared-400) > 1) {
				t.Errorf("%s and %d fresh: %+v", world.name, fresh, o)
			}
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	rows := make([]uint64, 300000)
	for i := range rows {
		rows[i] = r.Uint64()
	}
	s := of(rows)
	if o := compare(s, slices.Concat(rows[:800], rows[:800])); !o.Excess() {
		t.Errorf("800 of 300,000 rows, twice each: %+v", o)
	}
	if o := compare(s, rows[:2000]); !o.Excess() || o.Shared < 1500 || o.Smallest > 600 {
		t.Errorf("2,000 of 300,000 rows: %+v", o)
	}
	if o := compare(of(nil), nil); o.Excess() || o.Shared != 0 {
		t.Errorf("nothing: %+v", o)
	}
}
