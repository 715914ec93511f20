package objective

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"toptau/diag"
	"toptau/internal/matrix"
	"toptau/internal/parallel"
	"toptau/method"
	"toptau/surrogate"
	"toptau/threshold"
)

// Parts is data that is read a part at a time, because all of it does not fit into memory. The sources of the rows are
// their numbers in the data.
type Parts interface {
	Count() int
	Read(ctx context.Context, part int) (*matrix.Matrix, error)
}

// Multipliers describe p or a of a dual point: those of single rows, and those of the rows of groups.
type Multipliers struct {
	Single map[int]float64 // by the number of the row
	Groups []Group
	Held   map[int]int // rows that are no members of groups, each with its place among them
}

// Group is rows whose scores at Weights are from Low to below High, without the first Held of the rows held. A member of
// weight m and score z has the multiplier max(0, m Value (Rate + Slope (z - Origin))), each operation rounded to float64;
// z is the sum of the products in the order of the columns.
type Group struct {
	Weights                    []float64
	Low, High                  float64
	Held                       int
	Value, Rate, Slope, Origin float64
}

// EncloseParts is Enclose for data that is read in parts, with a dual point that may have groups of rows. It makes about
// eight passes and keeps nothing for each row. Rows that miss a constraint by rounding are moved onto it, and the sum of a
// may miss 1: the error of D covers what that changes.
func EncloseParts(ctx context.Context, parts Parts, problem method.Problem, positives, population threshold.Population, w []float64,
	p, a *Multipliers, radius float64) (Enclosure, error) {
	e, err := newPartsEncloser(ctx, parts, problem, positives, population, w)
	if err != nil {
		return Enclosure{}, err
	}
	d, err := e.dual(p, a, problem.Lambda, radius)
	if err != nil {
		return Enclosure{}, err
	}
	f, t, err := e.valueAt()
	if err != nil {
		return Enclosure{}, err
	}
	if !f.finite() || !d.finite() {
		return Enclosure{}, infeasible("F(w) or D(p, a) is not finite: their sum is %g", f.x+d.x, "numbers that float64 can hold", "")
	}
	return Enclosure{F: f.x, FError: f.e, D: d.x, DError: d.e, T: t.x, Norm: Norm(w)}, nil
}

// EncloseNormParts is EncloseNorm for data that is read in parts. f and fError are those of the enclosed F(w).
func EncloseNormParts(ctx context.Context, parts Parts, problem method.Problem, positives, population threshold.Population,
	w []float64, p, a *Multipliers, lambda, f, fError float64) (bound, boundError float64, err error) {
	if problem.Lambda != 0 || !(lambda > 0) {
		return 0, 0, infeasible("lambda %g", lambda, "above 0, for a problem with lambda 0", "")
	}
	e, err := newPartsEncloser(ctx, parts, problem, positives, population, w)
	if err != nil {
		return 0, 0, err
	}
	d, err := e.dual(p, a, lambda, 0)
	if err != nil {
		return 0, 0, err
	}
	return normBound(d, approx{f, fError}, lambda)
}

// partsEncloser is the state of EncloseParts.
type partsEncloser struct {
	ctx        context.Context
	parts      Parts
	problem    method.Problem
	rule       threshold.Threshold
	population threshold.Population
	squared    bool
	w          []float64
	kappa      approx
	massPlus   approx
	low, high  float64 // of the population's scores, about
}

func newPartsEncloser(ctx context.Context, parts Parts, problem method.Problem, positives, population threshold.Population,
	w []float64) (*partsEncloser, error) {
	rule, err := problem.Rule().Bind(population)
	if err != nil {
		return nil, err
	}
	e := &partsEncloser{ctx: ctx, parts: parts, problem: problem, rule: rule, population: population, w: w,
		squared: problem.Loss() == surrogate.SquaredHinge, kappa: massOnTop(rule, population), massPlus: exactly(positives.Mass)}
	if !positives.Whole || positives.Mass >= 1<<53 {
		e.massPlus = rounded(positives.Mass, positives.Mass*0x1p-50)
	}
	return e, nil
}

// partsAtOnce is the number of parts whose sums are in memory. Sums are added in the order of the parts.
const partsAtOnce = 16

