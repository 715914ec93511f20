package feature

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"toptau/diag"
	"toptau/internal/detmath"
	"toptau/internal/parallel"
	"toptau/internal/text"
)

// Boosting is what a fit keeps of the trees of a boosted encoding: the sum of trees that gradient boosting
// itself would predict with. As a weight vector it is a model, and where a linear fit may start.
type Boosting struct {
	Intercept float64
	Rounds    []Round
	curves    bool // the rounds add to the curves of columns
}

// Round is one tree's part of the sum: it adds Values[i] to weight First + i.
type Round struct {
	First  int
	Values []float64
}

// Weights returns the sum of the first rounds as a weight vector of a map with this many columns.
func (b *Boosting) Weights(rounds, cols int) []float64 {
	w := make([]float64, cols)
	for _, r := range b.Rounds[:min(rounds, len(b.Rounds))] {
		for i, v := range r.Values {
			w[r.First+i] += v
		}
	}
	return w
}

// FirstRounds returns the map with the first trees of a boosted encoding that Fit made. The curves of an additive
// one stay whole.
func (m *Map) FirstRounds(rounds int) (*Map, error) {
	fewer := *m
	if rounds >= len(m.boosting.Rounds) {
		return m, nil
	}
	fewer.boosting = &Boosting{m.boosting.Intercept, m.boosting.Rounds[:rounds], m.boosting.curves}
	if block := m.Blocks[0].(*LeavesBlock); !m.boosting.curves {
		fewer.Blocks = blocks{&LeavesBlock{Inputs: block.Inputs, Codes: block.Codes, Trees: slices.Clone(block.Trees[:rounds])}}
	}
	return &fewer, fewer.prepare()
}

// shape is the size of boosted trees.
type shape struct {
	rounds int     // most trees, without Options.Rounds
	leaves int     // most leaves of a tree
	depth  int     // most questions on the way to a leaf; 0: no limit
	rate   float64 // part of a tree's values that is added (shrinkage)
}

// shapes are the sizes by encoding: trees of one question add curves of single columns, trees of two questions
// add functions of pairs. Chosen on half of the sets of docs/results/quality.md, which names them: the differences
// between 16 and 31 leaves, rates of 0.05 and 0.1, and one or three boosters were no more than chance there.
var shapes = map[Encode]shape{
	EncodeAdditive: {rounds: 300, leaves: 2, depth: 1, rate: 0.1},
	EncodePairs:    {rounds: 300, leaves: 4, depth: 2, rate: 0.1},
	EncodeBoosted:  {rounds: 300, leaves: 16, rate: 0.05},
}

// DefaultRounds returns the number of trees of a boosted encoding, at most.
func DefaultRounds(e Encode) int { return shapes[e].rounds }

// boosting has the settings of boosting. Chosen on the same half of the sets.
var boosting = struct {
	ridge       float64 // added to the sum of curvatures of a leaf
	rows        int64   // fewest rows of a leaf
	columnShare float64 // part of the columns that a tree may ask
}{ridge: 0.1, rows: 20, columnShare: 0.5}

const (
	leastGain   = 1e-9         // of a split, so that rounding is no gain
	boostStream = 0x626f6f7374 // of the draws of rows and columns; "boost" in ASCII
)

// booster is gradient boosting with the logistic loss (Friedman 2001) on histograms. With scores z, y = 1 on
// positives and row weights m, a round fits a tree to
//
//	g = m (p - y),   h = m p (1 - p),   p = 1 / (1 + exp(-z)).
//
// A split of a node with the sums G and H gains G_l^2/(H_l + ridge) + G_r^2/(H_r + ridge) - G^2/(H + ridge). A
// leaf adds -rate G/(H + ridge) to z. The node with the largest gain is split next, until the tree has enough
// leaves.
//
// Each tree of very many rows grows on a sample of its own, with all positives up to one half of it. A row of the sample
// stands for others of its class.
//
// g and h are rounded to multiples of 1/unit, so sums are exact in every order. Missing values go to the side
// that gains more, and the split of missing values from all others is tried as well. Where a column must only
// raise or lower the score, a split that does the opposite gains nothing, and the values of the leaves on both
// sides stay on their side of the middle between the two.
type booster struct {
	ctx      context.Context
	columns  []binned
	signs    []int8 // by column: 1 where the score may only rise with it, -1 where it may only fall; nil: none
	positive []bool
	weights  []float64 // of mean 1; nil: all 1
	shape    shape
	seed     uint64

	share  [2]float64 // of the negatives and of the positives that grow a tree
	unit   float64
	scores []float64
	g, h   []int64 // by row
	offset []int   // by column: its first cell in a histogram
	cells  int     // of a histogram
}

// boostedTree is a tree with its values.
type boostedTree struct {
	Tree
	values []float64
}

