package report

import (
	"fmt"
	"math"
	"strconv"

	"toptau/internal/app/plot"
	"toptau/internal/core/detmath"
	"toptau/internal/core/text"
	"toptau/metric"
	"toptau/result"
)

// maxEvidence is the largest power of ten that the figure of evidence shows. Chosen by hand: far above all that an
// alarm needs.
const maxEvidence = 15

// changedColumns is the number of columns that sentences name, and listedColumns of those that the page lists.
const (
	changedColumns = 3
	listedColumns  = 30
)

// Monitoring returns the page about a model in production: what changed, since when, how sure that is, what to do.
func Monitoring(r *result.Monitoring, about ...string) Page {
	p := Page{Title: MonitoringTitle(r), Lead: monitoringLead(r), About: about, Summary: MonitoringSummary(r)}
	p.Sections = []Section{monitoringEvidence(r), monitoringScores(r), monitoringColumns(r), monitoringLabels(r), monitoringAudit(r),
		monitoringLimits(r)}
	return p
}

// MonitoringTitle returns the conclusion: "Alarm: scores and 3 columns changed", "No alarm in 22,544 rows".
func MonitoringTitle(r *result.Monitoring) string {
	var changed []string
	for _, a := range r.Alarms {
		switch a.Stream {
		case "scores":
			changed = append(changed, "scores changed")
		case "columns":
			changed = append(changed, text.Plural(max(1, namedColumns(r)), "column")+" changed")
		case "budget":
			changed = append(changed, "the budget is broken")
		}
	}
	if len(changed) > 0 {
		return "Alarm: " + text.List(changed, "and")
	}
	return "No alarm in " + text.Plural(r.Rows, "row")
}

func namedColumns(r *result.Monitoring) int {
	n := 0
	if r.Columns != nil {
		for i := range r.Columns.List {
			if r.Columns.List[i].Alarm {
				n++
			}
		}
	}
	return n
}

func monitoringLead(r *result.Monitoring) string {
	lead := fmt.Sprintf("%s, %s at the operating point %s (%s).", text.Plural(r.Rows, "row"), text.Plural(r.Alerts, "alert"), r.At,
		text.Percent(share(r.Alerts, r.Rows)))
	if r.FirstTime != "" {
		lead += fmt.Sprintf(" From %s to %s.", r.FirstTime, r.LastTime)
	}
	return lead
}

func share(count, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(count) / float64(of)
}

// MonitoringSummary returns a sentence for each alarm, what labels show, and what to do.
func MonitoringSummary(r *result.Monitoring) []string {
	var list []string
	for _, a := range r.Alarms {
		switch a.Stream {
		case "scores":
			list = append(list, scoresSentence(r.Scores, a))
		case "columns":
			list = append(list, columnsSentence(r.Columns, a))
		case "budget":
			list = append(list, budgetSentence(r.Budget, a))
		}
	}
	if len(list) == 0 {
		list = append(list, fmt.Sprintf("No change is clear enough for an alarm: %s.", evidenceText(r)))
	} else {
		list = append(list, chanceText(r))
	}
	if n := r.Labels.Positives + r.Labels.Negatives; n > 0 {
		list = append(list, fmt.Sprintf("%s of %s with a label are positive: a precision of %s (95 %% CI %s to %s).",
			text.Count(r.Labels.Positives),
			text.Plural(n, "alert"), text.Percent(r.Labels.Precision), text.Percent(r.Labels.Low), text.Percent(r.Labels.High)))
	}
	return append(list, "What to do: "+adviceText(r))
}

// chanceText returns what the probability of a false alarm holds for.
func chanceText(r *result.Monitoring) string {
	chance := text.Percent(r.FalseAlarm.Float64())
	if r.Block != "" {
		return fmt.Sprintf("Blocks of %s that have not changed, whatever their rows do within them, would ever raise an alarm with a probability of at most %s.", r.Block, chance)
	}
	return fmt.Sprintf("Independent rows that have not changed would ever raise any alarm with a probability of at most %s. "+
		"Rows that depend on each other (hours, weekdays, repeated rows) can raise one without a change.", chance)
}

// sinceText returns "after row 1,000 (2026-11-22)", or "from the first row on".
func sinceText(row int, when string) string {
	if row == 0 {
		return "from the first row on"
	}
	if when != "" {
		when = " (" + when + ")"
	}
	return "after row " + text.Count(row) + when
}

