package rowset

import (
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/internal/models/reason"
	"toptau/model"
	"toptau/result"
)

// TableReasons lists reasons of the scores of rows of a table.
type TableReasons struct {
	scorer  *feature.Scorer
	divider *reason.Divider
}

func NewTableReasons(m *model.Model) *TableReasons {
	s := feature.ScorerOf(m)
	return &TableReasons{s, NewDivider(m, s)}
}

// NewDivider returns a divider of the scores of a model's scorer.
func NewDivider(m *model.Model, s *feature.Scorer) *reason.Divider {
	division, _ := feature.NewContributions(s.Map, s.Weights) // a model has a weight for each feature
	score, adds := m.Averages().Means()
	return reason.New(s, division, score, adds)
}

// Of returns at most limit reasons of a row.
func (r *TableReasons) Of(t *table.Table, row, limit int) (_ []result.Reason, err error) {
	var e result.Explanation
	if e.Score, err = r.scorer.Score(t, row); err != nil {
		return nil, err
	}
	r.divider.Explain(t, row, limit, &e)
	return e.Reasons, nil
}
