package tune

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"toptau/diag"
	"toptau/internal/core/learn"
	"toptau/internal/core/ranking"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/method"
	"toptau/metric"
	"toptau/schema"
)

// Defaults of SearchOptions. Numbers of rows and trees were chosen by hand (a change moves results); docs/results/quality.md measures the
// defaults.
const (
	defaultFolds      = 5
	defaultFoldRows   = 40_000
	maxValidationRows = 200_000 // of a fold
	minValidationRows = 50_000  // down to which a fold's rows are sampled
	validationBudget  = 1000    // rows of a fold within the budget beyond which more do not change the choice
	defaultTrees      = 60
)

// plan holds the checked and completed options with the tasks.
type plan struct {
	data    Data
	options SearchOptions
	start   time.Time
	counted map[*table.Table]*counted // units that were made
	fitted  *table.Table              // data.Table with the weights of fits
	tasks   []*task                   // cheap and promising ones first, so that a search that ends early has tried these
}

func newPlan(d Data, o SearchOptions) (*plan, error) {
	p := &plan{data: d, options: o, start: time.Now(), counted: map[*table.Table]*counted{}}
	if err := o.Goal.Check(); err != nil {
		return nil, err
	}
	if d.Table == nil {
		return nil, &diag.Error{Kind: diag.Usage, Found: "no data"}
	}
	if o.OutOfFold && o.Delta.IsZero() {
		return nil, &diag.Error{Kind: diag.Usage, Param: "delta", Expected: "the probability with which the guarantee may fail",
			Fixes: []diag.Fix{{Param: "delta", Value: "5%"}}, Hint: "an out-of-fold threshold needs it"}
	}
	if o.Goal.Kind == metric.GoalMinPrecision && o.OutOfFold {
		return nil, &diag.Error{Kind: diag.Usage, Param: "out-of-fold", Found: "with min-precision", Expected: "rows that do not choose the model"}
	}
	if o.Goal.Kind == metric.GoalMinPrecision && d.Table.Weight != nil {
		return nil, &diag.Error{Kind: diag.Usage, Param: "weight", Found: "rows with weights", Expected: "rows without, for a lowest precision"}
	}
	if o.Goal.Kind == metric.GoalMinRecall && o.Value != "" {
		return nil, &diag.Error{Kind: diag.Usage, Param: "value", Found: "with min-recall", Expected: "a goal that finds as many positives as possible"}
	}
	if o.MaxTime < 0 {
		return nil, &diag.Error{Kind: diag.Usage, Param: "max-time", Found: o.MaxTime.String(), Expected: "a time above 0"}
	}
	if o.Derive != "" && o.Derive != schema.DeriveNone && o.Derive != schema.DerivePairs {
		return nil, diag.OneOf("derive", string(o.Derive), []string{string(schema.DeriveNone), string(schema.DerivePairs)})
	}
	if o.FoldRows == 0 {
		p.options.FoldRows = defaultFoldRows
	}
	if o.Feature.Trees == 0 {
		p.options.Feature.Trees = defaultTrees
	}
	var err error
	for _, t := range []*table.Table{d.Table, d.Validation, d.Test, d.Calibration} {
		if t == nil {
			continue
		}
		if _, err = p.countedIn(t); err != nil {
			return nil, err
		}
	}
	p.fitted = d.Table
	if o.Value != "" {
		if p.fitted, err = weightedByValue(d.Table, o.Value); err != nil {
			return nil, err
		}
	}
	return p, p.listTasks()
}

// listTasks pairs learners with encodings, in the order of stage. Unless both are named, boosting takes the boosted encodings and
// the other learners the others; a comparison tries all on encodings that are named.
func (p *plan) listTasks() error {
	learners, err := p.learners()
	if err != nil {
		return err
	}
	encodings, err := p.encodings()
	if err != nil {
		return err
	}
	anchored := slices.ContainsFunc(learners, func(l learner) bool { return l.name == method.Logistic })
	for i := range learners {
		l := &learners[i]
		for _, e := range encodings {
			if !l.suits(e) || (p.options.Encoding == nil || p.options.Method == nil && !p.options.KeepAll) && l.summed != e.Boosted() {
				continue
			}
			if l.name == method.Ramp && !anchored {
				anchor := convexLearner(method.Logistic, learn.Logistic, p.options.ClassWeight)
				p.tasks = append(p.tasks, &task{Task: Task{Learner: anchor.name, Features: e}, learner: anchor, anchorOnly: true, best: -1})
			}
			p.tasks = append(p.tasks, &task{Task: Task{Learner: l.name, Features: e}, learner: *l, best: -1})
		}
	}
	if len(p.tasks) == 0 {
		return &diag.Error{Kind: diag.Usage, Param: "method", Found: text.List(text.Strings(p.options.Method), "and"),
			Expected: "a learner that can use " + text.List(text.Strings(encodings), "or"),
			Fixes:    []diag.Fix{{Param: "encoding", Value: string(feature.EncodeBoosted)}}}
	}
	p.tasks = append(p.tasks, p.deriveTasks()...)
	slices.SortStableFunc(p.tasks, func(a, b *task) int { return stage(a) - stage(b) })
	return nil
}

