package serve

import (
	"bytes"
	"context"
	"slices"

	"toptau/internal/data/table"
	"toptau/schema"
)

// after hands the rows of answered requests to shadow models and to the monitor, in one goroutine that takes
// a slot only if nobody waits for it.
type after struct {
	env     *env
	jobs    chan *job
	closing chan struct{} // closed: finish the waiting jobs and end
	late    chan struct{} // closed: drop them
	ended   chan struct{}
}

// job is the rows of a request after its answer. It owns its chunks.
type job struct {
	rows    *rows
	request Request
	point   int
	model   *served
	before  int    // rows of the stream before these
	body    []byte // for the shadow
	decode  decode
	account account
}

// maxJobs is the number of requests that may wait for their observation; rows of further ones are dropped.
const maxJobs = 64

func newAfter(e *env) *after {
	a := &after{env: e, jobs: make(chan *job, maxJobs), closing: make(chan struct{}), late: make(chan struct{}),
		ended: make(chan struct{})}
	go a.run()
	return a
}

// hand hands over the rows of a request, with the body that they came from. The call keeps neither.
func (a *after) hand(c *call, r *rows, point, before int, decode decode) {
	if a.env.options.Monitor == nil && c.model.shadow == nil {
		return
	}
	j := &job{rows: &rows{rowOptions: r.rowOptions, b: r.b, n: r.n, chunks: r.chunks, bad: r.bad},
		request: r.request(c, point), point: point,
		model: c.model, before: before, account: c.account}
	if c.model.shadow != nil {
		j.body, j.decode = c.body, decode
	}
	select {
	case a.jobs <- j:
		r.chunks, r.bad, c.account, c.body = nil, nil, account{by: c.account.by, w: c.w}, nil
	default:
		a.env.metrics.dropped.Add(uint64(r.n - before))
	}
}

// handLines hands over rows of a stream.
func (a *after) handLines(c *call, r *rows, point, before int, lines []byte) {
	if a.env.options.Monitor == nil && c.model.shadow == nil {
		return
	}
	body, kept := c.body, c.account
	c.body, c.account = nil, account{by: kept.by, w: kept.w}
	if c.model.shadow != nil {
		c.body = bytes.Clone(lines) // the stream goes on with its buffer
		if c.reserve(int64(len(lines))) != nil {
			a.env.admission.release(&c.account)
			a.env.metrics.dropped.Add(uint64(r.n - before))
			c.body, c.account = body, kept
			return
		}
	}
	a.hand(c, r, point, before, decodeLines)
	a.env.admission.release(&c.account) // if it was not handed over
	c.body, c.account = body, kept
}

// run does the jobs until it is closed, and then those that were handed over before.
func (a *after) run() {
	defer close(a.ended)
	for {
		select {
		case j := <-a.jobs:
			a.do(j)
		case <-a.closing:
			a.doWaiting()
			return
		}
	}
}

// doWaiting does the jobs that wait.
func (a *after) doWaiting() {
	for {
		select {
		case j := <-a.jobs:
			a.do(j)
		default:
			return
		}
	}
}

func (a *after) do(j *job) {
	if a.env.admission.wait(&j.account, spare, a.late) {
		a.observe(j)
		a.env.admission.free()
	} else {
		a.env.metrics.dropped.Add(uint64(j.rows.n - j.before))
	}
	j.rows.release()
	a.env.admission.release(&j.account)
}

func (a *after) observe(j *job) {
	if m := a.env.options.Monitor; m != nil {
		for _, c := range j.rows.chunks {
			o := Observed{Table: c.view(j.rows.b.plan), Scores: c.score[:c.rows], Verdicts: c.verdicts}
			for row := range c.rows {
				o.IDs = append(o.IDs, string(c.textOf(c.id[row])))
			}
			m.Observe(j.request, o)
		}
	}
	if j.body != nil {
		a.compare(j)
	}
}

// view returns the table of the chunk's rows.
func (c *chunk) view(p *plan) *table.Table {
	t := c.t
	t.Columns = slices.Clone(t.Columns)
	for j := range t.Columns {
		column := &t.Columns[j]
		if column.Kind == schema.Categorical {
			column.Codes = column.Codes[:c.rows]
		} else {
			column.Values = column.Values[:c.rows]
		}
	}
	if p.segment >= 0 {
		t.Segment = &table.Text{Name: p.fields[p.segment].name}
		for _, s := range c.segment[:c.rows] {
			t.Segment.Values = append(t.Segment.Values, string(c.textOf(s)))
		}
	}
	t.Line = c.number[:c.rows]
	return &t
}

// compare scores the body with the shadow model and compares scores and decisions.
func (a *after) compare(j *job) {
	counts := &j.model.counts.shadow
	b := j.model.shadow.current()
	r := b.newRows(rowOptions{bad: emptyRows}, j.rows.n)
	r.fixed, r.n = true, j.before
	defer r.done()
	if err := j.decode(r.s, r, j.body); err != nil {
		counts.failed.Add(uint64(j.rows.n - j.before))
		return
	}
	counts.failed.Add(uint64(len(r.bad)))
	point, found := b.pointOf(j.request.Point)
	if !found {
		point = 0
	}
	old := map[int]*Verdict{} // by row number
	for _, c := range j.rows.chunks {
		for row, number := range c.number[:c.rows] {
			if z := c.score[row]; z == z {
				old[number] = &c.verdicts[row]
			}
		}
	}
	for _, c := range r.chunks {
		for row, number := range c.number[:c.rows] {
			z, v := c.score[row], old[number]
			if z != z || v == nil {
				continue
			}
			var segment []byte
			if b.plan.segment >= 0 {
				segment = c.textOf(c.segment[row])
			}
			counts.add(z-v.Score, v.Score > v.Threshold, b.alertAt(point, z, segment))
		}
	}
}

// close ends the work, once. Waiting jobs are done until ctx ends. Requests may still be answered: their rows
// are not observed.
func (a *after) close(ctx context.Context) {
	close(a.closing)
	select {
	case <-a.ended:
	case <-ctx.Done():
		close(a.late)
		<-a.ended
	}
}

// request describes the rows for those outside the package.
func (r *rows) request(c *call, point int) Request {
	return Request{Name: r.b.name, Model: r.b.model, Digest: r.b.digest, Point: r.b.points[point].Name, Time: c.start}
}
