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
	for _, p := range points {
		clear(p.Grad)
	}
	classes := []*matrix.Part{x.Positives, x.Negatives}
	for class, part := range classes {
		l.respond(part, class, points, true)
		l.respond(part, class, points, false)
	}
	l.each(len(points), x.Rows(), func(i int, s *space) { s.value(points[i], l.lanes[i]) })
	for class, part := range classes {
		l.addRows(part, class, points, false)
		l.addRows(part, class, points, true)
	}
	for _, p := range points {
		for j := range p.Grad {
			p.Grad[j] += float64(p.Objective.problem.Lambda * p.W[j])
		}
	}
}

// sides is what a point has to do with the positives and the negatives.
func (n *lane) sides() [2]*side { return [2]*side{&n.misses, &n.hits} }

// respond reads one class, unless its scores are kept, for the points that want a gradient, or for those that do not: their
// losses and the gradients of these.
func (l *Lockstep) respond(part *matrix.Part, class int, points []*Point, gradient bool) {
	for i, p := range points {
		o, n := p.Objective, l.lanes[i]
		if s := n.sides()[class]; (p.Grad != nil) == gradient && !s.kept && o.hasLosses(class) {
			s.losses.set(o, n.t, class)
			l.readings = append(l.readings, matrix.Reading{W: p.W, Response: &s.losses.Response})
			l.asks = append(l.asks, ask{o, &s.losses.Response, p.Grad})
		}
	}
	if gradient && len(l.asks) > 0 {
		part.FastPass(l.readings, l.room(part))
		l.share()
	} else {
		part.FastPass(l.readings, nil)
	}
	for _, a := range l.asks {
		a.objective.visits += int64(part.Rows())
		if gradient {
			a.objective.visitActive(int64(a.response.Active))
		}
	}
	l.readings, l.asks = l.readings[:0], l.asks[:0]
}

// hasLosses reports whether the rows of a class have any: 0 is the positives, 1 the negatives.
func (o *Objective) hasLosses(class int) bool {
	return class == 0 || o.problem.Definition().FalsePositives
}

// room is zeros for the gradients asked for.
func (l *Lockstep) room(part *matrix.Part) []float64 {
	l.g = resize(l.g, len(l.asks)*part.Cols())
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

// value forms the value of a point, and the coefficients of the rows that are still to be added to its gradient: those of the
// threshold, and all of the classes whose scores are kept.
func (s *space) value(p *Point, n *lane) {
	o := p.Objective
	s.sweep(o, n)
	loss, slope := n.misses.losses.mean(o.positives)
	v := Value{T: n.t, Loss: loss}
	n.rest = slope
	if o.problem.Definition().FalsePositives {
		loss, slope = n.hits.losses.mean(o.negatives)
		v.Loss += loss
		n.rest -= slope
	}
	v.Loss += n.t - n.t // a threshold that is not finite shows
	v.F = v.Loss + float64(float64(o.problem.Lambda/2)*normSquared(p.W))
	p.Value = v
	if p.Grad != nil {
		s.coefficients(n)
	}
}

// coefficients forms those of both classes.
func (s *space) coefficients(n *lane) {
	for class, side := range n.sides() {
		if side.kept {
			side.join(s.v[class], n)
			continue
		}
		side.dense, side.active = false, len(side.rows)
		side.v = resize(side.v, len(side.rows))
		for k, a := range side.a {
			side.v[k] = float32(n.rest * a)
		}
	}
}

// addRows adds the rows of one class that have coefficients, to the gradients of the points that list them, or of those that
// have coefficients of all rows.
func (l *Lockstep) addRows(part *matrix.Part, class int, points []*Point, dense bool) {
	l.coefficients = l.coefficients[:0]
	for i, p := range points {
		s := l.lanes[i].sides()[class]
		if p.Grad == nil || s.dense != dense || s.active == 0 {
			continue
		}
		c := matrix.Coefficients{Rows: s.rows, V: s.v}
		if dense {
			c = matrix.Coefficients{V: s.scores}
		}
		l.coefficients = append(l.coefficients, c)
		l.asks = append(l.asks, ask{objective: p.Objective, to: p.Grad})
		p.Objective.visitActive(int64(s.active))
	}
	switch {
	case len(l.asks) == 0:
		return
	case dense:
		part.AddFastRows(l.coefficients, l.room(part))
	default:
		part.AddFastGradients(l.coefficients, l.room(part))
	}
	l.share()
	l.asks = l.asks[:0]
}
