package feature

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"

	"toptau/internal/matrix"
	"toptau/internal/table"
	"toptau/schema"
)

const leavesKind = "leaves"

// LeavesBlock has a feature for each leaf of its trees, stored coded: 1 for the leaf that a row falls into, 0
// for the others. The trees divide the space of the inputs: random trees that of the numeric ones, boosted
// trees also that of the categorical ones, which have codes. A linear model on them adds one weight per tree.
type LeavesBlock struct {
	Inputs []int           `json:"inputs"`          // the inputs that the trees test
	Codes  []CategoryCodes `json:"codes,omitempty"` // of the categorical ones, in their order
	Trees  []Tree          `json:"trees"`

	groups []matrix.Group // by position in Trees; set by check
}

// Tree is a binary tree in preorder: a node, the nodes of its left side, the nodes of its right side. A row
// goes left if its value is at most the threshold. A missing value goes right, except at the nodes listed in
// MissingLeft. Leaves are numbered in their order, from 0.
type Tree struct {
	Ask         []int     `json:"ask"`                    // for each node a position in LeavesBlock.Inputs; -1: a leaf
	At          []float64 `json:"at"`                     // the threshold of each inner node, in their order
	MissingLeft []int     `json:"missing_left,omitempty"` // inner nodes, counted from 0 in their order, ascending
	Mass        []float64 `json:"mass"`                   // of the training rows in each leaf, about; explanations use it as weight

	nodes  []treeNode // by position in Ask; set by check
	leaves int
}

// treeNode is a node in the form for scoring.
type treeNode struct {
	at          float64
	input       int32 // of the map; -1: a leaf
	next        int32 // the first node of the right side; of a leaf: its number
	missingLeft bool
}

// weightedTree is a tree of a block with the weights of its leaves.
type weightedTree struct {
	block   *LeavesBlock
	tree    *Tree
	weights []float64
	first   bool // of its block
}

// trees yields the trees of all blocks in the order of their weights.
func (m *Map) trees(weights []float64) iter.Seq[weightedTree] {
	return func(yield func(weightedTree) bool) {
		for i, b := range m.Blocks {
			block, ok := b.(*LeavesBlock)
			if !ok {
				continue
			}
			w := weights[m.runs[i].first:m.runs[i].end]
			for k := range block.Trees {
				tree := &block.Trees[k]
				if !yield(weightedTree{block, tree, w[:tree.leaves], k == 0}) {
					return
				}
				w = w[tree.leaves:]
			}
		}
	}
}

// child returns the node after node i, which is n, for a value.
func (n *treeNode) child(i int, x float64) int {
	if x <= n.at || n.missingLeft && x != x {
		return i + 1
	}
	return int(n.next)
}

// leaf returns the leaf of a row of resolved numbers.
func (t *Tree) leaf(numbers []float64) int32 {
	for i := 0; ; {
		n := &t.nodes[i]
		if n.input < 0 {
			return n.next
		}
		i = n.child(i, numbers[n.input])
	}
}

// Kind returns "leaves".
func (b *LeavesBlock) Kind() string { return leavesKind }

// Spec returns a group for each tree.
func (b *LeavesBlock) Spec() matrix.BlockSpec { return matrix.CodedSpec(b.groups) }

func (b *LeavesBlock) appendWeights(_ *Map, list []Weight) []Weight {
	for i := range b.Trees {
		for leaf := range b.Trees[i].leaves {
			list = append(list, Weight{Name: "tree " + strconv.Itoa(i+1) + " leaf " + strconv.Itoa(leaf+1), Input: -1})
		}
	}
	return list
}

func (b *LeavesBlock) encode(_ *Map, _ *table.Table, _ int, first uint32, dst *Encoded) error {
	b.readCodes(dst)
	for i := range b.Trees {
		t := &b.Trees[i]
		dst.Cols = append(dst.Cols, first+uint32(t.leaf(dst.numbers)))
		dst.Values = append(dst.Values, 1)
		first += uint32(t.leaves)
	}
	return nil
}

// readCodes writes the numbers of the categorical inputs of a resolved row to its numbers.
func (b *LeavesBlock) readCodes(row *Encoded) {
	for i := range b.Codes {
		c := &b.Codes[i]
		row.numbers[c.Input] = c.number(row.codes[c.Input])
	}
}

func (b *LeavesBlock) reads(inputs []bool) {
	for _, k := range b.Inputs {
		inputs[k] = true
	}
}

func (b *LeavesBlock) check(m *Map) error {
	codes := b.Codes
	for i, k := range b.Inputs {
		if k < 0 || k >= len(m.Inputs) || i > 0 && k <= b.Inputs[i-1] {
			return fmt.Errorf("there is no input %d, or it is out of order", k)
		}
		if m.Inputs[k].Kind == schema.Numeric {
			continue
		}
		if len(codes) == 0 || codes[0].Input != k {
			return fmt.Errorf("input %d is not a numeric input and has no codes", k)
		}
		if err := codes[0].check(m); err != nil {
			return err
		}
		codes = codes[1:]
	}
	if len(codes) > 0 {
		return fmt.Errorf("codes of input %d, which no tree tests", codes[0].Input)
	}
	b.groups = make([]matrix.Group, len(b.Trees))
	for i := range b.Trees {
		if err := b.Trees[i].prepare(b.Inputs); err != nil {
			return fmt.Errorf("tree %d: %w", i+1, err)
		}
		b.groups[i] = matrix.Group{Levels: b.Trees[i].leaves}
	}
	return nil
}

// prepare checks that the lists are one complete tree and sets nodes.
func (t *Tree) prepare(inputs []int) error {
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

// probeValues returns a few thresholds of an input, and a value on either side of all.
func (b *LeavesBlock) probeValues(input int) []float64 {
	const shown = 16
	var list []float64
	for i := range b.Trees {
		for _, n := range b.Trees[i].nodes {
			if n.input == int32(input) && n.at < math.MaxFloat64 {
				list = append(list, n.at)
			}
		}
	}
	slices.Sort(list)
	if list = slices.Compact(list); len(list) == 0 {
		return nil
	}
	ends := []float64{beyond(list[len(list)-1], 1), beyond(list[0], -1)}
	if n := len(list); n > shown {
		for i := range shown {
			list[i] = list[i*(n-1)/(shown-1)]
		}
		list = list[:shown]
	}
	return append(list, ends...)
}
