package trees

import "math"

// Walk finds the leaves of single rows. Eight trees are followed together, because each step waits for memory, and no step has a branch,
// which a processor would guess wrong half of the time: both sides of a node are next to each other, and the test is added
// to the place of the first. All eight trees take as many steps as the deepest has; a row stays at its leaf. It does not change, so
// goroutines share it.
type Walk struct {
	nodes  []walkNode
	leaves []uint32 // by node: the number of the leaf, among those of all trees
	roots  []walkRoot
	inputs int // of the map
}

// walkNode is a test or a leaf. A row goes to node next if its value is at most at, otherwise to the one after that. A leaf has NaN, to
// which no value compares, and is itself the node after next.
type walkNode struct {
	at    float64
	input int32 // of the list that Row makes
	next  int32
}

type walkRoot struct{ node, depth int32 }

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
		w.roots = append(w.roots, walkRoot{int32(first), int32(depth)})
		w.nodes = append(w.nodes, make([]walkNode, len(t.nodes))...)
		w.leaves = append(w.leaves, make([]uint32, len(t.nodes))...)
		for k, n := range t.nodes {
			place := first + places[k]
			switch {
			case n.input < 0:
				w.nodes[place] = walkNode{at: math.NaN(), next: int32(place) - 1}
				w.leaves[place] = uint32(leaves + int(n.next))
			case n.missingLeft:
				w.nodes[place] = walkNode{n.at, n.input + int32(inputs), int32(first + places[k+1])}
			default:
				w.nodes[place] = walkNode{n.at, n.input, int32(first + places[k+1])}
			}
		}
		leaves += t.leaves
	}
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
// missing values do.
func (w *Walk) Row(numbers, x []float64) []float64 {
	x = append(x, numbers[:w.inputs]...)
	for _, v := range numbers[:w.inputs] {
		if v != v {
			v = math.Inf(-1)
		}
		x = append(x, v)
	}
	return x
}

// Leaves appends to dst the leaf of each tree, first for the first leaf of all.
func (w *Walk) Leaves(x []float64, first uint32, dst []uint32) []uint32 {
	roots := w.roots
	for ; len(roots) >= walkTrees; roots = roots[walkTrees:] {
		r := roots[:walkTrees]
		n0, n1, n2, n3 := r[0].node, r[1].node, r[2].node, r[3].node
		n4, n5, n6, n7 := r[4].node, r[5].node, r[6].node, r[7].node
		steps := max(r[0].depth, r[1].depth, r[2].depth, r[3].depth, r[4].depth, r[5].depth, r[6].depth, r[7].depth)
		for ; steps > 0; steps-- {
			n0, n1, n2, n3 = w.step(n0, x), w.step(n1, x), w.step(n2, x), w.step(n3, x)
			n4, n5, n6, n7 = w.step(n4, x), w.step(n5, x), w.step(n6, x), w.step(n7, x)
		}
		dst = append(dst, first+w.leaves[n0], first+w.leaves[n1], first+w.leaves[n2], first+w.leaves[n3],
			first+w.leaves[n4], first+w.leaves[n5], first+w.leaves[n6], first+w.leaves[n7])
	}
	for _, r := range roots {
		node := r.node
		for range r.depth {
			node = w.step(node, x)
		}
		dst = append(dst, first+w.leaves[node])
	}
	return dst
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
