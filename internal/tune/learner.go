package tune

import (
	"context"
	"fmt"
	"math"
	"strings"

	"toptau/diag"
	"toptau/internal/certified"
	"toptau/internal/feature"
	"toptau/internal/learn"
	"toptau/internal/matrix"
	"toptau/internal/objective"
	"toptau/internal/optim"
	"toptau/method"
	"toptau/metric"
	"toptau/surrogate"
	"toptau/threshold"
)

// Names of learners beside the methods.
const (
	Logistic = "logistic" // logistic regression
	SVM      = "svm"      // the linear support vector machine with squared hinge
	Ramp     = "ramp"     // the top loss anchored at logistic regression
)

// Learners are the names that SearchOptions.Learners may have.
func Learners() []string {
	names := []string{Logistic, SVM, Ramp}
	for _, m := range method.All() {
		names = append(names, string(m.Name))
	}
	return names
}

// learner fits linear models of one kind on an encoded matrix.
type learner struct {
	name    string
	grid    func(e feature.Encode) []Setting
	patient bool // the grid has no order in which poor settings announce poorer ones
	// start begins a path of settings on one matrix.
	start func(x *matrix.Matrix, o runOptions) run
}

// runOptions is what a run may know beside the matrix.
type runOptions struct {
	anchor    func(ctx context.Context, lambda float64) ([]float64, error) // logistic regression on the matrix
	tolerance float64                                                      // of a gradient
	gap       float64                                                      // of a certified optimum
}

// run fits one setting after the other. A fit may start from the one before.
type run func(ctx context.Context, s Setting) (Fit, error)

// Setting is one point of a learner's grid.
type Setting struct {
	Lambda  float64
	Anchor  float64         // ramp: the lambda of the logistic regression that it starts from
	Problem *method.Problem // of a method
}

// String is the setting in words.
func (s Setting) String() string {
	if s.Problem != nil {
		return settings(*s.Problem)
	}
	if s.Anchor > 0 {
		return fmt.Sprintf("lambda %s around logistic with lambda %s", number(s.Lambda), number(s.Anchor))
	}
	return "lambda " + number(s.Lambda)
}

// lambdas of the baselines, largest first. The encodings differ in how many weights a row has.
func lambdas(e feature.Encode) []float64 {
	if e == feature.EncodeRaw {
		return []float64{0.1, 0.01, 0.001, 1e-4, 1e-5, 1e-6}
	}
	return []float64{1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 1e-4, 1e-5, 1e-6}
}

// rampLambdas are the pulls back to the anchor.
var rampLambdas = []float64{0.1, 0.01, 0.001, 1e-4, 1e-5}

func gridOf(list []float64) []Setting {
	var grid []Setting
	for _, lambda := range list {
		grid = append(grid, Setting{Lambda: lambda})
	}
	return grid
}

