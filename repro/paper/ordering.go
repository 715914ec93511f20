package paper

import (
	"context"
	"fmt"
	"strings"

	"toptau/internal/app/plot"
	"toptau/internal/app/report"
	"toptau/internal/core/text"
	"toptau/method"
	"toptau/repro/paper/drawing"
	"toptau/surrogate"
	"toptau/threshold"
)

// Arrow is an arrow of the paper's Figure "thresholds": the threshold of From is at least that of To.
type Arrow struct {
	From, To  string // titles of methods
	Always    bool   // a solid arrow; a dashed one usually holds
	Condition string // of the proof; "" if there is none

	Cases, Violations          int // of all cases
	Met, MetViolations         int // of the cases that meet the condition
	Trained, TrainedViolations int // of the cases at iterates of ADAM and at optima
	Worst                      float64

	// met reports whether a case meets the condition. It is nil if every case does.
	met func(c *comparison) (bool, error)
}

// Ordering is the figure with the cases of its arrows.
type Ordering struct{ Arrows []Arrow }

// arrowsOfPaper returns the arrows of Figure "thresholds" with the conditions of Lemmas A.5 and A.6. The
// arrow from TopPushK to TopMean-NP needs k <= K. The arrow from Pat&Mat to Pat&Mat-NP has a condition that
// the paper does not state.
func arrowsOfPaper() []Arrow {
	return []Arrow{
		{From: "TopPush", To: "TopPushK", Always: true},
		{From: "TopPushK", To: "TopMean-NP", Always: true, Condition: "k ≤ K",
			met: func(c *comparison) (bool, error) { return c.k <= c.tau.Ceil(len(c.negatives)), nil }},
		{From: "Pat&Mat-NP", To: "TopMean-NP", Always: true},
		{From: "Pat&Mat-NP", To: "Grill-NP", Always: true},
		{From: "TopMean-NP", To: "Grill-NP", Always: true},
		{From: "Pat&Mat", To: "TopMean", Always: true},
		{From: "Pat&Mat", To: "Grill", Always: true},
		{From: "TopMean", To: "Grill", Always: true},
		{From: "Pat&Mat", To: "Pat&Mat-NP", Condition: "surrogate quantile of the positives ≥ that of the " +
			"negatives",
			met: func(c *comparison) (bool, error) {
				own, err := thresholdOf(threshold.SurrogateQuantile{Tau: c.tau, Beta: c.beta, Surrogate: c.loss}, c.positives)
				return own >= c.at["Pat&Mat-NP"], err
			}},
		{From: "TopMean", To: "TopMean-NP", Condition: "top mean of the positives > that of the negatives",
			met: func(c *comparison) (bool, error) { return c.positivesAbove(topMean), nil }},
		{From: "Grill", To: "Grill-NP", Condition: "quantile of the positives > that of the negatives",
			met: func(c *comparison) (bool, error) { return c.positivesAbove(kthLargest), nil }},
	}
}

// comparison contains the eight thresholds of one w with one set of hyperparameters.
type comparison struct {
	scored
	tau  threshold.Rate
	k    int
	beta float64
	loss surrogate.Surrogate
	at   map[string]float64 // threshold by the method's title
	size float64
}

// positivesAbove reports whether a rule gives the positives a larger threshold than the negatives.
func (c *comparison) positivesAbove(rule func(z []float64, k int) float64) bool {
	return rule(c.positives, c.tau.Ceil(len(c.positives))) > rule(c.negatives, c.tau.Ceil(len(c.negatives)))
}