// eachPart makes a pass.
func eachPart[T any](e *partsEncloser, read func(x *matrix.Matrix) (T, error), add func(T)) error {
	return parallel.InOrder(e.parts.Count(), partsAtOnce, func(k int) (t T, err error) {
		if e.ctx.Err() != nil {
			return t, context.Cause(e.ctx)
		}
		x, err := e.parts.Read(e.ctx, k)
		if err != nil {
			return t, err
		}
		if x.Cols() != len(e.w) && x.Rows() > 0 {
			return t, infeasible("w has %g elements", float64(len(e.w)), "one for each column", "")
		}
		return read(x)
	}, add)
}

// row is a row of a part.
type row struct {
	positive bool
	number   int
	weight   float64
	cols     []uint32
	values   []float64
}

// rows calls visit for each row of a part, the positives first.
func rows(x *matrix.Matrix, visit func(r *row) error) error {
	if err := rowsOfClass(x.Positives, true, visit); err != nil {
		return err
	}
	return rowsOfClass(x.Negatives, false, visit)
}

func rowsOfClass(class *matrix.ClassRows, positive bool, visit func(r *row) error) error {
	r := row{positive: positive}
	weights := class.Weights()
	for i := range class.Rows() {
		r.cols, r.values = class.Entries(i, r.cols[:0], r.values[:0])
		r.number, r.weight = class.Source(i), weight(weights, i)
		if err := visit(&r); err != nil {
			return err
		}
	}
	return nil
}

// counts reports whether a row belongs to the population.
func (e *partsEncloser) counts(r *row) bool {
	return !r.positive || e.problem.Definition().Population != method.Negatives
}

// score encloses the score of a row.
func (r *row) score(w []float64) (approx, error) {
	var sum tally
	for k, x := range r.values {
		sum.add(exactly(x).times(exactly(w[r.cols[k]])))
	}
	z := sum.sum()
	if !z.finite() {
		return z, &diag.Error{Kind: diag.Data, Found: fmt.Sprintf("the score of row %d of the data is not finite", r.number+1),
			Expected: "weights and rows whose products float64 can hold"}
	}
	return z, nil
}

// dot returns the score of a row, rounded after each operation.
func (r *row) dot(w []float64) float64 {
	z := 0.0
	for k, x := range r.values {
		z += float64(x * w[r.cols[k]])
	}
	return z
}

// norm returns the norm of a row, rounded up.
func (r *row) norm() float64 {
	square := 0.0
	for _, x := range r.values {
		square += float64(x * x)
	}
	return float64(math.Sqrt(square)*(1+float64(float64(len(r.values)+2)*0x1p-52))) + 0x1p-500
}

// multiplier computes multipliers of rows. Groups often share their weights, whose score is then computed once.
type multiplier struct {
	*Multipliers
	points []point
	single int // rows found that have a multiplier of their own
}

// point is weights with the groups that their scores describe.
type point struct {
	w        []float64
	groups   []*Group // in ascending order of Low
	disjoint bool     // no score is in two of them
}

func (m *Multipliers) prepare() *multiplier {
	p := &multiplier{Multipliers: m}
	for i := range m.Groups {
		g := &m.Groups[i]
		k := slices.IndexFunc(p.points, func(known point) bool { return slices.Equal(known.w, g.Weights) })
		if k < 0 {
			k = len(p.points)
			p.points = append(p.points, point{w: g.Weights})
		}
		p.points[k].groups = append(p.points[k].groups, g)
	}
	for k := range p.points {
		at := &p.points[k]
		slices.SortStableFunc(at.groups, func(a, b *Group) int { return cmp.Compare(a.Low, b.Low) })
		at.disjoint = true
		for i, g := range at.groups {
			at.disjoint = at.disjoint && (i == 0 || at.groups[i-1].High <= g.Low)
		}
	}
	return p
}

// around returns the groups that may hold a score.
func (p *point) around(z float64) []*Group {
	if !p.disjoint {
		return p.groups
	}
	k := sort.Search(len(p.groups), func(i int) bool { return p.groups[i].Low > z })
	return p.groups[max(0, k-1):k]
}

