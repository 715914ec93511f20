// Package measure compares models and other scores on labelled rows.
package measure

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"toptau/dataset"
	"toptau/diag"
	"toptau/internal/core/ranking"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/internal/models/wording"
	"toptau/internal/training/large"
	"toptau/internal/training/ranked"
	"toptau/internal/training/rowset"
	"toptau/internal/training/summary"
	"toptau/internal/training/tune"
	"toptau/metric"
	"toptau/model"
	"toptau/result"
	"toptau/threshold"
)

// Options are the options of Evaluate. The zero value of each is its default.
type Options struct {
	// Goal sets the criterion that compares entries, and the rate of the other criteria. Without it, the goal of
	// the first model's default operating point compares the entries, and each model's criteria have the rate of
	// its own goal. Entries without a goal have the paper's rates 0.01 and 0.03.
	Goal       metric.Goal
	Against    string         // entry that the others are compared with; "": the first one
	Confidence float64        // confidence of the intervals; 0: 0.95
	Replicates int            // number of bootstrap replicates; 0: 2,000
	Seed       uint64         // seed of the bootstrap
	Prevalence threshold.Rate // fraction of positives that the summary assumes; zero: as in the rows
	Curves     int            // most points per curve; 0: no curves
	// By are columns by whose values the decisions of each entry are counted: features, or columns of Format.Kept,
	// Segment, Time, Group or ID.
	By []string
	// Simultaneous widens the intervals of By so that all of them together have the confidence (Bonferroni).
	Simultaneous bool
	// Entity is a column that names entities. Each raises at most one alert, or one a day if the data have a
	// column Format.Time. Everything is then counted in entities instead of rows; "": the unit of the first
	// model's default operating point.
	Entity string
	// Value is a column of amounts, such as money. Criteria and comparisons are then fractions of the positives'
	// sum; "": positives are counted.
	Value string
	// Gate decides whether the first entry may replace Against, see result.Gate. Margin is the largest loss of the
	// goal's criterion that it accepts; zero: 2 %.
	Gate       bool
	Margin     threshold.Rate
	ReportDate string // shown in the report, in any form; "": none
	Examples   int    // most false alarms, found and missed positives to list with reasons; 0: none
}

// Evaluation is the result of Evaluate. It keeps the rankings for reports and explorers.
type Evaluation struct {
	result.Evaluation

	state *ranked.Measured
}

func init() { ranked.Of = func(e any) *ranked.Measured { return e.(*Evaluation).state } }

