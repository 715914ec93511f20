package metric

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/method"
	"toptau/threshold"
)

// GoalKind is what a budget is counted in, or the rate that a threshold must reach. Its text is the name of the
// parameter that sets it.
type GoalKind string

const (
	NoGoal          GoalKind = ""             // the zero value: no goal was set
	GoalMaxFPR      GoalKind = "max-fpr"      // at most a fraction of the negatives
	GoalTop         GoalKind = "top"          // a fraction of all rows, or the best Count of every Of rows
	GoalAlerts      GoalKind = "alerts"       // Count alerts in a period of Of rows
	GoalAbsoluteTop GoalKind = "absolute-top" // above every negative

	GoalMinPrecision GoalKind = "min-precision" // at least a fraction of the alerts is real
	GoalMinRecall    GoalKind = "min-recall"    // at least a fraction of the positives is found

	GoalCostAlert GoalKind = "cost-alert" // the highest sum of amounts found, less the cost of the alerts
)

// Goal is the budget that a model is trained for. It is plain data, and equal goals are equal with ==.
//
// GoalMaxFPR uses Rate, GoalAlerts uses Count and Of, GoalTop uses Rate or else Count and Of, and GoalAbsoluteTop
// uses none of them; fields that a goal does not use are zero. Check validates a goal, and so does every function
// that takes one.
type Goal struct {
	Kind      GoalKind
	Rate      threshold.Rate // the fraction of the negatives (GoalMaxFPR) or of all rows (GoalTop); the lowest precision or recall
	Count, Of int64          // 0 < Count < Of
	Recall    threshold.Rate // with GoalMinPrecision: the lowest recall; unset: none
	Cost      float64        // GoalCostAlert: of an alert, in the unit of the amounts
	// With GoalMinPrecision: the fraction of positives at which the precision is meant. It then holds for every larger fraction, too.
	// Unset: that of the rows.
	Prevalence threshold.Rate

	invalid string // the text of a rate that RateGoal could not read
}

// RateGoal returns a goal of a kind with a rate, which is written as "1%", "0.01" or "1/100". A
// text that is not a rate gives a goal that Check refuses.
func RateGoal(kind GoalKind, rate string) Goal {
	r, err := threshold.ParseRate(rate)
	if err != nil {
		return Goal{Kind: kind, invalid: rate}
	}
	return Goal{Kind: kind, Rate: r}
}

// goalFixes are examples of goals.
var goalFixes = []diag.Fix{{Param: "max-fpr", Value: "0.1%"}, {Param: "top", Value: "1%"}, {Param: "absolute-top"}}

// Check returns an error of kind usage for a goal that is impossible for any data.
func (g Goal) Check() error {
	counted := g.Count != 0 || g.Of != 0
	switch {
	case !g.Recall.IsZero() && g.Kind != GoalMinPrecision:
		return g.wrong("with a recall", "a recall with a precision only")
	case g.Cost != 0 && g.Kind != GoalCostAlert:
		return g.wrong("with a cost", "a cost of alerts alone")
	case !g.Prevalence.IsZero() && g.Kind != GoalMinPrecision:
		return g.wrong("with a prevalence", "a prevalence with a precision only")
	}
	switch g.Kind {
	case GoalMaxFPR, GoalMinPrecision, GoalMinRecall:
		if err := g.checkRate(); err != nil || !counted {
			return err
		}
		return g.wrong("with a rate and a count", "a rate")
	case GoalTop:
		if counted {
			return g.checkCounts()
		}
		return g.checkRate()
	case GoalAlerts:
		return g.checkCounts()
	case GoalAbsoluteTop, GoalCostAlert:
		switch {
		case counted || !g.Rate.IsZero():
			return g.wrong("with a rate or a count", "neither")
		case g.Kind == GoalCostAlert && !(g.Cost > 0 && g.Cost <= maxCost):
			return g.wrong(text.Exact(g.Cost), "an amount above 0, at most 1e15")
		}
		return nil
	case NoGoal:
		return &diag.Error{Kind: diag.Usage, Found: "no goal", Expected: "a goal", Fixes: goalFixes}
	}
	return &diag.Error{Kind: diag.Usage, Found: "a goal of kind " + diag.Quote(string(g.Kind)), Expected: "a goal", Fixes: goalFixes}
}

// wrong returns an error about the goal's parameter.
func (g Goal) wrong(found, expected string) error {
	return &diag.Error{Kind: diag.Usage, Param: string(g.Kind), Found: found, Expected: expected}
}

