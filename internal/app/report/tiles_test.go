package report

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"toptau/internal/training/inspect"
	"toptau/internal/training/tune"
	"toptau/metric"
	"toptau/model"
	"toptau/result"
)

// The tiles have the three numbers and judge what the goal limits, and nothing else.
func TestTiles(t *testing.T) {
	f := findings()
	rate := f.Points[0].Decisions.FalsePositiveRate.Rate // of 29 false alarms among 8,000 negatives
	for _, c := range []struct {
		goal     metric.Goal
		verdicts string
	}{{metric.RateGoal(metric.GoalMaxFPR, "1%"), "--kept"}, {metric.RateGoal(metric.GoalMaxFPR, "0.1%"), "--missed"},
		{metric.RateGoal(metric.GoalTop, "1/2"), "--kept"}, {metric.RateGoal(metric.GoalMinPrecision, "99%"), "-missed-"},
		{metric.RateGoal(metric.GoalMinRecall, "1%"), "kept--"}, {metric.Goal{Kind: metric.GoalAbsoluteTop}, "--"}} {
		f.Goal = c.goal
		f.Budget = &Budget{OfRows: c.goal.Kind == metric.GoalTop}
		var verdicts []string
		for _, tile := range f.tiles() {
			verdicts = append(verdicts, tile.Verdict)
		}
		if got := strings.Join(verdicts, "-"); got != c.verdicts {
			t.Errorf("%v: %s, want %s; false alarms %v", c.goal, got, c.verdicts, rate)
		}
	}
	f.Goal, f.Budget = metric.RateGoal(metric.GoalMaxFPR, "1%"), &Budget{Rate: 0.01}
	f.Expected = &result.Expected{Rate: 0.02, Rows: 500}
	if tile := f.tiles()[2]; tile.Verdict != "missed" || tile.Name != "false alarms expected" || tile.Detail != "budget 1 %; from 500 held-out scores" {
		t.Errorf("%+v", tile)
	}
	for scheme, name := range map[tune.Scheme]string{tune.SchemeAllRows: "out-of-fold", tune.SchemeCrossFitted: "out-of-fold",
		tune.SchemeValidation: "validation", tune.SchemeCertified: "held-out"} {
		f.Expected.Scheme = string(scheme)
		if tile := f.tiles()[2]; tile.Detail != "budget 1 %; from 500 "+name+" scores" {
			t.Errorf("%s: %+v", scheme, tile)
		}
	}
	f.Points[0].Decisions = &metric.Confusion{}
	if tiles := f.tiles(); len(tiles) > 0 && tiles[0].Value == "NaN %" {
		t.Errorf("of no rows: %+v", tiles)
	}
}

// The section of a point judges its rate as the tile does, also at the budget but for rounding.
func TestSectionAgreesWithTheTile(t *testing.T) {
	budget := metric.RateGoal(metric.GoalMaxFPR, "1%")
	for rate, missed := range map[float64]bool{0.01: false, math.Nextafter(0.01, 1): false, 0.0101: true} {
		c := findings().Points[0].Decisions
		c.FalsePositiveRate.Rate = rate
		o := &OperatingPoint{Point: model.Point{Goal: budget}, Decisions: c}
		fact, tile := o.budgetFacts()[0], limitTile(c, budget, nil)
		if fact.Missed != missed || (tile.Verdict == "missed") != missed {
			t.Errorf("%v: %+v, %+v", rate, fact, tile)
		}
	}
}

// A page shows no number with more than six digits, its points have titles, and its sections are folded but for notes.
func TestPageIsShort(t *testing.T) {
	page := render(t, findings().Page())
	shown := regexp.MustCompile(`(?s)<(style|script|svg)[ >].*?</(style|script|svg)>|<[^>]*>`).ReplaceAllString(page, " ")
	for _, number := range regexp.MustCompile(`[0-9][0-9,]*\.[0-9]+`).FindAllString(shown, -1) {
		digits := strings.TrimLeft(strings.NewReplacer(",", "", ".", "").Replace(number), "0")
		if len(digits) > 6 {
			t.Errorf("the page shows %s", number)
		}
	}
	if n := strings.Count(page, "</title></path>"); n < 5 {
		t.Errorf("%d points have a title", n)
	}
	if folded, all := strings.Count(page, "<details><summary><h2>"), strings.Count(page, "<h2>"); folded != all-1 {
		t.Errorf("%d of %d sections are folded", folded, all)
	}
}

// A line is flat if it rises by less than a twentieth of its axis, and columns whose curves are flat next to the steepest are left out.
func TestFlatFiguresAreLeftOut(t *testing.T) {
	steep, level := Shape{Column: "steep", X: []float64{0, 1}, Y: []float64{0, 10}}, Shape{Column: "level", X: []float64{0, 1}, Y: []float64{0, 0.1}}
	if n := len(shapeSection([]Shape{steep, level}).Figures); n != 1 {
		t.Errorf("%d figures", n)
	}
	if n := len(shapeSection([]Shape{level, level}).Figures); n != 2 {
		t.Errorf("of equal columns %d figures", n)
	}
	f := &Findings{PR: []Curve{{Points: [][2]float64{{0, 1}, {1, 0.99}}}}, PTau: []Curve{{Points: [][2]float64{{0.001, 1}, {0.01, 0.2}}}}}
	if n := len(f.curveSection().Figures); n != 1 {
		t.Errorf("%d curves", n)
	}
}

// What the owners do not state is one line at the end of their section, in colour.
func TestNotStatedIsLast(t *testing.T) {
	u := &Use{Statements: []result.Statement{{Title: "Licence of the scores", Text: "internal"}}, Inspection: &inspect.Inspection{}}
	facts := u.purpose().Facts
	last := facts[len(facts)-1]
	if last.Name != "not stated" || !last.Missed || strings.Count(last.Value, ",")+1 != len(StatementTitles()) || facts[0].Value != "internal" {
		t.Errorf("%+v", facts)
	}
}
