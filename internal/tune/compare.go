package tune

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"toptau/internal/baseline"
	"toptau/internal/fault"
	"toptau/internal/matrix"
	"toptau/internal/solver/smooth"
	"toptau/internal/table"
	"toptau/method"
	"toptau/metric"
)

// External are somebody's scores of the rows of Data.Test, in its order.
type External struct {
	Name   string
	Scores []float64
}

// CompareOptions are the choices of Compare: those of Train without Select and Delta, which are not used.
type CompareOptions struct {
	Options
	External  []External
	Against   string // the entry that the others are compared with; "": logistic regression
	Bootstrap metric.Bootstrap
}

// Comparison is what Compare found. Every number of an Entry with a test criterion comes from the same test rows.
type Comparison struct {
	Goal                       metric.Goal
	Training, Validation, Test Counts
	Features                   int
	Entities                   int     // of the test part, which the intervals draw; 0: they draw rows
	Entries                    []Entry // best on the test part first, those without a fit last
	Against                    string  // the reference
	Focused                    string  // the top-focused method that the validation part prefers; "" without a fit
	Verdict                    string  // metric.Better, Worse or Undecided: Focused against the reference
	Words                      string  // the verdict in words
	Warnings                   []Warning
	Cancelled                  bool
	SecondsEncode, SecondsFit  float64
	Seconds                    float64
}

// Kinds of entries.
const (
	KindMethod   = "method"
	KindBaseline = "baseline"
	KindScores   = "scores"
)

// Entry is one method at its best setting, one baseline, or somebody's scores.
type Entry struct {
	Name    string
	Kind    string
	Status  Status
	Reason  string // why nothing was fitted
	Setting string // in words; "" for scores
	Fitted  int    // settings that the choice is from
	Tried   int

	Validation       metric.Result // of the setting; zero for scores
	Test             metric.Result // the goal's criterion, threshold from the test part, bootstrap interval
	Difference       metric.Difference
	AtThreshold      *metric.Confusion // what the setting's threshold from the validation part does; nil for scores
	NoBetterThanZero bool
	SecondsFit       float64 // the setting's
	SecondsGrid      float64 // of all settings

	scores [2][]float64 // on the test part
	point  *Point
}

// baselineLambdas is the baselines' grid, largest first: each fit starts from the one before.
var baselineLambdas = []float64{0.1, 0.01, 0.001, 0.0001, 0.00001, 0.000001}

// baselines are what users have today. The first is the reference.
var baselines = []struct {
	name string
	loss baseline.Loss
}{{"logistic", baseline.Logistic}, {"svm", baseline.SquaredHinge}}

// Baselines are the names of the baselines.
func Baselines() []string {
	var names []string
	for _, b := range baselines {
		names = append(names, b.name)
	}
	return names
}

