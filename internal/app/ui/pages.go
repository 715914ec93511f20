package ui

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"toptau/calibrate"
	"toptau/diag"
	"toptau/explorer"
	"toptau/internal/app/plot"
	"toptau/internal/app/report"
	"toptau/internal/core/text"
	"toptau/internal/models/wording"
	"toptau/metric"
	"toptau/model"
	"toptau/reports"
	"toptau/result"
	"toptau/threshold"
)

// figure is a chart or a drawing, with its texts.
type figure struct {
	Title string `json:"title"`
	Note  string `json:"note,omitempty"`
	SVG   string `json:"svg,omitempty"`
	Chart *chart `json:"chart,omitempty"`
}

func drawn(f plot.Figure, id string) figure {
	caption := f.Caption()
	d := figure{Title: caption.Title, Note: caption.Note, Chart: chartOf(f)}
	if d.Chart == nil {
		d.SVG = text.PrintableLines(plot.Inline(f, id))
	}
	return d
}

// figures are the drawings of the first panel. They do not depend on a question.
type figures struct {
	Recall *figure `json:"recall"`
	ROC    *figure `json:"roc"`
	Scores *figure `json:"scores"`
}

func drawFigures(x *explorer.Explorer) (*figures, error) {
	f, err := report.FindingsOf(x)
	if err != nil {
		return nil, err
	}
	out := &figures{}
	curve := func(p *plot.Plot, id string) *figure {
		if p == nil {
			return nil
		}
		p.Text.Note = strings.TrimSpace(p.Text.Note + " Vertical lines are the plain threshold, dashed the one with a guarantee, and dotted the " +
			"model's own. A click sets the budget, dragging zooms, and a double click shows all again.")
		d := drawn(p, id)
		return &d
	}
	out.Recall, out.ROC = curve(f.RecallPlot(), "recall"), curve(f.ROCPlot(), "roc")
	if p := f.ScorePlot(); p != nil {
		d := drawn(p, "scores")
		out.Scores = &d
	}
	return out, nil
}

// overviewAnswer is what the page shows at first.
type overviewAnswer struct {
	Title       string         `json:"title"`
	About       []string       `json:"about"`
	Warnings    []string       `json:"warnings"`
	Model       bool           `json:"model"` // there is a model, so that rows have reasons
	Start       budgetQuestion `json:"start"`
	Confidences []fact         `json:"confidences"`
	Positions   map[string]int `json:"positions"` // number of positions of the slider by mode
	Points      []pointView    `json:"points"`
	Unsaved     string         `json:"unsaved"` // why the page cannot save; "": it can
	Budget      *budgetAnswer  `json:"budget"`
}

// fact is a named value.
type fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// pointView is an operating point of the model.
type pointView struct {
	Name  string `json:"name"`
	Facts []fact `json:"facts"`
}

func (s *Server) overview(r *http.Request) (any, error) {
	var none struct{}
	if err := read(r, &none); err != nil {
		return nil, err
	}
	x := s.options.Explorer
	out := &overviewAnswer{Title: s.options.Title, About: []string{s.options.Data,
		wording.UnitsText(x.Unit, x.Rows),
		fmt.Sprintf("%s positive (%s)", text.Count(x.Positives), text.Percent(x.Prevalence)),
		fmt.Sprintf("AUC %.4f", x.AUC)},
		Model: x.Model() != nil, Start: s.start(), Confidences: confidences(s.savedPoints()),
		Positions: map[string]int{"top": len(s.positions("top")), "max-fpr": len(s.positions("max-fpr"))},
		Points:    s.pointViews(), Unsaved: s.options.Unsaved,
		Warnings: []string{}}
	for _, w := range x.Warnings {
		out.Warnings = append(out.Warnings, w.Text)
	}
	var err error
	out.Budget, err = s.answer(&out.Start)
	return out, err
}

// curves answers with the drawings of the first panel.
func (s *Server) curves(r *http.Request) (any, error) {
	var none struct{}
	if err := read(r, &none); err != nil {
		return nil, err
	}
	return s.figures()
}

// confidences returns the choices of delta: common ones, and those of the model's guarantees.
func confidences(points []model.Point) []fact {
	deltas := []threshold.Rate{threshold.MustRate("10%"), threshold.MustRate("5%"), threshold.MustRate("1%"),
		threshold.MustRate("0.1%")}
	for _, p := range points {
		if g := p.Guarantee; g != nil && !slices.Contains(deltas, g.Delta) {
			deltas = append(deltas, g.Delta)
		}
	}
	var list []fact
	for _, d := range deltas {
		list = append(list, fact{Name: text.Confidence(d.Float64()), Value: d.String()})
	}
	return list
}

