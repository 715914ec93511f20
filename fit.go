package toptau

import (
	"context"
	"fmt"
	"strings"
	"time"

	"toptau/diag"
	"toptau/internal/certified"
	"toptau/internal/feature"
	"toptau/internal/matrix"
	"toptau/internal/objective"
	"toptau/internal/solver"
	"toptau/internal/tune"
	"toptau/method"
	"toptau/model"
	"toptau/schema"
	"toptau/surrogate"
	"toptau/threshold"
)

// SolverOptions are the settings of a fit. The zero value is the default of each.
type SolverOptions struct {
	Solver      string  // "" or "auto", "certified", "adam", "sgd"
	Gap         float64 // certified: the gap of the decrease to reach; 0: 1e-6
	MaxPasses   int     // certified: readings of the data after which to stop; 0: no limit
	Iterations  int     // steps; 0: 1000
	Step        float64 // step size; 0: 0.01
	Minibatches int     // 0 or 1: full batches
	Stratified  bool    // minibatches with equal shares of the positives
	Start       string  // "" or "zero", "random": uniform in [-1,1]
	Seed        uint64
	Storage     string // "" or "float32", "float64": how the packed matrix is stored
}

// FitOptions are the choices of Fit: a method with its hyperparameters, the features, the solver.
type FitOptions struct {
	Method    string  // "toppush", "toppushk", "grill", "patmat", "topmean", "grill-np", "patmat-np", "topmean-np"
	Surrogate string  // "" or "hinge", "squared-hinge", "logistic"
	Lambda    float64 // of lambda/2 |w|^2
	Tau       string  // "1%" or "0.01"; exact
	Beta      float64
	K         int
	Features  string // "" or "raw", "scorecard", "leaves", "scorecard+leaves": how numeric columns are encoded
	Scale     string // "" or "standard", "all", "none"
	Impute    string // "" or "error", "median", "zero", "own"
	SolverOptions
	Progress func(Progress)

	NoFingerprints bool // keep no hashes of training rows in the model
}

// Progress is where long work stands.
type Progress struct {
	Share float64 // of the work, 0 to 1
	Text  string  // what is being done

	Usable bool // Train and Compare: a context that ends from now on leaves a result
}

// Report is what a fit found, with the evidence: the object that fit --json prints. A nil pointer is unknown or does not
// apply. Only fields that begin with seconds_ may differ between runs.
type Report struct {
	SchemaVersion    int       `json:"schema_version"`
	Method           string    `json:"method"`
	Surrogate        string    `json:"surrogate"`
	Lambda           float64   `json:"lambda"`
	Tau              *float64  `json:"tau"`
	Beta             *float64  `json:"beta"`
	K                *int      `json:"k"`
	KUsed            *float64  `json:"k_used"` // the mass on top: K, or the real M tau of a surrogate quantile
	Population       string    `json:"population"`
	Solver           string    `json:"solver"`
	Start            *string   `json:"start"`
	Minibatches      *int      `json:"minibatches"`
	Features         string    `json:"features"` // how numeric columns are encoded
	Scale            string    `json:"scale"`
	Seed             uint64    `json:"seed"`
	N                int       `json:"n"`
	NPos             int       `json:"n_pos"`
	D                int       `json:"d"`
	Objective        float64   `json:"objective"`         // F(w)
	LowerBound       *float64  `json:"lower_bound"`       // D <= min F
	RelativeGap      *float64  `json:"relative_gap"`      // (F-D)/max(F,0.01)
	GapOfDecrease    *float64  `json:"gap_of_decrease"`   // (F-D)/(F(0)-D)
	BallRadius       *float64  `json:"ball_radius"`       // lambda = 0: the bound holds for |w| up to this
	Threshold        float64   `json:"threshold"`         // t(w)
	NormW            float64   `json:"norm_w"`            // |w|
	ObjectiveAtZero  float64   `json:"objective_at_zero"` // F(0)
	ZeroIsOptimal    *bool     `json:"zero_is_optimal"`
	Passes           int       `json:"passes"`    // full readings of the population
	RowReads         float64   `json:"row_reads"` // all row visits over n
	Iterations       int       `json:"iterations"`
	BestIteration    *int      `json:"best_iteration"` // ADAM, SGD: where F was lowest
	BestObjective    *float64  `json:"best_objective"`
	WorkingSet       *int      `json:"working_set"`
	Converged        *bool     `json:"converged"`
	NoBetterThanZero bool      `json:"no_better_than_zero"` // F(w) >= F(0)
	Cancelled        bool      `json:"cancelled"`
	SecondsRead      float64   `json:"seconds_read"`
	SecondsFit       float64   `json:"seconds_fit"`
	Warnings         []Warning `json:"warnings"`
}

