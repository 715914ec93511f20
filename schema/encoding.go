package schema

// Encoding is how numeric columns become features.
type Encoding string

const (
	Raw             Encoding = "raw"              // the numbers themselves
	Scorecard       Encoding = "scorecard"        // piecewise linear functions of each column
	Leaves          Encoding = "leaves"           // indicators of the leaves of random trees
	ScorecardLeaves Encoding = "scorecard+leaves" // both
)

// Encodings returns all encodings in the order in which they are shown.
func Encodings() []Encoding { return []Encoding{Raw, Scorecard, Leaves, ScorecardLeaves} }

// Scale is the set of features that are scaled.
type Scale string

const (
	ScaleStandard Scale = "standard" // numeric columns are standardised; the default
	ScaleAll      Scale = "all"      // one-hot columns as well
	ScaleNone     Scale = "none"
)

// Impute is how a missing value is encoded.
type Impute string

const (
	ImputeError     Impute = "error"     // a missing number is an error; the default
	ImputeMedian    Impute = "median"    // the median of the training rows; categorical: their most frequent category
	ImputeZero      Impute = "zero"      // 0 before scaling; categorical: no category
	ImputeIndicator Impute = "indicator" // 0 after scaling and a feature "COLUMN missing"; categorical: a separate category
)

// ReadsLabels reports whether fitting the encoding reads the labels of the rows.
func (e Encoding) ReadsLabels() bool { return e == Leaves || e == ScorecardLeaves }

// UnmarshalText reads a name, and "own", the former name of ImputeIndicator.
func (i *Impute) UnmarshalText(text []byte) error {
	*i = Impute(text)
	if *i == "own" {
		*i = ImputeIndicator
	}
	return nil
}
