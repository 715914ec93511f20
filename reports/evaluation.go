// Package reports writes evaluations and trainings as HTML pages that need nothing else.
package reports

import (
	"io"
	"path/filepath"

	"toptau/internal/app/findings"
	"toptau/internal/app/plot"
	"toptau/internal/app/report"
	"toptau/internal/models/feature"
	"toptau/internal/models/wording"
	"toptau/internal/training/inspect"
	"toptau/internal/training/ranked"
	"toptau/internal/training/rowset"
	"toptau/measure"
	"toptau/metric"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
)

// Write writes the evaluation as one self-contained HTML page. The page shows the first entry's
// operating points with their guarantees, what budgets find, which positives are missed, rows to look at, curves,
// scores by class, probabilities, the effects of the main columns, the comparison with the other entries, the
// data and the model. statements are what the owners of a single model state about it.
func Write(w io.Writer, e *measure.Evaluation, statements ...result.Statement) error {
	f, err := evaluationFindings(e, statements)
	if err != nil {
		return err
	}
	_, err = f.Page().WriteTo(w)
	return err
}

// evaluationFindings returns what the report shows.
func evaluationFindings(e *measure.Evaluation, statements []result.Statement) (*report.Findings, error) {
	state := ranked.Of(e)
	if err := (rowset.Needs{}.Columns(state.Data, "", "").Option("report", true)).Check(state.Where); err != nil {
		return nil, err
	}
	first := state.Rankings[0]
	f := &report.Findings{Summary: e.Summary, Claim: state.Claim, About: about(e), Reliability: e.Reliability}
	report.Compare(f, &e.Evaluation)
	var alarm *float64
	if m := first.Model; m != nil {
		points := m.Points()
		for i := range points {
			f.Points = append(f.Points, report.OperatingPoint{Point: points[i], Decisions: &e.Points[i].Decisions,
				Facts: report.ShiftFacts(e.Points[i].Shift), Value: e.Points[i].Value, ValueName: e.Value})
		}
		if len(points) > 0 {
			alarm = &points[0].Threshold
			f.Title = report.FoundTitle(&e.Points[0].Decisions, points[0].Goal)
		}
		f.Model = report.ModelFacts(m)
		if len(state.Rankings) == 1 {
			u, err := useOf(m, statements)
			if err != nil {
				return nil, err
			}
			f.Sections = u.Sections()
			// Too few rows for the fingerprints.
			if known := e.TrainingRows; m.Training().Digest == state.Data.Digest() && state.Data.Digest() != "" && known != nil && !known.Excess {
				f.Warnings = append(f.Warnings, "these are the rows that the model was trained on; expect worse results on new rows")
			}
		}
		var err error
		if f.Shapes, f.Pairs, err = findings.MainShapes(m, first.Data, findings.MainColumns); err != nil {
			return nil, err
		}
	}
	f.By, f.Examples = e.By, e.Examples
	if first.Model != nil && first.Alarms != nil && f.Examples == nil {
		var err error
		if f.Examples, err = first.Examples(state.Units, first.Alarms, findings.ReportExamples); err != nil {
			return nil, err
		}
	}
	f.Data, f.Scores = report.DataFacts(&e.Evaluation, state.Data.Info.Schema, state.Data.Digest()),
		plot.HistogramOf(first.Scores, alarm, findings.ReportBins)
	goal := reportGoal(e)
	findings.SetGoal(f, goal)
	for i, k := range state.Rankings {
		name := e.Entries[i].Name
		if len(state.Rankings) == 1 {
			name = findings.ThisModel
		}
		if i < findings.MaxCurves {
			findings.AddCurves(f, name, k.Rank)
		}
	}
	if err := findings.AddBudgets(f, first.Rank, state.ListBounds(), state.Data, goal, first.Rank.Mass()); err != nil {
		return nil, err
	}
	for _, warning := range e.Warnings {
		f.Warnings = append(f.Warnings, warning.Text)
	}
	return f, nil
}

// useOf returns what people who decide about a model need.
func useOf(m *model.Model, statements []result.Statement) (*report.Use, error) {
	inspection, err := inspect.Model(m)
	if err != nil {
		return nil, err
	}
	u := &report.Use{Statements: statements, Points: m.Points(), Probabilities: m.Probability() != nil, Inspection: inspection}
	for _, member := range m.Members() {
		u.Certificates = u.Certificates || member.Evidence != nil && member.Evidence.Lower != nil
	}
	features := feature.MapOf(m.Features())
	words := map[feature.Direction]string{feature.Mixed: "mixed", feature.Rising: "rises", feature.Falling: "falls", feature.Flat: "flat"}
	for k, d := range feature.Directions(features, feature.ScorerOf(m).Weights) {
		in := &features.Inputs[k]
		moved := report.Moved{Column: in.Name, Direction: words[d]}
		if in.Kind == schema.Categorical {
			moved.Direction = "category"
		}
		u.Columns = append(u.Columns, moved)
	}
	return u, nil
}

// about returns the model, the file and the date in short.
func about(e *measure.Evaluation) []string {
	state := ranked.Of(e)
	var list []string
	for i := range e.Entries {
		if name := e.Entries[i].Name; name != "" && len(list) < findings.MaxCurves {
			list = append(list, name)
		}
	}
	list = append(list, filepath.Base(state.Data.Table.File), wording.UnitsText(e.Unit, e.Rows))
	if state.Date != "" {
		list = append(list, state.Date)
	}
	return list
}

// reportGoal returns the goal of the evaluation, or else the goal of the first model's default operating
// point.
func reportGoal(e *measure.Evaluation) metric.Goal {
	if e.Goal != nil {
		return e.Goal.Goal
	}
	if m := ranked.Of(e).Rankings[0].Model; m != nil {
		point, _ := m.Point("")
		return point.Goal
	}
	return metric.Goal{}
}
