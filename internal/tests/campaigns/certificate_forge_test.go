package campaigns_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toptau/certify"
	"toptau/dataset"
	"toptau/internal/tests/modeltest"
	"toptau/internal/training/rowset"
	"toptau/method"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
	"toptau/surrogate"
	"toptau/threshold"
)

// hostile is the environment variable that selects the long runs of the attacks.
const hostile = "TOPTAU_HOSTILE"

// trueCase is a fit with its certificate.
type trueCase struct {
	name        string
	data        *dataset.Data
	file        string
	format      schema.Format
	model       *model.Model
	certificate *model.Certificate
}

// trueCases fits the six convex methods with both losses, several lambdas, without weights and with whole and fractional
// ones, in both storages. Each variant has other data, with at least the given number of rows, and other hyperparameters.
func trueCases(t testing.TB, variants, rows int) []*trueCase {
	t.Helper()
	dir := t.TempDir()
	var cases []*trueCase
	for variant := range variants {
		r := rand.New(rand.NewPCG(uint64(variant), 3))
		for _, weights := range []string{"", "whole", "fraction"} {
			path := filepath.Join(dir, fmt.Sprintf("%d%s.csv", variant, weights))
			if err := os.WriteFile(path, randomCSV(r, rows+r.IntN(rows)), 0o644); err != nil {
				t.Fatal(err)
			}
			format := schema.Format{Label: "y", Weight: weights, Drop: slices.DeleteFunc([]string{"whole", "fraction"},
				func(name string) bool { return name == weights })}
			d, err := dataset.Read(t.Context(), path, format)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range gridFits(r) {
				name := fmt.Sprintf("%s %s lambda %v %s %s, variant %d", c.Method, c.Surrogate, c.Lambda, weights, c.Storage, variant)
				fitted, err := certify.Fit(t.Context(), d, c.Problem, c.FitOptions)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				cases = append(cases, &trueCase{name, d, path, format, fitted.Model, fitted.Certificate})
			}
		}
	}
	return cases
}

// provedCase is what a test fits.
type provedCase struct {
	method.Problem
	certify.FitOptions
}

