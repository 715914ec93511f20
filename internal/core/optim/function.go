package optim

// Function is a differentiable function of linear scores with a current point x. Move must be called first.
//
// The design is LIBLINEAR's. The function keeps the scores of the iterate and of the direction. So a
// direction costs one product with the data (Aim), a gradient one (Move, Advance), a Hessian product one pass
// (Product), and a trial of the line search only a few operations a row (Along). The line search can
// therefore be nearly exact.
type Function interface {
	// Dim is the number of unknowns.
	Dim() int
	// Move goes to x, writes the gradient there to g and returns the value. Both have Dim elements.
	Move(x, g []float64) float64
	// Aim sets the direction p of Along and Advance. p is not kept.
	Aim(p []float64)
	// Along returns the value at x + alpha p and its derivative by alpha. It does not move.
	Along(alpha float64) (value, slope float64)
	// Advance goes to x + alpha p, writes the gradient there to g and returns the value.
	Advance(alpha float64, g []float64) float64
}

// Curved is a convex function with second derivatives. At a corner of the gradient any element of the
// generalised Hessian will do.
type Curved interface {
	Function
	// Product writes the Hessian at the current point times s to out. Both have Dim elements.
	Product(s, out []float64)
	// Factor prepares Precondition for the current point and the Hessian plus damping times the identity.
	Factor(damping float64)
	// Precondition writes P r to out, where P is positive definite and approximates the inverse of the
	// Hessian.
	Precondition(r, out []float64)
	// Bounded reports whether the function is known to have a minimum.
	Bounded() bool
	// Falls reports whether the function is known to fall without end in the direction of Aim, so that it has
	// no minimum. faded means that the direction is the Newton step at a point whose gradient has almost
	// vanished.
	Falls(faded bool) bool
}

// Reason is why a run ended.
type Reason int

const (
	Limit     Reason = iota // all steps are taken
	Converged               // the gradient is small enough
	NoMinimum               // the function falls without end in some direction
	Precision               // rounding allows no further descent
	Cancelled               // the context ended
)

// String returns the reason as a phrase.
func (r Reason) String() string {
	switch r {
	case Converged:
		return "converged"
	case NoMinimum:
		return "no minimum: the objective falls without end in some direction"
	case Precision:
		return "no further descent at this precision"
	case Cancelled:
		return "cancelled"
	default:
		return "step limit"
	}
}

// Options are the settings of Newton and LBFGS.
type Options struct {
	Tolerance float64 // the run ends when |g| <= Tolerance * Scale; 0: 1e-8
	Scale     float64 // of gradients; 0: the norm at the start
	Steps     int     // at most; 0: 200
	Memory    int     // pairs of L-BFGS; 0: 10
	// Progress is called at the start and after every step, on the caller's goroutine; nil: not.
	Progress func(Progress)
}

// Progress is the state of a run.
type Progress struct {
	Step, Of int
	Value    float64
	Gradient float64 // |g| / Scale
}

// Result describes the final point.
type Result struct {
	Value    float64
	Gradient float64 // |g| / Scale, measured at the final point; |g| where Scale is 0
	Steps    int
	Products int // Hessian products
	Reason   Reason
}

// setGradient measures the gradient g in units of scale, or unscaled if scale is 0.
func (r *Result) setGradient(g []float64, scale float64) {
	r.Gradient = norm(g)
	if scale > 0 {
		r.Gradient /= scale
	}
}

// report calls Progress.
func (o *Options) report(r *Result) {
	if o.Progress != nil {
		o.Progress(Progress{r.Steps, o.Steps, r.Value, r.Gradient})
	}
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
