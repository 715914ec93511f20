package feature

import (
	"math"

	"toptau/internal/models/feature/trees"
	"toptau/schema"
)

// Direction is how a score moves with a numeric input while all other values stay, for values that are not missing.
type Direction int8

const (
	Mixed   Direction = iota // it may rise and fall, or nothing is proved
	Rising                   // it never falls, apart from rounding
	Falling                  // it never rises, apart from rounding
	Flat                     // it does not move
)

// Directions returns the direction of each input. Rising, Falling and Flat are proved from the weights: every term of the
// score moves in this direction. A sum may rise although one of its terms falls; it is then Mixed. Categorical
// inputs are Mixed.
func Directions(m *Map, weights []float64) []Direction {
	moves := make([]moves, numberCount(m))
	for i, b := range m.Blocks {
		w := weights[m.runs[i].first:m.runs[i].end]
		switch b := b.(type) {
		case *NumericBlock:
			for j, k := range b.Inputs {
				moves[k].step(0, w[j])
			}
		case *ScorecardBlock:
			for j := range b.Columns {
				c := &b.Columns[j]
				moves[c.Input].addCard(c, w[:c.Levels()])
				w = w[c.Levels():]
			}
		case *LeavesBlock:
			for j := range b.Trees {
				t := &b.Trees[j]
				addTree(t, w[:t.Leaves()], moves)
				w = w[t.Leaves():]
			}
		case *OneHotBlock:
		default: // an encoding that this function does not know proves nothing
			for k := range moves {
				moves[k].up, moves[k].down = true, true
			}
		}
	}
	for i, d := range m.Derived { // it moves with either input, up where that is positive and down where it is negative
		if of := moves[len(m.Inputs)+i]; of.up || of.down {
			moves[d.A].up, moves[d.A].down, moves[d.B].up, moves[d.B].down = true, true, true, true
		}
	}
	list := make([]Direction, len(m.Inputs))
	for k, mv := range moves[:len(m.Inputs)] {
		switch {
		case m.Inputs[k].Kind == schema.Categorical || mv.up && mv.down:
		case mv.up:
			list[k] = Rising
		case mv.down:
			list[k] = Falling
		default:
			list[k] = Flat
		}
	}
	return list
}

// moves are the directions in which the terms of an input may move the score.
type moves struct{ up, down bool }

// step adds a move from one value to a later one.
func (m *moves) step(from, to float64) {
	m.up = m.up || to > from
	m.down = m.down || to < from
}

// addCard adds the moves of a scale. An atom between the outer knots is a single value that interrupts the curve, so it
// moves the score both ways unless it lies on the curve.
func (m *moves) addCard(c *Card, w []float64) {
	knots, atoms := w[:len(c.Knots)], w[len(c.Knots):len(c.Knots)+len(c.Atoms)]
	for i := 1; i < len(knots); i++ {
		m.step(knots[i-1], knots[i])
	}
	if len(knots) == 0 {
		for i := 1; i < len(atoms); i++ {
			m.step(atoms[i-1], atoms[i])
		}
		return
	}
	last := len(knots) - 1
	for i, x := range c.Atoms {
		switch {
		case x < c.Knots[0]: // from here the curve begins at once with the weight of its first knot
			m.step(atoms[i], knots[0])
		case x > c.Knots[last]:
			m.step(knots[last], atoms[i])
		default:
			level, f := c.between(x)
			on := knots[level]
			if f > 0 {
				on += float64(f * (knots[level+1] - knots[level]))
			}
			m.step(on, atoms[i])
			m.step(atoms[i], on)
		}
	}
}

// addTree adds the moves of a tree: from any leaf on the left of a node to any on its right.
func addTree(t *trees.Tree, w []float64, list []moves) {
	t.Sides(w, func(input int, at float64, left, right [2]float64) {
		if at == math.MaxFloat64 { // only a missing value goes right
			return
		}
		list[input].step(left[0], right[1])
		list[input].step(left[1], right[0])
	})
}
