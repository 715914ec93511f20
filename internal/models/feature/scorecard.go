package feature

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"

	"toptau/internal/core/detmath"
	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
	"toptau/internal/models/feature/trees"
	"toptau/schema"
)

const scorecardKind = "scorecard"

// ScorecardBlock encodes numeric inputs as positions on scales of levels, stored coded. Each input adds one
// or two weights to the score, with values that sum to 1. A linear model on it is a sum of one curve per
// column, which people read as a scorecard.
type ScorecardBlock struct {
	Columns []Card `json:"columns"` // those with knots first, so that columns of the same storage are adjacent

	groups []matrix.Group // by position in Columns; set by check
}

// Card is the scale of one input. Its levels are the knots, then the atoms, then the missing value. A value x
// is clamped to the range of the training data, from the smallest to the largest knot or atom. Its levels
// have the values
//
//	at an atom: 1 for its level;
//	between the knots a < b: 1-f and f for theirs, f = (x - a) / (b - a) rounded by matrix.Fraction;
//	beyond the outer knots: 1 for the outer knot;
//	without knots: 1 for the nearest atom, the smaller of two at the same distance;
//	missing: 1 for its level; without one, nothing (under schema.ImputeIndicator, where training had no missing value).
//
// So the score is continuous and linear between two knots, and independent of the neighbours at an atom.
type Card struct {
	Input   int       `json:"input"`
	Knots   []float64 `json:"knots,omitempty"` // none, or at least two, ascending
	Atoms   []float64 `json:"atoms,omitempty"` // ascending
	Missing bool      `json:"missing,omitempty"`
}

// Levels returns the number of weights.
func (c *Card) Levels() int {
	n := len(c.Knots) + len(c.Atoms)
	if c.Missing {
		n++
	}
	return n
}

// ends returns the range that values are clamped to.
func (c *Card) ends() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, list := range [][]float64{c.Knots, c.Atoms} {
		if n := len(list); n > 0 {
			low, high = min(low, list[0]), max(high, list[n-1])
		}
	}
	return low, high
}

// place returns the position of a value: at a level, or with the fraction f > 0 between it and the next one.
// Level -1 is none.
func (c *Card) place(x float64) (level int, f float64) {
	if math.IsNaN(x) {
		if c.Missing {
			return c.Levels() - 1, 0
		}
		return -1, 0
	}
	low, high := c.ends()
	x = min(max(x, low), high)
	i, found := slices.BinarySearch(c.Atoms, x)
	switch {
	case found:
		return len(c.Knots) + i, 0
	case len(c.Knots) > 0:
		return c.between(x)
	case i == 0 || i < len(c.Atoms) && nearerToSecond(c.Atoms[i-1], c.Atoms[i], x):
		return i, 0
	}
	return i - 1, 0
}

// nearerToSecond halves before it subtracts, so that huge values do not overflow.
func nearerToSecond(a, b, x float64) bool {
	return float64(b/2)-float64(x/2) < float64(x/2)-float64(a/2)
}

// between returns the position of a value among the knots.
func (c *Card) between(x float64) (level int, f float64) {
	last := len(c.Knots) - 1
	x = min(max(x, c.Knots[0]), c.Knots[last])
	i := sort.Search(last, func(i int) bool { return c.Knots[i+1] > x }) // knots[i] <= x < knots[i+1]
	if i == last {
		return last, 0
	}
	part, whole := x-c.Knots[i], c.Knots[i+1]-c.Knots[i]
	if math.IsInf(whole, 0) {
		part, whole = float64(x/2)-float64(c.Knots[i]/2), float64(c.Knots[i+1]/2)-float64(c.Knots[i]/2)
	}
	if f = matrix.Fraction(part / whole); f == 1 {
		return i + 1, 0
	}
	return i, f
}

// Kind returns "scorecard".
func (b *ScorecardBlock) Kind() string { return scorecardKind }

// Spec returns a group for each input.
func (b *ScorecardBlock) Spec() matrix.BlockSpec { return matrix.CodedSpec(b.groups) }

func (b *ScorecardBlock) appendWeights(m *Map, list []Weight) []Weight {
	for _, c := range b.Columns {
		title := title(m, c.Input)
		for _, x := range c.Knots {
			list = append(list, Weight{Name: title + " at " + shortest(x), Input: c.Input})
		}
		for _, x := range c.Atoms {
			list = append(list, Weight{Name: title + " = " + shortest(x), Input: c.Input})
		}
		if c.Missing {
			list = append(list, Weight{Name: title + " missing", Input: c.Input})
		}
	}
	return list
}

