package trees

import (
	"math"
	"math/rand/v2"

	"toptau/internal/parallel"
)

// cell is the sum of some rows: one bin of a histogram, or a node.
type cell struct{ g, h, rows int64 }

func (c cell) plus(d cell) cell  { return cell{c.g + d.g, c.h + d.h, c.rows + d.rows} }
func (c cell) minus(d cell) cell { return cell{c.g - d.g, c.h - d.h, c.rows - d.rows} }

// boostGrower grows trees. It keeps its memory from one tree to the next.
type boostGrower struct {
	*booster
	rows, spare []int32 // that grow the tree, grouped by node and ascending within each
	left        []int32 // the other rows
	g, h        []int64 // of the rows of the node whose histogram is formed, in their order
	asked       []bool  // by column: this tree may ask it
	nodes       []boostNode
	free        [][]cell // histograms that are not in use
	found       []boostSplit
}

// boostNode is a node of an unfinished tree.
type boostNode struct {
	first, end  int // of its rows
	depth       int
	sum         cell
	cells       []cell // its histogram; nil if it is not split further
	best        boostSplit
	left, right int     // children; 0 while it is a leaf
	leaf        int     // its number, if it is one in the end
	low, high   float64 // limits of the values of its leaves
	value       float64
}

// boostSplit divides a node: bins up to bin go left.
type boostSplit struct {
	column      int
	bin         int // the last bin of values if missing values alone go right
	missingLeft bool
	gain        float64 // 0: no split
	left        cell
}

// goesLeft reports whether a bin of a column with this many bins of values goes left.
func (s *boostSplit) goesLeft(bin, count int) bool {
	return bin <= s.bin || bin == count && s.missingLeft
}

func newBoostGrower(b *booster) *boostGrower {
	n := len(b.positive)
	return &boostGrower{booster: b, rows: make([]int32, n), spare: make([]int32, n), g: make([]int64, n), h: make([]int64, n),
		asked: make([]bool, len(b.columns)), found: make([]boostSplit, len(b.columns))}
}

