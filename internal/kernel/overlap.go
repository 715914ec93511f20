package kernel

import "unsafe"

// Overlap computes the scores of one panel, like ScorePanels, and adds another panel's part of X'v to lanes, like
// Accumulate, with their bits. A pass whose rows are active scores a panel while it adds the one before, which is still in
// cache: so memory and arithmetic are busy at the same time, and both steps take little longer than one. Where few of the
// coefficients are not zero, the two functions alone are faster.
func Overlap[T Float](panel []T, w, z []float64, add bool, last []T, v, lanes []float64) {
	d := len(w)
	panel, z, last, v, lanes = panel[:PanelRows*d], z[:PanelRows], last[:PanelRows*d], v[:PanelRows], lanes[:Lanes*d]
	if d == 0 || !uses(overlapFamily) {
		scoreTogether(panel, w, z, add)
		accumulateTogether(last, v, lanes)
		return
	}
	size := int(unsafe.Sizeof(panel[0]))
	ahead, lastAhead := overlapAhead(d * PanelRows * size)
	x, y := unsafe.Pointer(&panel[0]), unsafe.Pointer(&last[0])
	if size == 4 {
		asmOverlapFloat32((*float32)(x), &w[0], &z[0], (*float32)(y), &v[0], &lanes[0], d, flagOf(add), ahead, lastAhead)
	} else {
		asmOverlapFloat64((*float64)(x), &w[0], &z[0], (*float64)(y), &v[0], &lanes[0], d, flagOf(add), ahead, lastAhead)
	}
}

// fetchAhead is how many bytes data is fetched into the second cache before it is computed with, where there is so much to
// compute that the processor's own prefetching, which stops at the end of each page of 4 KB, would be waited for. A page
// ahead is too late.
const fetchAhead = 12 << 10

// overlapAhead is how far ahead the panel that is scored, and the one that is added, are fetched: a panel shorter than a page
// is short enough for the processor's own means, and only one that does not stay in the second cache is fetched again.
func overlapAhead(bytes int) (ahead, lastAhead int) {
	const page, stays = 4 << 10, 512 << 10
	if bytes >= page {
		ahead = fetchAhead
	}
	if bytes > stays {
		lastAhead = fetchAhead
	}
	return ahead, lastAhead
}
