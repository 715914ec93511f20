package trees

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The leaves that a Walk finds are those of Tree.Leaf, for any number of trees, with missing values on both sides and trees of one leaf.
func TestWalk(t *testing.T) {
	const inputs = 5
	r := rand.New(rand.NewPCG(1, 1))
	for count := range 2*walkTrees + 2 {
		var list []Tree
		var first []int
		leaves := 0
		for range count {
			tree := randomTree(r, inputs, 1+r.IntN(40))
			if err := tree.Prepare([]int{0, 1, 2, 3, 4}); err != nil {
				t.Fatal(err)
			}
			list, first = append(list, tree), append(first, leaves)
			leaves += tree.Leaves()
		}
		w := NewWalk(list, inputs)
		x, numbers := []float64(nil), make([]float64, inputs)
		for range 50 {
			for k := range numbers {
				numbers[k] = float64(r.IntN(21) - 10)
				switch r.IntN(8) {
				case 0:
					numbers[k] = math.NaN()
				case 1:
					numbers[k] = math.MaxFloat64
				}
			}
			x = w.Row(numbers, x[:0])
			found := w.Leaves(x, 7, nil)
			for i := range list {
				if want := uint32(7 + first[i] + list[i].Leaf(numbers)); found[i] != want {
					t.Fatalf("%d trees, tree %d, row %v: leaf %d instead of %d", count, i, numbers, found[i], want)
				}
			}
		}
	}
}

// randomTree returns a tree of any form.
func randomTree(r *rand.Rand, inputs, leaves int) Tree {
	var tree Tree
	var grow func(leaves int)
	grow = func(leaves int) {
		if leaves == 1 {
			tree.Ask, tree.Mass = append(tree.Ask, -1), append(tree.Mass, 1)
			return
		}
		if r.IntN(3) == 0 {
			tree.MissingLeft = append(tree.MissingLeft, len(tree.At))
		}
		tree.Ask, tree.At = append(tree.Ask, r.IntN(inputs)), append(tree.At, float64(r.IntN(19)-9))
		left := 1 + r.IntN(leaves-1)
		grow(left)
		grow(leaves - left)
	}
	grow(leaves)
	return tree
}
