package toptau

import (
	"cmp"
	"fmt"
	"slices"

	"toptau/calibrate"
	"toptau/diag"
	"toptau/internal/table"
	"toptau/internal/tune"
	"toptau/method"
	"toptau/metric"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
	"toptau/threshold"
)

// ThresholdOptions are the choices of Threshold and AddPoint.
type ThresholdOptions struct {
	Goal     metric.Goal
	Delta    threshold.Rate // of the guarantee: it may fail with this probability; zero: a plain threshold without one
	Segments bool           // a threshold for each value of Format.Segment, each at Delta

	AllowTrainingRows bool // AddPoint: certify even on rows of which the model's fingerprints say that they trained it
}

// ThresholdReport is a threshold with the evidence behind it: the object that threshold --json prints. The decision is
// score > threshold.
type ThresholdReport struct {
	SchemaVersion int              `json:"schema_version"`
	Threshold     float64          `json:"threshold"`
	Goal          metric.Goal      `json:"goal"`
	Delta         *string          `json:"delta"`
	Certified     bool             `json:"certified"`
	Reason        *string          `json:"reason"`      // why it is not certified
	Population    string           `json:"population"`  // the rows whose scores gave it: negatives or all
	NNegatives    int              `json:"n_negatives"` // of the calibration rows
	N             int              `json:"n"`           // rows of the population
	Order         *int             `json:"order"`       // the threshold is the order-th smallest score of the population
	Bound         *float64         `json:"bound"`       // the exact binomial tail; absolute-top: the bounded rate
	Needed        *int             `json:"needed"`      // the fewest rows with which the goal can be certified
	Segments      []SegmentReport  `json:"segments"`
	Expected      ExpectedRate     `json:"expected"`      // what to expect of the threshold on new rows like these
	OverTime      *TrendReport     `json:"over_time"`     // null: no time column
	TrainingRows  *OverlapReport   `json:"training_rows"` // null: no model, or one without fingerprints
	Joined        *result.Joined   `json:"joined"`        // how scores from a file of their own found their rows; null for others
	Warnings      []Warning        `json:"warnings"`
	guarantee     *model.Guarantee // of the model's point
}

// SegmentReport is the threshold of one segment. Joint confidence: all segments hold together with probability at least
// 1 - (number of segments) delta.
type SegmentReport struct {
	Value      string   `json:"value"`
	Threshold  float64  `json:"threshold"`
	Certified  bool     `json:"certified"`
	Reason     *string  `json:"reason"`
	NNegatives int      `json:"n_negatives"`
	Order      *int     `json:"order"`
	Bound      *float64 `json:"bound"`
	guarantee  *model.Guarantee
}

// Threshold computes a threshold for scores of anybody's model: d has a numeric column of scores, named score, and labels.
// The guarantee holds when the rows were drawn like the ones to come and neither fitted nor chose the model.
//
// When the guarantee asked for cannot be given, the report has the plain threshold and the error, of kind
// diag.Guarantee, says why.
func Threshold(d *Data, score string, o ThresholdOptions) (*ThresholdReport, error) {
	i := slices.IndexFunc(d.table.Columns, func(c table.Column) bool { return c.Name == score })
	if i < 0 || d.table.Columns[i].Kind == schema.Categorical {
		var names []string
		for _, c := range d.table.Columns {
			if c.Kind != schema.Categorical {
				names = append(names, c.Name)
			}
		}
		return nil, &diag.Error{Kind: diag.Usage, File: d.table.File, Found: "no column of scores " + diag.Quote(score),
			Expected: fmt.Sprintf("one of the numeric columns %q", names), Hint: "--score COL"}
	}
	scores := d.table.Columns[i].AllValues()
	for row, z := range scores {
		if z != z {
			return nil, &diag.Error{Kind: diag.Data, File: d.table.File, Line: d.table.LineOf(row), Column: score,
				Found: "a missing score", Expected: "a number"}
		}
	}
	return calibrateRows(d, scores, "", o)
}

// ThresholdOf is Threshold for an entry: scores in a file of their own, which are joined to the rows of d.
func ThresholdOf(d *Data, e Entry, o ThresholdOptions) (*ThresholdReport, error) {
	s, err := e.score(d)
	if err != nil {
		return nil, err
	}
	r, guarantee := calibrateRows(d, s.values, "", o)
	if r != nil {
		r.Joined = s.joined
	}
	return r, guarantee
}

