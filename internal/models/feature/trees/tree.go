// Package trees grows binary trees on training rows, at random or by gradient boosting, and evaluates them: one row at a
// time (tree.go) or many rows at a time (rows.go). It knows nothing of tables.
package trees

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
)

// Tree is a binary tree in preorder: a node, the nodes of its left side, the nodes of its right side. A row
// goes left if its value is at most the threshold. A missing value goes right, except at the nodes listed in
// MissingLeft. Leaves are numbered in their order, from 0.
type Tree struct {
	Ask         []int     `json:"ask"`                    // for each node a position in the list of inputs; -1: a leaf
	At          []float64 `json:"at"`                     // the threshold of each inner node, in their order
	MissingLeft []int     `json:"missing_left,omitempty"` // inner nodes, counted from 0 in their order, ascending
	Mass        []float64 `json:"mass"`                   // of the training rows in each leaf, about; explanations use it as weight

	nodes  []treeNode // by position in Ask; set by Prepare
	leaves int
}

// treeNode is a node in the form for scoring.
type treeNode struct {
	at          float64
	input       int32 // of the map; -1: a leaf
	next        int32 // the first node of the right side; of a leaf: its number
	missingLeft bool
}

// child returns the node after node i, which is n, for a value.
func (n *treeNode) child(i int, x float64) int {
	if x <= n.at || n.missingLeft && x != x {
		return i + 1
	}
	return int(n.next)
}

// Leaf returns the leaf of a row of resolved numbers.
func (t *Tree) Leaf(numbers []float64) int {
	for i := 0; ; {
		n := &t.nodes[i]
		if n.input < 0 {
			return int(n.next)
		}
		i = n.child(i, numbers[n.input])
	}
}

// AddSteps follows a row to its leaf. Each step adds the change of the means of the two nodes to the element of dst
// of the input that the first node tests.
func (t *Tree) AddSteps(numbers, means, dst []float64) {
	for i := 0; t.nodes[i].input >= 0; {
		n := &t.nodes[i]
		child := n.child(i, numbers[n.input])
		dst[n.input] += means[child] - means[i]
		i = child
	}
}

// Step is what a question adds to its input.
type Step struct {
	Input int32
	Add   float64
}

// LeafSteps returns the steps of AddSteps by leaf.
func (t *Tree) LeafSteps(means []float64) [][]Step {
	list := make([][]Step, 0, t.leaves)
	var visit func(i int, path []Step)
	visit = func(i int, path []Step) {
		n := &t.nodes[i]
		if n.input < 0 {
			list = append(list, slices.Clone(path))
			return
		}
		for _, child := range [2]int{i + 1, int(n.next)} {
			visit(child, append(path, Step{n.input, means[child] - means[i]}))
		}
	}
	visit(0, nil)
	return list
}

// AddGains adds, for each inner node, the part of the variance of the weights that its question explains to the element of dst of its
// input: m_l m_r / (m_l + m_r) (v_l - v_r)^2 with the masses and means of both sides.
func (t *Tree) AddGains(w, dst []float64) {
	means, masses := t.meansAndMasses(w)
	for i := range t.nodes {
		if n := &t.nodes[i]; n.input >= 0 {
			left, right := i+1, int(n.next)
			d := means[left] - means[right]
			dst[n.input] += float64(masses[left] * (masses[right] / masses[i]) * float64(d*d))
		}
	}
}

// Means returns, for each node, the mean of the weights of the leaves below it, weighted by their mass in training.
func (t *Tree) Means(w []float64) []float64 {
	means, _ := t.meansAndMasses(w)
	return means
}

func (t *Tree) meansAndMasses(w []float64) (means, masses []float64) {
	means, masses = make([]float64, len(t.nodes)), make([]float64, len(t.nodes))
	for i := len(t.nodes) - 1; i >= 0; i-- { // children come after their parent
		n := &t.nodes[i]
		if n.input < 0 {
			means[i], masses[i] = w[n.next], t.Mass[n.next]
			continue
		}
		left, right := i+1, int(n.next)
		masses[i] = masses[left] + masses[right]
		means[i] = means[left] + float64((means[right]-means[left])*(masses[right]/masses[i]))
	}
	return means, masses
}

