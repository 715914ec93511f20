package tune

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"toptau/diag"
	"toptau/internal/certified"
	"toptau/internal/feature"
	"toptau/internal/learn"
	"toptau/internal/matrix"
	"toptau/internal/objective"
	"toptau/internal/optim"
	"toptau/internal/text"
	"toptau/method"
	"toptau/metric"
	"toptau/surrogate"
	"toptau/threshold"
)

// AllLearners is a name in SearchOptions.Learners: every learner for which the goal has a rate.
const AllLearners method.Name = "all"

// Baselines returns the learners that users have today. The first is the reference.
func Baselines() []method.Name { return []method.Name{method.Logistic, method.SVM} }

// Learners returns the names that SearchOptions.Learners may contain, without AllLearners.
func Learners() []method.Name {
	return append([]method.Name{method.Logistic, method.SVM, method.Ramp, method.Boosting}, method.Names()...)
}

// learner fits linear models of one kind to an encoded matrix.
type learner struct {
	name    method.Name
	grid    func(e feature.Encode) []Setting
	patient bool // try the whole grid: a poor setting does not announce poorer ones
	summed  bool // the fit is the sum of boosted trees, which the encoding knows: it needs no matrix
	// start returns the function that fits settings on one matrix.
	start func(x *matrix.Matrix, o fitOptions) fitFunc
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

// newLearner returns a learner by name.
func newLearner(name method.Name, o *SearchOptions) (learner, error) {
	switch name {
	case method.Logistic:
		return convexLearner(name, learn.Logistic, o.ClassWeight), nil
	case method.SVM:
		return convexLearner(name, learn.SquaredHinge, o.ClassWeight), nil
	case method.Ramp:
		return rampLearner(o.Goal), nil
	case method.Boosting:
		return boostingLearner(o.Feature.Rounds), nil
	}
	m, err := method.ByName(name)
	if err != nil {
		return learner{}, &diag.Error{Kind: diag.Usage, Param: "method", Found: diag.Quote(string(name)),
			Expected: strings.Join(text.Strings(append(Learners(), AllLearners)), ", ")}
	}
	return methodLearner(m, o.Goal, o.Surrogate)
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
			if g.Criterion().Name == metric.AtQuantile {
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
	if tau.IsZero() {
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
// ADAM.
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
		name:    m.Name,
		grid:    func(feature.Encode) []Setting { return slices.Clone(grid) },
		patient: true,
		start: func(x *matrix.Matrix, o fitOptions) fitFunc {
			path := methodPath{x: x, gap: o.gap, zero: map[float64]bool{}}
			return func(ctx context.Context, s Setting) (Fit, error) { return path.fit(ctx, *s.Problem) }
		},
	}, nil
}

// methodPath fits the settings of one method, each from the solution of the one before.
type methodPath struct {
	x     *matrix.Matrix
	gap   float64
	chain certified.Chain
	zero  map[float64]bool // by kappa: w = 0 is optimal for every lambda
}

func (p *methodPath) fit(ctx context.Context, problem method.Problem) (Fit, error) {
	if certified.Possible(problem) != nil {
		return fitByAdam(ctx, p.x, problem)
	}
	f, err := objective.New(problem, p.x)
	if err != nil {
		return Fit{}, err
	}
	if zero, err := p.zeroIsOptimal(ctx, problem, f); err != nil || zero {
		at := f.At(make([]float64, f.Dim()), nil)
		return Fit{W: make([]float64, f.Dim()), At: at, AtZero: at, NoBetterThanZero: true, Solver: "certified",
			Certified: &certified.Result{Converged: true, Zero: certified.ZeroIsOptimal}, Bound: &at.F}, err
	}
	res, err := p.chain.Solve(ctx, f, certified.Options{Gap: p.gap})
	if err != nil {
		return Fit{}, err
	}
	if res.Cancelled {
		return Fit{}, context.Cause(ctx)
	}
	if problem.Definition().CanCollapse && res.Zero == certified.ZeroIsOptimal {
		res.Zero = certified.Undecided // zeroIsOptimal did not prove it: the decrease is too small for the bounds to show
	}
	return Fit{
		W: res.W, At: objective.Value{F: res.Objective, T: res.Threshold}, AtZero: objective.Value{F: res.AtZero, Loss: res.AtZero},
		NoBetterThanZero: res.Objective >= res.AtZero, Solver: "certified", Certified: &res, Bound: &res.LowerBound,
		Iterations: res.Iterations, Passes: res.Passes, RowReads: res.RowReads,
	}, nil
}

// zeroIsOptimal reports whether w = 0 is optimal, which costs less than solving the problem.
func (p *methodPath) zeroIsOptimal(ctx context.Context, problem method.Problem, f *objective.Objective) (bool, error) {
	if !problem.Definition().CanCollapse {
		return false, nil
	}
	kappa := f.Threshold().Kappa()
	if zero, known := p.zero[kappa]; known {
		return zero, nil
	}
	res, err := certified.IsZeroOptimal(ctx, f, certified.Options{})
	if err != nil {
		return false, err
	}
	if res.Cancelled {
		return false, context.Cause(ctx)
	}
	p.zero[kappa] = res.Verdict == certified.ZeroIsOptimal
	return p.zero[kappa], nil
}

// fitByAdam fits a problem without a certificate: ADAM from w = 0.
func fitByAdam(ctx context.Context, x *matrix.Matrix, p method.Problem) (Fit, error) {
	var fit Fit
	var failed error
	done := false
	err := Paper{}.Fit(ctx, x, []method.Problem{p}, Watch{
		Fitted:   func(_ int, f Fit, err error) { fit, failed, done = f, err, true },
		Progress: func(int, float64) {},
	})
	switch {
	case err != nil:
		return Fit{}, err
	case !done:
		return Fit{}, context.Cause(ctx)
	}
	fit.Solver = "adam"
	return fit, failed
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
