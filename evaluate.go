package toptau

import (
	"fmt"

	"toptau/internal/feature"
	"toptau/internal/table"
	"toptau/metric"
	"toptau/model"
	"toptau/threshold"
)

// EvaluateOptions are the choices of Evaluate.
type EvaluateOptions struct {
	Goal       metric.Goal // zero: the three criteria at the paper's rates 0.01 and 0.03
	Confidence float64     // of the intervals; 0: 0.95
	Replicates int         // of the bootstrap; 0: 2000
	Seed       uint64
	Prevalence threshold.Rate // the share of positives that the summary assumes; unset: that of the rows
	Curves     int            // at most so many points a curve; 0: no curves
}

// Evaluation is a model measured on labelled data: the object that evaluate --json prints.
type Evaluation struct {
	SchemaVersion int               `json:"schema_version"`
	N             int               `json:"n"`
	NPos          int               `json:"n_pos"`
	Prevalence    float64           `json:"prevalence"` // n_pos/n, or the same of masses
	Weighted      bool              `json:"weighted"`
	AUC           float64           `json:"auc"`         // ties count one half
	AUCAgainst    float64           `json:"auc_against"` // ties count against the model
	Distinct      int               `json:"distinct_scores"`
	Goal          *GoalEvaluation   `json:"goal"`
	Criteria      []metric.Result   `json:"criteria"`      // thresholds from these rows themselves, bootstrap intervals
	Points        []PointEvaluation `json:"points"`        // the model's thresholds on these rows
	TrainingRows  *OverlapReport    `json:"training_rows"` // how many of these rows trained the model; null: it has no fingerprints
	Summary       []string          `json:"summary"`       // what the first point does, for people who decide
	Curves        []CurveReport     `json:"curves"`
	Missing       int               `json:"missing_values"`
	Unknown       int               `json:"unknown_values"`
	SecondsRead   float64           `json:"seconds_read"`
	Warnings      []Warning         `json:"warnings"`

	model   *model.Model // what WriteReport needs besides
	data    *Data
	ranking *metric.Ranking
	scores  metric.Scores
}

// GoalEvaluation is the goal's criterion on these rows.
type GoalEvaluation struct {
	Goal  metric.Goal   `json:"goal"`
	Value metric.Result `json:"value"`
}

// PointEvaluation is what an operating point's threshold, chosen elsewhere, does to these rows.
type PointEvaluation struct {
	Name string      `json:"name"`
	Goal metric.Goal `json:"goal"`

	Decisions metric.Confusion `json:"decisions"` // score > threshold
	Shift     []ShiftReport    `json:"shift"`     // calibration against these rows, for each guarantee; empty: nothing to compare
}

// CurveReport is a curve for plotting. Area is that of the exact curve.
type CurveReport struct {
	Name   string       `json:"name"`
	X      string       `json:"x"`
	Y      string       `json:"y"`
	Area   float64      `json:"area"`
	Points [][2]float64 `json:"points"`
}

// Evaluate measures a model on labelled data: criteria whose threshold comes from the rows themselves, with the bootstrap
// of both classes, and the model's own thresholds, with exact intervals.
func Evaluate(m *model.Model, d *Data, o EvaluateOptions) (*Evaluation, error) {
	z, counts, err := scoreRows(m, d)
	if err != nil {
		return nil, d.inFile(err)
	}
	scores := byClass(d.table, z)
	r, err := metric.Rank(scores)
	if err != nil {
		return nil, err
	}
	positives, negatives := r.Rows()
	auc := r.AUC()
	e := &Evaluation{
		SchemaVersion: SchemaVersion, N: positives + negatives, NPos: positives, Weighted: r.Weighted(),
		Prevalence: r.PositiveMass() / (r.PositiveMass() + r.NegativeMass()), AUC: auc.Half, AUCAgainst: auc.Against,
		Distinct: r.Groups(), Curves: []CurveReport{}, SecondsRead: d.seconds, Warnings: d.warnings(),
		model: m, data: d, ranking: r, scores: scores,
		Missing: sum(counts.Missing), Unknown: sum(counts.Unknown) + counts.UnknownIndices,
	}
	e.recognise()
	if err := e.criteria(r, o); err != nil {
		return nil, err
	}
	points := m.Points()
	for i := range points {
		p := &points[i]
		c, err := confusionAt(p, r, d, scores, o.Confidence)
		if err != nil {
			return nil, err
		}
		watch := newShiftWatch(p, true)
		for row, z := range z {
			watch.add(d.table, row, z)
		}
		shift, warnings := watch.reports(m.Training())
		e.Points = append(e.Points, PointEvaluation{p.Name, p.Goal, c, shift})
		e.Warnings = append(e.Warnings, warnings...)
	}
	if len(points) > 0 {
		e.Summary = summary(e.facts(o.Prevalence))
	}
	if o.Curves > 0 {
		for _, c := range []metric.Curve{r.ROC(), r.PR(), r.PTau()} {
			e.Curves = append(e.Curves, curveReport(c.Corners().Downsample(o.Curves)))
		}
	}
	return e, nil
}

