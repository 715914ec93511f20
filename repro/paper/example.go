package paper

import (
	"context"
	"fmt"
	"math/big"

	"toptau/internal/app/report"
	"toptau/internal/core/certified"
	"toptau/internal/core/objective"
	"toptau/internal/core/text"
	"toptau/method"
	"toptau/threshold"
)

// The example of Section 3: n negatives uniform in [-1,0]x[-1,1], n positives uniform in [0,1]x[-1,1], and
// one negative at (2,0). Table "example" compares w1 = (0,0) with w2 = (1,0), which separates all rows but
// the outlier. It uses the hinge, lambda = 0 and large n. At w2 the scores of the positives are uniform on
// [0,1], those of all rows on [-1,1], and those of the negatives on [-1,0], except for one at 2.

// ExampleOptions are the options of NewExample. The zero value is ready to use.
type ExampleOptions struct {
	Rows int // rows of each class in the sample (default 100,000)
	Seed uint64
}

// exampleTau is the tau of the table and the figures.
var exampleTau = threshold.MustRate("1%")

// Example is Table "example": exact limits for large n, and values measured on a random sample.
type Example struct {
	Options ExampleOptions
	Rows    []ExampleRow
}

// ExampleRow is a method with its values at both points.
type ExampleRow struct {
	Method   method.Method
	With     string // hyperparameters, for example "k = 10"
	At       [2]ExamplePoint
	InPaper  bool              // the paper's table contains the method
	ZeroBest certified.Verdict // whether w1 is the global minimum on the sample
}

// ExamplePoint is a method's threshold and objective at one point.
type ExamplePoint struct{ T, F ExampleCell }

// ExampleCell is a number of the table.
type ExampleCell struct {
	Formula  string
	Printed  string   // the paper's formula if it differs
	Exact    *big.Rat // nil for an irrational number
	Value    float64
	Measured float64
}

// Better returns the point with the lower exact objective, 1 or 2, or 0 if they are equal.
func (r *ExampleRow) Better() int {
	one, two := r.At[0].F, r.At[1].F
	switch {
	case one.Exact != nil && two.Exact != nil && one.Exact.Cmp(two.Exact) == 0:
		return 0
	case one.Value < two.Value:
		return 1
	}
	return 2
}

// NewExample computes the table.
func NewExample(ctx context.Context, o ExampleOptions) (*Example, error) {
	if o.Rows == 0 {
		o.Rows = 100_000
	}
	sample, err := exampleSample(o.Rows, o.Seed)
	if err != nil {
		return nil, err
	}
	e := &Example{Options: o}
	for _, row := range exampleRows(exampleTau) {
		p, err := row.problem(exampleTau)
		if err != nil {
			return nil, err
		}
		f, err := objective.New(p, sample)
		if err != nil {
			return nil, err
		}
		for i, w := range [2][]float64{{0, 0}, {1, 0}} {
			v := f.At(w, nil)
			row.At[i].T.Measured, row.At[i].F.Measured = v.T, v.F
		}
		if p.Definition().Convex {
			zero, err := certified.IsZeroOptimal(ctx, f, certified.Options{})
			if err != nil {
				return nil, err
			}
			row.ZeroBest = zero.Verdict
		}
		e.Rows = append(e.Rows, row.ExampleRow)
	}
	return e, ctx.Err()
}

// Notes lists the errors in the paper's table and in the text on it, and how to read the table.
func (e *Example) Notes() []string {
	return append(errataAt("Table \"example\"", "Section 3", "Appendix B"),
		"One printed cell is wrong: the sign in Grill's f at w2. The rows with other k and β and the methods that the table leaves out are ours.",
		"The exact values are limits for large n. In a sample the outlier changes every mean of K scores by about 2/K.")
}

// Table returns the table, with a row per method and point.
func (e *Example) Table() report.Table {
	t := report.Table{
		Caption: fmt.Sprintf("Table “example”: t and f at w1 = (0, 0) and w2 = (1, 0) with τ = %s, exact for large n and "+
			"measured on %s rows of each class", exampleTau, text.Count(e.Options.Rows)),
		Header:  []string{"method", "t", "exact", "measured", "f", "exact", "measured", "paper, for f", "lower f"},
		Numbers: []int{2, 3, 5, 6},
	}
	for _, r := range e.Rows {
		for i, at := range r.At {
			t.Rows = append(t.Rows, []string{r.title() + [2]string{" at w1", " at w2"}[i],
				at.T.Formula, at.T.text(), sixDigits(at.T.Measured), at.F.Formula, at.F.text(), sixDigits(at.F.Measured),
				r.printed(i), r.isLower(i)})
		}
	}
	return t
}

// title returns the method with its hyperparameters.
func (r *ExampleRow) title() string {
	if r.With == "" {
		return r.Method.Title
	}
	return r.Method.Title + ", " + r.With
}

// isLower returns "yes" if a point has the lower objective. For w1 it adds whether that is the global minimum
// on the sample.
func (r *ExampleRow) isLower(point int) string {
	switch better := r.Better(); {
	case better == 0:
		return "equal"
	case better != point+1:
		return ""
	case point == 0 && r.ZeroBest == certified.ZeroIsOptimal:
		return "yes, global minimum"
	}
	return "yes"
}

// printed returns the paper's formula for f.
func (r *ExampleRow) printed(point int) string {
	switch f := r.At[point].F; {
	case !r.InPaper:
		return "not in the table"
	case f.Printed != "":
		return f.Printed
	}
	return "the same"
}

// text returns the exact value as a decimal or a fraction, or an approximation of an irrational number.
func (c *ExampleCell) text() string {
	if c.Exact == nil {
		return "≈ " + sixDigits(c.Value)
	}
	if digits, ends := c.Exact.FloatPrec(); ends && digits <= 8 {
		return c.Exact.FloatString(digits)
	}
	return c.Exact.RatString()
}
