package threshold

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"toptau/internal/core/detmath"
	"toptau/surrogate"
)

// everyRule returns all rules with a given tau and beta.
func everyRule(tau Rate, beta float64) []Rule {
	return []Rule{
		TopCount{1}, TopMean{tau}, Quantile{tau},
		SurrogateQuantile{tau, beta, surrogate.Hinge},
		SurrogateQuantile{tau, beta, surrogate.SquaredHinge},
		SurrogateQuantile{tau, beta, surrogate.Logistic},
	}
}

// Finite scores of any size give a finite threshold in the possible range, for beta from 1e-8 to
// 1e8.
func TestExtremesNeverGiveNaN(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 13))
	const huge = math.MaxFloat64
	inputs := map[string][]float64{
		"one row":      {3.25},
		"one zero":     {0},
		"ties":         {1, 1, 1, 1, 1},
		"huge ties":    {1e12, 1e12, 1e12},
		"1e12":         {1e12, -1e12, 5, 0, -1e-12},
		"tiny":         {1e-300, -1e-300, 5e-324, 0},
		"last number":  {huge, huge, -huge, huge},
		"opposites":    {huge, -huge, 0, 1},
		"all low":      {-huge, -huge, -huge},
		"one giant":    append(fill(500, func(int) float64 { return float64(r.IntN(100)) }), 1e12),
		"one outcast":  append(fill(500, func(int) float64 { return float64(r.IntN(100)) }), -1e12),
		"geometric":    fill(600, func(j int) float64 { return math.Ldexp(1, 300-j) }),
		"geometric up": fill(600, func(j int) float64 { return -math.Ldexp(1, j-300) }),
	}
	for name, z := range inputs {
		lowest, top := z[0], z[0]
		for _, x := range z {
			lowest, top = min(lowest, x), max(top, x)
		}
		for _, m := range [][]float64{nil, fill(len(z), func(int) float64 { return 1e-6 + float64(r.IntN(1000)) })} {
			for _, tau := range []string{"1e-300", "1e-9", "0.01", "0.5", "0.999999"} {
				for _, beta := range []float64{1e-8, 1e-4, 1, 1e4, 1e8, 1e300} {
					for _, rule := range everyRule(MustRate(tau), beta) {
						x := sample{z, m}
						s, a := at(bind(t, rule, x), x)
						bad := func(what string) { t.Errorf("%s: %s: %s: t = %v, edge %v", name, describe(rule), what, s.T, s.Edge) }
						if math.IsNaN(s.T) || math.IsInf(s.T, 0) || math.IsNaN(s.Edge) {
							bad("not finite")
							continue
						}
						if _, ok := rule.(SurrogateQuantile); !ok && (s.T < lowest || s.T > top) {
							bad("outside the scores")
						}
						var total detmath.Sum
						for _, aj := range a {
							if !(aj >= 0) {
								bad("negative weight")
							}
							total.Add(aj)
						}
						if math.Abs(total.Value()-1) > 1e-9 {
							bad(fmt.Sprintf("weights of sum %v", total.Value()))
						}
					}
				}
			}
		}
	}
}

// A constant score c gives c + constant: c itself for means and quantiles, c + (1-tau)/beta for the hinge,
// c + (1-sqrt tau)/beta for the squared hinge, c - ln(2^tau - 1) / beta for the logistic.
func TestConstantScores(t *testing.T) {
	tau := MustRate("0.01")
	for _, n := range []int{1, 7, 1000} {
		for _, c := range []float64{0, -3, 1e6} {
			for _, beta := range []float64{1e-8, 1e-3, 1, 10, 1e8} {
				x := sample{z: fill(n, func(int) float64 { return c })}
				want := []float64{c, c, c, c + 0.99/beta, c + 0.9/beta, c - math.Log(math.Expm1(0.01*math.Ln2))/beta}
				for i, rule := range everyRule(tau, beta) {
					if got := value(bind(t, rule, x), x); math.Abs(got-want[i]) > 4e-16*(math.Abs(c)+math.Abs(want[i])) {
						t.Errorf("%s of %d times %v: %v, want %v", describe(rule), n, c, got, want[i])
					}
				}
			}
		}
	}
}

// If rounding of u leaves l' = 0 even for the top score, the rows with the top score share the weight.
func TestTopRowsShareTheWeightIfNoDerivativeIsLeft(t *testing.T) {
	q := rootQuantile{surrogateQuantile{kappa: 1e-300, beta: 1}, surrogate.SquaredHinge}
	s := new(Support)
	q.gatherRows([]float64{1, 2, 2}, []float64{1, 1, 3}, 2, -5, s)
	q.fillWeights(1, s)
	if fmt.Sprint(s.Rows, s.A) != "[1 2] [0.25 0.75]" {
		t.Errorf("rows %v, a %v", s.Rows, s.A)
	}
}

// A NaN among the scores is the caller's mistake. The rules still end, and return NaN.
func TestNaNScoresGiveNaN(t *testing.T) {
	for _, z := range [][]float64{{math.NaN()}, {1, math.NaN(), 2}, {1, 2, 3, -math.NaN()}} {
		for _, rule := range everyRule(MustRate("0.5"), 1) {
			x := sample{z: z}
			s, _ := at(bind(t, rule, x), x)
			if _, ok := rule.(Quantile); !ok && !math.IsNaN(s.T) {
				t.Errorf("%s of %v: %v", describe(rule), z, s.T)
			}
		}
	}
	for _, rule := range everyRule(MustRate("0.5"), 1) {
		bound := bind(t, rule, sample{z: []float64{1, 2}})
		for _, z := range [][]float64{{math.Inf(1), 1}, {math.Inf(-1), 1}, {math.Inf(1), math.Inf(-1)}, {math.Inf(-1)}, {}} {
			bound.At(z, nil, new(Support)) // must end
		}
	}
}

