package optim

import "math"

// A step is accepted if the function has fallen by a part of what the slope promised (Armijo) and the slope
// has become a small part of the first one (strong Wolfe; Nocedal and Wright, 3.1). Trials are cheap, so the
// search is nearly exact: 0.1 is the textbook value for conjugate directions, where 0.9 is usual for
// quasi-Newton methods.
const (
	enoughFall  = 1e-4
	smallSlope  = 0.1
	maxTrials   = 40   // enough to bisect a bracket to the rounding of a float64
	largestGrow = 10.0 // factor of the step while no upper end is known; chosen by hand
	minMove     = 0.05 // part of the bracket that a trial stays away from its ends; chosen by hand
	// valueNoise is the relative rounding error of a sum over many rows. Values that differ by less count as
	// equal; only slopes then show where the minimum lies.
	valueNoise = 1e-12
)

// trial is one point of a line.
type trial struct{ alpha, value, slope float64 }

// lineSearch returns a step length in the direction of Aim, from the value and slope at 0 and a first guess.
// It returns 0 if no trial was lower.
func lineSearch(f Function, value, slope, guess float64) float64 {
	start := trial{0, value, slope}
	low, high := start, trial{alpha: math.Inf(1)}
	slack := float64(valueNoise * math.Abs(value))
	alpha := guess
	for k := range maxTrials {
		at := trial{alpha: alpha}
		at.value, at.slope = f.Along(alpha)
		fell := at.value <= value+float64(enoughFall*alpha*slope)+slack
		switch {
		case fell && math.Abs(at.slope) <= -smallSlope*slope:
			return alpha
		case !fell || at.slope >= 0 || at.value > low.value+slack:
			high = at
		default:
			low = at
		}
		alpha = nextTrial(low, high, k)
		if !(alpha > low.alpha && alpha < high.alpha) || math.IsInf(alpha, 1) {
			break
		}
	}
	return low.alpha
}

// nextTrial returns a step length between low and high: where the line through their slopes crosses zero,
// away from both ends. Every third time it is the middle. Without a high end it grows.
func nextTrial(low, high trial, k int) float64 {
	if math.IsInf(high.alpha, 1) {
		return largestGrow * max(low.alpha, math.SmallestNonzeroFloat64)
	}
	width := high.alpha - low.alpha
	if !(high.slope > 0) || k%3 == 2 {
		return low.alpha + float64(width/2)
	}
	fraction := -low.slope / (high.slope - low.slope)
	return low.alpha + float64(width*min(max(fraction, minMove), 1-minMove))
}
