package inspect

import "toptau/result"

// Inspection describes what a model file contains: `inspect`.
type Inspection struct {
	result.Document
	Format    int               `json:"format"`    // version of the file
	Digest    string            `json:"digest"`    // the model's digest
	Bytes     int               `json:"bytes"`     // size of the file
	Signed    bool              `json:"signed"`    // the file has a signature
	Rows      int               `json:"n"`         // number of training rows
	Positives int               `json:"positives"` // number of positive training rows
	Weights   int               `json:"weights"`   // number of weights
	Parts     []InspectedPart   `json:"parts"`     // fields of the file in their order
	Columns   []InspectedColumn `json:"columns"`   // columns that are features, in the order of the training file
	Derived   []string          `json:"derived"`   // differences, products and ratios of two columns that the model reads, such as "debt / income"
	Personal  []PersonalFinding `json:"personal"`  // what may be personal
}

// InspectedPart is a field of the model file.
type InspectedPart struct {
	Name    string `json:"name"`    // name of the field
	Bytes   int    `json:"bytes"`   // bytes in the file
	Content string `json:"content"` // what it contains, in words
}

// InspectedColumn is a column that the model reads.
type InspectedColumn struct {
	Column     string `json:"column"`           // name of the column
	Kind       string `json:"kind"`             // numeric or categorical
	Part       string `json:"part,omitempty"`   // what is taken from a time or an address
	Unit       string `json:"unit,omitempty"`   // that its numbers may have in text
	Categories int    `json:"categories"`       // number of categories in the file
	Hashed     bool   `json:"hashed,omitempty"` // the file has hashes of the categories
}

// PersonalFinding is a kind of values in a model file that may be personal.
type PersonalFinding struct {
	Place   string `json:"place"`   // column, or field of the file
	Kind    string `json:"kind"`    // what the values look like
	Values  int    `json:"values"`  // number of these values
	Of      int    `json:"of"`      // number of all values there
	Example string `json:"example"` // one of the values with most letters hidden
}
