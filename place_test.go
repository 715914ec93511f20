package toptau

import (
	"os"
	"strings"
	"testing"
	"time"

	"toptau/dataset"
	"toptau/diag"
	"toptau/internal/rowset"
	"toptau/internal/table"
	"toptau/method"
	"toptau/model"
	"toptau/schema"
)

// Everything that needs rows in memory is refused for rows in a file and in a database by an error that names both, and is in the
// documents. Nothing is refused for rows in memory, or for a use without options.
func TestWhatNeedsRowsInMemory(t *testing.T) {
	plain, rich := &rowset.Set{Table: &table.Table{}}, &rowset.Set{Table: &table.Table{Time: &table.Text{}, Weight: []float64{2}}}
	models := []dataset.Entry{{Model: &model.Model{}}, {Model: &model.Model{}}}
	scores := dataset.Entry{Scores: []float64{1}}
	train := TrainOptions{Validation: rowset.Wrap(rich).(*dataset.Data), Test: rowset.Wrap(rich).(*dataset.Data), Calibration: rowset.Wrap(rich).(*dataset.Data), OutOfFold: true, Entity: "host", Value: "amount",
		LabelDelay: schema.Delay(time.Hour), LearningCurve: true, KeepAll: true}
	fit := FitOptions{Settings: method.Settings{Solver: method.Adam}}
	evaluate := EvaluateOptions{Entity: "host", Value: "amount", By: []string{"host"}, Examples: 3, Gate: true, Against: "old"}
	threshold := ThresholdOptions{Entity: "host", Value: "amount", Segments: true, Audit: 5}
	page, err := os.ReadFile("docs/reference/packed.md")
	if err != nil {
		t.Fatal(err)
	}
	for verb, n := range map[string]struct{ plain, full, other rowset.Needs }{
		"train":     {(&TrainOptions{}).needs(plain, MaxFPR("1%")), train.needs(rich, MinPrecision("90%")), train.needs(rich, MinRecall("90%"))},
		"fit":       {(&FitOptions{}).needs(), fit.needs(), fit.needs()},
		"evaluate":  {(&EvaluateOptions{}).needs(plain, models[:1]), evaluate.needs(rich, models), evaluate.needs(rich, []dataset.Entry{scores})},
		"threshold": {(&ThresholdOptions{}).needs(plain, (*rowset.Entry)(&models[0]), Top("1%")), threshold.needs(rich, (*rowset.Entry)(&scores), MinPrecision("90%")), threshold.needs(rich, (*rowset.Entry)(&scores), MinRecall("90%"))},
	} {
		if err := n.plain.Check(rowset.InDatabase); err != nil {
			t.Errorf("%s: %v", verb, err)
		}
		if err := n.full.Check(rowset.InMemory); err != nil {
			t.Errorf("%s of rows in memory: %v", verb, err)
		}
		for i, only := range n.full {
			if goals := verb == "evaluate" && strings.HasPrefix(only.Param, "min-"); !only.Used && !n.other[i].Used && !goals && only.Param != "segment" {
				t.Errorf("%s: no case has %s%s", verb, only.Param, only.Words)
			}
			only.Used = true
			for _, where := range []rowset.Place{rowset.InFile, rowset.InDatabase} {
				e := diag.Of(rowset.Needs{only}.Check(where))
				if e == nil || e.Kind != diag.Usage || e.Param != only.Param || !strings.Contains(e.Found, only.Words) || !strings.Contains(e.Found, string(where)) {
					t.Errorf("%s: %s%s of %s: %v", verb, only.Param, only.Words, where, e)
				}
			}
			if word := "`--" + only.Param + "`"; only.Words == "" && !strings.Contains(string(page), word) || !strings.Contains(string(page), only.Words) {
				t.Errorf("docs/reference/packed.md does not name %s%s", only.Param, only.Words)
			}
		}
	}
}
