package toptau

import (
	"context"
	"fmt"

	"toptau/calibrate"
	"toptau/internal/certified"
	"toptau/internal/feature"
	"toptau/internal/matrix"
	"toptau/internal/objective"
	"toptau/internal/tune"
	"toptau/method"
	"toptau/metric"
	"toptau/threshold"
)

// DiagnoseOptions are the choices of Diagnose.
type DiagnoseOptions struct {
	Goal     metric.Goal    // zero: the rates 0.1%, 1% and 5%
	Delta    threshold.Rate // of the guarantee that is counted for; zero: 5%
	Features string
	Scale    string
	Impute   string
	Progress func(Progress)
}

// Diagnosis says what the methods can do on some data, before any of them is fitted: the object that diagnose --json prints.
type Diagnosis struct {
	SchemaVersion int             `json:"schema_version"`
	N             int             `json:"n"`
	NPos          int             `json:"n_pos"`
	NNeg          int             `json:"n_neg"`
	D             int             `json:"d"`
	Separable     *bool           `json:"separable"` // some w puts every positive above every negative; false: none with |w| <= TopRadius does by a margin of 1; nil: not decided
	TopBound      *float64        `json:"top_bound"` // so much mean hinge loss at the top remains for every |w| <= TopRadius (TopPush, lambda = 0)
	TopRadius     *float64        `json:"top_radius"`
	Methods       []MethodVerdict `json:"methods"`
	Budgets       []BudgetVerdict `json:"budgets"`
	Advice        []string        `json:"advice"`
	Passes        int             `json:"passes"`
	Warnings      []Warning       `json:"warnings"`
}

// MethodVerdict says whether w = 0 is a global minimum of a method, whatever lambda.
type MethodVerdict struct {
	Method        string   `json:"method"`
	K             *int     `json:"k"`
	Tau           *string  `json:"tau"`
	ZeroIsOptimal *bool    `json:"zero_is_optimal"` // nil: not decided, or not convex
	Evidence      string   `json:"evidence"`
	Distance      *float64 `json:"distance"`  // yes: from the mean of the positives to the capped hull, what rounding leaves
	Advantage     *float64 `json:"advantage"` // no: w'mean(X+) - t(w) > 0 for the direction found
}

// BudgetVerdict holds a rate against the sizes of the data.
type BudgetVerdict struct {
	Tau             string  `json:"tau"`
	TauNegatives    float64 `json:"tau_n_neg"`        // tau n-: negatives within the budget
	NegativesNeeded int     `json:"negatives_needed"` // held-out negatives for a guarantee at delta
	Enough          bool    `json:"enough"`           // the data have that many negatives
	Text            string  `json:"text"`
}

// ZeroWords says what it means that w = 0 is optimal: fit, train and diagnose use the same words.
func ZeroWords(title string) string {
	return "w = 0 is the optimum of " + title + " on these data, provably and for every lambda: all scores would be equal"
}

const zeroAdvice = "use patmat-np or patmat, whose optimum is never at zero unless the class means coincide, or a larger k or tau"

// Diagnose answers what the paper leaves to experiment: for which methods w = 0 is the optimum, with a certificate both ways,
// whether a linear score separates the classes at the top, and whether the data are large enough for the budgets.
func Diagnose(ctx context.Context, d *Data, o DiagnoseOptions) (*Diagnosis, error) {
	features, warnings, err := feature.FitContext(ctx, d.table, d.info.Schema, nil,
		featureOptions(o.Features, o.Scale, o.Impute, 1))
	if err != nil {
		return nil, d.inFile(err)
	}
	leaks := tune.Leaks(d.table) // before its columns are given up
	x, err := d.matrix(ctx, features, matrix.Float32)
	if err != nil {
		return nil, err
	}
	g := &diagnosing{ctx: ctx, x: x, options: o, Diagnosis: Diagnosis{SchemaVersion: SchemaVersion, N: x.Rows(),
		NPos: x.Positives.Rows(), NNeg: x.Negatives.Rows(), D: x.Cols(), Advice: []string{},
		Warnings: append(leakWarnings(leaks), d.warnings()...)}}
	for _, w := range warnings {
		g.Warnings = append(g.Warnings, w)
	}
	rates := []threshold.Rate{threshold.MustRate("0.1%"), threshold.MustRate("1%"), threshold.MustRate("5%")}
	if tau := o.Goal.Tau(); !tau.IsZero() {
		rates = []threshold.Rate{tau}
	}
	if err := g.methods(rates); err != nil {
		return nil, err
	}
	if err := g.budgets(rates); err != nil {
		return nil, err
	}
	if err := g.separability(); err != nil {
		return nil, err
	}
	g.advise()
	return &g.Diagnosis, nil
}

// diagnosing is the state of one Diagnose.
type diagnosing struct {
	ctx     context.Context
	x       *matrix.Matrix
	options DiagnoseOptions
	Diagnosis
}

