package summary

import (
	"math"

	"toptau/result"
)

// gapFloor is the smallest divisor of the relative gap, so that an objective near 0 can converge. For the
// hinge losses it is about a hundredth of F(0). Chosen by hand.
const gapFloor = 0.01

// NewBounds returns the bounds with both gaps. lower is nil if no bound is known. zeroIsOptimal means that w
// = 0 is a global minimum, so the gap of the decrease is not defined.
func NewBounds(objective, atZero float64, lower *float64, zeroIsOptimal bool) result.Bounds {
	b := result.Bounds{Objective: objective, AtZero: atZero, Lower: lower}
	if lower == nil {
		return b
	}
	gap := math.Max(0, objective-*lower)
	relative := gap / math.Max(objective, gapFloor)
	b.RelativeGap = &relative
	if possible := atZero - *lower; possible > 0 && !zeroIsOptimal {
		fraction := gap / possible
		b.GapOfDecrease = &fraction
	}
	return b
}
