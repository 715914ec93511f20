package lockstep

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
	"toptau/method"
	"toptau/surrogate"
	"toptau/threshold"
)

// randomMatrix returns random rows of 6 columns whose values are small multiples of 1/8, so that fast scores are exact.
func randomMatrix(t testing.TB, layout matrix.Layout, storage matrix.Storage, rows int, weighted bool) *matrix.Matrix {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(rows), 7))
	b := matrix.NewBuilder(layout, storage)
	for i := range rows {
		var dense, values []float64
		var cols []uint32
		positive, first := r.IntN(4) == 0, 0
		for _, spec := range layout {
			for j := first; j < first+spec.Cols; j++ {
				x := float64(r.IntN(65)-32) / 8
				if positive && j%2 == 0 {
					x += 2
				}
				if spec.Kind == matrix.Dense {
					dense = append(dense, x)
				} else if r.IntN(3) == 0 {
					cols, values = append(cols, uint32(j)), append(values, x)
				}
			}
			first += spec.Cols
		}
		weight := 1.0
		if weighted {
			weight = float64(1 + r.IntN(3))
		}
		b.Add(positive || i == 0, dense, cols, values, weight, i)
	}
	m, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var testLayouts = map[string]matrix.Layout{
	"dense":  {{Kind: matrix.Dense, Cols: 6}},
	"sparse": {{Kind: matrix.Sparse, Cols: 6}},
	"mixed":  {{Kind: matrix.Dense, Cols: 2}, {Kind: matrix.Sparse, Cols: 3}, {Kind: matrix.Dense, Cols: 1}},
}

// allProblems returns every method with every surrogate and two settings, the second alone with -short.
func allProblems(t testing.TB) []method.Problem {
	t.Helper()
	var out []method.Problem
	for _, m := range method.All() {
		for _, name := range surrogate.Names() {
			for k := range 2 {
				if k == 0 && testing.Short() {
					continue
				}
				l, _ := surrogate.ByName(name)
				h := method.Problem{Lambda: 0.01 * float64(k), Surrogate: l.Name()}
				if m.UsesTau {
					h.Tau = threshold.MustRate([]string{"2%", "1/3"}[k])
				}
				if m.UsesBeta {
					h.Beta = []float64{0.5, 10}[k]
				}
				if m.UsesK {
					h.K = 1 + 20*k
				}
				p, err := m.With(h)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, p)
			}
		}
	}
	return out
}

func bind(t testing.TB, problems []method.Problem, x *matrix.Matrix) []*objective.Objective {
	t.Helper()
	out := make([]*objective.Objective, len(problems))
	for i, p := range problems {
		o, err := objective.New(p, x)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = o
	}
	return out
}

// setFewRows lets small matrices select candidates, too.
func setFewRows(t testing.TB, rows int) {
	before := fewRows
	fewRows = rows
	t.Cleanup(func() { fewRows = before })
}

// walk returns a sequence of weights: steps, jumps, turns, a point twice, zero.
func walk(seed uint64, dim, steps int) [][]float64 {
	r := rand.New(rand.NewPCG(seed, 5))
	w := make([]float64, dim)
	out := [][]float64{append([]float64(nil), w...)}
	for len(out) < steps {
		switch r.IntN(8) {
		case 0:
			for j := range w {
				w[j] = -w[j]
			}
		case 1:
			factor := []float64{0, 0.01, 100}[r.IntN(3)]
			if objective.Norm(w) > 4 {
				factor = 0.01
			}
			for j := range w {
				w[j] *= factor
			}
		case 2: // stay
		default:
			for j := range w {
				w[j] += float64(r.IntN(9)-4) / 64
			}
		}
		out = append(out, append([]float64(nil), w...))
	}
	return out
}

// With these numbers fast scores are exact; only the order of sums and the rounding of coefficients differ.
func TestEvaluatorAgreesWithTheObjective(t *testing.T) {
	setFewRows(t, 0)
	checkEvaluator(t)
}

