package objective

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"toptau/diag"
	"toptau/internal/core/matrix"
	"toptau/method"
	"toptau/surrogate"
)

// randomDual is a feasible point: p below its caps, a in the simplex below its own.
func randomDual(r *rand.Rand, o *Objective) (p, a []float64) {
	p = make([]float64, o.x.Positives.Rows())
	slope := min(o.loss.Properties().MaxDerivative, 3)
	scale := unit(r)
	for i := range p {
		p[i] = scale * unit(r) * slope * o.positives.Of(i) / o.positives.Total
		if unit(r) < 0.3 {
			p[i] = 0
		}
	}
	a = make([]float64, o.population.Rows)
	left := 1.0
	for left > 1e-15 { // fill at random up to the caps until everything is spent
		j := int(r.Uint64() % uint64(len(a)))
		room := o.rule.Cap(weight(o.weights, j)) - a[j]
		take := min(left, room, unit(r))
		a[j] += take
		left -= take
	}
	return p, a
}

// mix is the dual point that the gradient at w suggests, mixed with a random one.
func mix(r *rand.Rand, o *Objective, w []float64) (p, a []float64) {
	p, a = randomDual(r, o)
	v := o.At(w, nil)
	o.computeScores(w)
	s := 1 - unit(r)*unit(r)
	for i := range p {
		tight := o.loss.Derivative(v.T-o.z[i]) * o.positives.Of(i) / o.positives.Total
		p[i] += s * (tight - p[i])
	}
	for j := range a {
		a[j] *= 1 - s
	}
	for k, row := range o.support.Rows {
		a[row] += s * o.support.A[k]
	}
	return p, a
}

func TestWeakDuality(t *testing.T) {
	forEveryMethod(t, func(t *testing.T, m method.Method, l surrogate.Surrogate) {
		if !m.Convex {
			return
		}
		r := rand.New(rand.NewPCG(8, 8))
		for _, weighted := range []bool{false, true} {
			x, y, weights := randomRows(9, 45, 4, false)
			if !weighted {
				weights = nil
			}
			o, err := New(problemOf(t, m, l, 0.05), pack(t, x, y, weights, matrix.Dense))
			if err != nil {
				t.Fatal(err)
			}
			for range 60 {
				scale := math.Exp(3 * (2*unit(r) - 1))
				w := randomPoint(r, o.Dim())
				for j := range w {
					w[j] *= scale
				}
				p, a := mix(r, o, w)
				d, err := o.Dual(p, a)
				if err != nil {
					t.Fatal(err)
				}
				inBall, err := o.DualInBall(p, a, Norm(w))
				if err != nil {
					t.Fatal(err)
				}
				if inBall.D < d.D-1e-9*math.Abs(d.D) {
					t.Fatalf("the bound in a ball, %v, is below the one everywhere, %v", inBall.D, d.D)
				}
				for _, at := range [][]float64{w, make([]float64, len(w)), randomPoint(r, len(w)), scaled(d.V, 1/0.05)} {
					v := o.At(at, nil)
					if d.D > v.F+1e-11*max(1, v.F) {
						t.Fatalf("D = %v is above F = %v", d.D, v.F)
					}
					if Norm(at) <= Norm(w) && inBall.D > v.F+1e-11*max(1, v.F) {
						t.Fatalf("the bound in the ball, %v, is above F = %v", inBall.D, v.F)
					}
				}
			}
		}
	})
}

// On a strongly convex objective the averages of the dual points along a subgradient run close the gap: D is not only a
// lower bound, it is the right one.
func TestGapCloses(t *testing.T) {
	forEveryMethod(t, func(t *testing.T, m method.Method, l surrogate.Surrogate) {
		if !m.Convex {
			return
		}
		const lambda = 1.0
		x, y, weights := randomRows(9, 45, 4, false)
		o, err := New(problemOf(t, m, l, lambda), pack(t, x, y, weights, matrix.Dense))
		if err != nil {
			t.Fatal(err)
		}
		w, grad := make([]float64, o.Dim()), make([]float64, o.Dim())
		p, q := make([]float64, o.x.Positives.Rows()), make([]float64, o.population.Rows)
		best, bound := math.Inf(1), math.Inf(-1)
		for k := 1; k <= 2000; k++ {
			v := o.At(w, grad)
			best = min(best, v.F)
			share := 2 / float64(k+100) // averages with weights that grow like k, and steps that suit the squared hinge
			addDual(o, w, v.T, share, p, q)
			if k%100 == 0 {
				total := sum(len(p), func(i int) float64 { return p[i] })
				d, err := o.Dual(p, scaled(q, 1/total))
				if err != nil {
					t.Fatal(err)
				}
				bound = max(bound, d.D)
			}
			for j := range w {
				w[j] -= share / lambda * grad[j]
			}
		}
		if bound > best || best-bound > 0.01*best {
			t.Errorf("F = %v, D = %v", best, bound)
		}
	})
}

