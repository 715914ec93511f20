package tune

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"toptau/internal/feature"
	"toptau/metric"
)

// What a Verdict is about.
const (
	AboutLoss     = "loss"     // a top-focused learner against logistic regression on the same encoding
	AboutEncoding = "encoding" // one learner on two encodings
	AboutEntry    = "against"  // the entry that the validation part prefers against the reference or another program's scores
	AboutBest     = "best"     // the entry with the most positives on the test part
)

// Verdict is one conclusion, with both of its sides. Only entries that differ in the loss alone tell about the loss, and only those
// that differ in the encoding alone about the encoding; any other pair shows which of the two finds more.
//
// All sides but the best one are chosen by the validation part, so that the test part chooses nothing. Where several entries are
// compared with the preferred one, and where the best is looked for, the intervals hold together with the stated confidence.
type Verdict struct {
	About      string
	Entry      string            // "" where nothing could be fitted
	Against    string            // the other side; "" for the best one
	Difference metric.Difference // of Entry to Against; Undefined for the best one
	Together   int               // the intervals that hold together with this one; 1: it stands alone
	Among      []string          // AboutBest: the entries one of which is the best with the stated confidence
	Verdict    string            // metric.Better, Worse or Undecided: Entry than Against
	Says       string            // the conclusion
	Evidence   string            // both sides in numbers; "" where nothing was measured
}

// Words returns the conclusion with its evidence.
func (v *Verdict) Words() string {
	if v.Evidence == "" {
		return v.Says
	}
	return v.Says + ": " + v.Evidence
}

// Title names an entry in a sentence: the learner with its encoding.
func (e *Entry) Title() string {
	if e.Kind == KindScores {
		return e.Name + " (scores of another program)"
	}
	return e.learnerName() + " on " + encodingWords(e.Encoding)
}

func (e *Entry) learnerName() string { return cmp.Or(e.learner, e.Name) }

func encodingWords(e feature.Encode) string {
	if e == feature.EncodeRaw {
		return "raw columns"
	}
	return string(e)
}

// verdicts draws the conclusions.
func (t *trial) verdicts() {
	loss := t.aboutLoss()
	t.out.Verdicts = append(t.out.Verdicts, loss)
	encoding, found := t.aboutEncoding()
	if found {
		t.out.Verdicts = append(t.out.Verdicts, encoding)
	}
	t.out.Verdicts = append(t.out.Verdicts, t.aboutEntries()...)
	if best, found := t.aboutBest(); found {
		t.out.Verdicts = append(t.out.Verdicts, best)
	}
}

func (t *trial) confidence() float64 {
	return cmp.Or(t.options.Bootstrap.Confidence, metric.DefaultConfidence)
}

// between measures two entries against each other.
func (t *trial) between(about string, e, against *Entry, together int) Verdict {
	v := Verdict{About: about, Entry: e.Name, Against: against.Name, Together: together,
		Difference: t.paired.Difference(e.place, against.place, together), Verdict: metric.Undecided}
	if !e.Test.Defined() {
		v.Evidence = e.Test.Undefined
		return v
	}
	v.Verdict = v.Difference.Verdict()
	v.Evidence = fmt.Sprintf("%s finds %.6g of the %.6g positives within the budget, %s %.6g, %s", e.Title(), e.Test.Numerator,
		e.Test.Denominator, against.Title(), against.Test.Numerator, t.interval(v.Difference, together))
	return v
}

// interval writes a difference: "+4.2 points (95 % interval +1.0 to +7.7)".
func (t *trial) interval(d metric.Difference, together int) string {
	text := fmt.Sprintf("%s points (%s interval %s to %s", points(d.Rate), metric.ConfidenceText(1-t.confidence()),
		points(d.Interval.Low), points(d.Interval.High))
	if together > 1 {
		text += fmt.Sprintf(", for all %d comparisons together", together)
	}
	return text + ")"
}

// points writes a difference of shares in percentage points, with its sign.
func points(x float64) string { return fmt.Sprintf("%+.1f", 100*x) }

// says chooses the conclusion that a verdict supports.
func (v *Verdict) says(better, worse, undecided string) {
	switch v.Verdict {
	case metric.Better:
		v.Says = better
	case metric.Worse:
		v.Says = worse
	default:
		v.Says = undecided
	}
}

// aboutLoss compares the top-focused entry that the validation part prefers with logistic regression on the same encoding.
func (t *trial) aboutLoss() Verdict {
	v := Verdict{About: AboutLoss, Together: 1, Verdict: metric.Undecided, Difference: metric.Difference{Undefined: "nothing to compare"}}
	focused := t.preferred(func(e *Entry) bool { return e.Kind == KindMethod })
	if focused == nil {
		v.Says = "no statement on top-focused training: no top-focused method was fitted"
		return v
	}
	counterpart := t.out.entry(t.name(Logistic, focused.Encoding))
	if counterpart == nil || counterpart.Status != Fitted {
		v.Entry = focused.Name
		v.Says = fmt.Sprintf("no statement on top-focused training: logistic regression was not fitted on %s, the encoding of %s",
			encodingWords(focused.Encoding), focused.Name)
		return v
	}
	v = t.between(AboutLoss, focused, counterpart, 1)
	v.says("top-focused training helps here", "top-focused training costs here",
		fmt.Sprintf("%.6g test positives do not show whether top-focused training helps here", focused.Test.Denominator))
	return v
}

