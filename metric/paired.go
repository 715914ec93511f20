package metric

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"toptau/internal/fault"
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

// What a Difference shows.
const (
	Better    = "better"
	Worse     = "worse"
	Undecided = "undecided"
)

// GroupInterval is the kind of an interval that draws entities.
const GroupInterval = "bootstrap of groups"

// Verdict is Better or Worse only where the interval excludes 0 and the exact sign test agrees: with a handful of
// positives the bootstrap alone is too sure of itself.
func (d Difference) Verdict() string {
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
// In every replicate all models see the same drawn rows: n+ positives and n- negatives with replacement, or as many
// entities as there are. Each model's threshold is found again on them by the tie rule of the package. Intervals run between
// percentiles of the replicates, those of a difference between percentiles of the differences.
//
// Without weights and entities the budget is the same in every replicate, and only rows near the top of some model's list
// can matter. Then a replicate draws how many of the draws fall among these rows, and these; the others are drawn too
// when a threshold turns out to lie below. That is the distribution of resampled rows, at the cost of the budget instead
// of all rows. Otherwise a replicate costs O(n) for each model.
func PairedBootstrap(s PairedScores, c Criterion, reference int, b Bootstrap) (Paired, error) {
	b, err := b.check()
	if err != nil {
		return Paired{}, err
	}
	if err := s.check(reference); err != nil {
		return Paired{}, err
	}
	var out Paired
	var rankings []*Ranking
	for m := range s.Positives {
		r, err := Rank(s.model(m))
		if err != nil {
			return Paired{}, err
		}
		res, err := r.Positives(c)
		if err != nil {
			return Paired{}, err
		}
		rankings = append(rankings, r)
		out.Results = append(out.Results, res)
	}
	first := &out.Results[0] // whether a criterion is defined depends on the rows alone
	if !first.Defined() {
		for m := range out.Results {
			out.Results[m].NoInterval = first.Undefined
			out.Differences = append(out.Differences, Difference{Undefined: first.Undefined})
		}
		return out, nil
	}
	rates := newPairing(s, c, rankings[0], first.Budget).replicates(b)
	interval := func(values []float64) *Interval {
		slices.Sort(values)
		low, high := percentiles(b.Replicates, b.Confidence)
		i := &Interval{Kind: BootstrapInterval, Low: values[low], High: values[high], Confidence: b.Confidence,
			Replicates: b.Replicates, Seed: b.Seed}
		if s.PositiveGroups != nil {
			i.Kind = GroupInterval
		}
		return i
	}
	for m := range out.Results {
		d := s.difference(out.Results[m], out.Results[reference], m, reference)
		values := make([]float64, b.Replicates)
		for i := range values {
			values[i] = rates[m][i] - rates[reference][i]
		}
		d.Interval = interval(values)
		d.significant = d.SignTest <= 1-b.Confidence
		out.Differences = append(out.Differences, d)
	}
	for m := range out.Results {
		out.Results[m].Interval = interval(rates[m])
	}
	return out, nil
}

func (s *PairedScores) model(m int) Scores {
	return Scores{Positives: s.Positives[m], Negatives: s.Negatives[m],
		PositiveWeights: s.PositiveWeights, NegativeWeights: s.NegativeWeights}
}

// check refuses vectors that do not belong to the same rows.
func (s *PairedScores) check(reference int) error {
	wrong := func(format string, args ...any) error {
		return &fault.Error{Kind: fault.Data, Found: fmt.Sprintf(format, args...), Expected: "scores of the same rows"}
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
	counted   bool    // masses of the population are whole numbers
	fixed     bool    // every replicate has the same masses
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

func newPairing(s PairedScores, c Criterion, r *Ranking, budget float64) *pairing {
	p := &pairing{criterion: c, counts: r.counts, counted: r.counted(c), fixed: !r.weighted && s.PositiveGroups == nil,
		budget: budget}
	if r.weighted {
		for class, weights := range [2][]float64{s.PositiveWeights, s.NegativeWeights} {
			if weights == nil {
				weights = slices.Repeat([]float64{1}, r.counts[class])
			}
			p.weights = append(p.weights, weights...)
		}
	}
	if s.PositiveGroups != nil {
		p.number(s.PositiveGroups, s.NegativeGroups)
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

// replicates returns the rates of each model in each replicate.
func (p *pairing) replicates(b Bootstrap) [][]float64 {
	rates := make([][]float64, len(p.orders))
	for m := range rates {
		rates[m] = make([]float64, b.Replicates)
	}
	parallel(b.Replicates, func(first, last int) {
		d := p.newDrawing()
		for i := first; i < last; i++ {
			d.draw(stream(b.Seed, i))
			for m := range p.orders {
				rates[m][i] = d.rate(&p.orders[m])
			}
		}
	})
	return rates
}

// drawing is one replicate.
type drawing struct {
	*pairing
	rng      *rand.Rand
	mass     []float64 // drawn, by row
	times    []float64 // how often each entity was drawn
	left     [2]int    // draws of the class that fell among the rest; those rows are drawn only when they matter
	total    [2]float64
	budget   float64
	slack    float64
	complete bool // the rest is drawn
	dirty    bool // all of mass has to be cleared
}

func (p *pairing) newDrawing() *drawing {
	return &drawing{pairing: p, mass: make([]float64, p.counts[0]+p.counts[1]), times: make([]float64, p.entities)}
}

// draw begins a replicate.
func (d *drawing) draw(rng *rand.Rand) {
	d.rng = rng
	d.clear()
	switch {
	case d.fixed:
		for class, n := range d.counts {
			inside := drawBinomial(rng, n, float64(len(d.core[class])), float64(n))
			d.pick(d.core[class], inside)
			d.left[class] = n - inside
			d.total[class] = float64(n)
		}
		d.budget, d.complete = d.pairing.budget, false
		return
	case d.units != nil:
		d.drawEntities()
	default:
		d.pickClass(0, d.counts[0])
		d.pickClass(d.counts[0], d.counts[1])
	}
	d.sum()
}

func (d *drawing) clear() {
	if d.dirty || !d.fixed {
		clear(d.mass)
		d.dirty = false
		return
	}
	for _, rows := range d.core {
		for _, row := range rows {
			d.mass[row] = 0
		}
	}
}

// pick draws some of the rows with replacement.
func (d *drawing) pick(rows []int32, times int) {
	for range times {
		d.mass[rows[d.rng.IntN(len(rows))]]++
	}
}

// pickClass draws the n rows from first on with replacement and their weights.
func (d *drawing) pickClass(first, n int) {
	for range n {
		row := first + d.rng.IntN(n)
		d.mass[row] += d.weight(row)
	}
}

func (p *pairing) weight(row int) float64 {
	if p.weights == nil {
		return 1
	}
	return p.weights[row]
}

func (d *drawing) drawEntities() {
	clear(d.times)
	for range d.entities {
		d.times[d.rng.IntN(d.entities)]++
	}
	for row, unit := range d.units {
		d.mass[row] = float64(d.times[unit] * d.weight(row))
	}
}

// sum finds the masses and the budget of a replicate in which they are not fixed.
func (d *drawing) sum() {
	d.complete = true
	d.total = [2]float64{}
	for row, m := range d.mass {
		if row < d.counts[0] {
			d.total[0] += m
		} else {
			d.total[1] += m
		}
	}
	mass := d.total[1]
	c := d.criterion
	if c.Name == AtQuantile {
		mass += d.total[0]
	}
	d.budget, d.slack = budgetOf(c, mass, d.counted), 0
	if !d.counted {
		d.slack = float64(tolerance * d.budget)
	}
}

// budgetOf is Ranking.budget for a mass of the population.
func budgetOf(c Criterion, mass float64, counted bool) float64 {
	whole := counted && mass < maxWhole
	switch {
	case c.Name == AtTop || mass == 0:
		return 0
	case whole && c.Paper:
		return float64(c.Tau.Ceil(int(mass)))
	case whole:
		return float64(c.Tau.Floor(int(mass)))
	}
	return c.Tau.Times(mass)
}

// rest draws the rows outside the core.
func (d *drawing) drawRest() {
	d.complete, d.dirty = true, true
	for class, rows := range d.rest {
		d.pick(rows, d.left[class])
	}
}

// rate is the criterion of one model on the drawn rows; 0 where it is undefined.
func (d *drawing) rate(o *order) float64 {
	quantile := d.criterion.Name == AtQuantile
	if d.total[0] == 0 || !quantile && d.total[1] == 0 || quantile && d.budget == 0 {
		return 0
	}
	return d.found(o) / d.total[0]
}

// found is the mass of the positives within the budget.
func (d *drawing) found(o *order) float64 {
	paper := d.criterion.Paper
	reaches := paper && d.criterion.Name != AtTop // the threshold is where the mass reaches K, not where it exceeds B
	var positives, population, before float64
	for i := 0; i < len(o.rows); {
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
		if population > d.budget+d.slack || reaches && population >= d.budget-d.slack {
			break
		}
	}
	if paper {
		return positives
	}
	return before
}