// addDual moves (p, q), with q = P a, by share towards the point of the gradient that At has computed last.
func addDual(o *Objective, w []float64, t, share float64, p, q []float64) {
	o.computeScores(w)
	total := 0.0
	for i := range p {
		new := o.loss.Derivative(t-o.z[i]) * o.positives.Of(i) / o.positives.Total
		total += new
		p[i] += share * (new - p[i])
	}
	for j := range q {
		q[j] *= 1 - share
	}
	for k, row := range o.support.Rows {
		q[row] += share * total * o.support.A[k]
	}
}

func scaled(v []float64, s float64) []float64 {
	out := make([]float64, len(v))
	for j := range v {
		out[j] = s * v[j]
	}
	return out
}

// D is what DESIGN.md's formulas say, weighted.
func TestDualFormula(t *testing.T) {
	x, y, weights := randomRows(10, 30, 3, false)
	data := pack(t, x, y, weights, matrix.Sparse)
	for _, name := range []string{"toppushk", "topmean", "patmat", "patmat-np"} {
		m, _ := method.ByName(name)
		for _, l := range []surrogate.Surrogate{surrogate.Hinge, surrogate.SquaredHinge} {
			problem := problemOf(t, m, l, 0.3)
			o, err := New(problem, data)
			if err != nil {
				t.Fatal(err)
			}
			p, a := randomDual(rand.New(rand.NewPCG(1, 2)), o)
			d, err := o.Dual(p, a)
			if err != nil {
				t.Fatal(err)
			}
			near(t, name+" "+string(l.Name()), d.D, formula(o, problem, p, a))
		}
	}
}

// formula is D = P - P r(a) - B - |v|^2/(2 lambda), written out row by row.
func formula(o *Objective, problem method.Problem, p, a []float64) float64 {
	hinge := problem.Surrogate == "hinge"
	total, b := 0.0, 0.0
	v, row := make([]float64, o.Dim()), make([]float64, o.Dim())
	for i, pi := range p {
		total += pi
		if !hinge {
			b += o.positives.Total / (4 * o.positives.Of(i)) * pi * pi
		}
		o.x.Positives.Row(i, row)
		for j := range v {
			v[j] += pi * row[j]
		}
	}
	rows := o.x.Positives.Rows()
	square, highest := 0.0, 0.0
	for k, ak := range a {
		switch {
		case problem.Definition().Population == method.Negatives:
			o.x.Negatives.Row(k, row)
		case k < rows:
			o.x.Positives.Row(k, row)
		default:
			o.x.Negatives.Row(k-rows, row)
		}
		for j := range v {
			v[j] -= total * ak * row[j]
		}
		m := weight(o.weights, k)
		square += ak * ak / m
		highest = max(highest, ak/m)
	}
	r := 0.0
	if problem.Definition().UsesBeta {
		top := problem.Tau.Float64() * o.population.Mass
		if hinge {
			r = (top*highest - 1) / problem.Beta
		} else {
			r = (math.Sqrt(top*square) - 1) / problem.Beta
		}
	}
	norm := 0.0
	for _, vj := range v {
		norm += vj * vj
	}
	return total - total*r - b - norm/(2*problem.Lambda)
}

