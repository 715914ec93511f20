package tune

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"toptau/internal/fault"
	"toptau/internal/feature"
	"toptau/internal/matrix"
	"toptau/internal/table"
	"toptau/method"
	"toptau/metric"
	"toptau/surrogate"
)

// External are somebody's scores of the rows of Data.Test, in its order.
type External struct {
	Name   string
	Scores []float64
}

// CompareOptions are the choices of Compare. The zero value, with a Goal, compares the methods whose criterion is the
// goal's with the baselines, and these and the ramp on every encoding.
type CompareOptions struct {
	Goal      metric.Goal
	Methods   []method.Method     // on the first encoding; nil: Candidates(Goal)
	NoRamp    bool                // leave the ramp out
	Surrogate surrogate.Surrogate // nil: hinge
	Encodings []feature.Encode    // nil: raw, and scorecard and leaves where there are numeric columns
	Feature   feature.Options     // but for Encode
	Storage   matrix.Storage      // of the training matrix; what is scored is rounded to float32, as the model does
	Fitter    Fitter              // of the methods; nil: Paper{}.Fit
	Seed      uint64              // of the split and of the bootstrap
	External  []External
	Against   string // the entry that the others are compared with; "": logistic regression
	Bootstrap metric.Bootstrap
	Progress  func(Progress) // nil: none; never called twice at the same time
}

// Comparison is what Compare found. Every number of an Entry with a test criterion comes from the same test rows.
type Comparison struct {
	Goal                       metric.Goal
	Training, Validation, Test Counts
	Entities                   int     // of the test part, which the intervals draw; 0: they draw rows
	Entries                    []Entry // best on the test part first, those without a fit last
	Against                    string  // the reference
	Preferred                  string  // the entry that the validation part prefers; "" without a fit
	Focused                    string  // the top-focused one that the validation part prefers; "" without a fit
	FocusedAgainst             string  // the reference, or logistic regression on the encoding of Focused; "" without a fit
	FocusedDifference          metric.Difference
	Verdict                    string // metric.Better, Worse or Undecided: Focused against FocusedAgainst
	Words                      string // the verdict in words
	PreferredWords             string // what Preferred brings over the reference; "" where there is nothing to say
	Warnings                   []Warning
	Cancelled                  bool
	SecondsEncode, SecondsFit  float64
	Seconds                    float64
}

// Kinds of entries.
const (
	KindMethod   = "method"   // top-focused: one of the eight, or the ramp
	KindBaseline = "baseline" // what users have today
	KindScores   = "scores"   // from outside
)

// Entry is one learner on one encoding at its best setting, or somebody's scores.
type Entry struct {
	Name     string
	Kind     string
	Encoding feature.Encode // "" for scores
	Features int            // weights; 0 for scores
	Status   Status
	Reason   string // why nothing was fitted
	Setting  string // in words; "" for scores
	Fitted   int    // settings that the choice is from
	Tried    int

	Validation       metric.Result // of the setting; zero for scores
	Test             metric.Result // the goal's criterion, threshold from the test part, bootstrap interval
	Difference       metric.Difference
	AtThreshold      *metric.Confusion // what the setting's threshold from the validation part does; nil for scores
	NoBetterThanZero bool
	SecondsFit       float64 // the setting's
	SecondsGrid      float64 // of all settings

	learner string
	around  float64      // see trialPoint
	scores  [2][]float64 // on the test part
}