// Evaluate measures one or more rankings of the same labelled rows. It returns criteria with thresholds from
// these rows and bootstrap intervals, and the decisions of models' operating points with exact intervals.
//
// It compares several entries by the goal's criterion. The intervals of the differences to o.Against come
// from one paired bootstrap, which resamples groups if the data have a column Format.Group.
func Evaluate(ctx context.Context, data *dataset.Data, entries []dataset.Entry, o Options) (*Evaluation, error) {
	d := rowset.Of(data)
	if err := checkEntries(entries); err != nil {
		return nil, err
	}
	e := &Evaluation{state: &ranked.Measured{Data: d, Date: o.ReportDate, Where: d.Place(rowset.MeasuredBytes)}}
	if err := o.needs(d, entries).Check(e.state.Where); err != nil {
		return nil, err
	}
	if err := e.setUnits(entries, o); err != nil {
		return nil, err
	}
	if err := o.Goal.CheckMoney(o.Value, threshold.Rate{}, d.Table.Weight != nil); err != nil {
		return nil, err
	}
	if o.Goal.Kind == metric.GoalCostAlert && len(entries) > 1 {
		return nil, &diag.Error{Kind: diag.Usage, Param: string(o.Goal.Kind), Found: "with several entries", Expected: "one",
			Hint: "a comparison needs a budget"}
	}
	e.SecondsRead, e.Warnings, e.Verdicts = d.Seconds, d.Warnings(), []result.Verdict{}
	if err := e.warnOfCopies(ctx, d); err != nil {
		return nil, err
	}
	for i := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := e.addEntry(ctx, (*rowset.Entry)(&entries[i]), o, len(entries) > 1); err != nil {
			return nil, err
		}
	}
	first := e.state.Rankings[0].Rank
	positives, negatives := first.Rows()
	e.Counts = result.Counts{Rows: positives + negatives, Positives: positives}
	e.Weighted, e.Prevalence = first.Weighted(), first.PositiveMass()/first.Mass()
	if len(entries) > 1 {
		if err := e.compareEntries(o); err != nil {
			return nil, err
		}
	}
	if o.Gate {
		if len(entries) < 2 || o.Against == entries[0].Name || o.Against == "" {
			return nil, &diag.Error{Kind: diag.Usage, Param: "gate", Found: "without a model to compare with",
				Expected: "the model that the first one would replace", Fixes: []diag.Fix{{Param: "against", Value: "OLD"}}}
		}
		e.Gate = e.gate(o)
	}
	e.Measured = e.Entries[0].Measured
	if first := e.state.Rankings[0]; o.Examples > 0 && first.Model != nil && first.Alarms != nil {
		var err error
		if e.Examples, err = first.Examples(e.state.Units, first.Alarms, o.Examples); err != nil {
			return nil, err
		}
	}
	if len(e.Points) > 0 {
		facts := e.summaryFacts(o.Prevalence)
		e.Summary, e.state.Claim = summary.Lines(facts), summary.Claim(facts)
	}
	return e, nil
}

// entityOf returns the column of the entities that are counted, "" for rows.
func (o *Options) entityOf(entries []dataset.Entry) string {
	if m := entries[0].Model; m != nil && o.Entity == "" {
		point, _ := m.Point("")
		return point.Entity
	}
	return o.Entity
}

// needs lists what an evaluation can have of rows in memory only.
func (o *Options) needs(d *rowset.Set, entries []dataset.Entry) rowset.Needs {
	return rowset.Needs{}.Columns(d, o.entityOf(entries), o.Value).Option("by", len(o.By) > 0).
		Option("examples", o.Examples > 0).Option("gate", o.Gate).Option("against", o.Against != "").
		Option("segment", slices.ContainsFunc(entries, func(e dataset.Entry) bool { return (*rowset.Entry)(&e).DecidesBySegment() })).
		Goal(o.Goal).Named("a comparison", len(entries) > 1).Named("scores without a model", entries[0].Model == nil)
}

// warnOfCopies adds a warning about copies. Of selected rows a note about all says so.
func (e *Evaluation) warnOfCopies(ctx context.Context, d *rowset.Set) error {
	switch {
	case e.state.Units != nil && d.Whole == nil:
		e.Warnings = append(e.Warnings, e.state.Units.CopyWarnings(false)...)
	case e.state.Where != rowset.InMemory:
		copies, err := d.CopiesElsewhere(ctx)
		if err != nil {
			return err
		}
		if copies {
			e.Warnings = append(e.Warnings, large.CopiesWarning)
		}
	}
	return nil
}

// setUnits prepares what is counted: rows or entities, and their amounts.
func (e *Evaluation) setUnits(entries []dataset.Entry, o Options) error {
	if e.state.Where != rowset.InMemory {
		return nil // rows are counted by their scores
	}
	entity := o.entityOf(entries)
	var err error
	if e.state.Data, err = e.state.Data.With(slices.Concat([]string{entity, o.Value}, o.By)...); err != nil {
		return err
	}
	if e.state.Units, err = rowset.NewUnits(e.state.Data, entity); err != nil {
		return err
	}
	e.Unit = e.state.Units.Shown
	if o.Value == "" {
		return nil
	}
	column, err := tune.FindColumn(e.state.Data.Table, "value", o.Value)
	if err != nil {
		return err
	}
	e.Value = column.Name
	e.state.Amounts, err = e.state.Units.PositiveAmounts(e.state.Data, o.Value)
	return err
}

