package solve_test

import (
	"context"
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"toptau/diag"
	"toptau/method"
	"toptau/solve"
	"toptau/surrogate"
)

// problems returns one problem for each method and loss on the same random rows.
func problems(seed uint64, rows, cols int) (list []solve.Problem) {
	random := rand.New(rand.NewPCG(seed, 1))
	x, positive := make(solve.Dense, rows), make([]bool, rows)
	for i := range x {
		positive[i] = i%5 == 0
		x[i] = make([]float64, cols)
		for j := range x[i] {
			if random.IntN(3) > 0 { // a third is 0
				x[i][j] = random.NormFloat64()
			}
			if positive[i] {
				x[i][j] += 1.5
			}
		}
	}
	for _, m := range method.All() {
		for _, loss := range surrogate.Names() {
			p := solve.Problem{X: x, Positive: positive, Method: m.Name, Surrogate: loss, Lambda: 0.01}
			if m.UsesTau {
				p.Tau = 0.3
			}
			if m.UsesBeta {
				p.Beta = 1
			}
			if m.UsesK {
				p.K = 3
			}
			p.Settings.Iterations = 20
			if m.Convex && loss != surrogate.Logistic.Name() {
				p.Settings.Iterations = 0
			}
			list = append(list, p)
		}
	}
	return list
}

func mustSolve(t *testing.T, p solve.Problem) *solve.Solution {
	t.Helper()
	s, err := solve.Solve(context.Background(), p)
	if err != nil {
		t.Fatalf("%s %s: %v", p.Method, p.Surrogate, err)
	}
	return s
}

// All eight methods with each loss have a solution that is better than w = 0, and six with two losses a certificate that holds.
func TestEveryMethod(t *testing.T) {
	certificates := 0
	for _, p := range problems(1, 100, 4) {
		s := mustSolve(t, p)
		if s.Objective >= s.AtZero || s.ZeroIsOptimal || len(s.W) != 4 {
			t.Errorf("%s %s: %+v", p.Method, p.Surrogate, s)
		}
		if s.Certificate == nil {
			continue
		}
		certificates++
		v, err := solve.Verify(context.Background(), p, s.W, s.Certificate)
		if err != nil || !v.Holds || !s.Converged {
			t.Errorf("%s %s: %+v, %v", p.Method, p.Surrogate, v, err)
		}
	}
	if certificates != 12 {
		t.Errorf("%d certificates", certificates)
	}
}

// The optima of internal/tests/reference/tiny_cases.json are known as exact fractions.
func TestExactOptima(t *testing.T) {
	content, err := os.ReadFile("../internal/tests/reference/tiny_cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Kind, Method, ID, Lambda string
			X                        [][]string
			Y                        []int
			Params                   map[string]string
			FOptimum                 string `json:"F_opt"`
		}
	}
	if err := json.Unmarshal(content, &file); err != nil {
		t.Fatal(err)
	}
	number := func(s string) float64 {
		f := 0.0
		if r, ok := new(big.Rat).SetString(s); ok {
			f, _ = r.Float64()
		} else if s != "" {
			t.Fatalf("not a fraction: %q", s)
		}
		return f
	}
	count := 0
	for _, c := range file.Cases {
		if c.Kind != "optimum" {
			continue
		}
		count++
		m, err := method.ByName(c.Method)
		if err != nil {
			t.Fatal(err)
		}
		p := solve.Problem{Method: m.Name, Lambda: number(c.Lambda), Tau: number(c.Params["tau"]), Beta: number(c.Params["beta"]),
			K: int(number(c.Params["k"])), Settings: method.Settings{Gap: 2e-10, Storage: method.Float64}}
		var x solve.Dense
		for i, row := range c.X {
			x = append(x, nil)
			for _, v := range row {
				x[i] = append(x[i], number(v))
			}
			p.Positive = append(p.Positive, c.Y[i] == 1)
		}
		p.X = x
		s, want := mustSolve(t, p), number(c.FOptimum)
		if math.Abs(s.Objective-want) > 1e-9 || s.Certificate.LowerBound > want+1e-12 || !s.Converged {
			t.Errorf("%s: F %v, D %v, optimum %v", c.ID, s.Objective, s.Certificate.LowerBound, want)
		}
		if v, err := solve.Verify(context.Background(), p, s.W, s.Certificate); err != nil || !v.Holds {
			t.Errorf("%s: %+v, %v", c.ID, v, err)
		}
	}
	if count != 36 {
		t.Errorf("%d cases", count)
	}
}

