package trees

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"toptau/internal/core/detmath"
	"toptau/internal/core/parallel"
)

// Shape is the size of boosted trees and how they grow.
type Shape struct {
	Rounds    int     // trees at most
	Leaves    int     // leaves of a tree at most
	Depth     int     // questions on the way to a leaf at most; 0: no limit
	Rate      float64 // part of a tree's values that is added (shrinkage)
	Ridge     float64 // added to the sum of curvatures of a leaf
	MinRows   int     // rows of a leaf at least
	Curvature float64 // sum of curvatures of a leaf at least
	Columns   float64 // fraction of the columns that a tree may ask
	Rows      float64 // fraction of the rows that grow a tree
	Most      int     // rows that grow a tree, at most; 0: no limit
}

// Round is one tree's part of the sum: it adds Values[i] to weight First + i.
type Round struct {
	First  int
	Values []float64
}

// Boosted is trees with the sum that gradient boosting itself predicts with.
type Boosted struct {
	Intercept float64
	Trees     []Tree
	Rounds    []Round
}

// Boost grows boosted trees. signs are, by column, 1 where the score may only rise with it and -1 where it may only
// fall; nil: no limits. With joined set, trees of one question become one tree for each column. If ctx ends,
// Boost returns the cause. Without a split that gains anything there are no trees.
func (r *Training) Boost(ctx context.Context, s Shape, signs []int8, joined bool, seed uint64) (Boosted, error) {
	return r.Boosting(s, signs, joined, seed).Grow(ctx, s.Rounds)
}

// Boosting is boosted trees that more can be added to.
type Boosting struct {
	*booster
	joined    bool
	intercept float64
	trees     []boostedTree
}

// Boosting returns Boost before its first tree.
func (r *Training) Boosting(s Shape, signs []int8, joined bool, seed uint64) *Boosting {
	b := &booster{signs: signs, positive: r.Positive, weights: UnitWeights(r.Weights), shape: s, seed: seed}
	b.columns, b.bins = binAll(r.Columns, len(r.Positive))
	return &Boosting{booster: b, joined: joined, intercept: b.prepare()}
}

// Grow adds trees up to a number of them and returns their sum. The trees do not depend on the steps in which they were grown.
func (b *Boosting) Grow(ctx context.Context, rounds int) (Boosted, error) {
	grower := newBoostGrower(b.booster)
	for len(b.trees) < rounds && ctx.Err() == nil {
		tree := grower.grow(rand.NewPCG(b.seed, boostStream+uint64(len(b.trees))))
		if len(tree.values) < 2 {
			break // nothing is left to gain
		}
		b.trees = append(b.trees, tree)
	}
	if ctx.Err() != nil {
		return Boosted{}, context.Cause(ctx)
	}
	out := Boosted{Intercept: b.intercept}
	if b.joined {
		out.Trees, out.Rounds = curves(b.booster, b.trees)
		return out, nil
	}
	first := 0
	for _, t := range b.trees {
		out.Trees = append(out.Trees, t.Tree)
		out.Rounds = append(out.Rounds, Round{first, t.values})
		first += len(t.values)
	}
	return out, nil
}

