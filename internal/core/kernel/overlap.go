package kernel

import "unsafe"

// Overlap computes the scores of one panel, like ScorePanels, and adds another panel's part of X'v to lanes, like
// Accumulate, with their bits. A pass whose rows are active scores a panel while it adds the one before, which is still in
// cache, so that memory and arithmetic are busy at the same time and both steps take little longer than one. Where few of the
// coefficients are nonzero, the two functions alone are faster.
func Overlap[T Float](panel []T, w, z []float64, add bool, last []T, v, lanes []float64) {
	d := len(w)
	panel, z, last, v, lanes = panel[:PanelRows*d], z[:PanelRows], last[:PanelRows*d], v[:PanelRows], lanes[:Lanes*d]
	if d == 0 || !uses(overlapFamily) {
		scoreInOrder(panel, w, z, add)
		accumulateInOrder(last, v, lanes)
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

// fetchAhead is the distance in bytes at which data is fetched into the second cache. It is needed where arithmetic takes so
// long that the processor's own prefetching, which stops at the end of each page of 4 KB, comes too late. A page ahead is too
// late as well: measured, a pass takes 1.6 times X w with 1 to 4 KB and 1.2 to 1.3 times from 8 KB on (bench/tried.md).
const fetchAhead = 12 << 10

// overlapAhead returns the distances at which the panel that is scored and the panel that is added are fetched. The processor's
// own prefetching handles panels shorter than a page, and only panels that do not stay in the second cache are fetched again.
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