// convexBaseline is logistic regression or the squared-hinge machine.
func convexBaseline(name string, loss learn.Loss) learner {
	return learner{
		name: name,
		grid: func(e feature.Encode) []Setting { return gridOf(lambdas(e)) },
		start: func(x *matrix.Matrix, o runOptions) run {
			var last *learn.Result
			return func(ctx context.Context, s Setting) (Fit, error) {
				r, err := learn.Fit(ctx, x, learn.Options{Loss: loss, Lambda: s.Lambda, Start: last, Tolerance: o.tolerance})
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

// ramp is the anchored top loss around the goal's rate.
func ramp(g metric.Goal) learner {
	return learner{
		name: Ramp,
		grid: func(feature.Encode) []Setting { return gridOf(rampLambdas) },
		start: func(x *matrix.Matrix, o runOptions) run {
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

// rampRates are the rates around the goal's; above every negative, those of a few rows.
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

// paperMethod is one of the paper's methods: at its certified optimum where it has one, else by the paper's scheme.
func paperMethod(m method.Method, g metric.Goal, s surrogate.Name) (learner, error) {
	problems, err := Problems([]method.Method{m}, g, s)
	if err != nil {
		return learner{}, err
	}
	var grid []Setting
	for i := range problems {
		grid = append(grid, Setting{Lambda: problems[i].Lambda, Problem: &problems[i]})
	}
	return learner{
		name:    string(m.Name),
		grid:    func(feature.Encode) []Setting { return grid },
		patient: true,
		start: func(x *matrix.Matrix, o runOptions) run {
			r := methodRun{x: x, gap: o.gap, zero: map[float64]bool{}}
			return func(ctx context.Context, s Setting) (Fit, error) { return r.fit(ctx, *s.Problem) }
		},
	}, nil
}

// methodRun is a path of settings of a method.
type methodRun struct {
	x     *matrix.Matrix
	gap   float64
	chain certified.Chain
	zero  map[float64]bool // by kappa: w = 0 is optimal, whatever lambda
}

func (r *methodRun) fit(ctx context.Context, p method.Problem) (Fit, error) {
	if certified.Possible(p) != nil {
		return paperFit(ctx, r.x, p)
	}
	f, err := objective.New(p, r.x)
	if err != nil {
		return Fit{}, err
	}
	if zero, err := r.collapses(ctx, p, f); err != nil || zero {
		at := f.At(make([]float64, f.Dim()), nil)
		return Fit{W: make([]float64, f.Dim()), At: at, AtZero: at, NoBetterThanZero: true, Solver: "certified",
			Certified: &certified.Result{Converged: true, Zero: certified.ZeroIsOptimal}, Bound: &at.F}, err
	}
	res, err := r.chain.Solve(ctx, f, certified.Options{Gap: r.gap})
	if err != nil {
		return Fit{}, err
	}
	if res.Cancelled {
		return Fit{}, context.Cause(ctx)
	}
	if p.Definition().CanCollapse && res.Zero == certified.ZeroIsOptimal {
		res.Zero = certified.Undecided // the hull did not prove it: the decrease is too small for the bounds to show
	}
	return Fit{
		W: res.W, At: objective.Value{F: res.Objective, T: res.Threshold}, AtZero: objective.Value{F: res.AtZero, Loss: res.AtZero},
		NoBetterThanZero: res.Objective >= res.AtZero, Solver: "certified", Certified: &res, Bound: &res.LowerBound,
		Iterations: res.Iterations, Passes: res.Passes, RowReads: res.RowReads,
	}, nil
}

// collapses asks whether w = 0 is optimal, which costs less than finding it.
func (r *methodRun) collapses(ctx context.Context, p method.Problem, f *objective.Objective) (bool, error) {
	if !p.Definition().CanCollapse {
		return false, nil
	}
	kappa := f.Threshold().Kappa()
	if zero, known := r.zero[kappa]; known {
		return zero, nil
	}
	res, err := certified.IsZeroOptimal(ctx, f, certified.Options{})
	if err != nil {
		return false, err
	}
	if res.Cancelled {
		return false, context.Cause(ctx)
	}
	r.zero[kappa] = res.Verdict == certified.ZeroIsOptimal
	return r.zero[kappa], nil
}

// paperFit is ADAM from w = 0.
func paperFit(ctx context.Context, x *matrix.Matrix, p method.Problem) (Fit, error) {
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

// learners lists what the options ask for; names nil: the default.
func (s *search) learners() ([]learner, error) {
	o := &s.options
	names := o.Learners
	if names == nil {
		names = []string{Logistic, Ramp}
		for _, m := range Candidates(o.Goal) {
			if m.Convex {
				names = append(names, string(m.Name))
			}
		}
	}
	var list []learner
	seen := map[string]bool{}
	for _, name := range names {
		var l learner
		switch name {
		case Logistic:
			l = convexBaseline(name, learn.Logistic)
		case SVM:
			l = convexBaseline(name, learn.SquaredHinge)
		case Ramp:
			l = ramp(o.Goal)
		default:
			m, err := method.ByName(name)
			if err != nil {
				return nil, &diag.Error{Kind: diag.Usage, Found: "--method " + diag.Quote(name),
					Expected: strings.Join(Learners(), ", ")}
			}
			if l, err = paperMethod(m, o.Goal, o.Surrogate); err != nil {
				return nil, err
			}
		}
		if seen[l.name] {
			return nil, &diag.Error{Kind: diag.Usage, Found: "method " + l.name + " twice", Expected: "each method once"}
		}
		seen[l.name] = true
		list = append(list, l)
	}
	if len(list) == 0 {
		return nil, &diag.Error{Kind: diag.Usage, Found: "no method", Expected: "a method at least"}
	}
	return list, nil
}

// finite reports whether all weights are finite and some weight is not 0.
func finite(w []float64) (all, some bool) {
	for _, x := range w {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false, some
		}
		some = some || x != 0
	}
	return true, some
}
