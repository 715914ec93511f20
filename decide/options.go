package decide

import (
	"toptau/internal/core/ranking"
	"toptau/internal/training/rowset"
	"toptau/metric"
	"toptau/model"
	"toptau/result"
	"toptau/threshold"
)

// Options are the options of Threshold. The zero value of each is its default.
type Options struct {
	Name     string         // name of the operating point; "": "calibrated"
	Replace  string         // name of a point of the model that is replaced, instead of Name
	Delta    threshold.Rate // requests a guarantee that may fail with this probability; zero: no guarantee
	Segments bool           // adds a threshold for each value of Format.Segment, each with Delta
	// Simultaneous makes the guarantees of all segments hold together with confidence 1 - Delta (Sidak). It requires Segments and
	// Delta.
	Simultaneous bool
	Force        bool // certifies even if fingerprints show that the rows trained the model
	// Entity is a column that names entities. The budget counts them instead of rows, as in measure.Options.Entity.
	Entity string
	Value  string // GoalCostAlert: the column of amounts
	// Audit lists this many of the best-scoring negatives in the result, for review. Reviewed are answers: rows, from 1, of which the
	// positive ones are left out. The guarantee is then no longer exact; the result says what that costs.
	Audit    int
	Reviewed map[int]bool
	// Prevalence is the fraction of positives at which a lowest precision is meant: it then holds wherever at least this fraction of
	// the rows is positive, whatever it is in these rows. Zero: as in them.
	Prevalence threshold.Rate
}

// Calibrated is a computed threshold.
type Calibrated struct {
	Result result.Threshold
	Point  model.Point // the threshold as an operating point for Model.WithPoint

	replaces bool // Point replaces one of the model
}

// WithPoint returns m with the computed operating point, which replaces one or is new.
func (c *Calibrated) WithPoint(m *model.Model) (*model.Model, error) {
	if c.replaces {
		return m.WithReplaced(c.Point)
	}
	return m.WithPoint(c.Point)
}

// calibrating is the state of a call of Threshold.
type calibrating struct {
	data    *rowset.Set
	scores  []float64 // one score for each row
	goal    metric.Goal
	options Options
	byClass ranking.Scores // GoalCostAlert: scores of the units, with the amounts of the positives
	amounts []float64
	against string // reason why the rows give no guarantee; "": there is none
}
