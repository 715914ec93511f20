package feature

import (
	"iter"

	"toptau/internal/core/matrix"
	"toptau/internal/models/feature/trees"
)

// layout is where the weights of a list of blocks are.
type layout struct {
	blocks blocks
	runs   []run // by position
	cols   int   // number of weights
	dense  int   // number of dense values in a row
}

// run is the weights of a block: first <= col < end.
type run struct {
	dense      bool
	first, end int
}

// Cols returns the number of weights.
func (l *layout) Cols() int { return l.cols }

// Layout describes the blocks for package matrix.
func (l *layout) Layout() matrix.Layout {
	layout := make(matrix.Layout, len(l.blocks))
	for i, b := range l.blocks {
		layout[i] = b.Spec()
	}
	return layout
}

// Columns returns the weights of block i: first <= column < end.
func (l *layout) Columns(i int) (first, end int) { return l.runs[i].first, l.runs[i].end }

// values yields every value of an encoded row in the order of the weights, rounded to float32 as a matrix
// stores it. Zeros of sparse and coded blocks are left out: they change no sum.
func (l *layout) values(e *Encoded) iter.Seq2[int, float64] {
	return func(yield func(col int, x float64) bool) {
		dense, sparse := 0, 0
		for _, run := range l.runs {
			if run.dense {
				for col := run.first; col < run.end; col++ {
					if !yield(col, float64(float32(e.Dense[dense]))) {
						return
					}
					dense++
				}
				continue
			}
			for ; sparse < len(e.Cols) && int(e.Cols[sparse]) < run.end; sparse++ {
				if !yield(int(e.Cols[sparse]), float64(float32(e.Values[sparse]))) {
					return
				}
			}
		}
	}
}

// dot returns x'w of an encoded row: the sum over values, without a call for each.
func (l *layout) dot(e *Encoded, w []float64) float64 {
	z, dense, cols, values := 0.0, e.Dense, e.Cols, e.Values
	for _, run := range l.runs {
		if run.dense {
			for i, x := range dense[:run.end-run.first] {
				z += float64(float64(float32(x)) * w[run.first+i])
			}
			dense = dense[run.end-run.first:]
			continue
		}
		n := 0
		for ; n < len(cols) && int(cols[n]) < run.end; n++ {
			z += float64(float64(float32(values[n])) * w[cols[n]])
		}
		cols, values = cols[n:], values[n:]
	}
	return z
}

// weightedTree is a tree of a block with the weights of its leaves.
type weightedTree struct {
	block   *LeavesBlock
	tree    *trees.Tree
	weights []float64
}

// trees yields the trees of all blocks in the order of their weights.
func (l *layout) trees(weights []float64) iter.Seq[weightedTree] {
	return func(yield func(weightedTree) bool) {
		for i, b := range l.blocks {
			block, ok := b.(*LeavesBlock)
			if !ok {
				continue
			}
			w := weights[l.runs[i].first:l.runs[i].end]
			for k := range block.Trees {
				tree := &block.Trees[k]
				if !yield(weightedTree{block, tree, w[:tree.Leaves()]}) {
					return
				}
				w = w[tree.Leaves():]
			}
		}
	}
}

// Trees returns the number of trees and of their leaves.
func (l *layout) Trees() (trees, leaves int) {
	for _, b := range l.blocks {
		if b, ok := b.(*LeavesBlock); ok {
			trees += len(b.Trees)
			for i := range b.Trees {
				leaves += b.Trees[i].Leaves()
			}
		}
	}
	return trees, leaves
}

// sparseBlock returns the block of raw indices, nil if there is none.
func (l *layout) sparseBlock() *SparseBlock {
	for _, b := range l.blocks {
		if b, ok := b.(*SparseBlock); ok {
			return b
		}
	}
	return nil
}