// checkRate returns an error if the text of the rate was none.
func (g Goal) checkRate() error {
	if g.invalid == "" && !g.Rate.IsZero() {
		return nil
	}
	_, err := threshold.ParseRate(g.invalid)
	e := *diag.Of(err)
	e.Param, e.Found = string(g.Kind), diag.Quote(g.invalid)
	return &e
}

// checkCounts returns an error if Count of Of is no fraction.
func (g Goal) checkCounts() error {
	counts := fmt.Sprintf("%d of %d", g.Count, g.Of)
	switch _, err := g.fraction(); {
	case !g.Rate.IsZero():
		return g.wrong("with a rate and a count", "one of the two")
	case g.Count <= 0 || g.Of <= 0:
		return g.wrong(counts, "two counts above 0")
	case g.Count >= g.Of:
		return g.wrong(counts, "a count below the number of rows it is taken from")
	case err != nil:
		return g.wrong(counts, "a rate that can be represented exactly")
	}
	return nil
}

// IsBudget reports whether the goal limits the alerts: the others are about precision, recall and money.
func (g Goal) IsBudget() bool {
	return g.Kind != GoalMinPrecision && g.Kind != GoalMinRecall && g.Kind != GoalCostAlert
}

// fraction returns the goal's rate, the zero Rate for GoalAbsoluteTop and for goals that are no budgets.
func (g Goal) fraction() (threshold.Rate, error) {
	if !g.IsBudget() {
		return threshold.Rate{}, nil
	}
	if g.Count == 0 {
		return g.Rate, nil
	}
	return threshold.ParseRate(strconv.FormatInt(g.Count, 10) + "/" + strconv.FormatInt(g.Of, 10))
}

// Tau returns the rate of a budget as an exact fraction: 800 of 4000 is 0.2. It is unset (IsZero) for
// GoalAbsoluteTop, for goals that are no budgets and for goals that Check refuses.
func (g Goal) Tau() threshold.Rate {
	rate, err := g.fraction()
	if err != nil {
		return threshold.Rate{}
	}
	return rate
}

// Alpha returns the fraction of the goal's population that may be on the wrong side of the threshold: Tau for a budget, 1 minus the
// rate for GoalMinRecall. It is unset for GoalAbsoluteTop and GoalMinPrecision.
func (g Goal) Alpha() threshold.Rate {
	if g.Kind == GoalMinRecall {
		return g.Rate.Complement()
	}
	return g.Tau()
}

// RateOn returns the lowest precision on a sample with these numbers of rows: Rate, or with Prevalence the precision of the same
// true and false positive rates.
func (g Goal) RateOn(positives, negatives int) threshold.Rate {
	if g.Prevalence.IsZero() || positives == 0 || negatives == 0 {
		return g.Rate
	}
	p, at := g.Rate.Float64(), g.Prevalence.Float64()
	odds := float64(float64(p/(1-p)) * float64((1-at)/at) * (float64(positives) / float64(negatives)))
	r, err := threshold.ParseRate(strconv.FormatFloat(min(max(odds/(1+odds), 1e-9), 1-1e-9), 'g', 9, 64))
	if err != nil {
		return g.Rate
	}
	return r
}

// Population returns the rows whose scores give the goal's threshold: all rows for fractions of all rows and for
// precision, the positives for recall, otherwise the negatives.
func (g Goal) Population() method.Population {
	switch g.Kind {
	case GoalTop, GoalAlerts, GoalMinPrecision, GoalCostAlert:
		return method.AllRows
	case GoalMinRecall:
		return method.Positives
	}
	return method.Negatives
}

// String returns the goal in words: "as many positives as possible with at most 0.1 % of the negatives as
// false alarms".
func (g Goal) String() string {
	const aim = "as many positives as possible "
	switch g.Kind {
	case GoalMaxFPR:
		return aim + "with at most " + percent(g.Rate) + " of the negatives as false alarms"
	case GoalTop:
		if g.Count > 0 {
			return aim + fmt.Sprintf("in the top %s of %s rows (%s)", text.Count(g.Count), text.Count(g.Of), percent(g.Tau()))
		}
		return aim + "in the top " + percent(g.Rate) + " of the rows"
	case GoalAlerts:
		return aim + fmt.Sprintf("in %s alerts per %s rows (%s)", text.Count(g.Count), text.Count(g.Of), percent(g.Tau()))
	case GoalAbsoluteTop:
		return aim + "above every negative"
	case GoalMinPrecision:
		text := aim + "with at least " + percent(g.Rate) + " of the alerts real"
		if !g.Recall.IsZero() {
			text += ", and at least " + percent(g.Recall) + " of the positives found"
		}
		if !g.Prevalence.IsZero() {
			text += ", where at least " + percent(g.Prevalence) + " of the rows are positive"
		}
		return text
	case GoalMinRecall:
		return "as few alerts as possible with at least " + percent(g.Rate) + " of the positives found"
	case GoalCostAlert:
		return "the highest sum of amounts found, less " + text.Exact(g.Cost) + " for each alert"
	}
	return "no goal"
}