// Dense, flat and compressed rows have the same bits, on any number of threads. Adam and SGD need float64 for compressed ones.
func TestSameBits(t *testing.T) {
	for _, p := range problems(2, 150, 5) {
		if p.Settings.Iterations > 0 {
			p.Settings.Storage = method.Float64
		}
		want := mustSolve(t, p)
		dense := p.X.(solve.Dense)
		flat, sparse := solve.Flat{Cols: 5}, solve.CSR{Cols: 5, Start: []int{0}}
		for _, row := range dense {
			flat.Value = append(flat.Value, row...)
			for j, v := range row {
				if v != 0 {
					sparse.Column, sparse.Value = append(sparse.Column, j), append(sparse.Value, v)
				}
			}
			sparse.Start = append(sparse.Start, len(sparse.Value))
		}
		threads := runtime.GOMAXPROCS(1)
		for _, x := range []solve.Rows{dense, flat, sparse} {
			p.X = x
			if s := mustSolve(t, p); !reflect.DeepEqual(s, want) {
				t.Errorf("%s %s: %T differs", p.Method, p.Surrogate, x)
			}
			runtime.GOMAXPROCS(threads)
		}
	}
}

// certifiable returns the problems that have a certificate.
func certifiable(list []solve.Problem) []solve.Problem {
	return slices.DeleteFunc(list, func(p solve.Problem) bool { return p.Settings.Iterations > 0 })
}

// Another order of the rows, and copies of rows instead of whole weights, are the same problem.
func TestSameProblems(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	for _, p := range certifiable(problems(3, 60, 3)) {
		weighted, copies, mixed := p, p, p
		weighted.Weight = make([]float64, len(p.Positive))
		copies.Positive, mixed.Positive, mixed.Weight = nil, nil, nil
		var copiesX, mixedX solve.Dense
		x := p.X.(solve.Dense)
		for i := range x {
			weighted.Weight[i] = float64(1 + random.IntN(3))
			for range int(weighted.Weight[i]) {
				copiesX, copies.Positive = append(copiesX, x[i]), append(copies.Positive, p.Positive[i])
			}
		}
		for _, i := range random.Perm(len(x)) {
			mixedX, mixed.Positive = append(mixedX, x[i]), append(mixed.Positive, p.Positive[i])
			mixed.Weight = append(mixed.Weight, weighted.Weight[i])
		}
		copies.X, mixed.X = copiesX, mixedX
		want := mustSolve(t, weighted)
		for name, other := range map[string]solve.Problem{"copies": copies, "another order": mixed} {
			s := mustSolve(t, other)
			if math.Abs(s.Objective-want.Objective) > 1e-6*want.AtZero {
				t.Errorf("%s %s, %s: objective %v, not %v", p.Method, p.Surrogate, name, s.Objective, want.Objective)
			}
			if v, err := solve.Verify(context.Background(), other, s.W, s.Certificate); err != nil || !v.Holds {
				t.Errorf("%s %s, %s: %+v, %v", p.Method, p.Surrogate, name, v, err)
			}
		}
	}
}

