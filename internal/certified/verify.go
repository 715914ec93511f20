package certified

import (
	"context"
	"fmt"
	"math"
	"slices"

	"toptau/diag"
	"toptau/internal/certified/form"
	"toptau/internal/certified/linalg"
	"toptau/internal/objective"
	"toptau/method"
)

// VerifySource recomputes both bounds of a result of SolveSource with questions of its own: F(w) from bins, and
// D(p, a) from the rows that p and a name and from the sums of their groups. Single rows are asked for by number,
// groups by their description. It fails if (p, a) is infeasible.
func VerifySource(ctx context.Context, source Source, p method.Problem, r *Result) (Bounds, error) {
	f, err := formOn(source, p)
	if err != nil {
		return Bounds{}, err
	}
	s := newSolver(ctx, source, f, Options{})
	s.startAtZero()
	b := Bounds{AtZero: s.atZero, Norm: objective.Norm(r.W)}
	if len(r.P.Rows)+len(r.GroupsP) > 0 { // else 0 is the bound, since no loss is negative
		positives, err := s.sumDual(r.P, r.GroupsP, false)
		if err != nil {
			return b, err
		}
		population, err := s.sumDual(r.A, r.GroupsA, true)
		if err != nil {
			return b, err
		}
		if b.Lower, err = dualOf(&f, s.shape.Positives.Mass, positives, population, r.BallRadius); err != nil {
			return b, err
		}
	}
	s.lower, s.claims = b.Lower, true
	at, err := s.evaluate(0, newPoint(r.W))
	if err != nil {
		return b, err
	}
	b.Upper, b.Threshold = at[0].f, at[0].t
	return b, nil
}

// dualSums are the sums over the rows of a class that D(p, a) needs.
type dualSums struct {
	total    float64   // of the multipliers
	squares  float64   // sum of p^2/m
	largest  float64   // of p/m
	least    float64   // of p
	features []float64 // X'p
}

// sumDual asks for the rows and the sums of groups that multipliers of a class name.
func (s *solver) sumDual(rows Sparse, groups []GroupValue, population bool) (d dualSums, err error) {
	d.features = make([]float64, s.shape.Cols)
	if len(rows.Rows) > 0 {
		value := map[int]float64{}
		var numbers []int
		for k, id := range rows.Rows {
			value[int(id)] += rows.Values[k]
			numbers = append(numbers, int(id))
		}
		slices.Sort(numbers)
		numbers = slices.Compact(numbers)
		a, err := s.askClass(s.best.at, population, Request{Numbers: numbers})
		if err != nil {
			return d, err
		}
		if len(a.ByNumber) != len(numbers) {
			return d, infeasible(fmt.Sprintf("%d of %d rows", len(a.ByNumber), len(numbers)), "all rows that the dual point names")
		}
		x := make([]float64, s.shape.Cols)
		for _, r := range a.ByNumber {
			r.Features(x)
			v := value[r.ID]
			d.add(v, float64(v*v)/r.Weight, v/r.Weight, v)
			linalg.Axpy(v, x, d.features)
		}
	}
	sums, err := s.sumGroups(groups, population)
	if err != nil {
		return d, err
	}
	for k, g := range groups {
		sum, bin := &sums[k].Sum, &sums[k].bin
		if !(sum.Mass > 0) {
			continue
		}
		// A member has m Value (Rate + Slope z). The bin has the members, and rows held if Slope is 0.
		v := g.Value * (float64(g.Rate*sum.Mass) + float64(g.Slope*sum.Score))
		squares := float64(g.Rate*g.Rate*sum.Mass) + float64(2*g.Rate*g.Slope*sum.Score)
		low, high := g.Rate, g.Rate
		if g.Slope != 0 {
			squares += float64(g.Slope * g.Slope * bin.Square)
			low, high = g.Rate+float64(g.Slope*(bin.Low-g.Origin)), g.Rate+float64(g.Slope*(bin.High-g.Origin))
		}
		d.add(v, g.Value*g.Value*squares, g.Value*math.Max(low, high), g.Value*math.Min(low, high))
		linalg.Axpy(g.Value*g.Rate, sum.Features, d.features)
		linalg.Axpy(g.Value*g.Slope, sum.Moment, d.features)
	}
	return d, nil
}

