package proof

import (
	"context"
	"fmt"
	"math"
	"slices"

	"toptau/diag"
)

// Source is rows that stay where they are, in a database, which answers questions about them.
type Source interface {
	// Largest returns a bound of the absolute values of each column.
	Largest() []float64
	// Named returns rows of a class by their numbers, in ascending order. Numbers that are not in the class have none.
	Named(ctx context.Context, population bool, numbers []int) ([]NamedRow, error)
	// Between sums the rows of a class by their scores at w: below the first cut, from one cut to before the next, from the last cut. A score
	// within rounding of a cut may be on its other side. Scores and sums have been added in any order.
	Between(ctx context.Context, population bool, w, cuts []float64, origin float64) ([]Between, error)
	// Grouped sums the rows of a class with their features, without those that are held, between one end and the next.
	Grouped(ctx context.Context, population bool, w, ends []float64, held []int, origin float64) ([]Grouped, error)
}

// NamedRow is a row with its number.
type NamedRow struct {
	Number   int
	Weight   float64
	Features []float64
}

// Between has sums over rows whose scores z are in an interval. m are row weights.
type Between struct {
	Rows      int
	Mass      float64 // sum of m
	Score     float64 // sum of m (z - origin)
	Square    float64 // sum of m (z - origin)^2
	Low, High float64 // the smallest and the largest score; without rows +Inf and -Inf
	Bad       int     // rows whose score is not finite
}

// Grouped has sums over the rows of an interval. The scores are those of all its rows, held or not.
type Grouped struct {
	Between                    // of the rows that are not held but for Square, Low, High and Bad
	Features, Moment []float64 // sums of m x and m (z - origin) x
}

// Asked returns data that answers questions. positiveWhole and populationWhole report whether the weights of the class are whole numbers.
func Asked(s Source, positivesWhole, populationWhole bool) Data {
	return &asked{source: s, whole: [2]bool{positivesWhole, populationWhole}}
}

type asked struct {
	source Source
	whole  [2]bool // by class
}

func (d *asked) weightsWhole(population bool) bool {
	if population {
		return d.whole[1]
	}
	return d.whole[0]
}

// added encloses a sum of some rows whose terms are products with a few roundings of their own, added in any order: the error of a term,
// and the partial sums that it is in, are at most the sum of the absolute values, which size bounds.
func added(sum float64, rows int, size float64) approx {
	const terms = 6 // roundings of a product of the weight, the distance of a score twice, and a feature
	return approx{sum, float64(float64(float64(float64(rows+terms)*0x1p-53)*size)*(1+0x1p-20)) + 0x1p-1000}
}

// mass encloses the mass of some rows.
func (d *asked) mass(population bool, b *Between) approx {
	if d.weightsWhole(population) && b.Mass < 1<<53 {
		return exactly(b.Mass)
	}
	return added(b.Mass, b.Rows, b.Mass)
}

// distance bounds the distances of the scores from the origin.
func (b *Between) distance(origin float64) float64 {
	return max(math.Abs(b.Low-origin), math.Abs(b.High-origin))
}

// check fails for sums that are not finite.
func (b *Between) check() error {
	finite := func(x float64) bool { return x-x == 0 }
	if b.Bad > 0 || !finite(b.Mass) || !finite(b.Score) || !finite(b.Square) || b.Rows > 0 && !(finite(b.Low) && finite(b.High) && b.Low <= b.High) {
		return &diag.Error{Kind: diag.Data, Found: "scores that are not finite", Expected: "weights and rows whose products float64 can hold"}
	}
	return nil
}

func (d *asked) cells(ctx context.Context, population bool, w, cuts []float64, origin float64) (*cells, error) {
	if n := len(d.source.Largest()); n != len(w) {
		return nil, infeasible(fmt.Sprintf("w has %d elements", len(w)), fmt.Sprintf("%d, one for each column", n))
	}
	list, err := d.source.Between(ctx, population, w, cuts, origin)
	if err != nil {
		return nil, err
	}
	out := newCells(cuts, origin)
	for j, v := range w {
		out.off += float64(math.Abs(v) * d.source.Largest()[j])
	}
	out.off = added(0, len(w), out.off).e
	for k := range list {
		b := &list[k]
		if err := b.check(); err != nil {
			return nil, err
		}
		if b.Rows == 0 {
			continue
		}
		far := b.distance(origin)
		mass := d.mass(population, b)
		size := float64((mass.x + mass.e) * far)
		out.list[k] = cell{mass, added(b.Score, b.Rows, size), added(b.Square, b.Rows, float64(size*far)), b.Low, b.High}
	}
	return out, nil
}