// checkEntries returns an error if there are no entries, or if a name is missing or used twice.
func checkEntries(entries []dataset.Entry) error {
	if len(entries) == 0 {
		return &diag.Error{Kind: diag.Usage, Found: "nothing to evaluate", Expected: "a model or scores"}
	}
	for i := range entries {
		name := entries[i].Name
		used := slices.ContainsFunc(entries[:i], func(e dataset.Entry) bool { return e.Name == name })
		if used || name == "" && len(entries) > 1 {
			return &diag.Error{Kind: diag.Usage, Found: "an entry named " + diag.Quote(name), Expected: "a different name for each entry"}
		}
	}
	return nil
}

// addEntry measures an entry and adds it. With several entries, warnings begin with its name.
func (e *Evaluation) addEntry(ctx context.Context, entry *rowset.Entry, o Options, several bool) error {
	k := &ranked.Ranking{Entry: entry, Data: e.state.Data}
	if entry.Model != nil {
		k.Data = e.state.Data.Arranged(entry.Model)
	}
	r := result.Entry{Name: entry.Name, Kind: result.ScoresEntry, Measured: result.Measured{Points: []result.Decisions{},
		Curves: []result.Curve{}}}
	counts, err := e.rankRows(ctx, k, &r, o)
	if err != nil {
		return err
	}
	auc := k.Rank.AUC()
	r.AUC, r.AUCAgainst, r.Distinct = auc.Half, auc.Against, k.Rank.Groups()
	if err := e.measureCriteria(&r.Measured, k, o); err != nil {
		return err
	}
	if o.Curves > 0 {
		r.Curves = curvesOf(k.Rank, o.Curves)
	}
	if m := entry.Model; m != nil {
		r.Kind, r.Setting, r.Features = result.ModelEntry, model.MembersText(m.Members()), m.Features().Cols()
		counted := countValues(&r.Measured, m, counts)
		if p := m.Probability(); p != nil && k.Z != nil {
			addProbabilities(&r.Measured, p, e.state.Data.Table, k.Z)
		}
		warnings, err := e.measureModel(k, &r.Measured, o)
		if err != nil {
			return err
		}
		for _, w := range append(counted, warnings...) {
			if several {
				w.Text = entry.Name + ": " + w.Text
			}
			e.Warnings = append(e.Warnings, w)
		}
	}
	if e.state.Where == rowset.InMemory {
		if err := e.addBreakdowns(k, &r.Measured, o); err != nil {
			return err
		}
	}
	if from := entry.Origin; from != nil {
		r.Kind, r.Encoding, r.Estimate = from.Kind, from.Encoding, &from.Estimate
	}
	e.state.Rankings, e.Entries = append(e.state.Rankings, k), append(e.Entries, r)
	return nil
}

// rankRows ranks the rows of an entry by their scores or, if the rows are not in memory, by counts of their scores. It returns the counts
// of missing and unknown values, nil if they are not known.
func (e *Evaluation) rankRows(ctx context.Context, k *ranked.Ranking, r *result.Entry, o Options) (*feature.Counts, error) {
	if e.state.Where == rowset.InMemory {
		s, err := k.ScoresOf(k.Data)
		if err != nil {
			return nil, err
		}
		k.Z, k.Scores, r.Joined = s.Values, e.state.Units.ByClass(s.Values), s.Joined
		if k.Rank, err = ranking.Rank(k.Scores); err == nil {
			r.AveragePrecision = averagePrecision(k.Rank)
		}
		return s.Counts, err
	}
	_, criteria, err := criteriaFor(k.Model, o.Goal)
	if err != nil {
		return nil, err
	}
	var at []float64
	for _, p := range k.Model.Points() {
		at = append(at, p.Threshold)
	}
	measured, err := large.Measure(ctx, k.Data.Rows(), large.All(), k.Model, criteria, at)
	if err != nil {
		return nil, e.state.Data.WithFile(err)
	}
	k.Rank = measured.Ranking
	if measured.Exact {
		r.AveragePrecision = averagePrecision(k.Rank)
		return measured.Values, nil
	}
	auc := k.Rank.AUC()
	within := auc.Half - auc.Against
	r.AUCWithin = &within
	return measured.Values, nil
}