func shortest(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func (b *ScorecardBlock) encode(_ *Map, _ *table.Table, _ int, first uint32, dst *Encoded) error {
	for i := range b.Columns {
		c := &b.Columns[i]
		level, f := c.place(dst.numbers[c.Input])
		switch {
		case level >= 0 && f == 0:
			dst.Cols, dst.Values = append(dst.Cols, first+uint32(level)), append(dst.Values, 1)
		case level >= 0:
			dst.Cols = append(dst.Cols, first+uint32(level), first+uint32(level)+1)
			dst.Values = append(dst.Values, 1-f, f)
		}
		first += uint32(b.groups[i].Levels)
	}
	return nil
}

func (b *ScorecardBlock) reads(inputs []bool) {
	for i := range b.Columns {
		inputs[b.Columns[i].Input] = true
	}
}

func (b *ScorecardBlock) check(m *Map) error {
	b.groups = make([]matrix.Group, len(b.Columns))
	for i := range b.Columns {
		c := &b.Columns[i]
		if c.Input < 0 || c.Input >= len(m.Inputs) || m.Inputs[c.Input].Kind != schema.Numeric {
			return fmt.Errorf("input %d is not a numeric input", c.Input)
		}
		name := m.Inputs[c.Input].Name
		switch {
		case !increasing(c.Knots) || !increasing(c.Atoms):
			return fmt.Errorf("the knots or atoms of %q are not ascending", name)
		case len(c.Knots) == 1:
			return fmt.Errorf("%q has a single knot", name)
		case len(c.Knots)+len(c.Atoms) == 0:
			return fmt.Errorf("%q has neither knots nor atoms", name)
		case i > 0 && len(c.Knots) > 0 && len(b.Columns[i-1].Knots) == 0:
			return fmt.Errorf("%q has knots and comes after a column without", name)
		}
		b.groups[i] = matrix.Group{Levels: c.Levels(), Between: len(c.Knots) > 0}
	}
	return nil
}

func increasing(list []float64) bool {
	for i, x := range list {
		if math.IsNaN(x) || math.IsInf(x, 0) || i > 0 && x <= list[i-1] {
			return false
		}
	}
	return true
}

// probeValues returns values of an input at each kind of position: atoms, knots, points between knots, beyond
// both ends.
func (b *ScorecardBlock) probeValues(input int) []float64 {
	var list []float64
	for _, c := range b.Columns {
		if c.Input != input {
			continue
		}
		low, high := c.ends()
		list = append(list, c.Atoms...)
		for i := 1; i < len(c.Knots); i++ {
			list = append(list, c.Knots[i-1], float64(c.Knots[i-1]*.75)+float64(c.Knots[i]*.25))
		}
		list = append(list, beyond(high, 1), beyond(low, -1))
	}
	return list
}

// beyond returns a value above x (side 1) or below it (side -1), or x if there is no finite one.
func beyond(x, side float64) float64 {
	if y := x + float64(side*(math.Abs(x)+1)); !math.IsInf(y, 0) {
		return y
	}
	return x
}

// Bins of a scorecard: intervals between quantiles. Chosen by hand (a change moves results); docs/results/quality.md has results with them.
const (
	bins        = 16
	binsOfMany  = 8 // if there are more than manyColumns numeric columns
	manyColumns = 40
)

// atomPart: a value that at least one row in atomPart has becomes an atom. Chosen by hand (a change moves results).
const atomPart = 20

// newCard returns the scale of a column, without its input, from its values on the training rows. None is missing; nil weights
// are all 1.
//
//   - If there are at most bins+1 different values, or fewer than two that are not atoms, all are atoms and
//     there are no knots.
//   - Otherwise an atom is a value with at least 1/atomPart of the mass. Knots are the distinct quantiles of
//     the other values at j/bins, j = 0 to bins. The quantile at p is the smallest value up to which at least
//     the fraction p of the mass lies.
func newCard(x, weights []float64, bins int, missing bool) Card {
	c := Card{Missing: missing}
	values := distinct(x, weights)
	total := massOf(values)
	var rest []trees.ValueMass
	for _, v := range values {
		if float64(atomPart*v.Mass) >= total {
			c.Atoms = append(c.Atoms, v.X)
		} else {
			rest = append(rest, v)
		}
	}
	if len(values) > bins+1 && len(rest) > 1 {
		c.Knots = quantiles(rest, bins)
		return c
	}
	c.Atoms = make([]float64, len(values))
	for i, v := range values {
		c.Atoms[i] = v.X
	}
	return c
}

func massOf(list []trees.ValueMass) float64 {
	var total detmath.Sum
	for _, v := range list {
		total.Add(v.Mass)
	}
	return total.Value()
}

// distinct returns the different values in ascending order. Masses are summed in the order of the rows.
func distinct(x, weights []float64) []trees.ValueMass {
	if weights == nil {
		return trees.Tally(slices.Sorted(slices.Values(x)))
	}
	order := make([]int32, len(x))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(x[a], x[b]), cmp.Compare(a, b)) })
	var list []trees.ValueMass
	for i := 0; i < len(order); {
		v := x[order[i]] + 0 // no negative zero
		var mass detmath.Sum
		for ; i < len(order) && x[order[i]] == v; i++ {
			mass.Add(trees.WeightAt(weights, int(order[i])))
		}
		list = append(list, trees.ValueMass{X: v, Mass: mass.Value()})
	}
	return list
}

// quantiles returns the distinct quantiles at 0, 1/bins, ..., 1 of at least two values. There are at least
// two.
func quantiles(list []trees.ValueMass, bins int) []float64 {
	total := massOf(list)
	knots := []float64{list[0].X}
	var below detmath.Sum
	j := 1
	for i, v := range list {
		below.Add(v.Mass)
		reached := float64(float64(bins) * below.Value())
		last := i == len(list)-1
		if reached < float64(float64(j)*total) && !last {
			continue
		}
		if v.X > knots[len(knots)-1] {
			knots = append(knots, v.X)
		}
		for ; j <= bins && (reached >= float64(float64(j)*total) || last); j++ {
		}
	}
	return knots
}
