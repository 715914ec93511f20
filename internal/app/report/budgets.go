package report

import (
	"fmt"
	"math"
	"slices"

	"toptau/calibrate"
	"toptau/internal/app/plot"
	"toptau/internal/core/text"
	"toptau/method"
	"toptau/metric"
	"toptau/result"
)

// Budgets are what numbers of alerts find on the evaluated rows.
type Budgets struct {
	Rows     []BudgetRow
	Period   string // "day", or "100,000 rows"
	Explorer *Explorer
	Note     string // how they were measured; "": on the rows
}

// BudgetRow is what one budget finds.
type BudgetRow struct {
	Fraction  float64 // of all rows
	PerPeriod float64 // alerts per period
	Threshold float64 // lowest score of the alerts
	Alerts    float64 // number of rows
	Found     metric.Proportion
	Precision metric.Proportion
	Alarms    metric.Proportion // negatives among the alerts
	MaxFalse  *int              // at most this many of the alerts are false, by calibration negatives alone; nil: not known
}

// names returns the names of the texts of a position of the slider.
func (r *BudgetRow) names() []string {
	list := []string{"alerts", "score from", "positives found", "precision", "false alarms"}
	if r.MaxFalse != nil {
		list = append(list, falseAtMost)
	}
	return list
}

// falseAtMost is the name of MaxFalse.
const falseAtMost = "false at most"

// cells returns the texts of a position of the slider.
func (r *BudgetRow) cells() []string {
	list := []string{fmt.Sprintf("%s (%s of all rows)", text.Number(r.Alerts), text.Percent(r.Fraction)), text.Significant(r.Threshold, 6),
		CountedRate(r.Found), CountedRate(r.Precision), CountedRate(r.Alarms)}
	if r.MaxFalse != nil {
		list = append(list, fmt.Sprintf("%s of %s, even without a label", text.Count(*r.MaxFalse), text.Number(r.Alerts)))
	}
	return list
}

// CountedRate returns a rate with its counts and its interval: "63.8 % (128 of 200), 56.7 % to 70.4 %".
func CountedRate(p metric.Proportion) string {
	if !p.Defined() {
		return "none: " + p.Undefined
	}
	line := fmt.Sprintf("%s (%s of %s)", text.Percent(p.Rate), text.Number(p.Numerator), text.Number(p.Denominator))
	if i := p.Interval; i != nil {
		line += fmt.Sprintf(", %s to %s", text.Percent(i.Low), text.Percent(i.High))
	}
	return line
}

// section returns the section of the budget table and the slider.
func (b *Budgets) section() Section {
	s := Section{Title: "What a budget finds"}
	if len(b.Rows) == 0 {
		return s
	}
	if b.Note != "" {
		s.Notes = append(s.Notes, b.Note)
	}
	t := Table{Header: []string{"budget", "alerts per " + b.Period, "score from about", "positives found", "precision"},
		Numbers: []int{0, 1, 2, 3, 4}}
	bounded := b.Rows[0].MaxFalse != nil
	if bounded {
		t.Header, t.Numbers = append(t.Header, falseAtMost), append(t.Numbers, len(t.Numbers))
		s.Notes = append(s.Notes, "False at most: a bound from the scores of calibration negatives alone, which also works for rows without labels. The bounds of all "+
			"lengths hold together with 95 % confidence, if these negatives come from the same distribution.")
	}
	rate := func(p metric.Proportion) string {
		if !p.Defined() {
			return "none"
		}
		line := text.Percent(p.Rate)
		if p.Interval != nil {
			line += fmt.Sprintf(" (%s to %s)", text.Percent(p.Interval.Low), text.Percent(p.Interval.High))
		}
		return line
	}
	for _, r := range b.Rows {
		cells := []string{text.Percent(r.Fraction), text.Number(r.PerPeriod), text.Significant(r.Threshold, 4), rate(r.Found), rate(r.Precision)}
		if bounded {
			cells = append(cells, fmt.Sprintf("%s of %s", text.Count(*r.MaxFalse), text.Number(r.Alerts)))
		}
		t.Rows = append(t.Rows, cells)
	}
	s.Tables = []Table{t}
	return s
}

// weightedNote explains observed fractions that are not the quotients of the counts.
const weightedNote = "The observed fractions are weighted, so they differ from the quotients of the counts: held-out rows of a training are weighted " +
	"to the fraction of positives of all training rows, and measured rows by their column of weights."

// reliabilitySection returns the section of probabilities.
func reliabilitySection(list []calibrate.Reliability) Section {
	s := Section{Title: "Probabilities"}
	if len(list) == 0 {
		return s
	}
	weighted := slices.ContainsFunc(list, func(r calibrate.Reliability) bool {
		return math.Abs(r.Observed-float64(r.Positives)/float64(r.Rows)) > 1e-6 // far above a rounding
	})
	what, observed := "fraction that is positive", "observed"
	if weighted {
		what, observed = "weighted fraction that is positive", "observed, weighted"
		s.Notes = []string{weightedNote}
	}
	d := &plot.DotPlot{X: plot.Axis{Label: what, Unit: plot.Percent, Min: 0, Max: 1}, Text: plot.Caption{
		Title: "Predicted and observed", Note: "Rows are grouped by their predicted probability. A dot is the observed fraction of the group.",
		Description: "Observed fractions of positives for groups of rows with similar predicted probabilities. The table has the numbers."}}
	t := Table{Header: []string{"predicted", "rows", "positive", observed, "interval"}, Numbers: []int{0, 1, 2, 3}}
	for _, r := range list {
		d.Rows = append(d.Rows, plot.Dot{Name: "predicted " + text.Percent(r.Predicted), Value: r.Observed, Interval: &[2]float64{r.Low, r.High}})
		t.Rows = append(t.Rows, []string{text.Percent(r.Predicted), text.Count(r.Rows), text.Count(r.Positives), text.Percent(r.Observed),
			text.Percent(r.Low) + " to " + text.Percent(r.High)})
	}
	s.Figures, s.Tables = []plot.Figure{d}, []Table{t}
	return s
}

