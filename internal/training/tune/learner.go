package tune

import (
	"context"
	"fmt"
	"math"
	"slices"

	"toptau/internal/core/certified"
	"toptau/internal/core/learn"
	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
	"toptau/internal/core/optim"
	"toptau/internal/core/text"
	"toptau/internal/models/feature"
	"toptau/method"
	"toptau/metric"
	"toptau/surrogate"
	"toptau/threshold"
)

// learner fits linear models of one kind to an encoded matrix. It has either start or fitAll.
type learner struct {
	name   method.Name
	grid   func(e feature.Encode) []Setting
	summed bool // the fit is the sum of boosted trees, which the encoding knows: it needs no matrix
	// start returns the function that fits settings on one matrix, one after the other. A path of settings may
	// end before its last one.
	start func(x *matrix.Matrix, o fitOptions) fitFunc
	// fitAll fits all settings of a list at the same time, so that they share passes over the data. A fit does
	// not depend on the list.
	fitAll func(ctx context.Context, x *matrix.Matrix, list []Setting, o fitOptions, w Watch) error
}

// fitOne fits one setting.
func (l *learner) fitOne(ctx context.Context, x *matrix.Matrix, s Setting, o fitOptions) (fit Fit, err error) {
	if l.start != nil {
		return l.start(x, o)(ctx, s)
	}
	done := false
	failed := l.fitAll(ctx, x, []Setting{s}, o, Watch{
		Fitted:   func(_ int, f Fit, e error) { fit, err, done = f, e, true },
		Progress: func(int, float64) {},
	})
	switch {
	case failed != nil:
		return Fit{}, failed
	case !done:
		return Fit{}, context.Cause(ctx)
	}
	return fit, err
}

// fitFunc fits one setting. It may start from the fit before.
type fitFunc func(ctx context.Context, s Setting) (Fit, error)

// fitOptions are the options of a fit that do not depend on the setting.
type fitOptions struct {
	features  *feature.Map                                                 // of the matrix
	anchor    func(ctx context.Context, lambda float64) ([]float64, error) // returns logistic regression on the matrix
	tolerance float64                                                      // of the gradient
	gap       float64                                                      // of a certified optimum
}

// Setting is one point of a learner's grid.
type Setting struct {
	Lambda  float64
	Anchor  float64         // ramp: the lambda of the logistic regression that it starts from
	Trees   int             // boosting: the number of trees
	Problem *method.Problem // of a method; nil for other learners
}

// String returns the hyperparameters in words.
func (s Setting) String() string {
	if s.Problem != nil {
		return problemText(*s.Problem)
	}
	if s.Trees > 0 {
		return text.Plural(s.Trees, "tree")
	}
	if s.Anchor > 0 {
		return fmt.Sprintf("lambda %s, anchored at logistic regression with lambda %s", exactNumber(s.Lambda), exactNumber(s.Anchor))
	}
	return "lambda " + exactNumber(s.Lambda)
}

// baselineLambdas returns the penalties of the baselines, largest first. Encoded rows have many more non-zero
// features than raw ones, so their best penalties are larger. The grids cover the best penalty of every set
// in docs/results/quality.md.
func baselineLambdas(e feature.Encode) []float64 {
	switch {
	case e == feature.EncodeRaw:
		return []float64{0.1, 0.01, 0.001, 1e-4, 1e-5, 1e-6}
	case e.Boosted(): // the trees are chosen for these rows: with smaller penalties their leaves overfit, at much cost
		return []float64{0.1, 0.03, 0.01, 0.003, 0.001}
	case e == feature.EncodeLeaves: // each point costs as much as a path elsewhere, and below these scores have no scale
		return []float64{0.1, 0.01, 0.001, 1e-4, 1e-5}
	}
	return []float64{1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 1e-4, 1e-5, 1e-6}
}

// rampLambdas are the penalties on the distance from the anchor, largest first.
var rampLambdas = []float64{0.1, 0.01, 0.001, 1e-4, 1e-5}

func lambdaGrid(list []float64) []Setting {
	var grid []Setting
	for _, lambda := range list {
		grid = append(grid, Setting{Lambda: lambda})
	}
	return grid
}

