package result

import "toptau/metric"

// Gate is the answer whether a model may replace another: `evaluate --gate`.
type Gate struct {
	Passed     bool              `json:"passed"`     // every condition holds
	Entry      string            `json:"entry"`      // the new model
	Against    string            `json:"against"`    // the model that it would replace
	Margin     float64           `json:"margin"`     // largest loss of the goal's criterion that is accepted
	Difference metric.Difference `json:"difference"` // paired, new minus old
	Reasons    []string          `json:"reasons"`    // conditions that do not hold
}

// ModelDifference describes what differs between two models: `diff`.
type ModelDifference struct {
	Document
	Same bool `json:"same"` // no difference was found in what scores and decides
	// facts that differ: training data, methods, encoding, policies, label
	Facts   []FactChange   `json:"facts"`
	Columns []ColumnChange `json:"columns"` // columns of the models that differ, the largest change of weights first
	Points  []PointChange  `json:"points"`  // operating points that differ
}

// FactChange is a fact about a model before and after.
type FactChange struct {
	Name   string `json:"name"`   // of the fact
	Before string `json:"before"` // "": there was none
	After  string `json:"after"`  // "": there is none
}

// ColumnChange is a column of which the models know or use different things.
type ColumnChange struct {
	Column string `json:"column"` // name of the column
	Change string `json:"change"` // added, removed, kind, categories, encoding or weights
	Detail string `json:"detail"` // what changed, in words
	// Euclidean norm of the weights of the column's features before and after; null: it has none
	Before *float64 `json:"norm_before"`
	After  *float64 `json:"norm_after"` // likewise
	Moved  *float64 `json:"moved"`      // norm of the difference of the weights; null: the features differ
}

// PointChange is an operating point that differs.
type PointChange struct {
	Name      string      `json:"name"`             // of the point
	Change    string      `json:"change"`           // added, removed, changed or default
	Before    *float64    `json:"threshold_before"` // null: there was none
	After     *float64    `json:"threshold_after"`  // null: there is none
	Goal      metric.Goal `json:"goal"`             // after, or before if it was removed
	Guarantee string      `json:"guarantee"`        // what changed about the guarantee, in words; "": nothing
}
