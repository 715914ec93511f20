package verbs

import (
	"strconv"
	"strings"

	"toptau/diag"
	"toptau/internal/app/cli"
	"toptau/metric"
	"toptau/model"
)

// ReplaceFlag is for verbs whose interrupted runs write what they have.
type ReplaceFlag struct {
	ReplacePartial bool `group:"Interruption" name:"replace-partial" help:"Let the results of an interrupted run replace existing files (default: they get names that end in .partial)."`
}

// GoalFlags set the goal. Exactly one is given; MinPrecision and MinRecall may be given together.
type GoalFlags struct {
	MaxFPR      string `group:"Goal" xor:"goal" name:"max-fpr" placeholder:"RATE" help:"At most this fraction of the negatives raises a false alarm: 0.1% or 0.001."`
	Top         string `group:"Goal" xor:"goal" placeholder:"RATE" help:"Review the best fraction of all rows: 1%, 0.01, or 800/4000 for the best 800 of every 4000."`
	Alerts      string `group:"Goal" xor:"goal" placeholder:"N/M" help:"Raise N alerts in a period with M rows: 50/2000000."`
	AbsoluteTop bool   `group:"Goal" xor:"goal" name:"absolute-top" help:"Find positives above every negative."`
	CostAlert   string `group:"Counting" xor:"goal" name:"cost-alert" placeholder:"COST" help:"Earn the most: the amounts of the positives found, in the column --value, less this cost of each alert. train, threshold and evaluate only; no guarantee."`

	MinPrecision string `group:"Goal" name:"min-precision" placeholder:"RATE" help:"At least this fraction of the alerts is real: 90% or 0.9."`
	MinRecall    string `group:"Goal" name:"min-recall" placeholder:"RATE" help:"At least this fraction of the positives is found; with --min-precision both hold, or exit code 3."`
}

