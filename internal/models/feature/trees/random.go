package trees

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"toptau/internal/core/parallel"
)

// Sizes of the random trees.
const (
	MinLeafRows = 5 // fewest rows of a leaf of a random tree; chosen by hand (a change moves results), as the next
	drawRounds  = 5 // most rounds of draws in a node until a split divides it

	// GrowRows is the number of rows that grow a random or a boosted tree, at most: several hundred for each leaf. On
	// 980,000 rows of detectors random trees take a fifth of the time, and find as many positives.
	GrowRows = 1 << 17
)

// forest is the training rows, column by column, and the settings of the trees.
type forest struct {
	ctx      context.Context
	columns  []ranked // by column
	positive []bool
	weights  []float64  // nil: all 1
	mass     [2]float64 // that a row of weight 1 stands for: a negative, a positive
	leaves   int        // most leaves of a tree
	tries    int        // columns that a node tries
}

// Column returns the values of a column by row, in the memory of space if that suffices; NaN is a missing value. It is called when
// they are needed, so that few columns are in memory as numbers.
type Column func(space []float64) []float64

// Training is the rows that grow trees.
type Training struct {
	Columns  []Column
	Positive []bool
	Weights  []float64 // nil: all 1
}

// Random returns random trees with more than one leaf, or the cause if ctx ends. Every tree uses the same rows: all, or a
// sample of very many.
//
// A tree is an extremely randomised tree (Geurts, Ernst, Wehenkel 2006). A node draws columns, and for each a
// threshold uniform between its smallest and largest value in the node, until sqrt(d) of them split it into
// parts of at least MinLeafRows rows. It takes the split that lowers the weighted Gini impurity most. The node
// with the largest gain is split next, until the tree has enough leaves or no node can be split. Missing
// values go to the side with the larger gain, and a split of missing values from all others is tried as well.
//
// Tree i draws from PCG(seed, i) alone, so the trees do not depend on the number of threads.
func (r *Training) Random(ctx context.Context, count, leaves int, seed uint64) ([]Tree, error) {
	rows, mass := rowsToGrow(r.Positive)
	g := forest{ctx: ctx, positive: taken(r.Positive, rows), weights: taken(r.Weights, rows), mass: mass, leaves: leaves,
		tries: int(math.Ceil(math.Sqrt(float64(len(r.Columns)))))}
	g.columns = make([]ranked, len(r.Columns))
	parallel.For(len(r.Columns), func(j int) {
		if ctx.Err() == nil {
			g.columns[j] = rankedOf(taken(r.Columns[j](nil), rows))
		}
	})
	trees := make([]Tree, count)
	parallel.For(len(trees), func(i int) {
		if ctx.Err() == nil {
			trees[i] = g.grow(rand.NewPCG(seed, uint64(i)))
		}
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return slices.DeleteFunc(trees, func(t Tree) bool { return len(t.Ask) == 1 }), nil
}

// sampleToGrow returns the numbers of negatives and positives, and how many of each grow a tree: all, or of very many
// rows positives up to one half, as in the folds of a search.
func sampleToGrow(positive []bool, most int) (total, kept [2]int) {
	for _, p := range positive {
		total[indicator(p)]++
	}
	if len(positive) <= most || most == 0 {
		return total, total
	}
	kept[1] = min(total[1], max(most/2, most-total[0]))
	kept[0] = most - kept[1]
	return total, kept
}

// fractionsToGrow returns the fractions of the negatives and of the positives that grow a boosted tree.
func fractionsToGrow(positive []bool, most int) (fraction [2]float64) {
	total, kept := sampleToGrow(positive, most)
	for c := range fraction {
		fraction[c] = 1
		if kept[c] < total[c] {
			fraction[c] = float64(kept[c]) / float64(total[c])
		}
	}
	return fraction
}

// rowsToGrow returns the rows that grow random trees, nil for all, and how many rows a negative and a positive stand
// for. Of each class it takes rows at equal distances.
func rowsToGrow(positive []bool) (rows []int, mass [2]float64) {
	n := len(positive)
	mass = [2]float64{1, 1}
	if n <= GrowRows {
		return nil, mass
	}
	total, kept := sampleToGrow(positive, GrowRows)
	var seen [2]int
	for i, p := range positive {
		c := indicator(p)
		seen[c]++
		if seen[c]*kept[c]/total[c] > (seen[c]-1)*kept[c]/total[c] {
			rows = append(rows, i)
		}
	}
	for c := range mass {
		mass[c] = float64(total[c]) / float64(kept[c])
	}
	return rows, mass
}

// taken returns the elements of some rows; nil: of all.
func taken[T any](list []T, rows []int) []T {
	if rows == nil || list == nil {
		return list
	}
	some := make([]T, len(rows))
	for k, row := range rows {
		some[k] = list[row]
	}
	return some
}

// growing is a node of an unfinished tree. Its rows are grower.rows[first:end].
type growing struct {
	first, end  int
	left, right int // its children; 0 while it is a leaf
	best        split
	constant    []bool // by column: known to have a single value in the node; shared with the children
}

// split divides a node.
type split struct {
	column      int
	at          float64
	rank        uint32 // of the largest value that is at most at
	missingLeft bool
	gain        float64 // decrease of impurity times mass; 0: no split
}

// grower grows one tree.
type grower struct {
	*forest
	random *rand.PCG
	rows   []int32 // grouped by node, in the order of the table within each
	spare  []int32
	order  []int // a permutation of the columns, for draws without replacement
	nodes  []growing
	node   nodeRows
}

// nodeRows holds the rows of the node that is being split.
type nodeRows struct {
	positive []uint8 // 1 or 0
	weights  []float64
	ranks    []uint32 // of the column drawn last
	constant []bool
}

func (g *forest) grow(random *rand.PCG) Tree {
	t := grower{forest: g, random: random}
	n := len(g.positive)
	t.rows, t.spare = make([]int32, n), make([]int32, n)
	t.node = nodeRows{positive: make([]uint8, n), ranks: make([]uint32, n)}
	if g.weights != nil {
		t.node.weights = make([]float64, n)
	}
	for i := range t.rows {
		t.rows[i] = int32(i)
	}
	for j := range g.columns {
		t.order = append(t.order, j)
	}
	t.node.constant = make([]bool, len(g.columns))
	t.addNode(0, len(t.rows))
	for leaves := 1; leaves < g.leaves && g.ctx.Err() == nil; leaves++ {
		best := -1
		for i := range t.nodes {
			if t.nodes[i].best.gain > 0 && t.nodes[i].left == 0 && (best < 0 || t.nodes[i].best.gain > t.nodes[best].best.gain) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		t.divideNode(best)
	}
	var tree Tree
	tree.At = []float64{}
	t.appendNode(0, &tree)
	return tree
}

// addNode appends a node with its best split. node.constant has the constant columns of its parent.
func (t *grower) addNode(first, end int) int {
	best := t.bestSplit(t.rows[first:end])
	t.nodes = append(t.nodes, growing{first: first, end: end, best: best, constant: t.node.constant})
	return len(t.nodes) - 1
}

// divideNode divides a node by its best split. The rows keep their order.
func (t *grower) divideNode(node int) {
	n := t.nodes[node]
	middle := n.first + t.columns[n.best.column].divide(t.rows[n.first:n.end], t.spare, n.best.rank, n.best.missingLeft)
	t.node.constant = slices.Clone(n.constant)
	left := t.addNode(n.first, middle)
	t.node.constant = n.constant
	right := t.addNode(middle, n.end)
	t.nodes[node].left, t.nodes[node].right = left, right
}

// appendNode appends a node and its descendants to tree, in preorder.
func (t *grower) appendNode(node int, tree *Tree) {
	n := &t.nodes[node]
	if n.left == 0 {
		tree.Ask = append(tree.Ask, -1)
		c := t.countRows(t.rows[n.first:n.end])
		tree.Mass = append(tree.Mass, float64(t.mass[0]*(c.mass-c.positive))+float64(t.mass[1]*c.positive))
		return
	}
	if n.best.missingLeft {
		tree.MissingLeft = append(tree.MissingLeft, len(tree.At))
	}
	tree.Ask, tree.At = append(tree.Ask, n.best.column), append(tree.At, n.best.at)
	t.appendNode(n.left, tree)
	t.appendNode(n.right, tree)
}

// counts are the rows of one side of a split.
type counts struct {
	rows           int
	mass, positive float64
}

func (c *counts) add(positive bool, weight float64) {
	c.rows++
	c.mass += weight
	if positive {
		c.positive += weight
	}
}

func (c counts) plus(d counts) counts {
	return counts{c.rows + d.rows, c.mass + d.mass, c.positive + d.positive}
}

// impurity is mass times Gini impurity, 2 p (1 - p) mass.
func (c counts) impurity() float64 {
	if c.mass == 0 {
		return 0
	}
	return float64(2 * c.positive * ((c.mass - c.positive) / c.mass))
}

// bestSplit draws the splits of a node and returns the best, the first of equally good ones.
func (t *grower) bestSplit(rows []int32) split {
	var best split
	whole := t.loadNode(rows)
	if whole.rows < 2*MinLeafRows || whole.positive <= 0 || whole.positive >= whole.mass {
		return best
	}
	for round := 0; round < drawRounds && best.gain == 0; round++ {
		for drawn, found := 0, 0; drawn < len(t.order) && found < t.tries; drawn++ {
			if t.drawSplit(rows, drawn, whole, &best) {
				found++
			}
		}
	}
	return best
}

// drawSplit draws one more column and reports whether it can divide the node. A better split than best
// replaces it.
func (t *grower) drawSplit(rows []int32, drawn int, whole counts, best *split) bool {
	k := drawn + int(t.random.Uint64()%uint64(len(t.order)-drawn))
	t.order[drawn], t.order[k] = t.order[k], t.order[drawn]
	column := t.order[drawn]
	if t.node.constant[column] {
		return false
	}
	c := &t.columns[column]
	var low, high uint32
	var missing int
	t.node.ranks, low, high, missing = c.gather(rows, t.node.ranks)
	t.node.constant[column] = !(low < high) && (missing == 0 || missing == len(rows))
	valid := false
	if low < high {
		u := float64(t.random.Uint64()>>11) / (1 << 53)
		at := roundThreshold(c.values[low], c.values[high], u)
		valid = t.trySplit(split{column: column, at: at, rank: c.below(at, low, high)}, missing > 0, whole, best)
	}
	if missing > 0 && missing < len(rows) { // all values on one side, the missing ones on the other
		valid = t.trySplit(split{column: column, at: math.MaxFloat64, rank: missingRank - 1}, true, whole, best) || valid
	}
	return valid
}

func (t *grower) countRows(rows []int32) (c counts) {
	for _, row := range rows {
		c.add(t.positive[row], WeightAt(t.weights, int(row)))
	}
	return c
}

// loadNode copies the labels and weights of a node's rows and counts them.
func (t *grower) loadNode(rows []int32) (c counts) {
	n := &t.node
	n.positive = n.positive[:len(rows)]
	if t.weights == nil {
		positives := 0
		for k, row := range rows {
			n.positive[k] = indicator(t.positive[row])
			positives += int(n.positive[k])
		}
		return countsOf(len(rows), positives)
	}
	n.weights = n.weights[:len(rows)]
	for k, row := range rows {
		n.positive[k], n.weights[k] = indicator(t.positive[row]), t.weights[row]
		c.add(t.positive[row], t.weights[row])
	}
	return c
}

// countsOf returns the counts of rows of weight 1.
func countsOf(rows, positive int) counts { return counts{rows, float64(rows), float64(positive)} }

// sides counts the values up to a rank (left), those above it (right) and the missing ones (none).
func (n *nodeRows) sides(last uint32, missing bool, whole counts) (left, right, none counts) {
	if n.weights != nil {
		for k, r := range n.ranks {
			side := &right
			switch {
			case r <= last:
				side = &left
			case r == missingRank:
				side = &none
			}
			side.add(n.positive[k] == 1, n.weights[k])
		}
		return left, right, none
	}
	rows, positive := 0, 0
	for k, r := range n.ranks {
		in := int(indicator(r <= last))
		rows += in
		positive += in & int(n.positive[k])
	}
	left = countsOf(rows, positive)
	if missing {
		rows, positive = 0, 0
		for k, r := range n.ranks {
			in := int(indicator(r == missingRank))
			rows += in
			positive += in & int(n.positive[k])
		}
		none = countsOf(rows, positive)
	}
	right = countsOf(whole.rows-left.rows-none.rows, int(whole.positive)-int(left.positive)-int(none.positive))
	return left, right, none
}

// trySplit reports whether a split leaves enough rows on both sides, and replaces best if the split is
// better. Missing values go to the side with the larger gain; if the node has none, later ones go right.
func (t *grower) trySplit(s split, some bool, whole counts, best *split) (valid bool) {
	left, right, missing := t.node.sides(s.rank, some, whole)
	consider := func(left, right counts, missingLeft bool) {
		if left.rows < MinLeafRows || right.rows < MinLeafRows {
			return
		}
		valid = true
		if gain := whole.impurity() - left.impurity() - right.impurity(); gain > best.gain {
			s.gain, s.missingLeft = gain, missingLeft
			*best = s
		}
	}
	if missing.rows == 0 {
		consider(left, right, false)
		return valid
	}
	consider(left, right.plus(missing), false)
	consider(left.plus(missing), right, true)
	return valid
}

// roundThreshold returns low + u (high - low), rounded to as few decimals as keep it in [low, high), so that
// model files stay small.
func roundThreshold(low, high, u float64) float64 {
	x := float64(low*(1-u)) + float64(high*u)
	for _, digits := range []int{4, 6, 9} {
		y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', digits-1, 64), 64)
		if err == nil && low <= y && y < high && math.Abs(y-x) <= float64(high/64)-float64(low/64) {
			return y + 0
		}
	}
	if low <= x && x < high {
		return x + 0
	}
	return low + 0
}
