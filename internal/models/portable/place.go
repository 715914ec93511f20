package portable

import (
	"math"
	"slices"
)

// Place returns the place of a number that is not missing; see Card.
func (c *Card) Place(x float64) int {
	x = min(max(x, c.Low), c.High)
	if j, found := slices.BinarySearch(c.Atoms, x); found {
		return len(c.Knots) + j
	}
	i, found := slices.BinarySearch(c.Knots, x)
	if !found {
		i--
	}
	return max(i, 0)
}

// Cell is the numbers above the last cell, up to Upto, that have the same place or term.
type Cell struct {
	Upto  float64 // of the last cell math.MaxFloat64
	Place int
}

// Cells divides all finite numbers into cells of equal places, in ascending order.
func (c *Card) Cells() []Cell {
	ends := make([]float64, 0, 2*(len(c.Knots)+len(c.Atoms))+1)
	for _, list := range [][]float64{c.Knots, c.Atoms} {
		for _, x := range list {
			ends = append(ends, before(x), x)
		}
	}
	return cells(ends, c.Place)
}

// Cells divides all finite numbers into the steps, whose places are positions in Terms.
func (t *Steps) Cells() []Cell {
	ends := make([]float64, 0, len(t.Cuts)+1)
	for _, cut := range t.Cuts {
		ends = append(ends, before(cut))
	}
	return cells(ends, t.Place)
}

// Place returns the position in Terms for a number that is not missing.
func (t *Steps) Place(x float64) int {
	i, found := slices.BinarySearch(t.Cuts, x)
	if found {
		i++
	}
	return i
}

func before(x float64) float64 { return math.Nextafter(x, math.Inf(-1)) }

func cells(ends []float64, place func(float64) int) (list []Cell) {
	ends = append(ends, math.MaxFloat64)
	slices.Sort(ends)
	for _, end := range slices.Compact(ends) {
		cell := Cell{Upto: end, Place: place(end)}
		if last := len(list) - 1; last >= 0 && list[last].Place == cell.Place {
			list[last].Upto = end
			continue
		}
		list = append(list, cell)
	}
	return list
}
