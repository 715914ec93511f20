package ui

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"toptau/diag"
	"toptau/explorer"
	"toptau/internal/core/text"
	"toptau/metric"
	"toptau/result"
	"toptau/threshold"
)

// budgetQuestion is a budget as the page sends it. Numbers are the texts of its fields.
type budgetQuestion struct {
	Mode   string `json:"mode"`    // top: best rows; max-fpr: false alarms; cost: the cheapest
	By     string `json:"by"`      // the field that decides: position (of the slider), rate, rows or alerts
	Value  string `json:"value"`   // its text; a rate is in percent
	PerDay string `json:"per_day"` // rows a day; "" for none
	Missed string `json:"missed"`  // price of a missed positive; "" for none
	Alert  string `json:"alert"`   // price of an alert
	Delta  string `json:"delta"`   // of the guarantee, as a rate
}

// asked is a question that was read.
type asked struct {
	goal   metric.Goal
	delta  threshold.Rate
	perDay float64
	costs  *metric.Costs
	best   *metric.Cheapest // with mode cost
}

// number reads a field with a number. Commas between thousands are allowed.
func number(name, field string) (float64, error) {
	x, err := strconv.ParseFloat(strings.NewReplacer(",", "", " ", "", "_", "").Replace(field), 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
		return 0, &diag.Error{Kind: diag.Usage, Param: name, Found: diag.Quote(field),
			Expected: "a number of at least 0"}
	}
	return x, nil
}

// ask reads the goal and the settings of a question.
func (s *Server) ask(q *budgetQuestion) (*asked, error) {
	a := &asked{}
	var err error
	if a.delta, err = threshold.ParseRate(q.Delta); err != nil {
		return nil, diag.At(err, diag.Error{Param: "confidence"})
	}
	if q.PerDay != "" {
		if a.perDay, err = number("rows a day", q.PerDay); err != nil {
			return nil, err
		}
	}
	if q.Missed != "" || q.Alert != "" {
		a.costs = &metric.Costs{}
		for _, field := range []struct {
			name, text string
			to         *float64
		}{{"price of a missed positive", q.Missed, &a.costs.Missed}, {"price of an alert", q.Alert,
			&a.costs.Alert}} {
			if field.text == "" {
				return nil, &diag.Error{Kind: diag.Usage, Param: field.name, Expected: "both prices"}
			}
			if *field.to, err = number(field.name, field.text); err != nil {
				return nil, err
			}
		}
	}
	a.goal, err = s.goalOf(q, a)
	return a, err
}

// goalOf returns the goal of a question.
func (s *Server) goalOf(q *budgetQuestion, a *asked) (metric.Goal, error) {
	kind := metric.GoalTop
	switch q.Mode {
	case "top":
	case "max-fpr":
		kind = metric.GoalMaxFPR
	case "cost":
		return a.cheapestGoal(s.options.Explorer)
	default:
		return metric.Goal{}, &diag.Error{Kind: diag.Usage, Found: "mode " + diag.Quote(q.Mode),
			Expected: "top, max-fpr or cost"}
	}
	switch q.By {
	case "position":
		i, err := strconv.Atoi(q.Value)
		rates := s.positions(q.Mode)
		if err != nil || i < 0 || i >= len(rates) {
			return metric.Goal{}, &diag.Error{Kind: diag.Usage, Param: "budget", Found: diag.Quote(q.Value),
				Expected: "a position of the slider"}
		}
		return checked(metric.RateGoal(kind, rates[i]))
	case "rate":
		return checked(metric.RateGoal(kind, strings.TrimSuffix(strings.TrimSpace(q.Value), "%")+"%"))
	case "rows", "alerts":
		if kind != metric.GoalTop {
			break
		}
		return a.countGoal(q, s.options.Explorer.Rows)
	}
	return metric.Goal{}, &diag.Error{Kind: diag.Usage, Found: "a budget by " + diag.Quote(q.By),
		Expected: "position, rate, rows or alerts"}
}

// cheapestGoal returns the number of alerts that costs least on these rows.
func (a *asked) cheapestGoal(x *explorer.Explorer) (metric.Goal, error) {
	if a.costs == nil {
		return metric.Goal{}, &diag.Error{Kind: diag.Usage, Found: "no prices",
			Expected: "the price of a missed positive and of an alert"}
	}
	if x.Weighted {
		return metric.Goal{}, &diag.Error{Kind: diag.Usage, Found: "rows with weights",
			Expected: "rows that are counted, to find the cheapest budget"}
	}
	best, err := x.Cheapest(*a.costs)
	if err != nil {
		return metric.Goal{}, err
	}
	a.best = &best
	switch {
	case best.Alerts == 0:
		return metric.Goal{}, &diag.Error{Kind: diag.Usage,
			Found:    "prices at which no alert is worth its price on these rows",
			Expected: "a higher price of a missed positive"}
	case math.IsInf(best.Threshold, -1):
		return metric.Goal{}, &diag.Error{Kind: diag.Usage,
			Found: "prices at which it is cheapest to look at every row", Expected: "a higher price of an alert"}
	}
	return checked(metric.Goal{Kind: metric.GoalTop, Count: int64(best.Alerts), Of: int64(x.Rows)})
}

