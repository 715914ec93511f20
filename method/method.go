package method

import (
	"strings"

	"toptau/internal/fault"
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

// ruleKind is the threshold rule of a method.
type ruleKind int

const (
	highestScore ruleKind = iota
	topCount
	topMean
	quantile
	surrogateQuantile
)

// Method is one row of the paper's Table methods. Methods are comparable with ==.
type Method struct {
	Name           string     // as on the command line: "patmat-np"
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
	rule           ruleKind
}

var methods = [...]Method{
	{
		Name: "toppush", Title: "TopPush", Equation: "problem_toppush",
		Population: Negatives, Convex: true, CanCollapse: true, Criterion: AtTop, rule: highestScore,
	},
	{
		Name: "toppushk", Title: "TopPushK", Equation: "problem_toppushk",
		Population: Negatives, Convex: true, CanCollapse: true, Criterion: AtTop, UsesK: true, rule: topCount,
	},
	{
		Name: "grill", Title: "Grill", Equation: "problem_grill",
		Population: AllRows, FalsePositives: true, Ball: true, Criterion: AtQuantile, UsesTau: true, rule: quantile,
	},
	{
		Name: "patmat", Title: "Pat&Mat", Equation: "problem_patmat",
		Population: AllRows, Convex: true, Criterion: AtQuantile, UsesTau: true, UsesBeta: true, rule: surrogateQuantile,
	},
	{
		Name: "topmean", Title: "TopMean", Equation: "problem_topmeank",
		Population: AllRows, Convex: true, CanCollapse: true, Criterion: AtQuantile, UsesTau: true, rule: topMean,
	},
	{
		Name: "grill-np", Title: "Grill-NP", Equation: "problem_grill_np",
		Population: Negatives, FalsePositives: true, Ball: true, Criterion: AtNP, UsesTau: true, rule: quantile,
	},
	{
		Name: "patmat-np", Title: "Pat&Mat-NP", Equation: "problem_patmat_np",
		Population: Negatives, Convex: true, Criterion: AtNP, UsesTau: true, UsesBeta: true, rule: surrogateQuantile,
	},
	{
		Name: "topmean-np", Title: "TopMean-NP", Equation: "problem_topmeank_np",
		Population: Negatives, Convex: true, CanCollapse: true, Criterion: AtNP, UsesTau: true, rule: topMean,
	},
}

// All returns the eight methods in the order of the paper's table.
func All() []Method { return append([]Method(nil), methods[:]...) }

// Names returns the names of all methods in the paper's order.
func Names() []string {
	names := make([]string, len(methods))
	for i, m := range methods {
		names[i] = m.Name
	}
	return names
}

// ByName returns the method of that name or title, in upper or lower case. Any other name is an error of kind usage that
// lists the names.
func ByName(name string) (Method, error) {
	for _, m := range methods {
		if strings.EqualFold(name, m.Name) || strings.EqualFold(name, m.Title) {
			return m, nil
		}
	}
	return Method{}, &fault.Error{
		Kind:     fault.Usage,
		Found:    "method " + fault.Quote(name),
		Expected: "one of " + strings.Join(Names(), ", "),
	}
}