// alarmText returns "alarm at row 1,000 (2026-11-22)".
func alarmText(a result.MonitorAlarm) string {
	when := ""
	if a.Time != "" {
		when = " (" + a.Time + ")"
	}
	return fmt.Sprintf("alarm at row %s%s", text.Count(a.Row), when)
}

// changedText returns when a change began that raised an alarm, and the start that is the most probable now if that is after it.
func changedText(e *result.Evidence, a result.MonitorAlarm) string {
	if e.Since < a.Row {
		return fmt.Sprintf("%s (%s)", sinceText(e.Since, e.SinceTime), alarmText(a))
	}
	return fmt.Sprintf("%s (%s) and most of all %s", sinceText(a.Since, a.SinceTime), alarmText(a), sinceText(e.Since, e.SinceTime))
}

// evidenceNumber returns evidence in words: "340 to 1", "2.5 billion to 1". An unchanged stream ever reaches x to 1 with a
// probability of at most 1/x.
func evidenceNumber(log10 float64) string {
	switch {
	case log10 < 0:
		return "less than 1 to 1"
	case log10 >= 15:
		return "more than 1,000 trillion to 1"
	}
	for _, unit := range []struct {
		zeros float64
		name  string
	}{{12, " trillion"}, {9, " billion"}, {6, " million"}} {
		if log10 >= unit.zeros {
			return text.Number(math.Pow(10, log10-unit.zeros)) + unit.name + " to 1"
		}
	}
	return text.Number(math.Pow(10, log10)) + " to 1"
}

func scoresSentence(s *result.MonitorScores, a result.MonitorAlarm) string {
	l := s.Levels[s.Level]
	sentence := fmt.Sprintf("Scores changed %s: %s of the rows score %s, before %s.", changedText(&s.Evidence, a), text.Percent(l.Seen),
		levelText(l), text.Percent(l.Expected))
	if p := s.Levels[s.AtPoint]; s.AtPoint != s.Level {
		sentence += fmt.Sprintf(" Near the threshold, %s: %s, before %s.", levelText(p), text.Percent(p.Seen), text.Percent(p.Expected))
	}
	return sentence
}

// levelText returns "0.5 or more", or "more than 0.5".
func levelText(l result.ScoreLevel) string {
	if l.MoreThan {
		return "more than " + text.Number(l.Score)
	}
	return text.Number(l.Score) + " or more"
}

func columnsSentence(c *result.MonitorColumns, a result.MonitorAlarm) string {
	if c == nil {
		return fmt.Sprintf("Columns changed (%s).", alarmText(a))
	}
	var names []string
	named := 0
	for i := range c.List {
		x := &c.List[i]
		if !x.Alarm {
			continue
		}
		if named++; named <= changedColumns {
			names = append(names, fmt.Sprintf("%s (%s, %s)", x.Column, changeText(x), sinceText(x.Since, x.SinceTime)))
		}
	}
	if named > changedColumns {
		names = append(names, text.Plural(named-changedColumns, "other"))
	}
	if named == 0 {
		return fmt.Sprintf("Column %s changed, and no longer differs (%s).", a.Column, alarmText(a))
	}
	return fmt.Sprintf("Changed columns (first %s): %s.", alarmText(a), text.List(names, "and"))
}

// changeText describes a column's change: "3.2 or more: 12 %, before 5 %".
func changeText(x *result.MonitorColumn) string {
	what := ""
	switch x.Kind {
	case result.AtLeastValue:
		what = text.Number(*x.AtLeast) + " or more"
	case result.AtLeastMissing:
		what = text.Number(*x.AtLeast) + " or more, or missing"
	case result.MoreThanValue:
		what = "more than " + text.Number(*x.AtLeast)
	case result.MoreThanMissing:
		what = "more than " + text.Number(*x.AtLeast) + ", or missing"
	case result.InCategory:
		what = "= " + x.Category
	case result.OtherValues:
		what = "other values"
	case result.MissingValue:
		what = "missing"
	case result.NewValues:
		what = "new or missing values"
	}
	return fmt.Sprintf("%s: %s, before %s", what, text.Percent(x.Seen), text.Percent(x.Expected))
}