// Fitted is a fitted model with its report.
type Fitted struct {
	Model  *model.Model
	Report Report
	Trace  []TracePoint // ADAM, SGD: the objective on all rows along the way

	Certificate *Certificate // certified: the dual point behind Report.LowerBound
}

// TracePoint is the objective after some steps.
type TracePoint struct {
	Iteration int     `json:"iteration"`
	Objective float64 `json:"objective"`
}

// problem checks the method and its hyperparameters.
func (o *FitOptions) problem() (method.Problem, error) {
	m, err := method.ByName(o.Method)
	if err != nil {
		return method.Problem{}, err
	}
	h := method.Problem{Lambda: o.Lambda, Beta: o.Beta, K: o.K}
	if o.Tau != "" {
		if h.Tau, err = threshold.ParseRate(o.Tau); err != nil {
			named := *diag.Of(err)
			named.Found = "--tau " + diag.Quote(o.Tau)
			return method.Problem{}, &named
		}
	}
	if h.Surrogate, err = surrogateOf(o.Surrogate); err != nil {
		return method.Problem{}, err
	}
	return m.With(h)
}

func encodeOf(features string) string {
	if features == "" {
		return string(feature.EncodeRaw)
	}
	return features
}

// featureOptions are checked by package feature, which names the flag.
func featureOptions(encode, scale, impute string, seed uint64) feature.Options {
	return feature.Options{Encode: feature.Encode(encode), Scale: schema.Scale(scale), Impute: schema.Impute(impute), Seed: seed}
}

func surrogateOf(name string) (surrogate.Name, error) {
	if name == "" {
		return surrogate.Hinge.Name(), nil
	}
	l, err := surrogate.ByName(name)
	if err != nil {
		return "", err
	}
	return l.Name(), nil
}

func storageOf(name string) (matrix.Storage, error) {
	switch name {
	case "", "float32":
		return matrix.Float32, nil
	case "float64":
		return matrix.Float64, nil
	}
	return 0, &diag.Error{Kind: diag.Usage, Found: "--storage " + diag.Quote(name), Expected: "float32 or float64"}
}

// steps returns the options of ADAM and SGD.
func (o *SolverOptions) steps() (solver.Options, error) {
	s := solver.Options{Iterations: o.Iterations, Step: o.Step, Seed: o.Seed}
	switch o.Start {
	case "", "zero":
	case "random":
		s.Start = solver.Random
	default:
		return s, &diag.Error{Kind: diag.Usage, Found: "--start " + diag.Quote(o.Start), Expected: "zero or random"}
	}
	if o.Minibatches < 0 {
		return s, &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("--minibatches %d", o.Minibatches), Expected: "at least 1"}
	}
	return s, nil
}

