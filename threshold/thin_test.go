package threshold

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Guesses from a thin copy never change a result, even if the rows of the copy are all unlike the
// others.
func TestBadGuessesChangeNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("draws many problems")
	}
	const n = thinFrom + 3
	stride := n / thinRows
	onThin := func(j int) bool { return j%stride == stride/2 }
	r := rand.New(rand.NewPCG(31, 32))
	noise := fill(n, func(int) float64 { return float64(r.Uint64()>>11) / (1 << 53) })
	inputs := map[string][]float64{
		"like the others": noise,
		"thin is high":    fill(n, func(j int) float64 { return noise[j] + 5*float64(btoi(onThin(j))) }),
		"thin is low":     fill(n, func(j int) float64 { return noise[j] - 5*float64(btoi(onThin(j))) }),
		"thin is far off": fill(n, func(j int) float64 { return noise[j] - 1e9*float64(btoi(onThin(j))) }),
		"thin is alone":   fill(n, func(j int) float64 { return noise[j] + 1e9*float64(btoi(onThin(j))) }),
		"one giant":       fill(n, func(j int) float64 { return noise[j] + 1e6*float64(btoi(j == 7)) }),
	}
	blind := fill(n, func(j int) float64 { return float64(btoi(!onThin(j))) })
	for name, z := range inputs {
		for _, m := range [][]float64{nil, blind} {
			x := sample{z, m}
			mixed := shuffled(x, rand.New(rand.NewPCG(33, 34)))
			for _, rule := range everyRule(MustRate("0.003"), 2) {
				bound := bind(t, rule, x)
				got, want := value(bound, x), value(bound, mixed)
				if math.Abs(got-want) > 1e-13*(x.scale()+math.Abs(want)) {
					t.Errorf("%s: %s: %v, in another order %v", name, describe(rule), got, want)
				}
				part := fromEdgeUp(bound, x) // too few rows for a thin copy
				if len(part.z) >= thinFrom {
					continue
				}
				if got := value(bound, part); math.Abs(got-want) > 1e-13*(x.scale()+math.Abs(want)) {
					t.Errorf("%s: %s: %v, without a guess %v", name, describe(rule), want, got)
				}
			}
		}
	}
}

func shuffled(x sample, r *rand.Rand) sample {
	y := sample{slices.Clone(x.z), slices.Clone(x.m)}
	r.Shuffle(len(y.z), func(i, j int) {
		y.z[i], y.z[j] = y.z[j], y.z[i]
		if y.m != nil {
			y.m[i], y.m[j] = y.m[j], y.m[i]
		}
	})
	return y
}

func fromEdgeUp(bound Threshold, x sample) sample {
	s, _ := at(bound, x)
	var part sample
	for j, z := range x.z {
		if z >= s.Edge {
			part.z = append(part.z, z)
			if x.m != nil {
				part.m = append(part.m, x.m[j])
			}
		}
	}
	return part
}

// Thresholds have the same bits on every platform and with every instruction set.
func TestBitsAreFixed(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	uniform := func(int) float64 { return float64(r.Uint64()>>11)/(1<<53)*8 - 4 }
	h := fnv.New64a()
	put := func(x float64) {
		var b [8]byte
		for i := range b {
			b[i] = byte(math.Float64bits(x) >> (8 * i))
		}
		h.Write(b[:])
	}
	for _, n := range []int{1, 30, 700, thinFrom + 1} {
		x := sample{z: fill(n, uniform)}
		for range 2 {
			for _, tau := range []string{"0.001", "1/3"} {
				for _, rule := range everyRule(MustRate(tau), 0.7) {
					bound := bind(t, rule, x)
					s, a := at(bound, x)
					put(s.T)
					put(s.Edge)
					for _, aj := range s.A {
						put(aj)
					}
					if rule.Convex() && n < 1000 {
						put(bound.Regulariser(a, x.m))
					}
				}
			}
			x.m = fill(n, func(int) float64 { return 0.5 + math.Abs(uniform(0)) })
		}
	}
	if got, want := h.Sum64(), uint64(0xe7ffde93700bde3e); got != want {
		t.Errorf("digest %#x, want %#x", got, want)
	}
}
