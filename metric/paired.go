package metric

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"toptau/diag"
)

// PairedScores are the scores of several models on the same rows: Positives[m][i] is what model m gives to positive row i.
type PairedScores struct {
	Positives, Negatives             [][]float64
	PositiveWeights, NegativeWeights []float64 // of the rows; nil: 1 each
	// The entity of each row, as numbers from 0. nil: every row stands for itself. With entities these are drawn, with all
	// their rows of both classes, instead of rows.
	PositiveGroups, NegativeGroups []int
}

// Paired is a criterion of several models on the same rows.
type Paired struct {
	Results     []Result     // of each model, with the interval of these replicates
	Differences []Difference // of each model to the reference

	scores    PairedScores
	bootstrap Bootstrap
	pairing   *pairing
	drawn     replicates
}

// Difference is how much higher a model's criterion is than the reference's on the same rows.
type Difference struct {
	Rate        float64   // the model's rate minus the reference's
	Undefined   string    // why there is no difference; empty when there is one
	Interval    *Interval // of the difference: both models on the same drawn rows
	Gained      int       // positive rows within the budget of the model alone
	Lost        int       // of the reference alone
	SignTest    float64   // two-sided exact p-value: as many (entities of) gained rows as of lost ones
	significant bool
}

// Verdict is what a Difference shows.
type Verdict string

const (
	Better    Verdict = "better"
	Worse     Verdict = "worse"
	Undecided Verdict = "undecided"
)

// GroupInterval is the kind of an interval that draws entities.
const GroupInterval = "bootstrap of groups"

// Verdict is Better or Worse only where the interval excludes 0 and the exact sign test agrees: with a handful of
// positives the bootstrap alone is too sure of itself.
func (d Difference) Verdict() Verdict {
	switch {
	case d.Undefined != "" || d.Interval == nil || !d.significant:
		return Undecided
	case d.Interval.Low > 0:
		return Better
	case d.Interval.High < 0:
		return Worse
	}
	return Undecided
}

// MarshalJSON writes null for what is undefined.
func (d Difference) MarshalJSON() ([]byte, error) {
	shadow := struct {
		Rate      *float64  `json:"rate"`
		Undefined string    `json:"undefined,omitempty"`
		Interval  *Interval `json:"interval"`
		Gained    int       `json:"gained"`
		Lost      int       `json:"lost"`
		SignTest  *float64  `json:"sign_test"`
	}{nil, d.Undefined, d.Interval, d.Gained, d.Lost, nil}
	if d.Undefined == "" {
		shadow.Rate, shadow.SignTest = &d.Rate, &d.SignTest
	}
	return json.Marshal(shadow)
}

// PairedBootstrap computes a criterion for each model and its difference to the model numbered reference.
//
// In every replicate all models see the same rows with the same drawn masses (see Bootstrap), or the same entities. Each model's
// threshold is found again on them by the tie rule of the package. Intervals run between percentiles of the replicates, those of
// a difference between percentiles of the differences, computed with the gap of the positives to the disadvantage of one model
// and to its advantage: where the thresholds are fixed the interval excludes 0 exactly where the sign test of the positives that
// only one model finds does.
//
// Without weights and entities only rows near the top of some model's list can matter. Then a replicate draws the masses of these
// rows and the mass of all others together; the others are drawn too when a threshold turns out to lie below. That is the
// same distribution, at the cost of the budget instead of all rows. Otherwise a replicate costs O(n) for each model.
func PairedBootstrap(s PairedScores, c Criterion, reference int, b Bootstrap) (Paired, error) {
	b, err := b.check()
	if err != nil {
		return Paired{}, err
	}
	if err := s.check(reference); err != nil {
		return Paired{}, err
	}
	out := Paired{scores: s, bootstrap: b}
	var first *Ranking
	for m := range s.Positives {
		r, err := Rank(s.model(m))
		if err != nil {
			return Paired{}, err
		}
		res, err := r.Positives(c)
		if err != nil {
			return Paired{}, err
		}
		if m == 0 {
			first = r
		}
		out.Results = append(out.Results, res)
	}
	undefined := out.Results[0].Undefined // whether a criterion is defined depends on the rows alone
	if undefined == "" {
		out.pairing = newPairing(s, c, first, out.Results[0].Budget)
		out.drawn = out.pairing.replicates(b)
	}
	for m := range out.Results {
		if undefined != "" {
			out.Results[m].NoInterval = undefined
		} else {
			out.Results[m].Interval = out.interval(m)
		}
		out.Differences = append(out.Differences, out.Difference(m, reference, 1))
	}
	return out, nil
}

