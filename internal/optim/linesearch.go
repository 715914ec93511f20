package optim

import "math"

// A step is accepted when the function has fallen by a part of what the slope promised (Armijo) and the slope has
// become a small part of the first one (strong Wolfe). Trials are cheap, so the search is nearly exact.
const (
	enoughFall  = 1e-4
	smallSlope  = 0.1
	maxTrials   = 40
	largestGrow = 10.0
	// Values of a sum over many rows are equal up to this part; below it only slopes tell where the minimum lies.
	valueNoise = 1e-12
)

// trial is one point of a line.
type trial struct{ alpha, value, slope float64 }

// search returns a step length for the direction aimed at, from the value and slope at 0 and a first guess. 0 means
// that no trial went down.
func search(f Function, value, slope, guess float64) float64 {
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
		alpha = next(low, high, k)
		if !(alpha > low.alpha && alpha < high.alpha) || math.IsInf(alpha, 1) {
			break
		}
	}
	return low.alpha
}

// next chooses between low and high: where the line through their slopes crosses zero, away from both ends, and every
// third time the middle. Without a high end it grows.
func next(low, high trial, k int) float64 {
	if math.IsInf(high.alpha, 1) {
		return largestGrow * max(low.alpha, math.SmallestNonzeroFloat64)
	}
	width := high.alpha - low.alpha
	if !(high.slope > 0) || k%3 == 2 {
		return low.alpha + float64(width/2)
	}
	share := -low.slope / (high.slope - low.slope)
	return low.alpha + float64(width*min(max(share, 0.05), 0.95))
}