// sums adds the rows with multipliers of their own, and the members of groups.
func (d *asked) sums(ctx context.Context, population bool, cols int, m *Multipliers, c *caps) (*sums, error) {
	s := newSums(cols)
	numbers := make([]int, 0, len(m.Single))
	for number := range m.Single {
		numbers = append(numbers, number)
	}
	slices.Sort(numbers)
	if len(numbers) > 0 {
		named, err := d.source.Named(ctx, population, numbers)
		if err != nil {
			return nil, err
		}
		if err := s.addNamed(named, cols, m, c); err != nil {
			return nil, err
		}
	}
	// Rows that nobody names may be as long as any.
	s.longest, s.below, s.belowShift = max(s.longest, normAbove(d.source.Largest())), tally{}, tally{}
	if len(m.Groups) > 0 {
		if err := d.addGroups(ctx, s, population, m, append(numbers, m.Held...), c); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// addGroups adds the members of all groups, without the rows held.
func (d *asked) addGroups(ctx context.Context, s *sums, population bool, m *Multipliers, held []int, c *caps) error {
	var ends []float64
	for _, g := range m.Groups {
		ends = append(ends, g.Low, g.High)
	}
	ends = slices.Compact(ends)
	origin := m.Groups[0].Origin
	answers, err := d.source.Grouped(ctx, population, m.At, ends, held, origin)
	if err != nil {
		return err
	}
	for i := range m.Groups {
		g := &m.Groups[i]
		k, _ := slices.BinarySearch(ends, g.Low)
		b := &answers[k]
		if err := b.check(); err != nil {
			return err
		}
		if b.Rows == 0 {
			continue
		}
		if g.Slope != 0 && len(held) > 0 {
			return infeasible("a group of rows of a database with a slope and rows held", "one of both")
		}
		if err := s.addGroup(i, g, b, d.mass(population, &b.Between), origin, d.source.Largest(), c); err != nil {
			return err
		}
	}
	return nil
}

// addNamed adds rows with multipliers of their own, in the order of their numbers.
func (d *sums) addNamed(named []NamedRow, cols int, m *Multipliers, c *caps) error {
	r := row{number: -1, cols: make([]uint32, cols)}
	for k := range r.cols {
		r.cols[k] = uint32(k)
	}
	for k, own := range named {
		if k > 0 && own.Number <= named[k-1].Number {
			return &diag.Error{Kind: diag.Data, Found: "a row twice", Expected: "each row once"}
		}
		r.weight, r.values = own.Weight, own.Features
		if err := d.add(&r, m.Single[own.Number], c); err != nil {
			return err
		}
		d.single++
	}
	return nil
}

// addGroup adds the members of a group: rows of weight m with the multipliers m (rate + slope (z - origin)).
func (d *sums) addGroup(number int, g *Group, b *Grouped, mass approx, origin float64, largest []float64, c *caps) error {
	value := exactly(g.Value)
	rate := value.times(exactly(g.Rate).plus(exactly(g.Slope).times(exactly(origin).minus(exactly(g.Origin)))))
	slope := value.times(exactly(g.Slope))
	// The multipliers of weight 1 at both ends.
	ends := [2]approx{rate, rate}
	far := 0.0
	if g.Slope != 0 {
		far = b.distance(origin)
		for k, z := range []float64{b.Low, b.High} {
			ends[k] = rate.plus(slope.times(exactly(z).minus(exactly(origin))))
		}
	}
	low, high := min(ends[0].x-ends[0].e, ends[1].x-ends[1].e), max(ends[0].x+ends[0].e, ends[1].x+ends[1].e)
	limit := math.Inf(1)
	if c.capped {
		limit = c.per.x - c.per.e
	}
	if !(low >= -movable*high) || math.IsInf(high, 0) {
		return infeasible(fmt.Sprintf("multipliers from %g to %g times the weight in group %d of %s", low, high, number+1, c.name()), "at least 0, and finite")
	}
	if !(high <= limit*(1+movable)) {
		return infeasible(fmt.Sprintf("multipliers up to %.17g times the weight in group %d of %s", high, number+1, c.name()), fmt.Sprintf("at most %.17g", limit))
	}
	// No multiplier is off its constraints by more than this, times its weight.
	off := max(0, -low) + max(0, high-limit)
	all := mass.x + mass.e
	score, square := approx{}, approx{}
	if g.Slope != 0 {
		score = added(b.Score, b.Rows, float64(all*far))
		square = added(b.Square, b.Rows, float64(float64(all*far)*far))
	}
	total := rate.times(mass).plus(slope.times(score))
	squares := rate.times(rate).times(mass).plus(exactly(2).times(rate).times(slope).times(score)).plus(slope.times(slope).times(square))
	cut := float64(float64(all*off) * (1 + 0x1p-48))
	if c.positives {
		total.e += cut
		squares.e += float64(3 * max(high, off) * cut)
	} else {
		d.change.add(exactly(cut))
		d.ownShift.add(exactly(float64(cut * d.longest)))
	}
	d.total.add(total)
	d.squares.add(squares)
	if high > d.steepest.x {
		d.steepest = exactly(high)
	}
	for j := range d.x {
		size := float64(all * largest[j])
		v := rate.times(added(b.Features[j], b.Rows, size))
		if g.Slope != 0 {
			v = v.plus(slope.times(added(b.Moment[j], b.Rows, float64(size*far))))
		}
		if c.positives {
			v.e += float64(float64(cut*largest[j]) * (1 + 0x1p-48))
		}
		d.x[j].add(v)
	}
	return nil
}