// stage returns the place of a task: cheap and promising ones first, a task after those it starts from, and the
// reference before all.
func stage(t *task) int {
	switch {
	case t.isReference():
		return 0
	case t.Learner == method.Boosting:
		return 1
	case t.Learner == method.Logistic:
		return 2
	case t.Learner == method.Ramp:
		return 3
	}
	return 4
}

// encodings returns the encodings in the options, or those that the table's columns allow.
func (p *plan) encodings() ([]feature.Encode, error) {
	o := &p.options
	if o.Encoding == nil {
		if _, err := o.Feature.Check(); err != nil {
			return nil, err
		}
		return encodingsFor(p.data.Table), nil
	}
	for i, e := range o.Encoding {
		if slices.Contains(o.Encoding[:i], e) {
			return nil, &diag.Error{Kind: diag.Usage, Param: "encoding", Found: string(e) + " twice", Expected: "each encoding once"}
		}
		check := o.Feature
		check.Encode = e
		if _, err := check.Check(); err != nil {
			return nil, err
		}
	}
	return o.Encoding, nil
}

// learners returns the learners in the options, or the default ones.
func (p *plan) learners() ([]learner, error) {
	o := &p.options
	if err := p.checkSigns(); err != nil {
		return nil, err
	}
	names, err := learnerNames(o)
	if err != nil {
		return nil, err
	}
	var list []learner
	seen := map[method.Name]bool{}
	for _, name := range names {
		l, err := newLearner(name, o)
		if err != nil {
			return nil, err
		}
		if seen[l.name] {
			return nil, &diag.Error{Kind: diag.Usage, Param: "method", Found: string(l.name) + " twice", Expected: "each method once"}
		}
		seen[l.name] = true
		list = append(list, l)
	}
	if len(list) == 0 {
		return nil, &diag.Error{Kind: diag.Usage, Param: "method", Expected: "at least one method"}
	}
	return list, nil
}

// learnerNames resolves the default and AllLearners. On encodings that are named, and in a comparison, the learners that look at the
// top are there by default. With KeepAll the reference is always there, and by default both baselines.
func learnerNames(o *SearchOptions) ([]method.Name, error) {
	names := o.Method
	switch {
	case slices.Contains(names, AllLearners):
		if len(names) > 1 {
			return nil, &diag.Error{Kind: diag.Usage, Param: "method", Found: "all together with other names",
				Expected: "all, or a list of names"}
		}
		names = []method.Name{method.Logistic, method.SVM, method.Ramp, method.Boosting}
		for _, m := range method.All() {
			if !m.UsesTau || !o.Goal.Tau().IsZero() {
				names = append(names, m.Name)
			}
		}
	case names == nil && len(o.Feature.Monotone) > 0:
		names = []method.Name{method.Boosting}
	case names == nil && o.Encoding == nil && !o.KeepAll:
		names = []method.Name{method.Logistic, method.Boosting}
	case names == nil:
		names = []method.Name{method.Logistic, method.Boosting, method.Ramp}
		for _, m := range method.All() {
			if m.Convex && ranking.Fits(o.Goal, m) {
				names = append(names, m.Name)
			}
		}
	}
	if !o.KeepAll || len(o.Feature.Monotone) > 0 {
		return names, nil
	}
	var missing []method.Name
	baselines := Baselines()
	if o.Method != nil {
		baselines = baselines[:1]
	}
	for _, baseline := range baselines {
		if !slices.Contains(names, baseline) {
			missing = append(missing, baseline)
		}
	}
	return append(missing, names...), nil
}

// methodValues limits the matrix values up to which the paper's methods are tried by default: beyond, their
// certified optimum costs more time than it gains (docs/results/quality.md).
const methodValues = 100_000

// tooLarge reports whether a task is skipped on n values of a fold: a method that was not asked for by name.
func (p *plan) tooLarge(t *task, n int) bool {
	_, err := method.ByName(t.Learner)
	return err == nil && p.options.Method == nil && n > methodValues
}

// tooFewPositives reports whether a task is skipped because the table has simplestOnly positives or fewer.
func (p *plan) tooFewPositives(t *task) bool {
	o := &p.options
	return !t.isReference() && o.Method == nil && o.Encoding == nil && !o.KeepAll && len(o.Feature.Monotone) == 0 &&
		countLabelled(p.data.Table).Positives <= simplestOnly
}

// countsAllRows reports whether all rows are the goal's population: its budget is a fraction of them, or it is a precision.
func (p *plan) countsAllRows() bool { return p.options.Goal.Population() == method.AllRows }

// counts reports whether a row of a class is in the goal's population.
func (p *plan) counts(class table.Class) bool {
	switch p.options.Goal.Population() {
	case method.AllRows:
		return true
	case method.Positives:
		return class == table.Positive
	}
	return class == table.Negative
}

