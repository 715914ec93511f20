package paper

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"toptau/internal/report"
	"toptau/internal/text"
)

// Check is a statement of the paper, tried on data.
type Check struct {
	Name      string // "large-t"
	Paper     string // where it stands: "Theorem 4.2"; "-": not in the paper
	Statement string // in one line
	// Refuted marks a statement that is false, or that the paper does not claim: a counterexample is looked for.
	Refuted    bool
	Cases      int // in which the statement's conditions held
	Real       int // how many of them were on the samples given; the others were on random ones
	Violations int
	// Worst is by how much a case came short at most, relative to the size of the numbers compared; negative when every
	// case had room to spare, and 0 for statements about counts.
	Worst    float64
	Measured int // how many of the cases Worst is taken over
	Note     string
}

// Tolerance is how much a case may come short, relative to the size of the numbers compared, before it is a violation:
// room for the rounding of sums of scores, and for nothing else.
const Tolerance = 1e-10

// OK reports whether the statement did what was expected of it: at least one case, and no violation unless it is refuted.
func (c *Check) OK() bool { return c.Cases > 0 && (c.Violations > 0) == c.Refuted }

// claim is a check with the experiment that makes one case of it.
type claim struct {
	Check
	rare bool // costs a solve: one case in 25 is enough
	try  func(t *trial) error
	note func() string // what else was seen, at the end; nil: nothing
}

// trial is one experiment: a sample, a stream of random numbers, and where to write down what came out.
type trial struct {
	*subject
	draws
	ctx   context.Context
	check *Check
	real  bool // the sample is one of those given
}

// count adds a case.
func (t *trial) countCase(violated bool) {
	t.check.Cases++
	if t.real {
		t.check.Real++
	}
	if violated {
		t.check.Violations++
	}
}

// atMost is a case of left <= right, where size is that of the numbers from which both were computed.
func (t *trial) atMost(left, right, size float64) {
	short := (left - right) / size
	t.check.Measured++
	if t.check.Measured == 1 || short > t.check.Worst {
		t.check.Worst = short
	}
	t.countCase(!(short <= Tolerance)) // a NaN is a violation
}

// equal is a case of left = right.
func (t *trial) equal(left, right, size float64) { t.atMost(math.Abs(left-right), 0, size) }

// holds is a case of a statement that is true or false.
func (t *trial) holds(truth bool) { t.countCase(!truth) }

// casesOfSample is how many cases are tried on one random sample.
const casesOfSample = 5

// Theorems tries every theorem, corollary and lemma of the paper, and what is true beyond them, on random samples and on
// the samples given: cases times on the random ones together, and cases times on each of the others. samples may be nil.
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

// claimsOfPaper lists the claims in the order of the paper.
func claimsOfPaper() []claim {
	var all []claim
	for _, some := range [][]claim{countClaims(), convexClaims(), zeroClaims(), patMatClaims(), thresholdClaims()} {
		all = append(all, some...)
	}
	return all
}

// tryAll tries every claim on one sample, which is one of those given or a random one.
func tryAll(ctx context.Context, claims []claim, s Sample, given bool, cases int, d draws) error {
	subject, err := newSubject(ctx, s, d)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	for i := range claims {
		t := &trial{subject: subject, draws: d.split(uint64(i)), ctx: ctx, check: &claims[i].Check, real: given}
		tries := cases
		switch {
		case claims[i].rare:
			tries = (cases + 24) / 25
		case claims[i].Refuted && given:
			tries = 5 * cases
		case claims[i].Refuted: // counterexamples are rare, and small samples cheap
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

// TheoremTable sets the checks out as a table.
func TheoremTable(checks []Check) report.Table {
	t := report.Table{
		Caption: "Statements of the paper, tried on random and real data",
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

// verdict is what the cases say of the statement.
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

func (c *Check) worst() string {
	if c.Measured == 0 {
		return ""
	}
	return strconv.FormatFloat(c.Worst, 'e', 1, 64)
}
