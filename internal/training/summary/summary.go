// Package summary says in about ten sentences what to expect of a model.
package summary

import (
	"fmt"
	"math"
	"strings"

	"toptau/calibrate"
	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/internal/models/wording"
	"toptau/internal/training/leakage"
	"toptau/internal/training/tune"
	"toptau/method"
	"toptau/metric"
	"toptau/result"
	"toptau/threshold"
)

// Facts are the facts of a summary.
type Facts struct {
	Goal      metric.Goal
	Unit      *result.Unit       // what all rates count; nil: rows
	Value     *metric.Proportion // amounts found; nil: there are none
	ValueName string             // their column
	Profit    *metric.Profit     // with a cost of alerts; nil: there is none
	Decisions metric.Confusion   // decisions on the rows of Basis, among rows with Prevalence; undefined rates are left out of the summary
	Basis     string             // the measured rows: "the test part", "out-of-fold scores of the training rows"
	Measured  bool               // the rows of Basis took no part in training, so rates are not estimates
	Expected  *result.Expected   // expected rate on new rows, used unless Measured; nil: not known

	Delta       threshold.Rate       // of the requested guarantee; zero: none was requested
	Guarantee   *calibrate.Guarantee // guarantee of the threshold, or nil
	Price       *result.Price        // of the guarantee; nil: not known
	NoGuarantee string               // the reason why there is no guarantee, as a clause

	Prevalence      float64 // assumed fraction of positives
	PrevalenceGiven bool    // the user set it
	PrevalenceHere  bool    // it is that of the rows of Basis, otherwise that of the training rows

	Chosen string           // description of the chosen model; "": none was chosen
	Gain   *result.Estimate // gain over logistic regression on raw columns; nil: not known or no other model

	Leaks    []leakage.Leak // columns that should not be features, the worst first
	Warnings int            // number of warnings printed below the summary
}

