package export

import (
	"slices"
	"strings"

	"toptau/internal/models/feature"
	"toptau/internal/models/feature/trees"
	"toptau/internal/models/portable"
)

// Tables are a program as lists of numbers, for languages in which a short function walks through them. Generated branches would
// be of the size of the model, and compilers would take hours for them.
type Tables struct {
	Numbers []float64 // see Op.At
	Ops     []Op
	Nodes   []TableNode
	Words   []Word // the categories of all texts; those of an input are sorted by bytes
	Inputs  []TableInput
	Derived []portable.Derived
}

// Op is a step of the score. Its numbers begin at Numbers[At].
type Op struct {
	Kind  OpKind
	Input int // in Program.Inputs; Tree: the first of its nodes, the root
	At    int
	N, M  int
}

// OpKind is what an Op does. It fixes the order of its numbers:
//
//	number  shift, scale, weight
//	level   the term of each level
//	absent  the term
//	steps   N cuts, N+1 terms, the term of a missing value
//	card    low, high, N knots, M atoms, N+M weights, the term of a missing value
//	codes   the number of each level; it becomes the number of the text
//	tree    none; N is the largest number of steps to a leaf
type OpKind int

const (
	OpNumber OpKind = iota
	OpLevel
	OpAbsent
	OpSteps
	OpCard
	OpCodes
	OpTree
)

// Ops are the operations of derived columns, by the numbers that the tables give them.
var Ops = []feature.Op{feature.Difference, feature.Product, feature.Ratio}

// TableNode is a node of a tree. A row goes to node Next if value Input is at most At, otherwise to the one after that. The values are
// those of the inputs and derived columns, with NaN for a missing one; then NaN; then the first again, with minus infinity for a missing one.
// So no node needs a branch, which a processor would guess wrong half of the time: a missing value goes right, or left at a node that
// reads the second list. A leaf reads the NaN and is itself the node after Next, so that a row stays there, and At is its term. Several trees can
// then be followed at a time, each as many steps as the deepest has, which takes a third of the time.
type TableNode struct {
	At          float64
	Input, Next int
}

// Word is a category of a text and its level.
type Word struct {
	Text  string
	Level int
}

// TableInput is an input. The words of a text are Words[First:First+Count].
type TableInput struct {
	*portable.Input
	Position     int // among the numbers, or among the texts, that callers pass
	First, Count int
}

// NewTables returns the tables of a program.
func NewTables(p *portable.Program) *Tables {
	t := &Tables{Inputs: make([]TableInput, len(p.Inputs)), Derived: p.Derived}
	for i, k := range p.Numbers() {
		t.Inputs[k] = TableInput{Input: &p.Inputs[k], Position: i}
	}
	for i, k := range p.Texts() {
		in := &p.Inputs[k]
		t.Inputs[k] = TableInput{Input: in, Position: i, First: len(t.Words), Count: len(in.Categories)}
		for level, text := range in.Categories {
			t.Words = append(t.Words, Word{text, level})
		}
		slices.SortFunc(t.Words[t.Inputs[k].First:], func(a, b Word) int { return strings.Compare(a.Text, b.Text) })
	}
	for _, term := range p.Terms {
		t.term(term)
	}
	return t
}

func (t *Tables) op(kind OpKind, input, n, m int, numbers ...[]float64) {
	t.Ops = append(t.Ops, Op{Kind: kind, Input: input, At: len(t.Numbers), N: n, M: m})
	for _, list := range numbers {
		t.Numbers = append(t.Numbers, list...)
	}
}

func (t *Tables) term(term portable.Term) {
	switch term := term.(type) {
	case *portable.Number:
		t.op(OpNumber, term.Input, 0, 0, []float64{term.Shift, term.Scale, term.Weight}) // without a scale (x - 0) / 1 is x
	case *portable.Level:
		t.op(OpLevel, term.Input, 0, 0, term.Terms)
	case *portable.Absent:
		t.op(OpAbsent, term.Input, 0, 0, []float64{term.Term})
	case *portable.Steps:
		t.op(OpSteps, term.Input, len(term.Cuts), 0, term.Cuts, term.Terms, []float64{term.Missing})
	case *portable.Card:
		t.op(OpCard, term.Input, len(term.Knots), len(term.Atoms), []float64{term.Low, term.High}, term.Knots, term.Atoms, term.Weights,
			[]float64{term.Missing})
	case *portable.Trees:
		for _, c := range term.Codes {
			t.op(OpCodes, c.Input, 0, 0, c.Values)
		}
		for i := range term.Trees {
			t.tree(term.Trees[i].Nodes)
		}
	}
}

// tree adds a tree.
func (t *Tables) tree(nodes []portable.Node) {
	right := make([]int, len(nodes))
	for k, n := range nodes {
		right[k] = n.Right
	}
	places, depth := trees.Siblings(right)
	first, values := len(t.Nodes), len(t.Inputs)+len(t.Derived)
	t.op(OpTree, first, depth, 0)
	t.Nodes = append(t.Nodes, make([]TableNode, len(nodes))...)
	for k, n := range nodes {
		place := first + places[k]
		switch {
		case n.Input < 0:
			t.Nodes[place] = TableNode{n.Term, values, place - 1}
		case n.MissingLeft:
			t.Nodes[place] = TableNode{n.At, values + 1 + n.Input, first + places[k+1]}
		default:
			t.Nodes[place] = TableNode{n.At, n.Input, first + places[k+1]}
		}
	}
}
