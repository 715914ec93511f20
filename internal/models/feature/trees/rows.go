package trees

import (
	"math"
	"math/bits"
	"slices"

	"toptau/internal/core/detmath"
	"toptau/internal/core/kernel"
)

// BatchRows is the number of rows that Rows evaluates at a time: their columns fit into the cache of a core.
const BatchRows = 256

// Rows finds the leaves of many rows at a time. A tree is evaluated from the leaves up, on one byte for each row: the code
// of an input is the number of thresholds below its value, among those of a group of trees. So a test is a comparison of
// bytes, which vectors do for many rows at a time, and all rows take the same steps. It does not change, so
// goroutines share it, each with a Space.
type Rows struct {
	inputs []rowsInput
	groups []treeGroup
	slots  int
}

// Space is the memory of an evaluation.
type Space struct {
	ranks []uint16 // by input and row
	codes []uint8  // likewise, of a group
	space []uint8  // what kernel.Choose works on: numbers of leaves, results of treesAtOnce trees, results of nodes
}

// rowsInput is an input of the trees with its distinct thresholds.
type rowsInput struct {
	input  int
	keys   []uint64         // ascending, then larger than all; a power of two, more than there are thresholds
	few    *[fewKeys]uint64 // the keys, if there are not more
	values []uint16         // categorical: the rank of each category; the last is that of an unknown one
}

// treeGroup has trees that together have at most kernel.MaxCode thresholds of an input.
type treeGroup struct {
	codes [][]uint8 // by input: the code of each rank
	trees []program
}

// program leaves the number of each row's leaf in a result, with the term of each leaf.
type program struct {
	choices []kernel.Choice
	result  int32 // offset in the space
	step    int32 // 0 for a tree of one leaf
	terms   *[maxLeaves]float64
}

// maxLeaves is the number of leaves of a tree whose numbers fit into a byte.
const maxLeaves = math.MaxUint8 + 1

// treesAtOnce is the number of trees whose terms are added in one pass over the rows.
const treesAtOnce = 4

// Places in Space.space.
const (
	firstResult = maxLeaves * kernel.ChoiceRows // after a constant for each leaf
	firstSlot   = firstResult + treesAtOnce*BatchRows
)

// NewRows prepares trees that test inputs of a map, given by their numbers. values has, for each categorical input, the
// numbers of its categories and of an unknown one; nil: the input is a number. w has the weights of the leaves of all
// trees; nil: only leaves are wanted. It returns nil if a tree has more than maxLeaves leaves or more than
// kernel.MaxCode thresholds of an input, or an input too many thresholds for ranks.
func NewRows(trees []Tree, inputs []int, values [][]float64, w []float64) *Rows {
	p := &Rows{inputs: make([]rowsInput, len(inputs))}
	thresholds := make([][]uint64, len(inputs))
	for i := range trees {
		tree := &trees[i]
		if tree.leaves > maxLeaves {
			return nil
		}
		for k := range tree.nodes {
			if n := &tree.nodes[k]; n.input >= 0 {
				thresholds[tree.Ask[k]] = append(thresholds[tree.Ask[k]], detmath.OrderKey(n.at))
			}
		}
	}
	for i, list := range thresholds {
		slices.Sort(list)
		thresholds[i] = slices.Compact(list)
		if len(thresholds[i]) >= math.MaxUint16 {
			return nil
		}
		p.inputs[i] = newRowsInput(inputs[i], thresholds[i], values[i])
	}
	for len(trees) > 0 {
		g, n := newTreeGroup(trees, thresholds)
		if n == 0 {
			return nil
		}
		for i := range n {
			var own []float64
			if w != nil {
				own, w = w, w[trees[i].leaves:]
			}
			g.trees = append(g.trees, g.compile(&trees[i], thresholds, own, &p.slots))
		}
		p.groups, trees = append(p.groups, g), trees[n:]
	}
	return p
}

func newRowsInput(input int, thresholds []uint64, values []float64) rowsInput {
	in := rowsInput{input: input, keys: make([]uint64, 1<<bits.Len(uint(len(thresholds))))}
	for k := range in.keys {
		in.keys[k] = math.MaxUint64
	}
	copy(in.keys, thresholds)
	if len(in.keys) <= fewKeys {
		in.few = new([fewKeys]uint64)
		copy(in.few[:], in.keys)
	}
	for _, value := range values {
		in.values = append(in.values, in.rank(value))
	}
	return in
}

// NewSpace returns memory for evaluations.
func (p *Rows) NewSpace() *Space {
	s := &Space{ranks: make([]uint16, len(p.inputs)*BatchRows), codes: make([]uint8, len(p.inputs)*BatchRows),
		space: make([]uint8, firstSlot+p.slots*BatchRows)}
	for i := range firstResult {
		s.space[i] = uint8(i / kernel.ChoiceRows)
	}
	return s
}

