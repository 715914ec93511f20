package monitor

import (
	"cmp"
	"fmt"
	"slices"

	"toptau/diag"
	"toptau/internal/core/binomial"
	"toptau/internal/core/text"
	"toptau/result"
	"toptau/threshold"
)

// confidence is that of the intervals of precision, recall and false positive rate.
const confidence = 0.95

// Result describes the watch after the rows so far. It changes nothing that later rows see.
func (w *Watch) Result() *result.Monitoring {
	w.refresh()
	r := &result.Monitoring{Digest: w.digest, At: w.point.Name, FalseAlarm: w.options.FalseAlarm, Rows: w.rows, Failed: w.failed, Alerts: w.alerts,
		FirstTime: w.history.firstTime, LastTime: w.lastTime, Alarms: []result.MonitorAlarm{}, History: w.historyNow()}
	for i, a := range w.raise(slices.Clip(w.alarms), w.lastTime, true) {
		r.Alarms = append(r.Alarms, result.MonitorAlarm{Stream: a.Stream, Column: a.Column, Others: a.Others, Row: a.Row, Time: a.Time, Since: a.Since,
			SinceTime: w.history.timeOf(a.Since), Log10: a.Log10, Open: i >= len(w.alarms)})
	}
	if w.scores.byBlocks() {
		r.Block, r.Blocks = blockText(w.options.BlockRows, w.options.BlockSpan), w.scores.blocks.Blocks
	}
	r.Scores, r.Columns, r.Budget = w.scoresNow(), w.columnsNow(), w.budgetNow()
	r.Labels, r.Audit = w.labels.now95(), w.labels.auditNow(w.options.Audit)
	r.Warnings = w.warnings()
	return r
}

func (w *Watch) evidence(log float64, parts int, alarm bool, since, rows int) result.Evidence {
	return result.Evidence{Log10: log10(log), Needed: log10(w.needed(parts)), Alarm: alarm, Since: since, SinceTime: w.history.timeOf(since), Rows: rows}
}

func (w *Watch) scoresNow() *result.MonitorScores {
	s := w.scores
	if s == nil {
		return nil
	}
	r := &result.MonitorScores{Evidence: w.evidence(s.now.Log, 1, w.scoresChanged(), s.now.Since, s.now.Rows),
		Reference: s.reference.Rows, Source: s.reference.Source, Level: s.now.Event, AtPoint: s.atPoint, MeanRank: s.meanRank(), MeanShift: s.shift.Shift}
	total := sum(s.gaps)
	for e, event := range s.events {
		l := result.ScoreLevel{Score: s.reference.Scores[event.First-1], MoreThan: s.values.more[e]}
		l.Expected, l.Seen = s.rates(e)
		l.All = fraction(sum(s.gaps[event.First:event.End])+s.values.tied[e], total)
		r.Levels = append(r.Levels, l)
	}
	return r
}

// meanRank returns the mean rank of the scores, each in the middle of its gap.
func (s *scoreWatch) meanRank() float64 {
	total, ranks, below := sum(s.gaps), 0.0, 0
	for j, n := range s.gaps {
		mass := s.reference.Rows + 1 - below
		if j < len(s.reference.Above) {
			mass = s.reference.Rows - s.reference.Above[j] - below
		}
		ranks += float64(float64(n) * float64(2*below+mass) / 2)
		below += mass
	}
	if total == 0 {
		return 0.5
	}
	return ranks / float64(total) / float64(s.reference.Rows+1)
}