// Verify refuses what was forged in a certificate, in the weights or in the problem.
func TestForgeries(t *testing.T) {
	forge := map[string]func(*solve.Problem, *solve.Solution){
		"a weight":             func(_ *solve.Problem, s *solve.Solution) { s.W[1] += 1e-3 },
		"a weight that is NaN": func(_ *solve.Problem, s *solve.Solution) { s.W[1] = math.NaN() },
		"too few weights":      func(_ *solve.Problem, s *solve.Solution) { s.W = s.W[1:] },
		"the lower bound":      func(_ *solve.Problem, s *solve.Solution) { s.Certificate.LowerBound += 1e-6 },
		"the objective":        func(_ *solve.Problem, s *solve.Solution) { s.Certificate.Objective -= 1e-6 },
		"both bounds": func(_ *solve.Problem, s *solve.Solution) {
			s.Certificate.LowerBound, s.Certificate.Objective = 0.5*s.Objective, 0.5*s.Objective
		},
		"bounds that are NaN": func(_ *solve.Problem, s *solve.Solution) {
			s.Certificate.LowerBound, s.Certificate.Objective = math.NaN(), math.NaN()
		},
		"a multiplier":      func(_ *solve.Problem, s *solve.Solution) { s.Certificate.P.Value[0] += 0.1 },
		"a negative one":    func(_ *solve.Problem, s *solve.Solution) { s.Certificate.A.Value[0] = -0.1 },
		"a row twice":       func(_ *solve.Problem, s *solve.Solution) { s.Certificate.P.Row[1] = s.Certificate.P.Row[0] },
		"a row that is not": func(_ *solve.Problem, s *solve.Solution) { s.Certificate.A.Row[0] = 1 << 40 },
		"too few values":    func(_ *solve.Problem, s *solve.Solution) { s.Certificate.A.Value = s.Certificate.A.Value[1:] },
		"a ball":            func(_ *solve.Problem, s *solve.Solution) { s.Certificate.BallRadius = 1 },
		"no certificate":    func(_ *solve.Problem, s *solve.Solution) { s.Certificate = nil },
		"lambda":            func(p *solve.Problem, _ *solve.Solution) { p.Lambda *= 0.9 },
		"a label":           func(p *solve.Problem, _ *solve.Solution) { p.Positive[0] = false },
		"row weights":       func(p *solve.Problem, _ *solve.Solution) { p.Weight = weights(len(p.Positive)) },
		"a number": func(p *solve.Problem, s *solve.Solution) {
			heaviest := slices.Index(s.Certificate.P.Value, slices.Max(s.Certificate.P.Value))
			p.X.(solve.Dense)[s.Certificate.P.Row[heaviest]][1] += 0.1
		},
		"the method": func(p *solve.Problem, _ *solve.Solution) { p.Method, p.Tau, p.K, p.Beta = method.TopMean, 0.4, 0, 0 },
		"the loss": func(p *solve.Problem, _ *solve.Solution) {
			p.Surrogate = map[surrogate.Name]surrogate.Name{"hinge": "squared-hinge", "squared-hinge": "hinge"}[p.Surrogate]
		},
		"a method without certificates": func(p *solve.Problem, _ *solve.Solution) { p.Method, p.Tau, p.K, p.Beta = method.Grill, 0.1, 0, 0 },
		"a loss without certificates":   func(p *solve.Problem, _ *solve.Solution) { p.Surrogate = "logistic" },
	}
	for k, p := range certifiable(problems(4, 60, 3)) {
		honest := mustSolve(t, p)
		if v, err := solve.Verify(context.Background(), p, honest.W, honest.Certificate); err != nil || !v.Holds {
			t.Fatalf("%s %s: %+v, %v", p.Method, p.Surrogate, v, err)
		}
		content, err := json.Marshal(honest)
		if err != nil {
			t.Fatal(err)
		}
		for name, change := range forge {
			p, s := certifiable(problems(4, 60, 3))[k], &solve.Solution{}
			if err := json.Unmarshal(content, s); err != nil {
				t.Fatal(err)
			}
			change(&p, s)
			v, err := solve.Verify(context.Background(), p, s.W, s.Certificate)
			if err == nil && (v.Holds || len(v.Reasons) == 0) || err != nil && diag.Of(err) == nil {
				t.Errorf("%s %s: %s: %+v, %v", p.Method, p.Surrogate, name, v, err)
			}
		}
	}
}

func weights(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = float64(1 + i%4)
	}
	return list
}

// With lambda = 0 the bound holds in a ball, and a proof bounds the norm.
func TestLambdaZero(t *testing.T) {
	for _, p := range certifiable(problems(5, 60, 3)) {
		p.Lambda = 0
		s := mustSolve(t, p)
		v, err := solve.Verify(context.Background(), p, s.W, s.Certificate)
		if err != nil || !v.Holds || s.Certificate.BallRadius <= 0 {
			t.Errorf("%s %s: %+v, %v", p.Method, p.Surrogate, v, err)
		}
		forged := *s.Certificate
		forged.BallRadius = 0
		if v, err := solve.Verify(context.Background(), p, s.W, &forged); err == nil && v.Holds {
			t.Errorf("%s %s: a ball of radius 0 holds", p.Method, p.Surrogate)
		}
		if n := s.Certificate.Norm; n != nil {
			forged, norm := *s.Certificate, *n
			forged.Norm, norm.Bound = &norm, 2*n.Bound
			if v, err := solve.Verify(context.Background(), p, s.W, &forged); err == nil && v.Holds {
				t.Errorf("%s %s: twice the norm holds", p.Method, p.Surrogate)
			}
		}
	}
}