// percent writes a rate for people: "0.1 %"; a fraction that has no finite decimal stays one: "1/3".
func percent(rate threshold.Rate) string {
	exact, ok := new(big.Rat).SetString(rate.String())
	if !ok {
		return rate.String()
	}
	exact.Mul(exact, big.NewRat(100, 1))
	digits, finite := exact.FloatPrec()
	if !finite {
		return rate.String()
	}
	return exact.FloatString(digits) + " %"
}

// goalJSON is the form of a goal in files and results.
type goalJSON struct {
	Kind GoalKind `json:"kind"` // max-fpr, top, alerts, absolute-top, min-precision, min-recall or cost-alert
	// max-fpr: the fraction of the negatives; top: of all rows, unless it has a count; min-precision, min-recall: it
	Rate   threshold.Rate `json:"rate,omitzero"`
	Count  int64          `json:"count,omitempty"` // top: the best count of every of rows; alerts: count alerts
	Of     int64          `json:"of,omitempty"`    // top, alerts: rows
	Recall threshold.Rate `json:"recall,omitzero"` // min-precision: the lowest recall, if there is one
	Cost   float64        `json:"cost,omitempty"`  // cost-alert: of an alert

	// min-precision: the fraction of positives at which it is meant, if not that of the rows
	Prevalence threshold.Rate `json:"prevalence,omitzero"`
}

// MarshalJSON writes {"kind":"max-fpr","rate":"0.01"}, {"kind":"alerts","count":50,"of":2000000},
// {"kind":"absolute-top"}, or null for the zero Goal.
func (g Goal) MarshalJSON() ([]byte, error) {
	if g == (Goal{}) {
		return []byte("null"), nil
	}
	return json.Marshal(goalJSON{g.Kind, g.Rate, g.Count, g.Of, g.Recall, g.Cost, g.Prevalence})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (g *Goal) UnmarshalJSON(data []byte) error {
	*g = Goal{}
	if string(data) == "null" {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var fields goalJSON
	if err := decoder.Decode(&fields); err != nil {
		return err
	}
	read := Goal{Kind: fields.Kind, Rate: fields.Rate, Count: fields.Count, Of: fields.Of, Recall: fields.Recall,
		Prevalence: fields.Prevalence, Cost: fields.Cost}
	if err := read.Check(); err != nil {
		return err
	}
	*g = read
	return nil
}

// WithPrevalence returns the goal with the prevalence if it is a precision.
func (g Goal) WithPrevalence(prevalence threshold.Rate) Goal {
	if g.Kind == GoalMinPrecision && !prevalence.IsZero() {
		g.Prevalence = prevalence
	}
	return g
}

// RequireBudget returns an error for a goal about precision or recall, for functions that only know budgets.
func (g Goal) RequireBudget() error {
	if g.IsBudget() {
		return nil
	}
	if g.Kind == GoalCostAlert {
		return &diag.Error{Kind: diag.Usage, Param: string(g.Kind), Found: "a goal about money", Expected: "a budget",
			Hint: "train, threshold and evaluate support it, on rows in memory with a column of amounts"}
	}
	return &diag.Error{Kind: diag.Usage, Param: string(g.Kind), Found: "a goal about precision or recall", Expected: "a budget",
		Hint: "train, threshold, evaluate and compare know these goals"}
}

// CheckMoney returns an error for a goal about money with what does not go with it.
func (g Goal) CheckMoney(value string, delta threshold.Rate, weighted bool) error {
	refuse := func(found, expected string, fixes ...diag.Fix) error {
		return &diag.Error{Kind: diag.Usage, Param: string(g.Kind), Found: found, Expected: expected, Fixes: fixes}
	}
	switch {
	case g.Kind != GoalCostAlert:
		return nil
	case value == "":
		return refuse("without amounts", "a column of amounts", diag.Fix{Param: "value", Value: "COL"})
	case !delta.IsZero():
		return refuse("together with delta", "no delta: amounts have no bound, so no guarantee holds for every distribution of them")
	case weighted:
		return refuse("together with row weights", "rows without")
	}
	return nil
}