// of returns the multiplier of a row.
func (m *multiplier) of(r *row) float64 {
	value, named := m.Single[r.number]
	if named {
		m.single++
	}
	if len(m.Groups) == 0 {
		return value
	}
	place, held := m.Held[r.number]
	for k := range m.points {
		z := r.dot(m.points[k].w)
		for _, g := range m.points[k].around(z) {
			if !(z >= g.Low && z < g.High) || held && place < g.Held {
				continue
			}
			own := float64(r.weight * float64(g.Value*(g.Rate+float64(g.Slope*(z-g.Origin)))))
			if math.IsNaN(own) {
				return own
			}
			value += max(0, own)
		}
	}
	return value
}

// movable is the largest relative violation of a cap that counts as the rounding of a solver which sums over groups.
const movable = 1e-9

// within returns a multiplier cut to its cap, or an error.
func within(name string, r *row, x, limit float64) (float64, error) {
	switch {
	case !(x >= 0) || math.IsInf(x, 1):
		return 0, infeasible(fmt.Sprintf("%s of row %d of the data is", name, r.number+1)+" %g", x, "at least 0, and finite", "")
	case !(x <= limit*(1+movable)):
		return 0, infeasible(fmt.Sprintf("%s of row %d of the data is", name, r.number+1)+" %.17g", x, fmt.Sprintf("at most %.17g", limit), "")
	}
	return min(x, limit), nil
}

// dualParts are sums over the rows of a part, or of all parts.
type dualParts struct {
	p, pSquares            tally
	a, aSquares            tally // aSquares: of a^2/m
	change, ownShift       tally // of what is cut off a
	below, belowShift, all tally // of distances to the caps, and of a, times norms
	steepest               approx
	longest                float64 // norm
	px, ax                 []tally
	singleP, singleA       int
	low, high              float64
}

func (d *dualParts) add(o *dualParts) {
	for _, pair := range [][2]*tally{{&d.p, &o.p}, {&d.pSquares, &o.pSquares}, {&d.a, &o.a}, {&d.aSquares, &o.aSquares},
		{&d.change, &o.change}, {&d.ownShift, &o.ownShift}, {&d.below, &o.below}, {&d.belowShift, &o.belowShift}, {&d.all, &o.all}} {
		pair[0].add(pair[1].sum())
	}
	for j := range d.px {
		d.px[j].add(o.px[j].sum())
		d.ax[j].add(o.ax[j].sum())
	}
	if o.steepest.x > d.steepest.x {
		d.steepest = o.steepest
	}
	d.longest = max(d.longest, o.longest)
	d.singleP, d.singleA = d.singleP+o.singleP, d.singleA+o.singleA
	d.low, d.high = min(d.low, o.low), max(d.high, o.high)
}

// dual encloses D(p, a) for a lambda, or 0 if it is negative, in one pass.
func (e *partsEncloser) dual(p, a *Multipliers, lambda, radius float64) (approx, error) {
	whole := e.newDualParts()
	err := eachPart(e, func(x *matrix.Matrix) (*dualParts, error) { return e.dualPart(x, p, a) }, whole.add)
	if err != nil {
		return approx{}, err
	}
	e.low, e.high = whole.low, whole.high
	if whole.singleP != len(p.Single) {
		return approx{}, infeasible("p names %g rows that are no positives", float64(len(p.Single)-whole.singleP), "rows of the data", "")
	}
	if whole.singleA != len(a.Single) {
		return approx{}, infeasible("a names %g rows that are not in the population", float64(len(a.Single)-whole.singleA),
			"rows of the data", "")
	}
	mass := whole.p.sum()
	if mass.x == 0 {
		return approx{}, nil // 0 <= F for any a
	}
	sum := whole.a.sum()
	if !(math.Abs(sum.x-1) <= movable) {
		return approx{}, infeasible("sum of a is %.17g", sum.x, "1", "")
	}
	moved, shift := whole.moved(sum)
	gain := mass.minus(mass.times(e.regulariser(whole, moved)))
	if e.squared {
		gain = gain.minus(e.massPlus.over(exactly(4)).times(whole.pSquares.sum()))
	}
	var squares, errors tally
	for j := range whole.px {
		v := whole.px[j].sum().minus(mass.times(whole.ax[j].sum()))
		squares.add(exactly(v.x).times(exactly(v.x)))
		errors.add(exactly(v.e).times(exactly(v.e)))
	}
	v, spread := squares.sum().root(), errors.sum().root()
	v.e += spread.x + spread.e
	v.e += float64(float64((mass.x+mass.e)*shift) * (1 + 0x1p-48))
	return dualValue(gain, v, lambda, radius), nil
}