// averagePrecision returns that of a ranking, nil without a positive.
func averagePrecision(r *ranking.Ranking) *float64 {
	if !(r.PositiveMass() > 0) {
		return nil
	}
	average := r.AveragePrecision()
	return &average
}

// countValues adds the counts of missing and unknown values (nil: they are not known), and returns a warning about unknown ones.
func countValues(r *result.Measured, m *model.Model, c *feature.Counts) []diag.Warning {
	if c == nil {
		return nil
	}
	missing, unknown := rowset.SumOf(c.Missing), rowset.SumOf(c.Unknown)+c.UnknownIndices
	r.Missing, r.Unknown = &missing, &unknown
	if unknown == 0 {
		return nil
	}
	return []diag.Warning{rowset.UnknownWarning(feature.MapOf(m.Features()), *c, unknown)}
}

// measureModel measures the operating points, and looks for rows that trained the model.
func (e *Evaluation) measureModel(k *ranked.Ranking, r *result.Measured, o Options) ([]diag.Warning, error) {
	var warnings []diag.Warning
	d := k.Data
	var err error
	if r.TrainingRows, err = rowset.Overlap(k.Model, d); err != nil {
		return nil, err
	}
	if found := foundInTraining(k.Model, d, r.TrainingRows); found != "" {
		warnings = append(warnings, diag.Warning{Code: "training-rows", Text: found + "; expect worse results on new rows"})
	}
	points := k.Model.Points()
	for i := range points {
		decided, list, err := e.measurePoint(k, &points[i], o)
		if err != nil {
			return nil, err
		}
		r.Points = append(r.Points, decided)
		warnings = append(warnings, list...)
	}
	if e.state.Where != rowset.InMemory {
		warnings = append(warnings, notMeasured(k.Model, d, r)...)
	}
	return warnings, nil
}

// measurePoint counts the decisions of an operating point. The first one decides for breakdowns and examples.
func (e *Evaluation) measurePoint(k *ranked.Ranking, p *model.Point, o Options) (result.Decisions, []diag.Warning, error) {
	decided := result.Decisions{Name: p.Name, Goal: p.Goal, Shift: []result.Shift{}}
	var err error
	if e.state.Where != rowset.InMemory {
		decided.Decisions, err = k.Rank.At(p.Threshold, o.Confidence)
		return decided, nil, err
	}
	alarms := e.state.Units.Alarms(rowset.AlarmsAt(p, k.Data, k.Z))
	if k.Alarms == nil {
		k.Alarms = alarms
	}
	if decided.Decisions, err = e.state.Units.Decisions(alarms, o.Confidence); err != nil {
		return decided, nil, err
	}
	decided.Decisions.Threshold = p.Threshold
	watch := rowset.NewShiftWatch(p, true)
	for row, z := range k.Z {
		if e.state.Units.Counts(row) {
			watch.AddRow(k.Data.Table, row, z)
		}
	}
	var warnings []diag.Warning
	decided.Shift, warnings = watch.Reports(k.Model.Training())
	if e.state.Amounts != nil {
		value, err := ranking.FoundValue(e.state.Amounts, e.positivesOf(alarms), o.bootstrap())
		if err != nil {
			return decided, nil, err
		}
		decided.Value = &value
		if decided.Profit, err = e.profitAt(k, p, o); err != nil {
			return decided, nil, err
		}
	}
	return decided, warnings, nil
}