// Fit fits one method with given hyperparameters on all rows of d. A context that ends while the rows are encoded is an
// error. One that ends later stops the solver early; the result is then what it had, with Report.Cancelled set.
func Fit(ctx context.Context, d *Data, o FitOptions) (*Fitted, error) {
	p, err := o.problem()
	if err != nil {
		return nil, err
	}
	if _, err := solverFor(d, p, 0, o); err != nil {
		return nil, err // before any work
	}
	storage, err := storageOf(o.Storage)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	features, warnings, err := feature.FitContext(ctx, d.table, d.info.Schema, nil,
		featureOptions(o.Features, o.Scale, o.Impute, o.Seed))
	if err != nil {
		return nil, d.inFile(err)
	}
	var prints *model.Fingerprints
	if !o.NoFingerprints { // before the matrix takes the columns
		prints = fingerprints(features, d.table, nil, nil)
	}
	leaks := tune.Leaks(d.table) // before its columns are given up
	x, err := d.matrix(ctx, features, storage)
	if err != nil {
		return nil, err
	}
	f, err := objective.New(p, x)
	if err != nil {
		return nil, err
	}

	run, err := solverFor(d, p, x.Cols(), o)
	if err != nil {
		return nil, err
	}
	r := newReport(p, f, o)
	r.Features, r.Scale, r.SecondsRead = encodeOf(o.Features), string(features.Scale), d.seconds
	r.Warnings = append(leakWarnings(leaks), d.warnings()...)
	for _, w := range warnings {
		r.Warnings = append(r.Warnings, w)
	}
	fitted := &Fitted{Report: r}
	w, err := run(ctx, f, fitted)
	if err != nil {
		return nil, err
	}
	fitted.Report.NormW = objective.Norm(w)
	fitted.Report.warnOfZero(p)
	fitted.Report.SecondsFit = time.Since(start).Seconds()
	parts := modelParts(d, features, w, fitted.Report.Seed)
	parts.Fingerprints = prints
	parts.Points = []model.Point{{Name: "training", Threshold: fitted.Report.Threshold,
		Source: fmt.Sprintf("the method's own threshold on the %d training rows; not certified", r.N)}}
	parts.Members = []model.Member{member(p, &fitted.Report, o, len(features.Blocks))}
	if fitted.Model, err = model.New(parts); err != nil {
		return nil, err
	}
	return fitted, nil
}

// newReport fills in what is known before the first step.
func newReport(p method.Problem, f *objective.Objective, o FitOptions) Report {
	h := p
	kappa := f.Threshold().Kappa()
	r := Report{
		SchemaVersion: SchemaVersion, Method: string(p.Definition().Name), Surrogate: string(h.Surrogate), Lambda: h.Lambda, KUsed: &kappa,
		Population: p.Definition().Population.String(), Seed: o.Seed,
		N: f.Rows(), NPos: f.Matrix().Positives.Rows(), D: f.Dim(),
	}
	if p.Definition().UsesTau {
		tau := h.Tau.Float64()
		r.Tau = &tau
	}
	if p.Definition().UsesBeta {
		r.Beta = &h.Beta
	}
	if p.Definition().UsesK {
		r.K = &h.K
	}
	return r
}

// SchemaVersion is the version of the objects that --json prints.
const SchemaVersion = 1

// solverRun minimises f, fills the report's evidence and returns w.
type solverRun func(ctx context.Context, f *objective.Objective, out *Fitted) ([]float64, error)

// autoColumns is the number of features up to which the certified solver is chosen without being asked for: its Newton
// systems grow with the cube of it.
const autoColumns = 2000

// solverFor chooses the solver and refuses settings that contradict each other. Without a wish it is the certified one where
// there is one, on up to autoColumns features.
func solverFor(d *Data, p method.Problem, cols int, o FitOptions) (solverRun, error) {
	switch o.Solver {
	case "", "auto":
		if certified.Possible(p) == nil && cols <= autoColumns {
			return certifiedRun(d, o)
		}
		return stepped("adam", solver.Adam, o)
	case "certified":
		if err := certified.Possible(p); err != nil {
			return nil, &diag.Error{Kind: diag.Usage, Found: "--solver certified", Err: err,
				Expected: "a convex method with the hinge or the squared hinge", Hint: "--solver adam"}
		}
		return certifiedRun(d, o)
	case "adam":
		return stepped("adam", solver.Adam, o)
	case "sgd":
		return stepped("sgd", solver.SGD, o)
	}
	return nil, unknownSolver(o.Solver)
}

func unknownSolver(name string) error {
	return &diag.Error{Kind: diag.Usage, Found: "--solver " + diag.Quote(name), Expected: "auto, certified, adam or sgd"}
}

