package metric

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"toptau/diag"
	"toptau/method"
	"toptau/threshold"
)

// GoalKind says what a user's budget is counted in.
type GoalKind int

const (
	NoGoal          GoalKind = iota // unset: the zero value
	GoalMaxFPR                      // at most a share of the negatives: --max-fpr 0.1%
	GoalTop                         // a share of all rows: --top 1%
	GoalTopCount                    // so many of so many rows: --top-count 800 --of 4000
	GoalAlerts                      // so many of the rows of a day, or of any period: --alerts 50 --of 2000000
	GoalAbsoluteTop                 // above every negative: --absolute-top
)

// Goal is the budget that a model is for. It is a value: two goals that ask for the same are equal with ==.
//
// GoalMaxFPR and GoalTop use Rate, GoalTopCount and GoalAlerts use Count and Of, GoalAbsoluteTop uses nothing; a field
// that a kind does not use is zero. Literals are checked by Validate.
type Goal struct {
	Kind      GoalKind
	Rate      threshold.Rate // the share of the negatives (GoalMaxFPR) or of all rows (GoalTop)
	Count, Of int64          // 0 < Count < Of
}

// GoalFlags is a goal as written on the command line; an empty string is a flag that was not given.
type GoalFlags struct {
	MaxFPR, Top string // rates: "0.1%", "0.001", "1/3"
	TopCount    string // whole numbers
	Alerts      string
	Of          string
	AbsoluteTop bool
}

// given lists the flags that name a goal, in the order of the documentation.
func (f GoalFlags) given() []string {
	var names []string
	for _, flag := range []struct{ name, value string }{
		{"--max-fpr", f.MaxFPR}, {"--top", f.Top}, {"--top-count", f.TopCount}, {"--alerts", f.Alerts},
	} {
		if flag.value != "" {
			names = append(names, flag.name)
		}
	}
	if f.AbsoluteTop {
		names = append(names, "--absolute-top")
	}
	return names
}

const goalHint = "--max-fpr 0.1%, --top 1%, --top-count 800 --of 4000, --alerts 50 --of 2000000 or --absolute-top"

// Given reports whether any flag of a goal was given, so that a verb can leave the goal out.
func (f GoalFlags) Given() bool { return len(f.given()) > 0 || f.Of != "" }

// Goal returns the goal. The error is a usage error when there is no goal or more than one, when --of is missing or
// has nothing to belong to, when a rate does not lie in (0,1), and when the counts are not 0 < count < of.
func (f GoalFlags) Goal() (Goal, error) {
	given := f.given()
	if len(given) == 0 {
		found := "no goal"
		if f.Of != "" {
			found = "--of without --top-count or --alerts"
		}
		return Goal{}, &diag.Error{Kind: diag.Usage, Found: found, Expected: "a goal", Hint: goalHint}
	}
	if len(given) > 1 {
		return Goal{}, &diag.Error{Kind: diag.Usage, Found: strings.Join(given, " and "), Expected: "exactly one goal",
			Hint: "a model file can hold further operating points"}
	}
	counted := f.TopCount != "" || f.Alerts != ""
	if f.Of != "" && !counted {
		return Goal{}, &diag.Error{Kind: diag.Usage, Found: "--of beside " + given[0],
			Expected: "--of only after --top-count or --alerts"}
	}
	if counted && f.Of == "" {
		return Goal{}, &diag.Error{Kind: diag.Usage, Found: given[0] + " without --of",
			Expected: "the number of rows that the count is taken from", Hint: "for example " + given[0] + " 50 --of 2000000"}
	}
	var g Goal
	var err error
	switch {
	case f.MaxFPR != "":
		g.Kind = GoalMaxFPR
		g.Rate, err = goalRate("--max-fpr", f.MaxFPR)
	case f.Top != "":
		g.Kind = GoalTop
		g.Rate, err = goalRate("--top", f.Top)
	case f.AbsoluteTop:
		g.Kind = GoalAbsoluteTop
	default:
		g.Kind = GoalTopCount
		text := f.TopCount
		if f.Alerts != "" {
			g.Kind, text = GoalAlerts, f.Alerts
		}
		if g.Count, err = goalCount(given[0], text); err == nil {
			g.Of, err = goalCount("--of", f.Of)
		}
	}
	if err == nil {
		err = g.Validate()
	}
	if err != nil {
		return Goal{}, err
	}
	return g, nil
}

