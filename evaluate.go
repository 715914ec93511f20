package toptau

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"toptau/diag"
	"toptau/internal/feature"
	"toptau/internal/table"
	"toptau/internal/text"
	"toptau/internal/tune"
	"toptau/metric"
	"toptau/model"
	"toptau/result"
	"toptau/threshold"
)

// EvaluateOptions are the options of Evaluate. The zero value of each is its default.
type EvaluateOptions struct {
	// Goal sets the criterion that compares entries, and the rate of the other criteria. Without it, the
	// criteria have the paper's rates 0.01 and 0.03, and the goal of the first model's default operating point
	// compares the entries.
	Goal       Goal
	Against    string         // entry that the others are compared with; "": the first one
	Confidence float64        // confidence of the intervals; 0: 0.95
	Replicates int            // number of bootstrap replicates; 0: 2,000
	Seed       uint64         // seed of the bootstrap
	Prevalence threshold.Rate // fraction of positives that the summary assumes; zero: as in the rows
	Curves     int            // most points per curve; 0: no curves
}

// Evaluation is the result of Evaluate. It keeps the rankings for WriteReport.
type Evaluation struct {
	result.Evaluation

	data     *Data
	rankings []*ranking
}

// ranking is a measured entry.
type ranking struct {
	*Entry
	data   *Data         // the rows, with columns in the model's order
	z      []float64     // the scores in the order of the rows
	scores metric.Scores // the same scores by class
	rank   *metric.Ranking
}

// Evaluate measures one or more rankings of the same labelled rows. It returns criteria with thresholds from
// these rows and bootstrap intervals, and the decisions of models' operating points with exact intervals.
//
// It compares several entries by the goal's criterion. The intervals of the differences to o.Against come
// from one paired bootstrap, which resamples groups if the data have a column Format.Group.
func Evaluate(ctx context.Context, d *Data, entries []Entry, o EvaluateOptions) (*Evaluation, error) {
	if err := checkEntries(entries); err != nil {
		return nil, err
	}
	e := &Evaluation{data: d}
	e.SecondsRead, e.Warnings, e.Verdicts = d.seconds, d.warnings(), []result.Verdict{}
	for i := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := e.addEntry(&entries[i], o, len(entries) > 1); err != nil {
			return nil, err
		}
	}
	first := e.rankings[0].rank
	positives, negatives := first.Rows()
	e.Counts = result.Counts{Rows: positives + negatives, Positives: positives}
	e.Weighted, e.Prevalence = first.Weighted(), first.PositiveMass()/(first.PositiveMass()+first.NegativeMass())
	if len(entries) > 1 {
		if err := e.compareEntries(o); err != nil {
			return nil, err
		}
	}
	e.Measured = e.Entries[0].Measured
	if len(e.Points) > 0 {
		e.Summary = summary(e.summaryFacts(o.Prevalence))
	}
	return e, nil
}

// checkEntries returns an error if there are no entries, or if a name is missing or used twice.
func checkEntries(entries []Entry) error {
	if len(entries) == 0 {
		return &diag.Error{Kind: diag.Usage, Found: "nothing to evaluate", Expected: "a model or scores"}
	}
	for i := range entries {
		name := entries[i].Name
		used := slices.ContainsFunc(entries[:i], func(e Entry) bool { return e.Name == name })
		if used || name == "" && len(entries) > 1 {
			return &diag.Error{Kind: diag.Usage, Found: "an entry named " + diag.Quote(name), Expected: "a different name for each entry"}
		}
	}
	return nil
}

// addEntry measures an entry and adds it. With several entries, warnings begin with its name.
func (e *Evaluation) addEntry(entry *Entry, o EvaluateOptions, several bool) error {
	d := e.data
	if entry.Model != nil {
		d = d.arranged(entry.Model)
	}
	s, err := entry.scoresOf(d)
	if err != nil {
		return err
	}
	k := &ranking{Entry: entry, data: d, z: s.values, scores: byClass(e.data.table, s.values)}
	if k.rank, err = metric.Rank(k.scores); err != nil {
		return err
	}
	auc := k.rank.AUC()
	r := result.Entry{Name: entry.Name, Kind: result.ScoresEntry, Joined: s.joined, Measured: result.Measured{AUC: auc.Half,
		AUCAgainst: auc.Against, Distinct: k.rank.Groups(), Points: []result.Decisions{}, Curves: []result.Curve{}}}
	if err := measureCriteria(&r.Measured, k.rank, o); err != nil {
		return err
	}
	if o.Curves > 0 {
		for _, c := range []metric.Curve{k.rank.ROC(), k.rank.PR(), k.rank.PTau()} {
			r.Curves = append(r.Curves, curveOf(c.Corners().Downsample(o.Curves)))
		}
	}
	if m := entry.Model; m != nil {
		r.Kind, r.Setting, r.Features = result.ModelEntry, membersText(m), m.Features(feature.Key{}).Cols()
		r.Missing, r.Unknown = sumOf(s.counts.Missing), sumOf(s.counts.Unknown)+s.counts.UnknownIndices
		warnings, err := k.measureModel(&r.Measured, o)
		if err != nil {
			return err
		}
		for _, w := range warnings {
			if several {
				w.Text = entry.Name + ": " + w.Text
			}
			e.Warnings = append(e.Warnings, w)
		}
	}
	if from := entry.origin; from != nil {
		r.Kind, r.Encoding, r.Estimate = from.kind, from.task.Features, &from.estimate
	}
	e.rankings, e.Entries = append(e.rankings, k), append(e.Entries, r)
	return nil
}

