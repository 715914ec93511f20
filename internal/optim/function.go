// Package smooth minimises differentiable functions of linear scores: Newton's method with conjugate gradients for
// convex ones, L-BFGS for others. It knows neither rows nor losses.
//
// The economy is LIBLINEAR's. The scores of the iterate and of the direction are kept by the function, so that one
// product with the data belongs to a direction (Aim), one to a gradient (Advance) and one reading to a Hessian product
// (Product), while a trial of the line search (Along) costs a few operations a row. The line search can therefore be
// exact.
//
// Everything is deterministic: the order of all sums is fixed here and by the function.
package optim

// Function is a differentiable function with a current point x. It starts nowhere: Move comes first.
type Function interface {
	// Dim is the number of unknowns.
	Dim() int
	// Move goes to x, writes the gradient there to g and returns the value. Both have Dim elements.
	Move(x, g []float64) float64
	// Aim fixes the direction p in which Along and Advance look from the current point. p is not kept.
	Aim(p []float64)
	// Along returns the value at x + alpha p and its derivative by alpha. It does not move.
	Along(alpha float64) (value, slope float64)
	// Advance goes to x + alpha p, writes the gradient there to g and returns the value.
	Advance(alpha float64, g []float64) float64
}

// Curved is a convex function with second derivatives; at a kink of the gradient any element of the generalised Hessian.
type Curved interface {
	Function
	// Product writes the Hessian at the current point times s to out. Both have Dim elements.
	Product(s, out []float64)
	// Factor prepares Precondition for the current point and the Hessian plus damping times the identity.
	Factor(damping float64)
	// Precondition writes P r to out, where P is positive definite and near the inverse of the Hessian.
	Precondition(r, out []float64)
	// Bounded reports whether the function is known to have a minimum.
	Bounded() bool
	// Falls reports whether the function falls for ever in the direction aimed at, so that it has no minimum. faded
	// says that the direction is the Newton step at a point whose gradient has all but vanished.
	Falls(faded bool) bool
}

// Reason says why a run ended.
type Reason int

const (
	Limit     Reason = iota // the number of steps is used up
	Converged               // the gradient is small enough
	NoMinimum               // the function falls for ever in some direction
	Precision               // rounding allows no further descent
	Cancelled               // the context ended
)

// String says it in words.
func (r Reason) String() string {
	switch r {
	case Converged:
		return "converged"
	case NoMinimum:
		return "no minimum: the objective falls for ever in some direction"
	case Precision:
		return "no further descent at this precision"
	case Cancelled:
		return "cancelled"
	default:
		return "step limit"
	}
}

// Options are the settings of both methods.
type Options struct {
	Tolerance float64 // ends when |g| <= Tolerance * Scale; 0: 1e-8
	Scale     float64 // of gradients; 0: the norm at the start
	Steps     int     // at most; 0: 200
	Memory    int     // pairs that L-BFGS keeps; 0: 10
	// Progress, unless nil, is called at the start and after every step, on the caller's goroutine.
	Progress func(Progress)
}

// Progress is where a run stands.
type Progress struct {
	Step, Of int
	Value    float64
	Gradient float64 // |g| / Scale
}

// Result is what is known of the final point.
type Result struct {
	Value    float64
	Gradient float64 // |g| / Scale, measured at the final point; |g| where Scale is 0
	Steps    int
	Products int // Hessian products
	Reason   Reason
}

func (o Options) withDefaults() Options {
	if o.Tolerance == 0 {
		o.Tolerance = 1e-8
	}
	if o.Steps == 0 {
		o.Steps = 200
	}
	if o.Memory == 0 {
		o.Memory = 10
	}
	return o
}