// interval is that of one model's criterion.
func (p *Paired) interval(model int) *Interval {
	d, found := &p.drawn, p.drawn.found[model]
	lows, highs := make([]float64, p.bootstrap.Replicates), make([]float64, p.bootstrap.Replicates)
	for i := range lows {
		lows[i] = found[i][negativesAbove]
		highs[i] = d.withGap(i, found[i][positivesAbove])
	}
	return newInterval(p.kind(), p.bootstrap, p.Results[model].Rate, lows, highs)
}

func (p *Paired) kind() string {
	if p.scores.PositiveGroups != nil {
		return GroupInterval
	}
	return BootstrapInterval
}

// Difference compares two models on the replicates. Where it is one of several comparisons whose intervals and verdicts are to
// hold together, their number divides what may fail (Bonferroni). With R replicates that is exact for up to about R/40
// comparisons at a confidence of 95 %. Models that put the rows in the same order differ by 0 with certainty.
func (p *Paired) Difference(model, reference, comparisons int) Difference {
	if text := p.Results[model].Undefined; text != "" {
		return Difference{Undefined: text}
	}
	d := p.scores.difference(p.Results[model], p.Results[reference], model, reference)
	b := p.bootstrap
	b.Confidence = 1 - (1-b.Confidence)/float64(max(1, comparisons))
	lows, highs := make([]float64, b.Replicates), make([]float64, b.Replicates)
	if !p.pairing.orders[model].same(&p.pairing.orders[reference]) {
		for i := range lows {
			lows[i] = -p.drawn.lead(i, reference, model)
			highs[i] = p.drawn.lead(i, model, reference)
		}
	}
	d.Interval = newInterval(p.kind(), b, d.Rate, lows, highs)
	d.significant = d.SignTest <= 1-b.Confidence
	return d
}

func (s *PairedScores) model(m int) Scores {
	return Scores{Positives: s.Positives[m], Negatives: s.Negatives[m],
		PositiveWeights: s.PositiveWeights, NegativeWeights: s.NegativeWeights}
}

// check refuses vectors that do not belong to the same rows.
func (s *PairedScores) check(reference int) error {
	wrong := func(format string, args ...any) error {
		return &diag.Error{Kind: diag.Data, Found: fmt.Sprintf(format, args...), Expected: "scores of the same rows"}
	}
	if len(s.Positives) == 0 || len(s.Positives) != len(s.Negatives) {
		return wrong("scores of %d models for positives and %d for negatives", len(s.Positives), len(s.Negatives))
	}
	if reference < 0 || reference >= len(s.Positives) {
		return wrong("reference %d of %d models", reference, len(s.Positives))
	}
	n := [2]int{len(s.Positives[0]), len(s.Negatives[0])}
	for m := range s.Positives {
		if len(s.Positives[m]) != n[0] || len(s.Negatives[m]) != n[1] {
			return wrong("%d and %d scores of model %d, %d and %d of model 0",
				len(s.Positives[m]), len(s.Negatives[m]), m, n[0], n[1])
		}
	}
	if n[0]+n[1] > math.MaxInt32 {
		return wrong("%d rows", n[0]+n[1])
	}
	if (s.PositiveGroups == nil) != (s.NegativeGroups == nil) {
		return wrong("entities of one class only")
	}
	for class, groups := range [2][]int{s.PositiveGroups, s.NegativeGroups} {
		if groups != nil && len(groups) != n[class] {
			return wrong("%d entities for %d rows", len(groups), n[class])
		}
		for _, g := range groups {
			if g < 0 || g >= n[0]+n[1] {
				return wrong("entity number %d for %d rows", g, n[0]+n[1])
			}
		}
	}
	return nil
}

