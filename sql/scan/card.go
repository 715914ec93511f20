package scan

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"toptau/internal/models/dialect"
	"toptau/internal/models/feature"
	"toptau/internal/models/program"
)

// cardPiece is the levels of a scorecard: knots, atoms, the missing value. Two numbers of a row give all of its features:
// the place, which is 1 below the first knot, k + 1 from the k-th knot on, and then one for each atom and one for the missing value;
// and the fraction of the way to the next knot.
type cardPiece struct {
	*input
	card            *feature.Card
	place, fraction string // the names of their columns in a subquery
}

func (p *cardPiece) width() int {
	n := p.missing()
	if p.card.Missing {
		n++
	}
	return n
}

// missing is the level of a missing value. It may have no feature.
func (p *cardPiece) missing() int { return len(p.card.Knots) + len(p.card.Atoms) }

// placeAt is the place of an atom, or of the missing value.
func (p *cardPiece) placeAt(level int) int { return level + 2 }

// knotSteps is the number of steps from a knot to the next one: fractions are multiples of 2^-24.
const knotSteps = 1 << 24

// steps returns the way from a knot to x in steps, for an x up to the next knot.
func (p *cardPiece) steps(d *dialect.Dialect, knot int) string {
	low, high := p.card.Knots[knot], p.card.Knots[knot+1]
	x, smallest := p.distance(d, low)
	return d.Round(d.Scaled(x, high-low, false, smallest) + " * " + d.Num(knotSteps))
}

// choose returns a condition for a missing value and for each atom among knots, with the expression of its level, and rest for other
// values.
func (p *cardPiece) choose(d *dialect.Dialect, level func(level int) string, rest string) string {
	c := p.card
	knots := len(c.Knots)
	low, high := math.Inf(1), math.Inf(-1)
	for _, list := range [][]float64{c.Knots, c.Atoms} {
		if len(list) > 0 {
			low, high = min(low, list[0]), max(high, list[len(list)-1])
		}
	}
	var b strings.Builder
	ends := 0
	when := func(condition, value string) {
		b.WriteString("CASE WHEN " + condition + " THEN " + value + " ELSE ")
		ends++
	}
	if p.absent != "" {
		when(p.absent, level(p.missing()))
	}
	for i, a := range c.Atoms {
		comparison := " = "
		switch {
		case a == low && a == high:
			comparison = "" // every value
		case a == low:
			comparison = " <= "
		case a == high:
			comparison = " >= "
		}
		if comparison == "" {
			when(p.name+" = "+p.name, level(knots+i))
		} else if knots > 0 {
			when(p.name+comparison+d.Num(a), level(knots+i))
		}
	}
	b.WriteString(rest)
	return b.String() + strings.Repeat(" END", ends)
}

// nearest returns the smallest number for which the next atom is the nearer one, for each atom but the last.
func (p *cardPiece) nearest() []float64 { return program.Nearer(p.card.Atoms) }

// placeOf returns the place of x.
func (p *cardPiece) placeOf(d *dialect.Dialect) string {
	rest := ""
	switch {
	case len(p.card.Knots) > 0:
		rest = "1 + " + d.Bin(d, p.name, p.card.Knots)
	case len(p.card.Atoms) > 1:
		rest = "2 + " + d.Bin(d, p.name, p.nearest())
	default:
		rest = strconv.Itoa(p.placeAt(0))
	}
	return d.Present(p.choose(d, func(level int) string { return strconv.Itoa(p.placeAt(level)) }, rest))
}

// fractionOf returns the fraction of the way to the next knot, and 0 where there is none. It reads the place.
func (p *cardPiece) fractionOf(d *dialect.Dialect) string {
	knots := len(p.card.Knots)
	none := d.Num(0)
	of := func(steps string) string { return steps + " / " + d.Num(knotSteps) }
	switch {
	case knots < 2:
		return none
	case d.Element != nil:
		return p.onTheWay(d, of)
	}
	way := d.Search(p.name, p.card.Knots, func(k int) string {
		if k == 0 || k == knots {
			return none
		}
		return of(p.steps(d, k-1))
	})
	return fmt.Sprintf("CASE WHEN %s BETWEEN 2 AND %d THEN %s ELSE %s END", p.place, knots, way, none)
}

// onTheWay returns an expression of the steps from a knot to x, and 0 for an x that is not between two knots. It is for databases that
// have lists, and whose quotients may round to 0 without an error.
func (p *cardPiece) onTheWay(d *dialect.Dialect, of func(steps string) string) string {
	knots := p.card.Knots
	low, gap := make([]float64, len(knots)), make([]float64, len(knots))
	for k := range knots[1:] {
		low[k+1], gap[k+1] = knots[k], knots[k+1]-knots[k]
	}
	gap[0] = 1
	steps := d.Round("(" + p.name + " - " + d.Element(d, low, p.place) + ") / " + d.Element(d, gap, p.place) + " * " + d.Num(knotSteps))
	return fmt.Sprintf("CASE WHEN %s BETWEEN 2 AND %d THEN %s ELSE %s END", p.place, len(knots), of(steps), d.Num(0))
}

// score interpolates between the weights of two knots: that of the first one, and a slope for each step.
func (p *cardPiece) score(d *dialect.Dialect, w []float64) string {
	if !slices.ContainsFunc(w, func(v float64) bool { return v != 0 }) {
		return ""
	}
	at := func(level int) float64 {
		if level == len(w) {
			return 0 // a missing value without a feature
		}
		return w[level]
	}
	knots := len(p.card.Knots)
	slope := func(knot int) float64 { return (w[knot+1] - w[knot]) / knotSteps }
	if d.Element == nil {
		weight := func(level int) string { return d.Num(at(level)) }
		if knots == 0 {
			return p.choose(d, weight, d.Search(p.name, p.nearest(), weight))
		}
		return p.choose(d, weight, d.Search(p.name, p.card.Knots, func(k int) string {
			switch {
			case k == 0:
				return weight(0)
			case k == knots || slope(k-1) == 0:
				return weight(k - 1)
			}
			return weight(k-1) + " + " + p.steps(d, k-1) + " * " + d.Num(slope(k-1))
		}))
	}
	values, slopes := make([]float64, p.placeAt(p.missing())), make([]float64, knots)
	if knots > 0 {
		values[0] = w[0]
	}
	for k := range knots {
		values[k+1] = w[k]
		if k > 0 {
			slopes[k] = slope(k - 1)
		}
	}
	for level := knots; level <= p.missing(); level++ {
		values[p.placeAt(level)-1] = at(level)
	}
	sum := d.Element(d, values, p.place)
	if knots > 1 {
		sum += " + " + p.onTheWay(d, func(steps string) string { return steps + " * " + d.Element(d, slopes, p.place) })
	}
	return sum
}

// values reads the place and the fraction.
func (p *cardPiece) values(d *dialect.Dialect, list []string) []string {
	one, none := d.Num(1), d.Num(0)
	for level := range p.width() {
		if level >= len(p.card.Knots) {
			list = append(list, fmt.Sprintf("CASE WHEN %s = %d THEN %s ELSE %s END", p.place, p.placeAt(level), one, none))
			continue
		}
		before := p.fraction
		if level == 0 {
			before = one // below all knots
		}
		list = append(list, fmt.Sprintf("CASE WHEN %s = %d THEN %s - %s WHEN %s = %d THEN %s ELSE %s END",
			p.place, level+2, one, p.fraction, p.place, level+1, before, none))
	}
	return list
}

func (p *cardPiece) bounds(list []float64) []float64 {
	for range p.width() {
		list = append(list, 1)
	}
	return list
}
