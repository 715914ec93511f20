package threshold

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"toptau/internal/core/detmath"
)

// slowEdge is topEdge by sorting, for weights whose sums are exact.
func slowEdge(z, m []float64, wanted float64) float64 {
	order := make([]int, len(z))
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case z[a] > z[b]:
			return -1
		case z[a] < z[b]:
			return 1
		}
		return 0
	})
	edge, mass := math.Inf(-1), 0.0
	for _, j := range order {
		if m[j] > 0 {
			edge = z[j]
			if mass += m[j]; mass >= wanted {
				break
			}
		}
	}
	return edge
}

// shapes are inputs that spoil a selection with a poor pivot.
var shapes = map[string]func(r *rand.Rand, n int) []float64{
	"random": func(r *rand.Rand, n int) []float64 {
		return fill(n, func(int) float64 { return float64(r.Uint64()>>11)/(1<<53) - 0.5 })
	},
	"ascending":  func(_ *rand.Rand, n int) []float64 { return fill(n, func(j int) float64 { return float64(j) }) },
	"descending": func(_ *rand.Rand, n int) []float64 { return fill(n, func(j int) float64 { return float64(-j) }) },
	"constant":   func(_ *rand.Rand, n int) []float64 { return fill(n, func(int) float64 { return 1.5 }) },
	"two values": func(r *rand.Rand, n int) []float64 { return fill(n, func(int) float64 { return float64(r.IntN(2)) }) },
	"few values": func(r *rand.Rand, n int) []float64 {
		return fill(n, func(int) float64 { return float64(r.IntN(9) - 4) })
	},
	"organ pipe": func(_ *rand.Rand, n int) []float64 {
		return fill(n, func(j int) float64 { return float64(min(j, n-j)) })
	},
	"last bits": func(r *rand.Rand, n int) []float64 {
		return fill(n, func(int) float64 { return math.Float64frombits(0x3ff0000000000000 + r.Uint64N(700)) })
	},
	"every size": func(r *rand.Rand, n int) []float64 {
		return fill(n, func(int) float64 {
			for {
				if f := math.Float64frombits(r.Uint64()); !math.IsNaN(f) {
					return f
				}
			}
		})
	},
	"zeros": func(r *rand.Rand, n int) []float64 {
		return fill(n, func(int) float64 { return []float64{0, math.Copysign(0, -1), -1, 1}[r.IntN(4)] })
	},
	"one giant": func(_ *rand.Rand, n int) []float64 {
		return fill(n, func(j int) float64 { return []float64{-1e-300, 1e300}[btoi(j == n/2)] })
	},
}

func fill(n int, f func(int) float64) []float64 {
	z := make([]float64, n)
	for j := range z {
		z[j] = f(j)
	}
	return z
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestTopEdgeAgainstSorting(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 7))
	var s Support
	for name, shape := range shapes {
		for _, n := range []int{1, 2, fewScores, fewScores + 1, 200, 3000, sampleFrom + 5} {
			z := shape(r, n)
			ones := fill(n, func(int) float64 { return 1 })
			whole := fill(n, func(int) float64 { return float64(r.IntN(4)) })
			whole[r.IntN(n)] = 2
			total := 0.0
			for _, m := range whole {
				total += m
			}
			for _, share := range []float64{0, 0.01, 0.3, 0.5, 0.99, 1} {
				k := max(1, math.Round(share*float64(n)))
				want := slowEdge(z, ones, k)
				if got := topEdge(z, nil, k, &s); got != want {
					t.Errorf("%s, n = %d, k = %v: %v, want %v", name, n, k, got, want)
				}
				if got := topEdge(z, ones, k, &s); got != want {
					t.Errorf("%s, n = %d, k = %v, weights of 1: %v, want %v", name, n, k, got, want)
				}
				k = max(1, math.Round(share*total))
				if got, want := topEdge(z, whole, k, &s), slowEdge(z, whole, k); got != want {
					t.Errorf("%s, n = %d, mass %v: %v, want %v", name, n, k, got, want)
				}
			}
		}
	}
}

