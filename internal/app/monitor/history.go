package monitor

import (
	"math"

	"toptau/internal/core/detmath"
)

// maxPoints is the largest number of points of a history. When it is full, every second one is left out.
const maxPoints = 100

// history is the evidence over time, for the page.
type history struct {
	firstTime string
	every     int // blocks between two points, a multiple of columnsBlocks
	alerts    int // at the last point
	points    []Point
}

// Point is the evidence at the end of a block. Its numbers are decimal logarithms; that of columns is the largest
// less the logarithm of their number, so that all are compared with the same bound.
type Point struct {
	Row     int     `json:"row"`
	Time    string  `json:"time,omitempty"`
	Scores  float64 `json:"scores"`
	Columns float64 `json:"columns"`
	Budget  float64 `json:"budget"`
	Alerts  int     `json:"alerts"` // since the last point
}

func (h *history) add(row int, when string, w *Watch) {
	h.every = max(columnsBlocks, h.every)
	if w.blocks%h.every != 0 {
		return
	}
	h.points = append(h.points, w.pointNow(row, when))
	h.alerts = w.alerts
	if len(h.points) < maxPoints {
		return
	}
	h.every *= 2
	kept := h.points[:0]
	for i := 1; i < len(h.points); i += 2 {
		p := h.points[i]
		p.Alerts += h.points[i-1].Alerts
		kept = append(kept, p)
	}
	h.points = kept
}

// pointNow returns the point of the present evidence.
func (w *Watch) pointNow(row int, when string) Point {
	p := Point{Row: row, Time: clip(when), Alerts: w.alerts - w.history.alerts}
	if w.scores != nil {
		p.Scores = log10(w.scores.now.Log)
	}
	if w.seen && len(w.columns) > 0 {
		most := math.Inf(-1)
		for i := range w.columns {
			most = max(most, w.columns[i].now.Log)
		}
		p.Columns = log10(most - detmath.Log(float64(len(w.columns))))
	}
	if w.labels.test != nil {
		p.Budget = log10(w.labels.now.Log)
	}
	return p
}

// timeOf returns the time of the last point that is not after a row, "" if it is not known.
func (h *history) timeOf(row int) string {
	when := h.firstTime
	for _, p := range h.points {
		if p.Row > row {
			break
		}
		when = p.Time
	}
	return when
}