// certifiedRun finds the optimum with its bound.
func certifiedRun(d *Data, o FitOptions) (solverRun, error) {
	if o.Gap < 0 || o.Gap >= 1 {
		return nil, &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("--gap %v", o.Gap), Expected: "a number from 0 to below 1"}
	}
	if o.MaxPasses < 0 {
		return nil, &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("--max-passes %d", o.MaxPasses), Expected: "at least 1"}
	}
	if flag := o.stepFlag(); flag != "" {
		return nil, &diag.Error{Kind: diag.Usage, Found: flag + " with the certified solver", Expected: "--solver adam or sgd"}
	}
	return func(ctx context.Context, f *objective.Objective, out *Fitted) ([]float64, error) {
		options := certified.Options{Gap: o.Gap, MaxPasses: o.MaxPasses}
		if o.Progress != nil {
			options.Progress = func(p certified.Progress) {
				o.Progress(Progress{Share: -1, Text: fmt.Sprintf("certified: %d passes, objective %.8g, lower bound %.8g", p.Passes, p.Upper, p.Lower)})
			}
		}
		res, err := certified.Solve(ctx, f, options)
		if err == nil && (res.Converged || o.MaxPasses == 0) {
			err = res.ProveZero(ctx, f)
		}
		if err != nil {
			return nil, err
		}
		out.recordCertified(&res)
		out.Certificate = newCertificate(d, f, o.Storage, &res)
		return res.W, nil
	}, nil
}

// stepFlag names a setting of ADAM and SGD that was made.
func (o *SolverOptions) stepFlag() string {
	switch {
	case o.Iterations != 0:
		return "--iterations"
	case o.Step != 0:
		return "--step"
	case o.Minibatches > 1:
		return "--minibatches"
	case o.Start == "random":
		return "--start random"
	}
	return ""
}

// recordCertified takes over what the certified solver found.
func (out *Fitted) recordCertified(res *certified.Result) {
	r := &out.Report
	r.certify(res)
	switch {
	case res.Cancelled:
		r.Warnings = append(r.Warnings, Warning{Code: "cancelled", Text: fmt.Sprintf("interrupted after %d passes; both bounds hold", res.Passes)})
	case !res.Converged:
		r.Warnings = append(r.Warnings, Warning{Code: "not-converged",
			Text: fmt.Sprintf("the gap asked for was not reached in %d passes; both bounds hold", res.Passes)})
	}
}

// certify fills in the evidence of the certified solver.
func (r *Report) certify(res *certified.Result) {
	gap := res.RelativeGap()
	r.Solver, r.Objective, r.LowerBound, r.RelativeGap = "certified", res.Objective, &res.LowerBound, &gap
	if share, some := res.GapOfDecrease(); some {
		r.GapOfDecrease = &share
	}
	if r.Lambda == 0 {
		r.BallRadius = &res.BallRadius
	}
	r.Threshold, r.ObjectiveAtZero = res.Threshold, res.AtZero
	r.ZeroIsOptimal = res.Zero.Answer()
	r.Passes, r.RowReads, r.Iterations, r.WorkingSet = res.Passes, res.RowReads, res.Iterations, &res.WorkingSet
	r.Converged, r.Cancelled = &res.Converged, res.Cancelled
	r.NoBetterThanZero = res.Objective >= res.AtZero
}

// recordStart notes where ADAM or SGD began and on how many minibatches.
func (r *Report) recordStart(o *SolverOptions) {
	start, minibatches := o.Start, max(1, o.Minibatches)
	if start == "" {
		start = "zero"
	}
	r.Start, r.Minibatches = &start, &minibatches
}

type stepSolver func(context.Context, solver.Objective, []solver.Objective, solver.Options) (solver.Result, error)

