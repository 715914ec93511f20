// Package program is a model as a program: plain data that says how a record becomes a score. A model file holds it, readers in other languages
// run it, and exports are made from it. Compile makes it from features and weights, and Features makes these from it again.
//
//	read each column: a number or a category, or a missing value
//	compute the derived columns
//	score = 0
//	for each term in order: add its products to score, each product and each sum rounded to float64
//	score = score + Offset
package program

import (
	"toptau/internal/models/feature"
	"toptau/internal/models/feature/trees"
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

// Term is one of its fields: what a block of features adds.
type Term struct {
	Numbers *Numbers `json:"numbers,omitempty"`
	Levels  []Level  `json:"levels,omitzero"`
	Cards   []Card   `json:"cards,omitzero"`
	Trees   *Trees   `json:"trees,omitempty"`
}

// Numbers adds for each of its inputs, in order, float32((x - Shift) / Scale) times the weight, or nothing for a missing value. The difference
// and the quotient are rounded to float64, the quotient once more to float32. A record with an infinite quotient has no score.
type Numbers struct {
	Inputs  []int     `json:"inputs,omitzero"` // absent: all columns
	Shift   []float64 `json:"shift,omitempty"` // absent: 0
	Scale   []float64 `json:"scale,omitempty"` // absent: 1
	Weights []float64 `json:"weights"`
}

// Level adds float32(1 / Scale) times the weight of a category, of a missing value, or of any other value. The weights are those of the
// categories, none of a number; of a missing value, if Missing is set; and of any other value, if its Text is Rare. A value without a weight
// adds nothing.
type Level struct {
	Input   int       `json:"input"`
	Missing bool      `json:"missing,omitempty"`
	Scale   []float64 `json:"scale,omitempty"` // one for each weight; absent: 1
	Weights []float64 `json:"weights"`
}

// Products returns what the level adds for each of n categories, for a missing and for any other value.
func (l *Level) Products(n int, rare bool) (categories []float64, missing, other float64) {
	list := make([]float64, len(l.Weights), len(l.Weights)+1)
	for i, w := range l.Weights {
		x := 1.0
		if l.Scale != nil {
			x = 1 / l.Scale[i]
		}
		list[i] = float64(float64(float32(x))*w) + 0 // 0 has no sign
	}
	if l.Missing {
		missing = list[n]
	}
	if rare {
		other = list[len(list)-1]
	}
	return list[:n:n], missing, other
}

// Card adds two products of a number x, for which it looks up a place and a fraction f:
//
//   - x is clamped to the range from the smallest to the largest of Knots and Atoms. If it equals Atoms[j], its place is len(Knots) + j and f
//     is 0.
//   - Otherwise, with knots, its place i is that of the last knot that is at most x, or 0. For i < len(Knots) - 1
//     f = (max(x, Knots[0]) - Knots[i]) / (Knots[i+1] - Knots[i]), rounded to a multiple of 2^-24, ties to even; otherwise 0. If the
//     difference of the knots is infinite, all three numbers are halved first.
//   - Without knots its place is that of the nearest atom, see Nearer, and f is 0.
//   - It adds (1-f) times Weights[place], then f times Weights[place+1] if f > 0.
//
// A missing value adds the last weight if Missing is set, otherwise nothing.
type Card struct {
	Input   int       `json:"input"`
	Knots   []float64 `json:"knots,omitempty"` // none, or at least two, ascending
	Atoms   []float64 `json:"atoms,omitempty"` // ascending
	Missing bool      `json:"missing,omitempty"`
	Weights []float64 `json:"weights"` // of knots, of atoms, of a missing value
}

// Split returns the weights of places and that of a missing value.
func (c *Card) Split() (places []float64, missing float64) {
	n := len(c.Knots) + len(c.Atoms)
	if c.Missing {
		missing = c.Weights[n] + 0
	}
	return c.Weights[:n:n], missing
}

// Trees adds the weight of one leaf for each tree, in their order. Codes are the numbers by which trees test categories; a missing category is
// a missing value.
type Trees struct {
	Inputs []int                   `json:"inputs"` // the inputs and derived columns that trees test, ascending
	Codes  []feature.CategoryCodes `json:"codes,omitempty"`
	Trees  []Tree                  `json:"trees"`
}

// Tree is a list of nodes in preorder, whose Ask are positions in Trees.Inputs, with a weight for each leaf.
type Tree struct {
	trees.Tree
	Weights []float64 `json:"weights"`
}
