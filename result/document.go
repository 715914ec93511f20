package result

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"toptau/diag"
)

// version is the version of all documents. It grows when a field changes its meaning or goes.
const version = 2

// Version is the version of a document. It holds nothing, so that no document can lack it.
type Version struct{}

// MarshalJSON writes the version.
func (Version) MarshalJSON() ([]byte, error) { return json.Marshal(version) }

// UnmarshalJSON refuses another version.
func (*Version) UnmarshalJSON(data []byte) error {
	if string(data) != fmt.Sprint(version) {
		return fmt.Errorf("schema_version %s, expected %d", data, version)
	}
	return nil
}

// Document is the beginning of every result.
type Document struct {
	SchemaVersion Version  `json:"schema_version"` // 2
	Warnings      Warnings `json:"warnings"`       // what the user should know: {code, text, fixes}; codes are stable
}

// Warnings are listed in the order in which they came up. No warnings are an empty list.
type Warnings []diag.Warning

// MarshalJSON writes nil as an empty list.
func (w Warnings) MarshalJSON() ([]byte, error) {
	if w == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]diag.Warning(w))
}

// Counts are the rows of a part of the data.
type Counts struct {
	Rows      int `json:"n"`     // rows
	Positives int `json:"n_pos"` // positive rows
}

// Estimate is a mean over the folds of a cross-validation.
type Estimate struct {
	Mean          float64   `json:"mean"`            // over the folds
	StandardError float64   `json:"standard_error"`  // of the mean
	Folds         []float64 `json:"folds,omitempty"` // the value in each fold
}

// Bounds enclose the smallest value of an objective F.
type Bounds struct {
	Objective     float64  `json:"objective"`         // F(w)
	AtZero        float64  `json:"objective_at_zero"` // F(0)
	Lower         *float64 `json:"lower_bound"`       // D, at most the smallest F; null: not known
	RelativeGap   *float64 `json:"relative_gap"`      // (F(w) - D) / max(F(w), 0.01)
	GapOfDecrease *float64 `json:"gap_of_decrease"`   // (F(w) - D) / (F(0) - D); null where w = 0 is optimal
}

// gapFloor is the smallest objective that the relative gap divides by: a hundredth of F(0) for the hinge losses.
const gapFloor = 0.01

// NewBounds returns the bounds with both gaps. lower nil: no bound is known. zeroIsOptimal: nothing can be gained over w = 0.
func NewBounds(objective, atZero float64, lower *float64, zeroIsOptimal bool) Bounds {
	b := Bounds{Objective: objective, AtZero: atZero, Lower: lower}
	if lower == nil {
		return b
	}
	missing := math.Max(0, objective-*lower)
	relative := missing / math.Max(objective, gapFloor)
	b.RelativeGap = &relative
	if possible := atZero - *lower; possible > 0 && !zeroIsOptimal {
		fraction := missing / possible
		b.GapOfDecrease = &fraction
	}
	return b
}

// Stop is why a computation ended before it was done.
type Stop string

const (
	NotStopped Stop = ""          // it was done
	Cancelled  Stop = "cancelled" // the context ended; the result is the best so far
	TimeUp     Stop = "time-up"   // MaxTime was over; the result is the best so far
)

// Progress is how far long work has come. Functions report it from one goroutine, at most ten times a second.
type Progress struct {
	Stage    string        // the present work in words
	Done, Of int           // units of work; Of 0: not known
	Fraction float64       // of all work, 0 to 1; negative: not known
	Left     time.Duration // an estimate of the time left; 0: not known
	Usable   bool          // a context that ends from now on leaves a result
}