// measureModel measures the operating points, and looks for rows that trained the model.
func (k *ranking) measureModel(r *result.Measured, o EvaluateOptions) ([]diag.Warning, error) {
	var warnings []diag.Warning
	d := k.data
	r.TrainingRows = overlap(k.Model, d)
	found := ""
	switch {
	case r.TrainingRows != nil && r.TrainingRows.Excess:
		found = overlapWarning(r.TrainingRows, d.Len())
	case r.TrainingRows == nil && trainedOn(k.Model, d):
		found = "these are the rows that the model was trained on"
	}
	if found != "" {
		warnings = append(warnings, diag.Warning{Code: "training-rows", Text: found + "; expect worse results on new rows"})
	}
	points := k.Model.Points()
	for i := range points {
		p := &points[i]
		c, err := confusionAt(p, k.rank, d, k.scores, o.Confidence)
		if err != nil {
			return nil, err
		}
		watch := newShiftWatch(p, true)
		for row, z := range k.z {
			watch.addRow(d.table, row, z)
		}
		shift, list := watch.reports(k.Model.Training())
		r.Points = append(r.Points, result.Decisions{Name: p.Name, Goal: p.Goal, Decisions: c, Shift: shift})
		warnings = append(warnings, list...)
	}
	return warnings, nil
}

// measureCriteria measures the goal's criterion and the three criteria of the paper.
func measureCriteria(m *result.Measured, r *metric.Ranking, o EvaluateOptions) error {
	bootstrap := metric.Bootstrap{Confidence: o.Confidence, Replicates: o.Replicates, Seed: o.Seed}
	list := []metric.Criterion{metric.Top()}
	rates := []threshold.Rate{threshold.MustRate("0.01"), threshold.MustRate("0.03")}
	if o.Goal != (metric.Goal{}) {
		if err := o.Goal.Check(); err != nil {
			return err
		}
		value, err := r.Bootstrap(o.Goal.Criterion(), bootstrap)
		if err != nil {
			return err
		}
		m.Goal = &result.GoalValue{Goal: o.Goal, Value: value}
		if tau := o.Goal.Tau(); !tau.IsZero() {
			rates = []threshold.Rate{tau}
		}
	}
	for _, tau := range rates {
		list = append(list, metric.NP(tau), metric.Quantile(tau))
	}
	for _, c := range list {
		value, err := r.Bootstrap(c, bootstrap)
		if err != nil {
			return err
		}
		m.Criteria = append(m.Criteria, value)
	}
	return nil
}

