package decide

import (
	"math"

	"toptau/calibrate"
	"toptau/dataset"
	"toptau/diag"
	"toptau/internal/core/heldout"
	"toptau/internal/training/rowset"
	"toptau/metric"
	"toptau/model"
)

// Negatives returns the scores of the negatives of labelled rows that did not train a model, or of what its operating point p counts, for
// lists of its best rows (score.Options.Calibration).
//
// Errors: diag.Guarantee if the rows trained the model or are not independent, diag.Data without negatives.
func Negatives(m *model.Model, p *model.Point, data *dataset.Data) (*calibrate.Negatives, error) {
	d := rowset.Of(data)
	e := rowset.Entry{Model: m}
	options := Options{Entity: p.Entity}
	rows, err := newCalibrationRows(d, &e, metric.Goal{Kind: metric.GoalAbsoluteTop}, options)
	if err != nil {
		return nil, err
	}
	scored, ok := rows.(*scoredRows)
	if !ok {
		return nil, &diag.Error{Kind: diag.Usage, Param: "calibration", Found: "rows that do not fit into memory",
			Expected: string(rowset.InMemory), Hint: "a sample of the rows may be enough"}
	}
	_, against, err := thresholdOverlap(&e, d, false)
	if err != nil {
		return nil, err
	}
	if against == "" {
		against = scored.unfit()
	}
	if against != "" {
		return nil, &diag.Error{Kind: diag.Guarantee, Param: "calibration", Found: "no list: " + against,
			Expected: "held-out rows that were used for nothing else"}
	}
	negatives := heldout.BestNegatives(rowset.NegativeScores(scored.data.Table, scored.scores), math.MaxInt)
	if negatives == nil {
		return nil, &diag.Error{Kind: diag.Data, File: d.Table.File, Found: "no negatives", Expected: "negatives that were used for nothing else"}
	}
	return negatives, nil
}
