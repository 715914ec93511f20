package method

import (
	"strings"

	"toptau/diag"
	"toptau/threshold"
)

// Population says which rows the threshold is computed from.
type Population int

const (
	AllRows   Population = iota // positives and negatives: Accuracy at the Top
	Negatives                   // negatives only: ranking and Neyman-Pearson
)

// String returns "all" or "negatives".
func (p Population) String() string {
	if p == Negatives {
		return "negatives"
	}
	return "all"
}

// Criterion is what a method approximates, and what its hyperparameters are chosen by.
type Criterion int

const (
	AtTop      Criterion = iota // positives above the highest negative (equation problem_top)
	AtQuantile                  // positives above the top tau-quantile of all scores (equation problem_aatp_orig)
	AtNP                        // positives above the top tau-quantile of the negatives' scores (equation problem_np)
)

// String returns "positives@top", "positives@quantile" or "positives@np".
func (c Criterion) String() string {
	switch c {
	case AtQuantile:
		return "positives@quantile"
	case AtNP:
		return "positives@np"
	default:
		return "positives@top"
	}
}

// Name identifies a learner as on the command line. Eight are the paper's methods, the rows of All; the others are the
// linear learners that train compares them with.
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
	SVM      Name = "svm"      // the squared-hinge support vector machine
	Ramp     Name = "ramp"     // the anchored top loss
)

// Method is one row of the paper's Table methods. Methods are comparable with ==.
type Method struct {
	Name           Name       // as on the command line: "patmat-np"
	Title          string     // as in the paper: "Pat&Mat-NP"
	Equation       string     // label of its definition in the paper
	Population     Population // whose scores give the threshold
	FalsePositives bool       // the objective has the false-positive term too
	Ball           bool       // w is projected on the l2 unit ball
	Convex         bool       // the objective is convex in w
	CanCollapse    bool       // w = 0 may be the global minimum (Theorem large_t); the paper's "robust" is the opposite
	Criterion      Criterion
	UsesK          bool
	UsesTau        bool
	UsesBeta       bool
	rule           *rule
}

// rule makes a threshold rule of hyperparameters. Methods point to it, so that they are comparable with ==.
type rule struct{ of func(Problem) threshold.Rule }

var (
	highestScore      = &rule{func(Problem) threshold.Rule { return threshold.TopCount{K: 1} }}
	topCount          = &rule{func(p Problem) threshold.Rule { return threshold.TopCount{K: p.K} }}
	topMean           = &rule{func(p Problem) threshold.Rule { return threshold.TopMean{Tau: p.Tau} }}
	quantile          = &rule{func(p Problem) threshold.Rule { return threshold.Quantile{Tau: p.Tau} }}
	surrogateQuantile = &rule{func(p Problem) threshold.Rule {
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

// Names returns the names of all methods in the paper's order.
func Names() []Name {
	names := make([]Name, len(methods))
	for i, m := range methods {
		names[i] = m.Name
	}
	return names
}

// ByName returns the method of that name or title, in upper or lower case. Any other name is an error of kind usage that
// lists the names.
func ByName[S ~string](name S) (Method, error) {
	for _, m := range methods {
		if strings.EqualFold(string(name), string(m.Name)) || strings.EqualFold(string(name), m.Title) {
			return m, nil
		}
	}
	return Method{}, &diag.Error{
		Kind:     diag.Usage,
		Param:    "method",
		Found:    diag.Quote(string(name)),
		Expected: "one of " + list(Names()),
	}
}

func list(names []Name) string {
	words := make([]string, len(names))
	for i, n := range names {
		words[i] = string(n)
	}
	return strings.Join(words, ", ")
}

// MarshalText returns String.
func (p Population) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads "all" or "negatives".
func (p *Population) UnmarshalText(text []byte) error {
	switch string(text) {
	case "all":
		*p = AllRows
	case "negatives":
		*p = Negatives
	default:
		return wrong("population", diag.Quote(string(text)), "all or negatives")
	}
	return nil
}
