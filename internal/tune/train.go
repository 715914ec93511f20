package tune

import (
	"context"
	"fmt"
	"time"

	"toptau/calibrate"
	"toptau/internal/fault"
	"toptau/internal/feature"
	"toptau/internal/matrix"
	"toptau/internal/table"
	"toptau/method"
	"toptau/metric"
	"toptau/surrogate"
	"toptau/threshold"
)

// Data are the rows that Train may use. A part that has a table of its own is not cut from Table.
type Data struct {
	Table      *table.Table
	Schema     table.Schema // of Table
	Validation *table.Table // nil: cut from Table; otherwise read with the schema of Table
	Test       *table.Table // the same
}

// Selection says by which criterion the points of one method are compared on the validation part. Methods are always
// compared with each other by the goal's criterion.
type Selection int

const (
	ByMethod Selection = iota // each method's own criterion, as in the paper
	ByGoal                    // the goal's criterion
)

// Options are the choices of Train. The zero value, with a Goal, is the paper's protocol.
type Options struct {
	Goal      metric.Goal
	Methods   []method.Method     // nil: Candidates(Goal)
	Surrogate surrogate.Surrogate // nil: hinge
	Select    Selection

	// Shares of the training, validation and test part; all zero: 1/2, 1/4, 1/4. A test share of 0 keeps no test part.
	// The share of a part that has a table of its own is not used: the others keep their proportion.
	Shares [3]float64
	Seed   uint64 // of the split

	// Delta asks for a threshold with a guarantee that may fail with this probability; zero: a plain threshold.
	Delta threshold.Rate

	Feature  feature.Options
	Storage  matrix.Storage // of the training matrix; what is scored is always rounded to float32, as the model does
	Fitter   Fitter         // nil: Paper{}.Fit
	Progress func(Progress) // nil: none; never called twice at the same time
}

// Warning is something that a user should know about the result. The JSON form is that of the command line.
type Warning struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// Result is a chosen model with everything that led to the choice.
type Result struct {
	Goal                               metric.Goal
	Map                                *feature.Map // fitted on the training rows
	Training, Validation, TestCounts   Counts
	Calibration                        Counts  // rows set aside for the guarantee
	Points                             []Point // method by method in the order of the grids
	Chosen                             int     // index into Points
	Why                                string  // in words
	Threshold                          Threshold
	ValidationRanking                  *metric.Ranking // of the chosen model
	Test                               *Evaluation     // nil without a test part
	Warnings                           []Warning
	Cancelled                          bool // some points were not tried
	SecondsEncode, SecondsFit, Seconds float64
}

// Best is the chosen point; its W are the model's weights (offset 0).
func (r *Result) Best() *Point { return &r.Points[r.Chosen] }

// Status says what became of a point.
type Status string

const (
	Fitted     Status = "fitted"
	Skipped    Status = "skipped"    // impossible on the training part, or it did not end in a finite w
	Unfinished Status = "unfinished" // the context was done first
)

// Point is one setting of one method. Fit, Own and Goal are set when Status is Fitted.
type Point struct {
	Problem method.Problem
	Status  Status
	Reason  string // why it was skipped
	Fit
	Own  metric.Result // on the validation part, by the method's own criterion
	Goal metric.Result // on the validation part, by the goal's criterion
	// Wider is the mean over the goal's criterion at two, four and eight times its rate on the validation part.
	Wider float64
	// Constant reports that all rows of the validation part have the same score.
	Constant bool
	err      error
}

// Threshold is an operating point. A plain one is not certified: the rows that gave it also chose the model, and nothing
// bounds the rate on other rows.
type Threshold struct {
	Value       float64 // decide score > Value
	Goal        metric.Goal
	Certified   bool
	Calibrated  *calibrate.Threshold // the evidence; nil for a plain threshold
	NoGuarantee error                // why the guarantee that was asked for cannot be given; of kind fault.Guarantee
	Part        string               // "validation part: 31 positives, 57 negatives"
	Note        string               // what it is, in words
}