// difference compares the positives that two models find at their own thresholds.
func (s *PairedScores) difference(a, b Result, m, reference int) Difference {
	d := Difference{Rate: a.Rate - b.Rate}
	net := map[int]int{} // by entity
	for i := range s.Positives[m] {
		found, before := a.admits(s.Positives[m][i]), b.admits(s.Positives[reference][i])
		if found == before {
			continue
		}
		unit, sign := i, 1
		if s.PositiveGroups != nil {
			unit = s.PositiveGroups[i]
		}
		if found {
			d.Gained++
		} else {
			d.Lost++
			sign = -1
		}
		net[unit] += sign
	}
	var up, down int
	for _, sum := range net {
		switch {
		case sum > 0:
			up++
		case sum < 0:
			down++
		}
	}
	d.SignTest = min(1, 2*BinomialAtLeast(up+down, max(up, down), 0.5))
	return d
}

// admits decides a row at the result's threshold.
func (r *Result) admits(score float64) bool {
	return score > r.Threshold || r.Rule == AtOrAbove && score == r.Threshold
}

// pairing is what all replicates share. Rows are numbered with the positives first.
type pairing struct {
	criterion Criterion
	counts    [2]int
	weights   []float64 // nil: 1 each
	units     []int32   // entity of each row; nil: none
	entities  int
	gaps      [2]float64 // mass of a row, or of an entity's rows, of each class
	tau       float64
	fixed     bool    // the mass of each class is the same in every replicate
	budget    float64 // where fixed
	orders    []order
	core      [2][]int32 // rows within the prefix of some order, by class
	rest      [2][]int32 // the others
}

// order is one model's list, best first, equal scores by number.
type order struct {
	rows   []int32
	scores []float64
	prefix int // whole groups of equal scores that hold the threshold in nearly every replicate
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
	p := &pairing{criterion: c, counts: r.counts, fixed: !r.weighted && s.PositiveGroups == nil, budget: budget,
		gaps: [2]float64{1, 1}, tau: c.Tau.Float64()}
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
		p.number(s.PositiveGroups, s.NegativeGroups)
	}
	if c.Name == AtTop {
		p.tau = p.gaps[1] / (r.NegativeMass() + p.gaps[1])
	}
	for m := range s.Positives {
		p.orders = append(p.orders, p.sort(s.Positives[m], s.Negatives[m]))
	}
	p.divide()
	return p
}

// number renames the entities so that no number is left out.
func (p *pairing) number(positives, negatives []int) {
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
	return p.criterion.Name == AtQuantile || int(row) >= p.counts[0]
}

