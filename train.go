package toptau

import (
	"context"
	"fmt"
	"time"

	"toptau/internal/fault"
	"toptau/internal/solver"
	"toptau/internal/tune"
	"toptau/method"
	"toptau/metric"
	"toptau/model"
	"toptau/threshold"
)

// TrainOptions are the choices of Train. The zero value is the paper's protocol.
type TrainOptions struct {
	Methods    []string // "": those whose criterion is the goal's
	Surrogate  string   // "" or "hinge", "squared-hinge", "logistic"
	Select     string   // "" or "method": each method's grid by its own criterion, as in the paper; "goal": by the goal's
	Features   string   // "" or "raw", "scorecard", "leaves", "scorecard+leaves": how numeric columns are encoded
	Scale      string
	Impute     string
	Delta      threshold.Rate // a threshold with a guarantee that may fail with this probability; zero: a plain one
	Validation *Data          // nil: a quarter of the rows; otherwise read with ReadLike
	Test       *Data          // nil: a quarter of the rows; otherwise read with ReadLike
	SolverOptions
	Progress func(Progress)
}

// TrainReport is what Train found: the object that train --json prints.
type TrainReport struct {
	SchemaVersion int               `json:"schema_version"`
	Goal          string            `json:"goal"`
	GoalWords     string            `json:"goal_words"`
	Chosen        int               `json:"chosen"` // index into points
	Why           string            `json:"why"`
	Training      PartReport        `json:"training"`
	Validation    PartReport        `json:"validation"`
	Test          *PartReport       `json:"test"`
	Calibration   *PartReport       `json:"calibration"` // rows set aside for the guarantee, used for nothing else
	Points        []PointReport     `json:"points"`
	Threshold     float64           `json:"threshold"`
	ThresholdNote string            `json:"threshold_note"`
	Certified     bool              `json:"certified"`
	Delta         *string           `json:"delta"`
	Order         *int              `json:"order"`             // the threshold is the order-th smallest calibration score
	Bound         *float64          `json:"bound"`             // the exact binomial tail; absolute-top: the bounded rate
	NoGuarantee   *string           `json:"no_guarantee"`      // why the guarantee asked for cannot be given
	TestGoal      *metric.Result    `json:"test_goal"`         // the goal's criterion, threshold from the test part itself
	AtThreshold   *metric.Confusion `json:"test_at_threshold"` // what the model's threshold does on the test part
	Features      int               `json:"d"`
	Seed          uint64            `json:"seed"`
	Cancelled     bool              `json:"cancelled"`
	SecondsRead   float64           `json:"seconds_read"`
	SecondsFit    float64           `json:"seconds_fit"`
	Seconds       float64           `json:"seconds_total"`
	Warnings      []Warning         `json:"warnings"`
}

// PartReport counts the rows of a part.
type PartReport struct {
	Rows      int `json:"n"`
	Positives int `json:"n_pos"`
}

// PointReport is one setting of one method.
type PointReport struct {
	Method           string         `json:"method"`
	Lambda           float64        `json:"lambda"`
	Tau              *float64       `json:"tau"`
	Beta             *float64       `json:"beta"`
	K                *int           `json:"k"`
	Status           string         `json:"status"` // fitted, skipped, unfinished
	Reason           *string        `json:"reason"`
	Solver           *string        `json:"solver"`
	Objective        *float64       `json:"objective"`
	LowerBound       *float64       `json:"lower_bound"`
	ZeroIsOptimal    *bool          `json:"zero_is_optimal"`
	ObjectiveAtZero  *float64       `json:"objective_at_zero"`
	NoBetterThanZero *bool          `json:"no_better_than_zero"`
	Own              *metric.Result `json:"own_criterion"`
	Goal             *metric.Result `json:"goal_criterion"`
	SecondsFit       float64        `json:"seconds_fit"`
}

// Trained is a chosen model with its report.
type Trained struct {
	Model  *model.Model
	Report TrainReport
}

