package feature

import (
	"cmp"
	"fmt"
	"slices"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/schema"
)

// Encode is how numeric columns become features. Categories are one-hot in every case.
type Encode = schema.Encoding

const (
	EncodeRaw        = schema.Raw       // NumericBlock, or SparseBlock for LIBSVM
	EncodeScorecard  = schema.Scorecard // ScorecardBlock
	EncodeLeaves     = schema.Leaves    // LeavesBlock
	EncodeBoth       = schema.ScorecardLeaves
	EncodeBoosted    = schema.Boosted    // LeavesBlock, with the categories
	EncodeStochastic = schema.Stochastic // the same, where trees grow on samples of the rows and columns
	EncodePairs      = schema.Pairs      // the same of trees with two questions
	EncodeAdditive   = schema.Additive   // the same with one tree per column
)

// Options are the settings of a fit. The zero value is raw columns with standard scaling, and missing values
// are errors.
type Options struct {
	Scale   schema.Scale    // default schema.ScaleStandard; without effect on scorecards and leaves
	Impute  schema.Impute   // default schema.ImputeError
	Encode  schema.Encoding // default EncodeRaw
	Trees   int             // EncodeLeaves: number of trees, default 60
	Leaves  int             // EncodeLeaves: most leaves of a tree, default 160
	Rounds  int             // boosted encodings: number of trees at most, see shapes for the defaults
	Derived []Derivation    // what trees read besides the columns
	Seed    uint64          // encodings with trees: seed of the random draws
	Growing bool            // boosted encodings: Grow can add trees, and the map keeps the rows for that

	// Measured describes the columns of all rows, if Fit sees a sample of them; nil: Fit sees all.
	Measured *Measured

	// Monotone lists columns with which the score may only rise, or only fall. Only the sum of boosted trees
	// keeps the signs (Boosting.Weights); a linear fit on their leaves need not.
	Monotone []Sign
}

// Defaults of random trees.
const (
	defaultTrees  = 60
	defaultLeaves = 160
)

// cards make the scale of a column from its values on the training rows, by encoding. The file of an encoding adds its own.
var cards = map[Encode]func(x, weights []float64, bins int, missing bool) Card{EncodeScorecard: newCard, EncodeBoth: newCard}

// growers make a block of all numbers that it may read, by encoding: inputs and derived columns. The file of an encoding adds its own.
var growers = map[Encode]func(f *fitter, inputs []int) (Block, error){
	EncodeLeaves: grow, EncodeBoth: grow, EncodeBoosted: grow, EncodeStochastic: grow, EncodePairs: grow, EncodeAdditive: grow,
}

// Sign is the direction in which the score may move with a column.
type Sign = schema.Sign

// Check returns the options with their defaults, or an error of kind usage that names the parameter.
func (o Options) Check() (Options, error) {
	o.Scale = cmp.Or(o.Scale, schema.ScaleStandard)
	o.Impute = cmp.Or(o.Impute, schema.ImputeError)
	o.Encode = cmp.Or(o.Encode, EncodeRaw)
	o.Trees = cmp.Or(o.Trees, defaultTrees)
	o.Leaves = cmp.Or(o.Leaves, defaultLeaves)
	if o.Rounds < 0 {
		return o, &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("%d rounds of boosting", o.Rounds), Expected: "at least one"}
	}
	if o.Trees < 0 || o.Leaves < 2 {
		return o, &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("%d trees of %d leaves", o.Trees, o.Leaves),
			Expected: "at least one tree of two leaves"}
	}
	if err := checkName("encoding", o.Encode, Encodings()...); err != nil {
		return o, err
	}
	if err := checkName("scale", o.Scale, schema.ScaleStandard, schema.ScaleAll, schema.ScaleNone); err != nil {
		return o, err
	}
	return o, checkName("impute", o.Impute, schema.ImputeError, schema.ImputeMedian, schema.ImputeZero, schema.ImputeIndicator)
}

// Encodings returns all encodings.
func Encodings() []schema.Encoding {
	return []schema.Encoding{schema.Raw, schema.Scorecard, schema.Leaves, schema.ScorecardLeaves, schema.Boosted, schema.Stochastic, schema.Pairs, schema.Additive}
}

// checkName returns an error for a parameter that has none of its known values.
func checkName[T ~string](param string, value T, known ...T) error {
	if slices.Contains(known, value) {
		return nil
	}
	return diag.OneOf(param, string(value), text.Strings(known))
}
