package method

import (
	"strings"

	"toptau/diag"
	"toptau/threshold"
)

// Population is the set of rows that a threshold is computed from.
type Population int

const (
	AllRows   Population = iota // positives and negatives, as in Accuracy at the Top
	Negatives                   // negatives only, as in ranking and Neyman-Pearson classification
	Positives                   // positives only: a goal for the recall
)

// String returns "all", "negatives" or "positives".
func (p Population) String() string {
	switch p {
	case Negatives:
		return "negatives"
	case Positives:
		return "positives"
	}
	return "all"
}

// Criterion is the quantity that a method approximates, and by which its hyperparameters are chosen.
type Criterion int

const (
	AtTop      Criterion = iota // positives above the highest negative (equation problem_top)
	AtQuantile                  // positives above the tau-quantile of all scores (problem_aatp_orig)
	AtNP                        // positives above the tau-quantile of the negatives' scores (problem_np)

	// Criteria that no method of the paper optimises.
	AtPrecision // positives above the lowest score at which a fraction tau of the rows above is positive
	AtRecall    // negatives below the highest score above which a fraction tau of the positives lies
)

// String returns "positives@top", "positives@quantile", "positives@np", "positives@precision" or "negatives@recall".
func (c Criterion) String() string {
	switch c {
	case AtQuantile:
		return "positives@quantile"
	case AtNP:
		return "positives@np"
	case AtPrecision:
		return "positives@precision"
	case AtRecall:
		return "negatives@recall"
	default:
		return "positives@top"
	}
}

// Name identifies a learner. Eight are the methods of the paper (All). Training compares them with the other
// four.
type Name string

const (
	TopPush   Name = "toppush"
	TopPushK  Name = "toppushk"
	Grill     Name = "grill"
	PatMat    Name = "patmat"
	TopMean   Name = "topmean"
	GrillNP   Name = "grill-np"
	PatMatNP  Name = "patmat-np"
	TopMeanNP Name = "topmean-np"

	Logistic Name = "logistic" // logistic regression
	SVM      Name = "svm"      // a support vector machine with the squared hinge
	Ramp     Name = "ramp"     // the anchored top loss, started at a logistic regression
	Boosting Name = "boosting" // the sum of boosted trees, as gradient boosting itself predicts
)

// Method is one row of the paper's Table methods. Methods are comparable with ==.
type Method struct {
	Name           Name       // "patmat-np"
	Title          string     // the name in the paper: "Pat&Mat-NP"
	Equation       string     // the label of its definition in the paper
	Population     Population // the rows whose scores give the threshold
	FalsePositives bool       // the objective has the term of the false positives
	Ball           bool       // w is projected on the l2 unit ball
	Convex         bool       // the objective is convex in w
	CanCollapse    bool       // w = 0 may be optimal (Theorem large_t); the paper calls the others robust
	Criterion      Criterion  // the criterion that it approximates
	UsesK          bool       // Problem.K is a hyperparameter
	UsesTau        bool       // Problem.Tau is a hyperparameter
	UsesBeta       bool       // Problem.Beta is a hyperparameter
	rule           *rule
}

// rule builds the threshold rule of a problem. Methods hold a pointer, because functions cannot be compared
// with ==.
type rule struct {
	build func(Problem) threshold.Rule
}

var (
	highestScore      = &rule{build: func(Problem) threshold.Rule { return threshold.TopCount{K: 1} }}
	topCount          = &rule{build: func(p Problem) threshold.Rule { return threshold.TopCount{K: p.K} }}
	topMean           = &rule{build: func(p Problem) threshold.Rule { return threshold.TopMean{Tau: p.Tau} }}
	quantile          = &rule{build: func(p Problem) threshold.Rule { return threshold.Quantile{Tau: p.Tau} }}
	surrogateQuantile = &rule{build: func(p Problem) threshold.Rule {
		return threshold.SurrogateQuantile{Tau: p.Tau, Beta: p.Beta, Surrogate: p.Loss()}
	}}
)

var methods = [...]Method{
	{
		Name: TopPush, Title: "TopPush", Equation: "problem_toppush",
		Population: Negatives, Convex: true, CanCollapse: true, Criterion: AtTop, rule: highestScore,
	},
	{
		Name: TopPushK, Title: "TopPushK", Equation: "problem_toppushk",
		Population: Negatives, Convex: true, CanCollapse: true, Criterion: AtTop, UsesK: true, rule: topCount,
	},
	{
		Name: Grill, Title: "Grill", Equation: "problem_grill",
		Population: AllRows, FalsePositives: true, Ball: true, Criterion: AtQuantile, UsesTau: true, rule: quantile,
	},
	{
		Name: PatMat, Title: "Pat&Mat", Equation: "problem_patmat",
		Population: AllRows, Convex: true, Criterion: AtQuantile, UsesTau: true, UsesBeta: true, rule: surrogateQuantile,
	},
	{
		Name: TopMean, Title: "TopMean", Equation: "problem_topmeank",
		Population: AllRows, Convex: true, CanCollapse: true, Criterion: AtQuantile, UsesTau: true, rule: topMean,
	},
	{
		Name: GrillNP, Title: "Grill-NP", Equation: "problem_grill_np",
		Population: Negatives, FalsePositives: true, Ball: true, Criterion: AtNP, UsesTau: true, rule: quantile,
	},
	{
		Name: PatMatNP, Title: "Pat&Mat-NP", Equation: "problem_patmat_np",
		Population: Negatives, Convex: true, Criterion: AtNP, UsesTau: true, UsesBeta: true, rule: surrogateQuantile,
	},
	{
		Name: TopMeanNP, Title: "TopMean-NP", Equation: "problem_topmeank_np",
		Population: Negatives, Convex: true, CanCollapse: true, Criterion: AtNP, UsesTau: true, rule: topMean,
	},
}

// All returns the eight methods in the order of the paper's table.
func All() []Method { return append([]Method(nil), methods[:]...) }

// ByName returns the method with a name or a title, ignoring case. Any other text is an error of kind usage
// that lists the names.
func ByName[S ~string](name S) (Method, error) {
	for _, m := range methods {
		if strings.EqualFold(string(name), string(m.Name)) || strings.EqualFold(string(name), m.Title) {
			return m, nil
		}
	}
	names := make([]string, len(methods))
	for i, m := range methods {
		names[i] = string(m.Name)
	}
	return Method{}, diag.OneOf("method", string(name), names)
}

// MarshalText returns String.
func (p Population) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads what String returns.
func (p *Population) UnmarshalText(text []byte) error {
	switch string(text) {
	case "all":
		*p = AllRows
	case "negatives":
		*p = Negatives
	case "positives":
		*p = Positives
	default:
		return badValue("population", diag.Quote(string(text)), "all, negatives or positives")
	}
	return nil
}