func budgetSentence(b *result.MonitorBudget, a result.MonitorAlarm) string {
	what, alarms := "of the rows are known false alarms", "false alarms"
	if b.Kind != metric.GoalMaxFPR {
		what, alarms = "of the rows are alerts", "alerts"
	}
	upTo := ""
	if b.Bound > b.Rate {
		upTo = fmt.Sprintf(" (without a guarantee, up to %s was expected)", text.Percent(b.Bound))
	}
	return fmt.Sprintf("The budget of %s%s is broken %s: %s %s (%s %s in %s rows).", text.Percent(b.Rate), upTo, changedText(&b.Evidence, a),
		text.Percent(share(b.Events, b.Rows)), what, text.Count(b.Events), alarms, text.Count(b.Rows))
}

// evidenceText lists the evidence of all streams.
func evidenceText(r *result.Monitoring) string {
	var list []string
	add := func(name string, e *result.Evidence) {
		list = append(list, fmt.Sprintf("%s in the %s (an alarm needs %s)", evidenceNumber(e.Log10), name, evidenceNumber(e.Needed)))
	}
	if r.Scores != nil {
		add("scores", &r.Scores.Evidence)
	}
	if r.Columns != nil && len(r.Columns.List) > 0 {
		add("column that changed most", &r.Columns.List[0].Evidence)
	}
	if r.Budget != nil {
		add("budget", &r.Budget.Evidence)
	}
	if len(list) == 0 {
		return "nothing was watched"
	}
	return "the evidence is " + text.List(list, "and")
}

// adviceText returns what to do.
func adviceText(r *result.Monitoring) string {
	raised := map[string]bool{}
	for _, a := range r.Alarms {
		raised[a.Stream] = true
	}
	switch {
	case raised["budget"] && r.Budget.Kind == metric.GoalMaxFPR:
		return "raise the threshold with labelled recent rows that were audited, or train again. The labels of alerts alone must not calibrate it: they are selected."
	case raised["budget"]:
		return "raise the threshold to the rate of alerts that can be handled, with recent rows; they need no labels."
	case raised["columns"] && raised["scores"]:
		return "look at the named columns first: one that changed at its source explains scores that changed. If the change is real, label audited rows, calibrate a new threshold, and train again."
	case raised["columns"]:
		scores := "The scores have not changed so far."
		if r.Scores == nil {
			scores = "Scores are not watched."
		}
		return "look at the named columns at their source. " + scores
	case raised["scores"]:
		return "label audited rows: only labels show whether there are more positives or more false alarms. Then calibrate a new threshold or train again."
	}
	return "go on. No alarm is no proof that nothing changed."
}