// Guesses from a sample never change a result, even if the sampled rows are all unlike the others, the
// edge is tied, or scores are infinite or NaN.
func TestTopEdgeOfManyRows(t *testing.T) {
	const n = 5*sampleFrom + 3
	const stride = n / sampleRows
	r := rand.New(rand.NewPCG(15, 16))
	noise := shapes["random"](r, n)
	onSample := func(j int) float64 { return float64(btoi(j%stride == stride/2)) }
	oneIn := func(k int, odd ...float64) []float64 {
		return fill(n, func(j int) float64 {
			if r.IntN(k) == 0 {
				return odd[r.IntN(len(odd))]
			}
			return noise[j]
		})
	}
	inf, nan := math.Inf(1), math.NaN()
	inputs := map[string][]float64{
		"sample is high":  fill(n, func(j int) float64 { return noise[j] + float64(9*onSample(j)) }),
		"sample is low":   fill(n, func(j int) float64 { return noise[j] - float64(9*onSample(j)) }),
		"sample is tied":  fill(n, func(j int) float64 { return noise[j] * (1 - onSample(j)) }),
		"sample is split": fill(n, func(j int) float64 { return noise[j] + float64(float64(9*(j/stride%2))*onSample(j)) }),
		"infinities":      oneIn(3, inf, -inf),
		"mostly -Inf":     fill(n, func(j int) float64 { return []float64{-inf, -inf, noise[j]}[r.IntN(3)] }),
		"few NaN":         oneIn(n/4, nan, math.Copysign(nan, -1)),
		"many NaN":        oneIn(5, nan, math.Copysign(nan, -1), inf, -inf),
	}
	for name, shape := range shapes {
		inputs[name] = shape(r, n)
	}
	s := new(Support)
	for name, z := range inputs {
		keys := make([]uint64, n)
		for j, zj := range z {
			keys[j] = detmath.OrderKey(zj)
		}
		slices.Sort(keys)
		for _, share := range []float64{0, 1e-4, 0.003, 0.01, 0.2, 1.0 / 3, 0.5, 2.0 / 3, 0.8, 0.99, 0.9999, 1} {
			k := max(1, int(math.Round(share*n)))
			want := detmath.OfOrderKey(keys[n-k])
			if got := topEdge(z, nil, float64(k), s); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("%s, k = %d: %v, want %v", name, k, got, want)
			}
		}
	}
}

func TestTopEdgeOfNothing(t *testing.T) {
	var s Support
	if got := topEdge(nil, nil, 1, &s); got != math.Inf(-1) {
		t.Errorf("no rows: %v", got)
	}
	if got := topEdge([]float64{1, 2}, []float64{0, 0}, 1, &s); got != math.Inf(-1) {
		t.Errorf("no mass: %v", got)
	}
	if got := topEdge([]float64{3, 2}, nil, 5, &s); got != 2 {
		t.Errorf("more wanted than there is: %v", got)
	}
}

func TestOrderedKeys(t *testing.T) {
	if detmath.OrderKey(0) != detmath.OrderKey(math.Copysign(0, -1)) {
		t.Error("the two zeros differ")
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64().Draw(t, "a"), rapid.Float64().Draw(t, "b")
		if ka, kb := detmath.OrderKey(a), detmath.OrderKey(b); (a < b) != (ka < kb) || (a == b) != (ka == kb) {
			t.Errorf("%v and %v: keys %x and %x", a, b, ka, kb)
		}
		if back := detmath.OfOrderKey(detmath.OrderKey(a)); back != a {
			t.Errorf("%v comes back as %v", a, back)
		}
	})
}

// The digits cover all bits of a key.
func TestDigitsMakeUpTheKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.Uint64().Draw(t, "key")
		var back uint64
		shift := 64 - digitBits
		for ; ; shift -= digitBits {
			if shift <= 0 {
				back = back<<(digitBits+shift) | uint64(digit(key, shift))
				break
			}
			back = back<<digitBits | uint64(digit(key, shift))
		}
		if back != key {
			t.Errorf("%x comes back as %x", key, back)
		}
	})
}

func BenchmarkTopEdge(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	z := shapes["random"](r, 1_000_000)
	ones := fill(len(z), func(int) float64 { return 1 })
	var s Support
	for name, m := range map[string][]float64{"rows": nil, "weights": ones} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(8 * len(z)))
			for range b.N {
				topEdge(z, m, 10_000, &s)
			}
		})
	}
}