// Compare fits learners on the training part of one split (half, a quarter, a quarter), lets the validation part choose
// each one's setting, by the mean criterion over budgets around the goal, and give its threshold, and measures all of them,
// with anybody's scores, on the same rows of the test part. Learners are the baselines and the methods on the first encoding,
// logistic regression and the ramp on all of them. Intervals of the criteria and of the differences come from one paired bootstrap, over the
// entities of the group column where there is one.
//
// The verdict is about the top-focused entry that the validation part prefers, so that the test part chooses nothing. It
// is measured against CompareOptions.Against where one is named, and otherwise against logistic regression on the same
// encoding, so that a better encoding is not mistaken for a better loss. When ctx is done, what is finished is compared,
// with Cancelled set; without the reference it returns the context's error.
func Compare(ctx context.Context, d Data, o CompareOptions) (*Comparison, error) {
	start := time.Now()
	t := &trial{options: o, out: &Comparison{Goal: o.Goal}}
	steps := []func() error{
		func() error { return t.plan(d) },
		func() error { return t.check(d) },
		func() error { return t.divide(d) },
		func() error { return t.learn(ctx, d) },
		t.join,
		t.measure,
		t.conclude,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	t.out.Seconds = time.Since(start).Seconds()
	return t.out, nil
}

// check refuses scores that do not belong to the test rows, names that are used twice, and a reference that is not there.
func (t *trial) check(d Data) error {
	wrong := func(found, expected string) error {
		return &fault.Error{Kind: fault.Usage, Found: found, Expected: expected}
	}
	names := t.names()
	for _, e := range t.options.External {
		if e.Name == "" || slices.Contains(names, e.Name) {
			return wrong("scores named "+fault.Quote(e.Name), "a name that no method, baseline or other scores have")
		}
		if d.Test == nil {
			return wrong("scores of rows that are not told", "the file with these rows as the test part")
		}
		if len(e.Scores) != d.Test.Rows() {
			return &fault.Error{Kind: fault.Data, Found: fmt.Sprintf("%d scores of %s", len(e.Scores), fault.Quote(e.Name)),
				Expected: fmt.Sprintf("%d, one for each row of %s", d.Test.Rows(), d.Test.File)}
		}
		names = append(names, e.Name)
	}
	if against := t.out.Against; !slices.Contains(names, against) {
		return wrong("--against "+fault.Quote(against), fmt.Sprintf("one of %q", names))
	}
	return nil
}

// join adds the scores from outside to the entries.
func (t *trial) join() error {
	for _, e := range t.options.External {
		entry := Entry{Name: e.Name, Kind: KindScores, Status: Fitted}
		for row, class := range t.parts[2].table.Label {
			switch class {
			case table.Positive:
				entry.scores[0] = append(entry.scores[0], e.Scores[row])
			case table.Negative:
				entry.scores[1] = append(entry.scores[1], e.Scores[row])
			}
		}
		t.out.Entries = append(t.out.Entries, entry)
	}
	return nil
}

// measure is the paired bootstrap: once against the reference, and once more where Focused is measured against another.
func (t *trial) measure() error {
	s := metric.PairedScores{PositiveWeights: t.weights[0], NegativeWeights: t.weights[1]}
	s.PositiveGroups, s.NegativeGroups, t.out.Entities = t.parts[2].entities()
	var measured []*Entry
	for i := range t.out.Entries {
		if e := &t.out.Entries[i]; e.Status == Fitted {
			measured = append(measured, e)
			s.Positives, s.Negatives = append(s.Positives, e.scores[0]), append(s.Negatives, e.scores[1])
		}
	}
	place := func(name string) int {
		return slices.IndexFunc(measured, func(e *Entry) bool { return e.Name == name })
	}
	reference := place(t.out.Against)
	if reference < 0 {
		return &fault.Error{Kind: fault.Data, Found: t.out.Against + " could not be fitted",
			Expected: "a reference to compare with", Hint: "--against " + Baselines()[0]}
	}
	criterion, bootstrap := t.options.Goal.Criterion(), t.options.Bootstrap
	bootstrap.Seed = t.options.Seed
	paired, err := metric.PairedBootstrap(s, criterion, reference, bootstrap)
	if err != nil {
		return inFile(err, t.parts[2].table)
	}
	for i, e := range measured {
		e.Test, e.Difference = paired.Results[i], paired.Differences[i]
	}
	t.prefer()
	if t.out.Focused == "" {
		return nil
	}
	focused, counterpart := place(t.out.Focused), place(t.out.FocusedAgainst)
	if counterpart == reference {
		t.out.FocusedDifference = measured[focused].Difference
		return nil
	}
	two := []int{counterpart, focused}
	pair := s
	pair.Positives, pair.Negatives = nil, nil
	for _, i := range two {
		pair.Positives, pair.Negatives = append(pair.Positives, s.Positives[i]), append(pair.Negatives, s.Negatives[i])
	}
	if paired, err = metric.PairedBootstrap(pair, criterion, 0, bootstrap); err != nil {
		return inFile(err, t.parts[2].table)
	}
	t.out.FocusedDifference = paired.Differences[1]
	return nil
}

// prefer finds the entries that the validation part prefers, and what the top-focused one is measured against.
func (t *trial) prefer() {
	var preferred, focused *Entry
	for i := range t.out.Entries {
		e := &t.out.Entries[i]
		if e.Status != Fitted || e.Kind == KindScores {
			continue
		}
		if preferred == nil || e.before(preferred) {
			preferred = e
		}
		if e.Kind == KindMethod && (focused == nil || e.before(focused)) {
			focused = e
		}
	}
	if preferred != nil {
		t.out.Preferred = preferred.Name
	}
	if focused == nil {
		return
	}
	t.out.Focused, t.out.FocusedAgainst = focused.Name, t.out.Against
	counterpart := t.name(Logistic, focused.Encoding)
	if t.options.Against == "" && slices.ContainsFunc(t.out.Entries, func(e Entry) bool {
		return e.Name == counterpart && e.Status == Fitted
	}) {
		t.out.FocusedAgainst = counterpart
	}
}

// before reports whether the validation part prefers e to another entry: by the mean criterion around the goal, then by the
// goal's own.
func (e *Entry) before(other *Entry) bool {
	return cmp.Or(cmp.Compare(e.around, other.around), cmp.Compare(e.Validation.Rate, other.Validation.Rate)) > 0
}

// conclude sorts the entries and says what they show.
func (t *trial) conclude() error {
	out := t.out
	out.Verdict = metric.Undecided
	if out.Focused != "" {
		out.Verdict = out.FocusedDifference.Verdict()
	}
	confidence := cmp.Or(t.options.Bootstrap.Confidence, metric.DefaultConfidence)
	out.Words = verdict(out.entry(out.Focused), out.entry(out.FocusedAgainst), out.FocusedDifference, confidence)
	out.PreferredWords = gain(out.entry(out.Preferred), out.entry(out.Against), confidence)
	t.warn()
	slices.SortStableFunc(out.Entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(unmeasured(a), unmeasured(b)), cmp.Compare(b.Test.Rate, a.Test.Rate))
	})
	return nil
}

func (c *Comparison) entry(name string) *Entry {
	i := slices.IndexFunc(c.Entries, func(e Entry) bool { return e.Name == name })
	if i < 0 {
		return nil
	}
	return &c.Entries[i]
}

// unmeasured sorts entries without a fit last.
func unmeasured(e Entry) int {
	if e.Status == Fitted {
		return 0
	}
	return 1
}