// methods asks the certified solver about each convex method; the other two have no certificate.
func (g *diagnosing) methods(rates []threshold.Rate) error {
	var problems []method.Problem
	for _, m := range method.All() {
		settings := []method.Problem{{}}
		switch {
		case m.UsesK:
			settings = []method.Problem{{K: 5}}
		case m.UsesTau:
			settings = nil
			for _, tau := range rates {
				h := method.Problem{Tau: tau}
				if m.UsesBeta {
					h.Beta = 1
				}
				settings = append(settings, h)
			}
		}
		for _, h := range settings {
			h.Lambda = 1e-3
			p, err := m.With(h)
			if err != nil {
				return err
			}
			problems = append(problems, p)
		}
	}
	for i, p := range problems {
		if g.options.Progress != nil {
			g.options.Progress(Progress{Share: float64(i) / float64(len(problems)), Text: string("is w = 0 optimal for " + p.Definition().Name)})
		}
		verdict, err := g.verdict(p)
		if err != nil {
			return err
		}
		g.Methods = append(g.Methods, verdict)
	}
	return nil
}

// verdict is the answer for one method.
func (g *diagnosing) verdict(p method.Problem) (MethodVerdict, error) {
	h := p
	v := MethodVerdict{Method: string(p.Definition().Name)}
	if p.Definition().UsesK {
		v.K = &h.K
	}
	if p.Definition().UsesTau {
		tau := h.Tau.String()
		v.Tau = &tau
	}
	if !p.Definition().Convex {
		v.Evidence = "not convex: no certificate exists"
		return v, nil
	}
	f, err := objective.New(p, g.x)
	if err != nil {
		v.Evidence = err.Error()
		return v, nil
	}
	z, err := certified.IsZeroOptimal(g.ctx, f, certified.Options{})
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
		v.Evidence = fmt.Sprintf("not decided in %d passes", z.Passes)
		return v, nil
	case p.Definition().UsesBeta:
		v.Evidence = "the gradient at 0 is mean(population) - mean(X+), which is not zero, for every beta and lambda"
		if optimal {
			v.Evidence = "the means of population and positives coincide"
		}
	case optimal:
		v.Evidence = "the mean of the positives lies in the capped hull of the population, with weights a"
		v.Distance = &z.Distance
	default:
		v.Evidence = "a direction w in which the mean score of the positives is above the threshold"
		v.Advantage = &z.Advantage
	}
	v.ZeroIsOptimal = z.Verdict.Answer()
	return v, nil
}

// budgets holds the rates against the sizes.
func (g *diagnosing) budgets(rates []threshold.Rate) error {
	delta := g.options.Delta
	if delta.IsZero() {
		delta = threshold.MustRate("5%")
	}
	for _, tau := range rates {
		needed, err := calibrate.Needed(tau, delta)
		if err != nil {
			return err
		}
		b := BudgetVerdict{Tau: tau.String(), TauNegatives: tau.Times(float64(g.NNeg)), NegativesNeeded: needed, Enough: g.NNeg >= needed}
		switch {
		case b.TauNegatives < 1:
			b.Text = fmt.Sprintf("%s of %d negatives is less than one: the threshold is the largest negative, as in toppush", tau, g.NNeg)
		case !b.Enough:
			b.Text = fmt.Sprintf("%d negatives are too few for a guarantee at %s, which needs %d held out", g.NNeg, tau, needed)
		default:
			b.Text = fmt.Sprintf("about %.0f negatives within the budget; a guarantee needs %d negatives held out", b.TauNegatives, needed)
		}
		g.Budgets = append(g.Budgets, b)
	}
	return nil
}

// separability solves TopPush without regularisation: its optimum is 0 when every positive can be put above every negative.
func (g *diagnosing) separability() error {
	m, err := method.ByName("toppush")
	if err != nil {
		return err
	}
	p, err := m.With(method.Problem{})
	if err != nil {
		return err
	}
	f, err := objective.New(p, g.x)
	if err != nil {
		return err
	}
	res, err := certified.Solve(g.ctx, f, certified.Options{Gap: 1e-4, MaxPasses: 50})
	if err != nil {
		return err
	}
	if res.Cancelled {
		return g.ctx.Err()
	}
	g.Passes += res.Passes
	g.TopBound, g.TopRadius = &res.LowerBound, &res.BallRadius
	// A loss below 1/n+ on every positive means that each is above every negative.
	separable := res.Objective*float64(g.NPos) < 1
	if separable || res.LowerBound > 0 {
		g.Separable = &separable
	}
	return nil
}

// advise sums up.
func (g *diagnosing) advise() {
	collapsed := ""
	for _, v := range g.Methods {
		if v.ZeroIsOptimal != nil && *v.ZeroIsOptimal {
			if collapsed != "" {
				collapsed += ", "
			}
			collapsed += v.Method + setting(v)
		}
	}
	if collapsed != "" {
		g.Advice = append(g.Advice, "do not use "+collapsed+": "+zeroAdvice)
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

func setting(v MethodVerdict) string {
	switch {
	case v.K != nil:
		return fmt.Sprintf(" (k %d)", *v.K)
	case v.Tau != nil:
		return " (tau " + *v.Tau + ")"
	}
	return ""
}