// run grows the trees.
func (b *booster) run(rounds int) (intercept float64, trees []boostedTree) {
	n := len(b.positive)
	b.share = sharesToGrow(b.positive)
	b.unit = b.fixedPoint()
	b.g, b.h = make([]int64, n), make([]int64, n)
	b.offset = make([]int, len(b.columns))
	for j := range b.columns {
		b.offset[j] = b.cells
		b.cells += b.columns[j].count() + 1
	}
	p := positiveShare(b.positive, b.weights)
	intercept = detmath.Log(p) - detmath.Log(1-p)
	b.scores = slices.Repeat([]float64{intercept}, n)
	grower := newBoostGrower(b)
	for r := range rounds {
		if b.ctx.Err() != nil {
			break
		}
		tree := grower.grow(rand.NewPCG(b.seed, boostStream+uint64(r)))
		if len(tree.values) < 2 {
			break // nothing is left to gain
		}
		trees = append(trees, tree)
	}
	return intercept, trees
}

// fixedPoint returns the largest power of two up to 2^40 with which no sum of |g| or h overflows.
func (b *booster) fixedPoint() float64 {
	var total detmath.Sum
	for i, positive := range b.positive {
		total.Add(weightAt(b.weights, i) / b.share[indicator(positive)])
	}
	unit := float64(1 << 40)
	for float64(unit*total.Value()) > 1<<61 {
		unit /= 2
	}
	return unit
}

// differentiate computes g and h at the scores of some rows. A drawn row stands for others of its class.
func (b *booster) differentiate(rows []int32) {
	const block = 1 << 12
	parallel.For((len(rows)+block-1)/block, func(k int) {
		for _, i := range rows[k*block : min(len(rows), (k+1)*block)] {
			e := detmath.Exp(-math.Abs(b.scores[i]))
			rate := 1 / (1 + e) // of the likelier class
			h := float64(float64(e*rate) * rate)
			p := rate
			if b.scores[i] < 0 {
				p = float64(e * rate)
			}
			g := p
			if b.positive[i] {
				g = -float64(e * rate)
				if b.scores[i] < 0 {
					g = -rate
				}
			}
			m := float64(weightAt(b.weights, int(i)) / b.share[indicator(b.positive[i])] * b.unit)
			b.g[i], b.h[i] = int64(float64(m*g)), int64(float64(m*h))
		}
	})
}

// boost grows the trees of a boosted encoding on the inputs (positions in Map.Inputs) with the values x and
// keeps their sum in the map. codes are those of the categorical inputs.
func (f *fitter) boost(inputs []int, x [][]float64, codes []CategoryCodes, positive []bool) (*LeavesBlock, error) {
	size := shapes[f.o.Encode]
	rounds := size.rounds
	if f.o.Rounds > 0 {
		rounds = f.o.Rounds
	}
	b := booster{ctx: f.ctx, columns: binAll(x), positive: positive, weights: unitWeights(f.weights), shape: size, seed: f.o.Seed}
	var err error
	if b.signs, err = f.signs(inputs); err != nil {
		return nil, err
	}
	intercept, trees := b.run(rounds)
	if f.ctx.Err() != nil {
		return nil, context.Cause(f.ctx)
	}
	if len(trees) == 0 {
		return nil, &diag.Error{Kind: diag.Data, Found: fmt.Sprintf("no split of the %s training rows for a tree", text.Count(len(f.rows))),
			Expected: fmt.Sprintf("columns that tell the classes apart, with %d rows on either side", boosting.rows)}
	}
	block := &LeavesBlock{Inputs: inputs, Codes: codes}
	f.m.boosting = &Boosting{Intercept: intercept, curves: f.o.Encode == EncodeAdditive}
	if f.m.boosting.curves {
		block.Trees, f.m.boosting.Rounds = curves(b.columns, trees, b.weights)
		return block, nil
	}
	first := 0
	for _, t := range trees {
		block.Trees = append(block.Trees, t.Tree)
		f.m.boosting.Rounds = append(f.m.boosting.Rounds, Round{first, t.values})
		first += len(t.values)
	}
	return block, nil
}

// unitWeights returns weights of mean 1.
func unitWeights(weights []float64) []float64 {
	if weights == nil {
		return nil
	}
	var total detmath.Sum
	for _, w := range weights {
		total.Add(w)
	}
	scaled := make([]float64, len(weights))
	for i, w := range weights {
		scaled[i] = w / total.Value() * float64(len(weights))
	}
	return scaled
}

// errOneClass is the error of a fit on rows of one class.
func errOneClass() error {
	return &diag.Error{Kind: diag.Data, Found: "rows of one class", Expected: "rows of both classes",
		Fixes: []diag.Fix{{Param: "label"}, {Param: "positive"}}}
}