// convexLearner returns logistic regression or the support vector machine with squared hinge. positive is the
// weight of the positives; 0: 1.
func convexLearner(name method.Name, loss learn.Loss, positive float64) learner {
	return learner{
		name: name,
		grid: func(e feature.Encode) []Setting { return lambdaGrid(baselineLambdas(e)) },
		start: func(x *matrix.Matrix, o fitOptions) fitFunc {
			last := boostedStart(o.features)
			return func(ctx context.Context, s Setting) (Fit, error) {
				r, err := learn.Fit(ctx, x, learn.Options{Loss: loss, Lambda: s.Lambda, Start: last, Tolerance: o.tolerance,
					ClassWeights: learn.ClassWeights{Positive: positive}})
				if err != nil {
					return Fit{}, err
				}
				if r.Reason == optim.Cancelled {
					return Fit{}, context.Cause(ctx)
				}
				last = &r
				return Fit{W: r.W, At: objective.Value{F: r.Objective, T: -r.Intercept, Loss: r.Loss},
					AtZero: objective.Value{F: r.AtZero, Loss: r.AtZero}, Bound: &r.LowerBound, Solver: "newton",
					Iterations: r.Steps, Passes: r.Passes}, nil
			}
		},
	}
}

// boostedStart returns the sum of boosted trees, where a fit on their leaves starts; nil for other encodings.
func boostedStart(m *feature.Map) *learn.Result {
	if m == nil || m.Boosting() == nil {
		return nil
	}
	b := m.Boosting()
	return &learn.Result{W: b.Weights(len(b.Rounds), m.Cols()), Intercept: b.Intercept}
}

// rampLearner returns the anchored top loss around the goal's rate.
func rampLearner(g metric.Goal) learner {
	return learner{
		name: method.Ramp,
		grid: func(feature.Encode) []Setting { return lambdaGrid(rampLambdas) },
		start: func(x *matrix.Matrix, o fitOptions) fitFunc {
			options := learn.RampOptions{Population: method.Negatives, Tolerance: o.tolerance}
			rows := x.Negatives.Rows()
			if g.Population() == method.AllRows {
				options.Population, rows = method.AllRows, x.Rows()
			}
			options.Taus = rampRates(g, rows)
			return func(ctx context.Context, s Setting) (Fit, error) {
				anchor, err := o.anchor(ctx, s.Anchor)
				if err != nil {
					return Fit{}, err
				}
				options := options
				options.Lambda, options.Anchor = s.Lambda, anchor
				r, err := learn.Ramp(ctx, x, options)
				if err != nil {
					return Fit{}, err
				}
				if r.Reason == optim.Cancelled {
					return Fit{}, context.Cause(ctx)
				}
				return Fit{W: r.W, At: objective.Value{F: r.Objective, T: r.Thresholds[0]}, Solver: "lbfgs",
					Iterations: r.Steps, Passes: r.Passes}, nil
			}
		},
	}
}

// rampRates returns the rates around the goal's that leave at least one row. A goal above every negative gets
// the rate of one row in rows, or in 1,000 if there are more.
func rampRates(g metric.Goal, rows int) []threshold.Rate {
	tau := g.Tau()
	switch {
	case g.Kind == metric.GoalMinRecall:
		tau, _ = threshold.ParseRate("10%") // by hand: the false alarms at the recall are not known
	case tau.IsZero():
		tau, _ = threshold.ParseRate(fmt.Sprintf("1/%d", max(2, min(rows, 1000))))
	}
	var rates []threshold.Rate
	for _, r := range learn.Around(tau) {
		if float64(rows)*r.Float64() >= 1 {
			rates = append(rates, r)
		}
	}
	if len(rates) == 0 {
		rates = []threshold.Rate{tau}
	}
	return rates
}

// methodLearner returns one of the paper's methods: its certified optimum if it is convex, else the paper's
// ADAM. On encodings that read the labels it has no lambda of 0: leaves separate the rows that they were grown on, so that many weights are
// optimal, and to prove that takes most of the time.
func methodLearner(m method.Method, g metric.Goal, s surrogate.Name) (learner, error) {
	problems, err := methodProblems(m, g, s)
	if err != nil {
		return learner{}, err
	}
	var grid []Setting
	for i := range problems {
		grid = append(grid, Setting{Lambda: problems[i].Lambda, Problem: &problems[i]})
	}
	return learner{
		name: m.Name,
		grid: func(e feature.Encode) []Setting {
			return slices.DeleteFunc(slices.Clone(grid), func(s Setting) bool { return s.Lambda == 0 && e.ReadsLabels() })
		},
		fitAll: fitMethod,
	}, nil
}

// fitMethod fits settings of one method. They share each pass over the data.
func fitMethod(ctx context.Context, x *matrix.Matrix, list []Setting, o fitOptions, w Watch) error {
	problems := make([]method.Problem, len(list))
	for i, s := range list {
		problems[i] = *s.Problem
	}
	if certified.Possible(problems[0]) != nil { // the same for the whole grid
		return fitByAdam(ctx, x, problems, w)
	}
	return solveAll(ctx, x, problems, o.gap, w)
}

