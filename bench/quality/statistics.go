package main

import (
	"math"
	"slices"

	"toptau/internal/core/detmath"
)

// estimate is a mean over seeds with half the width of its interval.
type estimate struct {
	mean float64
	half float64 // of the 95 % interval; NaN with a single seed
	n    int
}

// student holds the 97.5 % quantiles of Student's t distribution for 1, 2, ... degrees of freedom.
var student = []float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262}

// estimated returns the mean of some values with the interval mean +- t s / sqrt(n). It ignores NaN. The
// parts of different seeds share rows, so the interval shows the effect of the division and of the random
// numbers, not the variation between samples.
func estimated(values []float64) estimate {
	values = slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	n := len(values)
	e := estimate{n: n, half: math.NaN(), mean: math.NaN()}
	if n == 0 {
		return e
	}
	standardError := 0.0
	if e.mean, standardError = detmath.MeanAndError(values); n > 1 && n <= len(student)+1 {
		e.half = student[n-2] * standardError
	}
	return e
}

// differences returns a minus b, seed by seed; NaN if one of them has no value.
func differences(a, b []float64) []float64 {
	list := make([]float64, min(len(a), len(b)))
	for i := range list {
		list[i] = a[i] - b[i]
	}
	return list
}
