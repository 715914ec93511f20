package proof

import (
	"cmp"
	"context"
	"fmt"
	"math"
)

// caps are the constraints on the multipliers of a class.
type caps struct {
	positives bool
	capped    bool   // p of the hinge, and a unless the threshold is a surrogate quantile
	per       approx // the largest multiplier of a row of weight 1 if capped: 1/M+ or 1/kappa
}

// name is that of the multipliers in errors.
func (c *caps) name() string {
	if c.positives {
		return "p"
	}
	return "a"
}

// of returns the largest multiplier of a row: none for p that is not capped, and 1 for a, whose sum is 1.
func (c *caps) of(weight float64) approx {
	limit := approx{x: math.Inf(1)}
	if !c.positives {
		limit = exactly(1)
	}
	if c.capped {
		if own := exactly(weight).times(c.per); c.positives || own.x-own.e < 1 {
			limit = own
		}
	}
	return limit
}

// movable is the largest relative violation of a cap, and of the sum of a, that counts as the rounding of a solver which sums over groups.
const movable = 1e-9

// sums are sums over the rows of a class with their multipliers v, cut to their caps.
type sums struct {
	total, squares tally   // of v and v^2/m
	steepest       approx  // the largest v/m
	x              []tally // of v x

	// What moving v onto the constraints changes: the sum of what is cut off and of the distances to the caps, those times the norms of the
	// rows, the sum of v times the norms, and the largest norm.
	change, ownShift, below, belowShift, all tally
	longest                                  float64

	single int // rows found that have a multiplier of their own
}

func newSums(cols int) *sums { return &sums{x: make([]tally, cols)} }

// add adds a row with its multiplier.
func (d *sums) add(r *row, given float64, c *caps) error {
	limit := c.of(r.weight)
	switch {
	case !(given >= 0) || math.IsInf(given, 1):
		return infeasible(fmt.Sprintf("%s of %s is %g", c.name(), r.title(), given), "at least 0, and finite")
	case !(given <= limit.x*(1+movable)):
		return infeasible(fmt.Sprintf("%s of %s is %.17g", c.name(), r.title(), given), fmt.Sprintf("at most %.17g", limit.x))
	}
	cut := max(0, min(given, limit.x-limit.e))
	if !c.positives {
		norm, gap := r.norm(), max(0, limit.x-cut)
		d.change.add(exactly(given - cut))
		d.ownShift.add(exactly(float64((given - cut) * norm)))
		d.below.add(exactly(gap))
		d.belowShift.add(exactly(float64(gap * norm)))
		d.all.add(exactly(float64(cut * norm)))
		d.longest = max(d.longest, norm)
	}
	if given == 0 {
		return nil
	}
	v := exactly(cut)
	if c.positives { // what is cut off p is part of its error
		v.e = float64((given - cut) * (1 + 0x1p-48))
	}
	ratio := v.over(exactly(r.weight))
	if ratio.x > d.steepest.x {
		d.steepest = ratio
	}
	d.total.add(v)
	d.squares.add(v.times(ratio))
	for k, x := range r.values {
		d.x[r.cols[k]].add(v.times(exactly(x)))
	}
	return nil
}

// merge adds the rows of another sum.
func (d *sums) merge(o *sums) {
	for _, pair := range [][2]*tally{{&d.total, &o.total}, {&d.squares, &o.squares}, {&d.change, &o.change}, {&d.ownShift, &o.ownShift},
		{&d.below, &o.below}, {&d.belowShift, &o.belowShift}, {&d.all, &o.all}} {
		pair[0].add(pair[1].sum())
	}
	for j := range d.x {
		d.x[j].add(o.x[j].sum())
	}
	if o.steepest.x > d.steepest.x {
		d.steepest = o.steepest
	}
	d.longest = max(d.longest, o.longest)
	d.single += o.single
}