// CheckOrdering compares the thresholds of all methods with the same scores and hyperparameters. It makes as
// many cases on random samples as on each of samples. About half of the cases are at an iterate of ADAM or an
// optimum, the others at any point of the checks.
func CheckOrdering(ctx context.Context, samples []Sample, cases int, seed uint64) (*Ordering, error) {
	o := &Ordering{Arrows: arrowsOfPaper()}
	for i := range (cases + casesOfSample - 1) / casesOfSample {
		s, err := randomSample(newDraws(seed, 4, uint64(i)))
		if err != nil {
			return nil, err
		}
		if err := o.compareAll(ctx, s, casesOfSample, newDraws(seed, 5, uint64(i))); err != nil {
			return nil, err
		}
	}
	for i, s := range samples {
		if err := o.compareAll(ctx, s, cases, newDraws(seed, 6, uint64(i))); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// compareAll adds cases on one sample.
func (o *Ordering) compareAll(ctx context.Context, s Sample, cases int, d draws) error {
	u, err := newSubject(ctx, s, d)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	for range cases {
		if err := ctx.Err(); err != nil {
			return err
		}
		w, trained := u.drawWeights(d), d.below(2) == 0
		if trained {
			w = pick(d, u.known...)
		}
		c, err := u.compare(d, w)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		if err := o.countArrows(c, trained); err != nil {
			return err
		}
	}
	return nil
}

// compare computes the thresholds at w with hyperparameters of the paper's grids.
func (u *subject) compare(d draws, w []float64) (*comparison, error) {
	c := &comparison{scored: u.scores(w), tau: d.rate(), beta: pick(d, 1e-4, 1e-3, 0.01, 0.1, 1, 10),
		k: min(pick(d, 1, 3, 5, 10, 15, 20), u.X.Negatives.Rows()), at: map[string]float64{},
		loss: pick(d, surrogate.Hinge, surrogate.SquaredHinge, surrogate.Logistic)}
	c.size = u.scoreSize(w) + 1/c.beta
	for _, m := range method.All() {
		h := method.Problem{Surrogate: c.loss.Name()}
		if m.UsesTau {
			h.Tau = c.tau
		}
		if m.UsesK {
			h.K = c.k
		}
		if m.UsesBeta {
			h.Beta = c.beta
		}
		p, err := m.With(h)
		if err != nil {
			return nil, err
		}
		if c.at[m.Title], err = c.threshold(p); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// countArrows adds a comparison to every arrow.
func (o *Ordering) countArrows(c *comparison, trained bool) error {
	for i := range o.Arrows {
		a := &o.Arrows[i]
		met := true
		if a.met != nil {
			var err error
			if met, err = a.met(c); err != nil {
				return err
			}
		}
		short := (c.at[a.To] - c.at[a.From]) / c.size
		violated := 0
		if !(short <= Tolerance) {
			violated = 1
		}
		a.Cases++
		a.Violations += violated
		if met {
			if a.Met == 0 || short > a.Worst {
				a.Worst = short
			}
			a.Met++
			a.MetViolations += violated
		}
		if trained {
			a.Trained++
			a.TrainedViolations += violated
		}
	}
	return nil
}

// Violations returns the number of violations of proven statements: solid arrows, and dashed ones under their
// conditions.
func (o *Ordering) Violations() int {
	sum := 0
	for _, a := range o.Arrows {
		sum += a.MetViolations
	}
	return sum
}

// Summary returns the result in words: which arrows are violated, and where.
func (o *Ordering) Summary() string {
	var outside []string
	solid, dashed := 0, 0
	for _, a := range o.Arrows {
		switch {
		case a.Always && a.Violations > 0:
			outside = append(outside, fmt.Sprintf("from %s to %s in %s cases, of which %s have %s", a.From, a.To,
				countOf(a.Violations, a.Cases), text.Count(a.MetViolations), a.Condition))
		case a.Always:
			solid++
		default:
			dashed += a.MetViolations
		}
	}
	summary := fmt.Sprintf("%d solid arrows have no violation.", solid)
	if len(outside) > 0 {
		summary += " Violated: the solid arrow " + text.List(outside, "and") + " (see Errata)."
	}
	return summary + fmt.Sprintf(" Dashed arrows, which hold usually according to the paper, are violated in "+
		"%s cases under the conditions of the table.", text.Count(dashed))
}

// Table returns a table with a row per arrow.
func (o *Ordering) Table() report.Table {
	t := report.Table{
		Caption: "Arrows of Figure “thresholds”: cases in which the threshold at the start of the arrow was the " +
			"smaller one",
		Header: []string{"from", "to", "paper", "violations", "at trained w", "condition", "violations under the " +
			"condition"},
		Numbers: []int{3, 4, 6},
	}
	for _, a := range o.Arrows {
		claim := "usually"
		if a.Always {
			claim = "always"
		}
		t.Rows = append(t.Rows, []string{a.From, a.To, claim, countOf(a.Violations, a.Cases), countOf(a.TrainedViolations, a.Trained),
			a.Condition, countOf(a.MetViolations, a.Met)})
	}
	return t
}

// countOf writes "3 of 1,200".
func countOf(count, all int) string { return text.Count(count) + " of " + text.Count(all) }

// Figure draws the arrows. Thresholds decrease downwards and to the left. Solid arrows are labelled with the
// number of violations, dashed ones with their fraction.
func (o *Ordering) Figure() plot.Figure {
	d := &drawing.Diagram{
		Text: plot.Caption{
			Title:       "Which method has the larger threshold",
			Description: o.inWords(),
			Note: "Solid arrows show the number of violations, dashed ones their fraction, of " + o.caseCount() +
				" each: random w, iterates of ADAM and optima, on random and real data." +
				o.exception(),
		},
		Kinds: []string{"convex", "convex, but w = 0 may be optimal", "not convex"},
		Solid: "always larger", Dashed: "usually larger",
		Boxes: []drawing.Box{
			{Key: "TopPush", Label: "TopPush", Column: 0, Row: 0, Kind: 1},
			{Key: "TopPushK", Label: "TopPushK", Column: 0, Row: 1, Kind: 1},
			{Key: "TopMean-NP", Label: "TopMean-NP", Column: 0, Row: 2, Kind: 1},
			{Key: "Grill-NP", Label: "Grill-NP", Column: 0, Row: 3, Kind: 2},
			{Key: "Pat&Mat-NP", Label: "Pat&Mat-NP", Column: 1, Row: 1},
			{Key: "Pat&Mat", Label: "Pat&Mat", Column: 2, Row: 0},
			{Key: "TopMean", Label: "TopMean", Column: 2, Row: 1.5, Kind: 1},
			{Key: "Grill", Label: "Grill", Column: 2, Row: 3, Kind: 2},
		},
	}
	for _, a := range o.Arrows {
		arrow := drawing.Arrow{From: a.From, To: a.To, Dashed: !a.Always, Label: text.Count(a.Violations)}
		if arrow.Dashed {
			arrow.Label = fmt.Sprintf("%.2g %%", 100*float64(a.Violations)/float64(max(1, a.Cases)))
		}
		if a.From == "Pat&Mat" && a.To == "Grill" { // around TopMean
			arrow.Bend = 0.215
		}
		d.Arrows = append(d.Arrows, arrow)
	}
	return d
}

// exception returns a sentence on the solid arrow that needs a condition.
func (o *Ordering) exception() string {
	for _, a := range o.Arrows {
		if a.Always && a.Violations > 0 {
			return fmt.Sprintf(" That from %s to %s is violated only without %s: %s under it.", a.From, a.To, a.Condition,
				text.Count(a.MetViolations))
		}
	}
	return ""
}

// inWords describes the arrows for readers who cannot see them.
func (o *Ordering) inWords() string {
	var words []string
	for _, a := range o.Arrows {
		words = append(words, fmt.Sprintf("%s above %s: %s "+
			"violations", a.From, a.To, countOf(a.Violations, a.Cases)))
	}
	return strings.Join(words, "; ") + "."
}

// caseCount returns the number of cases of an arrow in words.
func (o *Ordering) caseCount() string { return text.Plural(o.Arrows[0].Cases, "case") }
