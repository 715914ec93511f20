package feature

import (
	"math"
	"math/bits"
	"slices"

	"toptau/internal/kernel"
)

// batchTrees are the trees of a LeavesBlock. A tree is evaluated from the leaves up, on one byte for each row: the code
// of an input is the number of thresholds below its value, among those of a group of trees. So a test is a comparison of
// bytes, which vectors do for many rows at a time, and all rows take the same steps.
type batchTrees struct {
	inputs []batchInput
	groups []treeGroup

	ranks []uint16 // by input and row
	codes []uint8  // likewise, of a group
	space []uint8  // what kernel.Choose works on: numbers of leaves, results of treesAtOnce trees, results of nodes
}

// batchInput is an input of the trees with its distinct thresholds.
type batchInput struct {
	input  int
	keys   []uint64         // ascending, then larger than all; a power of two, more than there are thresholds
	few    *[fewKeys]uint64 // the keys, if there are not more
	values []uint16         // categorical: the rank of each category; the last is that of an unknown one
}

// treeGroup has trees that together have at most kernel.MaxCode thresholds of an input.
type treeGroup struct {
	codes [][]uint8 // by input: the code of each rank
	trees []batchTree
}

// batchTree is a program that leaves the number of each row's leaf in a result, with the term of each leaf.
type batchTree struct {
	choices []kernel.Choice
	result  int32 // offset in the space
	step    int32 // 0 for a tree of one leaf
	terms   *[mostLeaves]float64
}

// mostLeaves is the number of leaves of a tree whose numbers fit into a byte.
const mostLeaves = math.MaxUint8 + 1

// treesAtOnce is the number of trees whose terms are added in one pass over the rows.
const treesAtOnce = 4

// Places in the space.
const (
	firstResult = mostLeaves * kernel.ChoiceRows // after a constant for each leaf
	firstSlot   = firstResult + treesAtOnce*BatchRows
)

// newBatchTrees returns nil if a tree has more than mostLeaves leaves or more than kernel.MaxCode thresholds of an
// input, or an input too many thresholds for ranks.
func newBatchTrees(block *LeavesBlock, w []float64) *batchTrees {
	p := &batchTrees{inputs: make([]batchInput, len(block.Inputs))}
	thresholds := make([][]uint64, len(block.Inputs))
	for i := range block.Trees {
		tree := &block.Trees[i]
		if tree.leaves > mostLeaves {
			return nil
		}
		for k := range tree.nodes {
			if n := &tree.nodes[k]; n.input >= 0 {
				thresholds[tree.Ask[k]] = append(thresholds[tree.Ask[k]], orderKey(n.at))
			}
		}
	}
	codes := block.Codes
	for i, list := range thresholds {
		slices.Sort(list)
		list = slices.Compact(list)
		if len(list) >= math.MaxUint16 {
			return nil
		}
		in := &p.inputs[i]
		in.input, in.keys = block.Inputs[i], make([]uint64, 1<<bits.Len(uint(len(list))))
		for k := range in.keys {
			in.keys[k] = math.MaxUint64
		}
		copy(in.keys, list)
		if len(in.keys) <= fewKeys {
			in.few = new([fewKeys]uint64)
			copy(in.few[:], in.keys)
		}
		thresholds[i] = list
		if len(codes) > 0 && codes[0].Input == in.input {
			for _, value := range append(slices.Clone(codes[0].Values), codes[0].Unknown) {
				in.values = append(in.values, in.rank(value))
			}
			codes = codes[1:]
		}
	}
	slots := 0
	for trees := block.Trees; len(trees) > 0; {
		g, n := newTreeGroup(trees, thresholds)
		if n == 0 {
			return nil
		}
		for i := range n {
			g.trees = append(g.trees, g.program(&trees[i], thresholds, w, &slots))
			w = w[trees[i].leaves:]
		}
		p.groups, trees = append(p.groups, g), trees[n:]
	}
	p.ranks, p.codes = make([]uint16, len(p.inputs)*BatchRows), make([]uint8, len(p.inputs)*BatchRows)
	p.space = make([]uint8, firstSlot+slots*BatchRows)
	for i := range firstResult {
		p.space[i] = uint8(i / kernel.ChoiceRows)
	}
	return p
}

// rank returns the number of thresholds below a value. It searches without branches.
func (in *batchInput) rank(value float64) uint16 {
	key, i := orderKey(value), 0
	for step := len(in.keys) / 2; step > 0; step /= 2 {
		_, below := bits.Sub64(in.keys[i+step-1], key, 0)
		i += step & -int(below)
	}
	return uint16(i)
}

// fewKeys is the number of keys that rankAll searches for four values at a time.
const fewKeys = 1024

// rankAll writes the ranks of values.
func (in *batchInput) rankAll(values []float64, ranks []uint16) {
	done := 0
	if in.few != nil {
		for ; done+4 <= len(values); done += 4 {
			x, to := values[done:][:4], ranks[done:][:4]
			x0, x1, x2, x3 := orderKey(x[0]), orderKey(x[1]), orderKey(x[2]), orderKey(x[3])
			var i0, i1, i2, i3 uint64
			for step := uint64(len(in.keys)) / 2; step > 0; step /= 2 {
				_, below0 := bits.Sub64(in.few[(i0+step-1)%fewKeys], x0, 0)
				_, below1 := bits.Sub64(in.few[(i1+step-1)%fewKeys], x1, 0)
				_, below2 := bits.Sub64(in.few[(i2+step-1)%fewKeys], x2, 0)
				_, below3 := bits.Sub64(in.few[(i3+step-1)%fewKeys], x3, 0)
				i0 += step & -below0
				i1 += step & -below1
				i2 += step & -below2
				i3 += step & -below3
			}
			to[0], to[1], to[2], to[3] = uint16(i0), uint16(i1), uint16(i2), uint16(i3)
		}
	}
	for ; done < len(values); done++ {
		ranks[done] = in.rank(values[done])
	}
}