// Train chooses a model for a goal by the paper's protocol: the rows are split, stratified, into a half for training and a
// quarter each for validation and test; every method's grid is fitted on the training part; each grid is judged on the
// validation part, which also gives the threshold; the test part measures the choice. Nothing is refitted.
//
// With Delta, calibration rows are set aside before anything is fitted, and the threshold is the exact order statistic on
// them: certified. When that cannot be, the result has the plain threshold and the error, of kind fault.Guarantee, says why.
func Train(ctx context.Context, d *Data, goal metric.Goal, o TrainOptions) (*Trained, error) {
	start := time.Now()
	options, err := o.tune(goal)
	if err != nil {
		return nil, err
	}
	data, seconds := d.parts(o.Validation, o.Test)
	res, err := tune.Train(ctx, data, options)
	if err != nil {
		return nil, err
	}
	trained := &Trained{Report: newTrainReport(res, goal, o, d)}
	trained.Report.SecondsRead = seconds
	if trained.Model, err = trainedModel(res, goal, o, d); err != nil {
		return nil, err
	}
	trained.Report.Seconds = seconds + time.Since(start).Seconds()
	return trained, res.Threshold.NoGuarantee
}

// parts joins the rows to divide with the parts that have a file of their own (nil: none), and adds up what reading took.
func (d *Data) parts(validation, test *Data) (data tune.Data, seconds float64) {
	data = tune.Data{Table: d.table, Schema: d.info.Schema}
	seconds = d.seconds
	if validation != nil {
		data.Validation = validation.table
		seconds += validation.seconds
	}
	if test != nil {
		data.Test = test.table
		seconds += test.seconds
	}
	return data, seconds
}

// ReadLike reads a further file as d was read: for validation and test parts of their own.
func ReadLike(d *Data, path string, f Format) (*Data, error) {
	o := f.options()
	o.Schema = &d.info.Schema
	if o.LabelsFile == "" && d.info.Schema.Label == nil && d.info.Format == "csv" {
		return nil, &fault.Error{Kind: fault.Usage, File: path, Found: "labels in a file of their own",
			Expected: "one labelled file", Hint: "put the label into the file"}
	}
	return read(path, o)
}

// tune turns the options into those of the protocol.
func (o *TrainOptions) tune(goal metric.Goal) (tune.Options, error) {
	t := tune.Options{Goal: goal, Seed: o.Seed, Delta: o.Delta,
		Feature: featureOptions(o.Features, o.Scale, o.Impute, o.Seed)}
	for _, name := range o.Methods {
		m, err := method.ByName(name)
		if err != nil {
			return t, err
		}
		t.Methods = append(t.Methods, m)
	}
	var err error
	if t.Surrogate, err = surrogateOf(o.Surrogate); err != nil {
		return t, err
	}
	if t.Storage, err = storageOf(o.Storage); err != nil {
		return t, err
	}
	switch o.Select {
	case "", "method":
	case "goal":
		t.Select = tune.ByGoal
	default:
		return t, &fault.Error{Kind: fault.Usage, Found: "--select " + fault.Quote(o.Select), Expected: "method or goal"}
	}
	scheme := tune.Paper{Minibatches: o.Minibatches, Stratified: o.Stratified}
	if scheme.Options, err = o.steps(); err != nil {
		return t, err
	}
	switch o.Solver {
	case "", "auto":
		t.Fitter = tune.Certified{Gap: o.Gap, Cols: autoColumns, Rest: scheme}.Fit
	case "certified":
		t.Fitter = tune.Certified{Gap: o.Gap, Rest: scheme}.Fit
	case "adam":
		t.Fitter = scheme.Fit
	case "sgd":
		scheme.Grid = solver.SGDGrid
		t.Fitter = scheme.Fit
	default:
		return t, unknownSolver(o.Solver)
	}
	if o.Progress != nil {
		t.Progress = func(p tune.Progress) {
			o.Progress(Progress{p.Share, fmt.Sprintf("%s: %d of %d settings", p.Stage, p.Done, p.Of)})
		}
	}
	return t, nil
}

func partReport(c tune.Counts) PartReport { return PartReport{c.Rows(), c.Positives} }

