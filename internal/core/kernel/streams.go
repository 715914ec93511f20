package kernel

import "unsafe"

// Streams is the number of runs of panels that are read in turns, a page of 4 KB at a time. Memory delivers several streams
// faster than one: the hardware fetches ahead within a page and must start again on the next page, which costs nothing while
// another stream is used. Coefficients and lanes are streams, too, so that four runs are too many where gradients are added.
const Streams = 3

// streamBytes is the size from which ScorePanels reads its panels as several streams; shorter ones gain nothing.
const streamBytes = 2 << 20

// turnFeatures returns the number of features of a panel that a stream reads in a turn: at most a page, and about the same
// number each time.
func turnFeatures(d int, size uintptr) int {
	most := 4096 / (PanelRows * int(size))
	turns := (d + most - 1) / most
	return (d + turns - 1) / turns
}

// scoreTurn is one stream's panel and its scores.
type scoreTurn struct {
	panel unsafe.Pointer
	z     *float64
}

// gradientTurn is one stream's panel, its coefficients and the lanes they add to.
type gradientTurn struct {
	panel    unsafe.Pointer
	v, lanes *float64
}

// ScoreStreams computes the scores of several runs of consecutive panels in turns: panels[s] are the panels of run s,
// z[s] its scores. The bits are those of ScorePanels for each run. Streams runs that are megabytes apart
// in memory and continue from call to call are read up to twice as fast as one.
func ScoreStreams[T Float](panels [][]T, w []float64, z [][]float64, add bool) {
	for len(panels) > Streams {
		ScoreStreams(panels[:Streams], w, z[:Streams], add)
		panels, z = panels[Streams:], z[Streams:]
	}
	width := len(w) * PanelRows
	for p := range longest(z) {
		var turns [Streams]scoreTurn
		n := 0
		for s, rows := range z {
			if p >= len(rows)/PanelRows {
				continue
			}
			panel, rows := panels[s][p*width:(p+1)*width], rows[p*PanelRows:(p+1)*PanelRows]
			if width == 0 || !uses(scoresFamily) {
				scoreInOrder(panel, w, rows, add)
				continue
			}
			turns[n] = scoreTurn{unsafe.Pointer(&panel[0]), &rows[0]}
			n++
		}
		if n > 0 {
			scoreInTurns[T](turns[:n], w, add)
		}
	}
}

// scoreInTurns scores one panel of each stream.
func scoreInTurns[T Float](turns []scoreTurn, w []float64, add bool) {
	t, size := (*uintptr)(unsafe.Pointer(&turns[0])), unsafe.Sizeof(T(0))
	features := turnFeatures(len(w), size)
	if size == 4 {
		asmScoreTurnsFloat32(t, len(turns), &w[0], len(w), features, flagOf(add))
	} else {
		asmScoreTurnsFloat64(t, len(turns), &w[0], len(w), features, flagOf(add))
	}
}

// longest returns the number of panels of the longest run.
func longest(rows [][]float64) int {
	n := 0
	for _, r := range rows {
		n = max(n, len(r)/PanelRows)
	}
	return n
}

// scoreAsStreams splits consecutive panels into several runs.
func scoreAsStreams[T Float](panels []T, w, z []float64, add bool) {
	var x [Streams][]T
	var scores [Streams][]float64
	each := (len(z)/PanelRows + Streams - 1) / Streams
	for s := range Streams {
		n := min(each, len(z)/PanelRows)
		x[s], scores[s] = panels[:n*PanelRows*len(w)], z[:n*PanelRows]
		panels, z = panels[n*PanelRows*len(w):], z[n*PanelRows:]
	}
	ScoreStreams(x[:], w, scores[:], add)
}

// gradientTurns collects panels with many active rows, which are added in turns.
type gradientTurns[T Float] struct {
	turns [Streams]gradientTurn
	n     int
}

// add collects panel p of a run. A panel with few active rows is added at once, after the collected ones, which may use the
// same lanes.
func (t *gradientTurns[T]) add(panels []T, v, lanes []float64, p int) {
	width := len(lanes) / Lanes * PanelRows
	panel, rows := panels[p*width:(p+1)*width], v[p*PanelRows:(p+1)*PanelRows]
	switch activity(rows) {
	case noRows:
	case fewRows:
		t.run(len(lanes) / Lanes)
		accumulateInOrder(panel, rows, lanes)
	case manyRows:
		t.turns[t.n] = gradientTurn{unsafe.Pointer(&panel[0]), &rows[0], &lanes[0]}
		t.n++
	}
}

// run adds the collected panels.
func (t *gradientTurns[T]) run(d int) {
	if t.n == 0 {
		return
	}
	turns, size := (*uintptr)(unsafe.Pointer(&t.turns[0])), unsafe.Sizeof(T(0))
	if size == 4 {
		asmAccumulateTurnsFloat32(turns, t.n, d, turnFeatures(d, size))
	} else {
		asmAccumulateTurnsFloat64(turns, t.n, d, turnFeatures(d, size))
	}
	t.n = 0
}

func (t *gradientTurns[T]) full() bool { return t.n == Streams }