// What is no problem is an error with the place and what would be valid. The smallest problem is none.
func TestRefused(t *testing.T) {
	good := func() solve.Problem {
		return solve.Problem{X: solve.Dense{{1, 2}, {3, 4}}, Positive: []bool{true, false}, Method: "toppush", Lambda: 1}
	}
	mustSolve(t, good())
	csr := func(cols int, start, column []int, value ...float64) solve.CSR {
		return solve.CSR{Cols: cols, Start: start, Column: column, Value: value}
	}
	for want, change := range map[string]func(*solve.Problem){
		"missing x, expected rows: Dense, Flat or CSR":                                 func(p *solve.Problem) { p.X = nil },
		"x with 0 rows and 0 columns, expected rows and columns":                       func(p *solve.Problem) { p.X = solve.Dense{} },
		"x with 2 rows and 0 columns, expected rows and columns":                       func(p *solve.Problem) { p.X = solve.Dense{{}, {}} },
		"x[1] with 3 numbers, expected 2, as in x[0]":                                  func(p *solve.Problem) { p.X = solve.Dense{{1, 2}, {3, 4, 5}} },
		"x[1][0] NaN, expected a finite number":                                        func(p *solve.Problem) { p.X = solve.Dense{{1, 2}, {math.NaN(), 4}} },
		"x[0][1] -Inf, expected a finite number":                                       func(p *solve.Problem) { p.X = solve.Dense{{1, math.Inf(-1)}, {3, 4}} },
		"x[0][0] 1e+39, expected a number that float32 can hold (use storage float64)": func(p *solve.Problem) { p.X = solve.Dense{{1e39, 2}, {3, 4}} },
		"x with 3 numbers in rows of 2, expected whole rows":                           func(p *solve.Problem) { p.X = solve.Flat{Cols: 2, Value: []float64{1, 2, 3}} },
		"x with 3 numbers in rows of 0, expected whole rows":                           func(p *solve.Problem) { p.X = solve.Flat{Value: []float64{1, 2, 3}} },
		"x with 0 columns and 0 numbers of -1 rows":                                    func(p *solve.Problem) { p.X = solve.CSR{Cols: 2} },
		"x with 1 columns and 2 numbers of 2 rows":                                     func(p *solve.Problem) { p.X = csr(2, []int{0, 1, 2}, []int{0}, 1, 2) },
		"x.cols -1, expected":                                                          func(p *solve.Problem) { p.X = csr(-1, []int{0, 1, 2}, []int{0, 0}, 1, 2) },
		"x.start[1] 3, expected a number from 0 to 2":                                  func(p *solve.Problem) { p.X = csr(2, []int{0, 3, 2}, []int{0, 0}, 1, 2) },
		"x.start[2] 1, expected a number from 2 to 3":                                  func(p *solve.Problem) { p.X = csr(2, []int{0, 2, 1, 3}, []int{0, 1, 0}, 1, 2, 3) },
		"x.column[1] 2, expected ascending columns below 2 in row 1":                   func(p *solve.Problem) { p.X = csr(2, []int{0, 1, 2}, []int{0, 2}, 1, 2) },
		"x.column[1] 0, expected ascending columns below 2 in row 0":                   func(p *solve.Problem) { p.X = csr(2, []int{0, 2, 2}, []int{0, 0}, 1, 2) },
		"x[1][1] +Inf, expected a finite number":                                       func(p *solve.Problem) { p.X = csr(2, []int{0, 1, 2}, []int{0, 1}, 1, math.Inf(1)) },
		"positive with 1 elements, expected 2":                                         func(p *solve.Problem) { p.Positive = p.Positive[:1] },
		"positive with true only, expected both classes":                               func(p *solve.Problem) { p.Positive[1] = true },
		"positive with false only, expected both classes":                              func(p *solve.Problem) { p.Positive[0] = false },
		"weight with 3 elements, expected 2":                                           func(p *solve.Problem) { p.Weight = []float64{1, 1, 1} },
		"weight with 0 elements, expected 2":                                           func(p *solve.Problem) { p.Weight = []float64{} },
		"weight[1] 0, expected a finite number above 0 (leave out rows":                func(p *solve.Problem) { p.Weight = []float64{1, 0} },
		"weight[0] NaN, expected a finite number above 0":                              func(p *solve.Problem) { p.Weight = []float64{math.NaN(), 1} },
		`method ""`:            func(p *solve.Problem) { p.Method = "" },
		`method "top"`:         func(p *solve.Problem) { p.Method = "top" },
		`surrogate "huber"`:    func(p *solve.Problem) { p.Surrogate = "huber" },
		"lambda -1, expected":  func(p *solve.Problem) { p.Lambda = -1 },
		"lambda NaN, expected": func(p *solve.Problem) { p.Lambda = math.NaN() },
		`tau rate "NaN", expected a rate between 0 and 1`:                          func(p *solve.Problem) { p.Method, p.Tau = "topmean", math.NaN() },
		`tau rate "5", expected a rate between 0 and 1`:                            func(p *solve.Problem) { p.Method, p.Tau = "topmean", 5 },
		"missing tau, expected a rate":                                             func(p *solve.Problem) { p.Method = "topmean" },
		"k 2, expected none: method toppush does not use it":                       func(p *solve.Problem) { p.K = 2 },
		"solver certified, expected a convex method":                               func(p *solve.Problem) { p.Method, p.Tau, p.Settings.Solver = "grill", 0.5, "certified" },
		`solver "newton", expected auto, certified, adam or sgd`:                   func(p *solve.Problem) { p.Settings.Solver = "newton" },
		"TopPushK on 1 negatives: a population of 1 rows, expected at least k = 2": func(p *solve.Problem) { p.Method, p.K = "toppushk", 2 },
	} {
		p := good()
		change(&p)
		_, err := solve.Solve(context.Background(), p)
		_, again := solve.Verify(context.Background(), p, []float64{0, 0}, &solve.Certificate{})
		if err == nil || diag.Of(err) == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, expected %s", err, want)
		}
		if again == nil || diag.Of(again) == nil {
			t.Errorf("%s: Verify returns %v", want, again)
		}
	}
}

