package matrix

import "toptau/internal/kernel"

// Response is how the rows of a part answer to their scores under one model: each row's coefficient and its part of a sum
// of losses follow from its own score alone.
type Response struct {
	Hinge kernel.Hinge
	Other Responder // unless nil: instead of Hinge

	// What FastPass found. Sums are those of the panels of a stripe, then those of the stripes, in order.
	Loss   float64 // of the hinge: sum of u
	Slope  float64 // of the hinge: number of rows with u > 0
	Active int     // rows with a coefficient

	stripes []responseSums
}

// Responder answers for one panel: it replaces the scores of the rows first, first+1, ... by their coefficients and returns
// the sums of their losses and slopes. It is called from several goroutines.
type Responder interface {
	Respond(first int, z []float32) (loss, slope float64)
}

// responseSums is one stripe's part of a response.
type responseSums struct {
	lanes       [kernel.TileLanes]float64 // of the hinge
	loss, slope float64
	active      int
}

// FastPass reads the rows once for several models, each with a Response: scores, as in FastScores, then coefficients, then,
// unless g is nil, what AddFastGradients would add to g for them, while the data is in cache.
func (p *Part) FastPass(readings []Reading, g []float64) {
	if len(readings) == 0 {
		return
	}
	p.open(readings)
	for i := range readings {
		r := readings[i].Response
		r.stripes = resize(r.stripes, p.fastStripes())
	}
	j := job{kind: fastPassing, readings: readings, models: len(readings)}
	cost := p.fastCost(len(readings))
	if g != nil {
		j.g, cost = g[:p.cols*len(readings)], 2*cost
	}
	p.run(j, cost)
	for i := range readings {
		readings[i].Response.collect()
	}
}

// AddFastRows is AddFastGradients for coefficients of all rows: V has Rows elements, and Rows is not looked at. The rows of
// a panel are read together, if one of them has a coefficient.
func (p *Part) AddFastRows(c []Coefficients, g []float64) {
	if len(c) > 0 {
		p.run(job{kind: fastPassing, coefficients: c, models: len(c), g: g[:p.cols*len(c)]}, p.fastCost(len(c)))
	}
}

// collect adds up the stripes.
func (r *Response) collect() {
	r.Loss, r.Slope, r.Active = 0, 0, 0
	for i := range r.stripes {
		s := &r.stripes[i]
		r.Loss += s.loss
		r.Slope += s.slope
		r.Active += s.active
	}
}

// responseGroup is the panels that a FastPass takes at a time. The gradient of several models wants a few panels even where
// these do not stay in the second cache: the lanes of its sums are larger.
func (k *worker) responseGroup(models int) int {
	const together = 6
	n := k.fastGroup(models)
	if models >= kernel.TileModels {
		n = max(n, together)
	}
	return n
}

func (k *worker) fastPassStripe(j *job, stripe int) bool {
	k.openFilters(j, stripe)
	defer k.closeFilters(j, stripe)
	others := j.g != nil && k.tileLanes(j.models) < k.part.cols
	k.fast.coefficients = resize(k.fast.coefficients, j.models)
	for h := range k.fast.coefficients {
		c := &k.fast.coefficients[h]
		c.Rows, c.V = c.Rows[:0], c.V[:0]
	}
	for h := range j.readings {
		j.readings[h].Response.stripes[stripe] = responseSums{}
	}
	any := false
	first, end := k.part.fastStripe(stripe)
	step := k.responseGroup(j.models)
	if j.readings == nil {
		step = max(step, kernel.Streams)
	}
	for ; first < end; first += step {
		group := min(first+step, end)
		k.fast.z = resize(k.fast.z, (group-first)*j.models*kernel.PanelRows)
		if !k.fastCoefficients(j, stripe, first, group) || j.g == nil {
			continue
		}
		any = true
		k.fastAccumulate(j, first, group)
		if others {
			k.addOtherPanels(j, first, group)
		}
	}
	for h := range j.readings {
		s := &j.readings[h].Response.stripes[stripe]
		if j.readings[h].Response.Other == nil {
			s.loss, s.slope = kernel.SumLanes(&s.lanes), float64(s.active)
		}
	}
	return any
}

// fastCoefficients computes the coefficients of the panels from first up to end, or takes those that are there, and reports
// whether any is not zero, which goes without saying for the latter.
func (k *worker) fastCoefficients(j *job, stripe, first, end int) bool {
	if j.readings == nil {
		k.takeCoefficients(j, first, end)
		return true
	}
	k.fastPanels(j, first, end)
	k.fastUse(j, stripe, first, end)
	active := 0
	for h := range j.readings {
		active += k.respond(j, h, stripe, first, end)
	}
	return active > 0
}

// takeCoefficients copies what is given to z.
func (k *worker) takeCoefficients(j *job, first, end int) {
	for panel := first; panel < end; panel++ {
		from, to := k.part.panelRows(panel)
		for h := range j.coefficients {
			v := k.fast.z[((panel-first)*j.models+h)*kernel.PanelRows:][:kernel.PanelRows]
			clear(v[copy(v, j.coefficients[h].V[from:to]):])
		}
	}
}

// respond turns a model's scores of the panels from first up to end into coefficients, and returns the number of rows that
// have one.
func (k *worker) respond(j *job, h, stripe, first, end int) int {
	r := j.readings[h].Response
	s := &r.stripes[stripe]
	before, stride := s.active, j.models*kernel.PanelRows
	z := k.fast.z[h*kernel.PanelRows:]
	whole := min(end, k.part.rows/kernel.PanelRows)
	if r.Other == nil {
		s.active += r.Hinge.Panels(z, stride, max(0, whole-first), &s.lanes)
		first, z = max(first, whole), z[min(len(z), stride*max(0, whole-first)):]
	}
	for ; first < end; first++ {
		from, to := k.part.panelRows(first)
		if r.Other == nil {
			s.active += r.Hinge.Rows(z[:to-from], &s.lanes)
		} else {
			s.respond(r.Other, from, z[:to-from])
		}
		clear(z[to-from : kernel.PanelRows])
		z = z[min(len(z), stride):]
	}
	return s.active - before
}

func (s *responseSums) respond(r Responder, first int, z []float32) {
	loss, slope := r.Respond(first, z)
	s.loss += loss
	s.slope += slope
	for _, v := range z {
		if v != 0 {
			s.active++
		}
	}
}

// list notes the rows with a coefficient, for the blocks that are not in the tile.
func (k *worker) list(models, first, end int) {
	for h := range models {
		c := &k.fast.coefficients[h]
		for panel := first; panel < end; panel++ {
			for r, v := range k.fast.z[((panel-first)*models+h)*kernel.PanelRows:][:kernel.PanelRows] {
				if v != 0 {
					c.Rows, c.V = append(c.Rows, int32(panel*kernel.PanelRows+r)), append(c.V, v)
				}
			}
		}
	}
}

// withCoefficients is the job as AddFastGradients would have it, on the stripe that the worker has just read.
func (j *job) withCoefficients(k *worker) *job {
	if j.kind != fastPassing {
		return j
	}
	k.fast.job = *j
	k.fast.job.coefficients = k.fast.coefficients
	return &k.fast.job
}