func checkEvaluator(t *testing.T) {
	for name, layout := range testLayouts {
		for _, weighted := range []bool{false, true} {
			x := randomMatrix(t, layout, matrix.Float32, 600, weighted)
			for i, o := range bind(t, allProblems(t), x) {
				l := New(1)
				got, want := make([]float64, 6), make([]float64, 6)
				for k, w := range walk(uint64(i), 6, 16) {
					if k == 10 {
						clear(w)
						w[1] = 0.5 // many ties
					}
					for j := range w {
						w[j] = math.Round(w[j]*64) / 64
					}
					v := o.At(w, want)
					p := []Point{{Objective: o, W: w, Grad: got}}
					l.Evaluate(p)
					if !within(p[0].Value.F, v.F, 1e-12) || !within(p[0].Value.T, v.T, 1e-12) || !within(p[0].Value.Loss, v.Loss, 1e-12) {
						t.Fatalf("%s, %s, step %d: %+v, want %+v", name, describe(o), k, p[0].Value, v)
					}
					for j := range want {
						if math.Abs(got[j]-want[j]) > 3e-6*(math.Abs(want[j])+5) {
							t.Fatalf("%s, %s, step %d: gradient %v, want %v", name, describe(o), k, got, want)
						}
					}
				}
			}
		}
	}
}

func within(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance*(1+math.Abs(b)) }

func describe(o *objective.Objective) string {
	h := o.Problem()
	return fmt.Sprintf("%s %s lambda %v tau %v beta %v k %d", o.Problem().Definition().Name, o.Problem().Loss().Name(), h.Lambda, h.Tau, h.Beta, h.K)
}

// bytesOf returns values and gradients along walks, of all runs in the same calls or of one run after the other.
func bytesOf(t *testing.T, x *matrix.Matrix, problems []method.Problem, together bool) []string {
	objectives := bind(t, problems, x)
	out := make([]string, len(objectives))
	walks := make([][][]float64, len(objectives))
	for i := range objectives {
		walks[i] = walk(uint64(i), x.Cols(), 15)
	}
	step := func(l *Evaluator, k int, runs []int) {
		points := make([]Point, 0, len(runs))
		for at, i := range runs {
			p := Point{Objective: objectives[i], Run: at, W: walks[i][k], Grad: make([]float64, x.Cols())}
			for j := range p.W {
				p.W[j] *= 1.1 // not exact
			}
			if k%5 == 4 {
				p.Grad = nil
			}
			points = append(points, p)
		}
		l.Evaluate(points)
		for at, i := range runs {
			out[i] += fmt.Sprintf("%x %x;", points[at].Value, points[at].Grad)
		}
	}
	if together {
		l, runs := New(len(objectives)), make([]int, len(objectives))
		for i := range runs {
			runs[i] = i
		}
		for k := range 15 {
			step(l, k, runs)
		}
		return out
	}
	for i := range objectives {
		l := New(1)
		for k := range 15 {
			step(l, k, []int{i})
		}
	}
	return out
}

func TestRunsHaveTheSameBitsAloneAndTogether(t *testing.T) {
	if testing.Short() {
		t.Skip("fits many problems")
	}
	setFewRows(t, 0)
	checkBits(t)
}

func checkBits(t *testing.T) {
	for name, layout := range testLayouts {
		for _, storage := range []matrix.Storage{matrix.Float32, matrix.Float64} {
			x := randomMatrix(t, layout, storage, 1700, name == "mixed")
			single, together := bytesOf(t, x, allProblems(t), false), bytesOf(t, x, allProblems(t), true)
			for i, p := range allProblems(t) {
				if single[i] != together[i] {
					t.Errorf("%s, %s, %v: other bits next to other runs", name, p.Definition().Name, p)
				}
			}
		}
	}
}

func TestEvaluatorHasTheSameBitsForAnyThreads(t *testing.T) {
	x := randomMatrix(t, testLayouts["mixed"], matrix.Float32, 60000, false)
	var problems []method.Problem
	for i, p := range allProblems(t) {
		if i%7 == 0 {
			problems = append(problems, p)
		}
	}
	var want []string
	for _, threads := range []int{1, 2, 5} {
		before := runtime.GOMAXPROCS(threads)
		got := bytesOf(t, x, problems, true)
		runtime.GOMAXPROCS(before)
		if want == nil {
			want = got
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("%d threads: run %d differs", threads, i)
			}
		}
	}
}

// Predicted floors never change a threshold, even after steps that mislead the prediction.
func TestCandidatesGiveTheThresholdOfAllScores(t *testing.T) {
	x := randomMatrix(t, testLayouts["dense"], matrix.Float32, 3000, false)
	for i, o := range bind(t, allProblems(t), x) {
		l := New(1)
		_, root := o.Problem().Rule().(threshold.SurrogateQuantile)
		for k, w := range walk(uint64(i), 6, 30) {
			setFewRows(t, 0)
			p := []Point{{Objective: o, W: w, Grad: make([]float64, 6)}}
			l.Evaluate(p)
			setFewRows(t, math.MaxInt)
			q := []Point{{Objective: o, W: w, Grad: make([]float64, 6)}}
			New(1).Evaluate(q)
			got, want := fmt.Sprintf("%x %x", p[0].Value, p[0].Grad), fmt.Sprintf("%x %x", q[0].Value, q[0].Grad)
			if !root && got != want || root && !within(p[0].Value.T, q[0].Value.T, 1e-12) {
				t.Fatalf("%s, step %d: %v, from all scores %v", describe(o), k, p[0], q[0])
			}
		}
	}
}