// start returns the first question: the goal of the model's default point, or the best percent of the rows.
func (s *Server) start() budgetQuestion {
	x := s.options.Explorer
	q := budgetQuestion{Mode: "top", By: "rate", Value: "1", Delta: "0.05"}
	if days := x.PerDay(); days > 0 {
		q.PerDay = fmt.Sprintf("%.0f", days)
	}
	points := s.savedPoints()
	if len(points) == 0 {
		return q
	}
	g := points[0].Goal
	if tau := g.Tau(); !tau.IsZero() {
		q.Value = text.Significant(100*tau.Float64(), 6)
		if g.Kind == metric.GoalMaxFPR {
			q.Mode = "max-fpr"
		}
		if g.Kind == metric.GoalAlerts {
			q.PerDay = fmt.Sprint(g.Of)
		}
	}
	if guarantee := points[0].Guarantee; guarantee != nil {
		q.Delta = guarantee.Delta.String()
	}
	return q
}

// savedPoints returns the operating points of the model with those saved so far.
func (s *Server) savedPoints() []model.Point {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.points
}

func (s *Server) pointViews() []pointView {
	views := []pointView{}
	for _, p := range s.savedPoints() {
		v := pointView{Name: p.Name, Facts: []fact{{Name: "goal", Value: report.GoalText(p.Goal)},
			{Name: "alert where", Value: "score > " + text.Exact(p.Threshold)},
			{Name: "guarantee", Value: guaranteeText(p.Guarantee)},
			{Name: "threshold from", Value: p.Source}}}
		views = append(views, v)
	}
	return views
}

func guaranteeText(g *calibrate.Guarantee) string {
	if g == nil {
		return "none"
	}
	return fmt.Sprintf("confidence %s, from %s %s", text.Confidence(g.Delta.Float64()), text.Count(g.N()),
		g.Population())
}

// rowView is a line of the list.
type rowView struct {
	Place   string `json:"place"`
	Row     int    `json:"row"`
	Name    string `json:"name"`
	Label   string `json:"label"`
	Score   string `json:"score"`
	Alert   bool   `json:"alert"`
	Reasons string `json:"reasons"`
}

// maxListed is the number of rows of one answer. Chosen by hand: two screens.
const maxListed = 50

// rows answers with a part of the list.
func (s *Server) rows(r *http.Request) (any, error) {
	var q struct {
		Class     result.RowClass `json:"class"`
		From      int             `json:"from"`
		Threshold float64         `json:"threshold"`
	}
	if err := read(r, &q); err != nil {
		return nil, err
	}
	list, more, err := s.options.Explorer.Ranked(q.Class, q.From, maxListed)
	if err != nil {
		return nil, err
	}
	out := struct {
		Rows []rowView `json:"rows"`
		Next int       `json:"next"` // place from which more rows follow; 0: none
	}{Rows: []rowView{}}
	for i := range list {
		x := &list[i]
		v := rowView{Place: text.Count(x.Place), Row: x.Row, Name: "row " + text.Count(x.Row), Label: "negative",
			Score: text.Significant(x.Score, 6), Alert: x.Score > q.Threshold, Reasons: report.ReasonsText(x.Reasons)}
		if x.Positive {
			v.Label = "positive"
		}
		if len(x.ID) > 0 {
			v.Name = strings.Join(x.ID, " ")
		}
		out.Rows = append(out.Rows, v)
		if more {
			out.Next = x.Place + 1
		}
	}
	return out, nil
}

// formColumns is the number of columns whose values the form shows, those that add most. Chosen by hand.
const formColumns = 60

// cellView is a field of the form.
type cellView struct {
	Column     string   `json:"column"`
	Name       string   `json:"name"`
	Numeric    bool     `json:"numeric"`
	Value      string   `json:"value"`
	Former     string   `json:"former"`
	Adds       string   `json:"adds"`
	Categories []string `json:"categories"`
}