// solveAll solves problems to their certified optimum. Where w = 0 is optimal there is nothing to solve.
func solveAll(ctx context.Context, x *matrix.Matrix, problems []method.Problem, gap float64, w Watch) error {
	zeros := zeroProofs{}
	var open []*objective.Objective
	var place []int // of each in problems
	for i, p := range problems {
		f, err := objective.New(p, x)
		if err != nil {
			w.Fitted(i, Fit{}, err)
			continue
		}
		zero, err := zeros.isOptimal(ctx, f)
		switch {
		case err != nil:
			return err
		case zero:
			w.Fitted(i, zeroFit(f), nil)
		default:
			open, place = append(open, f), append(place, i)
		}
	}
	_, err := certified.SolveAll(ctx, open, certified.Options{Gap: gap}, certified.Watch{
		Solved: func(k int, r certified.Result, err error) bool {
			switch {
			case err != nil:
				w.Fitted(place[k], Fit{}, err)
			case !r.Cancelled:
				w.Fitted(place[k], CertifiedFit(problems[place[k]], &r), nil)
			}
			return true
		},
		Progress: func(k int, p certified.Progress) { w.Progress(place[k], shareOfGap(p, gap)) },
	})
	return err
}

// shareOfGap returns how far a solve is: the digits of the gap of the decrease over those that are requested.
func shareOfGap(p certified.Progress, gap float64) float64 {
	now := (p.Upper - p.Lower) / (p.AtZero - p.Lower)
	if !(now > gap) { // also if nothing can decrease
		return 1
	}
	return max(0, math.Log(now)/math.Log(gap))
}

// zeroFit is the fit of a problem whose optimum is w = 0.
func zeroFit(f *objective.Objective) Fit {
	w := make([]float64, f.Dim())
	at := f.At(w, nil)
	return Fit{W: w, At: at, AtZero: at, NoBetterThanZero: true, Solver: "certified", Bound: &at.F,
		Certified: &certified.Result{Converged: true, Zero: certified.ZeroIsOptimal}}
}

// CertifiedFit is the fit of a problem that the certified solver solved.
func CertifiedFit(p method.Problem, r *certified.Result) Fit {
	if p.Definition().CanCollapse && r.Zero == certified.ZeroIsOptimal {
		r.Zero = certified.Undecided // zeroProofs did not prove it: the decrease is too small for the bounds to show
	}
	return Fit{
		W: r.W, At: objective.Value{F: r.Objective, T: r.Threshold}, AtZero: objective.Value{F: r.AtZero, Loss: r.AtZero},
		NoBetterThanZero: r.Objective >= r.AtZero, Solver: "certified", Certified: r, Bound: &r.LowerBound,
		Iterations: r.Iterations, Passes: r.Passes, RowReads: r.RowReads,
	}
}

// zeroProofs are proofs for one method on one matrix that w = 0 is optimal, by kappa. Lambda and the loss do
// not matter. The capped hull of a larger kappa lies within that of a smaller one, so a yes holds for every
// smaller kappa and a no for every larger one.
type zeroProofs map[float64]bool

// isOptimal reports whether w = 0 is proven optimal, which costs less than solving the problem.
func (z zeroProofs) isOptimal(ctx context.Context, f *objective.Objective) (bool, error) {
	if !f.Problem().Definition().CanCollapse {
		return false, nil
	}
	kappa := f.Threshold().Kappa()
	for known, yes := range z {
		if yes && kappa <= known || !yes && kappa >= known {
			return yes, nil
		}
	}
	res, err := certified.IsZeroOptimal(ctx, f, certified.Options{})
	if err != nil {
		return false, err
	}
	if res.Cancelled {
		return false, context.Cause(ctx)
	}
	z[kappa] = res.Verdict == certified.ZeroIsOptimal
	return z[kappa], nil
}

// fitByAdam fits problems without a certificate: ADAM from w = 0.
func fitByAdam(ctx context.Context, x *matrix.Matrix, problems []method.Problem, w Watch) error {
	fitted := w.Fitted
	w.Fitted = func(i int, f Fit, err error) {
		if err == nil {
			f.Solver = "adam"
		}
		fitted(i, f, err)
	}
	return Paper{Best: true}.Fit(ctx, x, problems, w)
}

// finiteWeights reports whether all weights are finite, and whether some weight is not 0.
func finiteWeights(w []float64) (all, some bool) {
	for _, x := range w {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false, some
		}
		some = some || x != 0
	}
	return true, some
}
