package schema

// Encoding is the way in which numeric columns become features.
type Encoding string

const (
	Raw             Encoding = "raw"              // the numbers themselves
	Scorecard       Encoding = "scorecard"        // a piecewise linear function of each column
	Leaves          Encoding = "leaves"           // indicators of the leaves of random trees
	ScorecardLeaves Encoding = "scorecard+leaves" // both
)

// Encodings returns all encodings.
func Encodings() []Encoding { return []Encoding{Raw, Scorecard, Leaves, ScorecardLeaves} }

// Scale is the set of features that are standardised: mean 0 and standard deviation 1 over the training rows.
type Scale string

const (
	ScaleStandard Scale = "standard" // numeric columns; the default
	ScaleAll      Scale = "all"      // one-hot columns as well
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
func (e Encoding) ReadsLabels() bool { return e == Leaves || e == ScorecardLeaves }

// UnmarshalText accepts any text. It reads "own", the former name, as ImputeIndicator.
func (i *Impute) UnmarshalText(text []byte) error {
	*i = Impute(text)
	if *i == "own" {
		*i = ImputeIndicator
	}
	return nil
}