// stepped runs ADAM or SGD.
func stepped(name string, minimise stepSolver, o FitOptions) (solverRun, error) {
	steps, err := o.steps()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, f *objective.Objective, out *Fitted) ([]float64, error) {
		var batches []solver.Objective
		if o.Minibatches > 1 {
			parts, err := f.Minibatches(o.Minibatches, o.Seed, o.Stratified)
			if err != nil {
				return nil, err
			}
			batches = solver.Batches(parts)
		}
		if o.Progress != nil {
			steps.Progress = func(p solver.Progress) {
				o.Progress(Progress{Share: float64(p.Iteration) / float64(p.Of),
					Text: fmt.Sprintf("%s: step %d of %d, objective %.6g", name, p.Iteration, p.Of, p.Value.F)})
			}
		}
		res, err := minimise(ctx, f, batches, steps)
		if err != nil {
			return nil, err
		}
		out.recordSteps(name, o, &res)
		return res.Last.W, nil
	}, nil
}

// recordSteps takes over what ADAM or SGD found.
func (out *Fitted) recordSteps(name string, o FitOptions, res *solver.Result) {
	r := &out.Report
	r.Solver = name
	r.recordStart(&o.SolverOptions)
	r.Objective, r.Threshold, r.ObjectiveAtZero = res.Last.F, res.Last.T, res.AtZero.F
	r.Iterations, r.Passes, r.RowReads, r.Cancelled = res.Iterations, res.Passes, res.RowReads, res.Cancelled
	r.BestIteration, r.BestObjective = &res.Best.Iteration, &res.Best.F
	r.NoBetterThanZero = res.NoBetterThanZero()
	for _, p := range res.Trace {
		out.Trace = append(out.Trace, TracePoint{p.Iteration, p.F})
	}
	r.Warnings = append(r.Warnings, Warning{Code: "no-certificate",
		Text: "no certificate: " + strings.ToUpper(name) + " returns its last iterate, and nothing bounds its distance to the optimum"})
	if res.Cancelled {
		r.Warnings = append(r.Warnings, Warning{Code: "cancelled", Text: fmt.Sprintf("interrupted after %d steps", res.Iterations)})
	}
}

// warnOfZero says what it means that w = 0 is no worse.
func (r *Report) warnOfZero(p method.Problem) {
	if !r.NoBetterThanZero {
		return
	}
	text := fmt.Sprintf("the fit is no better than w = 0: objective %.6g against %.6g at zero", r.Objective, r.ObjectiveAtZero)
	if r.ZeroIsOptimal != nil && *r.ZeroIsOptimal {
		text = ZeroWords(p.Definition().Title)
	}
	if p.Definition().CanCollapse {
		text += "; " + zeroAdvice
	}
	r.Warnings = append(r.Warnings, Warning{Code: "no-better-than-zero", Text: text})
}

// modelParts returns what every model has; the caller adds points and members.
func modelParts(d *Data, features *feature.Map, w []float64, seed uint64) model.Parts {
	training := model.Training{Rows: d.Rows(), Positives: d.Positives(), Digest: d.digest(), Seed: seed}
	training.Mass, training.PositiveMass = d.masses()
	return model.Parts{Schema: d.info.Schema, Features: features, Weights: w, Training: training}
}

// member describes a fit inside a model.
func member(p method.Problem, r *Report, o FitOptions, blocks int) model.Member {
	h := p
	m := model.Member{
		Method: r.Method, Surrogate: r.Surrogate, Lambda: r.Lambda, Tau: h.Tau, Beta: h.Beta, K: h.K, Share: 1,
		Solver: model.Solver{Name: r.Solver, Iterations: r.Iterations, Seed: r.Seed},
		Certificate: &model.Certificate{Objective: r.Objective, ObjectiveAtZero: r.ObjectiveAtZero, LowerBound: r.LowerBound,
			RelativeGap: r.RelativeGap, GapOfDecrease: r.GapOfDecrease, Threshold: r.Threshold, ZeroIsOptimal: r.ZeroIsOptimal},
	}
	for k := range blocks {
		m.Blocks = append(m.Blocks, k)
	}
	if r.Start != nil {
		m.Solver.Start, m.Solver.Minibatches = *r.Start, *r.Minibatches
		if m.Solver.Step = o.Step; o.Step == 0 {
			m.Solver.Step = solver.DefaultStep
		}
	}
	return m
}
