package measure

import (
	"testing"

	"toptau/dataset"
	"toptau/internal/data/table"
	"toptau/internal/training/rowset"
	"toptau/internal/training/rowset/rowsettest"
	"toptau/model"
)

func TestEvaluationsThatNeedRowsInMemory(t *testing.T) {
	plain, rich := &rowset.Set{Table: &table.Table{}}, &rowset.Set{Table: &table.Table{Time: &table.Text{}, Weight: []float64{2}}}
	models := []dataset.Entry{{Model: &model.Model{}}, {Model: &model.Model{}}}
	o := Options{Entity: "host", Value: "amount", By: []string{"host"}, Examples: 3, Gate: true, Against: "old"}
	rowsettest.Check(t, rowsettest.Needs{Plain: (&Options{}).needs(plain, models[:1]), Full: o.needs(rich, models),
		Other: o.needs(rich, []dataset.Entry{{Scores: []float64{1}}})}, "../docs/reference/packed.md", true)
}