func (e *partsEncloser) newDualParts() *dualParts {
	return &dualParts{px: make([]tally, len(e.w)), ax: make([]tally, len(e.w)), low: math.Inf(1), high: math.Inf(-1)}
}

// dualPart sums over the rows of a part.
func (e *partsEncloser) dualPart(x *matrix.Matrix, p, a *Multipliers) (*dualParts, error) {
	d := e.newDualParts()
	ps, as := p.prepare(), a.prepare()
	loose := 0x1p-50 + e.massPlus.e/e.massPlus.x // see encloser.dual
	capped := !e.problem.Definition().UsesBeta
	err := rows(x, func(r *row) error {
		if r.positive {
			limit := math.Inf(1)
			if !e.squared {
				limit = r.weight / e.massPlus.x
			}
			given := ps.of(r)
			cut, err := within("p", r, given, limit)
			if err != nil {
				return err
			}
			if cut > 0 {
				q := rounded(cut, (given-cut)+float64(cut*loose))
				d.p.add(q)
				d.pSquares.add(q.times(q).over(exactly(r.weight)))
				for k, x := range r.values {
					d.px[r.cols[k]].add(q.times(exactly(x)))
				}
			}
		}
		if !e.counts(r) {
			return nil
		}
		z := r.dot(e.w)
		d.low, d.high = min(d.low, z), max(d.high, z)
		given := as.of(r)
		limit := exactly(1)
		if capped {
			if most := exactly(r.weight).over(e.kappa); most.x-most.e < 1 {
				limit = most
			}
		}
		cut, err := within("a", r, given, max(limit.x, 0))
		if err != nil {
			return err
		}
		norm := r.norm()
		changed := (given - cut) + max(0, cut-(limit.x-limit.e))
		gap := max(0, limit.x-cut)
		d.a.add(exactly(cut))
		d.change.add(exactly(changed))
		d.ownShift.add(exactly(float64(changed * norm)))
		d.below.add(exactly(gap))
		d.belowShift.add(exactly(float64(gap * norm)))
		d.all.add(exactly(float64(cut * norm)))
		d.longest = max(d.longest, norm)
		if cut > 0 {
			ratio := exactly(cut).over(exactly(r.weight))
			if ratio.x > d.steepest.x {
				d.steepest = ratio
			}
			d.aSquares.add(exactly(cut).times(ratio))
			for k, x := range r.values {
				d.ax[r.cols[k]].add(exactly(cut).times(exactly(x)))
			}
		}
		return nil
	})
	d.singleP, d.singleA = ps.single, as.single
	return d, err
}

// moved is encloser.moved.
func (d *dualParts) moved(whole approx) (moved, shift float64) {
	all, below, belowShift, change, ownShift := d.all.sum(), d.below.sum(), d.belowShift.sum(), d.change.sum(), d.ownShift.sum()
	return movedBy(whole, change, ownShift, below, belowShift, all, func() float64 { return d.longest })
}

func (e *partsEncloser) regulariser(d *dualParts, moved float64) approx {
	if !e.problem.Definition().UsesBeta {
		return approx{}
	}
	return quantileRegulariser(e.squared, exactly(e.problem.Beta), e.kappa, exactly(e.population.MinWeight), d.steepest,
		d.aSquares.sum(), moved)
}

// valueAt encloses F(w) and t(w).
func (e *partsEncloser) valueAt() (f, t approx, err error) {
	switch e.problem.Rule().(type) {
	case threshold.TopCount, threshold.TopMean:
		t, err = e.meanOfTop()
	default:
		t, err = e.quantile()
	}
	if err != nil {
		return f, t, err
	}
	var losses, squares tally
	err = eachPart(e, func(x *matrix.Matrix) (approx, error) {
		var sum tally
		err := rowsOfClass(x.Positives, true, func(r *row) error {
			z, err := r.score(e.w)
			y := exactly(1).plus(t.minus(z)).positive()
			if e.squared {
				y = y.times(y)
			}
			sum.add(exactly(r.weight).times(y))
			return err
		})
		return sum.sum(), err
	}, func(sum approx) { losses.add(sum) })
	for _, x := range e.w {
		squares.add(exactly(x).times(exactly(x)))
	}
	half := exactly(e.problem.Lambda).over(exactly(2))
	return losses.sum().over(e.massPlus).plus(half.times(squares.sum())), t, err
}