func newTrainReport(res *tune.Result, goal metric.Goal, o TrainOptions, d *Data) TrainReport {
	r := TrainReport{
		SchemaVersion: SchemaVersion, Goal: goal.String(), GoalWords: goal.Words(), Chosen: res.Chosen, Why: res.Why,
		Training: partReport(res.Training), Validation: partReport(res.Validation),
		Threshold: res.Threshold.Value, ThresholdNote: res.Threshold.Note, Certified: res.Threshold.Certified,
		Features: res.Map.Cols(), Seed: o.Seed, Cancelled: res.Cancelled, SecondsFit: res.SecondsFit,
		Warnings: d.warnings(),
	}
	r.guarantee(&res.Threshold, o.Delta)
	if res.Calibration.Rows() > 0 {
		calibration := partReport(res.Calibration)
		r.Calibration = &calibration
	}
	for _, p := range res.Points {
		r.Points = append(r.Points, pointReport(p, o.stepSolver()))
	}
	if res.Test != nil {
		test := partReport(res.TestCounts)
		r.Test, r.TestGoal, r.AtThreshold = &test, &res.Test.Goal, &res.Test.AtThreshold
	}
	for _, w := range res.Warnings {
		r.Warnings = append(r.Warnings, Warning(w))
	}
	return r
}

// guarantee takes over the evidence behind the threshold.
func (r *TrainReport) guarantee(t *tune.Threshold, asked threshold.Rate) {
	if asked.IsZero() {
		return
	}
	delta := asked.String()
	r.Delta = &delta
	if t.Calibrated != nil {
		r.Order, r.Bound = &t.Calibrated.Order, &t.Calibrated.Bound
	}
	if t.NoGuarantee != nil {
		reason := t.NoGuarantee.Error()
		r.NoGuarantee = &reason
	}
}

// pointReport reports a point; steps names the solver of those without a certificate.
func pointReport(p tune.Point, steps string) PointReport {
	h := p.Problem.Hyperparameters
	r := PointReport{Method: p.Problem.Method.Name, Lambda: h.Lambda, Status: string(p.Status), SecondsFit: p.Seconds}
	if p.Problem.Method.UsesTau {
		tau := h.Tau.Float64()
		r.Tau = &tau
	}
	if p.Problem.Method.UsesBeta {
		r.Beta = &h.Beta
	}
	if p.Problem.Method.UsesK {
		r.K = &h.K
	}
	if p.Reason != "" {
		r.Reason = &p.Reason
	}
	if p.Status == tune.Fitted {
		r.Objective, r.ObjectiveAtZero, r.NoBetterThanZero = &p.At.F, &p.AtZero.F, &p.NoBetterThanZero
		r.Own, r.Goal = &p.Own, &p.Goal
		name := steps
		if c := p.Certified; c != nil {
			name, r.LowerBound = "certified", &c.LowerBound
			if c.Converged {
				r.ZeroIsOptimal = &c.ZeroOptimal
			}
		}
		r.Solver = &name
	}
	return r
}

// trainedModel makes the artefact of the chosen point.
func trainedModel(res *tune.Result, goal metric.Goal, o TrainOptions, d *Data) (*model.Model, error) {
	best := res.Best()
	m, err := newModel(d, res.Map, best.W, o.Seed)
	if err != nil {
		return nil, err
	}
	m.Points = []model.Point{{Name: "goal", Threshold: res.Threshold.Value, Goal: goal.String(),
		Source: res.Threshold.Part + "; " + res.Threshold.Note}}
	if c := res.Threshold.Calibrated; c != nil {
		m.Points[0].Guarantee = guaranteeOf(c, ThresholdOptions{Goal: goal, Delta: o.Delta}, res.Calibration.Negatives)
	}
	fit := Report{
		Method: best.Problem.Method.Name, Surrogate: best.Problem.Hyperparameters.Surrogate.Name(),
		Lambda: best.Problem.Hyperparameters.Lambda, Solver: o.stepSolver(), Seed: o.Seed, Iterations: best.Iterations,
		Objective: best.At.F, ObjectiveAtZero: best.AtZero.F, Threshold: best.At.T,
	}
	if best.Certified != nil {
		fit.certify(best.Certified)
	} else {
		fit.recordStart(&o.SolverOptions)
	}
	m.Members = []model.Member{member(best.Problem, &fit, FitOptions{SolverOptions: o.SolverOptions}, len(res.Map.Blocks))}
	return m, m.Seal()
}