// Newton's method on the hinge ends after a few steps, even for scores whose sizes tempt it to add one
// row at a time.
func TestWaterLevelNeedsFewRounds(t *testing.T) {
	for name, z := range map[string][]float64{
		"geometric": fill(1000, func(j int) float64 { return -math.Ldexp(1, j-500) }),
		"harmonic":  fill(100000, func(j int) float64 { return 1 / float64(j+1) }),
		"powers":    fill(100000, func(j int) float64 { return -math.Pow(float64(j), 4) }),
	} {
		for _, volume := range []float64{1e-9, 1e-3, 1, 1e6} {
			s := new(Support)
			w, rounds := levelAbove(z, nil, z[0], volume, -volume, s), 1
			for last := -1; w.rows != last; rounds++ {
				last = w.rows
				w = levelAbove(z, nil, z[0], volume, w.level, s)
			}
			if rounds > 64 {
				t.Errorf("%s, volume %v: %d rounds", name, volume, rounds)
			}
			if got := waterLevel(z, nil, z[0], volume, s); got.level != w.level {
				t.Errorf("%s, volume %v: level %v, want %v", name, volume, got.level, w.level)
			}
		}
	}
}

// At allocates nothing once the buffers of the Support are large enough.
func TestNoAllocation(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{10, 1000, thinFrom} {
		for _, m := range [][]float64{nil, fill(n, func(int) float64 { return 0.5 + float64(r.IntN(3)) })} {
			x := sample{shapes["random"](r, n), m}
			for _, rule := range everyRule(MustRate("0.05"), 1) {
				bound := bind(t, rule, x)
				s := new(Support)
				bound.At(x.z, x.m, s)
				if count := testing.AllocsPerRun(4, func() { bound.At(x.z, x.m, s) }); count != 0 {
					t.Errorf("%s on %d rows: %v allocations", describe(rule), n, count)
				}
			}
		}
	}
}

// A Support can be reused for another rule and another size. Nothing of the last result is left.
func TestSupportIsReusable(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	shared := new(Support)
	for range 50 {
		x := sample{z: shapes["few values"](r, 1+r.IntN(200))}
		if r.IntN(2) == 0 {
			x.m = fill(len(x.z), func(int) float64 { return float64(1 + r.IntN(3)) })
		}
		for _, rule := range everyRule(MustRate("0.1"), 0.5) {
			bound := bind(t, rule, x)
			bound.At(x.z, x.m, shared)
			fresh, _ := at(bound, x)
			if fmt.Sprint(shared.T, shared.Edge, shared.Rows, shared.A) != fmt.Sprint(fresh.T, fresh.Edge, fresh.Rows, fresh.A) {
				t.Fatalf("%s: a reused Support gives another result", describe(rule))
			}
		}
	}
}

// The sum of many numbers of mixed sizes keeps its last bits.
func TestSumIsCompensated(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	var s detmath.Sum
	exact := new(big.Float).SetPrec(2000)
	for range 100000 {
		x := math.Ldexp(float64(r.Uint64()>>11)/(1<<53)-0.5, r.IntN(40))
		s.Add(x)
		exact.Add(exact, new(big.Float).SetFloat64(x))
	}
	if want, _ := exact.Float64(); s.Value() != want {
		t.Errorf("sum %v, want %v", s.Value(), want)
	}
	s = detmath.Sum{}
	s.Add(math.MaxFloat64)
	s.Add(math.MaxFloat64)
	if !math.IsInf(s.Value(), 1) {
		t.Errorf("overflow gives %v", s.Value())
	}
}

func BenchmarkAt(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	x := sample{z: shapes["random"](r, 1_000_000)}
	for _, rule := range everyRule(MustRate("0.01"), 1) {
		b.Run(describe(rule), func(b *testing.B) {
			bound := bind(b, rule, x)
			var s Support
			for range b.N {
				bound.At(x.z, x.m, &s)
			}
		})
	}
}

// A weight that is the smallest number above 0 becomes 0 when it is divided by the sum of all: its row is left out, and a larger one stays.
func TestWeightsThatVanishAreLeftOut(t *testing.T) {
	kept := map[int]int{}
	for i := range 60 {
		x := sample{z: append(fill(38, func(int) float64 { return 1 }), 5, -2.45-float64(i)/500), m: fill(40, func(int) float64 { return 1 })}
		x.m[38] = 4.5
		s, _ := at(bind(t, SurrogateQuantile{MustRate("0.561"), 100, surrogate.Logistic}, x), x)
		for k, a := range s.A {
			if !(a > 0) {
				t.Errorf("a score of %v: row %d has a = %v", x.z[39], s.Rows[k], a)
			}
		}
		kept[len(s.Rows)]++
	}
	if kept[40] == 0 || kept[39] == 0 {
		t.Errorf("cases by the number of rows kept: %v", kept)
	}
}
