package decide

import (
	"testing"

	"toptau/internal/data/table"
	"toptau/internal/training/rowset"
	"toptau/internal/training/rowset/rowsettest"
	"toptau/metric"
	"toptau/model"
)

func TestThresholdsThatNeedRowsInMemory(t *testing.T) {
	plain, rich := &rowset.Set{Table: &table.Table{}}, &rowset.Set{Table: &table.Table{Time: &table.Text{}, Weight: []float64{2}}}
	fitted, scores := &rowset.Entry{Model: &model.Model{}}, &rowset.Entry{Scores: []float64{1}}
	o := Options{Entity: "host", Value: "amount", Segments: true, Audit: 5}
	rowsettest.Check(t, rowsettest.Needs{Plain: (&Options{}).needs(plain, fitted, metric.RateGoal(metric.GoalTop, "1%")),
		Full:  o.needs(rich, scores, metric.RateGoal(metric.GoalMinPrecision, "90%")),
		Other: o.needs(rich, scores, metric.RateGoal(metric.GoalMinRecall, "90%"))}, "../docs/reference/packed.md", false)
}