// whatIf answers how a row scores with other values.
func (s *Server) whatIf(r *http.Request) (any, error) {
	var q struct {
		Row       int               `json:"row"`
		Changes   map[string]string `json:"changes"`
		Column    string            `json:"column"` // whose curve is drawn; "": that of the column that adds most
		Threshold float64           `json:"threshold"`
	}
	if err := read(r, &q); err != nil {
		return nil, err
	}
	x := s.options.Explorer
	w, err := x.WhatIf(q.Row, q.Changes)
	if err != nil {
		return nil, err
	}
	out := struct {
		Score   string     `json:"score"`
		Verdict string     `json:"verdict"`
		Cells   []cellView `json:"cells"`
		More    string     `json:"more"`
		Adds    figure     `json:"adds"`
		Curve   *figure    `json:"curve"`
		Column  string     `json:"column"`
	}{Score: text.Significant(w.Score, 6), Verdict: verdict(w, q.Threshold),
		Adds: drawn(reasonFigure(w), "adds"), Column: q.Column}
	place := map[string]int{}
	for i := range w.Reasons {
		place[w.Reasons[i].Column] = i + 1
	}
	cells := slices.Clone(w.Inputs)
	slices.SortStableFunc(cells, func(a, b result.WhatIfCell) int { return order(place[a.Column]) - order(place[b.Column]) })
	for i := range cells[:min(len(cells), formColumns)] {
		c := &cells[i]
		v := cellView{Column: c.Column, Name: report.ColumnName(c.Column), Numeric: c.Numeric, Value: c.Value,
			Former: c.Former, Categories: c.Categories}
		if at := place[c.Column]; at > 0 {
			v.Adds = fmt.Sprintf("%+.4g", w.Reasons[at-1].AboveAverage)
		}
		out.Cells = append(out.Cells, v)
	}
	if n := len(cells) - len(out.Cells); n > 0 {
		out.More = fmt.Sprintf("%s that add less are not shown", text.Plural(n, "other column"))
	}
	if out.Column == "" && len(out.Cells) > 0 {
		out.Column = out.Cells[0].Column
	}
	if out.Column == "" {
		return out, nil
	}
	curve, err := x.Curve(q.Row, q.Changes, out.Column)
	if err != nil {
		return nil, err
	}
	drawing := drawn(curveFigure(curve, q.Threshold), "curve")
	out.Curve = &drawing
	return out, nil
}

// order sorts columns without a reason after all others.
func order(place int) int {
	if place == 0 {
		return 1 << 30
	}
	return place
}

func verdict(w *result.WhatIf, threshold float64) string {
	line := "not above"
	if w.Score > threshold {
		line = "above"
	}
	line = fmt.Sprintf("score %s, %s the threshold %s", text.Significant(w.Score, 6), line,
		text.Significant(threshold, 6))
	if w.Score != w.Former {
		line += fmt.Sprintf("; before %s", text.Significant(w.Former, 6))
	}
	return line
}

// shownReasons is the number of columns in the figure of reasons. Chosen by hand.
const shownReasons = 12

// reasonFigure shows what the main columns add to a score.
func reasonFigure(w *result.WhatIf) plot.Figure {
	d := &plot.DotPlot{X: plot.Axis{Label: "adds to the score"}, Rules: []plot.Rule{{At: 0}},
		Text: plot.Caption{Title: "What the columns add to this score",
			Description: "What the main columns add to the score of the row. The form has the numbers."}}
	if w.AverageScore != nil {
		d.X.Label = "adds, against the average row"
	}
	for i := range w.Reasons[:min(len(w.Reasons), shownReasons)] {
		r := &w.Reasons[i]
		value := r.Value
		if value == "" {
			value = "missing"
		}
		d.Rows = append(d.Rows, plot.Dot{Name: report.ColumnName(r.Column) + " = " + value, Value: r.AboveAverage})
	}
	if len(d.Rows) == 0 {
		d.Rows = []plot.Dot{{Name: "all columns", Undefined: "as in the average row"}}
	}
	return d
}