// Nor do floors from a sample, good or bad.
func TestSampleFloorsNeverChangeAResult(t *testing.T) {
	x := randomMatrix(t, testLayouts["dense"], matrix.Float32, 30000, false)
	for i, o := range bind(t, allProblems(t), x) {
		if o.Problem().Loss() != surrogate.Hinge || o.Problem().Definition().UsesBeta {
			continue
		}
		l := New(1)
		for k, w := range walk(uint64(i), 6, 12) {
			p := []Point{{Objective: o, W: w, Grad: make([]float64, 6)}}
			l.Evaluate(p)
			setFewRows(t, math.MaxInt)
			q := []Point{{Objective: o, W: w, Grad: make([]float64, 6)}}
			New(1).Evaluate(q)
			setFewRows(t, 4096)
			if got, want := fmt.Sprintf("%x %x", p[0].Value, p[0].Grad), fmt.Sprintf("%x %x", q[0].Value, q[0].Grad); got != want {
				t.Fatalf("%s, step %d: %v, from all scores %v", describe(o), k, p[0], q[0])
			}
		}
		if o.Problem().Tau != threshold.MustRate("1/3") && l.subjects[o].sampled == nil {
			t.Errorf("%s: no floor was estimated", describe(o))
		}
	}
}

// Where most rows have a part in a surrogate quantile, they are described by the lowest score, ties included.
func TestUniformSupportAgreesWithTheObjective(t *testing.T) {
	x := randomMatrix(t, testLayouts["mixed"], matrix.Float32, 900, false)
	for _, name := range []string{"patmat", "patmat-np"} {
		m, err := method.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		uniform := 0
		for _, beta := range []float64{0.05, 0.3, 100} {
			p, err := m.With(method.Problem{Tau: threshold.MustRate("1/3"), Beta: beta, Lambda: 0.1})
			if err != nil {
				t.Fatal(err)
			}
			o, l := bind(t, []method.Problem{p}, x)[0], New(1)
			got, want := make([]float64, 6), make([]float64, 6)
			for k, w := range walk(7, 6, 20) {
				for j := range w {
					w[j] = math.Round(w[j]*64) / 64
				}
				v, points := o.At(w, want), []Point{{Objective: o, W: w, Grad: got}}
				l.Evaluate(points)
				if l.states[0].uniform.is {
					uniform++
				}
				for j := range want {
					if !within(points[0].Value.F, v.F, 1e-12) || math.Abs(got[j]-want[j]) > 3e-6*(math.Abs(want[j])+5) {
						t.Fatalf("%s, step %d: %v and gradient %v, want %v and %v", describe(o), k, points[0].Value, got, v, want)
					}
				}
			}
		}
		if uniform == 0 || uniform == 60 {
			t.Errorf("%s: %d of 60 thresholds have a uniform support", name, uniform)
		}
	}
}

// Where w changes little, one pass over the negatives is enough.
func TestOnePassIsEnough(t *testing.T) {
	x := randomMatrix(t, testLayouts["dense"], matrix.Float32, 6000, false)
	for _, o := range bind(t, allProblems(t), x) {
		if o.Problem().Definition().FalsePositives || o.Problem().Loss() == surrogate.Logistic && o.Problem().Definition().UsesBeta {
			continue
		}
		l := New(1)
		w := []float64{0.5, 0.25, -1, 0.125, 0.3, 0.9}
		for k := range 40 {
			for j := range w {
				w[j] += 0.01 * float64(1-2*(j%2)) * float64(1+k%3)
			}
			l.Evaluate([]Point{{Objective: o, W: w, Grad: make([]float64, 6)}})
		}
		// 40 passes, the rows with a coefficient, and few second passes.
		if reads := float64(o.Visits()) / float64(40*x.Rows()); reads > 2.1 {
			t.Errorf("%s: %.2f visits of a row in a step", describe(o), reads)
		}
		candidates := 0
		for rows := range l.states[0].classes[negatives].candidates.All() {
			candidates += len(rows)
		}
		if candidates == 0 || candidates == x.Negatives.Rows() {
			t.Errorf("%s: %d of %d negatives are candidates", describe(o), candidates, x.Negatives.Rows())
		}
	}
}
