package linalg

import "slices"

// Shift is a vector that is subtracted from every row of a problem. Subtracting one vector from all rows
// changes every score and the threshold by the same number, so the objective stays the same. Centred rows
// have a better conditioned Gram matrix.
//
// Rows are stored sparse where that pays. A sparse row holds its differences from each column's most common
// value. Standardised one-hot columns are dense as numbers, but sparse in this sense.
type Shift struct {
	Centre []float64 // subtracted from every row: products see x - Centre
	Common []float64 // the most common value of each column; sparse rows store differences from it
	Sparse bool
	Work   float64 // multiplications per row of a Gram matrix, about
	Visits float64 // rows read by products so far
}

const (
	// sparseBelow is the fraction of values that differ from the most common one below which rows are stored
	// sparse. A product in a sparse Gram matrix costs a few times as much as a dense one, but their number
	// falls with the square of the fraction. Chosen by hand; it decides only the speed.
	sparseBelow = .35

	// The fraction is estimated from a sample: at most about sampleValues values, from minSample to
	// maxSample rows.
	sampleValues         = 200_000
	minSample, maxSample = 100, 800
)

// NewShift returns a shift by the origin of d columns, for dense rows.
func NewShift(d int) *Shift {
	return &Shift{Centre: make([]float64, d), Common: make([]float64, d), Work: float64(d) * float64(d)}
}

// ChooseShift returns a shift by centre. It decides from a sample of n rows whether rows are stored sparse;
// features(i, dst) writes row i.
func ChooseShift(centre []float64, n int, features func(i int, dst []float64)) *Shift {
	d := len(centre)
	f := NewShift(d)
	f.Centre = centre
	if n == 0 {
		return f
	}
	most := max(minSample, min(maxSample, sampleValues/max(d, 1)))
	stride := (n + most - 1) / most
	columns := make([][]float64, d)
	row := make([]float64, d)
	count := 0
	for i := 0; i < n; i += stride {
		features(i, row)
		count++
		for j, v := range row {
			columns[j] = append(columns[j], v)
		}
	}
	var different int
	for j, values := range columns {
		common, times := commonest(values)
		f.Common[j] = common
		different += count - times
	}
	f.Sparse = float64(different) < sparseBelow*float64(count)*float64(d)
	if f.Sparse {
		perRow := float64(different) / float64(count)
		f.Work = float64(3*perRow*perRow) + perRow // a sparse product costs about three dense ones
	}
	return f
}

// commonest sorts the values and returns the most common one, the smallest of several.
func commonest(values []float64) (common float64, times int) {
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