// sort makes a model's order. The prefix reaches so far below the budget that a replicate in which it holds too few draws
// is rarer than one in 10^9.
func (p *pairing) sort(positives, negatives []float64) order {
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

// divide lists the rows of the prefixes and the others.
func (p *pairing) divide() {
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

// replicates are what the models find in each replicate, as shares of the positives' mass.
type replicates struct {
	found [][][3]float64 // of model m in replicate i: the rows' own mass within the budget, see drawing.found
	gap   []float64      // of the positives
	most  []float64      // the budget, where positives take of it
}

// withGap adds the positives' gap to what is found of the rows.
func (r *replicates) withGap(i int, found float64) float64 { return min(found+r.gap[i], r.most[i], 1) }

// lead is the difference of two models in a replicate with the gap of the positives to the first one's advantage.
func (r *replicates) lead(i, model, reference int) float64 {
	return r.withGap(i, r.found[model][i][positivesAbove]) - r.found[reference][i][nothingAbove]
}

// replicates draws all replicates.
func (p *pairing) replicates(b Bootstrap) replicates {
	out := replicates{gap: make([]float64, b.Replicates), most: make([]float64, b.Replicates)}
	for range p.orders {
		out.found = append(out.found, make([][3]float64, b.Replicates))
	}
	parallel(b.Replicates, func(first, last int) {
		d := p.newDrawing()
		for i := first; i < last; i++ {
			d.draw(stream(b.Seed, i))
			out.gap[i], out.most[i] = d.gap[0]/d.total[0], 1
			if p.criterion.Name == AtQuantile {
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
	mass     []float64  // of the rows
	times    []float64  // what each entity drew
	left     [2]float64 // mass of the class's rest, which is divided among its rows only when they matter
	gap      [2]float64
	total    [2]float64 // with the gaps
	budget   float64
	complete bool // the rest is drawn
}

func (p *pairing) newDrawing() *drawing {
	return &drawing{pairing: p, mass: make([]float64, p.counts[0]+p.counts[1]), times: make([]float64, p.entities)}
}

// draw begins a replicate.
func (d *drawing) draw(rng *rand.Rand) {
	d.rng, d.total, d.complete = rng, [2]float64{}, !d.fixed
	switch {
	case d.fixed:
		for class := range d.core {
			d.total[class] = d.share(d.core[class])
			d.left[class] = drawGamma(rng, len(d.rest[class]))
			d.total[class] += d.left[class]
		}
	case d.units != nil:
		for unit := range d.times {
			d.times[unit] = drawExponential(rng)
		}
		for row, unit := range d.units {
			d.put(row, d.times[unit])
		}
	default:
		for row := range d.mass {
			d.put(row, drawExponential(rng))
		}
	}
	for class := range d.gap {
		d.gap[class] = float64(d.gaps[class] * drawExponential(rng))
		d.total[class] += d.gap[class]
	}
	population := d.total[1]
	if d.criterion.Name == AtQuantile {
		if d.fixed {
			d.scale()
		}
		population = d.total[0] + d.total[1]
	}
	d.budget = float64(d.tau * population)
}

// put gives a row its weight times a drawn number.
func (d *drawing) put(row int, x float64) {
	d.mass[row] = float64(x * d.weight(row))
	if row < d.counts[0] {
		d.total[0] += d.mass[row]
	} else {
		d.total[1] += d.mass[row]
	}
}

// share draws the masses of some rows and returns their sum.
func (d *drawing) share(rows []int32) float64 {
	sum := 0.0
	for _, row := range rows {
		d.mass[row] = drawExponential(d.rng)
		sum += d.mass[row]
	}
	return sum
}

// scale makes the mass of each class its number of rows.
func (d *drawing) scale() {
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
		factor := d.left[class] / d.share(rows)
		for _, row := range rows {
			d.mass[row] *= factor
		}
	}
}

// What lies above all rows in drawing.found.
const (
	nothingAbove = iota
	negativesAbove
	positivesAbove // takes of the budget of Positives@Quantile only
)

// found returns what one model finds of the rows' own mass within the budget, as a share of the positives' mass: with nothing above
// all rows, with the negatives' gap there, and with the positives'.
func (d *drawing) found(o *order) [3]float64 {
	limits := [3]float64{d.budget, d.budget - d.gap[1], d.budget}
	if d.criterion.Name == AtQuantile {
		limits[positivesAbove] -= d.gap[0]
	}
	var out [3]float64
	var open [3]bool
	for k, limit := range limits {
		open[k] = limit >= 0
	}
	lowest := func() (least float64) {
		least = math.Inf(1)
		for k, limit := range limits {
			if open[k] {
				least = min(least, limit)
			}
		}
		return least
	}
	var positives, population, before float64
	next := lowest()
	for i := 0; i < len(o.rows) && !math.IsInf(next, 1); {
		if i >= o.prefix && !d.complete {
			d.drawRest()
		}
		before = positives
		for score := o.scores[i]; i < len(o.rows) && o.scores[i] == score; i++ {
			row := o.rows[i]
			m := d.mass[row]
			if int(row) < d.counts[0] {
				positives += m
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
		next = lowest()
	}
	for k := range out {
		if open[k] {
			out[k] = positives
		}
		out[k] /= d.total[0]
	}
	return out
}
