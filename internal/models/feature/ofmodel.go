package feature

// MapOf returns the encoding that a model.Model returns as its Features, nil if there is none. Only this package makes one.
func MapOf(features any) *Map {
	m, _ := features.(*Map)
	return m
}

// ScorerOf returns a scorer of tables that were read with the Schema of a model.Model, for one goroutine.
func ScorerOf[F any](m interface {
	Features() F
	Vector() []float64
	Offset() float64
}) *Scorer {
	return &Scorer{Map: MapOf(m.Features()), Weights: m.Vector(), Offset: m.Offset()}
}
