package lockstep

import (
	"toptau/internal/core/kernel"
	"toptau/internal/core/objective"
	"toptau/surrogate"
)

// LossTerm is the sum of the losses of one class under one model. Each row's loss and coefficient follow from its own score.
type LossTerm struct {
	Hinge kernel.Hinge
	Rows  RowLoss // unless nil: used instead of Hinge

	// Results of LossGradients. Sums are those of the panels of a stripe, then those of the stripes, in order.
	Loss   float64 // of the hinge: the sum of u
	Slope  float64 // of the hinge: the number of rows with u > 0
	Active int     // rows with a coefficient

	stripes []lossSums
}

// RowLoss computes losses that have no kernel.
type RowLoss interface {
	// Coefficients replaces the scores of the rows first, first+1, ... by their coefficients and returns the sums of their
	// losses and slopes. Several goroutines call it.
	Coefficients(first int, z []float32) (loss, slope float64)
}

// lossSums is a LossTerm on one stripe.
type lossSums struct {
	lanes       [kernel.TileLanes]float64 // of the hinge
	loss, slope float64
	active      int
}

// collect adds up the stripes.
func (t *LossTerm) collect() {
	t.Loss, t.Slope, t.Active = 0, 0, 0
	for i := range t.stripes {
		s := &t.stripes[i]
		t.Loss += s.loss
		t.Slope += s.slope
		t.Active += s.active
	}
}

// lossJob is one call of LossGradients.
type lossJob struct {
	requests []Request
	gradient bool
}

// groupPanels returns the number of panels that compute handles at a time. The gradient of several models needs a few panels
// even where these do not stay in the second cache, because the lanes of its sums are larger.
func (j *lossJob) groupPanels(k *worker) int {
	const fewest = 6 // chosen by hand
	n := k.groupPanels()
	if k.passes.models >= kernel.TileModels {
		n = max(n, fewest)
	}
	return n
}

func (j *lossJob) compute(k *worker, stripe int) bool {
	k.openFilters(j.requests, stripe)
	if j.gradient {
		k.openGradient()
	}
	for h := range j.requests {
		j.requests[h].Loss.stripes[stripe] = lossSums{}
	}
	any := false
	first, end := k.passes.stripes().Of(stripe)
	step := j.groupPanels(k)
	for ; first < end; first += step {
		group := min(first+step, end)
		k.scorePanels(j.requests, first, group)
		k.useScores(j.requests, stripe, first, group)
		active := 0
		for h := range j.requests {
			active += k.replaceScores(j.requests[h].Loss, h, stripe, first, group)
		}
		if active > 0 && j.gradient {
			any = true
			k.addGroup(first, group, kernel.AccumulateTile)
		}
	}
	for h := range j.requests {
		s := &j.requests[h].Loss.stripes[stripe]
		if j.requests[h].Loss.Rows == nil {
			s.loss, s.slope = kernel.SumLanes(&s.lanes), float64(s.active)
		}
	}
	k.closeFilters(j.requests, stripe)
	return any
}

func (j *lossJob) addTo(k *worker, stripe int, g []float64) { k.addGroupSums(stripe, g) }

// replaceScores turns the scores of model h in the panels from first up to end into coefficients and returns the number of
// rows that have one.
func (k *worker) replaceScores(t *LossTerm, h, stripe, first, end int) int {
	s := &t.stripes[stripe]
	before, stride := s.active, k.passes.models*kernel.PanelRows
	z := k.z[h*kernel.PanelRows:]
	whole := min(end, k.passes.rows.Rows()/kernel.PanelRows)
	if t.Rows == nil {
		s.active += t.Hinge.Panels(z, stride, max(0, whole-first), &s.lanes)
		first, z = max(first, whole), z[min(len(z), stride*max(0, whole-first)):]
	}
	for ; first < end; first++ {
		from, to := k.passes.rows.PanelRows(first)
		if t.Rows == nil {
			s.active += t.Hinge.Rows(z[:to-from], &s.lanes)
		} else {
			s.addRows(t.Rows, from, z[:to-from])
		}
		clear(z[to-from : kernel.PanelRows])
		z = z[min(len(z), stride):]
	}
	return s.active - before
}

func (s *lossSums) addRows(l RowLoss, first int, z []float32) {
	loss, slope := l.Coefficients(first, z)
	s.loss += loss
	s.slope += slope
	for _, v := range z {
		if v != 0 {
			s.active++
		}
	}
}

// denseJob is one call of AddDenseGradients.
type denseJob struct{ coefficients []Coefficients }

func (j *denseJob) compute(k *worker, stripe int) bool {
	k.openGradient()
	first, end := k.passes.stripes().Of(stripe)
	step := max(kernel.Streams, (&lossJob{}).groupPanels(k))
	for ; first < end; first += step {
		group := min(first+step, end)
		j.copyCoefficients(k, first, group)
		k.addGroup(first, group, kernel.AccumulateTileFromMemory)
	}
	return true
}

func (j *denseJob) addTo(k *worker, stripe int, g []float64) { k.addGroupSums(stripe, g) }