// AddPoint returns a copy of the model with a further operating point, computed on d, and the point's report. The model
// itself is not changed. The error is as that of Threshold; the model then has the plain threshold.
func AddPoint(m *model.Model, d *Data, name string, o ThresholdOptions) (*model.Model, *ThresholdReport, error) {
	if _, found := m.Point(name); found && name != "" {
		return nil, nil, &diag.Error{Kind: diag.Usage, Found: "operating point " + diag.Quote(name) + " in the model",
			Expected: "a new name", Hint: "--name NAME"}
	}
	z, _, err := scoreRows(m, d)
	if err != nil {
		return nil, nil, d.inFile(err)
	}
	known := overlap(m, d)
	r, guarantee := calibrateRows(d, z, reasonAgainst(m, d, known, o), o)
	if r == nil {
		return nil, nil, guarantee
	}
	r.TrainingRows = known
	r.Warnings = append(r.Warnings, d.warnings()...)
	point := model.Point{Name: name, Threshold: r.Threshold, Goal: o.Goal, Guarantee: r.guarantee,
		Source: fmt.Sprintf("%d calibration rows, %d negative", d.Rows(), r.NNegatives)}
	if known != nil && known.Excess {
		text := overlapWarning(known, d.Rows())
		r.Warnings = append(r.Warnings, Warning{Code: "training-rows", Text: text})
		point.Source += "; " + text
	}
	r.Warnings = append(r.Warnings, sameCalibration(m, r.guarantee)...)
	if o.Segments {
		point.Segment = d.table.Segment.Name
		for _, s := range r.Segments {
			point.Segments = append(point.Segments, model.Segment{Value: s.Value, Threshold: s.Threshold, Guarantee: s.guarantee})
		}
	}
	further, err := m.WithPoint(point)
	if err != nil {
		return nil, nil, err
	}
	return further, r, guarantee
}

// reasonAgainst says why rows cannot certify a threshold of the model; "" when nothing speaks against it.
func reasonAgainst(m *model.Model, d *Data, known *OverlapReport, o ThresholdOptions) string {
	switch {
	case trainedOn(m, d):
		return "these are the rows that the model was trained on"
	case known != nil && known.Excess && !o.AllowTrainingRows:
		return overlapWarning(known, d.Rows()) + "; --allow-training-rows if these are other rows with equal values"
	}
	return ""
}

// trainedOn reports whether d is the file that the model was trained on.
func trainedOn(m *model.Model, d *Data) bool {
	digest := m.Training().Digest
	return digest != "" && digest == d.digest()
}

// sameCalibration warns when the rows of a guarantee have calibrated another point of the model before. Each of the guarantees
// holds by itself, since neither threshold has been seen by the other; both together hold with less confidence.
func sameCalibration(m *model.Model, g *model.Guarantee) []Warning {
	var list []Warning
	for _, p := range m.Points() {
		if g != nil && p.Guarantee != nil && g.Calibration.Same(p.Guarantee.Calibration) {
			list = append(list, Warning{Code: "joint-confidence", Text: fmt.Sprintf("these rows also calibrated %s: each guarantee holds with its own "+
				"confidence, both together with at least %s", p.Name,
				metric.ConfidenceText(g.Delta.Float64()+p.Guarantee.Delta.Float64()))})
		}
	}
	return list
}

// calibrateRows computes the threshold on rows with the given scores. against is a reason against a guarantee.
func calibrateRows(d *Data, z []float64, against string, o ThresholdOptions) (*ThresholdReport, error) {
	if err := o.Goal.Check(); err != nil {
		return nil, err
	}
	if o.Segments && d.table.Segment == nil {
		return nil, &diag.Error{Kind: diag.Usage, Found: "thresholds per segment without a segment column", Expected: "--segment COL"}
	}
	if against == "" {
		against = tune.AgainstGuarantee(d.table, o.Goal.Criterion().Name == metric.AtQuantile, false)
	}
	at, t, guarantee := calibration(d, z, nil, against, o)
	if t == nil {
		return nil, guarantee
	}
	population, n := t.Population(), t.N()
	r := &ThresholdReport{SchemaVersion: SchemaVersion, Threshold: at, Goal: o.Goal, Certified: t.Certified,
		Population: population.String(), N: n, NNegatives: d.info.Negatives, Segments: []SegmentReport{}, Warnings: []Warning{},
		Expected:  ExpectedRate{Expectation: t.Expected(metric.DefaultConfidence), Scheme: string(tune.SchemeHeldOut), Population: population.String(), Rows: n},
		guarantee: guaranteeOf(t, d.info.Negatives)}
	if t.Certified {
		r.Expected.Scheme = string(tune.SchemeCertified)
	}
	if !o.Delta.IsZero() {
		delta := o.Delta.String()
		r.Delta = &delta
	}
	r.Reason, r.Order, r.Bound = evidence(t, guarantee)
	if t.Needed > 0 {
		r.Needed = &t.Needed
	}
	var drift *Warning
	var err error
	if r.OverTime, drift, err = calibrationOverTime(d.table, z, population); err != nil {
		return nil, err
	}
	if drift != nil {
		r.Warnings = append(r.Warnings, *drift)
	}
	if o.Segments {
		if err := r.segments(d, z, against, o); err != nil && guarantee == nil {
			guarantee = err
		}
	}
	return r, guarantee
}