// given returns the kinds of goals whose flags are set.
func (f GoalFlags) given() []metric.GoalKind {
	set := map[metric.GoalKind]bool{metric.GoalMaxFPR: f.MaxFPR != "", metric.GoalTop: f.Top != "",
		metric.GoalAlerts: f.Alerts != "", metric.GoalAbsoluteTop: f.AbsoluteTop, metric.GoalMinPrecision: f.MinPrecision != "",
		metric.GoalMinRecall: f.MinRecall != "", metric.GoalCostAlert: f.CostAlert != ""}
	var kinds []metric.GoalKind
	for _, kind := range GoalKinds() {
		if set[kind] {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// Required returns the goal. It is a usage error to give none, more than one, or an impossible one.
func (f GoalFlags) Required() (metric.Goal, error) {
	g, err := f.Optional()
	if err == nil && g == (metric.Goal{}) {
		err = &diag.Error{Kind: diag.Usage, Found: "no goal", Expected: "a goal",
			Hint: "--max-fpr 0.1%, --top 1%, --alerts 50/2000000, --absolute-top, --min-precision 90% or --min-recall 95%"}
	}
	return g, err
}

// OrReplaced returns the goal, or else that of the operating point of a model that is replaced. m may be nil, and replaced "".
func (f GoalFlags) OrReplaced(m *model.Model, replaced string) (metric.Goal, error) {
	goal, err := f.Optional()
	if err != nil || goal != (metric.Goal{}) {
		return goal, err
	}
	if m == nil || replaced == "" {
		return f.Required()
	}
	point, found := m.Point(replaced)
	if !found {
		var names []string
		for _, p := range m.Points() {
			names = append(names, p.Name)
		}
		return goal, &diag.Error{Kind: diag.Usage, Param: "replace", Found: diag.Quote(replaced),
			Expected: "an operating point of the model: " + strings.Join(names, ", ")}
	}
	if point.Goal == (metric.Goal{}) {
		return f.Required()
	}
	return point.Goal, nil
}

// Optional returns the goal, or the zero Goal if no flag is set. The flag parser refuses two goals.
func (f GoalFlags) Optional() (metric.Goal, error) {
	given := f.given()
	switch {
	case len(given) == 0:
		return metric.Goal{}, nil
	case len(given) > 1 && given[0] != metric.GoalMinPrecision:
		return metric.Goal{}, &diag.Error{Kind: diag.Usage, Param: string(given[0]), Found: "together with " + cli.Spell(string(given[1])),
			Expected: "exactly one goal"}
	}
	switch kind := given[0]; kind {
	case metric.GoalMinPrecision:
		goal := metric.RateGoal(kind, f.MinPrecision)
		if f.MinRecall != "" {
			recall, err := checked(metric.RateGoal(metric.GoalMinRecall, f.MinRecall))
			if err != nil {
				return recall, err
			}
			goal.Recall = recall.Rate
		}
		return checked(goal)
	case metric.GoalMinRecall:
		return checked(metric.RateGoal(kind, f.MinRecall))
	case metric.GoalMaxFPR:
		return checked(metric.RateGoal(kind, f.MaxFPR))
	case metric.GoalTop:
		return topGoal(f.Top)
	case metric.GoalAbsoluteTop:
		return metric.Goal{Kind: kind}, nil
	case metric.GoalCostAlert:
		cost, err := strconv.ParseFloat(f.CostAlert, 64)
		if err != nil {
			return metric.Goal{}, &diag.Error{Kind: diag.Usage, Param: string(kind), Found: diag.Quote(f.CostAlert),
				Expected: "an amount above 0, such as 20"}
		}
		return checked(metric.Goal{Kind: kind, Cost: cost})
	default:
		return alertsGoal(f.Alerts)
	}
}

// topGoal returns the goal of a rate, or of a text N/M with counts of rows.
func topGoal(text string) (metric.Goal, error) {
	n, m, _ := strings.Cut(text, "/")
	count, noCount := strconv.ParseInt(n, 10, 64)
	of, noRows := strconv.ParseInt(m, 10, 64)
	if noCount == nil && noRows == nil && 0 < count && count < of {
		return checked(metric.Goal{Kind: metric.GoalTop, Count: count, Of: of})
	}
	return checked(metric.RateGoal(metric.GoalTop, text))
}

// alertsGoal returns the goal of a text N/M.
func alertsGoal(text string) (metric.Goal, error) {
	n, m, found := strings.Cut(text, "/")
	if !found {
		return metric.Goal{}, &diag.Error{Kind: diag.Usage, Param: string(metric.GoalAlerts), Found: text,
			Expected: "N/M: N alerts in a period with M rows",
			Fixes:    []diag.Fix{{Param: string(metric.GoalAlerts), Value: "50/2000000"}}}
	}
	count, err := wholeNumber(string(metric.GoalAlerts), n)
	if err != nil {
		return metric.Goal{}, err
	}
	of, err := wholeNumber(string(metric.GoalAlerts), m)
	if err != nil {
		return metric.Goal{}, err
	}
	return checked(metric.Goal{Kind: metric.GoalAlerts, Count: count, Of: of})
}

func checked(g metric.Goal) (metric.Goal, error) { return g, g.Check() }

// wholeNumber parses a positive whole number of a flag.
func wholeNumber(param, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil && n > 0 {
		return n, nil
	}
	e := &diag.Error{Kind: diag.Usage, Param: param, Found: text, Expected: "a whole number above 0"}
	if plain := strings.NewReplacer(",", "", "_", "", " ", "").Replace(text); plain != text {
		if _, err := strconv.ParseInt(plain, 10, 64); err == nil {
			e.Hint = "did you mean " + plain + "?"
		}
	}
	return 0, e
}

// GoalKinds returns all kinds of goals in the order in which they are shown.
func GoalKinds() []metric.GoalKind {
	return []metric.GoalKind{metric.GoalMaxFPR, metric.GoalTop, metric.GoalAlerts, metric.GoalAbsoluteTop, metric.GoalMinPrecision,
		metric.GoalMinRecall, metric.GoalCostAlert}
}