// Numbers near the ends of float64 are an error or a solution of finite numbers, and never a panic.
func TestExtremeNumbers(t *testing.T) {
	for _, size := range []float64{1e-300, 1e-30, 1e30, 1e150, 1e300, math.MaxFloat64} {
		for _, p := range problems(6, 30, 2) {
			x := p.X.(solve.Dense)
			for i := range x {
				for j := range x[i] {
					x[i][j] = min(max(x[i][j], -1), 1) * size
				}
			}
			p.Settings.Storage = method.Float64
			s, err := solve.Solve(context.Background(), p)
			if err != nil {
				if diag.Of(err) == nil {
					t.Errorf("%s %s at %g: %v", p.Method, p.Surrogate, size, err)
				}
				continue
			}
			if !(math.Abs(s.Objective) <= math.MaxFloat64) {
				t.Errorf("%s %s at %g: objective %v", p.Method, p.Surrogate, size, s.Objective)
			}
		}
	}
}

// A context that has ended is no error: the solution is cancelled, and what it claims holds.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, p := range problems(7, 60, 3) {
		s, err := solve.Solve(ctx, p)
		if err != nil || !s.Cancelled {
			t.Errorf("%s %s: %+v, %v", p.Method, p.Surrogate, s, err)
			continue
		}
		if s.Certificate == nil {
			continue
		}
		if v, err := solve.Verify(context.Background(), p, s.W, s.Certificate); err != nil || !v.Holds {
			t.Errorf("%s %s: %+v, %v", p.Method, p.Surrogate, v, err)
		}
	}
}

// The optimum is below the objective at other weights, and the lower bound below both.
func TestNothingIsBetter(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 1))
	for _, p := range certifiable(problems(8, 80, 3)) {
		s := mustSolve(t, p)
		c := *s.Certificate
		for range 20 {
			w := slices.Clone(s.W)
			for j := range w {
				w[j] += random.NormFloat64() * 0.1
			}
			v, err := solve.Verify(context.Background(), p, w, &c)
			if err != nil || v.Objective < s.Objective-1e-6*s.AtZero || v.LowerBound > v.Objective {
				t.Errorf("%s %s: %+v, %v, optimum %v", p.Method, p.Surrogate, v, err, s.Objective)
			}
		}
	}
}