// evidence turns what is known of a threshold into fields that are null where it is not.
func evidence(t *calibrate.Guarantee, guarantee error) (reason *string, order *int, bound *float64) {
	if e := diag.Of(guarantee); e != nil {
		text := e.Error()
		reason = &text
	}
	if t.Certified {
		order, bound = &t.Order, &t.Bound
	}
	return reason, order, bound
}

// segments adds a threshold for each value of the segment column. The error is the first guarantee that cannot be given.
func (r *ThresholdReport) segments(d *Data, z []float64, against string, o ThresholdOptions) error {
	rows := map[string][]int{}
	for i, value := range d.table.Segment.Values {
		rows[value] = append(rows[value], i)
	}
	var values []string
	for value := range rows {
		values = append(values, value)
	}
	slices.SortFunc(values, cmp.Compare)
	var first error
	certified := 0
	for _, value := range values {
		at, t, guarantee := calibration(d, z, rows[value], against, o)
		if e := diag.Of(guarantee); e != nil {
			named := *e
			named.Found = fmt.Sprintf("segment %q: %s", value, e.Found)
			guarantee = &named
		}
		if first == nil {
			first = guarantee
		}
		if t == nil { // no negatives at all: the threshold of all rows has to do
			r.Warnings = append(r.Warnings, Warning{Code: "segment-without-negatives",
				Text: fmt.Sprintf("segment %q has no rows to calibrate on: it uses the threshold of all rows", value)})
			continue
		}
		if t.Certified {
			certified++
		}
		s := SegmentReport{Value: value, Threshold: at, Certified: t.Certified}
		s.Reason, s.Order, s.Bound = evidence(t, guarantee)
		for _, i := range rows[value] {
			if d.table.Label[i] == table.Negative {
				s.NNegatives++
			}
		}
		s.guarantee = guaranteeOf(t, s.NNegatives)
		r.Segments = append(r.Segments, s)
	}
	if certified > 1 {
		r.Warnings = append(r.Warnings, Warning{Code: "joint-confidence",
			Text: fmt.Sprintf("each of the %d certified segments holds with a confidence of %s; all of them together with at least %s", certified,
				metric.ConfidenceText(o.Delta.Float64()), metric.ConfidenceText(float64(float64(certified)*o.Delta.Float64())))})
	}
	return first
}

// calibration computes the threshold on some rows (nil: all).
func calibration(d *Data, z []float64, rows []int, against string, o ThresholdOptions) (float64, *calibrate.Guarantee, error) {
	var negatives, all population
	take := func(i int) {
		all.add(d.table, z, i)
		if d.table.Label[i] == table.Negative {
			negatives.add(d.table, z, i)
		}
	}
	if rows == nil {
		for i := range z {
			take(i)
		}
	}
	for _, i := range rows {
		take(i)
	}
	at, g, err := thresholdOn(negatives, all, o, against == "")
	if err != nil && diag.Of(err) != nil && diag.Of(err).Kind == diag.Guarantee {
		return at, &g, err
	}
	if err != nil {
		return 0, nil, err
	}
	if against != "" && !o.Delta.IsZero() {
		g.Certified = false
		return at, &g, &diag.Error{Kind: diag.Guarantee, Found: "no guarantee: " + against,
			Expected: "held-out rows that were used for nothing else", Hint: "the plain threshold is given instead"}
	}
	return at, &g, nil
}

// population is scores with their weights; nil weights are all 1.
type population struct{ scores, weights []float64 }

func (p *population) add(t *table.Table, z []float64, i int) {
	p.scores = append(p.scores, z[i])
	if t.Weight != nil {
		p.weights = append(p.weights, t.Weight[i])
	}
}

// thresholdOn is the rule of the goal on the scores of its population.
func thresholdOn(negatives, all population, o ThresholdOptions, certify bool) (float64, calibrate.Guarantee, error) {
	certify = certify && !o.Delta.IsZero()
	tau := o.Goal.Tau()
	switch o.Goal.Kind {
	case metric.GoalMaxFPR:
		if certify {
			return calibrate.NeymanPearson(negatives.scores, tau, o.Delta)
		}
		return calibrate.PlainWeighted(negatives.scores, negatives.weights, tau, method.Negatives)
	case metric.GoalAbsoluteTop:
		delta := o.Delta
		if delta.IsZero() {
			delta = threshold.MustRate("5%") // the threshold, the largest negative, does not depend on it
		}
		at, g, err := calibrate.AbsoluteTop(negatives.scores, delta)
		g.Certified = g.Certified && certify
		return at, g, err
	}
	if certify {
		return calibrate.TopShare(all.scores, tau, o.Delta)
	}
	return calibrate.PlainWeighted(all.scores, all.weights, tau, method.AllRows)
}

// guaranteeOf returns the evidence in the form of a model; nil without a guarantee.
func guaranteeOf(g *calibrate.Guarantee, negatives int) *model.Guarantee {
	if !g.Certified {
		return nil
	}
	kept := *g
	kept.Negatives = negatives
	return &kept
}