func TestInfeasibleDual(t *testing.T) {
	x, y, _ := randomRows(11, 30, 3, false) // 10 positives, 20 negatives
	data := pack(t, x, y, nil, matrix.Dense)
	m, _ := method.ByName("toppushk")
	o, err := New(problemOf(t, m, surrogate.Hinge, 0.1), data)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(p, a []float64) ([]float64, []float64)
		text   []string
	}{
		{"p above its cap", func(p, a []float64) ([]float64, []float64) { p[4] = 0.125; return p, a },
			[]string{"p of positive 5 (row 13 of the data) is 0.125", "at most 0.1"}},
		{"p negative", func(p, a []float64) ([]float64, []float64) { p[0] = -1e-300; return p, a },
			[]string{"p of positive 1", "is -1e-300", "at least 0"}},
		{"p not a number", func(p, a []float64) ([]float64, []float64) { p[0] = math.NaN(); return p, a },
			[]string{"is NaN"}},
		{"p too short", func(p, a []float64) ([]float64, []float64) { return p[1:], a },
			[]string{"p has 9 elements", "10 positives"}},
		{"a above its cap", func(p, a []float64) ([]float64, []float64) { a[0], a[1] = 0.4, a[1]-(0.4-a[0]); return p, a },
			[]string{"a of negative 1 (row 2 of the data)", "is 0.40", "at most 0.3333"}},
		{"a negative", func(p, a []float64) ([]float64, []float64) { a[7] = -0.1; a[8] = 0.1; return p, a },
			[]string{"a of negative 8", "is -0.1"}},
		{"sum of a", func(p, a []float64) ([]float64, []float64) { a[3] += 1e-9; return p, a },
			[]string{"sum of a is 1.00000000", "expected 1"}},
		{"a too long", func(p, a []float64) ([]float64, []float64) { return p, append(a, 0) },
			[]string{"a has 21 elements", "20 rows"}},
		{"a not a number", func(p, a []float64) ([]float64, []float64) { a[0] = math.NaN(); return p, a },
			[]string{"sum of a is NaN"}},
	} {
		p, a := make([]float64, 10), make([]float64, 20)
		for i := range p {
			p[i] = 0.05
		}
		a[0], a[1], a[2], a[3] = 0.25, 0.25, 0.25, 0.25
		if _, err := o.Dual(p, a); err != nil {
			t.Fatal(err)
		}
		p, a = c.change(p, a)
		_, err := o.Dual(p, a)
		if diag.Of(err) == nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for _, text := range c.text {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v does not say %q", c.name, err, text)
			}
		}
	}
}

// A point that breaks a constraint by rounding only is taken, and its value is that of a feasible one.
func TestRoundingIsFeasible(t *testing.T) {
	x, y, _ := randomRows(12, 30, 3, false)
	m, _ := method.ByName("toppushk")
	o, err := New(problemOf(t, m, surrogate.Hinge, 0.1), pack(t, x, y, nil, matrix.Dense))
	if err != nil {
		t.Fatal(err)
	}
	third := math.Nextafter(1.0/3, 1)
	p, a := make([]float64, 10), make([]float64, 20)
	p[0] = math.Nextafter(0.1, 1)
	a[0], a[1], a[2] = third, third, third
	if _, err := o.Dual(p, a); err != nil {
		t.Error(err)
	}
	point := &dualPoint{of: o, a: a}
	if err := point.clipA(); err != nil {
		t.Fatal(err)
	}
	a = point.a
	for _, aj := range a {
		if aj > 1.0/3 {
			t.Errorf("a = %v is above its cap", aj)
		}
	}
}

func TestDualWithoutLambda(t *testing.T) {
	x := [][]float64{{1, 0}, {0, 1}, {1, 0}, {0, 1}}
	y := []bool{true, true, false, false}
	m, _ := method.ByName("toppush")
	o, err := New(problemOf(t, m, surrogate.Hinge, 0), pack(t, x, y, nil, matrix.Dense))
	if err != nil {
		t.Fatal(err)
	}
	// The mean of the positives is that of the negatives: v = 0, and w = 0 is optimal.
	d, err := o.Dual([]float64{0.5, 0.5}, []float64{0.5, 0.5})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "D", d.D, 1)
	if _, err := o.Dual([]float64{0.5, 0.25}, []float64{0.5, 0.5}); diag.Of(err) == nil || !strings.Contains(err.Error(), "|v| =") {
		t.Errorf("v is not 0: %v", err)
	}
	d, err = o.DualInBall([]float64{0.5, 0.25}, []float64{0.5, 0.5}, 2)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "D in a ball", d.D, 0.75-2*math.Hypot(0.125, 0.125))
	for _, radius := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := o.DualInBall([]float64{0, 0}, []float64{1, 0}, radius); err == nil {
			t.Errorf("radius %v was taken", radius)
		}
	}
}

func TestNoDualOfGrill(t *testing.T) {
	x, y, _ := randomRows(13, 30, 3, false)
	m, _ := method.ByName("grill")
	o, err := New(problemOf(t, m, surrogate.Hinge, 0.1), pack(t, x, y, nil, matrix.Dense))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Dual(make([]float64, 10), make([]float64, 30)); err == nil || !strings.Contains(err.Error(), "not convex") {
		t.Error(err)
	}
}
