package tune

import (
	"context"
	"fmt"
	"slices"
	"time"

	"toptau/diag"
	"toptau/internal/feature"
	"toptau/internal/matrix"
	"toptau/internal/table"
	"toptau/method"
	"toptau/metric"
)

// trial is the state of one Compare. Encodings come one after the other, so that the rows of only one of them are in
// memory; an entry keeps its scores of the test part and nothing else.
type trial struct {
	options   CompareOptions
	encodings []feature.Encode
	problems  []method.Problem // method by method, the smoother ones first
	parts     [3]trialPart     // training, validation, test
	levels    []level          // budgets of the validation part, by which settings are chosen
	weights   [2][]float64     // of the test part's positives and negatives; nil: 1 each
	paired    metric.Paired
	progress  *meter
	done      int // settings that are behind us
	out       *Comparison
}

// trialPart is some rows of a table.
type trialPart struct {
	name   string
	table  *table.Table
	rows   []int // nil: all
	matrix *matrix.Matrix
}

// trialShares of the training, validation and test part. A part that has a table of its own leaves the others their proportion.
var trialShares = [3]float64{2, 1, 1}

// plan checks the options and lists the work.
func (t *trial) plan(d Data) error {
	o := &t.options
	if err := o.Goal.Check(); err != nil {
		return err
	}
	if d.Table == nil {
		return &diag.Error{Kind: diag.Usage, Found: "no data"}
	}
	if o.Methods == nil {
		o.Methods = Candidates(o.Goal)
	}
	if o.Fitter == nil {
		o.Fitter = Paper{}.Fit
	}
	t.encodings = o.Encodings
	if t.encodings == nil {
		t.encodings = encodingsFor(d.Table)
	}
	for i, e := range t.encodings {
		if slices.Contains(t.encodings[:i], e) {
			return &diag.Error{Kind: diag.Usage, Found: "encoding " + string(e) + " twice", Expected: "each encoding once"}
		}
	}
	t.out.Against = o.Against
	if t.out.Against == "" {
		t.out.Against = Logistic
	}
	var err error
	if t.problems, err = t.plannedProblems(); err != nil {
		return err
	}
	work := len(t.problems)
	for i := range t.encodings {
		work += t.settingsOf(i)
	}
	t.progress = newMeter(o.Progress, work)
	return nil
}

// plannedProblems are the points of the methods' grids; none where no method is asked for.
func (t *trial) plannedProblems() ([]method.Problem, error) {
	if len(t.options.Methods) == 0 {
		return nil, nil
	}
	problems, err := Problems(t.options.Methods, t.options.Goal, t.options.Surrogate)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(problems, func(a, b method.Problem) int {
		if a.Method != b.Method {
			return 0 // methods lie together; the sort is stable
		}
		return smoother(a, b)
	})
	return problems, nil
}

// name is an entry's name: the learner, with its encoding where that is not the first one.
func (t *trial) name(learner string, e feature.Encode) string {
	if e == t.encodings[0] {
		return learner
	}
	return learner + "/" + string(e)
}

// names are the entries' names, in the order in which they are fitted.
func (t *trial) names() []string {
	var names []string
	for i, e := range t.encodings {
		for _, l := range t.learners(i) {
			names = append(names, t.name(l.name, e))
		}
		if i == 0 {
			for _, m := range t.options.Methods {
				names = append(names, string(m.Name))
			}
		}
	}
	return names
}