// population returns the rows whose units the goal counts: the negatives, the positives or all rows. Of entities it
// returns all rows, because the classes of an entity's rows may differ.
func (p *plan) population(t *table.Table, rows []int) []int {
	if p.options.Entity != "" {
		return slices.Clone(rows)
	}
	return slices.DeleteFunc(slices.Clone(rows), func(row int) bool { return !p.counts(t.Label[row]) })
}

// negativesOf returns those of some rows that are negative.
func negativesOf(t *table.Table, rows []int) []int {
	return slices.DeleteFunc(slices.Clone(rows), func(row int) bool { return t.Label[row] != table.Negative })
}

// countedPopulation returns a row for each unit that the goal's budget counts, with the units' scores. It is given
// all rows of the population.
func (p *plan) countedPopulation(t *table.Table, rows []int, z []float64) (first []int, top []float64) {
	c := p.counted[t]
	if c.Rows() {
		return rows, z
	}
	units, scores := c.collapse(t, rows, z)
	for i, row := range units {
		if p.counts(t.Label[row]) {
			first, top = append(first, row), append(top, scores[i])
		}
	}
	return first, top
}

// populationSize returns the number of units among rows that the goal's budget counts.
func (p *plan) populationSize(t *table.Table, rows []int) int {
	first, _ := p.countedPopulation(t, p.population(t, rows), nil)
	return len(first)
}

// populationName returns "negatives" or "rows", with entities "negatives (one for each host)".
func (p *plan) populationName() string {
	name := p.options.Goal.Population().String()
	if p.countsAllRows() {
		name = "rows"
	}
	if entity := p.options.Entity; entity != "" {
		name = fmt.Sprintf("%s (one for each %s)", name, entity)
	}
	return name
}

// labelsOf returns the labels of the table with the class of all other rows unknown.
func (p *plan) labelsOf(rows []int) []table.Class {
	label := slices.Repeat([]table.Class{table.Unknown}, p.data.Table.Rows())
	for _, row := range rows {
		label[row] = p.data.Table.Label[row]
	}
	return label
}

// fitEncoding fits an encoding to rows of a table. derivations returns the derived columns if the encoding has some.
func (p *plan) fitEncoding(ctx context.Context, t *table.Table, rows []int, key encodingKey, derivations func() ([]feature.Derivation, error)) (*feature.Map,
	[]Warning, error) {
	o := p.options.Feature
	if key.derived {
		var err error
		if o.Derived, err = derivations(); err != nil {
			return nil, nil, err
		}
	}
	o.Encode, o.Seed = key.encode, p.options.Seed
	switch {
	case key.growing:
		o.Growing, o.Rounds = true, min(firstTrees, cmp.Or(o.Rounds, feature.DefaultRounds(key.encode)))
	case key.trees > 0:
		o.Rounds, o.Trees = key.trees, key.trees
	}
	m, warnings, err := feature.FitContext(ctx, t, p.data.Schema, rows, o)
	return m, warnings, inFile(err, t)
}

// checkLabel is the advice where a whole file lacks a class.
const checkLabel = "check the label column and the positive class"

// requireBothClasses returns an error if rows lack a class. what begins the sentence: "there are".
func (p *plan) requireBothClasses(rows []int, what string) error {
	counts := CountRows(p.data.Table.Label, rows)
	if counts.Positives > 0 && counts.Negatives > 0 {
		return nil
	}
	e := &diag.Error{Kind: diag.Data, File: p.data.Table.File, Found: what + " " + counts.String(),
		Expected: "rows of both classes", Hint: checkLabel}
	if all := countLabelled(p.data.Table); all.Positives > 0 && all.Negatives > 0 {
		e.Hint = fmt.Sprintf("the file has %s", all)
	}
	return e
}

// countedIn returns the units of a table, which it makes once.
func (p *plan) countedIn(t *table.Table) (*counted, error) {
	if c := p.counted[t]; c != nil {
		return c, nil
	}
	units, err := NewUnits(t, p.options.Entity)
	if err != nil {
		return nil, err
	}
	if err := units.CheckNegatives(t.File); err != nil {
		return nil, err
	}
	c := &counted{Units: units}
	if p.options.Value != "" {
		if c.amounts, err = units.Amounts(t, p.options.Value); err != nil {
			return nil, err
		}
	}
	p.counted[t] = c
	return c, nil
}

// checkSigns returns an error if columns have a direction that a learner in the options would not keep, or if there
// are no such columns.
func (p *plan) checkSigns() error {
	o := &p.options
	if len(o.Feature.Monotone) == 0 {
		return nil
	}
	if err := feature.CheckSigns(p.data.Table, o.Feature.Monotone); err != nil {
		return err
	}
	for _, name := range o.Method {
		if name != method.Boosting {
			return &diag.Error{Kind: diag.Usage, Param: "method", Found: string(name) + " together with monotone",
				Expected: string(method.Boosting), Hint: "only boosting keeps the directions of columns"}
		}
	}
	return nil
}
