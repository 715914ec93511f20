package kernel

import "unsafe"

// Filter writes the scores above t to values and their row numbers, first for z[0], to rows, in order, and returns
// how many there are. values and rows must have room for all of z; what lies behind the ones returned is undefined.
// NaN is above nothing.
func Filter[T Float](z []T, t T, first int32, values []T, rows []int32) int {
	values, rows = values[:len(z)], rows[:len(z)]
	if len(z) == 0 {
		return 0
	}
	blocks := len(z) / PanelRows
	count, known := 0, false
	if blocks > 0 {
		count, known = vectorFilter(unsafe.Pointer(&z[0]), unsafe.Sizeof(t), blocks, float64(t), first,
			unsafe.Pointer(&values[0]), &rows[0])
	}
	done := 0
	if known {
		done = blocks * PanelRows
	}
	return count + filter(z[done:], t, first+int32(done), values[count:], rows[count:])
}

// filter is the plain Go of Filter.
func filter[T Float](z []T, t T, first int32, values []T, rows []int32) int {
	count := 0
	for i, s := range z {
		if s > t {
			values[count], rows[count] = s, first+int32(i)
			count++
		}
	}
	return count
}
