package kernel

import (
	"math"
	"unsafe"
)

// Extent returns the least and the greatest of some numbers, infinite ones where there are none. Where one of them is
// NaN, ordered is false and the others mean nothing.
func Extent(x []float64) (low, high float64, ordered bool) {
	low, high = math.Inf(1), math.Inf(-1)
	done, low, high, ordered := vectorExtent(x, low, high)
	for _, v := range x[done:] {
		if v < low {
			low = v
		}
		if v > high {
			high = v
		}
		ordered = ordered && v == v
	}
	return low + 0, high + 0, ordered // -0 is 0
}

// FillPanel writes some rows of columns, at most PanelRows, to the rows of a panel from first on, rounded to its numbers. It
// reports whether all of them are finite.
func FillPanel[T Float](columns [][]float64, rows []int32, panel []T, first int) (finite bool) {
	finite = true
	if len(rows) == 0 {
		return finite
	}
	last := uint32(0) // of the rows
	for _, row := range rows {
		last = max(last, uint32(row))
	}
	for j, x := range columns {
		dst := panel[j*PanelRows+first:][:len(rows)]
		done, inside := vectorPick(x[:int(last)+1], rows, unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Sizeof(*new(T)))
		for i, row := range rows[done:] {
			v := T(x[row])
			dst[done+i] = v
			inside = inside && v-v == 0
		}
		finite = finite && inside
	}
	return finite
}
