package proof

import (
	"context"
	"fmt"
	"math"
	"slices"

	"toptau/diag"
	"toptau/threshold"
)

// cell has sums over the rows of a class whose scores are in an interval. m are row weights.
type cell struct {
	mass, sum, square approx  // of m, m (z - origin) and m (z - origin)^2
	low, high         float64 // the smallest and the largest score; without rows +Inf and -Inf
}

// cells are the answer to a question about scores. The cells are exact for the scores z that were computed, apart from their errors, but a
// score may be in a cell next to its own: low and high show it. off bounds the errors of the scores themselves.
type cells struct {
	list   []cell // one more than cuts
	cuts   []float64
	origin float64
	off    float64
}

func newCells(cuts []float64, origin float64) *cells {
	return &cells{list: slices.Repeat([]cell{{low: math.Inf(1), high: math.Inf(-1)}}, len(cuts)+1), cuts: cuts, origin: origin}
}

// empty reports whether a cell has no rows.
func (c *cell) empty() bool { return c.low > c.high }

// mass returns the mass of the cells from k on.
func (c *cells) massFrom(k int) approx {
	var t tally
	for i := k; i < len(c.list); i++ {
		t.add(c.list[i].mass)
	}
	return t.sum()
}

// excess encloses the sum of m max(0, z - s), or of its square, over the rows from cell k on, all of whose scores should be at least s,
// while those of the cells before should not. Where a score is not, the error says by how much.
func (c *cells) excess(k int, s float64, squared bool) approx {
	var mass, sum, square tally
	for i := k; i < len(c.list); i++ {
		mass.add(c.list[i].mass)
		sum.add(c.list[i].sum)
		square.add(c.list[i].square)
	}
	d := exactly(s).minus(exactly(c.origin))
	total := sum.sum().minus(mass.sum().times(d))
	if squared {
		total = square.sum().minus(exactly(2).times(d).times(sum.sum())).plus(mass.sum().times(d).times(d))
	}
	return c.misplaced(total, k, s, squared)
}

// shortfall encloses the sum of m max(0, s - z), or of its square, over the rows of the cells before k; see excess.
func (c *cells) shortfall(k int, s float64, squared bool) approx {
	var mass, sum, square tally
	for i := range k {
		mass.add(c.list[i].mass)
		sum.add(c.list[i].sum)
		square.add(c.list[i].square)
	}
	d := exactly(s).minus(exactly(c.origin))
	total := mass.sum().times(d).minus(sum.sum())
	if squared {
		total = square.sum().minus(exactly(2).times(d).times(sum.sum())).plus(mass.sum().times(d).times(d))
	}
	return c.misplaced(total, k, s, squared)
}

// misplaced adds to a sum's error what rows on the wrong side of s, from cell k on or before, change.
func (c *cells) misplaced(total approx, k int, s float64, squared bool) approx {
	for i := range c.list {
		b := &c.list[i]
		by := s - b.low
		if i < k {
			by = b.high - s
		}
		if b.empty() || !(by > 0) {
			continue
		}
		if squared {
			by *= by
		}
		total.e += float64(float64((b.mass.x+b.mass.e)*by) * (1 + 0x1p-48))
	}
	return total
}

// valueAt encloses F(w) and t(w).
func (e *Prover) valueAt(ctx context.Context) (f, t approx, err error) {
	var off float64
	switch e.problem.Rule().(type) {
	case threshold.TopCount, threshold.TopMean:
		t, off, err = e.meanOfTop(ctx)
	default:
		t, off, err = e.quantile(ctx)
	}
	if err != nil {
		return f, t, err
	}
	// t is the maximum of a'z - r(a) over a with sum 1: if no score changes by more than off, nor does t.
	t.e += off
	corner := exactly(1).plus(t)
	c, err := e.data.cells(ctx, false, e.w, []float64{corner.x}, corner.x)
	if err != nil {
		return f, t, err
	}
	// The margins 1 + t - z are off by at most m. The mean of the losses is then off by m, and that of the squares
	// by 2 m times the root of the mean, and m^2.
	loss := c.shortfall(1, corner.x, e.squared).over(e.massPlus)
	m := exactly(corner.e + c.off)
	if e.squared {
		m = m.times(exactly(2).times(exactly(max(0, loss.x) + loss.e).root()).plus(m))
	}
	loss.e += m.x + m.e
	half := exactly(e.problem.Lambda).over(exactly(2))
	return loss.plus(half.times(squareOf(e.w))), t, nil
}

