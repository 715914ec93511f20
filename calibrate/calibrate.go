// Package calibrate finds decision thresholds with a guarantee on samples that were used for nothing else.
//
// Notation. z_(1) <= ... <= z_(n) are the calibration scores in ascending order, alpha the rate that must not be
// exceeded, delta the probability with which it may be exceeded all the same (confidence 1 - delta), k the order of the
// score that becomes the threshold, 1-based from the smallest. The decision is always score > threshold.
//
// What the guarantee is about: the calibration scores are drawn independently from the distribution that the model will
// meet, by a model that has not seen them. Nothing holds when calibration and use differ, when the same rows chose the
// model, or when several rows belong to one entity.
package calibrate

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"toptau/diag"
	"toptau/threshold"
)

// Population names what the calibration scores are and so what the bounded rate is about.
type Population int

const (
	Negatives Population = iota // the rate of false positives among negatives
	All                         // the share of all rows that become alerts
)

// String returns "negatives" or "all".
func (p Population) String() string {
	if p == All {
		return "all"
	}
	return "negatives"
}

// Threshold is a decision threshold (score > Threshold) with the evidence behind it.
type Threshold struct {
	Threshold  float64        // one of the calibration scores
	Population Population     // what the N scores are
	N          int            // calibration scores
	Order      int            // k: the threshold is the k-th smallest of them
	Exceeding  int            // calibration scores above the threshold: at most N - Order, fewer with ties
	Alpha      threshold.Rate // the rate asked for; unset by AbsoluteTop
	Delta      threshold.Rate // one minus the confidence; unset by Plain
	Bound      float64        // see the function that made it
	Certified  bool           // the rate is at most Alpha (AbsoluteTop: Bound) with confidence 1 - Delta
	Needed     int            // the fewest calibration scores with which Alpha can be certified at Delta; 0: not asked
	Sample     *Sample        // of the calibration scores, to compare later ones with

	effective, effectiveAbove float64 // PlainWeighted: effective numbers of scores, and of those at or above the threshold
}

// MarshalJSON writes null for what is unset.
func (t Threshold) MarshalJSON() ([]byte, error) {
	var value, bound *float64
	if !math.IsInf(t.Threshold, 0) {
		value = &t.Threshold
	}
	var needed *int
	var alpha, delta *threshold.Rate
	if !t.Alpha.IsZero() {
		alpha = &t.Alpha
	}
	if !t.Delta.IsZero() {
		delta, bound = &t.Delta, &t.Bound
	}
	if t.Needed > 0 {
		needed = &t.Needed
	}
	return json.Marshal(struct {
		Threshold  *float64        `json:"threshold"`
		Population string          `json:"population"`
		N          int             `json:"n"`
		Order      int             `json:"order"`
		Exceeding  int             `json:"exceeding"`
		Alpha      *threshold.Rate `json:"alpha"`
		Delta      *threshold.Rate `json:"delta"`
		Bound      *float64        `json:"bound"`
		Certified  bool            `json:"certified"`
		Needed     *int            `json:"needed"`
	}{value, t.Population.String(), t.N, t.Order, t.Exceeding, alpha, delta, bound, t.Certified, needed})
}

// ascending checks the scores and returns them sorted; it does not change its input.
func ascending(scores []float64, p Population) ([]float64, error) {
	if len(scores) == 0 {
		return nil, &diag.Error{Kind: diag.Data, Found: "no calibration scores",
			Expected: fmt.Sprintf("scores of %s that were used for nothing else", rowsOf(p))}
	}
	for i, z := range scores {
		if math.IsNaN(z) {
			return nil, &diag.Error{Kind: diag.Data, Found: fmt.Sprintf("calibration score %d is NaN", i+1),
				Expected: "a number"}
		}
	}
	z := slices.Clone(scores)
	slices.Sort(z)
	return z, nil
}

func rowsOf(p Population) string {
	if p == All {
		return "rows"
	}
	return "negatives"
}

// at is the threshold of order k on ascending scores.
func at(z []float64, k int, p Population) Threshold {
	t := z[k-1]
	above, _ := slices.BinarySearchFunc(z, t, func(score, t float64) int { // first score > t
		if score > t {
			return 1
		}
		return -1
	})
	return Threshold{Threshold: t + 0, Population: p, N: len(z), Order: k, Exceeding: len(z) - above, // -0 becomes 0
		Sample: sampleOf(z, k)}
}
