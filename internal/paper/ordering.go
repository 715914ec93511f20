package paper

import (
	"context"
	"fmt"
	"strings"

	"toptau/internal/paper/drawing"
	"toptau/internal/plot"
	"toptau/internal/report"
	"toptau/method"
	"toptau/surrogate"
	"toptau/threshold"
)

// Arrow is an arrow of the paper's Figure "thresholds": the threshold of From is at least that of To.
type Arrow struct {
	From, To  string // titles of methods
	Always    bool   // a full arrow; a dotted one holds usually
	Condition string // under which the statement is proved; "": none is needed

	Cases, Violations          int // all cases
	Met, MetViolations         int // those that meet the condition
	Trained, TrainedViolations int // those at iterates of ADAM and at optima
	Worst                      float64

	// met reports whether a case meets the condition; nil: every case does.
	met func(c *comparison) (bool, error)
}

// Ordering is the figure with its arrows counted.
type Ordering struct{ Arrows []Arrow }

// arrowsOfPaper lists the arrows of Figure "thresholds" with the conditions of Lemmas A.5 and A.6. The arrow from TopPushK
// to TopMean-NP needs k <= K, and the one between the two Pat&Mat has a condition that the paper does not state.
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
		{From: "Pat&Mat", To: "Pat&Mat-NP", Condition: "surrogate quantile of the positives ≥ that of the negatives",
			met: func(c *comparison) (bool, error) {
				own, err := thresholdOf(threshold.SurrogateQuantile{Tau: c.tau, Beta: c.beta, Surrogate: c.loss}, c.positives)
				return own >= c.at["Pat&Mat-NP"], err
			}},
		{From: "TopMean", To: "TopMean-NP", Condition: "top mean of the positives > that of the negatives",
			met: func(c *comparison) (bool, error) { return c.classes(topMean), nil }},
		{From: "Grill", To: "Grill-NP", Condition: "quantile of the positives > that of the negatives",
			met: func(c *comparison) (bool, error) { return c.classes(kthLargest), nil }},
	}
}

// comparison is the eight thresholds of one w with one set of hyperparameters.
type comparison struct {
	scored
	tau  threshold.Rate
	k    int
	beta float64
	loss surrogate.Surrogate
	at   map[string]float64 // by title; only looked up
	size float64
}

// classes reports whether a rule gives the positives alone more than the negatives.
func (c *comparison) classes(rule func(z []float64, k int) float64) bool {
	return rule(c.positives, c.tau.Ceil(len(c.positives))) > rule(c.negatives, c.tau.Ceil(len(c.negatives)))
}

// CheckOrdering compares the thresholds of all methods at the same scores and hyperparameters: cases times on random
// samples, and cases times on each of the samples given; about half of the time at an iterate of ADAM or an optimum, and
// otherwise at any point of the checks.
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

func (o *Ordering) compareAll(ctx context.Context, s Sample, cases int, d draws) error {
	u, err := newSubject(ctx, s, d)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	for range cases {
		if err := ctx.Err(); err != nil {
			return err
		}
		w, trained := u.point(d), d.below(2) == 0
		if trained {
			w = pick(d, u.known...)
		}
		c, err := u.compare(d, w)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		if err := o.count(c, trained); err != nil {
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
	c.size = u.size(w) + 1/c.beta
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

// count adds a comparison to every arrow.
func (o *Ordering) count(c *comparison, trained bool) error {
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

// Violations is the number of violations of what is proved: full arrows, and dotted ones where their condition is met.
func (o *Ordering) Violations() int {
	sum := 0
	for _, a := range o.Arrows {
		sum += a.MetViolations
	}
	return sum
}

// Table has a row for each arrow.
func (o *Ordering) Table() report.Table {
	t := report.Table{
		Caption: "Arrows of Figure “thresholds”: cases in which the threshold at the start was not the larger one",
		Header:  []string{"from", "to", "paper", "violations", "at trained w", "condition", "violations where it holds"},
		Numbers: []int{3, 4, 6},
	}
	for _, a := range o.Arrows {
		says := "usually"
		if a.Always {
			says = "always"
		}
		t.Rows = append(t.Rows, []string{a.From, a.To, says, of(a.Violations, a.Cases), of(a.TrainedViolations, a.Trained),
			a.Condition, of(a.MetViolations, a.Met)})
	}
	return t
}

// of writes "3 of 1,200".
func of(count, all int) string { return whole(count) + " of " + whole(all) }

// Figure draws the arrows: downwards and to the left the thresholds fall. Beside an arrow stands the share of violations,
// beside a full one their number.
func (o *Ordering) Figure() plot.Figure {
	d := &drawing.Diagram{
		Text: plot.Caption{
			Title:       "Which method has the larger threshold",
			Description: o.inWords(),
			Note: "Beside full arrows the number of violations, beside dotted ones their share, of " + o.tried() +
				" each: random w, iterates of ADAM and optima, on random and real data. " +
				"The arrow from TopPushK to TopMean-NP needs k ≤ K and is counted where that holds.",
		},
		Kinds: []string{"convex", "convex, but w = 0 may be optimal", "not convex"},
		Solid: "larger always", Dashed: "larger usually",
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
		arrow := drawing.Arrow{From: a.From, To: a.To, Dashed: !a.Always, Label: whole(a.MetViolations)}
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

// inWords lists the arrows for readers who cannot see them.
func (o *Ordering) inWords() string {
	var words []string
	for _, a := range o.Arrows {
		words = append(words, fmt.Sprintf("%s above %s: %s violations", a.From, a.To, of(a.Violations, a.Cases)))
	}
	return strings.Join(words, "; ") + "."
}

// tried is the number of cases of an arrow.
func (o *Ordering) tried() string { return plural(o.Arrows[0].Cases, "case") }
