package trees

import (
	"cmp"
	"math"
	"slices"
)

// Walk finds the leaves of single rows. Eight trees are followed together, because each step waits for memory, and no step has a branch,
// which a processor would guess wrong half of the time: both sides of a node are next to each other, and the test is added
// to the place of the first. All eight trees take as many steps as the deepest has, so trees of about the same depth go together; a row
// stays at its leaf. It does not change, so goroutines share it.
type Walk struct {
	nodes  []walkNode
	roots  []walkRoot // the deepest trees last
	inputs int        // of the map
}

// walkNode is a test or a leaf. A row goes to node next if its value is at most at, otherwise to the one after that. A leaf tests NaN, which
// is at most nothing, and is itself the node after next: at is its number, among the leaves of all trees.
type walkNode struct {
	at    float64
	input int32 // of the list that Row makes
	next  int32
}

type walkRoot struct{ node, depth, tree int32 }

const walkTrees = 8 // followed together; 12 save a tenth more in C and need more registers than amd64 has

// NewWalk prepares trees that test inputs of a map with that many.
func NewWalk(trees []Tree, inputs int) *Walk {
	w := &Walk{inputs: inputs}
	leaves := 0
	for i := range trees {
		t := &trees[i]
		right := make([]int, len(t.nodes))
		for k, n := range t.nodes {
			if n.input >= 0 {
				right[k] = int(n.next)
			}
		}
		places, depth := Siblings(right)
		first := len(w.nodes)
		w.roots = append(w.roots, walkRoot{int32(first), int32(depth), int32(i)})
		w.nodes = append(w.nodes, make([]walkNode, len(t.nodes))...)
		for k, n := range t.nodes {
			place := first + places[k]
			switch {
			case n.input < 0:
				w.nodes[place] = walkNode{float64(leaves + int(n.next)), int32(2 * inputs), int32(place) - 1}
			case n.missingLeft:
				w.nodes[place] = walkNode{n.at, n.input + int32(inputs), int32(first + places[k+1])}
			default:
				w.nodes[place] = walkNode{n.at, n.input, int32(first + places[k+1])}
			}
		}
		leaves += t.leaves
	}
	slices.SortStableFunc(w.roots, func(a, b walkRoot) int { return cmp.Compare(a.depth, b.depth) })
	return w
}

// Siblings returns places for the nodes of a tree in preorder, so that both sides of a node are next to each other, the left one first, and
// the root is first of all. right has, for each node, the first node of its right side, and 0 for a leaf. depth is the largest
// number of steps to a leaf.
func Siblings(right []int) (places []int, depth int) {
	places = make([]int, len(right))
	depths := make([]int, len(right))
	next := 1
	for k, r := range right {
		if r == 0 {
			continue
		}
		places[k+1], places[r] = next, next+1
		next += 2
		depths[k+1], depths[r] = depths[k]+1, depths[k]+1
		depth = max(depth, depths[r])
	}
	return places, depth
}

// Row appends to x the numbers of a row as Leaves reads them: the numbers, then again with minus infinity for NaN, which goes left at a node where
// missing values do, and the NaN of leaves.
func (w *Walk) Row(numbers, x []float64) []float64 {
	x = append(x, numbers[:w.inputs]...)
	for _, v := range numbers[:w.inputs] {
		if v != v {
			v = math.Inf(-1)
		}
		x = append(x, v)
	}
	return append(x, math.NaN())
}

// Leaves appends to dst the leaf of each tree, first for the first leaf of all.
func (w *Walk) Leaves(x []float64, first uint32, dst []uint32) []uint32 {
	roots, leaf := w.roots, func(node int32) uint32 { return first + uint32(w.nodes[node].at) }
	dst = slices.Grow(dst, len(roots))
	to := dst[len(dst):][:len(roots)]
	for ; len(roots) >= walkTrees; roots = roots[walkTrees:] {
		r := roots[:walkTrees]
		n0, n1, n2, n3 := r[0].node, r[1].node, r[2].node, r[3].node
		n4, n5, n6, n7 := r[4].node, r[5].node, r[6].node, r[7].node
		for range r[walkTrees-1].depth {
			n0, n1, n2, n3 = w.step(n0, x), w.step(n1, x), w.step(n2, x), w.step(n3, x)
			n4, n5, n6, n7 = w.step(n4, x), w.step(n5, x), w.step(n6, x), w.step(n7, x)
		}
		to[r[0].tree], to[r[1].tree], to[r[2].tree], to[r[3].tree] = leaf(n0), leaf(n1), leaf(n2), leaf(n3)
		to[r[4].tree], to[r[5].tree], to[r[6].tree], to[r[7].tree] = leaf(n4), leaf(n5), leaf(n6), leaf(n7)
	}
	for _, r := range roots {
		node := r.node
		for range r.depth {
			node = w.step(node, x)
		}
		to[r.tree] = leaf(node)
	}
	return dst[:len(dst)+len(to)]
}

// step returns the node after one.
func (w *Walk) step(node int32, x []float64) int32 {
	n := &w.nodes[node]
	right := int32(1)
	if x[n.input] <= n.at {
		right = 0
	}
	return n.next + right
}