// groupSums are the sums over a group's members, and the bin of its interval.
type groupSums struct {
	Sum
	bin Bin
}

// sumGroups asks for the sums of groups. Those that the same point describes are one question.
func (s *solver) sumGroups(groups []GroupValue, population bool) (sums []groupSums, err error) {
	for len(groups) > 0 {
		first, n := &groups[0], 1
		for n < len(groups) && groups[n].Origin == first.Origin && slices.Equal(groups[n].At.W, first.At.W) && slices.Equal(groups[n].Held, first.Held) {
			n++
		}
		held := NewSet(0)
		for _, id := range first.Held {
			held.Add(int(id))
		}
		var ends []float64
		for _, g := range groups[:n] {
			ends = append(ends, g.Low, g.High)
		}
		ends = ascending(ends)
		a, err := s.askClass(newPoint(first.At.W), population, Request{Cuts: ends, Groups: ends, Held: held, Origin: first.Origin, Moments: true})
		if err != nil {
			return nil, err
		}
		for _, g := range groups[:n] {
			k, _ := slices.BinarySearch(ends, g.Low)
			if k+1 == len(ends) || ends[k+1] != g.High {
				return nil, infeasible("groups that overlap", "intervals of scores without common rows")
			}
			sums = append(sums, groupSums{a.Groups[k], a.Bins[k+1]})
		}
		groups = groups[n:]
	}
	return sums, nil
}

func (d *dualSums) add(total, squares, largest, least float64) {
	d.total += total
	d.squares += squares
	d.largest = math.Max(d.largest, largest)
	d.least = math.Min(d.least, least)
}

// dualNoise is the relative rounding error of a sum that a constraint may be violated by.
const dualNoise = 1e-9

// dualOf returns D(p, a) of feasible p and a, from their sums. Sums that a constraint misses by rounding cost the
// bound as much.
func dualOf(f *form.Form, mass float64, p, a dualSums, radius float64) (float64, error) {
	switch {
	case !(p.least >= -dualNoise/mass) || !(a.least >= -dualNoise/f.Kappa):
		return 0, infeasible("a negative multiplier", "p and a of at least 0")
	case !(math.Abs(a.total-1) <= dualNoise):
		return 0, infeasible(fmt.Sprintf("sum of a is %.17g", a.total), "1")
	case !f.Squared && !(p.largest <= (1+dualNoise)/mass):
		return 0, infeasible(fmt.Sprintf("some p is %.9g times its weight", p.largest), fmt.Sprintf("at most %.9g", 1/mass))
	case f.Kind == form.TopMean && !(a.largest <= (1+dualNoise)/f.Kappa):
		return 0, infeasible(fmt.Sprintf("some a is %.9g times its weight", a.largest), fmt.Sprintf("at most %.9g", 1/f.Kappa))
	}
	var regulariser float64
	switch f.Kind {
	case form.HingeQuantile:
		regulariser = (float64(f.Kappa*a.largest) - 1) / f.Beta
	case form.SquaredQuantile:
		regulariser = (math.Sqrt(float64(f.Kappa*a.squares)) - 1) / f.Beta
	}
	v := slices.Clone(p.features)
	linalg.Axpy(-p.total, a.features, v)
	norm2 := linalg.Dot(v, v)
	d := p.total - float64(p.total*regulariser)
	if f.Squared {
		d -= float64(mass / 4 * p.squares)
	}
	if f.Lambda == 0 {
		return d - float64(radius*math.Sqrt(norm2)), nil
	}
	return d - norm2/(2*f.Lambda), nil
}

func infeasible(found, expected string) error {
	return &diag.Error{Kind: diag.Data, Found: found, Expected: expected, Hint: "the dual point belongs to other data or another problem"}
}