// Lines returns about ten sentences: first what to expect and where that was measured, then, from the goal on, how the model came about.
func Lines(f Facts) []string {
	var lines []string
	for _, line := range []string{
		f.recallLine(), f.valueLine(), f.profitLine(), f.precisionLine(), f.falseAlarmLine(), f.guaranteeLine(), f.workLine(), f.unitLine(),
		f.basisLine(), f.prevalenceLine(), f.leakageLine(), f.goalLine(), f.choiceLine(), f.priceLine(), f.cautionLine(),
	} {
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func (f *Facts) goalLine() string {
	if f.Goal == (metric.Goal{}) {
		return ""
	}
	return GoalLine(f.Goal)
}

// GoalLine returns the sentence from which on Lines is about how the model came about.
func GoalLine(g metric.Goal) string { return "Goal: " + g.String() + "." }

// Claim returns the sentence of Lines about the guarantee.
func Claim(f Facts) string { return f.guaranteeLine() }

// unitLine describes what is counted, if that is not rows.
func (f *Facts) unitLine() string {
	if f.Unit == nil {
		return ""
	}
	each := f.Unit.Entity
	if f.Unit.Per != "" {
		each += " and " + f.Unit.Per
	}
	return fmt.Sprintf("Counted: one alert per %s, which is positive if one of its rows is.", each)
}

// valueLine returns the fraction of the amounts that is found.
func (f *Facts) valueLine() string {
	if f.Value == nil {
		return ""
	}
	return rateLine("%s of the positives' "+f.ValueName+" is found", *f.Value)
}

// profitLine returns what the alerts bring.
func (f *Facts) profitLine() string {
	p := f.Profit
	if p == nil {
		return ""
	}
	return "Profit: " + wording.ProfitText(p) + "."
}

// known reports whether there are rates of both classes, which the fraction of real alerts needs.
func (f *Facts) known() bool {
	tpr, fpr := &f.Decisions.TruePositiveRate, &f.Decisions.FalsePositiveRate
	return tpr.Defined() && fpr.Defined() && tpr.Denominator > 0 && fpr.Denominator > 0 && f.Prevalence > 0
}

func (f *Facts) precisionLine() string {
	p := &f.Decisions.Precision
	switch {
	case !f.known():
		return ""
	case !p.Defined():
		return "Nothing scores above the threshold, so there are no alerts."
	}
	line := fmt.Sprintf("Of 1,000 alerts, about %s are real", ofThousand(p.Rate))
	if i := p.Interval; i != nil {
		line += fmt.Sprintf(" (%s CI %s to %s)", text.Confidence(1-i.Confidence), ofThousand(i.Low), ofThousand(i.High))
	}
	return line + "."
}

func ofThousand(fraction float64) string { return text.Amount(math.Round(1000 * fraction)) }

func (f *Facts) recallLine() string {
	return rateLine("%s of the "+wording.PositiveNames(f.Unit)+" are found", f.Decisions.TruePositiveRate)
}

// refittedSpread describes the measured rates of refitted models, which have no interval: 0.2 measured with 3,000 rows,
// 3 from docs/results/thresholds.md.
const refittedSpread = "the trees are then fitted again to all rows, and rates of 0.2 to 3 times the budget were measured where the signal is weak"

// falseAlarmLine returns the rate that the goal limits, and the limit if that is a rate of false alarms.
func (f *Facts) falseAlarmLine() string {
	line := f.alarmRateLine()
	if line != "" && f.Goal.Kind == metric.GoalMaxFPR {
		line += fmt.Sprintf(" The budget is %s.", text.Percent(f.Goal.Alpha().Float64()))
	}
	return line
}

func (f *Facts) alarmRateLine() string {
	e := f.Expected
	if f.Measured || e == nil {
		return rateLine("%s of the "+wording.NegativeNames(f.Unit)+" raise a false alarm", f.Decisions.FalsePositiveRate)
	}
	rows := wording.NegativeNames(f.Unit)
	what := "of new " + rows + " to raise a false alarm"
	switch {
	case f.Goal.Kind == metric.GoalMinPrecision:
		rows, what = wording.UnitNames(f.Unit), "of new alerts to be real"
	case f.Goal.Kind == metric.GoalMinRecall:
		rows, what = method.Positives.String(), "of new positives to be found"
	case e.Population == method.AllRows.String():
		rows = wording.UnitNames(f.Unit)
		what = "of new " + rows + " to become alerts"
	}
	origin := map[string]string{
		string(tune.SchemeCertified): "held out", string(tune.SchemeHeldOut): "held out",
		string(tune.SchemeCrossFitted): "each scored by fits that did not see it",
		string(tune.SchemeValidation):  "of the validation part, which also chose the model",
	}[string(e.Scheme)]
	from := fmt.Sprintf("from %s %s %s", text.Count(e.Rows), rows, origin)
	if e.Scheme == string(tune.SchemeAllRows) {
		from = fmt.Sprintf("estimated from all %s %s, each scored by a fit that did not see it", text.Count(e.Rows), rows)
	}
	if e.Refitted && !f.Goal.IsBudget() {
		return fmt.Sprintf("Expect about %s %s, %s. The trees are then fitted again to all rows, so that is not exact.", text.Percent(e.Rate),
			what, from)
	}
	if e.Refitted {
		return fmt.Sprintf("Expect about %s %s, %s. That is not an interval: %s.", text.Percent(e.Rate), what, from, refittedSpread)
	}
	return fmt.Sprintf("Expect %s %s %s, %s.", text.Percent(e.Rate), what, wording.ExpectedInterval(e), from)
}

// rateLine returns a rate with its counts and interval, "" if it is undefined.
func rateLine(format string, p metric.Proportion) string {
	if !p.Defined() || p.Denominator == 0 {
		return ""
	}
	line := fmt.Sprintf(format, text.Percent(p.Rate)) + fmt.Sprintf(" (%s of %s", text.Amount(p.Numerator), text.Amount(p.Denominator))
	if p.Interval != nil {
		line += fmt.Sprintf("; %s CI %s to %s", text.Confidence(1-p.Interval.Confidence), text.Percent(p.Interval.Low),
			text.Percent(p.Interval.High))
	}
	return line + ")."
}

// Rows is the number of rows for which alerts are counted if the goal has no period.
const Rows = 100000

// workLine returns the expected numbers of alerts and missed positives per period.
func (f *Facts) workLine() string {
	if !f.known() {
		return ""
	}
	rows := float64(Rows)
	if f.Goal.Of > 0 {
		rows = float64(f.Goal.Of)
	}
	positives := float64(rows * f.Prevalence)
	hits := float64(positives * f.Decisions.TruePositiveRate.Rate)
	return fmt.Sprintf("Per %s %s: about %s alerts, %s of them real; %s positives missed.", text.Amount(rows), wording.UnitNames(f.Unit),
		text.Amount(rows*f.Decisions.AlertRate.Rate), text.Amount(hits), text.Amount(positives-hits))
}

func (f *Facts) guaranteeLine() string {
	if g := f.Guarantee; g != nil && g.Certified {
		rows := "the " + text.Plural(g.Negatives, "negative")
		switch {
		case g.Kind == metric.GoalTop || g.Kind == metric.GoalMinRecall || g.Kind == metric.GoalMinPrecision:
			rows = "those"
		case f.Unit != nil:
			rows = "the " + text.Count(g.Negatives) + " " + wording.NegativeNames(f.Unit)
		}
		return fmt.Sprintf("Guaranteed with %s confidence, for %s like %s that set the threshold: %s.",
			text.Confidence(g.Delta.Float64()), wording.UnitNames(f.Unit), rows, wording.PromiseOf(g))
	}
	switch {
	case f.NoGuarantee != "":
		return "No guarantee: " + f.NoGuarantee + "."
	case !f.Delta.IsZero():
		return "No guarantee."
	case f.Goal.Kind == metric.GoalCostAlert:
		return "No guarantee: amounts have no bound, so no threshold can promise a profit. Most money of one delivery may be in few rows."
	case f.Expected == nil:
		return "No guarantee was requested."
	}
	return "No guarantee was requested: " + wording.WithoutGuarantee(f.Goal, f.Expected, f.Unit) + "."
}

func (f *Facts) prevalenceLine() string {
	if !(f.Prevalence > 0) {
		return ""
	}
	origin := "as in training"
	switch {
	case f.PrevalenceGiven:
		origin = "as set"
	case f.PrevalenceHere:
		origin = "as in these rows"
	}
	return fmt.Sprintf("Assumes %s %s, %s.", text.Percent(f.Prevalence), wording.PositiveNames(f.Unit), origin)
}

// priceLine describes what the guarantee costs.
func (f *Facts) priceLine() string {
	p := f.Price
	if p == nil {
		return ""
	}
	return fmt.Sprintf("Price of the guarantee: the threshold aims at %s instead of %s and finds %s of the positives instead of %s (out of fold). "+
		"With twice the calibration rows it would find %s.",
		text.Percent(p.Certified.Rate), text.Percent(p.Plain.Rate), text.Percent(p.Certified.Found), text.Percent(p.Plain.Found),
		text.Percent(p.Doubled.Found))
}

func (f *Facts) basisLine() string {
	if f.Basis == "" {
		return ""
	}
	return "Measured on " + f.Basis + "."
}

func (f *Facts) choiceLine() string {
	if f.Chosen == "" {
		return ""
	}
	line := "Chosen: " + f.Chosen
	if g := f.Gain; g != nil {
		line += fmt.Sprintf("; %s ± %s points over logistic regression on raw columns, in cross-validation",
			text.Points(g.Mean), strings.TrimPrefix(text.Points(g.StandardError), "+"))
	}
	return line + "."
}

func (f *Facts) cautionLine() string {
	const caution = "These numbers only apply to data like this"
	switch f.Warnings {
	case 0:
		return caution + "."
	case 1:
		return caution + "; see the note below."
	}
	return fmt.Sprintf("%s; see the %d notes below.", caution, f.Warnings)
}

// leakageLine returns the summary's line about the most severe column, "" if there is none.
func (f *Facts) leakageLine() string {
	if len(f.Leaks) == 0 {
		return ""
	}
	worst := f.Leaks[0]
	line := "Column " + diag.Quote(worst.Column) + " "
	switch worst.Code {
	case leakage.Copy:
		line += "copies the label"
	case leakage.Separates:
		line += "separates the classes alone"
	case leakage.Numbers:
		line += "numbers the rows"
	case leakage.Names:
		line += "has nearly as many categories as rows"
	}
	if worst.Code == leakage.Names { // its rare categories are no features, so rows without it score alike
		line += ", so it may be an identifier."
	} else {
		line += ". If new rows lack it, or it is filled in after the outcome, these numbers do not apply."
	}
	if n := len(f.Leaks) - 1; n > 0 {
		line += fmt.Sprintf(" See the notes for %s.", text.Plural(n, "more such column"))
	}
	return line
}
