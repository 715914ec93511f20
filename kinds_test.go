package toptau

import (
	"os"
	"strings"
	"testing"
	"time"

	"toptau/diag"
	"toptau/internal/table"
	"toptau/method"
	"toptau/schema"
)

// Everything that needs rows in memory is refused for rows in a file and in a database by an error that names both, and is in the
// documents. Nothing is refused for rows in memory, or for a use without options.
func TestWhatNeedsRowsInMemory(t *testing.T) {
	rows, timed := &Data{table: &table.Table{}}, &Data{table: &table.Table{Time: &table.Text{}, Weight: []float64{2}}}
	m := &Model{}
	cases := map[string]use{
		"validation":             {data: rows, train: TrainOptions{Validation: rows}},
		"test":                   {data: rows, train: TrainOptions{Test: rows}},
		"calibration":            {data: rows, train: TrainOptions{Calibration: rows}},
		"out-of-fold":            {data: rows, train: TrainOptions{OutOfFold: true}},
		"entity":                 {data: rows, evaluate: EvaluateOptions{Entity: "host"}},
		"value":                  {data: rows, train: TrainOptions{Value: "amount"}},
		"label-delay":            {data: rows, train: TrainOptions{LabelDelay: schema.Delay(time.Hour)}},
		"time":                   {verb: "train", data: timed},
		"learning-curve":         {data: rows, train: TrainOptions{LearningCurve: true}},
		"weight":                 {verb: "evaluate", data: timed, entries: []Entry{{Model: m}}},
		"solver":                 {data: rows, fit: FitOptions{Settings: method.Settings{Solver: method.Adam}}},
		"by":                     {data: rows, evaluate: EvaluateOptions{By: []string{"host"}}},
		"examples":               {data: rows, evaluate: EvaluateOptions{Examples: 3}},
		"gate":                   {data: rows, evaluate: EvaluateOptions{Gate: true}},
		"against":                {data: rows, evaluate: EvaluateOptions{Against: "old"}},
		"segment":                {data: rows, entries: []Entry{{Model: m}}, threshold: ThresholdOptions{Segments: true}},
		"audit":                  {data: rows, threshold: ThresholdOptions{Audit: 5}},
		"min-precision":          {data: rows, goal: MinPrecision("90%")},
		"min-recall":             {data: rows, goal: MinRecall("90%")},
		"report":                 {verb: "report", data: rows},
		"an exploration":         {verb: "ui", data: rows},
		"a comparison":           {data: rows, entries: []Entry{{Model: m}, {Model: m}}},
		"scores without a model": {data: rows, entries: []Entry{{Scores: []float64{1}}}},
	}
	page, err := os.ReadFile("docs/reference/packed.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, only := range inMemoryOnly {
		title := only.param + only.words
		u, known := cases[title]
		if !known {
			t.Errorf("%s has no case", title)
			continue
		}
		if err := u.check(memoryRows); err != nil {
			t.Errorf("%s of rows in memory: %v", title, err)
		}
		for _, where := range []kind{fileRows, databaseRows} {
			e := diag.Of(u.check(where))
			if e == nil || e.Kind != diag.Usage || e.Param != only.param || !strings.Contains(e.Found, only.words) || !strings.Contains(e.Found, string(where)) {
				t.Errorf("%s of %s: %v", title, where, e)
			}
		}
		if word := "`--" + only.param + "`"; only.words == "" && !strings.Contains(string(page), word) || !strings.Contains(string(page), only.words) {
			t.Errorf("docs/reference/packed.md does not name %s", title)
		}
	}
	for _, verb := range []string{"train", "fit", "evaluate", "threshold"} {
		if err := (use{verb: verb, data: rows}).check(databaseRows); err != nil {
			t.Errorf("%s: %v", verb, err)
		}
	}
}