// countGoal returns a goal that is a number of rows, or of alerts a day.
func (a *asked) countGoal(q *budgetQuestion, rows int) (metric.Goal, error) {
	name, of, kind := "rows", int64(rows), metric.GoalTop
	if q.By == "alerts" {
		name, of, kind = "alerts a day", int64(math.Round(a.perDay)), metric.GoalAlerts
		if of == 0 {
			return metric.Goal{}, &diag.Error{Kind: diag.Usage, Param: "rows a day",
				Expected: "the number that alerts are counted from"}
		}
	}
	n, err := number(name, q.Value)
	if err != nil {
		return metric.Goal{}, err
	}
	if n != math.Floor(n) || n > 1<<53 {
		return metric.Goal{}, &diag.Error{Kind: diag.Usage, Param: name, Found: q.Value, Expected: "a whole number"}
	}
	return checked(metric.Goal{Kind: kind, Count: int64(n), Of: of})
}

func checked(g metric.Goal) (metric.Goal, error) { return g, g.Check() }

// decade are the steps of the slider in each power of ten: about ten percent apart, with two digits (IEC 60063, E24).
var decade = []int{10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30, 33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82,
	91}

// largestRate is the right end of the slider.
const largestRate = 0.5

// positions returns the rates of the slider, from about one row to half of the population.
func (s *Server) positions(mode string) []string {
	x := s.options.Explorer
	n := x.Rows
	if mode == "max-fpr" {
		n = x.Rows - x.Positives
	}
	var list []string
	for power := 12; power >= 1; power-- {
		for _, step := range decade {
			rate := float64(step) / math.Pow(10, float64(power)+1)
			if rate*float64(n) >= 1 && rate <= largestRate {
				list = append(list, fmt.Sprintf("%de-%d", step, power+1))
			}
		}
	}
	if len(list) == 0 {
		list = []string{"50e-2"}
	}
	return list
}

// nearest returns the position of the slider next to a rate.
func nearest(rates []string, rate float64) int {
	best, distance := 0, math.Inf(1)
	for i, r := range rates {
		x, _ := strconv.ParseFloat(r, 64)
		if d := math.Abs(math.Log(x / rate)); d < distance {
			best, distance = i, d
		}
	}
	return best
}

// line is a line of the table of answers.
type line struct {
	Name   string   `json:"name"`
	Values []string `json:"values"` // one for each of the columns
}

// budgetAnswer is what the page shows about a budget.
type budgetAnswer struct {
	Goal      string            `json:"goal"`     // in words
	Position  int               `json:"position"` // of the slider
	Said      string            `json:"said"`     // the position in words
	Fields    map[string]string `json:"fields"`   // texts of the fields that follow the budget
	Columns   []string          `json:"columns"`  // names of the thresholds
	Lines     []line            `json:"lines"`
	Notes     []string          `json:"notes"`
	Marks     [3]rule           `json:"marks"` // the thresholds on the x axis of the curve: plain, certified, the model's; without a name: none
	Threshold float64           `json:"threshold"`
	Above     int               `json:"above"`   // rows of the list above it
	Command   string            `json:"command"` // computes the threshold with a guarantee on other rows
}

// budget answers a question about a budget.
func (s *Server) budget(r *http.Request) (any, error) {
	var q budgetQuestion
	if err := read(r, &q); err != nil {
		return nil, err
	}
	return s.answer(&q)
}

func (s *Server) answer(q *budgetQuestion) (*budgetAnswer, error) {
	a, err := s.ask(q)
	if err != nil {
		return nil, err
	}
	x := s.options.Explorer
	b, err := x.Budget(a.goal, a.delta, a.perDay, a.costs)
	if err != nil {
		return nil, err
	}
	mode := q.Mode
	if mode == "cost" {
		mode = "top"
	}
	tau := a.goal.Tau().Float64()
	out := &budgetAnswer{Goal: capital(a.goal.String()), Position: nearest(s.positions(mode), tau),
		Threshold: b.Plain.Threshold,
		Above:     x.AboveThreshold(b.Plain.Threshold), Notes: s.notes(b, a),
		Fields: map[string]string{"rate": text.Significant(100*tau, 4)}}
	own := s.ownPoint()
	out.Columns, out.Lines = budgetTable(b, own)
	if mode == "top" {
		out.Fields["rows"] = text.Significant(math.Floor(tau*float64(x.Rows)), 12)
		if a.perDay > 0 {
			out.Fields["alerts"] = text.Number(tau * a.perDay)
		}
	}
	out.Said = fmt.Sprintf("%s: %s of the positives found, precision %s", text.Percent(tau), rate(b.Plain.Found),
		rate(b.Plain.Precision))
	mark := func(name string, side *result.BudgetSide) rule {
		if mode == "max-fpr" {
			return rule{Name: name, At: plotted(side.FalseAlarms.Rate)}
		}
		return rule{Name: name, At: plotted(side.Alerts / float64(x.Rows))}
	}
	out.Marks[0] = mark(plainColumn, &b.Plain)
	if b.Certified != nil {
		out.Marks[1] = mark(certifiedColumn, b.Certified)
	}
	if own != nil {
		out.Marks[2] = mark(ownColumn(own), b.Own)
	}
	if s.options.Command != nil {
		out.Command = s.options.Command(a.goal, a.delta)
	}
	return out, nil
}

func capital(words string) string {
	if words == "" {
		return ""
	}
	return strings.ToUpper(words[:1]) + words[1:] + "."
}

func rate(p metric.Proportion) string {
	if !p.Defined() {
		return "none"
	}
	return text.Percent(p.Rate)
}
