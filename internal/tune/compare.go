package tune

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"toptau/diag"
	"toptau/internal/feature"
	"toptau/internal/matrix"
	"toptau/internal/table"
	"toptau/method"
	"toptau/metric"
	"toptau/surrogate"
)

// External are the scores of another program, one for each row of Data.Test, or of Data.Table where the test part is cut from that.
type External struct {
	Name    string
	Scores  []float64           // NaN: none for this row; needed are those of the test part
	Missing func(row int) error // reports a row of the test part without a score; nil: a general message
}

// CompareOptions are the choices of Compare. The zero value, with a Goal, compares the methods whose criterion is the
// goal's with the baselines, and these and the ramp on every encoding.
type CompareOptions struct {
	Goal      metric.Goal
	Methods   []method.Method  // on the first encoding; nil: Candidates(Goal)
	NoRamp    bool             // leave the ramp out
	Surrogate surrogate.Name   // nil: hinge
	Encodings []feature.Encode // nil: raw, and scorecard and leaves where there are numeric columns
	Feature   feature.Options  // but for Encode
	Storage   matrix.Storage   // of the training matrix; what is scored is rounded to float32, as the model does
	Fitter    Fitter           // of the methods; nil: Paper{}.Fit
	Seed      uint64           // of the split and of the bootstrap
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
	Verdicts                   []Verdict
	Warnings                   []diag.Warning
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

// Entry is one learner on one encoding at its best setting, or the scores of another program.
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
	place   int          // in the paired bootstrap
}

// Compare fits learners on the training part of one split (half, a quarter, a quarter), lets the validation part choose
// each one's setting, by the mean criterion over budgets around the goal, and give its threshold, and measures all of them,
// with the scores of other programs, on the same rows of the test part. Learners are the baselines and the methods on the first
// encoding, logistic regression and the ramp on all of them. Intervals of the criteria and of the differences come from one paired
// bootstrap, over the entities of the group column where there is one. See Verdict for what is concluded.
//
// When ctx is done, what is finished is compared, with Cancelled set; without the reference it returns the context's error.
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
		return &diag.Error{Kind: diag.Usage, Found: found, Expected: expected}
	}
	names := t.names()
	for _, e := range t.options.External {
		if e.Name == "" || slices.Contains(names, e.Name) {
			return wrong("scores named "+diag.Quote(e.Name), "a name that no method, baseline or other scores have")
		}
		of := d.Test
		if of == nil {
			of = d.Table
		}
		if len(e.Scores) != of.Rows() {
			return &diag.Error{Kind: diag.Data, Found: fmt.Sprintf("%d scores of %s", len(e.Scores), diag.Quote(e.Name)),
				Expected: fmt.Sprintf("%d, one for each row of %s", of.Rows(), of.File)}
		}
		names = append(names, e.Name)
	}
	if against := t.out.Against; !slices.Contains(names, against) {
		return wrong("--against "+diag.Quote(against), fmt.Sprintf("one of %q", names))
	}
	return nil
}

// join adds the scores of other programs to the entries.
func (t *trial) join() error {
	part := &t.parts[2]
	for _, e := range t.options.External {
		entry := Entry{Name: e.Name, Kind: KindScores, Status: Fitted}
		var missing error
		part.each(func(row int) {
			class := 0
			switch part.table.Label[row] {
			case table.Unknown:
				return
			case table.Negative:
				class = 1
			}
			z := e.Scores[row]
			if z != z && missing == nil {
				missing = e.missing(row, part.table)
			}
			entry.scores[class] = append(entry.scores[class], z)
		})
		if missing != nil {
			return missing
		}
		t.out.Entries = append(t.out.Entries, entry)
	}
	return nil
}

func (e *External) missing(row int, of *table.Table) error {
	if e.Missing != nil {
		return e.Missing(row)
	}
	return &diag.Error{Kind: diag.Data, File: of.File, Line: of.LineOf(row), Found: "no score of " + diag.Quote(e.Name),
		Expected: "one for each row of the test part"}
}

// measure is the paired bootstrap.
func (t *trial) measure() error {
	s := metric.PairedScores{PositiveWeights: t.weights[0], NegativeWeights: t.weights[1]}
	s.PositiveGroups, s.NegativeGroups, t.out.Entities = t.parts[2].entities()
	reference := -1
	for i := range t.out.Entries {
		e := &t.out.Entries[i]
		if e.Status != Fitted {
			continue
		}
		if e.place = len(s.Positives); e.Name == t.out.Against {
			reference = e.place
		}
		s.Positives, s.Negatives = append(s.Positives, e.scores[0]), append(s.Negatives, e.scores[1])
	}
	if reference < 0 {
		return &diag.Error{Kind: diag.Data, Found: t.out.Against + " could not be fitted",
			Expected: "a reference to compare with", Hint: "--against " + Baselines()[0]}
	}
	bootstrap := t.options.Bootstrap
	bootstrap.Seed = t.options.Seed
	var err error
	if t.paired, err = metric.PairedBootstrap(s, t.options.Goal.Criterion(), reference, bootstrap); err != nil {
		return inFile(err, t.parts[2].table)
	}
	for i := range t.out.Entries {
		if e := &t.out.Entries[i]; e.Status == Fitted {
			e.Test, e.Difference = t.paired.Results[e.place], t.paired.Differences[e.place]
		}
	}
	return nil
}

// preferred returns what the validation part prefers among the fitted entries that are kept; nil without one.
func (t *trial) preferred(keep func(*Entry) bool) *Entry {
	var best *Entry
	for i := range t.out.Entries {
		e := &t.out.Entries[i]
		if e.Status == Fitted && e.Kind != KindScores && keep(e) && (best == nil || e.before(best)) {
			best = e
		}
	}
	return best
}

// before reports whether the validation part prefers e to another entry: by the mean criterion around the goal, then by the
// goal's own.
func (e *Entry) before(other *Entry) bool {
	return cmp.Or(cmp.Compare(e.around, other.around), cmp.Compare(e.Validation.Rate, other.Validation.Rate)) > 0
}

// conclude sorts the entries and states what they show.
func (t *trial) conclude() error {
	out := t.out
	if best := t.preferred(func(*Entry) bool { return true }); best != nil {
		out.Preferred = best.Name
	}
	t.verdicts()
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
