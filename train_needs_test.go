package toptau

import (
	"testing"
	"time"

	"toptau/dataset"
	"toptau/internal/data/table"
	"toptau/internal/training/rowset"
	"toptau/internal/training/rowset/rowsettest"
	"toptau/schema"
)

func TestTrainingsThatNeedRowsInMemory(t *testing.T) {
	plain, rich := &rowset.Set{Table: &table.Table{}}, &rowset.Set{Table: &table.Table{Time: &table.Text{}, Weight: []float64{2}}}
	other := rowset.Wrap(rich).(*dataset.Data)
	o := TrainOptions{Validation: other, Test: other, Calibration: other, OutOfFold: true, Entity: "host", Value: "amount",
		LabelDelay: schema.Delay(time.Hour), LearningCurve: true, KeepAll: true}
	rowsettest.Check(t, rowsettest.Needs{Plain: (&TrainOptions{}).needs(plain, MaxFPR("1%")), Full: o.needs(rich, MinPrecision("90%")),
		Other: o.needs(rich, MinRecall("90%"))}, "docs/reference/packed.md", false)
}
