//go:build !purego

package kernel

import (
	"math"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// best is the widest implementation that this processor runs.
var best = detect()

// using is the implementation chosen; tests set it to each of levels in turn.
var using = best

// levels lists the implementations that this processor runs.
func levels() []level {
	all := []level{levelGo, levelAVX2, levelAVX512Half, levelAVX512}
	switch {
	case hasAVX512():
		return all
	case hasAVX2():
		return all[:2]
	}
	return all[:1]
}

func detect() level {
	switch {
	case hasAVX512() && splitsVectors():
		return levelAVX512Half
	case hasAVX512():
		return levelAVX512
	case hasAVX2():
		return levelAVX2
	}
	return levelGo
}

func hasAVX2() bool {
	return cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasPOPCNT && cpu.X86.HasBMI1 && cpu.X86.HasBMI2
}

func hasAVX512() bool {
	x := &cpu.X86
	return hasAVX2() && x.HasAVX512F && x.HasAVX512VL && x.HasAVX512BW && x.HasAVX512DQ
}

// splitsVectors reports whether the processor executes 512-bit instructions in two halves: AMD's family 19h (Zen 4).
func splitsVectors() bool {
	const authenticAMD = 0x68747541 // the first four letters
	_, vendor, _, _ := cpuid(0)
	version, _, _, _ := cpuid(1)
	return vendor == authenticAMD && version>>8&0xf+version>>20&0xff == 0x19
}

// flagOf passes a bool to assembly.
func flagOf(b bool) int {
	if b {
		return 1
	}
	return 0
}

func vectorScores(x unsafe.Pointer, size uintptr, w, z *float64, d, panels int, add bool) bool {
	if using == levelGo {
		return false
	}
	flag := flagOf(add)
	single, double := (*float32)(x), (*float64)(x)
	switch {
	case size == 4 && using == levelAVX512:
		scoresFloat32AVX512(single, w, z, d, panels, flag)
	case size == 4 && using == levelAVX512Half:
		scoresFloat32AVX512Half(single, w, z, d, panels, flag)
	case size == 4:
		scoresFloat32AVX2(single, w, z, d, panels, flag)
	case using == levelAVX512:
		scoresFloat64AVX512(double, w, z, d, panels, flag)
	case using == levelAVX512Half:
		scoresFloat64AVX512Half(double, w, z, d, panels, flag)
	default:
		scoresFloat64AVX2(double, w, z, d, panels, flag)
	}
	return true
}

func vectorAccumulate(x unsafe.Pointer, size uintptr, v, lanes *float64, d, panels int) bool {
	if using == levelGo {
		return false
	}
	single, double := (*float32)(x), (*float64)(x)
	switch {
	case size == 4 && using == levelAVX512:
		accumulateFloat32AVX512(single, v, lanes, d, panels)
	case size == 4 && using == levelAVX512Half:
		accumulateFloat32AVX512Half(single, v, lanes, d, panels)
	case size == 4:
		accumulateFloat32AVX2(single, v, lanes, d, panels)
	case using == levelAVX512:
		accumulateFloat64AVX512(double, v, lanes, d, panels)
	case using == levelAVX512Half:
		accumulateFloat64AVX512Half(double, v, lanes, d, panels)
	default:
		accumulateFloat64AVX2(double, v, lanes, d, panels)
	}
	return true
}

// vectorScoreTurns is for levels above plain Go only.
func vectorScoreTurns(turns []scoreTurn, size uintptr, w []float64, add bool) {
	flag := flagOf(add)
	t, n, d := (*uintptr)(unsafe.Pointer(&turns[0])), len(turns), len(w)
	turn := turnFeatures(d, size)
	switch {
	case size == 4 && using == levelAVX512:
		scoreTurnsFloat32AVX512(t, n, &w[0], d, turn, flag)
	case size == 4 && using == levelAVX512Half:
		scoreTurnsFloat32AVX512Half(t, n, &w[0], d, turn, flag)
	case size == 4:
		scoreTurnsFloat32AVX2(t, n, &w[0], d, turn, flag)
	case using == levelAVX512:
		scoreTurnsFloat64AVX512(t, n, &w[0], d, turn, flag)
	case using == levelAVX512Half:
		scoreTurnsFloat64AVX512Half(t, n, &w[0], d, turn, flag)
	default:
		scoreTurnsFloat64AVX2(t, n, &w[0], d, turn, flag)
	}
}

// vectorGradientTurns is for levels above plain Go only.
func vectorGradientTurns(turns []gradientTurn, size uintptr, d int) {
	t, n := (*uintptr)(unsafe.Pointer(&turns[0])), len(turns)
	turn := turnFeatures(d, size)
	switch {
	case size == 4 && using == levelAVX512:
		accumulateTurnsFloat32AVX512(t, n, d, turn)
	case size == 4 && using == levelAVX512Half:
		accumulateTurnsFloat32AVX512Half(t, n, d, turn)
	case size == 4:
		accumulateTurnsFloat32AVX2(t, n, d, turn)
	case using == levelAVX512:
		accumulateTurnsFloat64AVX512(t, n, d, turn)
	case using == levelAVX512Half:
		accumulateTurnsFloat64AVX512Half(t, n, d, turn)
	default:
		accumulateTurnsFloat64AVX2(t, n, d, turn)
	}
}

// vectorOverlap is for 32 registers only.
func vectorOverlap(x, last unsafe.Pointer, size uintptr, w, z, v, lanes []float64, add bool) bool {
	flag := flagOf(add)
	d := len(w)
	ahead, lastAhead := overlapAhead(d * PanelRows * int(size))
	switch {
	case using < levelAVX512Half:
		return false
	case size == 4 && using == levelAVX512:
		overlapFloat32AVX512((*float32)(x), &w[0], &z[0], (*float32)(last), &v[0], &lanes[0], d, flag, ahead, lastAhead)
	case size == 4:
		overlapFloat32AVX512Half((*float32)(x), &w[0], &z[0], (*float32)(last), &v[0], &lanes[0], d, flag, ahead, lastAhead)
	case using == levelAVX512:
		overlapFloat64AVX512((*float64)(x), &w[0], &z[0], (*float64)(last), &v[0], &lanes[0], d, flag, ahead, lastAhead)
	default:
		overlapFloat64AVX512Half((*float64)(x), &w[0], &z[0], (*float64)(last), &v[0], &lanes[0], d, flag, ahead, lastAhead)
	}
	return true
}

// vectorOctets returns a bit for each eight of a panel's coefficients that are not all zero.
func vectorOctets(v []float64) (mask uint, known bool) {
	if using == levelGo {
		return 0, false
	}
	return uint(octetsAVX2(&v[0])), true
}

// vectorReduceLanes returns the number of features done.
func vectorReduceLanes(lanes, g []float64) int {
	fours := len(g) / 4
	if using == levelGo || fours == 0 {
		return 0
	}
	reduceLanesAVX2(&lanes[0], &g[0], fours)
	return 4 * fours
}

// vectorReduceTile returns the number of sums done.
func vectorReduceTile(lanes []float32, g []float64) int {
	fours := len(g) / 4
	if using == levelGo || fours == 0 {
		return 0
	}
	reduceTileAVX2(&lanes[0], &g[0], fours)
	return 4 * fours
}

// vectorTile prefetches what lies behind the block: later features, or the next panels. A block is worked on for less time
// than memory takes to answer where it has few features or models, so it is not the next one that is asked for.
func vectorTile(x, w, z []float32, d, models, panels int, add bool) bool {
	flag := flagOf(add)
	switch {
	case using >= levelAVX512Half:
		tileAVX512(&x[0], &w[0], &z[0], d, models, flag, fetchAhead, panels)
	case using == levelAVX2:
		tileAVX2(&x[0], &w[0], &z[0], d, models, flag, fetchAhead, panels)
	default:
		return false
	}
	return true
}

func vectorTileGradient(x, v, lanes []float32, o *[gradientPanels][2]int, features, panels, models, width, ahead int) bool {
	stride := 4 * TileLanes * models
	switch {
	case using == levelGo:
		return false
	case using >= levelAVX512Half && width == TileModels:
		tileGradient4AVX512(&x[0], &v[0], &lanes[0], &o[0], features, panels, stride, ahead)
	case using >= levelAVX512Half:
		tileGradient1AVX512(&x[0], &v[0], &lanes[0], &o[0], features, panels, stride, ahead)
	case width == TileModels:
		tileGradient4AVX2(&x[0], &v[0], &lanes[0], &o[0], features, panels, stride, ahead)
	default:
		tileGradient1AVX2(&x[0], &v[0], &lanes[0], &o[0], features, panels, stride, ahead)
	}
	return true
}

func vectorTileRow(x []float32, v float32, lanes []float32, d, models int) bool {
	if using == levelGo {
		return false
	}
	tileRowAVX2(&x[0], v, &lanes[0], d, 4*TileLanes*models)
	return true
}

func vectorActive(v []float32) (found, known bool) {
	if using == levelGo {
		return false, false
	}
	return activeAVX2(&v[0], len(v)) != 0, true
}

func vectorFilterTile(z []float32, filters []TileFilter, panels int, first int32) bool {
	f := (*uintptr)(unsafe.Pointer(&filters[0]))
	switch {
	case using == levelGo:
		return false
	case using >= levelAVX512Half:
		filterTileAVX512(&z[0], f, len(filters), panels, first)
	default:
		filterTileAVX2(&z[0], f, len(filters), panels, first)
	}
	return true
}

// The vector forms of selection return the number of scores done: whole blocks.

func vectorHighest(z []float64) (done int, top float64) {
	top, blocks := math.Inf(-1), len(z)/selectRows
	if using == levelGo || blocks == 0 {
		return 0, top
	}
	var lanes [4]float64
	if highestAVX2(&z[0], blocks, &lanes[0]) != 0 {
		top = math.NaN()
	}
	for _, x := range lanes {
		top = max(top, x)
	}
	return blocks * selectRows, top
}

func vectorCount(z []float64, t float64) (done, above, equal int) {
	blocks := len(z) / selectRows
	if using == levelGo || blocks == 0 {
		return 0, 0, 0
	}
	var counts [8]int64
	countScoresAVX2(&z[0], blocks, t, &counts[0])
	for i := range 4 {
		above += int(counts[i])
		equal += int(counts[4+i])
	}
	return blocks * selectRows, above, equal
}

func vectorBetween(z []float64, low, high float64, values []float64) (done, inside, atLeast int) {
	blocks := len(z) / selectRows
	if using == levelGo || blocks == 0 {
		return 0, 0, 0
	}
	var counts [8]int64
	if using >= levelAVX512Half {
		inside = betweenAVX512(&z[0], blocks, low, high, &values[0], &counts[0])
	} else {
		inside = betweenAVX2(&z[0], blocks, low, high, &values[0], &counts[0])
	}
	for _, n := range counts {
		atLeast += int(n)
	}
	return blocks * selectRows, inside, atLeast
}

func vectorSumAbove(z []float64, shift, level float64, lanes *[2 * selectRows]float64) (done, count int) {
	blocks := len(z) / selectRows
	switch {
	case using == levelGo || blocks == 0:
		return 0, 0
	case using >= levelAVX512Half:
		count = sumAboveAVX512(&z[0], blocks, shift, level, &lanes[0])
	default:
		count = sumAboveAVX2(&z[0], blocks, shift, level, &lanes[0])
	}
	return blocks * selectRows, count
}

func vectorRowsAbove(z []float64, shift, level float64, first int32, rows []int32) (done, count int) {
	blocks := len(z) / selectRows
	switch {
	case using == levelGo || blocks == 0:
		return 0, 0
	case using >= levelAVX512Half:
		count = rowsAboveAVX512(&z[0], blocks, shift, level, first, &rows[0])
	default:
		count = rowsAboveAVX2(&z[0], blocks, shift, level, first, &rows[0])
	}
	return blocks * selectRows, count
}

func vectorHinge(h Hinge, z []float32, stride, panels int, lanes *[TileLanes]float64) (count int, known bool) {
	flip := float32(0) // a row counts when -Sign z lies below the bound
	if h.Sign > 0 {
		flip = math.Float32frombits(1 << 31)
	}
	switch using {
	case levelGo:
		return 0, false
	case levelAVX512:
		return hingeAVX512(&z[0], 4*stride, panels, flip, h.bound(), h.Sign, h.Shift, h.V, &lanes[0]), true
	default:
		return hingeAVX2(&z[0], 4*stride, panels, flip, h.bound(), h.Sign, h.Shift, h.V, &lanes[0]), true
	}
}

// vectorCodes adds coded scores, or replaces z; fractions is nil where there are none.
func vectorCodes(codes unsafe.Pointer, size uintptr, fractions *float32, w *float64, start *int32, z *float64,
	groups, panels int, add bool) bool {
	flag := flagOf(add)
	narrow, wide := (*uint8)(codes), (*uint16)(codes)
	wideVectors := using >= levelAVX512Half
	switch {
	case using == levelGo:
		return false
	case fractions == nil && size == 1 && wideVectors:
		codes8AVX512(narrow, w, start, z, groups, panels, flag)
	case fractions == nil && size == 1:
		codes8AVX2(narrow, w, start, z, groups, panels, flag)
	case fractions == nil && wideVectors:
		codes16AVX512(wide, w, start, z, groups, panels, flag)
	case fractions == nil:
		codes16AVX2(wide, w, start, z, groups, panels, flag)
	case size == 1 && wideVectors:
		between8AVX512(narrow, fractions, w, start, z, groups, panels, flag)
	case size == 1:
		between8AVX2(narrow, fractions, w, start, z, groups, panels, flag)
	case wideVectors:
		between16AVX512(wide, fractions, w, start, z, groups, panels, flag)
	default:
		between16AVX2(wide, fractions, w, start, z, groups, panels, flag)
	}
	return true
}

// vectorAddCodes adds a panel's gradient; fractions is nil where there are none.
func vectorAddCodes(codes unsafe.Pointer, size uintptr, fractions *float32, v *float64, start *int32, lanes *float64,
	groups int) bool {
	narrow, wide := (*uint8)(codes), (*uint16)(codes)
	switch {
	case using == levelGo:
		return false
	case fractions == nil && size == 1:
		scatter8AVX2(narrow, v, start, lanes, groups)
	case fractions == nil:
		scatter16AVX2(wide, v, start, lanes, groups)
	case size == 1:
		scatterBetween8AVX2(narrow, fractions, v, start, lanes, groups)
	default:
		scatterBetween16AVX2(wide, fractions, v, start, lanes, groups)
	}
	return true
}

func vectorJoin(sums []float64, z []float32, stride, panels int) bool {
	switch using {
	case levelGo:
		return false
	case levelAVX2:
		joinAVX2(&sums[0], &z[0], 4*stride, panels)
	default:
		joinAVX512(&sums[0], &z[0], 4*stride, panels)
	}
	return true
}

func vectorSumEntries(codes []uint16, v []float32, lanes []float64, models, panels int) bool {
	if using == levelGo {
		return false
	}
	sumEntriesAVX2(&codes[0], &v[0], &lanes[0], models, panels)
	return true
}

func vectorEntries(codes []uint16, table, z []float32, models, panels int) bool {
	switch using {
	case levelGo:
		return false
	case levelAVX2:
		entriesAVX2(&codes[0], &table[0], &z[0], models, panels)
	default:
		entriesAVX512(&codes[0], &table[0], &z[0], models, panels)
	}
	return true
}

// vectorRead returns the number of values read and their sum.
func vectorRead(x []float32) (done int, sum float32) {
	blocks := len(x) / 128
	if using == levelGo || blocks == 0 {
		return 0, 0
	}
	var sums [8]float32
	readAVX2(&x[0], blocks, &sums[0])
	for _, s := range sums {
		sum += s
	}
	return 128 * blocks, sum
}

// vectorMultiplyAdds returns the number of multiply-adds done.
func vectorMultiplyAdds(n int) int {
	lanes := 8
	if using >= levelAVX512Half {
		lanes = 16
	}
	rounds := n / (12 * lanes)
	switch {
	case using == levelGo || rounds == 0:
		return 0
	case using == levelAVX2:
		multiplyAVX2(rounds)
	default:
		multiplyAVX512(rounds)
	}
	return rounds * 12 * lanes
}

func vectorDecimals(text []byte, at, limit int, stops [2]byte, dst []float64, stride, count int) (read, next int, known bool) {
	if using == levelGo {
		return 0, 0, false
	}
	both := int(stops[0]) | int(stops[1])<<8
	left, end := decimalsAVX2(&text[at], &text[limit], both, &dst[0], 8*stride, count)
	return count - left, int(uintptr(unsafe.Pointer(end)) - uintptr(unsafe.Pointer(&text[0]))), true
}

func vectorStandardise(x, dst []float64, shift, scale float64) (done int, inside bool) {
	width := 4
	if using == levelAVX512 {
		width = 8
	}
	vectors := len(x) / width
	switch {
	case using == levelGo || vectors == 0:
		return 0, true
	case width == 8:
		inside = standardiseAVX512(&x[0], &dst[0], vectors, shift, scale)
	default:
		inside = standardiseAVX2(&x[0], &dst[0], vectors, shift, scale)
	}
	return vectors * width, inside
}

func vectorExtent(x []float64, low, high float64) (done int, least, greatest float64, ordered bool) {
	vectors := len(x) / 4
	if using == levelGo || vectors == 0 {
		return 0, low, high, true
	}
	lows, highs := [4]float64{low, low, low, low}, [4]float64{high, high, high, high}
	ordered = extentAVX2(&x[0], vectors, &lows[0], &highs[0])
	for i := range lows {
		low, high = min(low, lows[i]), max(high, highs[i])
	}
	return 4 * vectors, low, high, ordered
}

func vectorPick(x []float64, rows []int32, dst unsafe.Pointer, size uintptr) (done int, finite bool) {
	vectors := len(rows) / 4
	switch {
	case using == levelGo || vectors == 0:
		return 0, true
	case size == 4:
		finite = pickFloat32AVX2(&x[0], &rows[0], vectors, (*float32)(dst))
	default:
		finite = pickFloat64AVX2(&x[0], &rows[0], vectors, (*float64)(dst))
	}
	return 4 * vectors, finite
}

func vectorMoments(m *Moments, x *[MomentColumns][]float64, square bool) (done int) {
	rows := min(len(x[0]), len(x[1]), len(x[2]), len(x[3]))
	blocks := rows / 4
	switch {
	case using == levelGo || blocks == 0:
		return 0
	case square:
		momentsSecondAVX2(&x[0][0], &x[1][0], &x[2][0], &x[3][0], blocks, &m.Unit[0])
	default:
		momentsFirstAVX2(&x[0][0], &x[1][0], &x[2][0], &x[3][0], blocks, &m.Unit[0])
	}
	return 4 * blocks
}

func vectorQuotients(data []byte, bytes int, divisor float64, dst []float64) (done int) {
	vectors := len(dst) / 4
	switch {
	case using == levelGo || vectors == 0:
		return 0
	case bytes == 1 && divisor == 1:
		whole8AVX2(&data[0], vectors, divisor, &dst[0])
	case bytes == 2 && divisor == 1:
		whole16AVX2(&data[0], vectors, divisor, &dst[0])
	case divisor == 1:
		whole32AVX2(&data[0], vectors, divisor, &dst[0])
	case bytes == 1:
		quotients8AVX2(&data[0], vectors, divisor, &dst[0])
	case bytes == 2:
		quotients16AVX2(&data[0], vectors, divisor, &dst[0])
	default:
		quotients32AVX2(&data[0], vectors, divisor, &dst[0])
	}
	return 4 * vectors
}

func vectorWiden(data []byte, dst []float64) (done int) {
	vectors := len(dst) / 4
	if using == levelGo || vectors == 0 {
		return 0
	}
	widenAVX2(&data[0], vectors, &dst[0])
	return 4 * vectors
}

func vectorWholeNumbers(x []float64, power float64, whole []int32) (done int, largest int32, ok bool) {
	vectors := len(x) / 4
	if using == levelGo || vectors == 0 {
		return 0, 0, true
	}
	var lanes [4]int32
	ok = wholeNumbersAVX2(&x[0], vectors, power, &whole[0], &lanes[0])
	return 4 * vectors, max(lanes[0], lanes[1], lanes[2], lanes[3]), ok
}

func vectorNarrow(whole []int32, bytes int, data []byte) (done int) {
	vectors := len(whole) / 8
	switch {
	case using == levelGo || vectors == 0:
		return 0
	case bytes == 1:
		narrow8AVX2(&whole[0], vectors, &data[0])
	case bytes == 2:
		narrow16AVX2(&whole[0], vectors, &data[0])
	default:
		narrow32AVX2(&whole[0], vectors, &data[0])
	}
	return 8 * vectors
}
