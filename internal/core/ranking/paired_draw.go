package ranking

import (
	"math"
	"math/rand/v2"
	"slices"

	"toptau/internal/core/parallel"
	"toptau/method"
)

// pairing holds what all replicates share. Rows are numbered with the positives first.
type pairing struct {
	criterion Criterion
	counts    [2]int
	weights   []float64 // nil: 1 each
	values    []float64 // amounts of the positives; nil: their mass counts
	valueGap  float64   // typical amount of a positive
	units     []int32   // the entity of each row; nil: none
	entities  int
	gaps      [2]float64 // typical mass of a row, or of an entity's rows, of each class
	tau       float64
	fixed     bool    // the mass of each class is the same in every replicate
	budget    float64 // only if fixed
	orders    []order
	core      [2][]int32 // rows within the prefix of some order, by class
	rest      [2][]int32 // the others
}

// order is one model's list, best first, with equal scores by row number.
type order struct {
	rows   []int32
	scores []float64
	prefix int // rows in whole groups of equal scores that contain the threshold in nearly every replicate
}

// same reports whether two models put the rows in the same order, with the same ties.
func (o *order) same(other *order) bool {
	for i, row := range o.rows {
		if row != other.rows[i] || i > 0 && (o.scores[i] == o.scores[i-1]) != (other.scores[i] == other.scores[i-1]) {
			return false
		}
	}
	return true
}

func newPairing(s PairedScores, c Criterion, r *Ranking, budget float64) *pairing {
	p := &pairing{criterion: c, counts: r.counts, fixed: !r.weighted && s.PositiveGroups == nil && s.PositiveValues == nil &&
		c.Name != method.AtPrecision,
		values: s.PositiveValues, budget: budget,
		gaps: [2]float64{1, 1}, tau: c.Tau.Float64()}
	if p.values != nil {
		p.valueGap = typicalWeight(p.values)
	}
	if r.weighted {
		for class, weights := range [2][]float64{s.PositiveWeights, s.NegativeWeights} {
			if weights == nil {
				weights = slices.Repeat([]float64{1}, r.counts[class])
			}
			p.weights = append(p.weights, weights...)
			p.gaps[class] = typicalWeight(weights)
		}
	}
	if s.PositiveGroups != nil {
		p.numberEntities(s.PositiveGroups, s.NegativeGroups)
	}
	if c.Name == method.AtTop {
		p.tau = p.gaps[1] / (r.NegativeMass() + p.gaps[1])
	}
	for m := range s.Positives {
		p.orders = append(p.orders, p.sortModel(s.Positives[m], s.Negatives[m]))
	}
	p.splitCore()
	return p
}

// numberEntities renumbers the entities without gaps.
func (p *pairing) numberEntities(positives, negatives []int) {
	names := map[int]int32{}
	for _, groups := range [2][]int{positives, negatives} {
		for _, g := range groups {
			unit, known := names[g]
			if !known {
				unit = int32(len(names))
				names[g] = unit
			}
			p.units = append(p.units, unit)
		}
	}
	p.entities = len(names)
	for class, rows := range [2][2]int{{0, p.counts[0]}, {p.counts[0], p.counts[0] + p.counts[1]}} {
		masses := make([]float64, p.entities)
		for row := rows[0]; row < rows[1]; row++ {
			masses[p.units[row]] += p.weight(row)
		}
		p.gaps[class] = typicalWeight(masses)
	}
}

// member reports whether a row is in the criterion's population.
func (p *pairing) member(row int32) bool {
	return p.criterion.Name == method.AtQuantile || int(row) >= p.counts[0]
}

