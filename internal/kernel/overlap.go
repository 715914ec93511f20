package kernel

import "unsafe"

// Overlap computes the scores of one panel, like ScorePanels, and adds another panel's part of X'v to lanes, like
// Accumulate, with their bits. A pass whose rows are active scores a panel while it adds the one before, which is still in
// cache: so memory and arithmetic are busy at the same time, and both steps take little longer than one. Where few of the
// coefficients are not zero, the two functions alone are faster.
func Overlap[T Float](panel []T, w, z []float64, add bool, last []T, v, lanes []float64) {
	d := len(w)
	panel, z, last, v, lanes = panel[:PanelRows*d], z[:PanelRows], last[:PanelRows*d], v[:PanelRows], lanes[:Lanes*d]
	if d > 0 && vectorOverlap(unsafe.Pointer(&panel[0]), unsafe.Pointer(&last[0]), unsafe.Sizeof(panel[0]), w, z, v, lanes, add) {
		return
	}
	scoreTogether(panel, w, z, add)
	accumulateTogether(last, v, lanes)
}

// overlapAhead is how many bytes a panel is prefetched before it is scored. The processor's own prefetching stops at the end
// of each 4 KB, and there is no time to wait while two panels are computed with. Panels shorter than a page are short enough
// for it.
func overlapAhead(d int, size uintptr) int {
	const page, ahead = 4096, 12 << 10
	if d*PanelRows*int(size) < page {
		return 0
	}
	return ahead
}