// learningSection returns the section of models of fewer rows.
func learningSection(points []result.LearningPoint) Section {
	s := Section{Title: "What more rows would bring"}
	if len(points) == 0 {
		return s
	}
	curve := Curve{}
	t := Table{Header: []string{"rows", "positive", "positives found", "interval", "points against all rows"}, Numbers: []int{0, 1, 2}}
	for _, p := range points {
		curve.Points = append(curve.Points, [2]float64{float64(p.Rows), p.Value.Rate})
		line := []string{text.Count(p.Rows), text.Count(p.Positives), text.Percent(p.Value.Rate), "", ""}
		if i := p.Value.Interval; i != nil {
			curve.Low, curve.High = append(curve.Low, i.Low), append(curve.High, i.High)
			line[3] = text.Percent(i.Low) + " to " + text.Percent(i.High)
		}
		if d := p.Difference; d != nil && d.Interval != nil {
			line[4] = fmt.Sprintf("%s (%s to %s)", text.Points(d.Rate), text.Points(d.Interval.Low), text.Points(d.Interval.High))
		}
		t.Rows = append(t.Rows, line)
	}
	p := newCurvePlot([]Curve{curve}, plot.Line)
	p.Text = plot.Caption{Title: "Learning curve", Note: "The band shows the interval at each size separately.",
		Description: "Positives found by models of fewer rows, on the same other rows. The table has the numbers."}
	p.X = plot.Axis{Label: "rows for training", Scale: plot.Logarithmic}
	p.Y = plot.Axis{Label: "positives found", Unit: plot.Percent, Min: 0, Max: 1}
	s.Figures, s.Tables = []plot.Figure{p}, []Table{t}
	return s
}

// CriterionText names what a goal's criterion measures. what is counted: positives, or the column of amounts.
func CriterionText(g metric.Goal, what string) string {
	switch g.Kind {
	case metric.GoalMaxFPR:
		return fmt.Sprintf("%s found at %s false alarms", what, text.Percent(g.Tau().Float64()))
	case metric.GoalAbsoluteTop:
		return what + " above every negative"
	case metric.GoalMinPrecision:
		return fmt.Sprintf("%s found with %s of the alerts real", what, text.Percent(g.Rate.Float64()))
	case metric.GoalMinRecall:
		return fmt.Sprintf("negatives without an alert, with %s of the positives found", text.Percent(g.Rate.Float64()))
	case metric.NoGoal:
		return what + " found"
	}
	return fmt.Sprintf("%s found in the top %s of the rows", what, text.Percent(g.Tau().Float64()))
}

// FoundTitle says what a threshold finds: "At 1 % false alarms 69 of 100 positives are found".
func FoundTitle(c *metric.Confusion, g metric.Goal) string {
	found, alarms := c.TruePositiveRate, c.FalsePositiveRate
	if !found.Defined() || !alarms.Defined() {
		return ""
	}
	count := text.Percent(found.Rate)
	if whole := 100 * found.Rate; whole >= 1 && whole <= 99 {
		count = fmt.Sprintf("%.0f of 100", whole)
	}
	at := text.Percent(alarms.Rate) + " false alarms"
	if g.Population() == method.AllRows {
		at = text.Percent(c.AlertRate.Rate) + " alerts"
	}
	line := fmt.Sprintf("At %s %s positives are found", at, count)
	if found.Rate == 1 {
		line = fmt.Sprintf("At %s all positives are found", at)
	}
	return line
}

// CandidateSection returns the section of the candidates of a training: the best setting of each learner on each
// encoding.
func CandidateSection(r *result.Training) Section {
	s := Section{Title: "How the model was chosen", Paragraphs: []string{r.Why + "."}}
	members := map[int]bool{}
	for _, m := range r.Members {
		members[m.Candidate] = true
	}
	t := Table{Header: []string{"learner", "encoding", "positives found", "setting"}, Numbers: []int{2}}
	d := &plot.DotPlot{X: plot.Axis{Label: "positives found, mean over budgets and folds", Unit: plot.Percent}, Text: plot.Caption{
		Title: "Candidates in the cross-validation", Note: "Intervals are one standard error to each side.",
		Description: "Cross-validated criterion of each learner on each encoding. The table has the numbers."}}
	best, order := map[[2]string]int{}, [][2]string{}
	for i := range r.Candidates {
		c := &r.Candidates[i]
		key := [2]string{string(c.Method), c.Features()}
		if c.CrossValidation == nil || c.Constant {
			continue
		}
		if at, known := best[key]; !known {
			best[key] = i
			order = append(order, key)
		} else if c.CrossValidation.Mean > r.Candidates[at].CrossValidation.Mean {
			best[key] = i
		}
	}
	for _, key := range order {
		i := best[key]
		c := &r.Candidates[i]
		if members[i] {
			t.Strong = append(t.Strong, len(t.Rows))
		}
		v := c.CrossValidation
		t.Rows = append(t.Rows, []string{key[0], key[1], text.PlusMinus(v.Mean, v.StandardError), c.Problem.Hyperparameters()})
		d.Rows = append(d.Rows, plot.Dot{Name: key[0] + " on " + key[1], Value: v.Mean, Chosen: members[i],
			Interval: &[2]float64{max(0, v.Mean-v.StandardError), min(1, v.Mean+v.StandardError)}})
	}
	if len(t.Rows) > 0 {
		s.Figures, s.Tables = []plot.Figure{d}, []Table{t}
	}
	return s
}