// curveFigure shows the score over the values of a column.
func curveFigure(c *result.ScoreCurve, threshold float64) plot.Figure {
	caption := plot.Caption{Title: "The score over " + report.ColumnName(c.Column),
		Note: "All other values of the row stay as in the form.",
		Description: fmt.Sprintf("Score of the row as a function of %s, with the threshold. The value %s has the score %s.", c.Column, c.Value,
			text.Significant(c.Score, 6))}
	if len(c.Points) == 0 {
		d := &plot.DotPlot{Text: caption, X: plot.Axis{Label: "score"}, Rules: []plot.Rule{{Name: "threshold",
			At: threshold}}}
		for i, category := range c.Categories {
			d.Rows = append(d.Rows, plot.Dot{Name: category, Value: c.Scores[i], Chosen: category == c.Value})
		}
		if !slices.Contains(c.Categories, c.Value) {
			name := c.Value
			if name == "" {
				name = "(missing)"
			}
			d.Rows = append(d.Rows, plot.Dot{Name: name, Value: c.Score, Chosen: true})
		}
		return d
	}
	line := plot.Series{}
	at := plot.Series{Name: "this row", Draw: plot.Points, Style: plot.Highlight}
	for _, p := range c.Points {
		line.X, line.Y = append(line.X, p[0]), append(line.Y, p[1])
	}
	for _, p := range c.Points {
		if p[1] == c.Score && fmt.Sprintf("%v", p[0]) == c.Value {
			at.X, at.Y = []float64{p[0]}, []float64{p[1]}
		}
	}
	p := &plot.Plot{Text: caption, X: plot.Axis{Label: "value"}, Y: plot.Axis{Label: "score"},
		Series: []plot.Series{line},
		Rules:  []plot.Rule{{Name: "threshold", At: threshold, Horizontal: true}}}
	if at.X != nil {
		p.Series = append(p.Series, at)
	}
	return p
}

// columns answers with the curves of the main columns.
func (s *Server) columns(r *http.Request) (any, error) {
	var none struct{}
	if err := read(r, &none); err != nil {
		return nil, err
	}
	shapes, pairs, err := report.ShapesOf(s.options.Explorer)
	if err != nil {
		return nil, err
	}
	out := struct {
		Figures []figure `json:"figures"`
		Pairs   []figure `json:"pairs"`
		Note    string   `json:"note"`
	}{Figures: []figure{}, Pairs: []figure{},
		Note: "The columns that matter most on these rows come first. Curves are against the mean of the rows, of which at most " +
			text.Count(report.MaxShapeRows) + " were measured."}
	for i, f := range report.ShapeFigures(shapes) {
		out.Figures = append(out.Figures, drawn(f, fmt.Sprintf("c%d", i)))
	}
	for i := range pairs {
		out.Pairs = append(out.Pairs, drawn(pairs[i].Figure(), fmt.Sprintf("p%d", i)))
	}
	return out, nil
}

// section is a part of a view.
type section struct {
	Title      string         `json:"title"`
	Paragraphs []string       `json:"paragraphs"`
	Facts      []fact         `json:"facts"`
	Figures    []figure       `json:"figures"`
	Tables     []sectionTable `json:"tables"`
}

type sectionTable struct {
	Caption string     `json:"caption"`
	Header  []string   `json:"header"`
	Rows    [][]string `json:"rows"`
}

// sectionOf returns a section of a report in the form of the page. The id begins those of its figures.
func sectionOf(r *report.Section, id string) section {
	s := section{Title: r.Title, Paragraphs: append(append([]string{}, r.Paragraphs...), r.Warnings...),
		Facts: []fact{}, Figures: []figure{}, Tables: []sectionTable{}}
	for i, words := range s.Paragraphs {
		s.Paragraphs[i] = unbroken(words)
	}
	for _, f := range r.Facts {
		if f.Value != "" {
			s.Facts = append(s.Facts, fact{f.Name, unbroken(f.Value)})
		}
	}
	for i, f := range r.Figures {
		s.Figures = append(s.Figures, drawn(f, fmt.Sprintf("%s%d", id, i)))
	}
	for i := range r.Tables {
		s.Tables = append(s.Tables, sectionTable{r.Tables[i].Caption, append([]string{}, r.Tables[i].Header...),
			r.Tables[i].Rows})
	}
	return s
}

// drift answers whether these rows differ from those that the model knows.
func (s *Server) drift(r *http.Request) (any, error) {
	var none struct{}
	if err := read(r, &none); err != nil {
		return nil, err
	}
	x := s.options.Explorer
	var parts []report.Section
	if x.Model() != nil {
		var err error
		if parts, err = monitored(r.Context(), x); err != nil {
			return nil, err
		}
		parts = append(parts, compared(x))
	}
	over := report.Section{Title: "Scores over time"}
	trend, err := x.OverTime(true)
	switch {
	case err != nil:
		return nil, err
	case trend == nil:
		over.Paragraphs = []string{"The rows were read without a column of times, so nobody can see whether scores change over time."}
	default:
		over.Paragraphs = []string{"If the order in time means nothing, such a trend has a probability of at most " + text.SmallProbability(trend.P) + "."}
		over.Figures = []plot.Figure{trendFigure(trend)}
	}
	out := struct {
		Sections []section `json:"sections"`
	}{[]section{}}
	for i, part := range append(parts, over) {
		if v := sectionOf(&part, fmt.Sprintf("d%d-",
			i)); len(v.Paragraphs)+len(v.Facts)+len(v.Figures)+len(v.Tables) > 0 {
			out.Sections = append(out.Sections, v)
		}
	}
	return out, nil
}