// copyCoefficients lays the coefficients of some panels out as the kernels read them: for each panel and model those of its rows, with
// zeros for the rows that the last panel does not have.
func (j *denseJob) copyCoefficients(k *worker, first, end int) {
	models := k.passes.models
	k.z = resize(k.z, (end-first)*models*kernel.PanelRows)
	for panel := first; panel < end; panel++ {
		from, to := k.passes.rows.PanelRows(panel)
		for h := range j.coefficients {
			v := k.z[((panel-first)*models+h)*kernel.PanelRows:][:kernel.PanelRows]
			n := copy(v, j.coefficients[h].V[from:to])
			clear(v[n:])
		}
	}
}

// openGradient prepares the sums of a stripe.
func (k *worker) openGradient() {
	k.panels.grow()
	k.found = resize(k.found, k.passes.models)
	for h := range k.found {
		c := &k.found[h]
		c.Rows, c.V = c.Rows[:0], c.V[:0]
	}
}

// addGroup adds the panels from first up to end with the coefficients in z. Those of exact blocks are listed for addGroupSums.
func (k *worker) addGroup(first, end int, add tileGradient) {
	k.panels.accumulate(first, end, k.z, add)
	for b, block := range k.passes.blocks {
		if c := block.Combinations(); c != nil {
			k.combinations[b].addPanels(c, c.Codes[first*kernel.PanelRows:end*kernel.PanelRows], k.z, k.passes.models)
		}
	}
	if k.passes.listBlocks {
		k.listCoefficients(first, end)
	}
}

func (k *worker) listCoefficients(first, end int) {
	models := k.passes.models
	for h := range models {
		c := &k.found[h]
		for panel := first; panel < end; panel++ {
			for r, v := range k.z[((panel-first)*models+h)*kernel.PanelRows:][:kernel.PanelRows] {
				if v != 0 {
					c.Rows, c.V = append(c.Rows, int32(panel*kernel.PanelRows+r)), append(c.V, v)
				}
			}
		}
	}
}

// addGroupSums adds the sums of all groups of a stripe to g and clears them.
func (k *worker) addGroupSums(stripe int, g []float64) {
	k.panels.addTo(g)
	for b, block := range k.passes.blocks {
		if block.Panels != nil {
			continue
		}
		if c := block.Combinations(); c != nil {
			s := &k.combinations[b]
			s.grow(c, k.passes.models)
			s.addTo(c, g[block.First*k.passes.models:], k.passes.models)
		} else {
			k.addExactSums(k.found, stripe, b, g)
		}
	}
}

// classLoss is the LossTerm of one class at a point. The margins of its rows are t - z for positives and z - t for negatives.
type classLoss struct {
	LossTerm
	loss surrogate.Surrogate
	mass objective.Mass
	sign float64 // of the score in the margin
	t    float64
}

// set prepares the losses of a class at the threshold t.
func (l *classLoss) set(o *subject, t float64, class int) {
	l.loss, l.mass, l.sign, l.t = o.Loss, o.Negatives, 1, t
	if class == positives {
		l.mass, l.sign = o.Positives, -1
	}
	l.Rows = nil
	if l.loss == surrogate.Hinge && l.mass.Weights == nil {
		// max(0, 1 + s) for the margin s = sign (z - t)
		l.Hinge = kernel.Hinge{Sign: l.sign, Shift: 1 - float64(l.sign*t), V: float32(l.sign / l.mass.Total)}
		return
	}
	l.Rows = l
}

// Coefficients implements RowLoss for surrogates and weights without a kernel.
func (l *classLoss) Coefficients(first int, z []float32) (loss, slope float64) {
	zero := l.loss.Properties().ZeroBelow
	for i, zi := range z {
		z[i] = 0
		s := float64(l.sign * (float64(zi) - l.t))
		if !(s > zero) {
			continue
		}
		m := l.mass.Of(first + i)
		loss += float64(m * l.loss.Value(s))
		d := float64(m * l.loss.Derivative(s))
		slope += d
		z[i] = float32(float64(l.sign*d) / l.mass.Total)
	}
	return loss, slope
}

// mean returns the means of the losses and of their slopes, which are 0 when the class is empty.
func (l *classLoss) mean(m objective.Mass) (loss, slope float64) {
	if m.Total == 0 {
		return 0, 0
	}
	return l.Loss / m.Total, l.Slope / m.Total
}

// blockRows is the number of rows that computeCoefficients adds at a time: as many as the blocks of the exact arithmetic.
const blockRows = 128

// computeCoefficients replaces the scores of all rows of a class by coefficients and computes the results of LossGradients.
func (l *classLoss) computeCoefficients(z []float32) {
	l.Loss, l.Slope, l.Active = 0, 0, 0
	if l.Rows == nil {
		l.Loss, l.Active = hingeCoefficients(l.Hinge, z)
		l.Slope = float64(l.Active)
		return
	}
	for first := 0; first < len(z); first += blockRows {
		v := z[first:min(first+blockRows, len(z))]
		loss, slope := l.Rows.Coefficients(first, v)
		l.Loss += loss
		l.Slope += slope
		for _, x := range v {
			if x != 0 {
				l.Active++
			}
		}
	}
}

// hingeCoefficients replaces scores by coefficients and returns the sum of u and the number of rows with a coefficient.
func hingeCoefficients(h kernel.Hinge, z []float32) (sum float64, active int) {
	var lanes [kernel.TileLanes]float64
	whole := len(z) / kernel.PanelRows
	active = h.Panels(z, kernel.PanelRows, whole, &lanes)
	active += h.Rows(z[whole*kernel.PanelRows:], &lanes)
	return kernel.SumLanes(&lanes), active
}