// recognise looks for rows that trained the model.
func (e *Evaluation) recognise() {
	e.TrainingRows = overlap(e.model, e.data)
	text := ""
	switch {
	case e.TrainingRows != nil && e.TrainingRows.Excess:
		text = e.TrainingRows.words(e.N)
	case e.TrainingRows == nil && trainedOn(e.model, e.data):
		text = "these are the rows that the model was trained on"
	default:
		return
	}
	e.Warnings = append(e.Warnings, Warning{Code: "training-rows", Text: text + "; new rows are met with less success than these"})
}

// facts is what the summary is made from: the first operating point on these rows.
func (e *Evaluation) facts(prevalence threshold.Rate) summaryFacts {
	p, _ := e.model.Point("")
	f := summaryFacts{Decisions: e.Points[0].Decisions, Guarantee: p.Guarantee, Warnings: len(e.Warnings),
		Basis:      fmt.Sprintf("these %s rows, %s positive", commas(float64(e.N)), commas(float64(e.NPos))),
		Prevalence: e.Prevalence, PrevalenceHere: true}
	if p.Guarantee == nil {
		f.NoGuarantee = "the threshold came without one"
	}
	f.Goal = p.Goal
	if !prevalence.IsZero() {
		f.Prevalence, f.PrevalenceGiven = prevalence.Float64(), true
	}
	return f
}

// criteria measures the goal's criterion and the paper's three.
func (e *Evaluation) criteria(r *metric.Ranking, o EvaluateOptions) error {
	bootstrap := metric.Bootstrap{Confidence: o.Confidence, Replicates: o.Replicates, Seed: o.Seed}
	list := []metric.Criterion{metric.Top()}
	rates := []threshold.Rate{threshold.MustRate("0.01"), threshold.MustRate("0.03")}
	if o.Goal != (metric.Goal{}) {
		value, err := r.Bootstrap(o.Goal.Criterion(), bootstrap)
		if err != nil {
			return err
		}
		e.Goal = &GoalEvaluation{o.Goal, value}
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
		e.Criteria = append(e.Criteria, value)
	}
	return nil
}

// byClass divides the scores of labelled rows.
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

// scoreRows scores all rows in their order.
func scoreRows(m *model.Model, d *Data) ([]float64, *feature.Counts, error) {
	scorer := m.TableScorer(feature.Key{})
	z := make([]float64, d.Rows())
	if err := scorer.Scores(d.table, z); err != nil {
		return nil, nil, err
	}
	return z, &scorer.Row.Counts, nil
}

// confusionAt counts the decisions of an operating point. Where its threshold differs between segments, each row's score is
// replaced by its distance to its threshold, so that one cut at 0 makes the same decisions.
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
		if from[next[class]] > thresholdFor(p, d.table, i) {
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

func curveReport(c metric.Curve) CurveReport {
	r := CurveReport{Name: c.Name, X: c.X, Y: c.Y, Area: c.Area}
	for _, p := range c.Points {
		r.Points = append(r.Points, [2]float64{p.X, p.Y})
	}
	return r
}