// grow grows a tree and adds its values to the scores.
func (t *boostGrower) grow(random *rand.PCG) boostedTree {
	t.drawColumns(random)
	t.drawRows(random)
	t.differentiate(t.rows)
	for _, n := range t.nodes {
		t.release(n.cells)
	}
	t.nodes = t.nodes[:0]
	var root cell
	for _, i := range t.rows {
		root = root.plus(cell{t.booster.g[i], t.booster.h[i], 1})
	}
	t.nodes = append(t.nodes, boostNode{end: len(t.rows), sum: root, low: math.Inf(-1), high: math.Inf(1)})
	t.nodes[0].value = t.valueOf(&t.nodes[0], root)
	t.nodes[0].cells = t.histogram(0, len(t.rows))
	t.search(0)
	for leaves := 1; leaves < t.shape.Leaves; leaves++ {
		best := -1
		for i := range t.nodes {
			if n := &t.nodes[i]; n.left == 0 && n.best.gain > 0 && (best < 0 || n.best.gain > t.nodes[best].best.gain) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		t.divide(best, leaves+1 < t.shape.Leaves)
	}
	tree := boostedTree{Tree: Tree{At: []float64{}}}
	t.appendNode(0, &tree)
	t.addLeft(&tree)
	return tree
}

// drawRows draws the rows of the tree. The others are left.
func (t *boostGrower) drawRows(random *rand.PCG) {
	t.rows, t.left = t.rows[:0], t.left[:0]
	for i, positive := range t.positive {
		kept := t.shape.Rows * t.kept[indicator(positive)]
		if kept == 1 || float64(random.Uint64()>>11)/(1<<53) < kept {
			t.rows = append(t.rows, int32(i))
		} else {
			t.left = append(t.left, int32(i))
		}
	}
}

// addLeft adds the values of a tree to the scores of the rows that did not grow it, and their weights to its leaves.
func (t *boostGrower) addLeft(tree *boostedTree) {
	const block = 1 << 12
	blocks := (len(t.left) + block - 1) / block
	masses := make([]float64, blocks*len(tree.values))
	parallel.For(blocks, func(k int) {
		mass := masses[k*len(tree.values):][:len(tree.values)]
		for _, row := range t.left[k*block : min(len(t.left), (k+1)*block)] {
			leaf := t.leafOf(int(row))
			t.scores[row] += tree.values[leaf]
			mass[leaf] += WeightAt(t.weights, int(row))
		}
	})
	for i, m := range masses { // in the order of the blocks
		tree.Mass[i%len(tree.values)] += m
	}
}

// leafOf returns the leaf of a row that did not grow the tree.
func (t *boostGrower) leafOf(row int) int {
	n := &t.nodes[0]
	for n.left > 0 {
		c, child := &t.columns[n.best.column], n.right
		if n.best.goesLeft(int(c.bins[row]), c.count()) {
			child = n.left
		}
		n = &t.nodes[child]
	}
	return n.leaf
}

// drawColumns draws the columns of the tree.
func (t *boostGrower) drawColumns(random *rand.PCG) {
	d := len(t.columns)
	count := int(math.Ceil(t.shape.Columns * float64(d)))
	if count == d {
		for j := range t.asked {
			t.asked[j] = true
		}
		return
	}
	clear(t.asked)
	for _, j := range rand.New(random).Perm(d)[:count] {
		t.asked[j] = true
	}
}

// valueOf returns the value of a leaf.
func (t *boostGrower) valueOf(n *boostNode, c cell) float64 {
	v := -(float64(c.g) / t.unit) / (float64(c.h)/t.unit + t.shape.Ridge)
	return min(max(v, n.low), n.high)
}

// gainOf returns the decrease of the loss by a leaf of a value, times two.
func (t *boostGrower) gainOf(c cell, value float64) float64 {
	g, h := float64(c.g)/t.unit, float64(c.h)/t.unit+t.shape.Ridge
	return -float64(2*float64(g*value)) - float64(h*float64(value*value))
}

// release takes a histogram back.
func (t *boostGrower) release(cells []cell) {
	if cells != nil {
		t.free = append(t.free, cells)
	}
}

// newCells returns a histogram of any content.
func (t *boostGrower) newCells() []cell {
	if last := len(t.free) - 1; last >= 0 {
		cells := t.free[last]
		t.free = t.free[:last]
		return cells
	}
	return make([]cell, t.cells)
}

// histogram sums the rows first to end by column and bin.
func (t *boostGrower) histogram(first, end int) []cell {
	cells := t.newCells()
	rows := t.rows[first:end]
	g, h := t.g[:len(rows)], t.h[:len(rows)]
	sum := cell{rows: int64(len(rows))}
	for i, row := range rows {
		g[i], h[i] = t.booster.g[row], t.booster.h[row]
		sum.g += g[i]
		sum.h += h[i]
	}
	fill := func(j int) {
		c := &t.columns[j]
		own := cells[t.offset[j]:][:c.count()+1]
		clear(own)
		switch {
		case !t.asked[j]:
			return
		case c.count() == 2 && !c.missing:
			own[1] = sumOfOnes(c.bins, rows, g, h)
			own[0] = sum.minus(own[1])
			return
		}
		for i, row := range rows {
			at := &own[c.bins[row]]
			at.g += g[i]
			at.h += h[i]
			at.rows++
		}
	}
	t.eachColumn(len(rows), fill)
	return cells
}

// sumOfOnes sums the rows in bin 1 of a column with two bins. In registers this takes a third of the time of a
// histogram, where each row waits for the one before in the same cell.
func sumOfOnes(bins []uint8, rows []int32, g, h []int64) (sum cell) {
	g, h = g[:len(rows)], h[:len(rows)]
	for i, row := range rows {
		one := int64(bins[row])
		sum.g += g[i] & -one
		sum.h += h[i] & -one
		sum.rows += one
	}
	return sum
}

// eachColumn calls do for every column, on all processors if there is enough work.
func (t *boostGrower) eachColumn(rows int, do func(j int)) {
	if rows*len(t.columns) < passCells {
		for j := range t.columns {
			do(j)
		}
		return
	}
	parallel.For(len(t.columns), do)
}

// search finds the best split of a node: of equal gains the first column, and within it the first bin.
func (t *boostGrower) search(node int) {
	n := &t.nodes[node]
	n.best = boostSplit{}
	if n.sum.rows < 2*t.shape.MinRows || t.shape.Depth > 0 && n.depth >= t.shape.Depth {
		return
	}
	t.eachColumn(t.cells/max(1, len(t.columns)), func(j int) { t.found[j] = t.searchColumn(n, j) })
	for j := range t.found {
		if t.found[j].gain > n.best.gain {
			n.best = t.found[j]
		}
	}
}

func (t *boostGrower) searchColumn(n *boostNode, j int) (best boostSplit) {
	if !t.asked[j] {
		return best
	}
	c := &t.columns[j]
	cells := n.cells[t.offset[j]:][:c.count()+1]
	missing := cells[c.count()]
	none, minCurvature := t.gainOf(n.sum, n.value), int64(t.shape.Curvature*t.unit)
	consider := func(s boostSplit) {
		right := n.sum.minus(s.left)
		if min(s.left.rows, right.rows) < t.shape.MinRows || min(s.left.h, right.h) < minCurvature {
			return
		}
		a, b := t.valueOf(n, s.left), t.valueOf(n, right)
		if t.signs != nil && float64(t.signs[j])*(b-a) < 0 {
			return
		}
		if s.gain = t.gainOf(s.left, a) + t.gainOf(right, b) - none; s.gain > max(best.gain, minGain) {
			best = s
		}
	}
	var left cell
	for bin := range c.count() - 1 {
		if cells[bin].rows == 0 {
			continue // the same rows as the bin before
		}
		left = left.plus(cells[bin])
		switch {
		case missing.rows == 0: // later missing values go to the larger side
			consider(boostSplit{column: j, bin: bin, left: left, missingLeft: c.missing && 2*left.rows > n.sum.rows})
		default:
			consider(boostSplit{column: j, bin: bin, left: left})
			consider(boostSplit{column: j, bin: bin, left: left.plus(missing), missingLeft: true})
		}
	}
	if missing.rows > 0 && (t.signs == nil || t.signs[j] == 0) { // all values on one side, missing ones on the other
		consider(boostSplit{column: j, bin: c.count() - 1, left: n.sum.minus(missing)})
	}
	return best
}

// divide divides a node by its best split. further reports whether its children may be divided in turn.
func (t *boostGrower) divide(node int, further bool) {
	n := t.nodes[node]
	c, s := &t.columns[n.best.column], n.best
	var goLeft [256]int // by bin; without branches, which a processor would guess wrong for half of the rows
	for bin := range c.count() + 1 {
		if s.goesLeft(bin, c.count()) {
			goLeft[bin] = 1
		}
	}
	middle, k := n.first, 0
	for _, row := range t.rows[n.first:n.end] {
		left := goLeft[c.bins[row]]
		t.rows[middle], t.spare[k] = row, row
		middle += left
		k += 1 - left
	}
	copy(t.rows[middle:n.end], t.spare[:k])
	left := boostNode{first: n.first, end: middle, depth: n.depth + 1, sum: s.left, low: n.low, high: n.high}
	right := boostNode{first: middle, end: n.end, depth: n.depth + 1, sum: n.sum.minus(s.left), low: n.low, high: n.high}
	left.value, right.value = t.valueOf(&left, left.sum), t.valueOf(&right, right.sum)
	if t.signs != nil && t.signs[s.column] != 0 {
		between := float64(left.value/2) + float64(right.value/2)
		if t.signs[s.column] > 0 {
			left.high, right.low = between, between
		} else {
			left.low, right.high = between, between
		}
	}
	at := len(t.nodes)
	t.nodes = append(t.nodes, left, right)
	t.nodes[node].left, t.nodes[node].right = at, at+1
	cells := n.cells
	t.nodes[node].cells = nil
	if !further || t.shape.Depth > 0 && n.depth+1 >= t.shape.Depth {
		t.release(cells)
		return
	}
	// The histogram of the smaller child is formed; the other is the rest.
	small, large := at, at+1
	if right.end-right.first < left.end-left.first {
		small, large = large, small
	}
	t.nodes[small].cells = t.histogram(t.nodes[small].first, t.nodes[small].end)
	for i, x := range t.nodes[small].cells {
		cells[i] = cells[i].minus(x)
	}
	t.nodes[large].cells = cells
	t.search(at)
	t.search(at + 1)
}

// appendNode appends a node and its descendants to tree, in preorder, and adds the values of leaves to the
// scores of their rows.
func (t *boostGrower) appendNode(node int, tree *boostedTree) {
	n := &t.nodes[node]
	if n.left == 0 {
		n.leaf = len(tree.values)
		value := float64(t.shape.Rate * n.value)
		mass := 0.0
		for _, row := range t.rows[n.first:n.end] {
			t.scores[row] += value
			mass += WeightAt(t.weights, int(row))
		}
		tree.Ask, tree.Mass, tree.values = append(tree.Ask, -1), append(tree.Mass, mass), append(tree.values, value)
		return
	}
	if n.best.missingLeft {
		tree.MissingLeft = append(tree.MissingLeft, len(tree.At))
	}
	at := math.MaxFloat64
	if edges := t.columns[n.best.column].edges; n.best.bin < len(edges) {
		at = edges[n.best.bin]
	}
	tree.Ask, tree.At = append(tree.Ask, n.best.column), append(tree.At, at)
	t.appendNode(n.left, tree)
	t.appendNode(n.right, tree)
}
