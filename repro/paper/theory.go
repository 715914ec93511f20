package paper

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"toptau/internal/app/report"
	"toptau/internal/core/text"
)

// Check is a statement of the paper, tested on data.
type Check struct {
	Name      string // "large-t"
	Paper     string // its place in the paper, for example "Theorem 4.2"; "-" if it is not in the paper
	Statement string // in one line
	// Refuted marks a statement that is expected to be false. The check looks for a counterexample.
	Refuted    bool
	Cases      int // number of cases that met the statement's conditions
	Real       int // number of these on real data, not on random samples
	Violations int
	// Worst is the largest violation of an inequality, relative to the size of the numbers compared. It is
	// negative if all inequalities hold strictly, and 0 for statements about counts.
	Worst    float64
	Measured int // number of cases that Worst covers
	Note     string
}

// Tolerance is the largest violation of an inequality that is attributed to rounding, relative to the size of
// the numbers compared. Sums of scores are the only rounded quantities.
const Tolerance = 1e-10

// OK reports whether the check had the expected result: at least one case, and violations only of a refuted
// statement.
func (c *Check) OK() bool { return c.Cases > 0 && (c.Violations > 0) == c.Refuted }

// claim is a check with the experiment for one case.
type claim struct {
	Check
	rare bool // a case needs a solver, so one case in 25 is enough
	try  func(t *trial) error
	note func() string // returns a note at the end; nil for none
}

// trial is one experiment: a sample, a stream of random numbers, and the check to which it adds cases.
type trial struct {
	*subject
	draws
	ctx   context.Context
	check *Check
	real  bool // the sample is real data
}

// countCase adds a case.
func (t *trial) countCase(violated bool) {
	t.check.Cases++
	if t.real {
		t.check.Real++
	}
	if violated {
		t.check.Violations++
	}
}

// atMost adds a case of left <= right. size is the size of the numbers from which both were computed.
func (t *trial) atMost(left, right, size float64) {
	violation := (float64(left) - float64(right)) / size
	t.check.Measured++
	if t.check.Measured == 1 || violation > t.check.Worst {
		t.check.Worst = violation
	}
	t.countCase(!(violation <= Tolerance)) // a NaN is a violation
}

// equal adds a case of left = right.
func (t *trial) equal(left, right, size float64) { t.atMost(math.Abs(left-right), 0, size) }

// holds adds a case of a statement that is true or false.
func (t *trial) holds(truth bool) { t.countCase(!truth) }

// casesOfSample is the number of cases on one random sample.
const casesOfSample = 5

// Theorems tests every theorem, corollary and lemma of the paper, and some further statements. It makes as
// many cases on all random samples together as on each of samples, which may be nil.
func Theorems(ctx context.Context, samples []Sample, cases int, seed uint64) ([]Check, error) {
	claims := claimsOfPaper()
	for i := range (cases + casesOfSample - 1) / casesOfSample {
		s, err := randomSample(newDraws(seed, 1, uint64(i)))
		if err != nil {
			return nil, err
		}
		if err := tryAll(ctx, claims, s, false, casesOfSample, newDraws(seed, 2, uint64(i))); err != nil {
			return nil, err
		}
	}
	for i, s := range samples {
		if err := tryAll(ctx, claims, s, true, cases, newDraws(seed, 3, uint64(i))); err != nil {
			return nil, err
		}
	}
	checks := make([]Check, len(claims))
	for i := range claims {
		if claims[i].note != nil {
			claims[i].Note = claims[i].note()
		}
		checks[i] = claims[i].Check
	}
	return checks, nil
}

// claimsOfPaper returns the claims in the order of the paper.
func claimsOfPaper() []claim {
	var all []claim
	for _, some := range [][]claim{countClaims(), convexClaims(), zeroClaims(), patMatClaims(), thresholdClaims(), dualClaims()} {
		all = append(all, some...)
	}
	return all
}

// tryAll tests every claim on one sample.
func tryAll(ctx context.Context, claims []claim, s Sample, real bool, cases int, d draws) error {
	subject, err := newSubject(ctx, s, d)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	for i := range claims {
		t := &trial{subject: subject, draws: d.split(uint64(i)), ctx: ctx, check: &claims[i].Check, real: real}
		tries := cases
		switch {
		case claims[i].rare:
			tries = (cases + 24) / 25
		case claims[i].Refuted && real:
			tries = 5 * cases
		case claims[i].Refuted: // counterexamples are rare, and small samples are fast
			tries = 20 * cases
		}
		for range tries {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := claims[i].try(t); err != nil {
				return fmt.Errorf("%s on %s: %w", claims[i].Name, s.Name, err)
			}
		}
	}
	return nil
}

// theoremSummary returns how many statements hold and which are false. The paper's own false statements are
// those of the errata; the other refuted ones are denied by the paper or rounded differently here.
func theoremSummary(checks []Check) string {
	wrong := map[string]bool{}
	for _, e := range errata() {
		wrong[e.check] = true
	}
	var holds, unexpected int
	var printed, others []string
	for i := range checks {
		switch c := &checks[i]; {
		case !c.OK():
			unexpected++
		case !c.Refuted:
			holds++
		case wrong[c.Name]:
			printed = append(printed, c.Paper)
		default:
			others = append(others, c.Name)
		}
	}
	summary := fmt.Sprintf("%s: %d hold in every case that meets their conditions. %d of the paper are false "+
		"as printed and have counterexamples (%s; see Errata). %d more have counterexamples, as expected (%s): "+
		"the paper denies them itself, or they round nτ down.", text.Plural(len(checks), "statement"), holds, len(printed), text.List(printed, "and"), len(others),
		text.List(others, "and"))
	if unexpected > 0 {
		summary += fmt.Sprintf(" %d did not have the expected result.", unexpected)
	}
	return summary
}

// TheoremTable returns a table of the checks.
func TheoremTable(checks []Check) report.Table {
	t := report.Table{
		Caption: "Statements of the paper, tested on random and real data",
		Header:  []string{"check", "paper", "statement", "found", "cases", "on real data", "violations", "worst", "note"},
		Numbers: []int{4, 5, 6, 7},
	}
	for i := range checks {
		c := &checks[i]
		t.Rows = append(t.Rows, []string{c.Name, c.Paper, c.Statement, c.verdict(), text.Count(c.Cases), text.Count(c.Real),
			text.Count(c.Violations), c.worst(), c.Note})
	}
	return t
}

// verdict returns the result of the check in words.
func (c *Check) verdict() string {
	switch {
	case c.Cases == 0:
		return "no case"
	case c.Violations == 0:
		return "holds"
	case c.Refuted:
		return "refuted, as expected"
	}
	return "violated"
}

// worst returns the largest violation as text.
func (c *Check) worst() string {
	if c.Measured == 0 {
		return ""
	}
	return strconv.FormatFloat(c.Worst, 'e', 1, 64)
}