// Tests yields the input and the threshold of each inner node, in their order.
func (t *Tree) Tests() iter.Seq2[int, float64] {
	return func(yield func(int, float64) bool) {
		for i := range t.nodes {
			if n := &t.nodes[i]; n.input >= 0 && !yield(int(n.input), n.at) {
				return
			}
		}
	}
}

// Leaves returns the number of leaves.
func (t *Tree) Leaves() int { return t.leaves }

// Sides calls visit for every inner node, from the last to the first, with the smallest and the largest weight of the leaves
// on its left side and on its right.
func (t *Tree) Sides(w []float64, visit func(input int, at float64, left, right [2]float64)) {
	ranges := make([][2]float64, len(t.nodes)) // of the leaves below each node
	for i, n := range slices.Backward(t.nodes) {
		if n.input < 0 {
			ranges[i] = [2]float64{w[n.next], w[n.next]}
			continue
		}
		left, right := ranges[i+1], ranges[n.next]
		ranges[i] = [2]float64{min(left[0], right[0]), max(left[1], right[1])}
		visit(int(n.input), n.at, left, right)
	}
}

// PairsOfLeaves returns the inputs that lead to each leaf, one or two, -1 for none. It returns false if more than two
// inputs lead to a leaf. It goes through the nodes in their order and not down the tree, which in a file may be as
// deep as it has nodes.
func (t *Tree) PairsOfLeaves() (pairs [][2]int, ok bool) {
	const none = -1
	paths := make([][2]int, len(t.nodes)) // by node: the inputs that lead to it
	paths[0] = [2]int{none, none}
	pairs = make([][2]int, t.leaves)
	for i := range t.nodes {
		n, path := &t.nodes[i], paths[i]
		in := int(n.input)
		switch {
		case in < 0:
			pairs[n.next] = path
			continue
		case path[0] == in || path[1] == in:
		case path[0] == none:
			path[0] = in
		case path[1] == none:
			path[1] = in
		default:
			return nil, false
		}
		paths[i+1], paths[n.next] = path, path
	}
	return pairs, true
}

// Prepare checks that the lists are one complete tree and makes the tree ready for evaluation. inputs are those that Ask
// counts, by their number in the map.
func (t *Tree) Prepare(inputs []int) error {
	t.nodes, t.leaves = make([]treeNode, len(t.Ask)), 0
	var open []int // nodes whose right side is still to come
	asking, left := 0, t.MissingLeft
	for i, ask := range t.Ask {
		if ask >= 0 {
			if ask >= len(inputs) || asking >= len(t.At) || math.IsNaN(t.At[asking]) || math.IsInf(t.At[asking], 0) {
				return fmt.Errorf("node %d tests input %d with %d thresholds", i, ask, len(t.At))
			}
			t.nodes[i] = treeNode{at: t.At[asking], input: int32(inputs[ask])}
			if len(left) > 0 && left[0] == asking {
				t.nodes[i].missingLeft, left = true, left[1:]
			}
			open = append(open, i)
			asking++
			continue
		}
		t.nodes[i] = treeNode{input: -1, next: int32(t.leaves)}
		t.leaves++
		if last := len(open) - 1; last >= 0 {
			t.nodes[open[last]].next = int32(i + 1)
			open = open[:last]
		} else if i != len(t.Ask)-1 {
			return errors.New("nodes after the last leaf")
		}
	}
	switch {
	case t.leaves != asking+1:
		return fmt.Errorf("%d leaves for %d inner nodes", t.leaves, asking)
	case asking != len(t.At):
		return fmt.Errorf("%d thresholds for %d inner nodes", len(t.At), asking)
	case len(left) > 0:
		return fmt.Errorf("missing values at node %d", left[0])
	case len(t.Mass) != t.leaves:
		return fmt.Errorf("%d masses for %d leaves", len(t.Mass), t.leaves)
	}
	for _, mass := range t.Mass {
		if !(mass > 0) || math.IsInf(mass, 1) {
			return fmt.Errorf("a leaf of mass %v", mass)
		}
	}
	return nil
}
