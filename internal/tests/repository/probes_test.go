package repository_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"toptau"
	"toptau/dataset"
	"toptau/internal/core/certified"
	"toptau/internal/core/heldout"
	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
	"toptau/internal/core/ranking"
	"toptau/internal/core/simulate"
	"toptau/internal/tests/provenance"
	"toptau/method"
	"toptau/metric"
	"toptau/schema"
	"toptau/surrogate"
	"toptau/threshold"
)

// TestProbes computes a few results of each page in small form, from simulated rows, and compares them with the probe of the page. A page
// is marked if and only if they differ.
func TestProbes(t *testing.T) {
	for page, probe := range map[string]func(*testing.T, *provenance.Probe){
		"quality": probeQuality, "thresholds": probeThresholds, "guarantee": probeGuarantee, "certified": probeCertified, "sql": probeSQL,
	} {
		t.Run(page, func(t *testing.T) {
			var p provenance.Probe
			probe(t, &p)
			t.Logf("results:\n%v", &p)
			if err := p.Check(resultsDirectory+"/"+page+".md", "go test ./internal/tests/repository -run TestProbes/"+page, *update); err != nil {
				t.Error(err)
			}
		})
	}
}

// simulated returns rows of detectors, a tenth of them positive.
func simulated(t *testing.T, rows int, seed uint64) *dataset.Data {
	t.Helper()
	data, err := simulate.New(simulate.Options{Kind: "detectors", Rows: rows, Seed: seed, Positives: threshold.MustRate("10%")})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := data.WriteCSV(t.Context(), &text, nil); err != nil {
		t.Fatal(err)
	}
	d, err := dataset.ReadFrom(t.Context(), strings.NewReader(text.String()), schema.Format{Label: "label"})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// probeTraining adds what a training chose, and what the model finds on rows of its own.
func probeTraining(t *testing.T, p *provenance.Probe, goal metric.Goal, o toptau.TrainOptions) {
	t.Helper()
	o.Test, o.NoProfile, o.NoFingerprints = simulated(t, 1000, 2), true, true
	trained, err := toptau.Train(t.Context(), simulated(t, 600, 1), goal, o)
	if err != nil {
		t.Fatal(err)
	}
	r := &trained.Result
	for _, c := range r.Candidates {
		p.Add(c.Encoding, c.Method, c.Lambda, c.Status)
		if c.CrossValidation != nil {
			p.Add(c.CrossValidation.Mean)
		}
	}
	for _, m := range r.Members {
		p.Add(m.Candidate, m.Lambda, m.Share)
	}
	p.Add(r.Threshold, r.Expected.Rate, r.TestDecisions.TruePositives, r.TestDecisions.FalsePositives, r.TestGoal.Numerator)
}

// Quality: the default of train.
func probeQuality(t *testing.T, p *provenance.Probe) {
	probeTraining(t, p, toptau.MaxFPR("1%"), toptau.TrainOptions{Folds: 2})
}

// Thresholds: without a guarantee, of one learner.
func probeThresholds(t *testing.T, p *provenance.Probe) {
	for _, rate := range []string{"0.1%", "1%", "5%"} {
		probeTraining(t, p, toptau.MaxFPR(rate), toptau.TrainOptions{Method: []method.Name{method.Logistic}, Encoding: []schema.Encoding{schema.Raw}})
	}
}

// Guarantee: thresholds of budgets, joint budgets, precision and recall; intervals; tests of what a guarantee assumes.
func probeGuarantee(t *testing.T, p *provenance.Probe) {
	r := rand.New(rand.NewPCG(1, 2))
	draw := func(n int, shift float64) []float64 {
		z := make([]float64, n)
		for i := range z {
			z[i] = r.NormFloat64() + shift
		}
		return z
	}
	rate, delta := threshold.MustRate, threshold.MustRate("10%")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	positives, negatives := draw(80, 2.5), draw(600, 0)
	sorted, err := heldout.Sort(negatives, nil, method.Negatives)
	must(err)
	for _, d := range []threshold.Rate{{}, delta} {
		at, err := heldout.For(metric.RateGoal(metric.GoalMaxFPR, "1%"), d, sorted)
		must(err)
		p.Add(at.Value, at.Order, at.Expected.Rate)
		if at.Guarantee != nil {
			p.Add(at.Guarantee.Bound)
		}
	}
	joint, err := heldout.Jointly([]int{60, 200, 340}, rate("5%"), delta)
	must(err)
	p.Add(joint)
	precision := metric.RateGoal(metric.GoalMinPrecision, "60%")
	sequence, err := heldout.PrecisionSequence(precision, delta, draw(80, 2.5), draw(600, 0))
	must(err)
	at, err := heldout.ForLabelled(precision, delta, sequence, positives, negatives)
	must(err)
	p.Add(at.Value, at.Guarantee.Bound)

	rank, err := ranking.Rank(ranking.Scores{Positives: positives, Negatives: negatives})
	must(err)
	for _, c := range []ranking.Criterion{ranking.Top(), ranking.NP(rate("1%")), ranking.Quantile(rate("5%"))} {
		value, err := rank.Bootstrap(c, ranking.Bootstrap{Replicates: 100, Seed: 1})
		must(err)
		p.Add(value.Numerator, value.Interval.Low, value.Interval.High)
	}
	order := make([]int, 200)
	for i := range order {
		order[i] = i
	}
	trend, err := heldout.OverTime(append(draw(100, 0), draw(100, 0.4)...), order)
	must(err)
	p.Add(trend.P)
}

// probedProblems are the six convex methods.
func probedProblems() []method.Problem {
	tau := threshold.MustRate("5%")
	return []method.Problem{{Method: method.TopPush, Lambda: 1e-3}, {Method: method.TopPushK, Lambda: 1e-3, K: 5}, {Method: method.TopMean, Lambda: 1e-3, Tau: tau},
		{Method: method.TopMeanNP, Lambda: 1e-3, Tau: tau}, {Method: method.PatMat, Lambda: 1e-3, Tau: tau, Beta: 1},
		{Method: method.PatMatNP, Lambda: 1e-3, Tau: tau, Beta: 0.1}, {Method: method.PatMatNP, Tau: tau, Beta: 1}}
}

// probedRows are normal rows of eight columns, 50 of them positive.
func probedRows(t *testing.T, rows int) *matrix.Matrix {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	x, y := make([][]float64, rows), make([]bool, rows)
	for i := range x {
		y[i] = i < 50
		x[i] = make([]float64, 8)
		for j := range x[i] {
			x[i][j] = r.NormFloat64()
			if y[i] && j < 3 {
				x[i][j] += 1.5
			}
		}
	}
	m, err := matrix.FromDense(x, y, nil, matrix.Float32)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Certified: bounds, passes and systems of every method with both losses.
func probeCertified(t *testing.T, p *provenance.Probe) {
	x := probedRows(t, 450)
	for _, problem := range probedProblems() {
		for _, loss := range []surrogate.Surrogate{surrogate.Hinge, surrogate.SquaredHinge} {
			problem.Surrogate = loss.Name()
			o, err := objective.New(problem, x)
			if err != nil {
				t.Fatal(err)
			}
			r, err := certified.Solve(t.Context(), o, certified.Options{})
			if err != nil {
				t.Fatal(err)
			}
			p.Add(r.Objective, r.LowerBound, max(r.RelativeGap(), 1e-9), r.Passes, r.Iterations, r.WorkingSet, r.Converged)
		}
	}
}

// askedSource answers as a database does, which keeps no scores, and counts the questions.
type askedSource struct {
	*certified.Memory
	scans, queries int
}

func (s *askedSource) Shape() certified.Shape {
	shape := s.Memory.Shape()
	shape.KeepsScores = false
	return shape
}

func (s *askedSource) Scan(ctx context.Context, queries []certified.Query) ([]certified.Answer, error) {
	s.scans, s.queries = s.scans+1, s.queries+len(queries)
	return s.Memory.Scan(ctx, queries)
}

// Databases: bounds and statements of the methods, from rows that are only asked about.
func probeSQL(t *testing.T, p *provenance.Probe) {
	x := probedRows(t, 3000)
	for _, problem := range probedProblems() {
		s := &askedSource{Memory: certified.NewMemory(x, problem.Definition().Population)}
		r, err := certified.SolveSource(t.Context(), s, problem, certified.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p.Add(r.Objective, r.LowerBound, max(r.RelativeGap(), 1e-9), r.Passes, s.scans, s.queries, r.Converged)
	}
}
