package result

// RowClass selects rows of a list by their label.
type RowClass string

const (
	AllRows      RowClass = "all"
	PositiveRows RowClass = "positive"
	NegativeRows RowClass = "negative"
)
