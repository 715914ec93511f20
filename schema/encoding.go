package schema

import (
	"strings"

	"toptau/diag"
)

// Encoding is the way in which numeric columns become features.
type Encoding string

const (
	Raw             Encoding = "raw"              // the numbers themselves
	Scorecard       Encoding = "scorecard"        // a piecewise linear function of each column
	Leaves          Encoding = "leaves"           // indicators of the leaves of random trees
	ScorecardLeaves Encoding = "scorecard+leaves" // both
	Boosted         Encoding = "boosted"          // indicators of the leaves of boosted trees
	Stochastic      Encoding = "stochastic"       // the same, where each tree grows on a sample of the rows and columns
	Pairs           Encoding = "pairs"            // the same, where each tree reads at most two columns
	Additive        Encoding = "additive"         // a step function of each column, found by boosting
)

// Boosted reports whether boosting finds the features. It reads categorical columns too.
func (e Encoding) Boosted() bool {
	return e == Boosted || e == Stochastic || e == Pairs || e == Additive
}

// Derive is the set of derived columns that train tries.
type Derive string

const (
	DeriveNone  Derive = "none"
	DerivePairs Derive = "pairs" // differences, products and ratios of the strongest numeric columns
)

// Sign is the direction in which the score may move with a numeric column.
type Sign struct {
	Column  string // its name, or its number if columns have no names
	Falling bool   // the score may only fall as the column rises; otherwise it may only rise
}

// UnmarshalText reads "COLUMN=+" and "COLUMN=-".
func (s *Sign) UnmarshalText(text []byte) error {
	at := strings.LastIndex(string(text), "=")
	if at < 1 || string(text[at+1:]) != "+" && string(text[at+1:]) != "-" {
		return &diag.Error{Kind: diag.Usage, Found: diag.Quote(string(text)),
			Expected: "a column with the direction of the score: age=+ or age=-"}
	}
	*s = Sign{string(text[:at]), text[at+1] == '-'}
	return nil
}

// MarshalText writes what UnmarshalText reads.
func (s Sign) MarshalText() ([]byte, error) {
	if s.Falling {
		return []byte(s.Column + "=-"), nil
	}
	return []byte(s.Column + "=+"), nil
}

// Scale is the set of features that are standardised: mean 0 and standard deviation 1 over the training rows.
type Scale string

const (
	ScaleStandard Scale = "standard" // numeric columns, but not LIBSVM indices whose values are 0 and 1; the default
	ScaleAll      Scale = "all"      // one-hot columns and indices of 0 and 1 as well
	ScaleNone     Scale = "none"     // no features
)

// Impute is the treatment of missing values.
type Impute string

const (
	ImputeError     Impute = "error"     // a missing number is an error; the default
	ImputeMedian    Impute = "median"    // the median of the training rows, or their most frequent category
	ImputeZero      Impute = "zero"      // 0 before scaling, or no category
	ImputeIndicator Impute = "indicator" // 0 and a feature "COLUMN missing", or a separate category
)

// ReadsLabels reports whether fitting the encoding reads the labels of the rows.
func (e Encoding) ReadsLabels() bool { return e == Leaves || e == ScorecardLeaves || e.Boosted() }