// compareEntries compares the entries by one paired bootstrap.
func (e *Evaluation) compareEntries(o EvaluateOptions) error {
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
			return &diag.Error{Kind: diag.Usage, Param: "against", Found: diag.Quote(o.Against), Expected: "one of " + strings.Join(names, ", ")}
		}
	}
	first := e.rankings[0].scores
	s := metric.PairedScores{PositiveWeights: first.PositiveWeights, NegativeWeights: first.NegativeWeights}
	s.PositiveGroups, s.NegativeGroups, e.Entities = entitiesOf(e.data.table)
	for _, k := range e.rankings {
		s.Positives, s.Negatives = append(s.Positives, k.scores.Positives), append(s.Negatives, k.scores.Negatives)
	}
	paired, err := metric.PairedBootstrap(s, goal.Criterion(), reference,
		metric.Bootstrap{Confidence: o.Confidence, Replicates: o.Replicates, Seed: o.Seed})
	if err != nil {
		return e.data.inFile(err)
	}
	ranked := make([]tune.Ranked, len(e.Entries))
	decided := 0
	for i := range e.Entries {
		r := &e.Entries[i]
		r.Goal, r.Difference, r.Verdict = &result.GoalValue{Goal: goal, Value: paired.Results[i]}, &paired.Differences[i],
			paired.Differences[i].Verdict()
		ranked[i] = tune.Ranked{Name: r.Name, Kind: r.Kind}
		if from := e.rankings[i].origin; from != nil {
			ranked[i].Task, ranked[i].Score = from.task, from.estimate.Mean
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
func (e *Evaluation) pairedGoal(o EvaluateOptions) (metric.Goal, error) {
	goal := o.Goal
	for _, k := range e.rankings {
		if goal == (metric.Goal{}) && k.Model != nil {
			point, _ := k.Model.Point("")
			goal = point.Goal
		}
	}
	return goal, goal.Check()
}

// entitiesOf numbers the groups and returns the number of each row's group by class. Without a group column
// it returns nil.
func entitiesOf(t *table.Table) (positives, negatives []int, entities int) {
	if t.Group == nil {
		return nil, nil, 0
	}
	numbers := map[string]int{}
	positives, negatives = []int{}, []int{}
	for row, value := range t.Group.Values {
		number, known := numbers[value]
		if !known {
			number = len(numbers)
			numbers[value] = number
		}
		if t.Label[row] == table.Positive {
			positives = append(positives, number)
		} else {
			negatives = append(negatives, number)
		}
	}
	return positives, negatives, len(numbers)
}

// membersText lists a model's members with their hyperparameters.
func membersText(m *Model) string {
	members := m.Members()
	list := make([]string, len(members))
	for i := range members {
		list[i] = memberText(&members[i], len(members) > 1)
	}
	return strings.Join(list, "; ")
}

// summaryFacts returns the facts of the summary, which is about the first model's default operating point.
func (e *Evaluation) summaryFacts(prevalence threshold.Rate) summaryFacts {
	p, _ := e.rankings[0].Model.Point("")
	f := summaryFacts{Decisions: e.Points[0].Decisions, Guarantee: p.Guarantee, Warnings: len(e.Warnings),
		Basis:      fmt.Sprintf("these %s rows, %s positive", text.Count(e.Rows), text.Count(e.Positives)),
		Prevalence: e.Prevalence, PrevalenceHere: true, Goal: p.Goal}
	if p.Guarantee == nil {
		f.NoGuarantee = "the threshold came without one"
	}
	if !prevalence.IsZero() {
		f.Prevalence, f.PrevalenceGiven = prevalence.Float64(), true
	}
	return f
}

// byClass returns the scores of labelled rows by class.
func byClass(t *table.Table, z []float64) metric.Scores {
	var s metric.Scores
	for i, class := range t.Label {
		to, weights := &s.Negatives, &s.NegativeWeights
		if class == table.Positive {
			to, weights = &s.Positives, &s.PositiveWeights
		}
		*to = append(*to, z[i])
		if t.Weight != nil {
			*weights = append(*weights, t.Weight[i])
		}
	}
	return s
}

// scoreRows returns the scores of all rows, and counts of missing and unknown values.
func scoreRows(m *Model, d *Data) ([]float64, *feature.Counts, error) {
	scorer := m.TableScorer(feature.Key{})
	z := make([]float64, d.Len())
	if err := scorer.Scores(d.table, z); err != nil {
		return nil, nil, err
	}
	return z, &scorer.Row.Counts, nil
}

// confusionAt counts the decisions of an operating point. If the threshold depends on the segment, it
// replaces each score by 1 or -1, so that a threshold of 0 makes the same decisions.
func confusionAt(p *model.Point, r *metric.Ranking, d *Data, s metric.Scores, confidence float64) (metric.Confusion, error) {
	if p.Segment == "" || d.table.Segment == nil {
		return r.At(p.Threshold, confidence)
	}
	shifted := metric.Scores{PositiveWeights: s.PositiveWeights, NegativeWeights: s.NegativeWeights}
	next := [2]int{}
	for i, class := range d.table.Label {
		from, to := s.Negatives, &shifted.Negatives
		if class == table.Positive {
			from, to = s.Positives, &shifted.Positives
		}
		alarm := -1.0
		if from[next[class]] > p.ThresholdOf(segmentOf(d.table, i)) {
			alarm = 1
		}
		next[class]++
		*to = append(*to, alarm)
	}
	ranking, err := metric.Rank(shifted)
	if err != nil {
		return metric.Confusion{}, err
	}
	c, err := ranking.At(0, confidence)
	c.Threshold = p.Threshold
	return c, err
}

func curveOf(c metric.Curve) result.Curve {
	r := result.Curve{Name: c.Name, X: c.X, Y: c.Y, Area: c.Area}
	for _, p := range c.Points {
		r.Points = append(r.Points, [2]float64{p.X, p.Y})
	}
	return r
}
