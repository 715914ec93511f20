package wording

import (
	"fmt"
	"math"

	"toptau/calibrate"
	"toptau/internal/core/heldout"
	"toptau/internal/core/text"
	"toptau/method"
	"toptau/metric"
	"toptau/result"
)

// PromiseOf returns what a guarantee promises, as a clause.
func PromiseOf(g *calibrate.Guarantee) string {
	switch g.Kind {
	case metric.GoalTop:
		return "at most " + text.Percent(g.Rate.Float64()) + " of all rows become alerts"
	case metric.GoalMinRecall:
		return "at least " + text.Percent(g.Rate.Float64()) + " of the positives are found"
	case metric.GoalMinPrecision:
		promise := "at least " + text.Percent(g.Rate.Float64()) + " of the alerts are real"
		if !g.Prevalence.IsZero() {
			promise += " wherever at least " + text.Percent(g.Prevalence.Float64()) + " of the rows are positive"
		}
		if g.Recall != nil {
			promise += ", and " + PromiseOf(g.Recall)
		}
		return promise
	}
	return "at most " + text.Percent(GuaranteedLimit(g)) + " of the negatives raise a false alarm"
}

// GuaranteedLimit returns the rate that holds with confidence 1 - delta: the requested one, or the resulting
// one for the absolute top.
func GuaranteedLimit(g *calibrate.Guarantee) float64 {
	if g.Rate.IsZero() {
		return g.Bound
	}
	return g.Rate.Float64()
}

// WithoutGuarantee returns what a plain threshold does on new rows, as a clause.
func WithoutGuarantee(g metric.Goal, e *result.Expected, unit *result.Unit) string {
	kept, missed, rows := "budget", "exceed", NegativeNames(unit)
	switch {
	case g.Kind == metric.GoalMinPrecision:
		kept, missed = "precision", "miss"
	case g.Kind == metric.GoalMinRecall:
		kept, missed, rows = "recall", "miss", PositiveNames(unit)
	case e.Population == method.AllRows.String():
		rows = UnitNames(unit)
	}
	alpha := g.Alpha()
	unresolved := !alpha.IsZero() && alpha.Floor(e.Rows+1) < 1
	switch {
	case g.Kind == metric.GoalAbsoluteTop:
		return "the threshold is the largest of these scores, and a new one may be larger"
	case e.Refitted:
		return fmt.Sprintf("the model is fitted again to all rows, so new data may %s the %s", missed, kept)
	case unresolved && e.Tied != nil:
		return fmt.Sprintf("too few %s for the %s, so new data may %s it", rows, kept, missed)
	case unresolved:
		return fmt.Sprintf("too few %s for the %s, so expect new data to %s it", rows, kept, missed)
	case e.Tied != nil && g.Kind == metric.GoalMinPrecision && e.Tied.Equal == 0:
		return "all " + UnitNames(unit) + " are alerts, so expect a higher precision"
	case e.Tied != nil && g.Kind == metric.GoalMinPrecision:
		return fmt.Sprintf("the next %s %s score the same, so expect a higher precision", text.Count(e.Tied.Equal), UnitNames(unit))
	case e.Tied != nil && g.Kind == metric.GoalMinRecall:
		return fmt.Sprintf("%s of %s %s have the lowest score above it, so expect to find more", text.Count(e.Tied.Equal), text.Count(e.Rows),
			rows)
	case e.Tied != nil:
		return fmt.Sprintf("%s of %s %s score exactly the threshold, so expect less than the budget", text.Count(e.Tied.Equal),
			text.Count(e.Rows), rows)
	}
	return fmt.Sprintf("the %s is kept on average, so expect new data to %s it about half the time", kept, missed)
}

// LuckOf returns that few real alerts have a precision, and the best that more of them have, as a clause.
func LuckOf(g metric.Goal, l *heldout.Lucky) string {
	line := fmt.Sprintf("the precision of %s rests on %s of %s, so it may be luck: ", text.Percent(g.Rate.Float64()),
		text.Plural(l.Real, "real alert"),
		text.Count(l.Rows))
	if l.BestRows == 0 {
		return line + "with so few positives nothing shows it"
	}
	return line + fmt.Sprintf("with more real alerts the best precision on these rows is %s (%s of %s)", text.Percent(l.Rate),
		text.Count(l.BestReal),
		text.Count(l.BestRows))
}

// ExpectedInterval returns the interval of an expected rate, in parentheses, and of tied scores the counts.
func ExpectedInterval(e *result.Expected) string {
	counts, about := "", ""
	if e.Tied != nil && math.Abs(e.Rate-float64(e.Tied.Counted)/float64(e.Rows)) < 1e-9 { // not of weighted rows
		counts = fmt.Sprintf("%s of %s; ", text.Count(e.Tied.Counted), text.Count(e.Rows))
	}
	if e.Approximate {
		about = "about "
	}
	return fmt.Sprintf("(%s%s CI %s%s to %s)", counts, text.Percent(e.Confidence), about, text.Percent(*e.Low), text.Percent(*e.High))
}

// ProfitText returns what alerts bring: "1,230 (95 % CI 800 to 1,700), 45 alerts that cost 20 each find 2,130 of 4,000".
func ProfitText(p *metric.Profit) string {
	line := text.Number(p.Profit)
	if i := p.Interval; i != nil {
		line += fmt.Sprintf(" (%s CI %s to %s)", text.Confidence(1-i.Confidence), text.Number(i.Low), text.Number(i.High))
	}
	return line + fmt.Sprintf(", %s that cost %s each find %s of %s", text.Plural(int(p.Alerts), "alert"), text.Exact(p.Price),
		text.Number(p.Found),
		text.Number(p.Possible))
}