func monitoringEvidence(r *result.Monitoring) Section {
	s := Section{Title: "Since when, and how sure"}
	t := Table{Caption: "Alarms", Header: []string{"what", "at row", "changed after row", "evidence then"}, Numbers: []int{1, 2, 3}}
	if r.FirstTime != "" {
		t.Header = append(t.Header, "time")
	}
	for _, a := range r.Alarms {
		what := a.Stream
		if a.Column != "" {
			what = "columns: " + a.Column
			if a.Others > 0 {
				what += fmt.Sprintf(" and %d more", a.Others)
			}
		}
		row := []string{what, text.Count(a.Row), text.Count(a.Since), evidenceNumber(a.Log10)}
		if r.FirstTime != "" {
			row = append(row, a.Time)
		}
		t.Rows = append(t.Rows, row)
	}
	if len(t.Rows) > 0 {
		s.Tables = append(s.Tables, t)
	}
	if len(r.History) == 0 {
		return s
	}
	evidence := &plot.Plot{Text: plot.Caption{Title: "Evidence for a change", Description: "Powers of ten, over rows; an alarm needs the value of the horizontal line.",
		Note: "An unchanged stream of independent rows (or blocks) ever reaches evidence of 1,000 to 1 (3 on this axis) with a probability of at most 1 in 1,000, however often one looks. " +
			"Columns: the one with the most evidence, less their number. Higher values are drawn at " + strconv.Itoa(maxEvidence) + "."},
		X: plot.Axis{Label: "rows"}, Y: plot.Axis{Label: "evidence (power of ten)"}}
	series := map[string]*plot.Series{"scores": {Name: "scores"}, "columns": {Name: "columns"}, "budget": {Name: "budget"}}
	alerts := plot.Series{}
	for _, p := range append([]result.MonitorPoint{{}}, r.History...) { // evidence starts at 10^0
		for name, y := range map[string]float64{"scores": p.Scores, "columns": p.Columns, "budget": p.Budget} {
			series[name].X = append(series[name].X, float64(p.Row))
			series[name].Y = append(series[name].Y, math.Min(y, maxEvidence))
		}
		if p.Rows > 0 {
			alerts.X, alerts.Y = append(alerts.X, float64(p.Row)), append(alerts.Y, share(p.Alerts, p.Rows))
		}
	}
	needed := 0.0
	if r.Scores != nil {
		needed = r.Scores.Needed
		evidence.Series = append(evidence.Series, *series["scores"])
	}
	if r.Columns != nil && len(r.Columns.List) > 0 {
		needed = r.Columns.List[0].Needed - detmath.Log(float64(len(r.Columns.List)))/math.Ln10
		evidence.Series = append(evidence.Series, *series["columns"])
	}
	if r.Budget != nil {
		needed = r.Budget.Needed
		evidence.Series = append(evidence.Series, *series["budget"])
	}
	evidence.Rules = []plot.Rule{{Name: "alarm", At: needed, Horizontal: true}}
	rate := &plot.Plot{Text: plot.Caption{Title: "Alerts", Description: "Fraction of rows with an alert, over rows."},
		X: plot.Axis{Label: "rows"}, Y: plot.Axis{Label: "fraction of rows", Unit: plot.Percent}, Series: []plot.Series{alerts}}
	s.Figures = []plot.Figure{evidence, rate}
	return s
}

func monitoringScores(r *result.Monitoring) Section {
	s := Section{Title: "Scores"}
	if r.Scores == nil {
		s.Paragraphs = []string{"Not watched: the model keeps no scores of rows that did not train it."}
		return s
	}
	x := r.Scores
	s.Facts = []Fact{{Name: "reference", Value: fmt.Sprintf("%s of %s", text.Plural(x.Reference, "row"), x.Source)},
		{Name: "mean rank", Value: text.Percent(x.MeanRank) + " (50 % if nothing changed)"},
		{Name: "mean score", Value: fmt.Sprintf("%+.2f standard deviations from that before", x.MeanShift)},
		{Name: "evidence", Value: fmt.Sprintf("%s, alarm at %s", evidenceNumber(x.Log10), evidenceNumber(x.Needed))},
		{Name: "most probable change", Value: sinceText(x.Since, x.SinceTime)}}
	t := Table{Caption: "Rows by score", Header: []string{"score", "before", "since then", "all rows"}, Numbers: []int{1, 2, 3}}
	for i, l := range x.Levels {
		if i == x.Level {
			t.Strong = append(t.Strong, i)
		}
		t.Rows = append(t.Rows, []string{levelText(l), text.Percent(l.Expected), text.Percent(l.Seen), text.Percent(l.All)})
	}
	s.Tables = []Table{t}
	return s
}

func monitoringColumns(r *result.Monitoring) Section {
	s := Section{Title: "Columns"}
	if r.Columns == nil {
		s.Paragraphs = []string{"Not watched: the model keeps no profile, the rows are scores without columns, or blocks of rows are compared, by their scores alone."}
		return s
	}
	table := func(caption string, named bool) {
		t := Table{Caption: caption, Numbers: []int{2, 3, 4, 5, 6}, Tall: true,
			Header: []string{"column", "change", "after row", "evidence", "PSI", "by chance", "missing"}}
		for i := range r.Columns.List {
			x := &r.Columns.List[i]
			if x.Alarm != named || !named && len(t.Rows) == listedColumns {
				continue
			}
			t.Rows = append(t.Rows, []string{x.Column, changeText(x), text.Count(x.Since), evidenceNumber(x.Log10), text.Fixed(x.PSI, 3),
				text.Fixed(x.Chance, 3), text.Percent(share(x.Missing, r.Rows))})
		}
		if len(t.Rows) > 0 {
			s.Tables = append(s.Tables, t)
		}
	}
	if len(r.Columns.List) > 0 {
		s.Paragraphs = []string{fmt.Sprintf("A column is named if its evidence reaches %s and the change has a size: a tenth of the rows moved, or a fraction "+
			"doubled or halved by at least one percentage point. All names together are then wrong with a probability of at most a third of %s, "+
			"if nothing changed and rows are independent. The others are in the order of their evidence, which has no error rate.",
			evidenceNumber(r.Columns.List[0].Needed), text.Percent(r.FalseAlarm.Float64()))}
	}
	table("Named", true)
	table("Others, most changed first", false)
	return s
}

