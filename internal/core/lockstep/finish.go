package lockstep

import (
	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
)

// target is where one model's part of a pass goes.
type target struct {
	objective *objective.Objective
	loss      *LossTerm
	grad      []float64 // receives the model's gradient
}

// finish computes losses and gradients of points whose thresholds are known.
func (e *Evaluator) finish(x *matrix.Matrix, points []evaluation) {
	for _, p := range points {
		clear(p.Grad)
	}
	classes := []*matrix.ClassRows{x.Positives, x.Negatives}
	for class, rows := range classes {
		e.addLosses(rows, class, points, true)
		e.addLosses(rows, class, points, false)
	}
	e.forEach(len(points), x.Rows(), func(i int, s *scratch) { s.setValue(points[i], e.states[i]) })
	for class, rows := range classes {
		e.addThresholdRows(rows, class, points, false)
		e.addThresholdRows(rows, class, points, true)
	}
	for _, p := range points {
		for j := range p.Grad {
			p.Grad[j] += float64(p.Problem.Lambda * p.W[j])
		}
	}
}

// addLosses computes the losses of one class and adds their gradients, for the points that want a gradient or for those that
// do not. Classes with cached scores are left to setValue.
func (e *Evaluator) addLosses(rows *matrix.ClassRows, class int, points []evaluation, gradient bool) {
	for i, p := range points {
		n := e.states[i]
		if c := &n.classes[class]; (p.Grad != nil) == gradient && !c.cached && p.hasLosses(class) {
			c.losses.set(p.subject, n.t, class)
			e.requests = append(e.requests, Request{W: p.W, Loss: &c.losses.LossTerm})
			e.targets = append(e.targets, target{p.Objective, &c.losses.LossTerm, p.Grad})
		}
	}
	if gradient && len(e.targets) > 0 {
		e.passesOf(rows).LossGradients(e.requests, e.zeroGradients(rows))
		e.distribute()
	} else {
		e.passesOf(rows).LossGradients(e.requests, nil)
	}
	for _, t := range e.targets {
		t.objective.CountVisits(int64(rows.Rows()), 0)
		if gradient {
			t.objective.CountVisits(0, int64(t.loss.Active))
		}
	}
	e.requests, e.targets = e.requests[:0], e.targets[:0]
}

// zeroGradients returns zeros for the gradients of all targets.
func (e *Evaluator) zeroGradients(rows *matrix.ClassRows) []float64 {
	e.g = resizeDropping(e.g, len(e.targets)*rows.Cols())
	clear(e.g)
	return e.g
}

// distribute adds the gradients of a pass to their targets.
func (e *Evaluator) distribute() {
	for h, t := range e.targets {
		for j := range t.grad {
			t.grad[j] += e.g[j*len(e.targets)+h]
		}
	}
}

// setValue sets the value of a point and computes the coefficients of the rows that its gradient still lacks: those of the
// threshold, and all rows of classes with cached scores.
func (s *scratch) setValue(p evaluation, n *pointState) {
	s.useCachedScores(p.subject, n)
	loss, slope := n.classes[positives].losses.mean(p.Positives)
	v := objective.Value{T: n.t, Loss: loss}
	n.slope = slope
	if p.falsePositives {
		loss, slope = n.classes[negatives].losses.mean(p.Negatives)
		v.Loss += loss
		n.slope -= slope
	}
	v.Loss += n.t - n.t // a threshold that is not finite shows
	v.F = v.Loss + float64(float64(p.Problem.Lambda/2)*objective.NormSquared(p.W))
	p.Value = v
	if p.Grad != nil {
		s.setCoefficients(n)
	}
}

// setCoefficients computes the coefficients of both classes.
func (s *scratch) setCoefficients(n *pointState) {
	for class := range n.classes {
		c := &n.classes[class]
		if c.cached {
			c.join(s.v[class], n)
			continue
		}
		c.dense, c.active = false, len(c.rows)
		c.v = resizeDropping(c.v, len(c.rows))
		for k, a := range c.a {
			c.v[k] = float32(n.slope * a)
		}
	}
}

// addThresholdRows adds the rows of one class that setCoefficients left, to the gradients of the points that list them or of
// those that have coefficients of all rows.
func (e *Evaluator) addThresholdRows(rows *matrix.ClassRows, class int, points []evaluation, dense bool) {
	e.coefficients = e.coefficients[:0]
	for i, p := range points {
		c := &e.states[i].classes[class]
		if p.Grad == nil || c.dense != dense || c.active == 0 {
			continue
		}
		v := Coefficients{Rows: c.rows, V: c.v}
		if dense {
			v = Coefficients{V: c.scores}
		}
		e.coefficients = append(e.coefficients, v)
		e.targets = append(e.targets, target{objective: p.Objective, grad: p.Grad})
		p.Objective.CountVisits(0, int64(c.active))
	}
	switch {
	case len(e.targets) == 0:
		return
	case dense:
		e.passesOf(rows).AddDenseGradients(e.coefficients, e.zeroGradients(rows))
	default:
		e.passesOf(rows).AddGradients(e.coefficients, e.zeroGradients(rows))
	}
	e.distribute()
	e.targets = e.targets[:0]
}