// sortModel returns a model's order. The prefix reaches 8 standard deviations and 40 rows below the budget,
// so fewer than one replicate in 10^9 needs more rows.
func (p *pairing) sortModel(positives, negatives []float64) order {
	n := len(positives) + len(negatives)
	scores := append(append(make([]float64, 0, n), positives...), negatives...)
	o := order{rows: make([]int32, n), scores: make([]float64, n)}
	for i := range o.rows {
		o.rows[i] = int32(i)
	}
	slices.SortFunc(o.rows, func(a, b int32) int {
		switch x, y := scores[a], scores[b]; {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return int(a - b)
	})
	for i, row := range o.rows {
		o.scores[i] = scores[row]
	}
	want := n
	if p.fixed {
		want = int(p.budget + float64(8*math.Sqrt(p.budget+1)) + 40)
	}
	tied := func(i int) bool { return i > 0 && o.scores[i] == o.scores[i-1] }
	for members := 0; o.prefix < n && (members < want || tied(o.prefix)); o.prefix++ {
		if p.member(o.rows[o.prefix]) {
			members++
		}
	}
	return o
}

// splitCore lists the rows of the prefixes and the others.
func (p *pairing) splitCore() {
	inside := make([]bool, p.counts[0]+p.counts[1])
	for _, o := range p.orders {
		for _, row := range o.rows[:o.prefix] {
			inside[row] = true
		}
	}
	for row, is := range inside {
		class := 0
		if row >= p.counts[0] {
			class = 1
		}
		if is {
			p.core[class] = append(p.core[class], int32(row))
		} else {
			p.rest[class] = append(p.rest[class], int32(row))
		}
	}
}

// replicates contains what the models find in each replicate, as fractions of the positives' mass.
type replicates struct {
	found [][][3]float64 // by model and replicate: the rows' mass within the budget, see drawing.found
	gap   []float64      // by replicate: the mass of the positives' gap
	most  []float64      // by replicate: the budget if positives count towards it, otherwise 1
}

// withGap adds the positives' gap to the mass found.
func (r *replicates) withGap(i int, found float64) float64 { return min(found+r.gap[i], r.most[i], 1) }

// lead returns the difference of two models in a replicate, with the gap of the positives in the first one's
// favour.
func (r *replicates) lead(i, model, reference int) float64 {
	return r.withGap(i, r.found[model][i][positivesAbove]) - r.found[reference][i][nothingAbove]
}

// drawAll draws all replicates.
func (p *pairing) drawAll(b Bootstrap) replicates {
	out := replicates{gap: make([]float64, b.Replicates), most: make([]float64, b.Replicates)}
	for range p.orders {
		out.found = append(out.found, make([][3]float64, b.Replicates))
	}
	parallel.Ranges(b.Replicates, func(first, last int) {
		d := p.newDrawing()
		for i := first; i < last; i++ {
			d.draw(stream(b.Seed, i))
			out.gap[i], out.most[i] = d.gapWorth/d.worth, 1
			if p.criterion.Name == method.AtQuantile && p.values == nil {
				out.most[i] = d.budget / d.total[0]
			}
			for m := range p.orders {
				out.found[m][i] = d.found(&p.orders[m])
			}
		}
	})
	return out
}

// drawing is one replicate.
type drawing struct {
	*pairing
	rng      *rand.Rand
	mass     []float64  // of each row
	times    []float64  // the factor of each entity
	left     [2]float64 // mass of the class's rest, divided among its rows only if they matter
	gap      [2]float64
	total    [2]float64 // with the gaps
	worth    float64    // sum of the positives' amounts with the gap, or their mass
	gapWorth float64    // amount of the positives' gap, or its mass
	budget   float64
	complete bool // the rest is drawn
}

func (p *pairing) newDrawing() *drawing {
	return &drawing{pairing: p, mass: make([]float64, p.counts[0]+p.counts[1]), times: make([]float64, p.entities)}
}

// draw draws a replicate.
func (d *drawing) draw(rng *rand.Rand) {
	d.rng, d.total, d.complete = rng, [2]float64{}, !d.fixed
	switch {
	case d.fixed:
		for class := range d.core {
			d.total[class] = d.drawMasses(d.core[class])
			d.left[class] = drawGamma(rng, len(d.rest[class]))
			d.total[class] += d.left[class]
		}
	case d.units != nil:
		for unit := range d.times {
			d.times[unit] = drawExponential(rng)
		}
		for row, unit := range d.units {
			d.setMass(row, d.times[unit])
		}
	default:
		for row := range d.mass {
			d.setMass(row, drawExponential(rng))
		}
	}
	for class := range d.gap {
		d.gap[class] = float64(d.gaps[class] * drawExponential(rng))
		d.total[class] += d.gap[class]
	}
	defer d.setWorth()
	population := d.total[1]
	if d.criterion.Name == method.AtQuantile {
		if d.fixed {
			d.scaleToCounts()
		}
		population = d.total[0] + d.total[1]
	}
	d.budget = float64(d.tau * population)
}

// setWorth sets what the positives of a drawing are worth.
func (d *drawing) setWorth() {
	if d.worth, d.gapWorth = d.total[0], d.gap[0]; d.values == nil {
		return
	}
	d.gapWorth = float64(d.gap[0] * d.valueGap)
	d.worth = d.gapWorth
	for row, value := range d.values {
		d.worth += float64(d.mass[row] * value)
	}
}

// setMass sets a row's mass to its weight times a drawn number.
func (d *drawing) setMass(row int, x float64) {
	d.mass[row] = float64(x * d.weight(row))
	if row < d.counts[0] {
		d.total[0] += d.mass[row]
	} else {
		d.total[1] += d.mass[row]
	}
}

// drawMasses draws the masses of some rows and returns their sum.
func (d *drawing) drawMasses(rows []int32) float64 {
	sum := 0.0
	for _, row := range rows {
		d.mass[row] = drawExponential(d.rng)
		sum += d.mass[row]
	}
	return sum
}

// scaleToCounts scales the mass of each class to its number of rows.
func (d *drawing) scaleToCounts() {
	for class, rows := range d.core {
		factor := float64(d.counts[class]) / d.total[class]
		for _, row := range rows {
			d.mass[row] *= factor
		}
		d.left[class] *= factor
		d.gap[class] *= factor
		d.total[class] = float64(d.counts[class])
	}
}

func (p *pairing) weight(row int) float64 {
	if p.weights == nil {
		return 1
	}
	return p.weights[row]
}

// drawRest divides the mass of the rows outside the core among them.
func (d *drawing) drawRest() {
	d.complete = true
	for class, rows := range d.rest {
		factor := d.left[class] / d.drawMasses(rows)
		for _, row := range rows {
			d.mass[row] *= factor
		}
	}
}

// The gap that lies above all rows in drawing.found.
const (
	nothingAbove = iota
	negativesAbove
	positivesAbove // counts towards the budget of Positives@Quantile only
)

// lowestOpen returns the lowest of the limits that are open, infinity without one.
func lowestOpen(limits [3]float64, open [3]bool) float64 {
	lowest := math.Inf(1)
	for k, limit := range limits {
		if open[k] {
			lowest = min(lowest, limit)
		}
	}
	return lowest
}

// found returns the mass of the rows that one model finds within the budget, as a fraction of the positives'
// mass: with no gap above all rows, with the negatives' gap there, and with the positives' gap.
func (d *drawing) found(o *order) [3]float64 {
	if d.criterion.Name == method.AtPrecision {
		return d.preciselyFound(o)
	}
	limit := raised(d.budget)
	limits := [3]float64{limit, limit - d.gap[1], limit}
	if d.criterion.Name == method.AtQuantile {
		limits[positivesAbove] -= d.gap[0]
	}
	var out [3]float64
	var open [3]bool
	for k, limit := range limits {
		open[k] = limit >= 0
	}
	var positives, population, before float64
	next := lowestOpen(limits, open)
	for i := 0; i < len(o.rows) && !math.IsInf(next, 1); {
		if i >= o.prefix && !d.complete {
			d.drawRest()
		}
		before = positives
		for score := o.scores[i]; i < len(o.rows) && o.scores[i] == score; i++ {
			row := o.rows[i]
			m := d.mass[row]
			switch {
			case int(row) >= d.counts[0]:
			case d.values == nil:
				positives += m
			default:
				positives += float64(m * d.values[row])
			}
			if d.member(row) {
				population += m
			}
		}
		if population <= next {
			continue
		}
		for k, limit := range limits {
			if !open[k] || population <= limit {
				continue
			}
			open[k] = false
			if out[k] = before; d.criterion.Paper {
				out[k] = positives
			}
		}
		next = lowestOpen(limits, open)
	}
	for k := range out {
		if open[k] {
			out[k] = positives
		}
		out[k] /= d.worth
	}
	return out
}

// preciselyFound is found for Positives@Precision.
func (d *drawing) preciselyFound(o *order) (out [3]float64) {
	gaps := [3][2]float64{{}, {0, d.gap[1]}, {d.gap[0], 0}} // above all rows: nothing, the negatives' gap, the positives'
	var worth, positives, all float64
	for i := 0; i < len(o.rows); {
		for score := o.scores[i]; i < len(o.rows) && o.scores[i] == score; i++ {
			row := o.rows[i]
			m := d.mass[row]
			all += m
			if int(row) >= d.counts[0] {
				continue
			}
			positives += m
			if d.values != nil {
				m = float64(m * d.values[row])
			}
			worth += m
		}
		for k, gap := range gaps {
			if positives+gap[0] >= float64(d.tau*(all+gap[0]+gap[1])) {
				out[k] = worth
			}
		}
	}
	for k := range out {
		out[k] /= d.worth
	}
	return out
}
