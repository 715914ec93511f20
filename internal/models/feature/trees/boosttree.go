package trees

import (
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"

	"toptau/internal/core/parallel"
)

// cell is the sums of g and h of some rows, in multiples of 1/unit: g in the upper 32 bits and h, which is not negative, in the
// lower. Sums and differences of cells are those of both numbers as long as h stays below 2^32, which fixUnit sees to.
type cell int64

func packCell(g, h int64) cell { return cell(g<<32 + h) }

func (c cell) g() float64 { return float64(int32(c >> 32)) }
func (c cell) h() float64 { return float64(uint32(c)) }

// boostGrower grows trees. It keeps its memory from one tree to the next.
type boostGrower struct {
	*booster
	rows, spare []int32 // that grow the tree, grouped by node and ascending within each
	left        []int32 // the other rows
	sums        []cell  // of the rows of the node whose histogram is formed, in their order
	asked       []bool  // by column: this tree may ask it
	nodes       []boostNode
	free        [][]cell // histograms that are not in use
	found       []boostSplit
	counted     []bool   // by column: found regards the number of rows
	counts      [256]int // of the rows of a node by bin of a column
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

func newBoostGrower(b *booster) *boostGrower {
	n, d := len(b.positive), len(b.columns)
	return &boostGrower{booster: b, rows: make([]int32, n), spare: make([]int32, n), sums: make([]cell, n),
		asked: make([]bool, d), found: make([]boostSplit, d), counted: make([]bool, d)}
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
		root += t.of[i]
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
	const draws = 1 << 53
	var kept [2]uint64 // draws below it take a row of the class
	for class := range kept {
		kept[class] = uint64(math.Ceil(t.shape.Rows * t.kept[class] * draws))
	}
	n, count := len(t.positive), 0
	rows, left := t.rows[:n], slices.Grow(t.left[:0], n)[:n]
	for i, positive := range t.positive {
		limit := kept[indicator(positive)]
		draw := uint64(0)
		if limit < draws {
			draw = random.Uint64() >> 11
		}
		rows[count], left[i-count] = int32(i), int32(i) // without branches on the draw, which a processor would guess wrong
		_, below := bits.Sub64(draw, limit, 0)
		count += int(below)
	}
	t.rows, t.left = rows[:count], left[:n-count]
}

// addLeft adds the values of a tree to the scores of the rows that did not grow it, and their weights to its leaves.
func (t *boostGrower) addLeft(tree *boostedTree) {
	const block = 1 << 12
	blocks := (len(t.left) + block - 1) / block
	steps := t.steps()
	masses := make([]float64, blocks*len(tree.values))
	parallel.For(blocks, func(k int) {
		mass := masses[k*len(tree.values):][:len(tree.values)]
		for _, row := range t.left[k*block : min(len(t.left), (k+1)*block)] {
			leaf := leafOf(steps, int(row))
			t.scores[row] += tree.values[leaf]
			mass[leaf] += WeightAt(t.weights, int(row))
		}
	})
	for i, m := range masses { // in the order of the blocks
		tree.Mass[i%len(tree.values)] += m
	}
}

// step is a node of a finished tree in the form for rows that did not grow it.
type step struct {
	bins     []uint8 // see rowBins.of; nil: a leaf
	sides    sides
	children [2]int32 // right, left
	leaf     int32
}

func (t *boostGrower) steps() []step {
	list := make([]step, len(t.nodes))
	for i := range t.nodes {
		n := &t.nodes[i]
		if list[i].leaf = int32(n.leaf); n.left > 0 {
			list[i] = step{bins: t.bins.of(n.best.column), sides: t.sidesOf(&n.best), children: [2]int32{int32(n.right), int32(n.left)}}
		}
	}
	return list
}

// leafOf returns the leaf of a row that did not grow the tree.
func leafOf(steps []step, row int) int {
	n := &steps[0]
	for n.bins != nil {
		n = &steps[n.children[n.sides.left(n.bins[row*blockColumns])&1]]
	}
	return int(n.leaf)
}

// sides are the bins that a split sends left: without branches, which a processor would guess wrong for half of the rows.
type sides struct {
	shift uint8 // added to a bin, so that missing values come first if they go left
	last  int   // bins up to this one go left
}

func (t *boostGrower) sidesOf(s *boostSplit) sides {
	if !s.missingLeft {
		return sides{0, s.bin}
	}
	shift := maxBins - t.columns[s.column].count()
	return sides{uint8(shift), s.bin + shift}
}

// left returns 1 for a bin that goes left and 0 for others.
func (s sides) left(bin uint8) int {
	return int(uint(int(bin+s.shift)-s.last-1) >> (bits.UintSize - 1))
}

// drawColumns draws the columns of the tree.
func (t *boostGrower) drawColumns(random *rand.PCG) {
	d := len(t.columns)
	count := int(math.Ceil(t.shape.Columns * float64(d)))
	clear(t.asked)
	if count == d {
		for j := range t.asked {
			t.asked[j] = true
		}
	} else {
		for _, j := range rand.New(random).Perm(d)[:count] {
			t.asked[j] = true
		}
	}
	t.cells = 0
	for j, asked := range t.asked {
		if asked {
			t.offset[j] = t.cells
			t.cells += t.columns[j].count() + 1
		}
	}
}

// valueOf returns the value of a leaf.
func (t *boostGrower) valueOf(n *boostNode, c cell) float64 {
	return min(max(-c.g()/(c.h()+t.ridge), n.low), n.high)
}

// gainOf returns the decrease of the loss by a leaf of a value, times two and in units.
func (t *boostGrower) gainOf(c cell, value float64) float64 {
	return -float64(2*float64(c.g()*value)) - float64((c.h()+t.ridge)*float64(value*value))
}

// release takes a histogram back.
func (t *boostGrower) release(cells []cell) {
	if cells != nil {
		t.free = append(t.free, cells)
	}
}

// newCells returns a histogram of zeros.
func (t *boostGrower) newCells() []cell {
	if last := len(t.free) - 1; last >= 0 {
		cells := t.free[last]
		t.free = t.free[:last]
		clear(cells[:t.cells])
		return cells
	}
	return make([]cell, t.maxCells+maxBins) // every column has maxBins cells from its first on, for indices without checks
}

// histogram sums the rows first to end by column and bin. Where columns are few the rows are divided among processors, too.
func (t *boostGrower) histogram(first, end int) []cell {
	cells, rows := t.newCells(), t.rows[first:end]
	sums, blocks := t.sums[:len(rows)], len(t.bins)
	for i, row := range rows {
		sums[i] = t.of[row]
	}
	if len(rows)*len(t.columns) < passCells {
		for block := range blocks {
			t.fillBlock(block, rows, sums, cells)
		}
		return cells
	}
	parts := [][]cell{cells}
	for threads := runtime.GOMAXPROCS(0); len(parts)*blocks < threads && len(parts)*minPart < len(rows); {
		parts = append(parts, t.newCells())
	}
	parallel.For(len(parts)*blocks, func(k int) {
		part, n := k/blocks, len(rows)
		from, to := part*n/len(parts), (part+1)*n/len(parts)
		t.fillBlock(k%blocks, rows[from:to], sums[from:to], parts[part])
	})
	for _, more := range parts[1:] {
		for i, x := range more[:t.cells] {
			cells[i] += x
		}
		t.release(more)
	}
	return cells
}

// manyRows is the number of rows from which a pass over eight columns is faster than two over four. Chosen by hand.
const manyRows = 512

// fillBlock adds rows to the cells of a block of columns. Cells of columns that are not asked are added up as well, to no use, because
// a pass over several columns takes as long as one over a few: a column waits for its cell of the row before.
func (t *boostGrower) fillBlock(block int, rows []int32, sums []cell, cells []cell) {
	var asked, others [blockColumns]int // columns by their place in the block
	count, width := 0, min(blockColumns, len(t.columns)-block*blockColumns)
	for k := range blockColumns {
		if k < width && t.asked[block*blockColumns+k] {
			asked[count] = k
			count++
		} else {
			others[k-count] = k
		}
	}
	own := func(k int) *[maxBins]cell {
		return (*[maxBins]cell)(cells[t.offset[block*blockColumns+k]:])
	}
	bins, k := t.bins[block], 0
	if len(rows) >= manyRows && count > 4 {
		var to [blockColumns]*[maxBins]cell
		var unused [blockColumns - 5][maxBins]cell
		for k := range count {
			to[asked[k]] = own(asked[k])
		}
		for k := range blockColumns - count {
			to[others[k]] = &unused[k]
		}
		fillEight(bins, rows, sums, to[0], to[1], to[2], to[3], to[4], to[5], to[6], to[7])
		return
	}
	for ; k+4 <= count; k += 4 {
		fillFour(bins, asked[k:], rows, sums, own(asked[k]), own(asked[k+1]), own(asked[k+2]), own(asked[k+3]))
	}
	for ; k < count; k++ {
		column := own(asked[k])
		at := bins[asked[k]:]
		for i, row := range rows {
			column[at[int(row)*blockColumns]] += sums[i]
		}
	}
}

// fillEight is the pass of fillBlock over all columns of a block.
func fillEight(bins []uint8, rows []int32, sums []cell, a, b, c, d, e, f, g, h *[maxBins]cell) {
	sums = sums[:len(rows)]
	for i, row := range rows {
		x, of := sums[i], binary.LittleEndian.Uint64(bins[int(row)*blockColumns:])
		a[uint8(of)] += x
		b[uint8(of>>8)] += x
		c[uint8(of>>16)] += x
		d[uint8(of>>24)] += x
		e[uint8(of>>32)] += x
		f[uint8(of>>40)] += x
		g[uint8(of>>48)] += x
		h[uint8(of>>56)] += x
	}
}

// fillFour is the pass of fillBlock over four columns, whose cells do not wait for each other.
func fillFour(bins []uint8, list []int, rows []int32, sums []cell, a, b, c, d *[maxBins]cell) {
	i0, i1, i2, i3 := list[0]%blockColumns, list[1]%blockColumns, list[2]%blockColumns, list[3]%blockColumns
	sums = sums[:len(rows)]
	for i, row := range rows {
		x, of := sums[i], (*[blockColumns]uint8)(bins[int(row)*blockColumns:])
		a[of[i0]] += x
		b[of[i1]] += x
		c[of[i2]] += x
		d[of[i3]] += x
	}
}

// eachColumn calls do for every column, on all processors if there is enough work.
func (t *boostGrower) eachColumn(cells int, do func(j int)) {
	if cells < passCells {
		for j := range t.columns {
			do(j)
		}
		return
	}
	parallel.For(len(t.columns), do)
}

// divisible reports whether a node has enough of everything for two leaves.
func (t *boostGrower) divisible(n *boostNode) bool {
	return n.end-n.first >= 2*t.shape.MinRows && n.sum.h() >= 2*t.curvature && (t.shape.Depth == 0 || n.depth < t.shape.Depth)
}

// search finds the best split of a node: of equal gains the first column, and within it the first bin. The rows of the sides are
// counted for the best column alone, which then may be no longer the best.
func (t *boostGrower) search(node int) {
	n := &t.nodes[node]
	n.best = boostSplit{}
	if !t.divisible(n) {
		return
	}
	t.eachColumn(t.cells, func(j int) { t.found[j], t.counted[j] = t.searchColumn(n, j, nil), t.shape.MinRows <= 1 })
	for {
		best := -1
		for j := range t.found {
			if t.found[j].gain > 0 && (best < 0 || t.found[j].gain > t.found[best].gain) {
				best = j
			}
		}
		if best < 0 {
			return
		}
		if t.counted[best] {
			n.best = t.found[best]
			return
		}
		clear(t.counts[:])
		bins := t.bins.of(best)
		for _, row := range t.rows[n.first:n.end] {
			t.counts[bins[int(row)*blockColumns]]++
		}
		t.found[best], t.counted[best] = t.searchColumn(n, best, &t.counts), true
	}
}

// searchColumn finds the best split of a node by a column. counts are the rows of its bins; nil: they are not regarded.
func (t *boostGrower) searchColumn(n *boostNode, j int, counts *[maxBins]int) boostSplit {
	if !t.asked[j] {
		return boostSplit{}
	}
	c := &t.columns[j]
	cells := n.cells[t.offset[j]:][:c.count()+1]
	none := t.gainOf(n.sum, n.value)
	var best boostSplit
	if cells[c.count()] == 0 && t.signs == nil && counts == nil {
		best = t.searchCells(cells[:c.count()-1], n.sum, n.end-n.first, none+t.minGain)
		best.column = j
		best.missingLeft = c.missing && 2*best.left.h() > n.sum.h() // later missing values go to the larger side
	} else {
		best = t.searchWithLimits(n, j, cells, counts, none+t.minGain)
	}
	if best.gain > 0 {
		best.gain -= none
	}
	return best
}

// searchCells finds the bin after which a split into two leaves decreases the loss most, and by more than highest. The gain of
// the result is the decrease by both leaves, 0 if there is none.
func (t *boostGrower) searchCells(cells []cell, sum cell, rows int, highest float64) (best boostSplit) {
	ridge, curvature := t.ridge, t.curvature
	sumG, sumH := sum.g(), sum.h()
	few := rows < len(cells)/fullCells
	first := slices.IndexFunc(cells, func(x cell) bool { return x != 0 })
	if first < 0 {
		return boostSplit{}
	}
	var left cell
	for k, x := range cells[first:] {
		if few && x == 0 {
			continue // the same rows as the bin before, which changes nothing
		}
		left += x
		leftG, leftH := left.g(), left.h()
		rightG, rightH := sumG-leftG, sumH-leftH // exact, as those of sum - left
		if leftH < curvature || rightH < curvature {
			continue
		}
		if below(leftG, leftH+ridge, rightG, rightH+ridge, highest) {
			continue
		}
		if both := float64(leftG*leftG)/(leftH+ridge) + float64(rightG*rightG)/(rightH+ridge); both > highest {
			highest = both
			best.bin, best.left, best.gain = first+k, left, both
		}
	}
	return best
}

// fullCells is the number of bins for each row of a node from which empty bins are passed over. With more rows it takes longer to guess which are
// empty than to search them. Chosen by hand.
const fullCells = 4

// below reports whether leaves with these sums decrease the loss by clearly less than highest, which is at least 0. It takes a third of
// the time of two divisions. The margin is a thousand times what rounding changes, so that it decides nothing else.
func below(leftG, leftH, rightG, rightH, highest float64) bool {
	const margin = 1 - 0x1p-40
	return float64(float64(leftG*leftG)*rightH)+float64(float64(rightG*rightG)*leftH) < float64(float64(leftH*rightH)*float64(margin*highest))
}

// searchWithLimits is searchCells for columns with missing values, directions and numbers of rows.
func (t *boostGrower) searchWithLimits(n *boostNode, j int, cells []cell, counts *[maxBins]int, highest float64) (best boostSplit) {
	c := &t.columns[j]
	none := [maxBins]int{}
	minRows := t.shape.MinRows
	if counts == nil {
		counts, minRows = &none, 0
	}
	consider := func(s boostSplit, rows int) {
		right := n.sum - s.left
		leftH, rightH := s.left.h(), right.h()
		if leftH < t.curvature || rightH < t.curvature || min(rows, n.end-n.first-rows) < minRows ||
			t.signs == nil && below(s.left.g(), leftH+t.ridge, right.g(), rightH+t.ridge, highest) {
			return
		}
		a, b := t.valueOf(n, s.left), t.valueOf(n, right)
		if t.signs != nil && float64(t.signs[j])*(b-a) < 0 {
			return
		}
		if s.gain = t.gainOf(s.left, a) + t.gainOf(right, b); s.gain > highest {
			highest, best = s.gain, s
		}
	}
	missing, missingRows := cells[c.count()], counts[c.count()]
	var left cell
	rows := 0
	for bin, x := range cells[:c.count()-1] {
		if rows += counts[bin]; x == 0 {
			continue // the same rows as the bin before
		}
		left += x
		if missing == 0 {
			consider(boostSplit{column: j, bin: bin, left: left, missingLeft: c.missing && 2*left.h() > n.sum.h()}, rows)
			continue
		}
		consider(boostSplit{column: j, bin: bin, left: left}, rows)
		consider(boostSplit{column: j, bin: bin, left: left + missing, missingLeft: true}, rows+missingRows)
	}
	if missing != 0 && (t.signs == nil || t.signs[j] == 0) { // all values on one side, missing ones on the other
		consider(boostSplit{column: j, bin: c.count() - 1, left: n.sum - missing}, n.end-n.first-missingRows)
	}
	return best
}

// divide divides a node by its best split. further reports whether its children may be divided in turn.
func (t *boostGrower) divide(node int, further bool) {
	n := t.nodes[node]
	s := n.best
	middle := n.first + t.partition(t.rows[n.first:n.end], &s)
	left := boostNode{first: n.first, end: middle, depth: n.depth + 1, sum: s.left, low: n.low, high: n.high}
	right := boostNode{first: middle, end: n.end, depth: n.depth + 1, sum: n.sum - s.left, low: n.low, high: n.high}
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
	small, large := at, at+1
	if right.end-right.first < left.end-left.first {
		small, large = large, small
	}
	if !further || !t.divisible(&t.nodes[large]) && !t.divisible(&t.nodes[small]) {
		t.release(cells)
		return
	}
	// The histogram of the smaller child is formed; the other is the rest.
	t.nodes[small].cells = t.histogram(t.nodes[small].first, t.nodes[small].end)
	for i, x := range t.nodes[small].cells[:t.cells] {
		cells[i] -= x
	}
	t.nodes[large].cells = cells
	t.search(at)
	t.search(at + 1)
}

// partition moves the rows that go left before the others and returns their number. Both keep their order.
func (t *boostGrower) partition(rows []int32, s *boostSplit) int {
	bins, sides := t.bins.of(s.column), t.sidesOf(s)
	middle, k, spare := 0, 0, t.spare[:len(rows)]
	for _, row := range rows {
		left := sides.left(bins[int(row)*blockColumns])
		rows[middle], spare[k] = row, row
		middle += left
		k += 1 - left
	}
	copy(rows[middle:], spare[:k])
	return middle
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