// profitAt returns what the alerts of a point bring at the price of the goal, or else of the point's goal; nil without a price.
func (e *Evaluation) profitAt(k *ranked.Ranking, p *model.Point, o Options) (*metric.Profit, error) {
	price := cmp.Or(o.Goal.Cost, p.Goal.Cost)
	if price == 0 || k.Rank.Weighted() || p.Segment != "" {
		return nil, nil
	}
	profit, err := k.Rank.ProfitAt(price, p.Threshold, k.Scores.Positives, e.state.Amounts, o.bootstrap())
	return &profit, err
}

// notMeasured returns a warning about what Evaluate measures of rows in memory alone.
func notMeasured(m *model.Model, d *rowset.Set, r *result.Measured) []diag.Warning {
	var list []string
	if slices.ContainsFunc(m.Points(), func(p model.Point) bool { return p.Guarantee != nil }) {
		list = append(list, "how the scores differ from those of the calibration rows")
	}
	if m.Probability() != nil {
		list = append(list, "whether the probabilities are right")
	}
	if r.Missing == nil {
		list = append(list, "missing values and values not seen in training")
	}
	if d.Database != nil {
		list = append(list, "which of these rows trained the model")
	}
	if len(list) == 0 {
		return nil
	}
	return []diag.Warning{{Code: "not-measured", Text: "not measured, because the rows do not fit into memory or are in a database: " +
		strings.Join(list, "; ")}}
}

// foundInTraining returns what shows that rows trained the model, "" if nothing does.
func foundInTraining(m *model.Model, d *rowset.Set, known *result.Overlap) string {
	switch {
	case known != nil && known.Excess:
		return rowset.OverlapWarning(known, d.Len())
	case known == nil && rowset.TrainedOn(m, d):
		return "these are the rows that the model was trained on"
	}
	return ""
}

// bootstrap returns the options of intervals.
func (o *Options) bootstrap() ranking.Bootstrap {
	return ranking.Bootstrap{Confidence: o.Confidence, Replicates: o.Replicates, Seed: o.Seed}
}

// positivesOf returns the decisions on the positive units, in the order of their amounts.
func (e *Evaluation) positivesOf(alarms []bool) []bool {
	var found []bool
	for unit, class := range e.state.Units.Label {
		if class == table.Positive {
			found = append(found, alarms[unit])
		}
	}
	return found
}

// addBreakdowns counts an entry's decisions by the values of columns. A model decides by its default operating
// point, other scores by the goal's threshold on these rows.
func (e *Evaluation) addBreakdowns(k *ranked.Ranking, r *result.Measured, o Options) error {
	point, at := "", 0.0
	switch {
	case k.Alarms != nil:
		point, at = r.Points[0].Name, r.Points[0].Decisions.Threshold
	case r.Goal != nil && r.Goal.Value.Defined():
		at = r.Goal.Value.Threshold
		z := e.state.Units.Scores(k.Z)
		k.Alarms = make([]bool, len(z))
		for unit := range z {
			k.Alarms[unit] = z[unit] > at
		}
	case len(o.By) > 0:
		return &diag.Error{Kind: diag.Usage, Param: "by", Found: "scores without a threshold", Expected: "a goal",
			Fixes: []diag.Fix{{Param: "max-fpr", Value: "1%"}, {Param: "top", Value: "1%"}}}
	}
	columns, err := divideUnits(e.state.Units, e.state.Data, o.By)
	if err != nil {
		return err
	}
	confidence, together := o.Confidence, 0
	if o.Simultaneous {
		for i := range columns {
			together += columns[i].rates(e.state.Units)
		}
		confidence = 1 - (1-cmp.Or(confidence, metric.DefaultConfidence))/float64(max(1, together))
	}
	for i := range columns {
		b, err := breakdownOf(e.state.Units, &columns[i], k.Alarms, confidence)
		if err != nil {
			return err
		}
		b.Point, b.Threshold, b.Together = point, at, together
		r.By = append(r.By, b)
	}
	return nil
}

