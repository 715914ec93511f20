package kernel

import "unsafe"

// Memory delivers several streams faster than one: the hardware fetches ahead within a page of 4 KB and has to start
// again in the next one, which costs nothing while another stream is being worked on. The streams take turns of a page.
const (
	streams      = 4
	turnFeatures = 16 // of one panel of float32: 4 KB
)

// streamBytes is the size from which ScorePanels reads its panels as several streams; shorter ones gain nothing.
const streamBytes = 2 << 20

// ScoreStreams computes the scores of several runs of consecutive panels in turns: panels[s] are the panels of run s,
// z[s] its scores. The bits are those of ScorePanels for each run. Four runs that lie far apart in memory (megabytes)
// and go on from call to call are read up to twice as fast as one.
func ScoreStreams[T Float](panels [][]T, w []float64, z [][]float64, add bool) {
	d := len(w)
	if d <= turnFeatures {
		together := turnFeatures / max(d, 1)
		for p := 0; p < longest(z); p += together {
			for s := range panels {
				if first, end := span(p, together, z[s]); first < end {
					scoreTogether(panels[s][first*d*PanelRows:end*d*PanelRows], w, z[s][first*PanelRows:end*PanelRows], add)
				}
			}
		}
		return
	}
	for p := range longest(z) {
		for j := 0; j < d; j += turnFeatures {
			end := min(j+turnFeatures, d)
			for s := range panels {
				if first, last := span(p, 1, z[s]); first < last {
					x := panels[s][(p*d+j)*PanelRows : (p*d+end)*PanelRows]
					scoreTogether(x, w[j:end], z[s][p*PanelRows:(p+1)*PanelRows], add || j > 0)
				}
			}
		}
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

// span returns the panels from p on that a run has, at most n.
func span(p, n int, rows []float64) (first, end int) { return p, min(p+n, len(rows)/PanelRows) }

// scoreAsStreams splits consecutive panels into several runs.
func scoreAsStreams[T Float](panels []T, w, z []float64, add bool) {
	var x [streams][]T
	var scores [streams][]float64
	each := (len(z)/PanelRows + streams - 1) / streams
	for s := range streams {
		n := min(each, len(z)/PanelRows)
		x[s], scores[s] = panels[:n*PanelRows*len(w)], z[:n*PanelRows]
		panels, z = panels[n*PanelRows*len(w):], z[n*PanelRows:]
	}
	ScoreStreams(x[:], w, scores[:], add)
}

// AccumulateStreams adds the parts of X'v of several runs of consecutive panels in turns, each to lanes of its own:
// panels[s] are the panels of run s, v[s] its coefficients, lanes[s] its lanes. The bits are those of AccumulatePanels
// for each run.
func AccumulateStreams[T Float](panels [][]T, v, lanes [][]float64) {
	if len(panels) == 0 {
		return
	}
	d := len(lanes[0]) / Lanes
	if d >= widePanel { // the panels of one run are streams enough, and share lanes
		for s := range panels {
			AccumulatePanels(panels[s], v[s], lanes[s])
		}
		return
	}
	if d <= turnFeatures {
		together := turnFeatures / max(d, 1)
		for p := 0; p < longest(v); p += together {
			for s := range panels {
				if first, end := span(p, together, v[s]); first < end {
					accumulateTogether(panels[s][first*d*PanelRows:end*d*PanelRows], v[s][first*PanelRows:end*PanelRows], lanes[s])
				}
			}
		}
		return
	}
	for p := range longest(v) {
		for j := 0; j < d; j += turnFeatures {
			end := min(j+turnFeatures, d)
			for s := range panels {
				if first, last := span(p, 1, v[s]); first < last {
					x := panels[s][(p*d+j)*PanelRows : (p*d+end)*PanelRows]
					accumulateTogether(x, v[s][p*PanelRows:(p+1)*PanelRows], lanes[s][j*Lanes:end*Lanes])
				}
			}
		}
	}
}

// scoreTogether is ScorePanels for at least one panel and feature, read in order.
func scoreTogether[T Float](panels []T, w, z []float64, add bool) {
	d, count := len(w), len(z)/PanelRows
	if count == 0 || d == 0 {
		if !add {
			clear(z)
		}
		return
	}
	if !vectorScores(unsafe.Pointer(&panels[0]), unsafe.Sizeof(panels[0]), &w[0], &z[0], d, count, add) {
		scorePanels(panels, w, z, add)
	}
}

// accumulateTogether is AccumulatePanels, panel after panel.
func accumulateTogether[T Float](panels []T, v, lanes []float64) {
	d, count := len(lanes)/Lanes, len(v)/PanelRows
	if count == 0 || d == 0 {
		return
	}
	if !vectorAccumulate(unsafe.Pointer(&panels[0]), unsafe.Sizeof(panels[0]), &v[0], &lanes[0], d, count) {
		accumulatePanels(panels, v, lanes)
	}
}
