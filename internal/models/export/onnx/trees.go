package onnx

import (
	"math"

	"toptau/internal/models/portable"
)

// forest is TreeEnsemble operators (ai.onnx.ml 5) in which each tree has an output column of its own. The columns are added
// later one by one, so that the order does not depend on threads.
type forest struct {
	parts []*ensemble
	trees int
}

// ensembleTrees is the number of trees of an operator. ONNX Runtime takes a row through all trees before the next row: 300 trees of depth 6 leave
// the second cache, and in five parts they take 0.87 of the time. Ten parts are no faster, and each part costs a single row microseconds.
const ensembleTrees = 64

// ensemble is one operator. Every test is x <= split.
type ensemble struct {
	features, trueIDs, falseIDs, trueLeaf, falseLeaf, missingTrue []int64
	splits                                                        []float64
	targets                                                       []int64 // by leaf
	weights                                                       []float64
	roots                                                         []int64
}

func (f *ensemble) leaf(weight float64) int64 {
	f.targets, f.weights = append(f.targets, int64(len(f.roots))), append(f.weights, weight)
	return int64(len(f.weights) - 1)
}

// test adds an inner node without children.
func (f *ensemble) test(feature int64, split float64, missingTrue bool) int {
	f.features, f.splits = append(f.features, feature), append(f.splits, split)
	f.trueIDs, f.falseIDs = append(f.trueIDs, 0), append(f.falseIDs, 0)
	f.trueLeaf, f.falseLeaf = append(f.trueLeaf, 0), append(f.falseLeaf, 0)
	f.missingTrue = append(f.missingTrue, bit(missingTrue))
	return len(f.splits) - 1
}

// join sets a child of a node.
func (f *ensemble) join(node int, side bool, child int64, isLeaf bool) {
	if side {
		f.trueIDs[node], f.trueLeaf[node] = child, bit(isLeaf)
	} else {
		f.falseIDs[node], f.falseLeaf[node] = child, bit(isLeaf)
	}
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// cells adds a tree that finds the cell of a number, and returns its output column. missing is the weight for NaN.
func (all *forest) cells(feature int64, cells []portable.Cell, weight func(place int) float64, missing float64) int64 {
	f := all.next()
	root := f.test(feature, math.MaxFloat64, false) // NaN is not at most the largest number
	f.join(root, false, f.leaf(missing), true)
	var grow func(cells []portable.Cell) (int64, bool)
	grow = func(cells []portable.Cell) (int64, bool) {
		if len(cells) == 1 {
			return f.leaf(weight(cells[0].Place)), true
		}
		half := len(cells) / 2
		node := f.test(feature, cells[half-1].Upto, false)
		child, isLeaf := grow(cells[:half])
		f.join(node, true, child, isLeaf)
		child, isLeaf = grow(cells[half:])
		f.join(node, false, child, isLeaf)
		return int64(node), false
	}
	child, isLeaf := grow(cells)
	f.join(root, true, child, isLeaf)
	return all.end(root)
}

// tree adds a tree of a model; features has the column of each input.
func (all *forest) tree(t *portable.Tree, features []int64) int64 {
	f := all.next()
	if len(t.Nodes) == 1 { // an operator has no tree without a test
		root := f.test(0, math.MaxFloat64, false)
		f.join(root, true, f.leaf(t.Nodes[0].Term), true)
		f.join(root, false, f.leaf(t.Nodes[0].Term), true)
		return all.end(root)
	}
	var grow func(i int) (int64, bool)
	grow = func(i int) (int64, bool) {
		n := &t.Nodes[i]
		if n.Input < 0 {
			return f.leaf(n.Term), true
		}
		node := f.test(features[n.Input], n.At, n.MissingLeft)
		child, isLeaf := grow(i + 1)
		f.join(node, true, child, isLeaf)
		child, isLeaf = grow(n.Right)
		f.join(node, false, child, isLeaf)
		return int64(node), false
	}
	root, _ := grow(0)
	return all.end(int(root))
}

// next returns the operator of the next tree.
func (all *forest) next() *ensemble {
	if all.trees%ensembleTrees == 0 {
		all.parts = append(all.parts, &ensemble{})
	}
	return all.parts[len(all.parts)-1]
}

func (all *forest) end(root int) int64 {
	f := all.parts[len(all.parts)-1]
	f.roots = append(f.roots, int64(root))
	all.trees++
	return int64(all.trees - 1)
}

// add adds the operators to the graph and returns their output, one column a tree.
func (all *forest) add(g *graph, input string) string {
	var columns []string
	for _, f := range all.parts {
		columns = append(columns, f.add(g, input))
	}
	return g.columns(columns)
}

// add adds the operator to the graph and returns its output, one column a tree.
func (f *ensemble) add(g *graph, input string) string {
	n, leaves := int64(len(f.splits)), int64(len(f.weights))
	return g.ml("TreeEnsemble", input,
		attribute("aggregate_function", 1), // sum; each target has one tree
		attribute("leaf_targetids", f.targets),
		attribute("leaf_weights", tensor("", []int64{leaves}, f.weights)),
		attribute("n_targets", len(f.roots)),
		attribute("nodes_falseleafs", f.falseLeaf),
		attribute("nodes_falsenodeids", f.falseIDs),
		attribute("nodes_featureids", f.features),
		attribute("nodes_missing_value_tracks_true", f.missingTrue),
		attribute("nodes_modes", tensor("", []int64{n}, make([]uint8, n))), // 0 is x <= split
		attribute("nodes_splits", tensor("", []int64{n}, f.splits)),
		attribute("nodes_trueleafs", f.trueLeaf),
		attribute("nodes_truenodeids", f.trueIDs),
		attribute("post_transform", 0),
		attribute("tree_roots", f.roots))
}