// scoreCell has sums over the population's rows in an interval of scores. They are about right: what they give is checked.
type scoreCell struct{ mass, sum, square, low, high float64 }

// cells makes a pass. There is one cell more than cuts: below the first, and from each cut on.
func (e *partsEncloser) cells(cuts []float64, origin float64) ([]scoreCell, error) {
	empty := func() []scoreCell {
		return slices.Repeat([]scoreCell{{low: math.Inf(1), high: math.Inf(-1)}}, len(cuts)+1)
	}
	whole := empty()
	err := eachPart(e, func(x *matrix.Matrix) ([]scoreCell, error) {
		cells := empty()
		return cells, rows(x, func(r *row) error {
			if e.counts(r) {
				at, err := r.score(e.w) // as where t is enclosed: equal rows must be on one side of an edge
				if err != nil {
					return err
				}
				z := at.x
				k, found := slices.BinarySearch(cuts, z)
				if found {
					k++
				}
				c, d := &cells[k], z-origin
				c.mass += r.weight
				c.sum += float64(r.weight * d)
				c.square += float64(float64(r.weight*d) * d)
				c.low, c.high = min(c.low, z), max(c.high, z)
			}
			return nil
		})
	}, func(cells []scoreCell) {
		for k := range whole {
			c, o := &whole[k], &cells[k]
			c.mass, c.sum, c.square = c.mass+o.mass, c.sum+o.sum, c.square+o.square
			c.low, c.high = min(c.low, o.low), max(c.high, o.high)
		}
	})
	return whole, err
}

const (
	roundCuts = 1 << 12 // cuts of a pass
	mostCells = 30      // passes; the guess that they give is checked
)

// corner divides the interval of scores that holds a corner until its rows have one score. It returns this score, and
// the cells from it on. reached reports whether the lowest score of the first of some cells is not above the corner.
func (e *partsEncloser) corner(origin float64, reached func(from []scoreCell) bool) (at float64, from []scoreCell, err error) {
	low, high := e.low, e.high
	for round := 0; ; round++ {
		var cuts []float64
		for i := range roundCuts {
			share := float64(i) / roundCuts
			x := low + float64((high-low)*share)
			if len(cuts) == 0 || x > cuts[len(cuts)-1] {
				cuts = append(cuts, x)
			}
		}
		for _, x := range []float64{high, math.Nextafter(high, math.Inf(1))} {
			if x > cuts[len(cuts)-1] {
				cuts = append(cuts, x)
			}
		}
		cells, err := e.cells(cuts, origin)
		if err != nil {
			return 0, nil, err
		}
		k := len(cells) - 1
		for k > 0 && (cells[k].mass == 0 || !reached(cells[k:])) {
			k--
		}
		c := &cells[k]
		if !(c.low < c.high) || round == mostCells || c.low == low && c.high == high && round > 0 {
			return c.low, cells[k:], nil
		}
		low, high = c.low, c.high
	}
}

// meanOfTop encloses t as encloser.meanOfTop does.
func (e *partsEncloser) meanOfTop() (approx, error) {
	s, _, err := e.corner(0, func(from []scoreCell) bool {
		mass := 0.0
		for i := range from {
			mass += from[i].mass
		}
		return mass >= e.kappa.x
	})
	if err != nil {
		return approx{}, err
	}
	type sums struct {
		excess, above, from approx
		highest, lowest     float64
	}
	var excess, above, from tally
	highest, lowest := s, s
	err = eachPart(e, func(x *matrix.Matrix) (sums, error) {
		var excess, above, from tally
		out := sums{highest: s, lowest: s}
		err := rows(x, func(r *row) error {
			if !e.counts(r) {
				return nil
			}
			z, err := r.score(e.w)
			m := exactly(r.weight)
			excess.add(m.times(z.minus(exactly(s)).positive()))
			if z.x > s {
				above.add(m)
			}
			if z.x >= s {
				from.add(m)
			}
			out.highest, out.lowest = max(out.highest, z.x+z.e), min(out.lowest, z.x-z.e)
			return err
		})
		out.excess, out.above, out.from = excess.sum(), above.sum(), from.sum()
		return out, err
	}, func(o sums) {
		excess.add(o.excess)
		above.add(o.above)
		from.add(o.from)
		highest, lowest = max(highest, o.highest), min(lowest, o.lowest)
	})
	return meanAbove(s, e.kappa, excess.sum(), above.sum(), from.sum(), highest, lowest), err
}

