package certify

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"toptau/dataset"
	"toptau/internal/core/certified"
	"toptau/internal/core/heldout"
	"toptau/internal/core/matrix"
	"toptau/internal/core/text"
	"toptau/internal/models/feature"
	"toptau/internal/training/leakage"
	"toptau/internal/training/rowset"
	"toptau/method"
	"toptau/metric"
	"toptau/result"
	"toptau/schema"
	"toptau/threshold"
)

// DiagnoseOptions are the options of Diagnose. The zero value of each is its default.
type DiagnoseOptions struct {
	Goal        metric.Goal           // goal whose rate is examined; zero: the rates 0.1%, 1% and 5%
	Delta       threshold.Rate        // failure probability of the guarantee whose rows are counted; zero: 5%
	Encoding    schema.Encoding       // as in FitOptions
	Scale       schema.Scale          // as in FitOptions
	Impute      schema.Impute         // as in FitOptions
	ReleaseData bool                  // as in FitOptions
	Progress    func(result.Progress) // is called before each method
}

// zeroText returns the consequence of an optimum at w = 0, for warnings of Fit and Train.
func zeroText(title string) string {
	return "w = 0 is the optimum of " + title + " on these data, provably and for every lambda, so all scores would be equal"
}

const zeroAdvice = "use patmat-np or patmat, whose optimum is never at zero unless the class means coincide, or a larger k or tau"

// Diagnose reports what the methods can achieve on the data without fitting them. For each
// convex method it decides, with a proof if possible, whether w = 0 is the optimum. It also reports whether a
// linear score separates the classes at the top, and whether the data are large enough for the rates.
//
// If ctx is cancelled, Diagnose returns an error.
func Diagnose(ctx context.Context, data *dataset.Data, o DiagnoseOptions) (*result.Diagnosis, error) {
	d := rowset.Of(data)
	if o.Goal != (metric.Goal{}) {
		if err := cmp.Or(o.Goal.Check(), o.Goal.RequireBudget()); err != nil {
			return nil, err
		}
	}
	encoded, err := d.Encode(ctx, feature.Options{Encode: o.Encoding, Scale: o.Scale, Impute: o.Impute, Seed: 1})
	if err != nil {
		return nil, err
	}
	features := encoded.Features
	leaks := leakage.Find(encoded.Rows) // before packMatrix may free the columns
	g := &diagnosing{ctx: ctx, options: o, Diagnosis: result.Diagnosis{Counts: result.Counts{Rows: d.Len(), Positives: d.Positives()},
		Negatives: d.Info.Negatives, Features: features.Cols(), Advice: []string{}}}
	if g.rows, err = encodeRows(ctx, d, features, matrix.Float32, o.ReleaseData); err != nil {
		return nil, err
	}
	g.Warnings = append(append(leakage.Warnings(leaks), d.Warnings()...), encoded.Warnings...)
	rates := []threshold.Rate{threshold.MustRate("0.1%"), threshold.MustRate("1%"), threshold.MustRate("5%")}
	if tau := o.Goal.Tau(); !tau.IsZero() {
		rates = []threshold.Rate{tau}
	}
	if err := g.judgeMethods(rates); err != nil {
		return nil, err
	}
	if err := g.judgeBudgets(rates); err != nil {
		return nil, err
	}
	if err := g.judgeSeparability(); err != nil {
		return nil, err
	}
	g.advise()
	return &g.Diagnosis, nil
}

// diagnosing is the state of a call of Diagnose.
type diagnosing struct {
	ctx     context.Context
	options DiagnoseOptions
	rows    encodedRows
	result.Diagnosis
}

// exampleK and exampleLambda are the hyperparameters of the examined problems. Whether w = 0 is optimal does
// not depend on lambda. 5 is the middle one of the paper's values of k.
const (
	exampleK      = 5
	exampleLambda = 1e-3
)

// judgeMethods examines each method, once for each rate if it uses one.
func (g *diagnosing) judgeMethods(rates []threshold.Rate) error {
	var problems []method.Problem
	for _, m := range method.All() {
		problem := method.Problem{Method: m.Name, Lambda: exampleLambda}
		if m.UsesK {
			problem.K = exampleK
		}
		if m.UsesBeta {
			problem.Beta = 1
		}
		if !m.UsesTau {
			problems = append(problems, problem)
			continue
		}
		for _, problem.Tau = range rates {
			problems = append(problems, problem)
		}
	}
	for i, p := range problems {
		if g.options.Progress != nil {
			g.options.Progress(result.Progress{Done: i, Of: len(problems), Fraction: float64(i) / float64(len(problems)),
				Stage: "is w = 0 optimal for " + string(p.Method)})
		}
		p, err := p.Complete()
		if err != nil {
			return err
		}
		verdict, err := g.judgeMethod(p)
		if err != nil {
			return err
		}
		g.Methods = append(g.Methods, verdict)
	}
	return nil
}