// criteriaFor returns the criterion of the goal, if there is one, and the three criteria of the paper at the goal's
// rate, or else at that of the model (nil: none).
func criteriaFor(m *model.Model, goal metric.Goal) (own *ranking.Criterion, list []ranking.Criterion, err error) {
	rates := []threshold.Rate{threshold.MustRate("0.01"), threshold.MustRate("0.03")}
	if m != nil {
		if point, _ := m.Point(""); !point.Goal.Tau().IsZero() {
			rates = []threshold.Rate{point.Goal.Tau()}
		}
	}
	if goal != (metric.Goal{}) && goal.Kind != metric.GoalCostAlert {
		if err := goal.Check(); err != nil {
			return nil, nil, err
		}
		c := ranking.CriterionOf(goal)
		own = &c
		if tau := goal.Tau(); !tau.IsZero() {
			rates = []threshold.Rate{tau}
		}
	}
	list = []ranking.Criterion{ranking.Top()}
	for _, tau := range rates {
		list = append(list, ranking.NP(tau), ranking.Quantile(tau))
	}
	return own, list, nil
}

// measureCriteria measures the goal's criterion and the three criteria of the paper.
func (e *Evaluation) measureCriteria(m *result.Measured, k *ranked.Ranking, o Options) error {
	own, list, err := criteriaFor(k.Model, o.Goal)
	if err != nil {
		return err
	}
	if own != nil {
		value, err := e.criterion(k, *own, o)
		if err != nil {
			return err
		}
		m.Goal = &result.GoalValue{Goal: o.Goal, Value: value}
	}
	if o.Goal.Kind == metric.GoalCostAlert {
		best, err := k.Rank.MaxProfit(o.Goal.Cost, k.Scores.Positives, e.state.Amounts)
		if err != nil {
			return err
		}
		profit, err := k.Rank.ProfitAt(o.Goal.Cost, best.Threshold, k.Scores.Positives, e.state.Amounts, o.bootstrap())
		if err != nil {
			return err
		}
		m.BestProfit, profit.Interval = &profit, nil // these rows chose the threshold
	}
	for _, c := range list {
		value, err := e.criterion(k, c, o)
		if err != nil {
			return err
		}
		m.Criteria = append(m.Criteria, value)
	}
	return nil
}

// criterion measures a criterion with its interval: of positives, or of their amounts.
func (e *Evaluation) criterion(k *ranked.Ranking, c ranking.Criterion, o Options) (metric.Result, error) {
	if e.state.Amounts == nil {
		return k.Rank.Bootstrap(c, o.bootstrap())
	}
	paired, err := ranking.PairedBootstrap(e.pairedScores([]*ranked.Ranking{k}), c, 0, o.bootstrap())
	if err != nil {
		return metric.Result{}, e.state.Data.WithFile(err)
	}
	return paired.Results[0], nil
}

// pairedScores returns the scores of some entries for a paired bootstrap.
func (e *Evaluation) pairedScores(list []*ranked.Ranking) ranking.PairedScores {
	first := list[0].Scores
	s := ranking.PairedScores{PositiveWeights: first.PositiveWeights, NegativeWeights: first.NegativeWeights, PositiveValues: e.state.Amounts}
	s.PositiveGroups, s.NegativeGroups, _ = e.state.Units.Groups()
	for _, k := range list {
		s.Positives, s.Negatives = append(s.Positives, k.Scores.Positives), append(s.Negatives, k.Scores.Negatives)
	}
	return s
}