// divide cuts the parts that have no table of their own and refuses a part that lacks a class.
func (t *trial) divide(d Data) error {
	t.parts = [3]trialPart{{name: "training part"}, {name: "validation part"}, {name: "test part"}}
	own := [3]*table.Table{nil, d.Validation, d.Test}
	c := Cut{Seed: t.options.Seed}
	var cut []int // parts that come from d.Table
	for i := range t.parts {
		if t.parts[i].table = own[i]; own[i] == nil {
			cut = append(cut, i)
			c.Shares = append(c.Shares, trialShares[i])
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
	for i := range t.parts {
		if err := t.parts[i].bothClasses(d.Table); err != nil {
			return err
		}
	}
	t.out.Training, t.out.Validation, t.out.Test = t.parts[0].counts(), t.parts[1].counts(), t.parts[2].counts()
	return nil
}

// each calls f for the rows of the part.
func (p *trialPart) each(f func(row int)) {
	if p.rows == nil {
		for row := range p.table.Label {
			f(row)
		}
	}
	for _, row := range p.rows {
		f(row)
	}
}

func (p *trialPart) counts() Counts {
	if p.rows == nil {
		return countAll(p.table)
	}
	return CountRows(p.table.Label, p.rows)
}

// bothClasses reports a part that lacks a class, in words with counts.
func (p *trialPart) bothClasses(whole *table.Table) error {
	counts := p.counts()
	if counts.Positives > 0 && counts.Negatives > 0 {
		return nil
	}
	e := &diag.Error{Kind: diag.Data, File: p.table.File, Found: fmt.Sprintf("the %s has %s", p.name, counts),
		Expected: "rows of both classes"}
	switch total := countAll(whole); {
	case total.Positives == 0 || total.Negatives == 0 || p.rows == nil:
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

// entities numbers the entities of a part's rows by class; nil without a group column.
func (p *trialPart) entities() (positives, negatives []int, entities int) {
	if p.table.Group == nil {
		return nil, nil, 0
	}
	numbers := map[string]int{}
	positives, negatives = []int{}, []int{}
	p.each(func(row int) {
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
	})
	return positives, negatives, len(numbers)
}

// learn fits and measures every learner, encoding by encoding.
func (t *trial) learn(ctx context.Context, d Data) error {
	for i, e := range t.encodings {
		if ctx.Err() == nil {
			if err := t.encode(ctx, d, e); err != nil && ctx.Err() == nil {
				return err
			}
		}
		start := time.Now()
		if err := t.fitAll(ctx, i); err != nil {
			return err
		}
		t.out.SecondsFit += time.Since(start).Seconds()
		for k := range t.parts {
			t.parts[k].matrix = nil
		}
	}
	if reference := t.out.entry(t.out.Against); reference != nil && reference.Status == Unfinished {
		return context.Cause(ctx)
	}
	return nil
}

// encode fits the encoding on the training rows and packs the parts.
func (t *trial) encode(ctx context.Context, d Data, e feature.Encode) error {
	start := time.Now()
	defer func() { t.out.SecondsEncode += time.Since(start).Seconds() }()
	t.progress.stage("encode")
	training := &t.parts[0]
	options := t.options.Feature
	options.Encode = e
	m, warnings, err := feature.FitContext(ctx, training.table, d.Schema, training.rows, options)
	if err != nil {
		return inFile(err, training.table)
	}
	for _, w := range warnings {
		same := func(old diag.Warning) bool { return old.Code == w.Code && old.Text == w.Text }
		if !slices.ContainsFunc(t.out.Warnings, same) {
			t.out.Warnings = append(t.out.Warnings, w)
		}
	}
	for i := range t.parts {
		p := &t.parts[i]
		storage := matrix.Float32
		if i == 0 {
			storage = t.options.Storage
		}
		if p.matrix, err = m.MatrixContext(ctx, p.table, p.rows, storage); err != nil {
			return inFile(err, p.table)
		}
	}
	t.levels = levels(t.options.Goal, t.parts[1].matrix)
	t.weights = [2][]float64{t.parts[2].matrix.Positives.Weights(), t.parts[2].matrix.Negatives.Weights()}
	return nil
}

func (t *trial) warning(code, format string, args ...any) {
	t.out.Warnings = append(t.out.Warnings, diag.Warning{Code: code, Text: fmt.Sprintf(format, args...)})
}

// warnParts says what the parts cannot show.
func (t *trial) warnParts() {
	data := t.parts[0].table
	if unlabelled := data.Rows() - countAll(data).Rows(); unlabelled > 0 {
		t.warning("unlabelled-rows", "%s of the data without a label: used in no part", plural(unlabelled, "row"))
	}
	for i := range t.parts {
		if p := &t.parts[i]; p.table != data && data.Group != nil && p.table.Group != nil {
			if n := commonGroups(data.Group.Values, p.table.Group.Values); n > 0 {
				t.warning("groups-straddle",
					"%s of the %s also in the training file: its numbers are optimistic", plural(n, "group"), p.name)
			}
		}
	}
	if v := t.out.Validation; v.Positives < fewPositives {
		t.warning("few-validation-positives",
			"the choice of settings rests on %s of the validation part: differences of several points are noise",
			plural(v.Positives, "positive"))
	}
}
