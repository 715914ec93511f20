// Package portable turns a model into a plain program: inputs, what to do with odd values, and terms in the order in
// which they are added. It is nothing but data. Exports to other languages are made from it and from nothing else.
//
// A program has the bits of Model.ScoreNumbers and Model.ScoreFields. A record without a score there (a missing value that
// the model refuses, a number that is too large) has none here either; exports return NaN or NULL for it.
//
//	read each input: a missing value, or a number between Low and High, or a category
//	compute the derived columns from them
//	score = 0
//	for each term in order: add its one or more products to score, each product and each sum rounded to float64
//	score = score + Offset
package portable

import (
	"toptau/internal/models/feature"
	"toptau/model"
	"toptau/schema"
)

// Program is a model as data. It must not be changed.
type Program struct {
	Digest  string  // of the model: "sha256:..."
	Inputs  []Input // the columns that the score needs, in the order of the schema
	Derived []Derived
	Terms   []Term
	Offset  float64
	Points  []Point
	Probes  []Probe  // synthetic records with their scores
	ID      []string // names of the columns that identify a row in the training file
	Columns []string // names of all columns of the schema; nil for LIBSVM
	Width   int      // length of a record of numbers, see Input.Place

	// A number equal to one of these is missing, and so is a text equal to one of MissingTexts or empty, after blanks and
	// tabs at its ends are removed.
	MissingNumbers []float64
	MissingTexts   []string
}

// Input is a column that the score needs.
type Input struct {
	Name   string      // of the column; a part has a name of its own, such as "seen hour"; LIBSVM: "index 17"
	Place  int         // in a record of all columns of the schema, from 0; LIBSVM: the index minus 1
	Part   schema.Part // what is taken from the values of the column Source; callers provide the part
	Source string
	Origin float64 // Part Seconds: what they count from, in seconds since 1970

	Text       bool     // categories instead of numbers
	Categories []string // of a text, all different
	Missing    Policy
	Fill       float64 // of a number, with the policy Filled; of a text it is the first category
	Low, High  float64 // a number that is not missing has a score if Low <= x <= High, both finite
}

// Policy is what becomes of a missing value.
type Policy int

const (
	Refused Policy = iota // the record has no score
	Filled                // Input.Fill or the first category takes its place
	Kept                  // terms have a value for it
)

// Derived is a number that is computed from two numbers, after what their policies do to missing values: A - B, A * B or A / B,
// rounded to float64. It is missing if a part is missing, if a part is neither 0 nor of an absolute value from feature.MinPart to
// feature.MaxPart, and if B of a ratio is 0. Trees read derived column i as the input len(Inputs) + i.
type Derived struct {
	Op   feature.Op
	A, B int // positions in Inputs
}

// Term is one of *Number, *Level, *Absent, *Card, *Steps and *Trees.
type Term interface {
	// bound returns a number that no sum of absolute values of the term's products exceeds.
	bound(p *Program) float64
}

// Number adds float32((x - Shift) / Scale) times Weight, or nothing for a missing value. The difference and the quotient are
// rounded to float64, the quotient once more to float32.
type Number struct {
	Input        int
	Scaled       bool // otherwise float32(x) times Weight
	Shift, Scale float64
	Weight       float64
}

// Level adds Terms[level] of a text. The levels are those of its categories, then that of a missing value, then that of any other
// text.
type Level struct {
	Input int
	Terms []float64
}

// Absent adds Term if the number is missing.
type Absent struct {
	Input int
	Term  float64
}

// Card adds two products of a number x, for which it looks up a place and a fraction f:
//
//   - x is clamped to Low and High. If it equals Atoms[j], its place is len(Knots) + j and f is 0.
//   - Otherwise its place i is that of the last knot that is at most x, or 0. For i < len(Knots) - 1
//     f = (max(x, Knots[0]) - Knots[i]) / (Knots[i+1] - Knots[i]), rounded to a multiple of 2^-24, ties to even; otherwise 0.
//   - It adds (1-f) times Weights[place], then f times Weights[place+1] if the place has a fraction.
//
// A missing value adds Missing.
type Card struct {
	Input     int
	Low, High float64
	Knots     []float64 // at least two, ascending, with finite differences
	Atoms     []float64 // ascending
	Weights   []float64 // by place
	Missing   float64
}

// Steps adds Terms[i], where i is the number of cuts that are at most the number. A missing value adds Missing.
type Steps struct {
	Input   int
	Cuts    []float64 // ascending
	Terms   []float64 // one more
	Missing float64
}

// Trees adds the term of one leaf for each tree, in their order.
type Trees struct {
	Codes []Codes // of the texts that the trees test
	Trees []Tree
}

// Codes are the numbers by which trees test a text, by level; a missing value is NaN.
type Codes struct {
	Input  int
	Values []float64
}

// Tree is a list of nodes in preorder. The first is the root.
type Tree struct {
	Nodes []Node
}

// Node is a leaf or a test. A number x goes to the next node in the list if x <= At, or if it is missing and MissingLeft is
// set, otherwise to the node Right.
type Node struct {
	Input       int // or a derived column; -1: a leaf
	At          float64
	Right       int
	MissingLeft bool
	Term        float64 // of a leaf
}

// Point is an operating point. The decision is score > Threshold.
type Point struct {
	model.Point
	Segment int // position of its column in Program.Segments; -1: one threshold for all rows
}

// Probe is a synthetic record with its score. Values has one element for each of Program.Inputs.
type Probe struct {
	Values []Value
	Score  float64
}

// Value is the value of an input: a number, NaN if it is missing, or a text, nil if it is missing.
type Value struct {
	Number float64
	Text   *string
}

// Numbers and Texts return the positions of the inputs that are numbers, and of those that are texts.
func (p *Program) Numbers() []int { return p.inputsOf(false) }

// Texts returns the positions of the inputs that are texts.
func (p *Program) Texts() []int { return p.inputsOf(true) }

func (p *Program) inputsOf(text bool) (list []int) {
	for k := range p.Inputs {
		if p.Inputs[k].Text == text {
			list = append(list, k)
		}
	}
	return list
}

// Segments returns the columns whose values have thresholds of their own, each once, in the order of the points.
func (p *Program) Segments() (names []string) {
	for _, point := range p.Points {
		if point.Segment == len(names) {
			names = append(names, point.Point.Segment)
		}
	}
	return names
}

// Parts returns the number of inputs that are parts of times or addresses.
func (p *Program) Parts() (n int) {
	for k := range p.Inputs {
		if p.Inputs[k].Part != schema.Whole {
			n++
		}
	}
	return n
}
