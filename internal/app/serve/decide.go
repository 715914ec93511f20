package serve

import (
	"context"
	"slices"
	"sync/atomic"
)

// pipeline is what requests with rows share: decisions, the log of scored rows, and the work after answers.
type pipeline struct {
	*env
	scored *scoredLog
	after  *after

	limitFailed atomic.Bool // the last call of Options.Limit returned an error
}

func newPipeline(e *env) *pipeline {
	return &pipeline{env: e, scored: newScoredLog(e.options.ScoredLog, e.log), after: newAfter(e)}
}

// close ends the work after answers and writes the log.
func (p *pipeline) close(ctx context.Context) error {
	p.after.close(ctx)
	return p.scored.close()
}

// decide turns the scores of a request into decisions at an operating point. This is the one place where that
// happens: Options.Limit may hold alerts back here. It is called once for each row with a score, after all
// rows of the request have been scored, or for a stream after those that have arrived.
func (p *pipeline) decide(c *call, r *rows, point int) {
	at := &r.b.points[point]
	alerts, request := 0, r.request(c, point)
	for _, k := range r.chunks {
		k.verdicts = slices.Grow(k.verdicts[:0], k.rows)[:k.rows]
		for row, z := range k.score[:k.rows] {
			v := Verdict{Score: z, Threshold: at.Threshold}
			if at.Segment != "" {
				v.Threshold = at.ThresholdOf(string(k.textOf(k.segment[row])))
			}
			if v.Alert = z > v.Threshold; v.Alert { // false for NaN, the score of a row without one
				alerts++
			}
			k.verdicts[row] = v
		}
		if p.options.Limit != nil {
			p.hold(p.options.Limit.Decide(request, k.verdicts))
			for i := range k.verdicts {
				if v := &k.verdicts[i]; v.HeldBack != "" {
					v.Alert = false
					alerts--
					r.b.counters.counter("held_back", v.HeldBack).Add(1)
				}
			}
		}
	}
	r.b.counters.alerts[point].Add(uint64(alerts))
}

// hold logs that alerts are not counted as they should be, and that they are again.
func (p *pipeline) hold(err error) {
	if failed := err != nil; p.limitFailed.Swap(failed) == failed {
		return
	}
	if err != nil {
		p.log.Error("alerts cannot be counted as they should be", "error", err.Error())
		return
	}
	p.log.Info("alerts are counted again")
}
