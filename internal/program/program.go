// Package program is a model as a program: plain data that says how a record becomes a score. Compile makes it from features and weights,
// and exports are made from it.
//
//	read each column: a number or a category, or a missing value
//	compute the derived columns
//	score = 0
//	for each term in order: add its one or more products to score, each product and each sum rounded to float64
//	score = score + Offset
package program

import (
	"toptau/internal/feature"
	"toptau/schema"
)

// Program is the scoring of a model. Its parts may share memory with the features and must not be changed.
//
// An input is a position in Columns. An input of LIBSVM rows is 0 where a row does not write the index. Another missing value is an error
// (schema.ImputeError); or becomes Fill, of a categorical column the first category (ImputeMedian); or becomes 0, of a categorical column no
// category (ImputeZero); or stays missing (ImputeIndicator). A record with a score that is not finite has none. Under ImputeError, Fill are
// medians that only another policy uses.
type Program struct {
	Missing schema.Impute     `json:"missing"`
	Columns []int             `json:"columns"`        // places in schema.columns, ascending; LIBSVM: indices less 1
	Fill    []float64         `json:"fill,omitempty"` // by input; absent: 0
	Texts   []Text            `json:"texts,omitempty"`
	Derived []feature.Derived `json:"derived,omitempty"` // number i is the input len(Columns) + i of trees
	Terms   []Term            `json:"terms"`
	Offset  float64           `json:"offset"`

	Named []int `json:"named,omitempty"` // LIBSVM with cards or trees: the inputs with reasons; absent: all
	Known []int `json:"known,omitempty"` // LIBSVM: indices less 1 that are known without a weight, ascending
}

// Text is an input with categories. The others are numbers.
type Text struct {
	Input      int      `json:"input"`
	Categories []string `json:"categories"`     // or hashes, if the schema has a salt for the column
	Rare       bool     `json:"rare,omitempty"` // values that are no category are rare ones instead of unknown ones
}

// Term is one of its fields.
type Term struct {
	Numbers *Numbers `json:"numbers,omitempty"`
	Level   *Level   `json:"level,omitempty"`
	Absent  *Absent  `json:"absent,omitempty"`
	Card    *Card    `json:"card,omitempty"`
	Steps   *Steps   `json:"steps,omitempty"`
	Trees   *Trees   `json:"trees,omitempty"`
}

// Numbers adds for each of its inputs, in order, float32((x - Shift) / Scale) times the weight, or nothing for a missing value. The difference
// and the quotient are rounded to float64, the quotient once more to float32. A record with an infinite quotient has no score.
type Numbers struct {
	Inputs  []int     `json:"inputs,omitempty"` // absent: all columns
	Shift   []float64 `json:"shift,omitempty"`  // absent: 0
	Scale   []float64 `json:"scale,omitempty"`  // absent: 1
	Weights []float64 `json:"weights"`
}

// Level adds the term of a category, of a missing value, or of any other value.
type Level struct {
	Input   int       `json:"input"`
	Terms   []float64 `json:"terms"` // by category
	Missing float64   `json:"missing,omitzero"`
	Other   float64   `json:"other,omitzero"`
}

// Absent adds Term if a number is missing.
type Absent struct {
	Input int     `json:"input"`
	Term  float64 `json:"term"`
}

// Card adds two products of a number x, for which it looks up a place and a fraction f:
//
//   - x is clamped to the range from the smallest to the largest of Knots and Atoms. If it equals Atoms[j], its place is len(Knots) + j and f
//     is 0.
//   - Otherwise its place i is that of the last knot that is at most x, or 0. For i < len(Knots) - 1
//     f = (max(x, Knots[0]) - Knots[i]) / (Knots[i+1] - Knots[i]), rounded to a multiple of 2^-24, ties to even; otherwise 0. If the
//     difference of the knots is infinite, all three numbers are halved first.
//   - It adds (1-f) times Weights[place], then f times Weights[place+1] if f > 0.
//
// A missing value adds Missing.
type Card struct {
	Input   int       `json:"input"`
	Knots   []float64 `json:"knots"`           // at least two, ascending
	Atoms   []float64 `json:"atoms,omitempty"` // ascending
	Weights []float64 `json:"weights"`         // by place
	Missing float64   `json:"missing,omitzero"`
}

// Steps adds Terms[i], where i is the number of cuts that are at most the number. A missing value adds Missing.
type Steps struct {
	Input   int       `json:"input"`
	Cuts    []float64 `json:"cuts,omitempty"` // ascending
	Terms   []float64 `json:"terms"`          // one more
	Missing float64   `json:"missing,omitzero"`
}

// Trees adds the term of one leaf for each tree, in their order. Codes are the numbers by which trees test categories; a missing category is
// a missing value.
type Trees struct {
	Codes []feature.CategoryCodes `json:"codes,omitempty"`
	Trees []Tree                  `json:"trees"`
}

// Tree is a list of nodes in preorder: a node, its left side, its right side. A number goes left if it is at most At. A missing value goes
// right, except at the inner nodes MissingLeft.
type Tree struct {
	Ask         []int     `json:"ask"`                    // by node: an input or a derived column; -1: a leaf
	At          []float64 `json:"at"`                     // by inner node
	MissingLeft []int     `json:"missing_left,omitempty"` // positions among the inner nodes, ascending
	Terms       []float64 `json:"terms"`                  // by leaf
	Mass        []float64 `json:"mass"`                   // of the training rows in each leaf; reasons use it as weight
}
