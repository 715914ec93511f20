package trees

import (
	"math"
	"slices"
	"sort"
)

// curves joins the trees of an additive sum, which ask one question each, to one tree for each column. Its
// leaves are the intervals between the column's thresholds, and the missing values. So the model is one step
// function per column, and each round adds to one of them.
func curves(b *booster, trees []boostedTree) ([]Tree, []Round) {
	columns := b.columns
	splits := make([][]int, len(columns)) // by column: the last bins of the left sides
	for i := range trees {
		column, bin := stump(columns, &trees[i])
		if bin < columns[column].count()-1 {
			splits[column] = append(splits[column], bin)
		}
	}
	used := make([]bool, len(columns))
	for i := range trees {
		used[trees[i].Ask[0]] = true
	}
	var list []Tree
	first, next := make([]int, len(columns)), 0
	for j := range columns {
		if !used[j] {
			continue
		}
		slices.Sort(splits[j])
		splits[j] = slices.Compact(splits[j])
		tree := b.curve(j, splits[j])
		list = append(list, tree)
		first[j], next = next, next+len(tree.Mass)
	}
	rounds := make([]Round, len(trees))
	for i := range trees {
		t := &trees[i]
		column, bin := stump(columns, t)
		intervals := len(splits[column]) + 1
		r := Round{First: first[column]}
		for k := range intervals {
			side := 1
			if k == intervals-1 && bin == columns[column].count()-1 || k < intervals-1 && splits[column][k] <= bin {
				side = 0
			}
			r.Values = append(r.Values, t.values[side])
		}
		if columns[column].missing {
			side := 1
			if len(t.MissingLeft) > 0 {
				side = 0
			}
			r.Values = append(r.Values, t.values[side])
		}
		rounds[i] = r
	}
	return list, rounds
}

// stump returns the column of a tree with one question and the last bin of its left side.
func stump(columns []binned, t *boostedTree) (column, bin int) {
	column = t.Ask[0]
	return column, sort.SearchFloat64s(columns[column].edges, t.At[0])
}

// curve returns the tree of a column: balanced over its intervals, with the missing values on the right of the
// first question if training has some.
func (b *booster) curve(column int, splits []int) Tree {
	c, tree := &b.columns[column], Tree{At: []float64{}}
	masses := make([]float64, len(splits)+1)
	missing := 0.0
	for row := range b.positive {
		if bin := b.bins.at(column, row); bin == c.count() {
			missing += WeightAt(b.weights, row)
		} else {
			masses[sort.SearchInts(splits, bin)] += WeightAt(b.weights, row)
		}
	}
	if c.missing {
		tree.Ask, tree.At = append(tree.Ask, column), append(tree.At, math.MaxFloat64)
	}
	var add func(low, high int)
	add = func(low, high int) { // intervals
		if low == high {
			tree.Ask, tree.Mass = append(tree.Ask, -1), append(tree.Mass, masses[low])
			return
		}
		middle := (low + high) / 2
		tree.Ask, tree.At = append(tree.Ask, column), append(tree.At, c.edges[splits[middle]])
		add(low, middle)
		add(middle+1, high)
	}
	add(0, len(splits))
	if c.missing {
		tree.Ask, tree.Mass = append(tree.Ask, -1), append(tree.Mass, missing)
	}
	return tree
}