func monitoringLabels(r *result.Monitoring) Section {
	s := Section{Title: "Labels of alerts"}
	l := r.Labels
	s.Facts = []Fact{{Name: "alerts with a label", Value: fmt.Sprintf("%s positive, %s negative", text.Count(l.Positives),
		text.Count(l.Negatives))}}
	if l.Positives+l.Negatives > 0 {
		s.Facts = append(s.Facts, Fact{Name: "precision", Value: fmt.Sprintf("%s (95 %% CI %s to %s)", text.Percent(l.Precision),
			text.Percent(l.Low), text.Percent(l.High))})
	}
	if l.Waiting > 0 {
		s.Facts = append(s.Facts, Fact{Name: "waiting for a label", Value: text.Count(l.Waiting)})
	}
	if l.Dropped > 0 {
		s.Facts = append(s.Facts, Fact{Name: "no longer waited for", Value: text.Count(l.Dropped)})
	}
	if b := r.Budget; b != nil {
		s.Facts = append(s.Facts, Fact{Name: "budget", Value: text.Percent(b.Rate)},
			Fact{Name: "evidence that it is broken", Value: fmt.Sprintf("%s, alarm at %s", evidenceNumber(b.Log10), evidenceNumber(b.Needed))})
	}
	s.Paragraphs = []string{"Only rows with an alert can be false alarms, so their labels are enough to show that a budget is broken. " +
		"A label that is not known yet counts as no false alarm: it can only delay an alarm."}
	return s
}

// AuditTitle is the title of the section about audited rows.
const AuditTitle = "Audited rows"

func monitoringAudit(r *result.Monitoring) Section {
	s := Section{Title: AuditTitle}
	a := r.Audit
	if a == nil {
		s.Paragraphs = []string{"No rows are audited, so the recall is not known: positives without an alert never receive a label."}
		return s
	}
	rate := func(x result.AuditRate) string {
		if x.Of == 0 {
			return ""
		}
		return fmt.Sprintf("%s of %s: %s (95 %% CI %s to %s)", text.Count(x.Count), text.Count(x.Of), text.Percent(share(x.Count, x.Of)),
			text.Percent(x.Low), text.Percent(x.High))
	}
	s.Facts = []Fact{{Name: "audited rows", Value: fmt.Sprintf("%s (%s of all), %s with a label", text.Count(a.Marked),
		text.Percent(a.Rate.Float64()), text.Count(a.Labelled))},
		{Name: "recall", Value: rate(a.Recall)}, {Name: "false positive rate", Value: rate(a.FPR)}}
	s.Paragraphs = []string{"Audited rows are chosen by a hash of their ids, whatever their score. So their labels measure all rows, and they may calibrate a new threshold."}
	return s
}

func monitoringLimits(r *result.Monitoring) Section {
	holds := "independent rows, and if the reference and the profile are of rows like those that arrive when all is well"
	if r.Block != "" {
		holds = "blocks of " + r.Block + " that depend on each other only within, and that would come in any order when all is well"
	}
	return Section{Title: "What this page cannot say", Paragraphs: []string{
		"No alarm is no proof that nothing changed. A small change takes many rows to be found, and a relation between columns and labels may change while columns and scores do not.",
		"An alarm means that the rows are not exchangeable with the reference. That may be a change of the world or of a sensor. It may also be a burst, " +
			"an hour of the day, or one entity with many rows: look at when it began. Alarms also need a size: the rate above the threshold off by a fifth, a tenth of the rows moved, or the mean score by a twentieth of its standard deviation.",
		fmt.Sprintf("The probability of %s is for all alarms together, from the first row of the monitor on. It holds for %s.",
			text.Percent(r.FalseAlarm.Float64()), holds),
	}}
}
