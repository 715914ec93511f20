package ranking

import (
	"math"
	"math/rand/v2"
	"sort"

	"toptau/method"
)

// drawn computes replicates of a Ranking: drawn masses of the gaps between its scores, see Bootstrap.
type drawn struct {
	r   *Ranking
	rng *rand.Rand
	// Only with weights: the drawn mass of the groups, cumulated as in the Ranking.
	positives, negatives []float64
}

// criterion draws a replicate and returns the criterion with all gaps against the positives, and with all
// gaps in their favour.
func (d *drawn) criterion(c Criterion) (low, high float64) {
	r := d.r
	tau := c.Tau.Float64()
	if c.Name == method.AtTop {
		one := 1.0
		if r.weighted {
			one = typicalWeight(r.rows.weights[1])
		}
		tau = one / (r.NegativeMass() + one)
	}
	switch {
	case c.Name == method.AtPrecision:
		return d.precision(tau)
	case r.weighted:
		return d.rows(c, func(mass float64) float64 { return float64(tau * mass) })
	case c.Name == method.AtQuantile:
		found := d.edges(float64(tau*r.mass(c)), c.Paper, true)
		return found.low / found.positives, found.high / found.positives
	}
	return d.classes(tau, c.Paper)
}

// topDraw is a replicate of a number of best rows.
type topDraw struct {
	low, high            float64 // mass of the positives among them
	positives, negatives float64 // mass of the classes
}

// top draws a replicate of the best rows with the mass count. The classes divide the mass of all rows as the draw
// has it, because new rows have another fraction of positives.
func (d *drawn) top(count float64) topDraw {
	if d.r.weighted {
		fraction := count / (d.r.PositiveMass() + d.r.NegativeMass())
		low, high := d.rows(Criterion{Name: method.AtQuantile}, func(mass float64) float64 { return float64(fraction * mass) })
		t := topDraw{positives: d.r.PositiveMass(), negatives: d.r.NegativeMass()}
		t.low, t.high = float64(low*t.positives), float64(high*t.positives)
		return t
	}
	return d.edges(count, false, false)
}

// classes draws a replicate whose budget is a fraction of the negatives. The number of negatives above the
// threshold that admits the fraction tau is Bin(n-, tau). The threshold lies between the last of them and the
// next one.
func (d *drawn) classes(tau float64, paper bool) (low, high float64) {
	r := d.r
	above := drawBinomial(d.rng, r.counts[1], tau, 1)
	few, many := r.beyond(above, paper), r.beyond(above+1, paper)
	certain := drawGamma(d.rng, few)
	possible := drawGamma(d.rng, many-few)
	below := drawGamma(d.rng, r.counts[0]-many)
	gap := drawGamma(d.rng, 1)
	total := certain + possible + below + gap
	return certain / total, (certain + possible + gap) / total
}

// beyond counts the positives above the k-th largest negative, and in the paper's count also those equal to
// it. It counts all positives if there are fewer than k negatives.
func (r *tieGroups) beyond(k int, paper bool) int {
	if k == 0 {
		return 0
	}
	g := sort.Search(len(r.scores), func(g int) bool { return r.negatives[g+1] >= float64(k) })
	if paper {
		g++
	}
	return int(r.positives[min(g, len(r.scores))])
}

// edges draws a replicate whose budget is a number of best rows of both classes. The sizes of the classes are those of
// the sample if fixed, otherwise the draw divides the rows between them.
func (d *drawn) edges(budget float64, paper, fixed bool) topDraw {
	r := d.r
	positives, negatives := drawGamma(d.rng, r.counts[0]), drawGamma(d.rng, r.counts[1])
	gap, other := drawGamma(d.rng, 1), drawGamma(d.rng, 1)
	t := topDraw{positives: r.PositiveMass(), negatives: r.NegativeMass()}
	if !fixed {
		all := t.positives + t.negatives
		a, b := positives+gap, negatives+other
		if r.measured != nil { // the fraction of positives is known from all rows, not from the measured ones
			a, b = drawGamma(d.rng, int(t.positives)+1), drawGamma(d.rng, int(t.negatives)+1)
		}
		t.positives = float64(all * (a / (a + b)))
		t.negatives = all - t.positives
	}
	rows := perClass(r)
	p := span{count: rows.positives, scale: t.positives / (positives + gap), mass: positives}
	n := span{count: rows.negatives, scale: t.negatives / (negatives + other), mass: negatives}
	gap, other = float64(gap*p.scale), float64(other*n.scale)
	s := search{p: p, n: n, high: len(r.scores)}
	// The budget ends between these groups in nearly every replicate, so the search tries them first. 8 standard
	// deviations and 40 rows were chosen by hand (a change moves results); another choice changes the speed and the draws, not their
	// distribution.
	slack := float64(8*math.Sqrt(budget+1)) + 40
	for i, rows := range [2]float64{budget + slack, budget - slack} {
		s.try[i] = sort.Search(len(r.scores), func(g int) bool { return r.positives[g]+r.negatives[g] >= rows })
	}
	found := [2]float64{}
	limit := raised(budget)
	d.edge(s, [2]float64{limit - other, limit - gap}, [2]bool{true, true}, paper, &found)
	t.low, t.high = min(found[0], budget), min(found[1]+gap, t.positives, budget) // the positives cannot take more than all of the budget
	return t
}

// span is a range of groups in one class.
type span struct {
	count []float64 // rows above each group
	mass  float64   // drawn for the rows of the range, before scaling
	scale float64
	above float64 // scaled mass of the rows above the range
}