// gridFits returns every method and loss with lambda 0 and with one lambda above 0.
func gridFits(r *rand.Rand) []provedCase {
	var list []provedCase
	rate := func(from ...string) threshold.Rate { return threshold.MustRate(pick(r, from...)) }
	for _, p := range []method.Problem{
		{Method: method.TopPush}, {Method: method.TopPushK, K: 2 + r.IntN(3)},
		{Method: method.TopMean, Tau: rate("10%", "1/3", "0.07")}, {Method: method.TopMeanNP, Tau: rate("15%", "1/7", "0.3")},
		{Method: method.PatMat, Tau: rate("10%", "1/3", "0.07"), Beta: pick(r, 0.1, 1, 3)},
		{Method: method.PatMatNP, Tau: rate("15%", "1/7", "0.3"), Beta: pick(r, 0.1, 1, 3)},
	} {
		for _, p.Surrogate = range []surrogate.Name{"hinge", "squared-hinge"} {
			for _, p.Lambda = range []float64{0, pick(r, 1e-6, 1e-3, 0.1, 2)} {
				c := provedCase{Problem: p}
				c.Storage, c.Scale = pick(r, method.Float32, method.Float64), pick(r, schema.ScaleStandard, schema.ScaleNone)
				c.Solver = method.CertifiedSolver
				list = append(list, c)
			}
		}
	}
	return list
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// randomCSV returns rows of two overlapping classes with columns of weights. Some rows are equal.
func randomCSV(r *rand.Rand, rows int) []byte {
	var b bytes.Buffer
	b.WriteString("y,whole,fraction,u,v,w\n")
	separation := pick(r, 0.5, 1, 4)
	last := ""
	for i := range rows {
		if i < 2 || last == "" || r.IntN(8) > 0 {
			y := min(i, 1)
			if i > 1 && r.IntN(3) > 0 {
				y = 0
			}
			shift := separation * float64(y)
			last = fmt.Sprintf("%d,%d,%.3g,%.4g,%.4g,%.4g\n", y, 1+r.IntN(3), 0.1+2*r.Float64(),
				r.NormFloat64()+shift, r.NormFloat64(), 10*r.NormFloat64()-shift)
		}
		b.WriteString(last)
	}
	return b.Bytes()
}

// ifHostile returns the second number in a long run, otherwise the first.
func ifHostile(short, long int) int {
	if os.Getenv(hostile) != "" {
		return long
	}
	return short
}

// TestTrueCertificatesHold verifies every certificate of a grid and compares both bounds with rational numbers.
func TestTrueCertificatesHold(t *testing.T) {
	if testing.Short() {
		t.Skip("fits many models")
	}
	cases := trueCases(t, ifHostile(2, 40), 24)
	worst, norms, longest := 0.0, 0, 1.0
	for _, c := range cases {
		v, err := certify.Verify(t.Context(), c.model, c.data, reread(t, c.certificate), nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !v.Holds {
			t.Errorf("%s: %s", c.name, strings.Join(v.Reasons, "; "))
			continue
		}
		if defect := exactDefect(c.model, c.data, c.certificate, v); defect != "" {
			t.Errorf("%s: %s", c.name, defect)
		}
		worst = max(worst, max(v.ObjectiveError, v.LowerBoundError)/max(v.AtZero, v.Objective))
		if v.NormBound != nil {
			norms++
			longest = max(longest, v.NormW/(*v.NormBound-*v.NormBoundError))
		} else if c.certificate.Lambda == 0 && v.NormW > 0 {
			t.Errorf("%s: no bound on the norm", c.name)
		}
	}
	t.Logf("%d true certificates; rounding of at most %.2g of F(0); %d bounds on norms, with a ratio of at most %.4g", len(cases), worst,
		norms, longest)
}

// certificateText returns the content of a certificate's file.
func certificateText(c *model.Certificate) ([]byte, error) {
	var b bytes.Buffer
	_, err := c.WriteTo(&b)
	return b.Bytes(), err
}

// loadText reads the content of a certificate's file.
func loadText(t testing.TB, content []byte) (*model.Certificate, error) {
	t.Helper()
	f, err := os.CreateTemp("", "certificate")
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if _, err := f.Write(content); err != nil {
		t.Fatal(err)
	}
	return model.LoadCertificate(f.Name())
}

// reread writes a certificate and reads it again.
func reread(t testing.TB, c *model.Certificate) *model.Certificate {
	t.Helper()
	content, err := certificateText(c)
	if err == nil {
		c, err = loadText(t, content)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// forgery is a copy of a true case that a forger changes.
type forgery struct {
	*rand.Rand
	t       testing.TB
	of      *trueCase
	other   *model.Certificate // of any fit
	parts   model.Parts
	c       *model.Certificate
	data    *dataset.Data
	text    []byte          // of the certificate's file; nil: c
	problem *method.Problem // that Verify gets
}

// forge is a kind of forgery. make reports whether it applies to a case. An accepted certificate of any kind must agree with
// rational arithmetic. A false kind must always be refused.
type forge struct {
	name  string
	false bool
	make  func(f *forgery) bool
}

// newForgery returns a copy of a true case.
func newForgery(t testing.TB, number int, of *trueCase) *forgery {
	f := &forgery{Rand: rand.New(rand.NewPCG(uint64(number), 5)), t: t, of: of}
	f.copyCase(t)
	return f
}

// TestForgedCertificates makes forgeries of every kind from the certificates of a grid, and verifies them from the file and from a database.
func TestForgedCertificates(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	cases := trueCases(t, ifHostile(1, 8), 24)
	forgeries := ifHostile(modeltest.IfLong(1_200, 2_000), 20_000)
	var refused, accepted [2][]int
	for way := range refused {
		refused[way], accepted[way] = make([]int, len(forges)), make([]int, len(forges))
	}
	for made, i := 0, 0; made < forgeries; i++ {
		kind := i % len(forges)
		r := rand.New(rand.NewPCG(uint64(i), 5))
		f := &forgery{Rand: r, t: t, of: cases[r.IntN(len(cases))], other: reread(t, cases[r.IntN(len(cases))].certificate)}
		f.copyCase(t)
		if !forges[kind].make(f) {
			continue
		}
		made++
		c, v, err := f.verify(t)
		for way, name := range []string{"a file", "a database"} {
			if way == 1 && c != nil {
				v, err = f.verifyElsewhere(t, c)
			}
			if err != nil || !v.Holds {
				refused[way][kind]++
				continue
			}
			accepted[way][kind]++
			defect := ""
			if forges[kind].false {
				defect = "it is false"
			} else if f.problem == nil {
				defect = exactDefect(f.model(), f.data, c, v)
			}
			if defect != "" {
				t.Errorf("%s of %s (number %d) was accepted from %s: %s", forges[kind].name, f.of.name, i, name, defect)
			}
		}
	}
	for kind := range forges {
		t.Logf("%-44s file: %6d refused, %6d accepted and true; database: %6d and %6d", forges[kind].name, refused[0][kind], accepted[0][kind],
			refused[1][kind], accepted[1][kind])
		if refused[0][kind]+accepted[0][kind] == 0 {
			t.Errorf("%s was never made", forges[kind].name)
		}
	}
	t.Logf("%d forgeries of %d kinds of %d true certificates", forgeries, len(forges), len(cases))
}

// copyCase copies the true case.
func (f *forgery) copyCase(t testing.TB) {
	f.c, f.data = reread(t, f.of.certificate), f.of.data
	f.parts = f.of.model.Parts()
	claims := *f.parts.Members[0].Evidence
	claims.RelativeGap, claims.GapOfDecrease = nil, nil // the gaps would contradict another objective or bound
	f.parts.Members[0].Evidence = &claims
}

// model returns the forger's model.
func (f *forgery) model() *model.Model {
	m, err := model.New(f.parts)
	if err != nil {
		panic(err)
	}
	return m
}

// verify does what the command does with the forger's files.
func (f *forgery) verify(t testing.TB) (*model.Certificate, *result.Verification, error) {
	c := f.c
	if f.text == nil {
		if content, err := certificateText(c); err == nil { // JSON has no NaN, but a Go value may
			f.text = content
		}
	}
	if f.text != nil {
		var err error
		if c, err = loadText(t, f.text); err != nil {
			return nil, nil, err
		}
	}
	m, err := model.New(f.parts)
	if err != nil {
		return nil, nil, err
	}
	v, err := certify.Verify(context.Background(), m, f.data, c, f.problem)
	return c, v, err
}

// setText changes the certificate's file by a function of its text.
func (f *forgery) setText(change func(text string) string) bool {
	content, err := certificateText(f.c)
	if err != nil {
		panic(err)
	}
	f.text = []byte(change(string(content)))
	return !bytes.Equal(f.text, content)
}

// size returns a random factor from 1 + 1e-12 to 1e6.
func (f *forgery) size() float64 { return 1 + math.Pow(10, -12+18*f.Float64()) }

// honest sets the claims to what the data prove about the forger's point. Only the point itself is then wrong.
func (f *forgery) honest() bool {
	m, err := model.New(f.parts)
	if err != nil {
		return true
	}
	if v, err := certify.Verify(context.Background(), m, f.data, f.c, f.problem); err == nil {
		f.c.Objective, f.c.LowerBound = v.Objective, *v.Lower
		if v.NormBound != nil {
			f.c.Norm.Bound = *v.NormBound
		}
		f.parts.Members[0].Evidence.Objective = v.Objective
		f.parts.Members[0].Evidence.Lower = v.Lower
	}
	return true
}

func (f *forgery) some(values []float64) *float64 { return &values[f.IntN(len(values))] }

// setField returns a forgery that sets a field in the certificate's text to one of the values.
func setField(name string, values ...string) func(f *forgery) bool {
	return func(f *forgery) bool {
		return f.setText(func(text string) string {
			start := strings.Index(text, `"`+name+`":`) + len(name) + 3
			end := start + strings.IndexAny(text[start:], ",}")
			return text[:start] + pick(f.Rand, values...) + text[end:]
		})
	}
}

// special lists numbers that break comparisons.
var special = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 1e308, 1e200, 1e160, 1e-320, -1, 0}

var forges = []forge{
	{"lower bound raised", false, func(f *forgery) bool { f.c.LowerBound *= f.size(); return true }},
	{"lower bound raised to the objective", false, func(f *forgery) bool { f.c.LowerBound = f.c.Objective; return true }},
	{"lower bound above the objective", true, func(f *forgery) bool { f.c.LowerBound = f.c.Objective*1.001 + 1e-6; return true }},
	{"objective lowered", false, func(f *forgery) bool { f.c.Objective /= f.size(); return true }},
	{"objective raised", false, func(f *forgery) bool { f.c.Objective *= f.size(); return true }},
	{"both claims lowered", false, func(f *forgery) bool {
		s := f.size()
		f.c.Objective, f.c.LowerBound = f.c.Objective/s, f.c.LowerBound/s
		return true
	}},
	{"claims that break comparisons", false, func(f *forgery) bool {
		*pick(f.Rand, &f.c.Objective, &f.c.LowerBound) = *f.some(special)
		return true
	}},
	{"lambda 0 without a radius", true, func(f *forgery) bool {
		f.c.BallRadius = nil
		return f.c.Lambda == 0
	}},
	{"a radius too small", false, func(f *forgery) bool {
		if f.c.Lambda > 0 {
			return false
		}
		*f.c.BallRadius = f.Float64() * 2.1 * euclideanNorm(f.parts.Weights)
		return f.honest()
	}},
	{"a radius that breaks comparisons", false, func(f *forgery) bool {
		if f.c.Lambda > 0 {
			return false
		}
		*f.c.BallRadius = *f.some(special)
		f.c.LowerBound *= pick(f.Rand, 1, f.size())
		return true
	}},
	{"a radius that hides the claim in rounding", false, func(f *forgery) bool {
		if f.c.Lambda > 0 {
			return false
		}
		*f.c.BallRadius *= math.Pow(10, 20*f.Float64())
		f.honest()
		f.c.LowerBound *= pick(f.Rand, 1, f.size())
		return true
	}},
	{"a radius with lambda above 0", true, func(f *forgery) bool {
		radius := 1e3 * f.Float64()
		f.c.BallRadius = &radius
		return f.c.Lambda > 0
	}},
	{"another lambda", true, func(f *forgery) bool {
		f.c.Lambda = f.c.Lambda*pick(f.Rand, 1+1e-15*f.size(), 0.5, 10) + pick(f.Rand, 0, 1e-9)
		if f.c.Lambda > 0 {
			f.c.BallRadius = nil
		}
		return f.c.Lambda != f.of.certificate.Lambda
	}},
	{"lambda made 0", true, func(f *forgery) bool {
		radius := 1e3
		f.c.Lambda, f.c.BallRadius = 0, &radius
		return f.of.certificate.Lambda > 0
	}},
	{"lambda that breaks comparisons", false, func(f *forgery) bool { f.c.Lambda = *f.some(special); return true }},
	{"another tau", true, func(f *forgery) bool {
		f.c.Tau = threshold.MustRate(pick(f.Rand, "0.5", "0.01", "1/12"))
		return f.c.Tau != f.of.certificate.Tau
	}},
	{"another k", true, func(f *forgery) bool { f.c.K += pick(f.Rand, 1, -1, 5, 1<<40, -100); return true }},
	{"another beta", true, func(f *forgery) bool { f.c.Beta = pick(f.Rand, 0.2, 1.1, 1e-9, 1e300, -1); return true }},
	{"beta that breaks comparisons", true, func(f *forgery) bool {
		f.c.Beta = *f.some(special)
		return f.c.Beta != f.of.certificate.Beta
	}},
	{"another method", true, func(f *forgery) bool {
		f.c.Method = pick[method.Name](f.Rand, "toppush", "toppushk", "topmean", "topmean-np", "patmat", "patmat-np", "grill", "", "x")
		return f.c.Method != f.of.certificate.Method
	}},
	{"another surrogate", true, func(f *forgery) bool {
		f.c.Surrogate = pick[surrogate.Name](f.Rand, "hinge", "squared-hinge", "logistic", "x")
		return f.c.Surrogate != f.of.certificate.Surrogate
	}},
	{"another storage", false, func(f *forgery) bool {
		f.c.Storage = pick[method.Storage](f.Rand, "float32", "float64", "", "float16")
		f.c.LowerBound *= pick(f.Rand, 1, f.size())
		return f.c.Storage != f.of.certificate.Storage
	}},
	{"the same other problem in model and certificate", false, func(f *forgery) bool {
		f.c.Lambda = f.c.Lambda/2 + 1e-7
		f.c.BallRadius = nil
		f.parts.Members[0].Lambda = f.c.Lambda
		return f.Float64() < 0.5 || f.honest()
	}},
	{"p scaled", false, func(f *forgery) bool { return f.scaleP(f.size()) }},
	{"p scaled, honest claims", false, func(f *forgery) bool { return f.scaleP(pick(f.Rand, 0.5, 0.999, 1+1e-13, 1.5, 3)) && f.honest() }},
	{"p negative", false, func(f *forgery) bool {
		if len(f.c.P.Values) == 0 {
			return false
		}
		*f.some(f.c.P.Values) *= -pick(f.Rand, 1, 1e-300, 1e-14)
		return f.honest()
	}},
	{"p that breaks comparisons", false, func(f *forgery) bool {
		if len(f.c.P.Values) == 0 {
			return false
		}
		*f.some(f.c.P.Values) = *f.some(special)
		f.c.LowerBound *= pick(f.Rand, 1, f.size())
		return true
	}},
	{"p that hides the claim in rounding", false, func(f *forgery) bool {
		if !f.scaleP(math.Pow(10, 12*f.Float64())) {
			return false
		}
		f.honest()
		f.c.LowerBound += f.Float64()
		return true
	}},
	{"p within 1e-12 of its caps", false, func(f *forgery) bool { return f.scaleP(1+2e-12*f.Float64()) && f.honest() }},
	{"a row of p twice", true, func(f *forgery) bool { return doubleRow(f, &f.c.P) && f.honest() }},
	{"a row of a twice", true, func(f *forgery) bool { return doubleRow(f, &f.c.A) && f.honest() }},
	{"p of rows that do not exist", true, func(f *forgery) bool { return f.misplace(f.c.P.Rows, 0, -1, 1<<40, math.MinInt, f.data.Len()+1) }},
	{"a of rows that do not exist", true, func(f *forgery) bool { return f.misplace(f.c.A.Rows, 0, -1, 1<<40, math.MinInt, f.data.Len()+1) }},
	{"p of a row that is not positive", true, func(f *forgery) bool { return f.misplace(f.c.P.Rows, f.rowOf(false)) }},
	{"a of a row outside the population", true, func(f *forgery) bool {
		return f.c.Method != "topmean" && f.c.Method != "patmat" && f.misplace(f.c.A.Rows, f.rowOf(true))
	}},
	{"fewer values than rows", true, func(f *forgery) bool {
		w := pick(f.Rand, &f.c.P, &f.c.A)
		if len(w.Values) == 0 {
			return false
		}
		w.Values = w.Values[1:]
		return true
	}},
	{"more values than rows", true, func(f *forgery) bool {
		w := pick(f.Rand, &f.c.P, &f.c.A)
		w.Values = append(w.Values, f.Float64())
		return true
	}},
	{"p shuffled", false, func(f *forgery) bool { f.shuffle(f.c.P.Values); return f.Float64() < 0.5 || f.honest() }},
	{"a shuffled", false, func(f *forgery) bool { f.shuffle(f.c.A.Values); return f.Float64() < 0.5 || f.honest() }},
	{"a scaled", false, func(f *forgery) bool {
		s := pick(f.Rand, 0.9, 1.1, 1+1e-9, 1-1e-9, 1+9e-13, 1-9e-13)
		for k := range f.c.A.Values {
			f.c.A.Values[k] *= s
		}
		return f.honest()
	}},
	{"a negative where another makes up for it", false, func(f *forgery) bool {
		if len(f.c.A.Values) < 2 {
			return false
		}
		f.shuffle(f.c.A.Values)
		move := f.c.A.Values[0] * f.size()
		f.c.A.Values[0] -= move
		f.c.A.Values[1] += move
		return f.honest()
	}},
	{"a all on one row", false, func(f *forgery) bool {
		if len(f.c.A.Rows) == 0 {
			return false
		}
		f.c.A = model.DualWeights{Rows: []int{pick(f.Rand, f.c.A.Rows...)}, Values: []float64{1}}
		return f.honest()
	}},
	{"no p", false, func(f *forgery) bool {
		f.c.P = model.DualWeights{Rows: []int{}, Values: []float64{}}
		return f.Float64() < 0.5 || f.honest()
	}},
	{"no a", false, func(f *forgery) bool {
		f.c.A = model.DualWeights{Rows: []int{}, Values: []float64{}}
		return f.Float64() < 0.5 || f.honest()
	}},
	{"the dual point of another fit", false, func(f *forgery) bool {
		f.c.P, f.c.A = f.other.P, f.other.A
		return f.Float64() < 0.5 || f.honest()
	}},
	{"p and a exchanged", false, func(f *forgery) bool {
		f.c.P, f.c.A = f.of.certificate.A, f.of.certificate.P
		return len(f.c.P.Rows)+len(f.c.A.Rows) > 0
	}},
	{"another digest", true, func(f *forgery) bool {
		f.c.Data = pick(f.Rand, "", "sha256:", "sha256:"+strings.Repeat("0", 64), strings.ToUpper(f.c.Data))
		return true
	}},
	{"a field twice in the file", true, func(f *forgery) bool {
		return f.setText(func(text string) string {
			return strings.TrimSuffix(text, "}\n") + `,` + pick(f.Rand, `"lower_bound":9`, `"lambda":5`, `"p":{"rows":[],"values":[]}`) + "}\n"
		})
	}},
	{"a field in other letters", true, func(f *forgery) bool {
		return f.setText(func(text string) string {
			if f.Float64() < 0.5 {
				return strings.Replace(text, `"objective":`, `"Objective":`, 1)
			}
			return strings.TrimSuffix(text, "}\n") + `,` + pick(f.Rand, `"LAMBDA":5`, `"Lower_Bound":9`, `"ball_Radius":1`) + "}\n"
		})
	}},
	{"a field missing or null", true, func(f *forgery) bool {
		name := pick(f.Rand, "data", "storage", "method", "surrogate", "lambda", "tau", "beta", "k", "objective", "lower_bound")
		if f.Float64() < 0.5 {
			return setField(name, "null")(f)
		}
		return f.setText(func(text string) string { return strings.Replace(text, `"`+name+`":`, `"x":`, 1) })
	}},
	{"numbers that JSON does not have", true, setField("lower_bound", "NaN", "1e999", "-1e999", "Infinity", "0x1p4", `"1"`, "[1]", "true", "+1", "01")},
	{"another format", true, setField("toptau_certificate", "0", "-1", "2", "3", "99", `"2"`, "1.5", "null")},
	{"a bound on the norm raised", false, func(f *forgery) bool {
		if f.c.Norm == nil {
			return false
		}
		f.c.Norm.Bound *= f.size()
		return true
	}},
	{"a bound on the norm above the norm", true, func(f *forgery) bool {
		if f.c.Norm == nil {
			return false
		}
		f.c.Norm.Bound = 1.02 * euclideanNorm(f.parts.Weights)
		return true
	}},
	{"a norm that breaks comparisons", false, func(f *forgery) bool {
		if f.c.Norm == nil {
			return false
		}
		*pick(f.Rand, &f.c.Norm.Bound, &f.c.Norm.Lambda) = *f.some(special)
		return true
	}},
	{"another lambda of the norm", false, func(f *forgery) bool {
		if f.c.Norm == nil {
			return false
		}
		f.c.Norm.Lambda *= pick(f.Rand, f.size(), 1/f.size(), math.Pow(10, -300*f.Float64()))
		return f.Float64() < 0.5 || f.honest()
	}},
	{"another dual point of the norm", false, func(f *forgery) bool {
		if f.c.Norm == nil {
			return false
		}
		switch f.IntN(4) {
		case 0:
			f.c.Norm.P = f.c.P
		case 1:
			f.c.Norm.A = f.c.A
		case 2:
			*f.some(f.c.Norm.P.Values) *= pick(f.Rand, 0.5, 1+1e-13, 1.5, -1)
		default:
			*f.some(f.c.Norm.A.Values) *= pick(f.Rand, 0.5, 1+1e-13, 1.5, -1)
		}
		return f.Float64() < 0.5 || f.honest()
	}},
	{"longer weights than the norm is for", false, func(f *forgery) bool {
		if f.c.Norm == nil {
			return false
		}
		s := f.size()
		for j := range f.parts.Weights {
			f.parts.Weights[j] *= s
		}
		bound := f.c.Norm.Bound
		f.honest()
		f.c.Norm.Bound = bound
		return true
	}},
	{"a norm with lambda above 0", true, func(f *forgery) bool {
		f.c.Norm = &model.NormProof{Lambda: f.c.Lambda, P: f.c.P, A: f.c.A}
		return f.c.Lambda > 0
	}},
	{"a field of the norm twice, missing or null", true, func(f *forgery) bool {
		if f.c.Norm == nil {
			return false
		}
		return f.setText(func(text string) string {
			return strings.Replace(text, `"norm":{"lambda":`, pick(f.Rand, `"norm":{"lambda":1,"lambda":`, `"norm":{"Lambda":`,
				`"norm":null,"norm":{"lambda":`, `"norm":{"lambda":null,"x":`), 1)
		})
	}},
	{"something after the object", true, func(f *forgery) bool {
		return f.setText(func(text string) string { return text + pick(f.Rand, text, "{}", "x", "1") })
	}},
	{"a file cut short", true, func(f *forgery) bool {
		return f.setText(func(text string) string { return text[:f.IntN(len(text)-2)] })
	}},
	{"a digit changed", false, func(f *forgery) bool {
		return f.setText(func(text string) string {
			b := []byte(text)
			for {
				if k := f.IntN(len(b)); b[k] >= '0' && b[k] <= '9' {
					b[k] = '0' + byte(f.IntN(10))
					return string(b)
				}
			}
		})
	}},
	{"bytes changed", false, func(f *forgery) bool {
		return f.setText(func(text string) string {
			b := []byte(text)
			for range 1 + f.IntN(3) {
				b[f.IntN(len(b))] = byte(f.IntN(256))
			}
			return string(b)
		})
	}},
	{"other weights", false, func(f *forgery) bool {
		for j := range f.parts.Weights {
			f.parts.Weights[j] += f.NormFloat64() * pick(f.Rand, 1, 1e-6, 1e-12, 1e-15)
		}
		return f.Float64() < 0.5 || f.honest()
	}},
	{"weights that break comparisons", false, func(f *forgery) bool {
		*f.some(f.parts.Weights) = *f.some(special)
		return f.Float64() < 0.5 || f.honest()
	}},
	{"longer weights", false, func(f *forgery) bool {
		s := f.size()
		for j := range f.parts.Weights {
			f.parts.Weights[j] *= s
		}
		return f.honest()
	}},
	{"weights of another number", true, func(f *forgery) bool {
		f.parts.Weights = pick(f.Rand, f.parts.Weights[1:], append(f.parts.Weights, 1), nil)
		return true
	}},
	{"a lower bound raised in the model", false, func(f *forgery) bool {
		raised := f.c.LowerBound*f.size() + 1e-3*f.Float64()
		f.parts.Members[0].Evidence.Lower = &raised
		return true
	}},
	{"an objective lowered in the model", false, func(f *forgery) bool {
		f.parts.Members[0].Evidence.Objective /= f.size()
		return true
	}},
	{"a model with no member or two", true, func(f *forgery) bool {
		f.parts.Members = append(f.parts.Members[:f.IntN(2)], make([]model.Member, 2*f.IntN(2))...)
		return len(f.parts.Members) != 1
	}},
	{"a model of another method", true, func(f *forgery) bool {
		f.parts.Members[0].Method = pick[method.Name](f.Rand, "logistic", "ramp", "", "grill")
		return true
	}},
	{"another problem in the options", true, func(f *forgery) bool {
		other := f.parts.Members[0].Problem
		other.Lambda += pick(f.Rand, 0.1, math.NaN(), math.Inf(1))
		f.problem = &other
		return true
	}},
	{"rows without their weights", true, func(f *forgery) bool {
		return f.of.format.Weight != "" && f.readAgain(func(o *schema.Format) { o.Weight, o.Drop = "", []string{"whole", "fraction"} })
	}},
	{"rows with weights that the fit did not have", true, func(f *forgery) bool {
		return f.of.format.Weight == "" && f.readAgain(func(o *schema.Format) { o.Weight, o.Drop = "whole", []string{"fraction"} })
	}},
	{"rows with the weights of another column", true, func(f *forgery) bool {
		return f.of.format.Weight == "whole" && f.readAgain(func(o *schema.Format) { o.Weight, o.Drop = "fraction", []string{"whole"} })
	}},
	{"classes exchanged", true, func(f *forgery) bool { return f.readAgain(func(o *schema.Format) { o.Positive = []string{"0"} }) }},
}

func euclideanNorm(w []float64) float64 {
	square := 0.0
	for _, x := range w {
		square += x * x
	}
	return math.Sqrt(square)
}

func (f *forgery) scaleP(s float64) bool {
	for k := range f.c.P.Values {
		f.c.P.Values[k] *= s
	}
	return len(f.c.P.Values) > 0
}

// doubleRow splits the multiplier of a row into two entries, or adds it again.
func doubleRow(f *forgery, w *model.DualWeights) bool {
	if len(w.Rows) == 0 {
		return false
	}
	k := f.IntN(len(w.Rows))
	if f.Float64() < 0.5 {
		w.Values[k] /= 2
	}
	w.Rows, w.Values = append(w.Rows, w.Rows[k]), append(w.Values, w.Values[k])
	return true
}

// misplace moves a multiplier to another row.
func (f *forgery) misplace(rows []int, to ...int) bool {
	if len(rows) == 0 {
		return false
	}
	rows[f.IntN(len(rows))] = pick(f.Rand, to...)
	return true
}

// rowOf returns the number of a row of a class.
func (f *forgery) rowOf(positive bool) int {
	for {
		if i := f.IntN(f.data.Len()); (rowset.Of(f.data).Table.Label[i] == 1) == positive {
			return i + 1
		}
	}
}

func (f *forgery) shuffle(values []float64) {
	f.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
}

// formatLike returns f for reading a file as the training file of m was read.
func formatLike(m *model.Model, f schema.Format) schema.Format {
	like := m.Format()
	return f.Like(*like.Schema())
}

// readAgain reads the data with another format.
func (f *forgery) readAgain(change func(o *schema.Format)) bool {
	o := f.of.format
	change(&o)
	d, err := dataset.Read(context.Background(), f.of.file, formatLike(f.of.model, o))
	if err != nil {
		return false
	}
	f.data = d
	return true
}

// FuzzCertificateFile reads any bytes as the certificate of one of a few models. An accepted certificate must agree with rational
// arithmetic.
func FuzzCertificateFile(f *testing.F) {
	cases := trueCases(f, 1, 6)
	for k, c := range cases {
		content, err := certificateText(c.certificate)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(k), content)
	}
	f.Fuzz(func(t *testing.T, which uint8, content []byte) {
		of := cases[int(which)%len(cases)]
		c, err := loadText(t, content)
		if err != nil {
			return
		}
		again, err := certificateText(c)
		if err != nil {
			t.Fatalf("a certificate that was read cannot be written: %v", err)
		}
		if _, err := loadText(t, again); err != nil {
			t.Fatalf("a certificate that was written cannot be read: %v", err)
		}
		v, err := certify.Verify(t.Context(), of.model, of.data, c, nil)
		if err != nil || !v.Holds {
			return
		}
		if defect := exactDefect(of.model, of.data, c, v); defect != "" {
			t.Errorf("%s was accepted: %s", of.name, defect)
		}
	})
}

// FuzzCertificateNumbers sets numbers of a true certificate and its model to any bits, with honest or false claims. An accepted
// certificate must agree with rational arithmetic.
func FuzzCertificateNumbers(f *testing.F) {
	cases := trueCases(f, 1, 6)
	for k := range cases {
		f.Add(uint8(k), uint16(k), uint16(0), math.Float64bits(1), uint16(2), math.Float64bits(1e-3), true)
	}
	f.Fuzz(func(t *testing.T, which uint8, place1, place2 uint16, bits1 uint64, place3 uint16, bits3 uint64, honest bool) {
		forged := &forgery{of: cases[int(which)%len(cases)]}
		forged.copyCase(t)
		set := func(place uint16, bits uint64) {
			numbers := forged.numbers()
			x := numbers[int(place>>1)%len(numbers)]
			if y := math.Float64frombits(bits); place&1 == 0 {
				*x = y
			} else {
				*x *= y
			}
		}
		set(place1, bits1)
		set(place2, bits1)
		set(place3, bits3)
		if honest {
			forged.honest()
		}
		m, err := model.New(forged.parts)
		if err != nil {
			return
		}
		v, err := certify.Verify(t.Context(), m, forged.data, forged.c, nil)
		if err != nil || !v.Holds {
			return
		}
		if defect := exactDefect(m, forged.data, forged.c, v); defect != "" {
			t.Errorf("%s was accepted: %s", forged.of.name, defect)
		}
	})
}

// numbers lists all numbers that a forger may set.
func (f *forgery) numbers() []*float64 {
	list := []*float64{&f.c.Objective, &f.c.LowerBound, &f.c.Lambda, &f.c.Beta}
	if f.c.BallRadius != nil {
		list = append(list, f.c.BallRadius)
	}
	multipliers := [][]float64{f.c.P.Values, f.c.A.Values, f.parts.Weights}
	if f.c.Norm != nil {
		list = append(list, &f.c.Norm.Lambda, &f.c.Norm.Bound)
		multipliers = append(multipliers, f.c.Norm.P.Values, f.c.Norm.A.Values)
	}
	for _, values := range multipliers {
		for k := range values {
			list = append(list, &values[k])
		}
	}
	return list
}
