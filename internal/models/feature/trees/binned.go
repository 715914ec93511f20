package trees

import (
	"math"
	"slices"
	"sync"

	"toptau/internal/core/parallel"
)

// Sizes of histograms.
const (
	valueBins = 254     // bins of values at most: with the one for missing values, a bin is a byte
	allBins   = 1 << 18 // bins of all columns, about: a histogram then takes 2 MB, and a tree keeps one for each open node
	fewBins   = 32      // bins that few rows, or one of many columns, have nevertheless
	rowsOfBin = 16      // rows for each further bin: finer thresholds follow noise; chosen by hand (a change moves results), as fewBins
	binRows   = 1 << 17 // rows whose values place the bins, at equal distances; chosen by hand (a change moves results)
	passCells = 1 << 15 // rows times columns of a pass that is divided among processors; chosen by hand
	minPart   = 1 << 14 // rows of a part of a pass that is divided by rows; chosen by hand

	maxBins      = 256
	blockColumns = 8 // columns whose bins are side by side: their cells, 16 KB, fit into the first cache
)

// binned is a column of training rows in at most 255 bins.
type binned struct {
	edges   []float64 // ascending: bin b holds the values x with edges[b-1] < x <= edges[b]; the last bin has no edge
	missing bool      // some value is missing
}

// rowBins are the bins of rows by block of columns: side by side for the columns of a block, row by row. A missing value has the bin
// after the last.
type rowBins [][]uint8

func newRowBins(columns, rows int) rowBins {
	b := make(rowBins, (columns+blockColumns-1)/blockColumns)
	for i := range b {
		b[i] = make([]uint8, rows*blockColumns)
	}
	return b
}

// of returns the bins of a column, at distances of blockColumns.
func (b rowBins) of(column int) []uint8 { return b[column/blockColumns][column%blockColumns:] }

// at returns the bin of a row.
func (b rowBins) at(column, row int) int { return int(b.of(column)[row*blockColumns]) }

// count returns the number of bins of values.
func (c *binned) count() int { return len(c.edges) + 1 }

// binnedOf divides a column into bins; NaN is a missing value. A column of few values has a bin for each.
// Otherwise the bins hold about equally many rows. Edges are short decimals between two values, so that model
// files stay small. There are at most the given number of bins. Those of the rows are set in bins, at distances of blockColumns.
func binnedOf(x []float64, most int, bins []uint8) binned {
	var c binned
	stride := max(1, len(x)/binRows)
	sample := make([]float64, 0, len(x)/stride+1)
	for i := 0; i < len(x); i += stride {
		if !math.IsNaN(x[i]) {
			sample = append(sample, x[i])
		}
	}
	sortNumbers(sample)
	values := Tally(sample)
	c.edges = edgesOf(values, float64(len(sample)), min(most, max(fewBins, len(sample)/rowsOfBin)))
	c.place(x, bins)
	return c
}

// place sets the bins of the rows.
func (c *binned) place(x []float64, bins []uint8) {
	rankBatches(x, c.edges, func(first int, ranks []uint16) {
		for i, v := range x[first:][:len(ranks)] {
			bin := uint8(ranks[i])
			if math.IsNaN(v) {
				bin, c.missing = uint8(c.count()), true
			}
			bins[(first+i)*blockColumns] = bin
		}
	})
}

// edgesOf returns the edges between at most the given number of bins of sorted values.
func edgesOf(values []ValueMass, total float64, bins int) []float64 {
	var edges []float64
	few := len(values) <= bins
	below, next := 0.0, total/float64(bins)
	for i := 0; i+1 < len(values); i++ {
		below += values[i].Mass
		if !few && below < next {
			continue
		}
		edges = append(edges, roundThreshold(values[i].X, values[i+1].X, .5))
		if len(edges) == bins-1 {
			break
		}
		// The rows that are left are divided equally among the bins that are left.
		next = below + (total-below)/float64(bins-len(edges))
	}
	return edges
}

// binAll bins every column.
func binAll(list []Column, rows int) ([]binned, rowBins) {
	columns, bins := make([]binned, len(list)), newRowBins(len(list), rows)
	most := min(valueBins, max(fewBins, allBins/max(1, len(list))))
	spaces := sync.Pool{New: func() any { return new([]float64) }}
	parallel.For(len(list), func(j int) {
		space := spaces.Get().(*[]float64)
		*space = slices.Grow((*space)[:0], rows)[:rows]
		columns[j] = binnedOf(list[j](*space), most, bins[j/blockColumns][j%blockColumns:])
		spaces.Put(space)
	})
	return columns, bins
}
