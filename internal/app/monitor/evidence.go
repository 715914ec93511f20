package monitor

// StreamEvidence is the evidence of a stream at the end of the last block.
type StreamEvidence struct {
	Stream string
	Log10  float64 // that of columns as in Point
	Alarm  bool    // there was an alarm
}

// Evidence returns the evidence of all streams that are watched.
func (w *Watch) Evidence() []StreamEvidence {
	p := w.pointNow(w.rows, "")
	var list []StreamEvidence
	add := func(watched bool, stream string, log10 float64) {
		if !watched {
			return
		}
		e := StreamEvidence{Stream: stream, Log10: log10}
		for _, a := range w.alarms {
			e.Alarm = e.Alarm || a.Stream == stream
		}
		list = append(list, e)
	}
	add(w.scores != nil, Scores, p.Scores)
	add(len(w.columns) > 0, Columns, p.Columns)
	add(w.labels.test != nil, Budget, p.Budget)
	return list
}