// judgeMethod decides whether w = 0 is optimal for one problem.
func (g *diagnosing) judgeMethod(p method.Problem) (result.MethodVerdict, error) {
	m := p.Definition()
	v := result.MethodVerdict{Problem: p}
	if !m.Convex {
		v.Evidence = "not convex, so no certificate exists"
		return v, nil
	}
	s, why, err := g.rows.problem(g.ctx, p)
	if err != nil {
		return v, err
	}
	if why != nil {
		v.Evidence = why.Error()
		return v, nil
	}
	z, err := s.isZeroOptimal(g.ctx)
	if err != nil {
		return v, err
	}
	if z.Cancelled {
		return v, g.ctx.Err()
	}
	g.Passes += z.Passes
	optimal := z.Verdict == certified.ZeroIsOptimal
	switch {
	case z.Verdict == certified.Undecided:
		v.Evidence = "not decided in " + text.Plural(z.Passes, "pass")
		return v, nil
	case m.UsesBeta && optimal:
		v.Evidence = "the means of population and positives coincide"
	case m.UsesBeta:
		v.Evidence = "the gradient at 0 is mean(population) - mean(positives), which is not zero for any beta and lambda"
	case optimal:
		v.Evidence = "the positives' mean lies inside the population's capped convex hull"
		v.Distance = &z.Distance
	default:
		v.Evidence = "in some direction w, the positives' mean score is above the threshold"
		v.Advantage = &z.Advantage
	}
	v.ZeroIsOptimal = z.Verdict.Answer()
	return v, nil
}

// judgeBudgets compares the rates with the number of negatives.
func (g *diagnosing) judgeBudgets(rates []threshold.Rate) error {
	delta := g.options.Delta
	if delta.IsZero() {
		delta = threshold.MustRate("5%")
	}
	if err := heldout.CheckDelta(delta); err != nil {
		return err
	}
	for _, tau := range rates {
		needed, err := heldout.Needed(tau, delta)
		if err != nil {
			return err
		}
		b := result.BudgetVerdict{Tau: tau.String(), TauNegatives: tau.Times(float64(g.Negatives)), NegativesNeeded: needed,
			Enough: g.Negatives >= needed}
		switch {
		case b.TauNegatives < 1:
			b.Text = fmt.Sprintf("%s of %s negatives is less than one, so the threshold is the largest negative, as in toppush", tau,
				text.Count(g.Negatives))
		case !b.Enough:
			b.Text = fmt.Sprintf("%s negatives are too few for a guarantee at %s, which needs %s held out", text.Count(g.Negatives), tau,
				text.Count(needed))
		default:
			b.Text = fmt.Sprintf("about %.0f negatives within the budget; a guarantee needs %s held-out negatives", b.TauNegatives,
				text.Count(needed))
		}
		g.Budgets = append(g.Budgets, b)
	}
	return nil
}

// separabilityGap and separabilityPasses limit the effort of judgeSeparability, which needs no exact optimum.
// Both were chosen by hand.
const (
	separabilityGap    = 1e-4
	separabilityPasses = 50
)

// judgeSeparability solves TopPush without regularisation: its optimum is 0 if every positive can be above
// every negative.
func (g *diagnosing) judgeSeparability() error {
	s, why, err := g.rows.problem(g.ctx, method.Problem{Method: method.TopPush})
	if err = cmp.Or(err, why); err != nil {
		return err
	}
	res, err := s.solve(g.ctx, certified.Options{Gap: separabilityGap, MaxPasses: separabilityPasses}, false)
	if err != nil {
		return err
	}
	if res.Cancelled {
		return g.ctx.Err()
	}
	g.Passes += res.Passes
	g.TopBound, g.TopRadius = &res.LowerBound, &res.BallRadius
	// If the mean loss is below 1/n+, every positive has a loss below 1 and is above every negative.
	separable := res.Objective*float64(g.Positives) < 1
	if separable || res.LowerBound > 0 {
		g.Separable = &separable
	}
	return nil
}

// advise adds the recommendations.
func (g *diagnosing) advise() {
	var collapsed []string
	for _, v := range g.Methods {
		if v.ZeroIsOptimal != nil && *v.ZeroIsOptimal {
			collapsed = append(collapsed, string(v.Method)+settingText(v.Problem))
		}
	}
	if len(collapsed) > 0 {
		g.Advice = append(g.Advice, "do not use "+strings.Join(collapsed, ", ")+": "+zeroAdvice)
	}
	if g.Separable != nil && *g.Separable {
		g.Advice = append(g.Advice, "the classes are separable at the top: every positive can be above every negative; "+
			"choose lambda on a validation part, not on these rows")
	}
	for _, b := range g.Budgets {
		if b.TauNegatives < 1 || !b.Enough {
			g.Advice = append(g.Advice, b.Text)
		}
	}
}

// settingText returns k or tau in brackets, "" for a method without either.
func settingText(p method.Problem) string {
	switch {
	case p.K != 0:
		return fmt.Sprintf(" (k %d)", p.K)
	case !p.Tau.IsZero():
		return " (tau " + p.Tau.String() + ")"
	}
	return ""
}
