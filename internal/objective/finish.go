package objective

import "toptau/internal/matrix"

// ask is what a model of a pass is wanted for.
type ask struct {
	objective *Objective
	response  *matrix.Response
	to        []float64 // gets the model's part of a gradient
}

// finish forms losses and gradients of points whose thresholds are known.
func (l *Lockstep) finish(x *matrix.Matrix, points []*Point) {
	for i, p := range points {
		clear(p.Grad)
		l.lanes[i].bulk.begin(p)
	}
	for _, class := range []*matrix.Part{x.Positives, x.Negatives} {
		l.respond(class, points, true)
		l.respond(class, points, false)
	}
	for i, p := range points {
		l.value(p, l.lanes[i])
	}
	l.addThresholds(x.Positives, points)
	l.addThresholds(x.Negatives, points)
	for i, p := range points {
		l.lanes[i].bulk.finish(p, l.lanes[i].rest)
		for j := range p.Grad {
			p.Grad[j] += float64(p.Objective.problem.Hyperparameters.Lambda * p.W[j])
		}
	}
}

// side is what a point has to do with a class.
func (n *lane) side(positives bool) *side {
	if positives {
		return &n.misses
	}
	return &n.hits
}

// respond reads one class for the points that want a gradient, or for those that do not: their losses, and the bulks of
// their thresholds.
func (l *Lockstep) respond(class *matrix.Part, points []*Point, gradient bool) {
	for i, p := range points {
		n, o := l.lanes[i], p.Objective
		positives := class == o.x.Positives
		if (p.Grad != nil) != gradient {
			continue
		}
		if positives || o.problem.Method.FalsePositives {
			losses := &n.side(positives).losses
			losses.set(o, n.t, positives)
			l.ask(p, &losses.Response, p.Grad)
		}
		if n.bulk.is && gradient && (!positives || o.overAll()) {
			l.ask(p, &n.bulk.Response, n.bulk.g)
		}
	}
	if gradient && len(l.asks) > 0 {
		class.FastPass(l.readings, l.room(class))
		l.share()
	} else {
		class.FastPass(l.readings, nil)
	}
	for _, a := range l.asks {
		a.objective.visits += int64(class.Rows())
		if gradient {
			a.objective.visitActive(int64(a.response.Active))
		}
	}
	l.readings, l.asks = l.readings[:0], l.asks[:0]
}

func (l *Lockstep) ask(p *Point, r *matrix.Response, to []float64) {
	l.readings = append(l.readings, matrix.Reading{W: p.W, Response: r})
	l.asks = append(l.asks, ask{p.Objective, r, to})
}

// room is zeros for the gradients asked for.
func (l *Lockstep) room(class *matrix.Part) []float64 {
	l.g = resize(l.g, len(l.asks)*class.Cols())
	clear(l.g)
	return l.g
}

// share adds what a pass has found to where it was asked for.
func (l *Lockstep) share() {
	for h, a := range l.asks {
		for j := range a.to {
			a.to[j] += l.g[j*len(l.asks)+h]
		}
	}
}

// value adds up the value of a point.
func (l *Lockstep) value(p *Point, n *lane) {
	o := p.Objective
	loss, slope := n.misses.losses.mean(o.positives)
	v := Value{T: n.t, Loss: loss}
	n.rest = slope
	if o.problem.Method.FalsePositives {
		loss, slope = n.hits.losses.mean(o.negatives)
		v.Loss += loss
		n.rest -= slope
	}
	v.Loss += n.t - n.t // a threshold that is not finite shows
	v.F = v.Loss + float64(float64(o.problem.Hyperparameters.Lambda/2)*normSquared(p.W))
	p.Value = v
}

// addThresholds adds the rows of one class in the gradients of the thresholds.
func (l *Lockstep) addThresholds(class *matrix.Part, points []*Point) {
	l.coefficients = l.coefficients[:0]
	for i, p := range points {
		s := l.lanes[i].side(class == p.Objective.x.Positives)
		if p.Grad == nil || len(s.rows) == 0 {
			continue
		}
		s.v = resize(s.v, len(s.rows))
		for k, a := range s.a {
			s.v[k] = float32(l.lanes[i].rest * a)
		}
		l.coefficients = append(l.coefficients, matrix.Coefficients{Rows: s.rows, V: s.v})
		l.asks = append(l.asks, ask{objective: p.Objective, to: p.Grad})
		p.Objective.visitActive(int64(len(s.rows)))
	}
	if len(l.asks) > 0 {
		class.AddFastGradients(l.coefficients, l.room(class))
		l.share()
	}
	l.asks = l.asks[:0]
}
