package toptau

import (
	"fmt"
	"io"
	"strconv"

	"toptau/internal/report"
	"toptau/metric"
	"toptau/model"
)

// reportPoints is the number of points that a report draws of a curve, reportBins that of its histogram.
const (
	reportPoints = 400
	reportBins   = 50
)

// WriteReport writes the evaluation as one self-contained HTML page: the operating points and their guarantees, curves,
// scores by class, data and model. It needs no network.
func (e *Evaluation) WriteReport(w io.Writer) error {
	m, r := e.model, e.ranking
	f := report.Findings{Title: "Classification at the top", Summary: e.Summary}
	if e.Goal != nil {
		f.Lead = e.Goal.Words
		f.Budget = e.budget()
	}
	for i := range m.Points {
		f.Points = append(f.Points, report.OperatingPoint{Point: m.Points[i], Decisions: &e.Points[i].Decisions})
	}
	for _, c := range []struct {
		to    *[]report.Curve
		curve metric.Curve
	}{{&f.ROC, r.ROC()}, {&f.PR, r.PR()}, {&f.PTau, r.PTau()}} {
		*c.to = []report.Curve{report.CurveOf("this model", c.curve.Corners().Downsample(reportPoints))}
	}
	f.Recall = []report.Curve{recallByBudget(r)}
	f.Scores = report.HistogramOf(e.scores, &m.Points[0].Threshold, reportBins)
	f.Data = e.dataFacts()
	f.Model = modelFacts(m)
	for _, warning := range e.Warnings {
		f.Warnings = append(f.Warnings, warning.Text)
	}
	_, err := f.Page().WriteTo(w)
	return err
}

// budget is the goal as a line in the figures.
func (e *Evaluation) budget() *report.Budget {
	goal, err := metric.ParseGoal(e.Goal.Goal)
	if err != nil || goal.Tau().IsZero() {
		return nil
	}
	return &report.Budget{Name: "budget " + goal.Tau().String(), Rate: goal.Tau().Float64(),
		OfRows: goal.Criterion().Name == metric.AtQuantile}
}

// recallByBudget is the share of positives found against the share of all rows looked at.
func recallByBudget(r *metric.Ranking) report.Curve {
	c := report.Curve{Name: "this model"}
	for _, p := range r.PTau().Corners().Downsample(reportPoints).Points {
		// Precision times the rows looked at is the number of positives found.
		found := p.Y * p.X * (r.PositiveMass() + r.NegativeMass())
		c.Points = append(c.Points, [2]float64{p.X, found / r.PositiveMass()})
	}
	return c
}

func (e *Evaluation) dataFacts() []report.Fact {
	return []report.Fact{
		{Name: "rows", Value: strconv.Itoa(e.N)},
		{Name: "positives", Value: strconv.Itoa(e.NPos)},
		{Name: "distinct scores", Value: strconv.Itoa(e.Distinct)},
		{Name: "AUC", Value: fmt.Sprintf("%.4f", e.AUC)},
		{Name: "missing values", Value: strconv.Itoa(e.Missing)},
		{Name: "values unknown to the model", Value: strconv.Itoa(e.Unknown)},
		{Name: "digest", Value: e.data.digest(), Code: true},
	}
}

// modelFacts lists how the model came about.
func modelFacts(m *model.Model) []report.Fact {
	facts := []report.Fact{
		{Name: "trained on", Value: fmt.Sprintf("%d rows, %d positive", m.Training.Rows, m.Training.Positives)},
		{Name: "training data", Value: m.Training.Digest, Code: true},
		{Name: "features", Value: strconv.Itoa(m.Features.Len())},
		{Name: "seed", Value: strconv.FormatUint(m.Training.Seed, 10)},
	}
	for _, member := range m.Members {
		text := fmt.Sprintf("%s (%s), lambda %v", member.Method, member.Surrogate, member.Lambda)
		if !member.Tau.IsZero() {
			text += ", tau " + member.Tau.String()
		}
		if member.Beta != 0 {
			text += fmt.Sprintf(", beta %v", member.Beta)
		}
		if member.K != 0 {
			text += fmt.Sprintf(", k %d", member.K)
		}
		facts = append(facts, report.Fact{Name: "method", Value: text}, report.Fact{Name: "solver", Value: member.Solver.Name})
		if c := member.Certificate; c != nil {
			bound := "no certificate"
			if c.LowerBound != nil {
				bound = fmt.Sprintf("at least %.8g for every w", *c.LowerBound)
			}
			facts = append(facts, report.Fact{Name: "objective", Value: fmt.Sprintf("%.8g, %s", c.Objective, bound)})
		}
	}
	return facts
}