const (
	// roundCuts is the number of cuts of a question. Chosen by hand: a database reads each row once for all of them.
	roundCuts = 1 << 10
	// maxRounds is the number of questions that look for a corner.
	maxRounds = 30
	// narrow is the width of an interval of scores with a corner, relative to its place, that is not divided further. It adds as much
	// to the error of t, which the comparison of claims allows ten thousand times.
	narrow = 0x1p-46
)

// firstCuts divide all scores, finely near 0.
func firstCuts() (cuts []float64) {
	for k := -160; k <= 160; k++ {
		x := math.Exp2(float64(k) / 4)
		cuts = append(cuts, -x, x)
	}
	slices.Sort(cuts)
	return cuts
}

// corner divides the interval of scores that holds a corner until it is narrow. It returns the last cells and the number of the
// cell with the corner. reached reports whether a score that some distance d above the origin is not above the corner, from the sums over the
// rows from its cell on.
func (e *Prover) corner(ctx context.Context, reached func(mass, sum, square, d float64) bool) (c *cells, k int, err error) {
	cuts, origin := firstCuts(), 0.0
	for round := 0; ; round++ {
		if c, err = e.data.cells(ctx, true, e.w, cuts, origin); err != nil {
			return nil, 0, err
		}
		first := slices.IndexFunc(c.list, func(b cell) bool { return !b.empty() })
		if first < 0 {
			return nil, 0, &diag.Error{Kind: diag.Data, Found: "no row with a score", Expected: "rows of both classes"}
		}
		var mass, sum, square float64
		for k = len(c.list) - 1; k > first; k-- {
			b := &c.list[k]
			mass, sum, square = mass+b.mass.x, sum+b.sum.x, square+b.square.x
			if !b.empty() && reached(mass, sum, square, b.low-c.origin) {
				break
			}
		}
		low, high := c.list[k].low, c.list[k].high
		if !(high-low > narrow*max(math.Abs(low), math.Abs(high))) || round == maxRounds {
			return c, k, nil
		}
		cuts, origin = nil, low
		for i := range roundCuts {
			if x := low + float64((high-low)*(float64(i)/roundCuts)); len(cuts) == 0 || x > cuts[len(cuts)-1] {
				cuts = append(cuts, x)
			}
		}
		cuts = append(cuts, math.Nextafter(high, math.Inf(1)))
	}
}

// meanOfTop encloses t = min over s of s + (1/kappa) sum m_j max(0, z_j - s), and bounds the errors of the scores. At the minimum
// the weight above s is at most kappa and the weight from s up is at least kappa. Any s gives an upper bound. Where these weights miss
// kappa, by rounding or because a cell has several scores, the bound is too high by at most the difference times the distance
// to the scores on that side.
func (e *Prover) meanOfTop(ctx context.Context) (t approx, off float64, err error) {
	c, k, err := e.corner(ctx, func(mass, _, _, _ float64) bool { return mass >= e.kappa.x })
	if err != nil {
		return t, 0, err
	}
	s := c.list[k].low
	t = exactly(s).plus(c.excess(k, s, false).over(e.kappa))
	missed := func(mass approx, to float64) approx {
		if mass.x+mass.e <= 0 {
			return approx{}
		}
		return exactly(mass.x + mass.e).times(exactly(to).minus(exactly(s))).over(e.kappa)
	}
	lowest, highest := math.Inf(1), math.Inf(-1)
	for _, b := range c.list {
		lowest, highest = min(lowest, b.low), max(highest, b.high)
	}
	above, within := c.massFrom(k+1), c.list[k].high
	if !(above.x+above.e <= e.kappa.x-e.kappa.e) { // more than the cell may be above the minimum
		within = highest
	}
	if within > s {
		above = c.massFrom(k)
	}
	for _, by := range []approx{missed(above.minus(e.kappa), within), missed(e.kappa.minus(c.massFrom(k)), lowest)} {
		t.e += math.Abs(by.x) + by.e
	}
	return t, c.off, nil
}