// aboutEncoding compares the learner that the validation part prefers, or logistic regression where that has one encoding only, on the
// first encoding and on the best of the others.
func (t *trial) aboutEncoding() (Verdict, bool) {
	for _, learner := range []string{t.preferredLearner(), Logistic} {
		first := t.preferred(func(e *Entry) bool { return e.learner == learner && e.Encoding == t.encodings[0] })
		other := t.preferred(func(e *Entry) bool { return e.learner == learner && e.Encoding != t.encodings[0] })
		if first == nil || other == nil {
			continue
		}
		v := t.between(AboutEncoding, other, first, 1)
		v.says(fmt.Sprintf("the encoding %s helps %s here", other.Encoding, learner),
			fmt.Sprintf("the encoding %s costs %s here", other.Encoding, learner),
			fmt.Sprintf("%.6g test positives do not show whether the encoding %s helps %s here", other.Test.Denominator,
				other.Encoding, learner))
		return v, true
	}
	return Verdict{}, false
}

func (t *trial) preferredLearner() string {
	if e := t.out.entry(t.out.Preferred); e != nil {
		return e.learner
	}
	return Logistic
}

// aboutEntries compares the entry that the validation part prefers with the reference and with the scores of other programs.
func (t *trial) aboutEntries() []Verdict {
	preferred := t.out.entry(t.out.Preferred)
	if preferred == nil {
		return nil
	}
	var others []*Entry
	for i := range t.out.Entries {
		e := &t.out.Entries[i]
		if e.Name != preferred.Name && e.Status == Fitted && (e.Name == t.out.Against || e.Kind == KindScores) && !t.stated(preferred, e) {
			others = append(others, e)
		}
	}
	var list []Verdict
	for _, e := range others {
		v := t.between(AboutEntry, preferred, e, len(others))
		v.says(fmt.Sprintf("%s finds more than %s", preferred.Name, e.Name), fmt.Sprintf("%s finds fewer than %s", preferred.Name, e.Name),
			fmt.Sprintf("%.6g test positives do not show which of %s and %s finds more", e.Test.Denominator, preferred.Name, e.Name))
		list = append(list, v)
	}
	return list
}

// stated reports whether the two have been compared.
func (t *trial) stated(a, b *Entry) bool {
	return slices.ContainsFunc(t.out.Verdicts, func(v Verdict) bool {
		return v.Entry == a.Name && v.Against == b.Name || v.Entry == b.Name && v.Against == a.Name
	})
}

// aboutBest names the entry with the most positives. It is the best of many on the same rows, so its number is too high. What holds in
// spite of that is a set with the best entry in it: an entry is left out where another one finds more with a confidence that is divided
// by the number of other entries. The best entry is left out with at most the probability that one of its own intervals fails.
func (t *trial) aboutBest() (Verdict, bool) {
	var all []*Entry
	for i := range t.out.Entries {
		if e := &t.out.Entries[i]; e.Status == Fitted {
			all = append(all, e)
		}
	}
	if len(all) < 2 || !all[0].Test.Defined() {
		return Verdict{}, false
	}
	best := slices.MaxFunc(all, func(a, b *Entry) int { return cmp.Compare(a.Test.Rate, b.Test.Rate) })
	v := Verdict{About: AboutBest, Entry: best.Name, Together: len(all) - 1, Verdict: metric.Undecided,
		Difference: metric.Difference{Undefined: "compared with all others"}}
	for _, e := range all {
		if !slices.ContainsFunc(all, func(other *Entry) bool {
			return other.Test.Rate > e.Test.Rate && t.paired.Difference(other.place, e.place, v.Together).Verdict() == metric.Better
		}) {
			v.Among = append(v.Among, e.Name)
		}
	}
	counts := fmt.Sprintf("%.6g of the %.6g positives within the budget, the most of %d entries on these rows", best.Test.Numerator,
		best.Test.Denominator, len(all))
	if len(v.Among) == 1 {
		v.Verdict = metric.Better
		v.Says = fmt.Sprintf("%s is the best of all", best.Title())
		v.Evidence = fmt.Sprintf("it finds %s; with %g %% confidence no other entry is as good", counts, 100*t.confidence())
		return v, true
	}
	v.Says = fmt.Sprintf("%s finds the most, which %.6g test positives do not prove", best.Title(), best.Test.Denominator)
	v.Evidence = fmt.Sprintf("%s, a choice that flatters it; with %g %% confidence the best is one of %s", counts, 100*t.confidence(),
		strings.Join(v.Among, ", "))
	return v, true
}

// warn adds what the numbers of a comparison do not show by themselves.
func (t *trial) warn() {
	t.warnParts()
	collapsed := map[string]bool{}
	compared, decided, unfinished := 0, 0, 0
	for i := range t.out.Entries {
		e := &t.out.Entries[i]
		switch e.Status {
		case Skipped:
			t.warning("entry-skipped", "%s was skipped: %s", e.Name, e.Reason)
			continue
		case Unfinished:
			unfinished++
			continue
		}
		if e.Kind == KindMethod && e.NoBetterThanZero && !collapsed[e.learner] {
			collapsed[e.learner] = true
			t.warning("no-better-than-zero",
				"w = 0 is no worse than the chosen fit of %s: its objective does not improve on these data", e.Name)
		}
		if e.Name == t.out.Against {
			continue
		}
		compared++
		if e.Difference.Verdict() != metric.Undecided {
			decided++
		}
	}
	if unfinished > 0 {
		t.warning("stopped-early", "stopped early: %s of %d without a fit", plural(unfinished, "learner"), len(t.out.Entries))
	}
	if decided > 0 && compared > 1 {
		t.warning("several-comparisons", "each of the %d differences in the table has an interval of its own, and one of many may exclude 0 "+
			"by chance: go by the verdicts", compared)
	}
}
