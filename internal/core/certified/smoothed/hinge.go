package smoothed

import "math"

// Hinge is max(0, x) with its corner smoothed over a width,
//
//	c(x) = (x + width/2)^2/(2 width)  for |x| < width/2,
//
// or max(0, x)^2, which has no corner. Slopes of the former rise from 0 to 1, so that those of a smoothed
// problem are feasible multipliers of the true one. A narrower hinge is smaller everywhere.
type Hinge struct {
	Square bool
	Width  float64
}

// At returns c, c' and c".
func (h Hinge) At(x float64) (value, slope, curvature float64) {
	if h.Square {
		if x <= 0 {
			return 0, 0, 0
		}
		return float64(x * x), 2 * x, 2
	}
	if x <= -h.Width/2 {
		return 0, 0, 0
	} else if x >= h.Width/2 {
		return x, 1, 0
	}
	slope = x/h.Width + .5
	return float64(float64(h.Width/2*slope) * slope), slope, 1 / h.Width
}

// Curvature returns c".
func (h Hinge) Curvature(x float64) float64 { _, _, v := h.At(x); return v }

// Ends returns the ends of the pieces on which the slope is linear and not 0. The last piece has no upper end.
func (h Hinge) Ends() []float64 {
	if h.Square {
		return []float64{0}
	}
	return []float64{-h.Width / 2, h.Width / 2}
}

// Pieces returns the slope on each piece.
func (h Hinge) Pieces() []Piece {
	if h.Square {
		return []Piece{{Slope: 2}}
	}
	return []Piece{{Rate: .5, Slope: 1 / h.Width}, {Rate: 1}}
}

// Between returns the pieces of a hinge whose corner is at a score, if its slope is known at some knots alone and is linear between
// them. The knots ascend, and the last one is +Inf. Scores are less some origin. The slopes are feasible multipliers, too, and
// intervals with the same piece are equal. The value is that of the hinge itself, but for the two intervals with an end of its smooth
// part.
func (h Hinge) Between(knots []float64, corner float64) []Piece {
	last := Piece{Rate: 1, Base: -corner}
	whole := Piece{Rate: .5 - corner/h.Width, Slope: 1 / h.Width}
	if h.Square {
		last = Piece{Rate: -2 * corner, Slope: 2}
		whole = last
	}
	pieces := make([]Piece, len(knots)-1)
	for k := range pieces {
		from, to := knots[k], knots[k+1]
		p := &pieces[k]
		valueFrom, low, _ := h.At(from - corner)
		valueTo, high, _ := h.At(to - corner)
		switch slope := (high - low) / (to - from); {
		case high == 0:
		case math.IsInf(to, 1) || low == 1 && !h.Square:
			*p = last
		case low > 0 && (high < 1 || h.Square):
			*p = whole
		default:
			*p = Piece{Rate: low - float64(slope*from), Slope: slope}
			first, second := valueFrom-float64(low*low/(2*slope)), valueTo-float64(high*high/(2*slope))
			p.Base, p.Off = (first+second)/2, math.Abs(first-second)
		}
	}
	return pieces
}

// value returns the sum of m c(z) over a cell on a piece.
func (h Hinge) value(c *Cell, p Piece) float64 {
	base := 0.0
	if p.Base != 0 {
		base = float64(p.Base * c.Mass)
	}
	switch {
	case h.Square && p == h.Pieces()[0]:
		return c.Square
	case p.Slope == 0:
		return float64(p.Rate*c.Score) + base
	case p.Slope == 1/h.Width:
		return float64(h.Width/2*c.Squares(p)) + base // c = width/2 c'^2
	}
	return c.Squares(p)/(2*p.Slope) + base
}
