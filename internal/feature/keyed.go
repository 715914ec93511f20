package feature

import (
	"math"
	"math/bits"
)

// keyedTrees are the trees of a LeavesBlock in a form that finds the leaves of several rows at a time.
type keyedTrees struct {
	inputs []int
	trees  [][]keyedNode // each in preorder
}

// keyedNode is a node of a tree. The next node is the following one if the key of the row's value is at most
// that of the node, and jump further otherwise. A leaf has the key 0, below all keys of numbers, and jump -1,
// so that a row stays there.
type keyedNode struct {
	key   uint64
	input int32 // position among the block's inputs
	jump  int32
}

// orderKey returns a whole number that orders floats.
func orderKey(x float64) uint64 {
	b := math.Float64bits(x + 0) // -0 + 0 is 0
	return b ^ (uint64(int64(b)>>63) | 1<<63)
}

func newKeyedTrees(block *LeavesBlock) keyedTrees {
	t := keyedTrees{inputs: block.Inputs, trees: make([][]keyedNode, len(block.Trees))}
	for i := range block.Trees {
		tree := &block.Trees[i]
		t.trees[i] = make([]keyedNode, len(tree.nodes))
		for k := range tree.nodes {
			n := &tree.nodes[k]
			if n.input < 0 {
				t.trees[i][k].jump = -1
				continue
			}
			t.trees[i][k] = keyedNode{key: orderKey(n.at), input: int32(tree.Ask[k]), jump: n.next - int32(k+1)}
		}
	}
	return t
}

// readKeys returns the keys of n rows, row by row, in keys if that is large enough. numbers has the rows by
// input of the map. A missing value has the key of some number.
func (t *keyedTrees) readKeys(numbers [][]float64, n int, keys []uint64) []uint64 {
	k := len(t.inputs)
	if need := k * (n + 3); len(keys) < need {
		keys = make([]uint64, need)
	}
	for i, input := range t.inputs {
		for row, v := range numbers[input][:n] {
			keys[row*k+i] = orderKey(v)
		}
	}
	for i := n * k; i < (n+3)*k; i++ {
		keys[i] = 1 // find follows four rows even if there are fewer; any key above that of a leaf
	}
	return keys
}

// find writes the nodes of the leaves of rows in a tree to leaves. It follows four rows at a time and without
// branches, so that the processor need not wait for the nodes of one of them.
func (t *keyedTrees) find(tree int, keys []uint64, leaves []int32) {
	k, nodes := len(t.inputs), t.trees[tree]
	for row := 0; row < len(leaves); row += 4 {
		x := keys[row*k:][:4*k]
		x0, x1, x2, x3 := x[:k], x[k:2*k], x[2*k:3*k], x[3*k:]
		var i0, i1, i2, i3 int32
		for {
			n0, n1, n2, n3 := &nodes[i0], &nodes[i1], &nodes[i2], &nodes[i3]
			if n0.jump&n1.jump&n2.jump&n3.jump < 0 {
				break // all are leaves
			}
			_, right0 := bits.Sub64(n0.key, x0[n0.input], 0)
			_, right1 := bits.Sub64(n1.key, x1[n1.input], 0)
			_, right2 := bits.Sub64(n2.key, x2[n2.input], 0)
			_, right3 := bits.Sub64(n3.key, x3[n3.input], 0)
			i0 += 1 + n0.jump&-int32(right0)
			i1 += 1 + n1.jump&-int32(right1)
			i2 += 1 + n2.jump&-int32(right2)
			i3 += 1 + n3.jump&-int32(right3)
		}
		for lane, i := range [4]int32{i0, i1, i2, i3} {
			if row+lane < len(leaves) {
				leaves[row+lane] = i
			}
		}
	}
}
