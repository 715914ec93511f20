package report

// FindingsOf returns the curves of a toptau.Explorer with their bands, and the scores by class. ShapesOf returns what its main
// columns and pairs of columns add to the scores, measured on at most MaxShapeRows rows, and nothing without a model. The library
// sets both: they have types of this package, which its public methods must not have.
var (
	FindingsOf func(explorer any) (*Findings, error)
	ShapesOf   func(explorer any) ([]Shape, []PairShape, error)
)
