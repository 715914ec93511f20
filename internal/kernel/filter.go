package kernel

import "unsafe"

// Filter writes the scores above t to values and their row numbers, first for z[0], to rows, in order, and returns
// how many there are. values and rows must have room for all of z; what lies behind the ones returned is undefined.
// NaN is above nothing.
func Filter[T Float](z []T, t T, first int32, values []T, rows []int32) int {
	whole := len(z) / PanelRows
	count := FilterPanels(z, PanelRows, whole, t, first, values, rows)
	done := whole * PanelRows
	return count + filter(z[done:], t, first+int32(done), values[count:], rows[count:])
}

// FilterPanels is Filter for the scores of consecutive panels that lie stride apart; row numbers go on from panel to panel.
func FilterPanels[T Float](z []T, stride, panels int, t T, first int32, values []T, rows []int32) int {
	if panels == 0 {
		return 0
	}
	z, values, rows = z[:(panels-1)*stride+PanelRows], values[:panels*PanelRows], rows[:panels*PanelRows]
	count, known := vectorFilter(unsafe.Pointer(&z[0]), unsafe.Sizeof(t), stride, panels, float64(t), first,
		unsafe.Pointer(&values[0]), &rows[0])
	for p := 0; !known && p < panels; p++ {
		count += filter(z[p*stride:][:PanelRows], t, first+int32(p*PanelRows), values[count:], rows[count:])
	}
	return count
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