// compareEntries compares the entries by one paired bootstrap.
func (e *Evaluation) compareEntries(o Options) error {
	goal, err := e.pairedGoal(o)
	if err != nil {
		return err
	}
	reference := 0
	if o.Against != "" {
		if reference = slices.IndexFunc(e.Entries, func(r result.Entry) bool { return r.Name == o.Against }); reference < 0 {
			names := make([]string, len(e.Entries))
			for i := range names {
				names[i] = e.Entries[i].Name
			}
			return diag.OneOf("against", o.Against, names)
		}
	}
	_, _, e.Entities = e.state.Units.Groups()
	paired, err := ranking.PairedBootstrap(e.pairedScores(e.state.Rankings), ranking.CriterionOf(goal), reference, o.bootstrap())
	if err != nil {
		return e.state.Data.WithFile(err)
	}
	ranked := make([]tune.Ranked, len(e.Entries))
	decided := 0
	for i := range e.Entries {
		r := &e.Entries[i]
		r.Goal, r.Difference, r.Verdict = &result.GoalValue{Goal: goal, Value: paired.Results[i]}, &paired.Differences[i],
			paired.Differences[i].Verdict()
		ranked[i] = tune.Ranked{Name: r.Name, Kind: r.Kind}
		if from := e.state.Rankings[i].Origin; from != nil {
			ranked[i].Task = tune.Task{Learner: from.Learner, Features: from.Encoding, Derived: from.Derived}
			ranked[i].Score = from.Estimate.Mean
		}
		if i == reference {
			r.Difference, r.Verdict = nil, ""
		} else if r.Verdict != metric.Undecided {
			decided++
		}
	}
	e.Against, e.Verdicts = e.Entries[reference].Name, tune.Verdicts(ranked, &paired, reference)
	if compared := len(e.Entries) - 1; decided > 0 && compared > 1 {
		e.Warnings = append(e.Warnings, diag.Warning{Code: "several-comparisons", Text: fmt.Sprintf("each of the %d differences has its own "+
			"interval, and one of several may exclude 0 by chance: use the verdicts", compared)})
	}
	return nil
}

// pairedGoal returns the goal whose criterion compares the entries.
func (e *Evaluation) pairedGoal(o Options) (metric.Goal, error) {
	goal := o.Goal
	for _, k := range e.state.Rankings {
		if goal == (metric.Goal{}) && k.Model != nil {
			point, _ := k.Model.Point("")
			goal = point.Goal
		}
	}
	return goal, goal.Check()
}

// summaryFacts returns the facts of the summary, which is about the first model's default operating point.
func (e *Evaluation) summaryFacts(prevalence threshold.Rate) summary.Facts {
	p, _ := e.state.Rankings[0].Model.Point("")
	f := summary.Facts{Unit: e.Unit, Value: e.Points[0].Value, ValueName: e.Value, Decisions: e.Points[0].Decisions, Guarantee: p.Guarantee,
		Warnings:   len(e.Warnings),
		Basis:      fmt.Sprintf("these %s, %s positive", wording.UnitsText(e.Unit, e.Rows), text.Count(e.Positives)),
		Prevalence: e.Prevalence, PrevalenceHere: true, Goal: p.Goal}
	if p.Guarantee == nil {
		f.NoGuarantee = "the threshold came without one"
	}
	if !prevalence.IsZero() {
		f.Prevalence, f.PrevalenceGiven = prevalence.Float64(), true
		f.Decisions = ranking.Mix(f.Decisions, f.Prevalence, nil)
	}
	return f
}

// curvesOf returns the curves of a ranking with at most n points each.
func curvesOf(r *ranking.Ranking, n int) (list []result.Curve) {
	for _, c := range []ranking.Curve{r.ROC(), r.PR(), r.PTau()} {
		list = append(list, curveOf(c.Corners().Downsample(n)))
	}
	return list
}

func curveOf(c ranking.Curve) result.Curve {
	r := result.Curve{Name: c.Name, X: c.X, Y: c.Y, Area: c.Area}
	for _, p := range c.Points {
		r.Points = append(r.Points, [2]float64{p.X, p.Y})
	}
	return r
}
