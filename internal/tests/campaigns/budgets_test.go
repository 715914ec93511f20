package campaigns_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"toptau"
	"toptau/dataset"
	"toptau/explorer"
	"toptau/internal/tests/modeltest"
	"toptau/internal/tests/trial"
	"toptau/measure"
	"toptau/method"
	"toptau/metric"
	"toptau/reports"
	"toptau/schema"
	"toptau/threshold"
)

// cellsOf returns the texts of the table rows of a page.
func cellsOf(page string) (rows [][]string) {
	tag := regexp.MustCompile("<[^>]*>")
	for _, row := range regexp.MustCompile(`(?s)<tr.*?</tr>`).FindAllString(page, -1) {
		var cells []string
		for _, cell := range regexp.MustCompile(`(?s)<t[dh].*?</t[dh]>`).FindAllString(row, -1) {
			cells = append(cells, html.UnescapeString(tag.ReplaceAllString(cell, "")))
		}
		rows = append(rows, cells)
	}
	return rows
}

// numbersIn returns the numbers of a text, percentages as fractions.
func numbersIn(text string) (list []float64) {
	for _, m := range regexp.MustCompile(`([0-9][0-9,]*(?:\.[0-9]+)?)([\s\x{a0}]*%)?`).FindAllStringSubmatch(text, -1) {
		x, _ := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
		if m[2] != "" {
			x /= 100
		}
		list = append(list, x)
	}
	return list
}

// tail is the probability of a standard normal variable above z.
func tail(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

// foundIn returns the fraction of the positives of riskRows in the best fraction of all rows.
func foundIn(of, prevalence float64) float64 {
	low, high := -8.0, 12.0
	for range 60 {
		if mid := (low + high) / 2; prevalence*tail(mid-2.5)+(1-prevalence)*tail(mid) > of {
			low = mid
		} else {
			high = mid
		}
	}
	return tail(low - 2.5)
}

// What a budget finds is one number everywhere: in the summary, on the page of `train --report`, in the object of `train --json` and
// Python, in `ui`, and on new rows. That also holds where rows of one class were set aside for the threshold.
func TestBudgetsOfATrainingHoldOnNewRows(t *testing.T) {
	const prevalence = 0.03
	train := trial.ReadFile(t, trial.WriteFile(t, "train.csv", trial.RiskRows(5, 6000, prevalence)), schema.Format{Label: "y"})
	calibration := trial.ReadFile(t, trial.WriteFile(t, "calibration.csv", trial.RiskRows(6, 3000, prevalence)), schema.Format{Label: "y"})
	later := trial.ReadFile(t, trial.WriteFile(t, "later.csv", trial.RiskRows(7, 30000, prevalence)), schema.Format{Label: "y"})
	delta, part := threshold.MustRate("10%"), threshold.MustRate("30%")
	intervals, missed := 0, 0
	check := func(name string, truth, low, high float64) {
		intervals++
		if truth < low || truth > high {
			missed++
			t.Logf("%s: %.4g, interval %.4g to %.4g", name, truth, low, high)
		}
	}
	goals := []metric.Goal{toptau.MaxFPR("0.5%"), toptau.Top("2%"), toptau.Alerts(20, 1000), toptau.MinPrecision("60%"), toptau.MinRecall("70%")}
	options := []toptau.TrainOptions{{}, {Delta: delta}, {Delta: delta, Calibration: calibration}, {TestFraction: part}, {Delta: delta, TestFraction: part}}
	switch {
	case modeltest.IfLong(0, 1) == 1:
	case !testing.Short():
		options = options[1:2]
	default:
		goals, options = []metric.Goal{goals[0], goals[4]}, options[1:2]
	}
	for _, goal := range goals {
		for _, o := range options {
			name := fmt.Sprintf("%s, delta %s, calibration %v, test part %v", goal.Kind, o.Delta, o.Calibration != nil, !o.TestFraction.IsZero())
			o.Folds, o.Method, o.Encoding = 2, []method.Name{method.Logistic}, []schema.Encoding{schema.Raw}
			trained, err := toptau.Train(t.Context(), train, goal, o)
			if err != nil {
				t.Fatal(name, err)
			}
			e, err := measure.Evaluate(t.Context(), later, []dataset.Entry{{Model: trained.Model}}, measure.Options{Replicates: 2})
			if err != nil {
				t.Fatal(name, err)
			}
			x, err := explorer.New(e)
			if err != nil {
				t.Fatal(name, err)
			}
			ui, err := x.Budget(toptau.Top("2%"), delta, 0, nil)
			if err != nil {
				t.Fatal(name, err)
			}
			check(name+": found at 2 % in ui", foundIn(0.02, prevalence), ui.Plain.Found.Interval.Low, ui.Plain.Found.Interval.High)
			var page bytes.Buffer
			if err := reports.WriteTraining(t.Context(), &page, trained, ""); err != nil {
				t.Fatal(name, err)
			}
			decisions := trained.Result.OutOfFoldDecisions
			if trained.Test != nil {
				decisions = *trained.Result.TestDecisions
			}
			var object struct {
				OutOfFold, Test struct {
					Precision struct {
						Rate *float64 `json:"rate"`
					} `json:"precision"`
				}
			}
			text, _ := json.Marshal(map[string]any{"OutOfFold": trained.Result.OutOfFoldDecisions, "Test": trained.Result.TestDecisions})
			if err := json.Unmarshal(text, &object); err != nil {
				t.Fatal(err)
			}
			if rate := object.OutOfFold.Precision.Rate; trained.Test == nil && (rate == nil || *rate != decisions.Precision.Rate) {
				t.Errorf("%s: %s", name, text)
			}
			if want := fmt.Sprintf("Of 1,000 alerts, about %.0f are real", 1000*decisions.Precision.Rate); !strings.Contains(strings.Join(trained.Result.Summary, "\n"), want) {
				t.Errorf("%s: the summary lacks %q:\n%s", name, want, strings.Join(trained.Result.Summary, "\n"))
			}
			i := decisions.Precision.Interval
			check(name+": precision", e.Points[0].Decisions.Precision.Rate, i.Low, i.High)
			budgets := 0
			for _, cells := range cellsOf(page.String()) {
				if len(cells) == 4 && cells[0] == "precision" && math.Abs(numbersIn(cells[1])[0]-decisions.Precision.Rate) > 0.001 {
					t.Errorf("%s: the page has %q, the object %v", name, cells, decisions.Precision)
				}
				if len(cells) < 5 || !strings.Contains(cells[3], " to ") || numbersIn(cells[0])[0] < 0.005 {
					continue
				}
				budgets++
				of, found, precision := numbersIn(cells[0])[0], numbersIn(cells[3]), numbersIn(cells[4])
				truth := foundIn(of, prevalence)
				check(name+": found at "+cells[0], truth, found[1], found[2])
				check(name+": precision at "+cells[0], truth*prevalence/of, precision[1], precision[2])
			}
			if budgets != 4 {
				t.Errorf("%s: %d budgets of at least 0.5 %% on the page", name, budgets)
			}
		}
	}
	t.Logf("%d of %d intervals miss", missed, intervals)
	if missed > intervals/20 {
		t.Errorf("%d of %d intervals of 95 %% miss the truth", missed, intervals)
	}
}