// quantile encloses the root t of sum m_j l(beta (z_j - t)) = kappa, and bounds the errors of the scores. With s = t - 1/beta the
// sum is beta, or beta^2, times that of the excess over s, which decreases. So s is between a place where the excess is certainly
// at least kappa/beta and one where it is certainly at most that. Steps of growing length from a guess find both.
func (e *Prover) quantile(ctx context.Context) (t approx, scoresOff float64, err error) {
	beta := exactly(e.problem.Beta)
	volume := e.kappa.over(beta)
	if e.squared {
		volume = volume.over(beta)
	}
	c, k, err := e.corner(ctx, func(mass, sum, square, d float64) bool {
		if e.squared {
			return square-float64(2*d*sum)+float64(d*d*mass) >= volume.x
		}
		return sum-float64(d*mass) >= volume.x
	})
	if err != nil {
		return t, 0, err
	}
	guess, slope := c.root(k, volume.x, e.squared)
	if k+1 < len(c.list) && guess > c.list[k].high { // s is above the scores of the cell
		if g, s := c.root(k+1, volume.x, e.squared); s > 0 {
			guess, slope, k = g, s, k+1
		}
	}
	off := c.excess(k, guess, e.squared).minus(volume)
	step := float64(math.Abs(guess)*0x1p-52) + (math.Abs(off.x)+off.e)/slope
	if !(step >= 0x1p-1060 && step <= math.MaxFloat64) {
		step = max(math.Abs(guess)*0x1p-40, 0x1p-1060)
	}
	const doublings = 40 // all are one question
	cuts := []float64{guess}
	for d, n := step, 0; n < doublings; d, n = 2*d, n+1 {
		cuts = append(cuts, guess-d, guess+d)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	if c, err = e.data.cells(ctx, true, e.w, cuts, guess); err != nil {
		return t, 0, err
	}
	low, high := math.Inf(-1), math.Inf(1)
	for i, s := range cuts {
		h := c.excess(i+1, s, e.squared)
		if volume.atMost(h) {
			low = max(low, s)
		}
		if volume.atLeast(h) {
			high = min(high, s)
		}
	}
	if !(low <= guess && guess <= high) || math.IsInf(high-low, 0) {
		return t, 0, &diag.Error{Kind: diag.Data, Found: fmt.Sprintf("no threshold can be enclosed near %g", guess+1/beta.x),
			Expected: "scores that differ by more than their rounding errors"}
	}
	return rounded(guess, max(high-guess, guess-low)).plus(exactly(1).over(beta)), c.off, nil
}

// root returns about the s at which the excess of the rows from cell k on is a number, and minus the slope there.
func (c *cells) root(k int, volume float64, squared bool) (s, slope float64) {
	var mass, sum, square float64
	for i := k; i < len(c.list); i++ {
		mass, sum, square = mass+c.list[i].mass.x, sum+c.list[i].sum.x, square+c.list[i].square.x
	}
	if !squared {
		return c.origin + (sum-volume)/mass, mass
	}
	// mass d^2 - 2 sum d + square = volume, the smaller root.
	width := math.Sqrt(max(0, float64(sum*sum)-float64(mass*(square-volume))))
	return c.origin + (sum-width)/mass, 2 * width
}
