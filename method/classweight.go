package method

import (
	"math"
	"strconv"

	"toptau/diag"
)

// ClassWeight is the weight of the positives relative to the negatives. The zero value weighs both alike.
type ClassWeight struct {
	Positive float64 // above 0; 0: 1
	Balanced bool    // the negatives over the positives, so that both classes have the same weight
}

// UnmarshalText reads a number above 0, or balanced.
func (w *ClassWeight) UnmarshalText(text []byte) error {
	*w = ClassWeight{}
	if string(text) == "balanced" {
		w.Balanced = true
		return nil
	}
	x, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !(x > 0) || math.IsInf(x, 0) {
		return &diag.Error{Kind: diag.Usage, Param: "class-weight", Found: diag.Quote(string(text)), Expected: "a number above 0, or balanced"}
	}
	w.Positive = x
	return nil
}