// goalRate parses a rate and names its flag where it is wrong.
func goalRate(flag, text string) (threshold.Rate, error) {
	rate, err := threshold.ParseRate(text)
	if err == nil {
		return rate, nil
	}
	named := &diag.Error{Kind: diag.Usage, Found: flag + " " + text, Err: err}
	if cause := diag.Of(err); cause != nil && cause.Expected != "" {
		named.Expected, named.Hint, named.Err = cause.Expected, cause.Hint, nil
	}
	return rate, named
}

// goalCount parses a positive whole number and names its flag where it is wrong.
func goalCount(flag, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil && n > 0 {
		return n, nil
	}
	e := &diag.Error{Kind: diag.Usage, Found: flag + " " + text, Expected: "a whole number above 0"}
	if plain := strings.NewReplacer(",", "", "_", "", " ", "").Replace(text); plain != text {
		if _, err := strconv.ParseInt(plain, 10, 64); err == nil {
			e.Hint = "did you mean " + plain + "?"
		}
	}
	return 0, e
}

// Validate reports as a usage error what makes the goal impossible in itself, whatever the data.
func (g Goal) Validate() error {
	wrong := func(found, expected string) error {
		return &diag.Error{Kind: diag.Usage, Found: found, Expected: expected}
	}
	switch g.Kind {
	case GoalMaxFPR, GoalTop:
		if g.Rate.IsZero() {
			return wrong("a goal without a rate", "a rate between 0 and 1")
		}
		if g.Count != 0 || g.Of != 0 {
			return wrong("a goal with a rate and a count", "one of the two")
		}
	case GoalTopCount, GoalAlerts:
		flag := "--top-count"
		if g.Kind == GoalAlerts {
			flag = "--alerts"
		}
		text := fmt.Sprintf("%s %d --of %d", flag, g.Count, g.Of)
		if !g.Rate.IsZero() {
			return wrong("a goal with a rate and a count", "one of the two")
		}
		if g.Count <= 0 || g.Of <= 0 {
			return wrong(text, "two counts above 0")
		}
		if g.Count >= g.Of {
			return wrong(text, "a count below the number of rows it is taken from")
		}
		if _, err := g.share(); err != nil {
			return wrong(text, "a rate that can be represented exactly")
		}
	case GoalAbsoluteTop:
		if !g.Rate.IsZero() || g.Count != 0 || g.Of != 0 {
			return wrong("--absolute-top with a rate or a count", "neither")
		}
	default:
		return &diag.Error{Kind: diag.Usage, Found: "no goal", Expected: "a goal", Hint: goalHint}
	}
	return nil
}

// share is the goal's rate; the zero Rate for GoalAbsoluteTop.
func (g Goal) share() (threshold.Rate, error) {
	if g.Count == 0 {
		return g.Rate, nil
	}
	return threshold.ParseRate(strconv.FormatInt(g.Count, 10) + "/" + strconv.FormatInt(g.Of, 10))
}

// Tau is the goal's rate as an exact fraction: 800 of 4000 is 0.2. It is unset (IsZero) for GoalAbsoluteTop and for
// goals that Validate refuses.
func (g Goal) Tau() threshold.Rate {
	rate, err := g.share()
	if err != nil {
		return threshold.Rate{}
	}
	return rate
}

// Criterion is what the goal measures: Positives@NP for GoalMaxFPR, Positives@Quantile for the shares of all rows,
// Positives@Top for GoalAbsoluteTop, each with the goal's rate.
func (g Goal) Criterion() Criterion {
	switch g.Kind {
	case GoalMaxFPR:
		return NP(g.Tau())
	case GoalTop, GoalTopCount, GoalAlerts:
		return Quantile(g.Tau())
	}
	return Top()
}