func (w *Watch) columnsNow() *result.MonitorColumns {
	if len(w.columns) == 0 || !w.seen {
		return nil
	}
	profile := w.model.Profile()
	r := &result.MonitorColumns{Rows: profile.Rows}
	for i := range w.columns {
		c := &w.columns[i]
		x := result.MonitorColumn{Column: c.name, Missing: c.missing(), Unknown: c.unknown,
			Evidence: w.evidence(c.now.Log, len(w.columns), w.columnChanged(c), c.now.Since, c.now.Rows)}
		x.PSI, x.Chance = c.index(profile.Rows)
		c.describe(&x)
		r.List = append(r.List, x)
	}
	slices.SortStableFunc(r.List, func(a, b result.MonitorColumn) int {
		return cmp.Or(compareBools(b.Alarm, a.Alarm), cmp.Compare(b.Log10, a.Log10))
	})
	return r
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func (w *Watch) budgetNow() *result.MonitorBudget {
	l := w.labels
	if l.test == nil {
		return nil
	}
	return &result.MonitorBudget{Evidence: w.evidence(l.now.Log, 1, w.budgetBroken(), l.now.Since, l.now.Rows), Kind: l.budget, Rate: l.rate, Bound: l.bound, Events: l.now.Events}
}

func (w *labelWatch) now95() result.MonitorLabels {
	r := result.MonitorLabels{Negatives: w.alerts[0], Positives: w.alerts[1], Waiting: len(w.pending), Dropped: w.dropped}
	if n := r.Negatives + r.Positives; n > 0 {
		r.Precision = float64(r.Positives) / float64(n)
		r.Low, r.High = binomial.ClopperPearson(r.Positives, n, confidence)
	}
	return r
}

// auditNow describes the audited rows, nil if there is no audit.
func (w *labelWatch) auditNow(audit threshold.Rate) *result.MonitorAudit {
	if audit.IsZero() {
		return nil
	}
	a := w.audited
	rate := func(class int) result.AuditRate {
		r := result.AuditRate{Count: a[class][1], Of: a[class][0] + a[class][1], High: 1}
		if r.Of > 0 {
			r.Low, r.High = binomial.ClopperPearson(r.Count, r.Of, confidence)
		}
		return r
	}
	r := &result.MonitorAudit{Rate: audit, Marked: w.marked, Labelled: w.labelled, Recall: rate(1), FPR: rate(0)}
	r.Positives = r.Recall.Of
	return r
}

func (w *Watch) historyNow() []result.MonitorPoint {
	points := w.history.points
	if len(points) == 0 || points[len(points)-1].Row < w.rows {
		points = append(slices.Clip(points), w.pointNow(w.rows, w.lastTime))
	}
	list := []result.MonitorPoint{}
	last := 0
	for _, p := range points {
		list = append(list, result.MonitorPoint{Row: p.Row, Time: p.Time, Scores: p.Scores, Columns: p.Columns, Budget: p.Budget,
			Rows: p.Row - last, Alerts: p.Alerts})
		last = p.Row
	}
	return list
}

// warnings lists what the watch cannot see.
func (w *Watch) warnings() []diag.Warning {
	var list []diag.Warning
	warn := func(code, text string, fixes ...diag.Fix) {
		list = append(list, diag.Warning{Code: code, Text: text, Fixes: fixes})
	}
	if w.scores == nil {
		warn("no-reference", "the model has no reference scores, so that scores are not watched", diag.Fix{Param: "baseline"})
	}
	if w.scores.byBlocks() {
		b := w.scores.blocks
		warn("blocks-of-scores", "with blocks only the scores are watched: the evidence on columns and the budget needs independent rows")
		if b.mean == nil {
			warn("few-blocks", fmt.Sprintf("the first %d blocks are what later ones are compared with; %d have ended", firstBlocks, b.Blocks))
		}
		if b.NoTime > 0 {
			warn("no-time", text.Plural(b.NoTime, "row")+" had no time that can be read, and counted in the block of the row before", diag.Fix{Param: "time", Value: "COL"})
		}
	} else if len(w.columns) == 0 {
		warn("no-profile", "the model has no profile, so that columns are not watched", diag.Fix{Param: "baseline"})
	}
	if w.point.Entity != "" {
		warn("entity-budget", "the budget of point "+diag.Quote(w.point.Name)+" counts values of "+diag.Quote(w.point.Entity)+", not rows; it is not watched")
	}
	if l := w.labels; l.test != nil && l.bound > float64(looseBudget*l.rate) {
		warn("loose-budget", fmt.Sprintf("the threshold has no guarantee and few calibration rows: the budget of %s is broken only if more than %s is proven",
			text.Percent(l.rate), text.Percent(l.bound)))
	}
	if w.failed > 0 {
		warn("rows-without-score", text.Plural(w.failed, "row")+" had no score")
	}
	return list
}

func sum(list []int) int {
	total := 0
	for _, n := range list {
		total += n
	}
	return total
}

func fraction(count, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(count) / float64(of)
}