// rank returns the number of thresholds below a value. It searches without branches.
func (in *rowsInput) rank(value float64) uint16 {
	key, i := detmath.OrderKey(value), 0
	for step := len(in.keys) / 2; step > 0; step /= 2 {
		_, below := bits.Sub64(in.keys[i+step-1], key, 0)
		i += step & -int(below)
	}
	return uint16(i)
}

// fewKeys is the number of keys that rankAll searches for four values at a time.
const fewKeys = 1024

// rankAll writes the ranks of values.
func (in *rowsInput) rankAll(values []float64, ranks []uint16) {
	done := 0
	if in.few != nil {
		for ; done+4 <= len(values); done += 4 {
			x, to := values[done:][:4], ranks[done:][:4]
			x0, x1, x2, x3 := detmath.OrderKey(x[0]), detmath.OrderKey(x[1]), detmath.OrderKey(x[2]), detmath.OrderKey(x[3])
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
	place, _ := slices.BinarySearch(thresholds, detmath.OrderKey(n.at))
	return place
}

// compile compiles a tree: the nodes in the order of their numbers backwards, so that both sides come before a node.
func (g *treeGroup) compile(tree *Tree, thresholds [][]uint64, w []float64, slots *int) program {
	t := program{terms: new([maxLeaves]float64)}
	type operand struct {
		at, step int32
	}
	var stack []operand
	live := 0 // slots in use; they are freed in the reverse order
	for k := len(tree.nodes) - 1; k >= 0; k-- {
		n := &tree.nodes[k]
		if n.input < 0 {
			if w != nil {
				t.terms[n.next] = float64(float64(float32(1)) * w[n.next])
			}
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

// evaluate calls do with the programs of up to treesAtOnce trees after they ran on n rows from a first one, n at most
// BatchRows. numbers and codes have the values of rows by input of the map; a code below 0 is an unknown category.
func (p *Rows) evaluate(numbers [][]float64, codes [][]int32, first, n int, s *Space, do func(trees []program)) {
	for i := range p.inputs {
		in := &p.inputs[i]
		ranks := s.ranks[i*BatchRows:][:n]
		if in.values == nil {
			in.rankAll(numbers[in.input][first:first+n], ranks)
			continue
		}
		for row, code := range codes[in.input][first : first+n] {
			if code < 0 {
				code = int32(len(in.values) - 1)
			}
			ranks[row] = in.values[code]
		}
	}
	for g := range p.groups {
		group := &p.groups[g]
		for i, table := range group.codes {
			codes := s.codes[i*BatchRows:][:n]
			for row, rank := range s.ranks[i*BatchRows:][:n] {
				codes[row] = table[rank]
			}
		}
		for trees := group.trees; len(trees) > 0; trees = trees[min(treesAtOnce, len(trees)):] {
			some := trees[:min(treesAtOnce, len(trees))]
			for i := range some {
				kernel.Choose(some[i].choices, s.codes, s.space, n)
			}
			do(some)
		}
	}
}

// AddTerms adds the weights of the leaves of rows to z, tree by tree. Values must not be missing.
func (p *Rows) AddTerms(numbers [][]float64, codes [][]int32, z []float64, s *Space) {
	p.evaluate(numbers, codes, 0, len(z), s, func(trees []program) { addTerms(trees, z, s) })
}

// noLeaves are the numbers of the leaves of rows in a tree of one leaf.
var noLeaves [BatchRows]uint8

// Leaves calls visit with the numbers of the leaves of n rows from a first one in each tree, in their order; n is at most
// BatchRows. The leaf of a row with a missing value is any.
func (p *Rows) Leaves(numbers [][]float64, first, n int, s *Space, visit func(tree int, leaves []uint8)) {
	tree := 0
	p.evaluate(numbers, nil, first, n, s, func(trees []program) {
		for i := range trees {
			if trees[i].step == 0 {
				visit(tree, noLeaves[:n])
			} else {
				visit(tree, s.space[trees[i].result:][:n])
			}
			tree++
		}
	})
}

// addTerms adds the terms of up to treesAtOnce trees in their order.
func addTerms(trees []program, z []float64, s *Space) {
	leaves := func(i int) []uint8 { return s.space[trees[i].result:][:len(z)] }
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

// rankBatches calls visit with the numbers of values below those of x, BatchRows of them at a time. The values are ascending, fewer than 65,535.
func rankBatches(x, values []float64, visit func(first int, ranks []uint16)) {
	keys := make([]uint64, len(values))
	for k, v := range values {
		keys[k] = detmath.OrderKey(v)
	}
	in := newRowsInput(0, keys, nil)
	var ranks [BatchRows]uint16
	for first := 0; first < len(x); first += BatchRows {
		some := x[first:min(len(x), first+BatchRows)]
		in.rankAll(some, ranks[:])
		visit(first, ranks[:len(some)])
	}
}