// Compare fits all methods and the baselines on the training part of one split, lets the validation part choose each one's
// setting by the goal's criterion and give its threshold, and measures all of them, with anybody's scores, on the same
// rows of the test part. Intervals of the criteria and of the differences to the reference come from one paired bootstrap,
// over the entities of the group column where there is one.
//
// The verdict is about the method that the validation part prefers, so that the test part chooses nothing. When ctx is
// done, what is finished is compared, with Cancelled set; without the reference it returns the context's error.
func Compare(ctx context.Context, d Data, o CompareOptions) (*Comparison, error) {
	start := time.Now()
	c := &comparison{against: o.Against, external: o.External, bootstrap: o.Bootstrap}
	if c.against == "" {
		c.against = baselines[0].name
	}
	c.bootstrap.Seed = o.Seed
	t := &c.training
	t.options, t.result = o.Options, &Result{Goal: o.Goal}
	t.options.Select = ByGoal
	steps := []func() error{
		c.plan,
		func() error { return c.check(d) },
		func() error { return t.divide(d) },
		func() error { return t.parts[2].complete(d.Table) },
		func() error { return t.encode(ctx, d) },
		func() error { return c.fit(ctx) },
		c.collect,
		c.measure,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	out := c.summary()
	out.Seconds = time.Since(start).Seconds()
	return out, nil
}

// comparison is the state of one Compare: a training whose fitter fits the baselines too.
type comparison struct {
	training
	against   string
	external  []External
	bootstrap metric.Bootstrap
	grids     [][]Point // of the baselines
	entries   []Entry
	entities  int
}

// plan counts the baselines' settings as work too.
func (c *comparison) plan() error {
	if err := c.training.plan(); err != nil {
		return err
	}
	c.progress = newMeter(c.options.Progress, len(c.problems)+len(baselines)*len(baselineLambdas))
	return nil
}

// check refuses scores that do not belong to the test rows, names that are used twice, and a reference that is not there.
func (c *comparison) check(d Data) error {
	wrong := func(found, expected string) error {
		return &fault.Error{Kind: fault.Usage, Found: found, Expected: expected}
	}
	var names []string
	for _, m := range c.options.Methods {
		names = append(names, m.Name)
	}
	names = append(names, Baselines()...)
	for _, e := range c.external {
		if e.Name == "" || slices.Contains(names, e.Name) {
			return wrong("scores named "+fault.Quote(e.Name), "a name that no method, baseline or other scores have")
		}
		if d.Test == nil {
			return wrong("scores of rows that are not told", "the file with these rows as the test part")
		}
		if len(e.Scores) != d.Test.Rows() {
			return &fault.Error{Kind: fault.Data, Found: fmt.Sprintf("%d scores of %s", len(e.Scores), fault.Quote(e.Name)),
				Expected: fmt.Sprintf("%d, one for each row of %s", d.Test.Rows(), d.Test.File)}
		}
		names = append(names, e.Name)
	}
	if !slices.Contains(names, c.against) {
		return wrong("--against "+fault.Quote(c.against), fmt.Sprintf("one of %q", names))
	}
	if d.Test == nil && c.options.Shares[2] == 0 {
		return wrong("no test part", "rows to compare on")
	}
	return nil
}

// fit runs the baselines, then the methods, so that an interrupted comparison has its reference.
func (c *comparison) fit(ctx context.Context) error {
	t := &c.training
	fitter := t.options.Fitter
	var failed error
	t.options.Fitter = func(ctx context.Context, x *matrix.Matrix, problems []method.Problem, w Watch) error {
		if failed = c.fitBaselines(ctx, x); failed == nil {
			failed = fitter(ctx, x, problems, w)
		}
		return failed
	}
	err := t.fit(ctx)
	if failed != nil {
		return failed
	}
	for _, grid := range c.grids {
		for i := range grid {
			t.result.Cancelled = t.result.Cancelled || grid[i].Status == Unfinished
		}
	}
	if c.bestOf(c.grids[0]) < 0 {
		return cmp.Or(context.Cause(ctx), err)
	}
	return nil // without a single method there still are the baselines
}

func (c *comparison) fitBaselines(ctx context.Context, x *matrix.Matrix) error {
	at := len(c.problems)
	for _, b := range baselines {
		grid := make([]Point, len(baselineLambdas))
		var last *baseline.Result
		for i, lambda := range baselineLambdas {
			grid[i] = Point{Status: Unfinished, Problem: method.Problem{Hyperparameters: method.Hyperparameters{Lambda: lambda}}}
			if ctx.Err() != nil {
				continue
			}
			start := time.Now()
			r, err := baseline.Fit(ctx, x, baseline.Options{Loss: b.loss, Lambda: lambda, Start: last})
			if err != nil {
				return err
			}
			if r.Reason == smooth.Cancelled {
				continue
			}
			p := &grid[i]
			p.Fit = Fit{W: r.W, Iterations: r.Steps, Passes: r.Passes, Seconds: time.Since(start).Seconds()}
			p.Status = Fitted
			if err := c.judge(p); err != nil {
				p.Status, p.Reason, p.Fit = Skipped, err.Error(), Fit{}
			} else {
				last = &r
			}
			if !r.Converged {
				c.addWarning("baseline-not-converged", "%s with lambda %s stopped before it converged: %s",
					b.name, number(lambda), r.Reason)
			}
			c.progress.advance(at+i, 1)
		}
		c.grids = append(c.grids, grid)
		at += len(grid)
	}
	return nil
}

// collect makes the entries with their scores of the test part.
func (c *comparison) collect() error {
	c.progress.stage("evaluate")
	for _, grid := range byMethod(c.result.Points) {
		c.entries = append(c.entries, c.entry(grid[0].Problem.Method.Name, KindMethod, grid))
	}
	for i, grid := range c.grids {
		c.entries = append(c.entries, c.entry(baselines[i].name, KindBaseline, grid))
	}
	for i := range c.entries {
		if err := c.score(&c.entries[i]); err != nil {
			return err
		}
	}
	for _, e := range c.external {
		entry := Entry{Name: e.Name, Kind: KindScores, Status: Fitted}
		for row, class := range c.parts[2].table.Label {
			switch class {
			case table.Positive:
				entry.scores[0] = append(entry.scores[0], e.Scores[row])
			case table.Negative:
				entry.scores[1] = append(entry.scores[1], e.Scores[row])
			}
		}
		c.entries = append(c.entries, entry)
	}
	return nil
}

// entry describes a grid by its best point.
func (c *comparison) entry(name, kind string, grid []Point) Entry {
	e := Entry{Name: name, Kind: kind, Status: Unfinished, Tried: len(grid)}
	for i := range grid {
		p := &grid[i]
		e.SecondsGrid += p.Seconds
		switch p.Status {
		case Fitted:
			e.Fitted++
		case Skipped:
			e.Status, e.Reason = Skipped, p.Reason
		}
	}
	best := c.bestOf(grid)
	if best < 0 {
		return e
	}
	p := &grid[best]
	e.Status, e.Reason, e.point = Fitted, "", p
	e.Validation, e.NoBetterThanZero, e.SecondsFit = p.Goal, p.NoBetterThanZero, p.Seconds
	e.Setting = "lambda " + number(p.Problem.Hyperparameters.Lambda)
	if kind == KindMethod {
		e.Setting = settings(p.Problem)
	}
	return e
}

// score measures an entry's best point, with its threshold, on the test part.
func (c *comparison) score(e *Entry) error {
	if e.point == nil {
		return nil
	}
	validation, err := rank(c.parts[1].matrix, e.point.W)
	if err != nil {
		return err
	}
	at, err := c.options.Goal.Threshold(validation)
	if err != nil {
		return err
	}
	x := c.parts[2].matrix
	e.scores = [2][]float64{make([]float64, x.Positives.Rows()), make([]float64, x.Negatives.Rows())}
	x.Positives.Scores(e.point.W, e.scores[0])
	x.Negatives.Scores(e.point.W, e.scores[1])
	test, err := metric.Rank(metric.Scores{Positives: e.scores[0], PositiveWeights: x.Positives.Weights(),
		Negatives: e.scores[1], NegativeWeights: x.Negatives.Weights()})
	if err != nil {
		return err
	}
	decisions, err := test.At(at, 0)
	e.AtThreshold = &decisions
	return err
}

// measure is the paired bootstrap.
func (c *comparison) measure() error {
	x := c.parts[2].matrix
	s := metric.PairedScores{PositiveWeights: x.Positives.Weights(), NegativeWeights: x.Negatives.Weights()}
	s.PositiveGroups, s.NegativeGroups, c.entities = c.parts[2].groups()
	reference := -1
	var measured []*Entry
	for i := range c.entries {
		e := &c.entries[i]
		if e.Status != Fitted {
			continue
		}
		if e.Name == c.against {
			reference = len(measured)
		}
		measured = append(measured, e)
		s.Positives, s.Negatives = append(s.Positives, e.scores[0]), append(s.Negatives, e.scores[1])
	}
	if reference < 0 {
		return &fault.Error{Kind: fault.Data, Found: c.against + " could not be fitted", Expected: "a reference to compare with",
			Hint: "--against " + baselines[0].name}
	}
	paired, err := metric.PairedBootstrap(s, c.options.Goal.Criterion(), reference, c.bootstrap)
	if err != nil {
		return inFile(err, c.parts[2].table)
	}
	for i, e := range measured {
		e.Test, e.Difference = paired.Results[i], paired.Differences[i]
	}
	return nil
}

// groups numbers the entities of a part's rows by class; nil without a group column.
func (p *part) groups() (positives, negatives []int, entities int) {
	if p.table.Group == nil {
		return nil, nil, 0
	}
	numbers := map[string]int{}
	positives, negatives = []int{}, []int{}
	add := func(row int) {
		value := p.table.Group.Values[row]
		number, known := numbers[value]
		if !known {
			number = len(numbers)
			numbers[value] = number
		}
		switch p.table.Label[row] {
		case table.Positive:
			positives = append(positives, number)
		case table.Negative:
			negatives = append(negatives, number)
		}
	}
	if p.rows == nil {
		for row := range p.table.Label {
			add(row)
		}
	}
	for _, row := range p.rows {
		add(row)
	}
	return positives, negatives, len(numbers)
}

// summary sorts the entries and says what they show.
func (c *comparison) summary() *Comparison {
	r := c.result
	out := &Comparison{Goal: r.Goal, Training: r.Training, Validation: r.Validation, Test: r.TestCounts, Features: r.Map.Cols(),
		Entities: c.entities, Against: c.against, Cancelled: r.Cancelled, SecondsEncode: r.SecondsEncode, SecondsFit: r.SecondsFit}
	var focused *Entry
	for i := range c.entries {
		e := &c.entries[i]
		if e.Kind == KindMethod && e.point != nil && (focused == nil || between(e.point, focused.point) < 0) {
			focused = e
		}
	}
	reference := &c.entries[slices.IndexFunc(c.entries, func(e Entry) bool { return e.Name == c.against })]
	out.Verdict = metric.Undecided
	if focused != nil {
		out.Focused, out.Verdict = focused.Name, focused.Difference.Verdict()
	}
	out.Words = verdict(focused, reference, c.bootstrap.Confidence)
	c.warnRows()
	c.warnPoints()
	c.warnCollapse()
	c.warnSeveral(out.Focused)
	out.Warnings = r.Warnings
	out.Entries = slices.Clone(c.entries)
	slices.SortStableFunc(out.Entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(missing(a), missing(b)), cmp.Compare(b.Test.Rate, a.Test.Rate))
	})
	return out
}

