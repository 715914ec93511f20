package tune

import (
	"fmt"
	"math"

	"toptau/internal/table"
	"toptau/metric"
	"toptau/threshold"
)

// fewPositives is the number of validation positives below which a difference between two points is mostly noise.
const fewPositives = 30

func (t *training) addWarning(code, format string, args ...any) {
	t.result.Warnings = append(t.result.Warnings, Warning{code, fmt.Sprintf(format, args...)})
}

// warn adds what the result's numbers do not say by themselves.
func (t *training) warn() {
	t.warnRows()
	t.warnBudget()
	t.warnPoints()
	t.warnCollapse()
	t.warnChoice()
}

func (t *training) warnRows() {
	data := t.parts[0].table
	unlabelled := 0
	for _, class := range data.Label {
		if class == table.Unknown {
			unlabelled++
		}
	}
	if unlabelled > 0 {
		t.addWarning("unlabelled-rows", "%s of the data without a label: used in no part", plural(unlabelled, "row"))
	}
	for i := 1; i < len(t.parts); i++ {
		if p := &t.parts[i]; p.own && data.Group != nil && p.table.Group != nil {
			if n := commonGroups(data.Group.Values, p.table.Group.Values); n > 0 {
				t.addWarning("groups-straddle",
					"%s of the %s also in the training file: its numbers are optimistic", plural(n, "group"), p.name)
			}
		}
	}
	if v := t.result.Validation; v.Positives < fewPositives {
		t.addWarning("few-validation-positives",
			"the choice rests on %s of the validation part: differences of several points are noise",
			plural(v.Positives, "positive"))
	}
	if test := &t.parts[2]; test.table != nil && test.matrix == nil {
		t.addWarning("test-part-lacks-a-class", "the test part has %s: nothing is measured on it", t.result.TestCounts)
	} else if test.table == nil {
		t.addWarning("no-test-part",
			"no test part was kept: the numbers of the validation part are optimistic, because they chose the model")
	}
}

// commonGroups is the number of groups that two files share.
func commonGroups(a, b []string) int {
	known := make(map[string]bool, len(a))
	for _, group := range a {
		known[group] = true
	}
	common := 0
	for _, group := range b {
		if known[group] {
			common++
			known[group] = false
		}
	}
	return common
}

// warnBudget says where the goal's rate is finer than the validation part.
func (t *training) warnBudget() {
	goal := t.options.Goal
	tau := goal.Tau()
	res, err := t.result.ValidationRanking.Positives(goal.Criterion())
	if err != nil || tau.IsZero() || res.Budget >= 1 {
		return
	}
	v := t.result.Validation
	if goal.Kind == metric.GoalMaxFPR {
		t.addWarning("budget-below-one-row", "the validation part has %s; %s of them is less than one, so that the "+
			"threshold lies above all of them (%d are needed for one false alarm)",
			plural(v.Negatives, "negative"), tau, rowsForOne(tau))
		return
	}
	t.addWarning("budget-below-one-row", "the validation part has %s; %s of them is less than one, so that the "+
		"points were compared by positives@top and the threshold lies above all rows (%d are needed for a budget of one)",
		plural(v.Rows(), "row"), tau, rowsForOne(tau))
}

// rowsForOne is the smallest population in which the rate is a whole row: the smallest m with floor(m tau) >= 1.
func rowsForOne(tau threshold.Rate) int {
	m := int(math.Ceil(1 / tau.Float64()))
	for m > 1 && tau.Floor(m-1) >= 1 {
		m--
	}
	for tau.Floor(m) < 1 {
		m++
	}
	return m
}

func (t *training) warnPoints() {
	unfinished := 0
	for i := range t.result.Points {
		switch p := &t.result.Points[i]; p.Status {
		case Skipped:
			t.addWarning("point-skipped", "%s was skipped: %s", Describe(p.Problem), p.Reason)
		case Unfinished:
			unfinished++
		}
	}
	if unfinished > 0 {
		t.addWarning("stopped-early", "stopped early: %s of %d not tried, the choice is among the others",
			plural(unfinished, "point"), len(t.result.Points))
	}
}

// warnCollapse names the methods of which no fit is better than w = 0 on the training part.
func (t *training) warnCollapse() {
	points := t.result.Points
	for first := 0; first < len(points); {
		m := points[first].Problem.Method
		fitted, collapsed := 0, 0
		end := first
		for ; end < len(points) && points[end].Problem.Method == m; end++ {
			if points[end].Status == Fitted {
				fitted++
				if points[end].NoBetterThanZero {
					collapsed++
				}
			}
		}
		if fitted > 0 && collapsed == fitted {
			t.addWarning("no-better-than-zero",
				"w = 0 is no worse than every fit of %s: its objective does not improve on these data", m.Name)
		}
		first = end
	}
}

func (t *training) warnChoice() {
	best := t.result.Best()
	switch {
	case best.Constant:
		t.addWarning("constant-score",
			"the chosen model gives the same score to every row of the validation part: it ranks nothing")
	case best.Goal.Defined() && best.Goal.Numerator == 0:
		t.addWarning("nothing-found", "no positive of the validation part is within the budget of the chosen point: "+
			"the model is of no use for this goal")
	case best.NoBetterThanZero:
		t.addWarning("chosen-no-better-than-zero", "the chosen fit ranks the validation part well, but its objective is "+
			"no better than that of w = 0: %.6g against %.6g",
			best.At.F, best.AtZero.F)
	}
}