// monitored returns the sections of a monitor that sees these rows one after the other.
func monitored(ctx context.Context, x *explorer.Explorer) ([]report.Section, error) {
	m, err := x.Monitor(ctx)
	if diag.Of(err) != nil && diag.Of(err).Kind == diag.Model {
		return []report.Section{{Title: "Evidence of a change",
			Paragraphs: []string{"The model keeps nothing that rows can be compared with."}}}, nil
	}
	if err != nil {
		return nil, err
	}
	p := report.Monitoring(m)
	p.Sections = slices.DeleteFunc(p.Sections, func(part report.Section) bool { return part.Title == report.AuditTitle }) // here all labels are known
	return append([]report.Section{{Title: p.Title, Paragraphs: append([]string{p.Lead}, p.Summary...)}},
		p.Sections...), nil
}

// compared returns what the operating points and fingerprints show about these rows.
func compared(x *explorer.Explorer) report.Section {
	part := report.Section{Title: "Against calibration and training"}
	add := func(name, value string) { part.Facts = append(part.Facts, report.Fact{Name: name, Value: value}) }
	for i := range x.Points {
		facts := report.ShiftFacts(x.Points[i].Shift)
		if len(facts) == 0 {
			add(x.Points[i].Name, "nothing to compare with: the point has no guarantee, so the model keeps no calibration scores")
		}
		for _, f := range facts {
			add(x.Points[i].Name+": "+f.Name, f.Value)
		}
	}
	add("training rows among these", report.OverlapText(x.TrainingRows))
	if x.Missing != nil && x.Unknown != nil {
		add("values not seen in training", text.Count(*x.Unknown))
		add("missing values", text.Count(*x.Missing))
	}
	return part
}

// trendFigure shows the scores of blocks of rows in the order of their times.
func trendFigure(t *calibrate.Trend) plot.Figure {
	d := &plot.DotPlot{X: plot.Axis{Label: "rows in the highest tenth of all scores", Unit: plot.Percent,
		Min: 0}, Rules: []plot.Rule{{Name: "all rows", At: 0.1}},
		Text: plot.Caption{Title: "High scores over time",
			Note:        "Rows in the order of their times, in blocks of equal size, the earliest first.",
			Description: "Fraction of the rows of each block whose score is in the highest tenth of all."}}
	for i, b := range t.Blocks {
		d.Rows = append(d.Rows, plot.Dot{Name: fmt.Sprintf("block %d, %s", i+1, text.Plural(b.Rows, "row")),
			Value: b.Above})
	}
	return d
}

// save adds an operating point to the model.
func (s *Server) save(r *http.Request) (any, error) {
	var q struct {
		Budget  budgetQuestion `json:"budget"`
		Name    string         `json:"name"`
		Note    string         `json:"note"`
		Replace bool           `json:"replace"`
		Default bool           `json:"default"`
	}
	if err := read(r, &q); err != nil {
		return nil, err
	}
	if s.options.Save == nil {
		return nil, &diag.Error{Kind: diag.Usage, Found: cmp.Or(s.options.Unsaved, "a page that cannot save")}
	}
	a, err := s.ask(&q.Budget)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(q.Name) == "" {
		return nil, &diag.Error{Kind: diag.Usage, Param: "name", Expected: "a name of the operating point"}
	}
	s.saving.Lock()
	defer s.saving.Unlock()
	saved, err := s.options.Save(r.Context(), SaveRequest{Name: strings.TrimSpace(q.Name), Goal: a.goal,
		Replace: q.Replace, Default: q.Default,
		Note: strings.TrimSpace(q.Note)})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.points = saved.Points
	s.mu.Unlock()
	return map[string]any{"text": saved.Text, "points": s.pointViews()}, nil
}

// report answers with the report of evaluate, as a file.
func (s *Server) report(w http.ResponseWriter, r *http.Request) {
	s.writing.Lock()
	defer s.writing.Unlock()
	var page bytes.Buffer
	if err := reports.Write(&page, s.options.Explorer.Evaluation); err != nil {
		refuse(w, http.StatusInternalServerError, errorText(err))
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="report.html"`)
	w.Write(page.Bytes())
}