// warnSeveral says what several intervals side by side are worth.
func (c *comparison) warnSeveral(focused string) {
	compared, decided := 0, 0
	for i := range c.entries {
		e := &c.entries[i]
		if e.Status != Fitted || e.Name == c.against {
			continue
		}
		compared++
		if e.Name != focused && e.Difference.Verdict() != metric.Undecided {
			decided++
		}
	}
	if decided > 0 && compared > 1 {
		c.addWarning("several-comparisons", "each of the %d differences has an interval of its own: the more of them, the "+
			"likelier that one excludes 0 by chance; the verdict is about the method that the validation part prefers", compared)
	}
}

// missing sorts entries without a fit last.
func missing(e Entry) int {
	if e.Status == Fitted {
		return 0
	}
	return 1
}

// verdict answers whether top-focused training helps, no more certain than the interval allows.
func verdict(focused, reference *Entry, confidence float64) string {
	if confidence == 0 {
		confidence = metric.DefaultConfidence
	}
	if focused == nil {
		return "it cannot be told whether top-focused training helps here: no top-focused method was fitted"
	}
	n := reference.Test.Denominator
	if focused.Name == reference.Name {
		return fmt.Sprintf("%s is the reference itself: compare with a baseline to learn whether top-focused training helps here",
			focused.Name)
	}
	if !focused.Test.Defined() {
		return fmt.Sprintf("it cannot be told with %.6g test positives whether top-focused training helps here: %s",
			n, focused.Test.Undefined)
	}
	counts := fmt.Sprintf("%s, which the validation part prefers, finds %.6g of the %.6g positives within the budget, %s %.6g",
		focused.Name, focused.Test.Numerator, n, reference.Name, reference.Test.Numerator)
	d := focused.Difference
	between := fmt.Sprintf("%s points (%g %% interval %s to %s)", points(d.Rate), 100*confidence,
		points(d.Interval.Low), points(d.Interval.High))
	switch d.Verdict() {
	case metric.Better:
		return "top-focused training helps here: " + counts + ", a gain of " + between
	case metric.Worse:
		return "top-focused training does not help here, it costs: " + counts + ", a change of " + between
	}
	return fmt.Sprintf("it cannot be told with %.6g test positives whether top-focused training helps here: ", n) + counts +
		", a difference of " + between
}

// points writes a difference of shares in percentage points, with its sign.
func points(x float64) string { return fmt.Sprintf("%+.1f", 100*x) }
