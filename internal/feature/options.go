package feature

import (
	"fmt"
	"slices"
	"strings"

	"toptau/diag"
	"toptau/schema"
)

// Scale says what is divided by its standard deviation.
type Scale = schema.Scale

const (
	ScaleStandard Scale = "standard" // numeric columns: (x - mean) / standard deviation; indices of LIBSVM: x / standard deviation
	ScaleAll      Scale = "all"      // as standard, and one-hot columns are divided by sqrt(p (1 - p))
	ScaleNone     Scale = "none"     // values as they are; constant columns are dropped all the same
)

// Impute is the policy for missing values, in training and in scoring alike.
type Impute = schema.Impute

const (
	ImputeError  Impute = "error"  // a missing value is an error that names its line
	ImputeMedian Impute = "median" // numeric: the weighted median of the training rows; categorical: their most frequent category
	ImputeZero   Impute = "zero"   // numeric: the value 0 before scaling; categorical: no category at all
	ImputeOwn    Impute = "own"    // numeric: 0 after scaling and an indicator "COLUMN missing"; categorical: a category of its own
)

// Encode says what numeric columns become. Categories are one-hot in every case.
type Encode = schema.Encoding

const (
	EncodeRaw       Encode = "raw"       // one dense column each, scaled (NumericBlock)
	EncodeScorecard Encode = "scorecard" // piecewise-linear scales of levels (ScorecardBlock)
	EncodeLeaves    Encode = "leaves"    // leaves of random trees (LeavesBlock)
	EncodeBoth      Encode = "scorecard+leaves"
)

// ReadsLabels reports whether fitting an encoding reads the labels of the rows.
func ReadsLabels(e Encode) bool { return e == EncodeLeaves || e == EncodeBoth }

// Options are the choices of a fit. The zero value is standard scaling of raw columns with missing values as errors.
type Options struct {
	Scale  Scale  // default ScaleStandard; of no effect on encoded numeric columns
	Impute Impute // default ImputeError
	Encode Encode // default EncodeRaw
	Trees  int    // EncodeLeaves: number of trees, default 60
	Leaves int    // EncodeLeaves: leaves of a tree at most, default 160
	Seed   uint64 // EncodeLeaves: of the random draws
}

func (o Options) scorecard() bool { return o.Encode == EncodeScorecard || o.Encode == EncodeBoth }
func (o Options) leaves() bool    { return ReadsLabels(o.Encode) }

// Check returns the options with their defaults, or a usage error that names the flag.
func (o Options) Check() (Options, error) {
	if o.Scale == "" {
		o.Scale = ScaleStandard
	}
	if o.Impute == "" {
		o.Impute = ImputeError
	}
	if o.Encode == "" {
		o.Encode = EncodeRaw
	}
	if err := oneOf("--features", o.Encode, EncodeRaw, EncodeScorecard, EncodeLeaves, EncodeBoth); err != nil {
		return o, err
	}
	if o.Trees == 0 {
		o.Trees = defaultTrees
	}
	if o.Leaves == 0 {
		o.Leaves = defaultLeaves
	}
	if o.Trees < 0 || o.Leaves < 2 {
		return o, &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("%d trees of %d leaves", o.Trees, o.Leaves),
			Expected: "at least one tree of two leaves"}
	}
	if err := oneOf("--scale", o.Scale, ScaleStandard, ScaleAll, ScaleNone); err != nil {
		return o, err
	}
	return o, oneOf("--impute", o.Impute, ImputeError, ImputeMedian, ImputeZero, ImputeOwn)
}

func oneOf[T ~string](flag string, value T, known ...T) error {
	if slices.Contains(known, value) {
		return nil
	}
	names := make([]string, len(known))
	for i, name := range known {
		names[i] = string(name)
	}
	return &diag.Error{Kind: diag.Usage, Found: flag + " " + diag.Quote(string(value)), Expected: strings.Join(names, ", ")}
}
