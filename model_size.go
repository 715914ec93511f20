package toptau

import (
	"io"
	"time"

	"toptau/internal/models/feature"
	"toptau/internal/training/rowset"
	"toptau/model"
	"toptau/result"
)

// sizeRows is the number of rows that are scored to measure the time of a row: a few milliseconds.
const sizeRows = 1000

// modelSize measures a model on rows of the data that it was trained on.
func modelSize(d *rowset.Set, m *model.Model) (result.ModelSize, error) {
	var s result.ModelSize
	var err error
	scorer := feature.ScorerOf(m)
	s.Trees, s.Leaves = scorer.Map.Trees()
	if s.Bytes, err = m.WriteTo(io.Discard); err != nil {
		return s, err
	}
	rows := min(sizeRows, d.Table.Rows())
	start := time.Now()
	for row := range rows {
		if _, err := scorer.Score(d.Table, row); err != nil {
			return s, d.WithFile(err)
		}
	}
	s.SecondsPerRow = time.Since(start).Seconds() / float64(max(1, rows))
	return s, nil
}
