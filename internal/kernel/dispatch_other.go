//go:build !amd64 || purego

package kernel

import (
	"math"
	"unsafe"
)

// Nothing but plain Go here: each kernel's vector form declines.

const best = levelGo

var using = best

func levels() []level { return []level{levelGo} }

func vectorScores(unsafe.Pointer, uintptr, *float64, *float64, int, int, bool) bool { return false }

func vectorAccumulate(unsafe.Pointer, uintptr, *float64, *float64, int, int) bool { return false }

func vectorOverlap(_, _ unsafe.Pointer, _ uintptr, _, _, _, _ []float64, _ bool) bool { return false }

func vectorReduceLanes(_, _ []float64) int { return 0 }

func vectorTile(_, _, _ []float32, _, _, _ int, _ bool) bool { return false }

func vectorTileGradient(_, _, _ []float32, _ *[gradientPanels][2]int, _, _, _, _, _ int) bool {
	return false
}

func vectorTileRow([]float32, float32, []float32, int, int) bool { return false }

func vectorActive([]float32) (found, known bool) { return false, false }

func vectorReduceTile([]float32, []float64) int { return 0 }

func vectorFilterTile(_ []float32, _ []TileFilter, _ int, _ int32) bool { return false }

func vectorHighest([]float64) (done int, top float64) { return 0, math.Inf(-1) }

func vectorCount([]float64, float64) (done, above, equal int) { return 0, 0, 0 }

func vectorBetween(_ []float64, _, _ float64, _ []float64) (done, inside, atLeast int) {
	return 0, 0, 0
}

func vectorSumAbove([]float64, float64, float64, *[2 * selectRows]float64) (done, count int) {
	return 0, 0
}

func vectorRowsAbove([]float64, float64, float64, int32, []int32) (done, count int) { return 0, 0 }

func vectorHinge(Hinge, []float32, int, int, *[TileLanes]float64) (count int, known bool) {
	return 0, false
}

func vectorCodes(unsafe.Pointer, uintptr, *float32, *float64, *int32, *float64, int, int, bool) bool {
	return false
}

func vectorAddCodes(unsafe.Pointer, uintptr, *float32, *float64, *int32, *float64, int) bool {
	return false
}

func vectorJoin([]float64, []float32, int, int) bool { return false }

func vectorSumEntries([]uint16, []float32, []float64, int, int) bool { return false }

func vectorEntries(_ []uint16, _, _ []float32, _, _ int) bool { return false }

func vectorRead([]float32) (done int, sum float32) { return 0, 0 }

func vectorMultiplyAdds(int) int { return 0 }

func vectorScoreTurns([]scoreTurn, uintptr, []float64, bool) {}

func vectorGradientTurns([]gradientTurn, uintptr, int) {}

func vectorOctets([]float64) (mask uint, known bool) { return 0, false }

func vectorDecimals([]byte, int, int, [2]byte, []float64, int, int) (read, next int, known bool) {
	return 0, 0, false
}

func vectorStandardise([]float64, []float64, float64, float64) (done int, inside bool) {
	return 0, true
}

func vectorExtent(_ []float64, low, high float64) (done int, least, greatest float64, ordered bool) {
	return 0, low, high, true
}

func vectorPick([]float64, []int32, unsafe.Pointer, uintptr) (done int, finite bool) { return 0, true }

func vectorMoments(*Moments, *[MomentColumns][]float64, bool) (done int) { return 0 }

func vectorQuotients([]byte, int, float64, []float64) (done int) { return 0 }

func vectorWiden([]byte, []float64) (done int) { return 0 }

func vectorWholeNumbers([]float64, float64, []int32) (done int, largest int32, ok bool) {
	return 0, 0, true
}

func vectorNarrow([]int32, int, []byte) (done int) { return 0 }