// halve draws the part of the range's mass that lies above a group.
func (s *span) halve(rng *rand.Rand, low, mid, high int) float64 {
	upper, lower := int(s.count[mid]-s.count[low]), int(s.count[high]-s.count[mid])
	switch {
	case upper == 0:
		return 0
	case lower == 0:
		return s.mass
	}
	a := drawGamma(rng, upper)
	return float64(s.mass * (a / (a + drawGamma(rng, lower))))
}

// upper returns the upper part of the range, which has the given mass.
func (s span) upper(mass float64) span {
	s.mass = mass
	return s
}

// lower returns the part of the range below an upper part with the given mass.
func (s span) lower(mass float64) span {
	s.above += float64(mass * s.scale)
	s.mass -= mass
	return s
}

// search is a range of groups that contains the end of a budget.
type search struct {
	p, n      span
	low, high int
	try       [2]int // groups to divide at first
}

func (s *search) middle() int {
	for _, g := range s.try {
		if s.low < g && g < s.high {
			return g
		}
	}
	return s.low + (s.high-s.low)/2
}

// edge bisects the range to find the groups in which the wanted ones of two budgets end, and sets the mass of
// the positives within each.
func (d *drawn) edge(s search, budgets [2]float64, want [2]bool, paper bool, found *[2]float64) {
	for s.high-s.low > 1 && (want[0] || want[1]) {
		mid := s.middle()
		up, un := s.p.halve(d.rng, s.low, mid, s.high), s.n.halve(d.rng, s.low, mid, s.high)
		upper, lower := s, s
		upper.p, upper.n, upper.high = s.p.upper(up), s.n.upper(un), mid
		lower.p, lower.n, lower.low = s.p.lower(up), s.n.lower(un), mid
		cut := lower.p.above + lower.n.above
		above := [2]bool{want[0] && cut > budgets[0], want[1] && cut > budgets[1]}
		switch {
		case above == want:
			s = upper
		case above == [2]bool{}:
			s = lower
		default: // one of each
			d.edge(upper, budgets, above, paper, found)
			s, want = lower, [2]bool{want[0] && !above[0], want[1] && !above[1]}
		}
	}
	for i, budget := range budgets {
		all := s.p.above + float64(s.p.mass*s.p.scale)
		switch {
		case !want[i] || budget < 0:
		case paper || all+s.n.above+float64(s.n.mass*s.n.scale) <= budget: // also beyond the last row
			found[i] = all
		default:
			found[i] = s.p.above
		}
	}
}

// precision draws a replicate of all groups and returns Positives@Precision with all gaps against the positives, and in their favour.
func (d *drawn) precision(tau float64) (low, high float64) {
	gaps := d.groups()
	total := d.positives[len(d.r.scores)] + gaps[0]
	for g := range d.r.scores {
		k, m := d.positives[g+1], d.positives[g+1]+d.negatives[g+1]
		if k >= float64(tau*(m+gaps[1])) {
			low = k
		}
		if k+gaps[0] >= float64(tau*(m+gaps[0])) {
			high = k + gaps[0]
		}
	}
	return low / total, min(1, high/total)
}

// groups draws the mass of each group, cumulated, and of the gap of each class. With weights every row draws a mass.
func (d *drawn) groups() (gaps [2]float64) {
	r := d.r
	size := len(r.scores) + 1
	if d.positives == nil {
		d.positives, d.negatives = make([]float64, size), make([]float64, size)
	}
	for class, mass := range [2][]float64{d.positives, d.negatives} {
		clear(mass)
		gaps[class] = 1
		if r.weighted {
			groups, weights := r.rows.groups[class], r.rows.weights[class]
			for i, g := range groups {
				mass[g+1] += float64(weights[i] * drawExponential(d.rng))
			}
			gaps[class] = typicalWeight(weights)
		} else {
			rows := perClass(r)
			counts, masses := [2][]float64{rows.positives, rows.negatives}[class], [2][]float64{r.positives, r.negatives}[class]
			factor := 1.0
			if all := counts[size-1]; all > 0 {
				factor = masses[size-1] / all
			}
			for g := 1; g < size; g++ {
				mass[g] = float64(factor * drawGamma(d.rng, int(counts[g]-counts[g-1])))
			}
			gaps[class] = factor
		}
		for g := 1; g < size; g++ {
			mass[g] += mass[g-1]
		}
		gaps[class] *= drawExponential(d.rng)
	}
	return gaps
}

// rows draws a replicate of weighted rows. budget is a function of the population's mass.
func (d *drawn) rows(c Criterion, budget func(mass float64) float64) (low, high float64) {
	r := d.r
	gaps := d.groups()
	again := tieGroups{scores: r.scores, positives: d.positives, negatives: d.negatives}
	mass := again.mass(c) + gaps[1]
	all, _ := again.totals()
	total := all + gaps[0]
	if c.Name == method.AtQuantile {
		mass += gaps[0]
	}
	b := budget(mass)
	low = again.found(c, b-gaps[1])
	high = again.found(c, b) + gaps[0]
	if c.Name == method.AtQuantile {
		high = min(again.found(c, b-gaps[0])+gaps[0], b)
	}
	return low / total, min(1, high/total)
}

// found returns the mass of the positives within a budget of the population.
func (r *tieGroups) found(c Criterion, budget float64) float64 {
	if budget < 0 {
		return 0
	}
	g := sort.Search(len(r.scores), func(g int) bool { return r.cumulated(c, g+1) > budget })
	if c.Paper {
		g++
	}
	return r.positives[min(g, len(r.scores))]
}

// typicalWeight returns the mean weight of the rows, each counted by its weight. That is the weight of the
// gap at the end of the rows.
func typicalWeight(weights []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, w := range weights {
		sum += w
		squares += float64(w * w)
	}
	if sum == 0 {
		return 0
	}
	return squares / sum
}
