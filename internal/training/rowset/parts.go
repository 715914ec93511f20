package rowset

import (
	"toptau/internal/models/feature"
	"toptau/model"
)

// ModelParts returns the parts that every model has. The caller adds points and members.
func ModelParts(d *Set, features *feature.Map, w []float64, seed uint64) model.Parts {
	training := model.Training{Rows: d.Len(), Positives: d.Positives(), Digest: d.Digest(), Source: d.Origin, Seed: seed}
	training.Mass, training.PositiveMass = d.Masses()
	return model.Parts{Schema: d.Info.Schema, Features: features, Weights: w, Training: training}
}
