package schema

// MaxLabels is the number of labels that a Schema keeps at most.
const MaxLabels = 100

// LabelCount is a value of the label with the number of its rows. Values that are equal as numbers count as one.
type LabelCount struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}