// Evaluation is the chosen model on rows that neither fitted nor chose it.
type Evaluation struct {
	Ranking     *metric.Ranking
	Own, Goal   metric.Result    // criteria with thresholds from these rows themselves
	AtThreshold metric.Confusion // what the model's threshold does to them, with Clopper-Pearson intervals
}

// Train runs the paper's protocol: it divides the rows, fits the feature map and every point of the methods' grids on
// the training part, judges each by its scores on the validation part, chooses, takes the goal's plain threshold from
// the validation part, and measures the chosen model on the test part. Nothing is refitted.
//
// The choice: within each method the point with the highest criterion (Options.Select), between the methods the one
// whose point has the highest criterion of the goal. Ties go to a fit that is better than w = 0, then to the one that
// is better under wider budgets (Point.Wider), then within a method to the smoother problem (larger lambda, larger k,
// smaller beta), between methods to the earlier one. A criterion that is undefined on the validation part, because its
// budget there is less than one row, is replaced by Positives@Top, with a warning. A constant score is worth 0 by the
// tie rule of package metric, so that a model at w = 0 wins only where no point does better.
//
// When ctx is done, the points that are finished are judged as usual, with Result.Cancelled set; without any it returns
// the context's error. Errors that a user can mend are *fault.Error: an invalid goal, a training or validation part
// without positives or without negatives, rows that cannot be encoded, and no point that can be fitted.
func Train(ctx context.Context, d Data, o Options) (*Result, error) {
	start := time.Now()
	t := &training{options: o, result: &Result{Goal: o.Goal}}
	if err := t.plan(); err != nil {
		return nil, err
	}
	steps := []func() error{
		func() error { return t.divide(d) },
		func() error { return t.setAside(d) },
		func() error { return t.encode(ctx, d) },
		func() error { return t.fit(ctx) },
		t.choose,
		t.threshold,
		func() error { return t.certify(d) },
		t.test,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	t.warn()
	t.result.Seconds = time.Since(start).Seconds()
	return t.result, nil
}

// training is the state of one Train.
type training struct {
	options  Options
	problems []method.Problem
	wider    []metric.Criterion // for ties
	parts    [3]part            // training, validation, test
	result   *Result
	progress *meter

	calibration []int  // rows of Data.Table that were set aside
	uncertain   string // why there is no guarantee
}

// part is some rows of a table. An empty table is a part that does not exist.
type part struct {
	name   string
	table  *table.Table
	rows   []int // nil: all
	own    bool  // it has a table of its own
	matrix *matrix.Matrix
}

func (p *part) counts() Counts {
	if p.table == nil {
		return Counts{}
	}
	rows := p.rows
	if rows == nil {
		rows = make([]int, p.table.Rows())
		for i := range rows {
			rows[i] = i
		}
	}
	return CountRows(p.table.Label, rows)
}

// plan checks the options and lists the problems.
func (t *training) plan() error {
	o := &t.options
	if err := o.Goal.Validate(); err != nil {
		return err
	}
	if o.Methods == nil {
		o.Methods = Candidates(o.Goal)
	}
	if o.Fitter == nil {
		o.Fitter = Paper{}.Fit
	}
	if o.Shares == [3]float64{} {
		o.Shares = [3]float64{2, 1, 1}
	}
	problems, err := Problems(o.Methods, o.Goal, o.Surrogate)
	if err != nil {
		return err
	}
	t.problems, t.wider = problems, widerCriteria(o.Goal)
	t.progress = newMeter(o.Progress, len(problems))
	t.result.Points = make([]Point, len(problems))
	for i, p := range problems {
		t.result.Points[i] = Point{Problem: p, Status: Unfinished}
	}
	return nil
}

// divide cuts the parts that have no table of their own and refuses a training or validation part that lacks a class.
func (t *training) divide(d Data) error {
	if d.Table == nil {
		return &fault.Error{Kind: fault.Usage, Found: "no data"}
	}
	t.parts = [3]part{{name: "training part"}, {name: "validation part"}, {name: "test part"}}
	own := [3]*table.Table{nil, d.Validation, d.Test}
	var cut []int // parts that come from d.Table
	c := Cut{Seed: t.options.Seed}
	for i := range t.parts {
		if own[i] != nil {
			t.parts[i].table, t.parts[i].own = own[i], true
		} else if i < 2 || t.options.Shares[i] != 0 {
			cut = append(cut, i)
			c.Shares = append(c.Shares, t.options.Shares[i])
		}
	}
	if d.Table.Group != nil {
		c.Group = d.Table.Group.Values
	}
	var err error
	if c.Time, err = Timeline(d.Table); err != nil {
		return err
	}
	rows, err := c.Divide(d.Table.Label)
	if err != nil {
		return err
	}
	for k, i := range cut {
		t.parts[i].table, t.parts[i].rows = d.Table, rows[k]
		if rows[k] == nil {
			t.parts[i].rows = []int{} // empty, not all
		}
	}
	t.result.Training, t.result.Validation = t.parts[0].counts(), t.parts[1].counts()
	t.result.TestCounts = t.parts[2].counts()
	for i := range 2 {
		if err := t.parts[i].complete(d.Table); err != nil {
			return err
		}
	}
	return nil
}

// complete reports a part that lacks a class, in words with counts.
func (p *part) complete(whole *table.Table) error {
	counts := p.counts()
	if counts.Positives > 0 && counts.Negatives > 0 {
		return nil
	}
	all := part{table: whole}
	e := &fault.Error{Kind: fault.Data, File: p.table.File, Expected: "rows of both classes"}
	e.Found = fmt.Sprintf("the %s has %s", p.name, counts)
	switch total := all.counts(); {
	case total.Positives == 0 || total.Negatives == 0 || p.own:
		e.Hint = "check the label column and --positive"
	case whole.Time != nil:
		e.Hint = fmt.Sprintf("the file has %s; the parts are periods of --time: give --validation and --test files", total)
	case whole.Group != nil:
		e.Hint = fmt.Sprintf("the file has %s in too few groups to be divided", total)
	default:
		e.Hint = fmt.Sprintf("the file has %s, too few to be divided", total)
	}
	return e
}

// encode fits the feature map on the training rows and packs the parts.
func (t *training) encode(ctx context.Context, d Data) error {
	start := time.Now()
	defer func() { t.result.SecondsEncode = time.Since(start).Seconds() }()
	t.progress.stage("encode")
	training := &t.parts[0]
	m, warnings, err := feature.Fit(training.table, d.Schema, training.rows, t.options.Feature)
	if err != nil {
		return inFile(err, training.table)
	}
	t.result.Map = m
	for _, w := range warnings {
		t.addWarning(w.Code, "%s", w.Text)
	}
	for i := range t.parts {
		p := &t.parts[i]
		if c := p.counts(); c.Positives == 0 || c.Negatives == 0 {
			continue // only the test part gets here; test says that it is missing
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		storage := matrix.Float32
		if i == 0 {
			storage = t.options.Storage
		}
		if p.matrix, err = m.Matrix(p.table, p.rows, storage); err != nil {
			return inFile(err, p.table)
		}
	}
	return nil
}

// inFile names the file in an error about a row of it.
func inFile(err error, t *table.Table) error {
	if e := fault.Of(err); e != nil && e.File == "" {
		e.File = t.File
	}
	return err
}

// fit runs the fitter and judges each point as soon as it is there.
func (t *training) fit(ctx context.Context) error {
	start := time.Now()
	defer func() { t.result.SecondsFit = time.Since(start).Seconds() }()
	t.progress.stage("fit")
	points := t.result.Points
	err := t.options.Fitter(ctx, t.parts[0].matrix, t.problems, Watch{
		Fitted: func(i int, f Fit, err error) {
			p := &points[i]
			if p.Fit = f; err == nil {
				err = t.judge(p)
			}
			p.Status, p.err = Fitted, err
			if err != nil {
				p.Status, p.Reason, p.Fit = Skipped, err.Error(), Fit{}
			}
			t.progress.advance(i, 1)
		},
		Progress: func(i int, share float64) { t.progress.advance(i, min(share, unjudged)) },
	})
	t.parts[0].matrix = nil // the largest block of memory is not needed any more
	if err != nil {
		return err
	}
	return t.finished(ctx)
}

// finished reports a run without a single fit, and whether all points were tried.
func (t *training) finished(ctx context.Context) error {
	var skipped error
	fitted := 0
	for i := range t.result.Points {
		switch p := &t.result.Points[i]; p.Status {
		case Fitted:
			fitted++
		case Unfinished:
			t.result.Cancelled = true
		case Skipped:
			if skipped == nil {
				skipped = p.err
			}
		}
	}
	if fitted > 0 {
		return nil
	}
	if t.result.Cancelled && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return skipped
}

// unjudged is the share of a point that is fitted but not yet judged.
const unjudged = 0.999

// judge measures a fit on the validation part.
func (t *training) judge(p *Point) error {
	r, err := rank(t.parts[1].matrix, p.W)
	if err != nil {
		return err
	}
	p.Constant = r.Groups() == 1
	goal := t.options.Goal
	if p.Own, err = t.positives(r, metric.CriterionOf(p.Problem.Method, goal.Tau())); err != nil {
		return err
	}
	if p.Goal, err = t.positives(r, goal.Criterion()); err != nil {
		return err
	}
	p.Wider, err = wider(r, t.wider)
	return err
}

// wider is the mean of the criteria that are defined, which depends on the part's size alone.
func wider(r *metric.Ranking, criteria []metric.Criterion) (float64, error) {
	sum, defined := 0.0, 0
	for _, c := range criteria {
		res, err := r.Positives(c)
		if err != nil {
			return 0, err
		}
		if res.Defined() {
			sum += res.Rate
			defined++
		}
	}
	return sum / float64(max(defined, 1)), nil
}

// positives is a criterion on the validation part, or Positives@Top where it is undefined. That depends on the part's
// size alone, so that all points are judged alike.
func (t *training) positives(r *metric.Ranking, c metric.Criterion) (metric.Result, error) {
	res, err := r.Positives(c)
	if err == nil && !res.Defined() {
		return r.Positives(metric.Top())
	}
	return res, err
}

// rank scores the rows of a part.
func rank(x *matrix.Matrix, w []float64) (*metric.Ranking, error) {
	s := metric.Scores{
		Positives: make([]float64, x.Positives.Rows()), PositiveWeights: x.Positives.Weights(),
		Negatives: make([]float64, x.Negatives.Rows()), NegativeWeights: x.Negatives.Weights(),
	}
	x.Positives.Scores(w, s.Positives)
	x.Negatives.Scores(w, s.Negatives)
	return metric.Rank(s)
}

// threshold takes the goal's plain threshold from the validation part.
func (t *training) threshold() error {
	r, err := rank(t.parts[1].matrix, t.result.Best().W)
	if err != nil {
		return err
	}
	value, err := t.options.Goal.Threshold(r)
	if err != nil {
		return err
	}
	t.result.ValidationRanking = r
	t.result.Threshold = Threshold{Value: value, Goal: t.options.Goal,
		Part: fmt.Sprintf("%s: %s", t.parts[1].name, t.result.Validation),
		Note: "plain, not certified: the lowest threshold that keeps the budget on the validation part, which also chose " +
			"the model; on new rows the budget is broken about as often as it is kept",
	}
	return nil
}

// test measures the chosen model on the test part.
func (t *training) test() error {
	t.progress.stage("evaluate")
	x := t.parts[2].matrix
	if x == nil {
		return nil
	}
	best := t.result.Best()
	r, err := rank(x, best.W)
	if err != nil {
		return inFile(err, t.parts[2].table)
	}
	e := &Evaluation{Ranking: r}
	goal := t.options.Goal
	if e.Own, err = r.Positives(metric.CriterionOf(best.Problem.Method, goal.Tau())); err != nil {
		return err
	}
	if e.Goal, err = goal.Evaluate(r); err != nil {
		return err
	}
	if e.AtThreshold, err = r.At(t.result.Threshold.Value, 0); err != nil {
		return err
	}
	t.result.Test = e
	return nil
}