const (
	minGain     = 1e-9         // of a split, so that rounding is no gain
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
// Each tree may grow on a sample of its own (stochastic gradient boosting, Friedman 2002): a fraction of the rows and of the
// columns. Of very many rows the sample has all positives up to one half of it, and a row of it stands for others of its class.
//
// g and h are rounded to multiples of 1/unit, so sums are exact in every order. The unit of a tree is as large as 32 bits allow for
// the sums of its rows. Missing values go to the side
// that gains more, and the split of missing values from all others is tried as well. Where a column must only
// raise or lower the score, a split that does the opposite gains nothing, and the values of the leaves on both
// sides stay on their side of the middle between the two.
type booster struct {
	columns  []binned
	bins     rowBins
	signs    []int8 // by column: 1 where the score may only rise with it, -1 where it may only fall; nil: none
	positive []bool
	weights  []float64 // of mean 1; nil: all 1
	shape    Shape
	seed     uint64

	kept   [2]float64 // fractions of the negatives and of the positives among very many rows that grow a tree
	scores []float64
	gh     [][2]float64 // g and h by row, of rows that grow the tree
	of     []cell       // the same, rounded
	offset []int        // by column that the tree asks: its first cell in a histogram

	cells, maxCells int // of a histogram: of the tree's columns, and of all

	ridge, curvature, minGain float64 // those of the shape, in units of the tree
}

// boostedTree is a tree with its values.
type boostedTree struct {
	Tree
	values []float64
}

// prepare sets the scores before the first tree and returns them: the intercept.
func (b *booster) prepare() (intercept float64) {
	n := len(b.positive)
	b.kept = fractionsToGrow(b.positive, b.shape.Most)
	b.gh, b.of = make([][2]float64, n), make([]cell, n)
	b.offset = make([]int, len(b.columns))
	for j := range b.columns {
		b.maxCells += b.columns[j].count() + 1
	}
	p := PositiveFraction(b.positive, b.weights)
	intercept = detmath.Log(p) - detmath.Log(1-p)
	b.scores = slices.Repeat([]float64{intercept}, n)
	return intercept
}

// differentiate computes g and h at the scores of some rows, and rounds them. A drawn row stands for others of its class.
func (b *booster) differentiate(rows []int32) {
	const block = 1 << 12
	sums := make([][2]float64, (len(rows)+block-1)/block) // of |g| and h, by block
	mass := [2]float64{1 / b.kept[0], 1 / b.kept[1]}      // of a row without a weight, by class
	parallel.Blocks(len(rows), block, func(k, first, last int) {
		for _, i := range rows[first:last] {
			score := b.scores[i]
			e := detmath.Exp(-math.Abs(score))
			rate := 1 / (1 + e) // of the likelier class
			other := float64(e * rate)
			// The rate of the class that the row has not, as bits: without branches, which a processor would guess wrong.
			class := uint64(indicator(b.positive[i]))
			unlikely := -(math.Float64bits(score)>>63 ^ class) // all bits where the row has the likelier class
			wrong := math.Float64bits(rate)&^unlikely | math.Float64bits(other)&unlikely
			g := math.Float64frombits(wrong | class<<63)
			h := float64(other * rate)
			m := mass[class]
			if b.weights != nil {
				m = b.weights[i] / b.kept[class]
			}
			b.gh[i] = [2]float64{float64(m * g), float64(m * h)}
			sums[k][0] += math.Abs(b.gh[i][0])
			sums[k][1] += b.gh[i][1]
		}
	})
	unit := b.fixUnit(sums)
	parallel.Blocks(len(rows), block, func(_, first, last int) {
		for _, i := range rows[first:last] {
			g, h := float64(b.gh[i][0]*unit), float64(b.gh[i][1]*unit)
			b.of[i] = packCell(int64(g+math.Copysign(0.5, g)), int64(h+0.5))
		}
	})
}

// fixUnit sets the settings in units of a tree, whose rows have the given sums of |g| and h. It returns the largest power of two with
// which both stay below 2^30. Each row adds half a unit by rounding, so that sums of up to 2^31 rows fit into a cell.
func (b *booster) fixUnit(sums [][2]float64) float64 {
	var total [2]float64
	for _, s := range sums {
		total[0] += s[0]
		total[1] += s[1]
	}
	_, exponent := math.Frexp(max(total[0], total[1], math.Ldexp(1, -minUnitExponent))) // total < 2^exponent
	unit := math.Ldexp(1, 30-exponent)
	b.ridge, b.curvature, b.minGain = float64(b.shape.Ridge*unit), float64(b.shape.Curvature*unit), float64(minGain*unit)
	return unit
}

// minUnitExponent limits the units of trees that have nothing left to gain: their sums are taken as at least 2^-minUnitExponent.
const minUnitExponent = 20
