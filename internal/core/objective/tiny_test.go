package objective

import (
	"encoding/json"
	"math"
	"math/big"
	"os"
	"strings"
	"testing"

	"toptau/internal/core/matrix"
	"toptau/method"
	"toptau/threshold"
)

// rational is an exact number of the reference file.
type rational float64

func (r *rational) UnmarshalJSON(text []byte) error {
	exact, ok := new(big.Rat).SetString(strings.Trim(string(text), `"`))
	if !ok {
		return &json.UnmarshalTypeError{Value: string(text)}
	}
	f, _ := exact.Float64()
	*r = rational(f)
	return nil
}

func floats(in []rational) []float64 {
	out := make([]float64, len(in))
	for i, r := range in {
		out[i] = float64(r)
	}
	return out
}

// tinyCase is one case of internal/tests/reference/tiny_cases.json.
type tinyCase struct {
	ID, Kind, Method string
	X                [][]rational
	Y                []int
	Lambda           rational
	Params           struct {
		K, Tau string
		Beta   rational
	}
	W         []rational
	Scores    []rational
	T         rational
	LossTerm  rational `json:"loss_term"`
	F         rational
	Gradient  []rational
	Counts    struct{ TP, FN, FP, TN int }
	WOpt      []rational `json:"w_opt"`
	TOpt      rational   `json:"t_opt"`
	FOpt      rational   `json:"F_opt"`
	Positives []rational `json:"dual_alpha_positives"`
	Dual      []rational `json:"dual_beta_population"`
}

func tinyCases(t *testing.T) []tinyCase {
	t.Helper()
	text, err := os.ReadFile("../../tests/reference/tiny_cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []tinyCase }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) != 76 {
		t.Fatalf("%d cases, want 76", len(file.Cases))
	}
	return file.Cases
}

func (c *tinyCase) problem(t *testing.T) method.Problem {
	t.Helper()
	m, err := method.ByName(c.Method)
	if err != nil {
		t.Fatal(err)
	}
	h := method.Problem{Lambda: float64(c.Lambda), Beta: float64(c.Params.Beta)}
	if c.Params.K != "" {
		k, _ := new(big.Int).SetString(c.Params.K, 10)
		h.K = int(k.Int64())
	}
	if c.Params.Tau != "" {
		h.Tau = threshold.MustRate(c.Params.Tau)
	}
	p, err := m.With(h)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// layouts are the ways in which the same columns are stored.
var layouts = map[string]matrix.BlockKind{"dense": matrix.Dense, "sparse": matrix.Sparse}

// pack stores rows in one block of the given kind.
func pack(t testing.TB, x [][]float64, y []bool, weights []float64, kind matrix.BlockKind) *matrix.Matrix {
	t.Helper()
	b := matrix.NewBuilder(matrix.Layout{{Kind: kind, Cols: len(x[0])}}, matrix.Float64)
	for i, row := range x {
		weight := 1.0
		if weights != nil {
			weight = weights[i]
		}
		if kind == matrix.Dense {
			b.Add(y[i], row, nil, nil, weight, i)
			continue
		}
		cols := make([]uint32, len(row))
		for j := range cols {
			cols[j] = uint32(j)
		}
		b.Add(y[i], nil, cols, row, weight, i)
	}
	m, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (c *tinyCase) objective(t *testing.T, kind matrix.BlockKind) *Objective {
	t.Helper()
	x, y := make([][]float64, len(c.X)), make([]bool, len(c.X))
	for i, row := range c.X {
		x[i], y[i] = floats(row), c.Y[i] == 1
	}
	o, err := New(c.problem(t), pack(t, x, y, nil, kind))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// near compares to 1e-12, relative to numbers above 1.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-12*max(1, math.Abs(want))) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func nearAll(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has %d elements, want %d", what, len(got), len(want))
	}
	for i := range got {
		near(t, what, got[i], want[i])
	}
}

func TestTinyCases(t *testing.T) {
	for _, c := range tinyCases(t) {
		for name, kind := range layouts {
			t.Run(c.ID+"/"+name, func(t *testing.T) {
				o := c.objective(t, kind)
				if c.Kind == "optimum" {
					c.checkOptimum(t, o)
				} else {
					c.checkValue(t, o)
				}
			})
		}
	}
}

// byClass puts numbers in sample order into the order of the population of all samples.
func (c *tinyCase) byClass(in []rational) []float64 {
	var out []float64
	for _, class := range []int{1, 0} {
		for i, y := range c.Y {
			if y == class {
				out = append(out, float64(in[i]))
			}
		}
	}
	return out
}

func (c *tinyCase) checkValue(t *testing.T, o *Objective) {
	grad := make([]float64, o.Dim())
	v := o.At(floats(c.W), grad)
	near(t, "t", v.T, float64(c.T))
	near(t, "loss", v.Loss, float64(c.LossTerm))
	near(t, "F", v.F, float64(c.F))
	if c.Gradient != nil {
		nearAll(t, "gradient", grad, floats(c.Gradient))
	}
	if valueOnly := o.At(floats(c.W), nil); valueOnly != v {
		t.Errorf("without a gradient %v, with one %v", valueOnly, v)
	}
	o.computeScores(floats(c.W))
	nearAll(t, "scores", o.z, c.byClass(c.Scores))
	positives := o.x.Positives.Rows()
	if tp := above(o.z[:positives], v.T); tp != c.Counts.TP || positives-tp != c.Counts.FN {
		t.Errorf("%d true positives, want %d", tp, c.Counts.TP)
	}
	if fp := above(o.z[positives:], v.T); fp != c.Counts.FP || len(o.z)-positives-fp != c.Counts.TN {
		t.Errorf("%d false positives, want %d", fp, c.Counts.FP)
	}
}

// above counts the scores that are at least t, rounding of t apart.
func above(z []float64, t float64) int {
	n := 0
	for _, s := range z {
		if s >= t-1e-12 {
			n++
		}
	}
	return n
}

func (c *tinyCase) checkOptimum(t *testing.T, o *Objective) {
	v := o.At(floats(c.WOpt), nil)
	near(t, "t", v.T, float64(c.TOpt))
	near(t, "loss", v.Loss, float64(c.LossTerm))
	near(t, "F", v.F, float64(c.FOpt))
	o.computeScores(floats(c.WOpt))
	nearAll(t, "scores", o.z, c.byClass(c.Scores))
	p := floats(c.Positives)
	a := floats(c.Dual) // in sample order
	if o.problem.Definition().Population != method.Negatives {
		a = c.byClass(c.Dual)
	}
	total := sum(len(p), func(i int) float64 { return p[i] })
	for j := range a {
		a[j] /= total
	}
	d, err := o.Dual(p, a)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "D", d.D, float64(c.FOpt))
	if c.Lambda > 0 {
		for j, w := range floats(c.WOpt) {
			near(t, "v/lambda", d.V[j]/float64(c.Lambda), w)
		}
	}
}
