package certified

import (
	"slices"
)

// sparseBelow is the share of values that differ from their column's most common one below which rows are stored sparse:
// a sparse Gram matrix costs a few times more per product, and the number of products is the square of the share.
const sparseBelow = .35

// chooseFrame measures rows from the centre, and finds out from a sample whether differences from the most common values
// are sparse. Standardised one-hot columns are dense as numbers and sparse in this sense.
func chooseFrame(centre []float64, sample []Row) *frame {
	d := len(centre)
	f := &frame{centre: centre, common: make([]float64, d), work: float64(d) * float64(d)}
	if len(sample) == 0 {
		return f
	}
	most := max(100, min(800, 200_000/max(d, 1)))
	stride := (len(sample) + most - 1) / most
	var columns [][]float64
	for range d {
		columns = append(columns, nil)
	}
	row := make([]float64, d)
	count := 0
	for i := 0; i < len(sample); i += stride {
		sample[i].Features(row)
		count++
		for j, v := range row {
			columns[j] = append(columns[j], v)
		}
	}
	var different int
	for j, values := range columns {
		common, times := mostCommon(values)
		f.common[j] = common
		different += count - times
	}
	f.sparse = float64(different) < sparseBelow*float64(count)*float64(d)
	f.work = float64(d) * float64(d)
	if f.sparse {
		share := float64(different) / float64(count)
		f.work = float64(3*share*share) + share
	}
	return f
}

// mostCommon sorts the values and returns the most common one, the smallest of several.
func mostCommon(values []float64) (common float64, times int) {
	slices.Sort(values)
	for i := 0; i < len(values); {
		k := i
		for k < len(values) && values[k] == values[i] {
			k++
		}
		if k-i > times {
			common, times = values[i], k-i
		}
		i = k
	}
	return common, times
}
