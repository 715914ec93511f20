package certified

import "math"

// limits say how many rows are held one by one. They follow from what a row costs in a Newton system, so that narrow
// data may hold many rows and wide data few.
type limits struct {
	held int // rows of a class that may be held; more than that stand in groups
	near int // rows nearest to the kink that are taken at a time then; doubled when a round brings little
}

const (
	systemWork      = 1e8 // multiplications that the rows of one class may cost in a Newton system
	leastHeld       = 20_000
	mostHeld        = 40_000
	leastNear       = 2_000
	nearWhenHeld    = 400 // rows below the edge taken at a time when all rows that matter are held
	roundsWithNoNew = 3
)

// limitsFor returns the limits for rows that cost so many multiplications in a Gram matrix.
func limitsFor(rowWork float64) limits {
	held := int(math.Min(mostHeld, math.Max(leastHeld, systemWork/math.Max(rowWork, 1))))
	return limits{held: held, near: max(leastNear, held/8)}
}