// dual encloses D(p, a) for a lambda, or 0 if it is negative.
func (e *Prover) dual(ctx context.Context, p, a *Multipliers, lambda, radius float64) (approx, error) {
	if lambda == 0 && !(radius >= 0 && radius <= math.MaxFloat64) {
		return approx{}, infeasible(fmt.Sprintf("radius %g", radius), "a finite radius of at least 0")
	}
	beta := e.problem.Definition().UsesBeta
	if err := cmp.Or(p.check("p", len(e.w)), a.check("a", len(e.w))); err != nil {
		return approx{}, err
	}
	ps, err := e.data.sums(ctx, false, len(e.w), p, &caps{positives: true, capped: !e.squared, per: exactly(1).over(e.massPlus)})
	if err != nil {
		return approx{}, err
	}
	as, err := e.data.sums(ctx, true, len(e.w), a, &caps{capped: !beta, per: exactly(1).over(e.kappa)})
	if err != nil {
		return approx{}, err
	}
	if ps.single != len(p.Single) {
		return approx{}, infeasible(fmt.Sprintf("p names %d rows that are no positives", len(p.Single)-ps.single), "rows of the data")
	}
	if as.single != len(a.Single) {
		return approx{}, infeasible(fmt.Sprintf("a names %d rows that are not in the population", len(a.Single)-as.single), "rows of the data")
	}
	mass := ps.total.sum()
	if mass.x == 0 {
		return approx{}, nil // 0 <= F for any a
	}
	sum := as.total.sum()
	if !(math.Abs(sum.x-1) <= movable) {
		return approx{}, infeasible(fmt.Sprintf("sum of a is %.17g", sum.x), "1")
	}
	moved, shift := as.moved(sum)
	gain := mass
	if beta {
		gain = mass.minus(mass.times(e.regulariser(as, moved)))
	}
	if e.squared {
		gain = gain.minus(e.massPlus.over(exactly(4)).times(ps.squares.sum()))
	}
	var squares, errors tally
	for j := range ps.x {
		v := ps.x[j].sum().minus(mass.times(as.x[j].sum()))
		squares.add(exactly(v.x).times(exactly(v.x)))
		errors.add(exactly(v.e).times(exactly(v.e)))
	}
	v, spread := squares.sum().root(), errors.sum().root()
	v.e += spread.x + spread.e
	v.e += float64(float64((mass.x+mass.e)*shift) * (1 + 0x1p-48))
	var cost approx
	if lambda > 0 {
		cost = v.times(v).over(exactly(2).times(exactly(lambda)))
	} else {
		cost = exactly(radius).times(v)
	}
	d := gain.minus(cost)
	return approx{max(0, d.x), d.e}, nil
}

// moved bounds the sums of |a_j - b_j| and of |a_j - b_j| |x_j| for a feasible b. Cutting a_j to its exact cap takes away what is cut
// off. A sum below 1 is then corrected in proportion to the distances to the caps, a sum above 1 in proportion to a. What was cut off
// is included, so that the bounds also hold for the distance from the point of the certificate.
func (d *sums) moved(whole approx) (moved, shift float64) {
	below, change, ownShift := d.below.sum(), d.change.sum(), d.ownShift.sum()
	off := math.Abs(1-whole.x) + whole.e + change.x
	// The mean norm of the rows whose a changes.
	mean := d.longest
	if below.x > 0x1p-20 {
		mean = max(d.all.sum().x/whole.x, d.belowShift.sum().x/below.x)
	}
	const up = 1 + 0x1p-10 // covers the rounding errors of these sums
	return 2 * up * (change.x + change.e + off), 2 * up * (ownShift.x + ownShift.e + float64(off*mean))
}

// regulariser encloses r(a) of a surrogate quantile for points that differ from a by at most moved. r of the hinge grows with the
// largest a_j/m_j, r of the squared hinge with a norm of a/sqrt(m).
func (e *Prover) regulariser(d *sums, moved float64) approx {
	smallest := exactly(e.population.MinWeight)
	var top approx
	if e.squared {
		top = e.kappa.times(d.squares.sum()).root()
		change := e.kappa.over(smallest).root().times(exactly(moved))
		top.e += change.x + change.e
	} else {
		steepest := d.steepest
		change := exactly(moved).over(smallest)
		steepest.e += change.x + change.e
		top = e.kappa.times(steepest)
	}
	return top.minus(exactly(1)).over(exactly(e.problem.Beta))
}