// CriterionOf is the criterion that a method optimises (the paper's Table "methods") at rate tau.
func CriterionOf(m method.Method, tau threshold.Rate) Criterion {
	switch m.Criterion {
	case method.AtNP:
		return NP(tau)
	case method.AtQuantile:
		return Quantile(tau)
	}
	return Top()
}

// Fits reports whether a method optimises the criterion that the goal measures.
func (g Goal) Fits(m method.Method) bool { return CriterionOf(m, g.Tau()) == g.Criterion() }

// Evaluate measures the goal's criterion on a sample: the share of positives that the budget admits, the threshold
// taken from the sample itself.
func (g Goal) Evaluate(r *Ranking) (Result, error) {
	if err := g.Validate(); err != nil {
		return Result{}, err
	}
	return r.Positives(g.Criterion())
}

// Threshold is the goal's plain threshold on a sample: the lowest score t for which the rows with score > t keep the
// budget on this sample. It says nothing about other samples. Unlike the criterion it needs no positives, and a
// budget of less than one row gives the largest score, above which there is nothing. The error is an invalid goal or a
// sample without the rows that the budget counts.
func (g Goal) Threshold(r *Ranking) (float64, error) {
	if err := g.Validate(); err != nil {
		return 0, err
	}
	c := g.Criterion()
	if r.mass(c) == 0 {
		return 0, &diag.Error{Kind: diag.Data, Found: "no rows that the budget counts", Expected: "a negative at least"}
	}
	return r.scores[r.firstOut(c, r.budget(c))], nil
}

// String returns the goal as on the command line: "--max-fpr 0.001", "--alerts 50 --of 2000000".
func (g Goal) String() string {
	switch g.Kind {
	case GoalMaxFPR:
		return "--max-fpr " + g.Rate.String()
	case GoalTop:
		return "--top " + g.Rate.String()
	case GoalTopCount:
		return fmt.Sprintf("--top-count %d --of %d", g.Count, g.Of)
	case GoalAlerts:
		return fmt.Sprintf("--alerts %d --of %d", g.Count, g.Of)
	case GoalAbsoluteTop:
		return "--absolute-top"
	}
	return ""
}

// Words says what the goal asks for: "as many positives as possible with at most 0.1 % false alarms".
func (g Goal) Words() string {
	const aim = "as many positives as possible "
	switch g.Kind {
	case GoalMaxFPR:
		return aim + "with at most " + percent(g.Rate) + " of the negatives as false alarms"
	case GoalTop:
		return aim + "in the top " + percent(g.Rate) + " of the rows"
	case GoalTopCount:
		return aim + fmt.Sprintf("in the top %d of %d rows (%s)", g.Count, g.Of, percent(g.Tau()))
	case GoalAlerts:
		return aim + fmt.Sprintf("in %d alerts for every %d rows (%s)", g.Count, g.Of, percent(g.Tau()))
	case GoalAbsoluteTop:
		return aim + "above every negative"
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

// ParseGoal reads what String writes.
func ParseGoal(text string) (Goal, error) {
	var f GoalFlags
	words := strings.Fields(text)
	targets := map[string]*string{"--max-fpr": &f.MaxFPR, "--top": &f.Top, "--top-count": &f.TopCount, "--alerts": &f.Alerts,
		"--of": &f.Of}
	for len(words) > 0 {
		name := words[0]
		words = words[1:]
		if name == "--absolute-top" && !f.AbsoluteTop {
			f.AbsoluteTop = true
			continue
		}
		target := targets[name]
		if target == nil || *target != "" || len(words) == 0 {
			return Goal{}, &diag.Error{Kind: diag.Usage, Found: "goal " + diag.Quote(text), Expected: goalHint}
		}
		*target, words = words[0], words[1:]
	}
	return f.Goal()
}

// MarshalText writes the goal as String does; the zero Goal is empty.
func (g Goal) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (g *Goal) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*g = Goal{}
		return nil
	}
	parsed, err := ParseGoal(string(text))
	if err != nil {
		return err
	}
	*g = parsed
	return nil
}