// quantile encloses t as encloser.quantile does.
func (e *partsEncloser) quantile() (approx, error) {
	beta, origin := e.problem.Beta, e.high
	band := 1 / beta
	value := func(from []scoreCell, t float64) float64 { // G(t) for rows above the corner t - 1/beta
		u := 1 - float64(beta*(t-origin))
		sum := 0.0
		for i := range from {
			c := &from[i]
			if e.squared {
				sum += float64(c.mass*u*u) + float64(2*beta*u*c.sum) + float64(beta*beta*c.square)
			} else {
				sum += float64(c.mass*u) + float64(beta*c.sum)
			}
		}
		return sum
	}
	root := func(from []scoreCell) float64 {
		var mass, sum, square float64
		for i := range from {
			mass, sum, square = mass+from[i].mass, sum+from[i].sum, square+from[i].square
		}
		u := (e.kappa.x - float64(beta*sum)) / mass
		if e.squared {
			b := float64(beta * sum)
			u = (math.Sqrt(max(0, float64(b*b)-float64(mass*(float64(beta*beta*square)-e.kappa.x)))) - b) / mass
		}
		return origin + float64((1-u)*band)
	}
	_, from, err := e.corner(origin, func(from []scoreCell) bool { return value(from, from[0].low+band) >= e.kappa.x })
	if err != nil {
		return approx{}, err
	}
	guess := root(from)
	if len(from) > 1 && guess-band > from[0].high { // the corner is above the scores of the first cell
		guess = root(from[1:])
	}
	at, slope, err := e.quantileSums([]float64{guess})
	if err != nil {
		return approx{}, err
	}
	step := float64(math.Abs(guess) * 0x1p-52)
	if slope > 0 {
		step += (math.Abs(at[0].x-e.kappa.x) + at[0].e + e.kappa.e) / slope
	}
	step = max(step, 0x1p-1060)
	const doublings = 24 // both sides are tried in one pass
	var list []float64
	for d, k := step, 0; k < doublings; d, k = 2*d, k+1 {
		list = append(list, guess-d, guess+d)
	}
	if at, _, err = e.quantileSums(list); err != nil {
		return approx{}, err
	}
	low, high := math.Inf(-1), math.Inf(1)
	for k := len(list) - 2; k >= 0; k -= 2 {
		if e.kappa.atMost(at[k]) {
			low = list[k]
		}
		if e.kappa.atLeast(at[k+1]) {
			high = list[k+1]
		}
	}
	if math.IsInf(low, 0) || math.IsInf(high, 0) {
		return approx{}, infeasible("no threshold can be enclosed near %g", guess,
			"scores that differ by more than their rounding errors", "")
	}
	return rounded(guess, max(high-guess, guess-low)), nil
}

// quantileSums encloses G at some points in one pass, and returns the slope at the first.
func (e *partsEncloser) quantileSums(list []float64) (at []approx, slope float64, err error) {
	beta := exactly(e.problem.Beta)
	type sums struct {
		at    []approx
		slope float64
	}
	all := make([]tally, len(list))
	err = eachPart(e, func(x *matrix.Matrix) (sums, error) {
		part := make([]tally, len(list))
		out := sums{}
		err := rows(x, func(r *row) error {
			if !e.counts(r) {
				return nil
			}
			z, err := r.score(e.w)
			if err != nil {
				return err
			}
			m := exactly(r.weight)
			for k, t := range list {
				y := exactly(1).plus(beta.times(z.minus(exactly(t)))).positive()
				if y == (approx{}) {
					continue
				}
				if k == 0 {
					out.slope += float64(m.x * beta.x)
				}
				if e.squared {
					if k == 0 {
						out.slope += float64(2 * m.x * beta.x * y.x)
					}
					y = y.times(y)
				}
				part[k].add(m.times(y))
			}
			return nil
		})
		for k := range part {
			out.at = append(out.at, part[k].sum())
		}
		return out, err
	}, func(o sums) {
		slope += o.slope
		for k := range all {
			all[k].add(o.at[k])
		}
	})
	for k := range all {
		at = append(at, all[k].sum())
	}
	return at, slope, err
}