// newTreeGroup prepares the codes of the first n trees: as many as the codes are enough for.
func newTreeGroup(trees []Tree, thresholds [][]uint64) (g treeGroup, n int) {
	used, counts := make([][]bool, len(thresholds)), make([]int, len(thresholds)) // by input: the thresholds of the group
	for i := range used {
		used[i] = make([]bool, len(thresholds[i]))
	}
	for ; n < len(trees); n++ {
		var added [][2]int
		enough := true
		for k, ask := range trees[n].Ask {
			if ask < 0 {
				continue
			}
			if place := placeOf(&trees[n].nodes[k], thresholds[ask]); !used[ask][place] {
				used[ask][place] = true
				counts[ask]++
				added = append(added, [2]int{ask, place})
				enough = enough && counts[ask] <= kernel.MaxCode
			}
		}
		if !enough {
			for _, a := range added {
				used[a[0]][a[1]] = false
			}
			break
		}
	}
	g.codes = make([][]uint8, len(thresholds))
	for i := range g.codes {
		g.codes[i] = make([]uint8, len(used[i])+1)
		for place, is := range used[i] {
			g.codes[i][place+1] = g.codes[i][place]
			if is {
				g.codes[i][place+1]++
			}
		}
	}
	return g, n
}

// placeOf returns the position of a node's threshold among those of its input.
func placeOf(n *treeNode, thresholds []uint64) int {
	place, _ := slices.BinarySearch(thresholds, orderKey(n.at))
	return place
}

// program compiles a tree: the nodes in the order of their numbers backwards, so that both sides come before a node.
func (g *treeGroup) program(tree *Tree, thresholds [][]uint64, w []float64, slots *int) batchTree {
	t := batchTree{terms: new([mostLeaves]float64)}
	type operand struct {
		at, step int32
	}
	var stack []operand
	live := 0 // slots in use; they are freed in the reverse order
	for k := len(tree.nodes) - 1; k >= 0; k-- {
		n := &tree.nodes[k]
		if n.input < 0 {
			t.terms[n.next] = float64(float64(float32(1)) * w[n.next])
			stack = append(stack, operand{at: n.next * kernel.ChoiceRows})
			continue
		}
		left, right := stack[len(stack)-1], stack[len(stack)-2]
		stack = stack[:len(stack)-2]
		for _, side := range []operand{left, right} {
			if side.step > 0 {
				live--
			}
		}
		result := operand{int32(firstSlot + live*BatchRows), kernel.ChoiceRows}
		live++
		*slots = max(*slots, live)
		i := tree.Ask[k]
		t.choices = append(t.choices, kernel.Choice{Codes: int32(i * BatchRows), Left: left.at, Right: right.at, To: result.at,
			LeftStep: left.step, RightStep: right.step, Above: int32(g.codes[i][placeOf(n, thresholds[i])])})
		stack = append(stack, result)
	}
	t.result, t.step = stack[0].at, stack[0].step
	if n := len(t.choices); n > 0 {
		t.result = int32(firstResult + len(g.trees)%treesAtOnce*BatchRows)
		t.choices[n-1].To = t.result
	}
	return t
}

func (p *batchTrees) addTerms(b *Batch, z []float64) bool {
	n := len(z)
	for i := range p.inputs {
		in := &p.inputs[i]
		ranks := p.ranks[i*BatchRows:][:n]
		if in.values == nil {
			in.rankAll(b.numbers[in.input][:n], ranks)
			continue
		}
		for row, code := range b.codes[in.input][:n] {
			if code == codeUnknown {
				code = int32(len(in.values) - 1)
			}
			ranks[row] = in.values[code]
		}
	}
	for g := range p.groups {
		group := &p.groups[g]
		for i, table := range group.codes {
			codes := p.codes[i*BatchRows:][:n]
			for row, rank := range p.ranks[i*BatchRows:][:n] {
				codes[row] = table[rank]
			}
		}
		for trees := group.trees; len(trees) > 0; trees = trees[min(treesAtOnce, len(trees)):] {
			p.addTrees(trees[:min(treesAtOnce, len(trees))], z)
		}
	}
	return true
}

// addTrees adds the terms of up to treesAtOnce trees in their order.
func (p *batchTrees) addTrees(trees []batchTree, z []float64) {
	for i := range trees {
		kernel.Choose(trees[i].choices, p.codes, p.space, len(z))
	}
	leaves := func(i int) []uint8 { return p.space[trees[i].result:][:len(z)] }
	if len(trees) == treesAtOnce && trees[0].step&trees[1].step&trees[2].step&trees[3].step != 0 {
		first, second, third, fourth := leaves(0), leaves(1), leaves(2), leaves(3)
		a, b, c, d := trees[0].terms, trees[1].terms, trees[2].terms, trees[3].terms
		for row := range z {
			sum := z[row] + a[first[row]]
			sum += b[second[row]]
			sum += c[third[row]]
			z[row] = sum + d[fourth[row]]
		}
		return
	}
	for i := range trees {
		t := &trees[i]
		if t.step == 0 { // a single leaf, the first
			for row := range z {
				z[row] += t.terms[0]
			}
			continue
		}
		for row, leaf := range leaves(i) {
			z[row] += t.terms[leaf]
		}
	}
}
