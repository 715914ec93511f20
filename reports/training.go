package reports

import (
	"context"
	"fmt"
	"io"

	"toptau"
	"toptau/dataset"
	"toptau/internal/app/findings"
	"toptau/internal/app/plot"
	"toptau/internal/app/report"
	"toptau/internal/core/ranking"
	"toptau/internal/core/text"
	"toptau/internal/models/wording"
	"toptau/internal/training/ranked"
	"toptau/measure"
	"toptau/metric"
)

// WriteTraining writes the training as one self-contained HTML page: what to expect, the candidates, the learning
// curve, and the model. With a test part it has everything that Write shows about these rows.
// Otherwise the curves come from held-out scores: of training rows that did not fit the scores, but helped to
// choose the model. date is shown below the title; "" for none.
func WriteTraining(ctx context.Context, w io.Writer, t *toptau.Trained, date string) error {
	f, err := trainingFindings(ctx, t, date)
	if err != nil {
		return err
	}
	r := &t.Result
	f.Summary, f.Claim, f.Learning = r.Summary, ranked.OfTraining(t).Claim, r.LearningCurve
	f.Sections = append([]report.Section{report.CandidateSection(r)}, f.Sections...)
	f.Warnings = nil
	for _, warning := range r.Warnings {
		f.Warnings = append(f.Warnings, warning.Text)
	}
	_, err = f.Page().WriteTo(w)
	return err
}

// findings returns what the report shows about the rows that measure the model.
func trainingFindings(ctx context.Context, t *toptau.Trained, date string) (*report.Findings, error) {
	if t.Test != nil && t.Test.Positives() > 0 && t.Test.Len() > t.Test.Positives() {
		e, err := measure.Evaluate(ctx, t.Test, []dataset.Entry{{Name: "test part", Model: t.Model}},
			measure.Options{Seed: t.Result.Seed, ReportDate: date,
				Value: t.Result.Value})
		if err != nil {
			return nil, err
		}
		return evaluationFindings(e, nil)
	}
	point, _ := t.Model.Point("")
	f := &report.Findings{Title: report.FoundTitle(&t.Result.OutOfFoldDecisions, point.Goal), Model: report.ModelFacts(t.Model),
		About: []string{fmt.Sprintf("%s training rows", text.Count(t.Result.Training.Rows))},
		Data:  report.SchemaFacts(ranked.OfTraining(t).Data.Info.Schema, ranked.OfTraining(t).Data.Len(), ranked.OfTraining(t).Data.Positives())}
	if date != "" {
		f.About = append(f.About, date)
	}
	c := &t.Result.OutOfFoldDecisions
	f.Points, f.Expected = []report.OperatingPoint{{Point: point, Decisions: c}}, &t.Result.Expected
	if c.Mixed {
		f.Points[0].Note = "The precision is for " + wholeText(t) +
			", at the rate of false alarms that is expected on new ones where the goal limits it. " +
			"Its counts are weighted, the others are those of the rows that measured."
	}
	if p := t.Model.Probability(); p != nil {
		f.Reliability = p.Reliability
	}
	findings.SetGoal(f, point.Goal)
	if err := addHeldOut(t, f, point.Threshold, point.Goal); err != nil {
		return nil, err
	}
	var err error
	f.Shapes, f.Pairs, err = findings.MainShapes(t.Model, ranked.OfTraining(t).Data.Arranged(t.Model), findings.MainColumns)
	return f, err
}

// addHeldOut adds the curves of the held-out scores.
func addHeldOut(t *toptau.Trained, f *report.Findings, at float64, goal metric.Goal) error {
	s := ranked.OfTraining(t).HeldOut
	if len(s.Positives) == 0 || len(s.Negatives) == 0 {
		return nil
	}
	rank, err := ranking.Rank(s)
	if err != nil {
		return err
	}
	all := rank.Mixed(t.Result.Prevalence) // rows of one class may have been set aside for the threshold
	findings.AddCurves(f, "held-out scores", all)
	f.Scores = plot.HistogramOf(s, &at, findings.ReportBins)
	if err := findings.AddBudgets(f, all, nil, ranked.OfTraining(t).Data, goal, ranked.OfTraining(t).Mass); err != nil || all == rank {
		return err
	}
	f.Budgets.Note = "Budgets, precisions and curves are for " + wholeText(t) +
		". The measured rows have another mix, because others were set aside for the threshold."
	return nil
}

// wholeText names the rows of the data: "rows of which 3.1 % are positive, as of the whole data".
func wholeText(t *toptau.Trained) string {
	return fmt.Sprintf("%s of which %s are positive, as of the whole data", wording.UnitNames(t.Result.Unit),
		text.Percent(t.Result.Prevalence))
}
