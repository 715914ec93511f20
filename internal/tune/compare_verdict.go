package tune

import (
	"fmt"

	"toptau/metric"
)

// verdict answers whether top-focused training helps, no more certain than the interval of d, the difference of focused
// to reference, allows. focused is nil where no top-focused entry was fitted.
func verdict(focused, reference *Entry, d metric.Difference, confidence float64) string {
	if focused == nil {
		return "it cannot be told whether top-focused training helps here: no top-focused method was fitted"
	}
	n := reference.Test.Denominator
	if focused.Name == reference.Name {
		return fmt.Sprintf("%s is the reference itself: compare with a baseline to learn whether top-focused training helps here",
			focused.Name)
	}
	if !focused.Test.Defined() {
		return fmt.Sprintf("it cannot be told with %.6g test positives whether top-focused training helps here: %s",
			n, focused.Test.Undefined)
	}
	counts := fmt.Sprintf("%s, the top-focused one that the validation part prefers, finds %.6g of the %.6g positives within the "+
		"budget, %s %.6g", focused.Name, focused.Test.Numerator, n, reference.Name, reference.Test.Numerator)
	between := interval(d, confidence)
	switch d.Verdict() {
	case metric.Better:
		return "top-focused training helps here: " + counts + ", a gain of " + between
	case metric.Worse:
		return "top-focused training does not help here, it costs: " + counts + ", a change of " + between
	}
	return fmt.Sprintf("it cannot be told with %.6g test positives whether top-focused training helps here: ", n) + counts +
		", a difference of " + between
}

// gain says what the entry that the validation part prefers brings over the reference; "" where there is nothing to say.
func gain(preferred, reference *Entry, confidence float64) string {
	if preferred == nil || preferred.Name == reference.Name || !preferred.Test.Defined() {
		return ""
	}
	what := "undecided,"
	switch preferred.Difference.Verdict() {
	case metric.Better:
		what = "a gain of"
	case metric.Worse:
		what = "a loss,"
	}
	return fmt.Sprintf("of all, the validation part prefers %s, which finds %.6g of the %.6g positives, %s %.6g: %s %s",
		preferred.Name, preferred.Test.Numerator, preferred.Test.Denominator, reference.Name, reference.Test.Numerator, what,
		interval(preferred.Difference, confidence))
}

// interval writes a difference: "+4.2 points (95 % interval +1.0 to +7.7)".
func interval(d metric.Difference, confidence float64) string {
	return fmt.Sprintf("%s points (%s interval %s to %s)", points(d.Rate), metric.ConfidenceText(1-confidence),
		points(d.Interval.Low), points(d.Interval.High))
}

// points writes a difference of shares in percentage points, with its sign.
func points(x float64) string { return fmt.Sprintf("%+.1f", 100*x) }

// warn says what the numbers of a comparison do not say by themselves.
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
		if e.Name != t.out.Focused && e.Difference.Verdict() != metric.Undecided {
			decided++
		}
	}
	if unfinished > 0 {
		t.warning("stopped-early", "stopped early: %s of %d without a fit", plural(unfinished, "learner"), len(t.out.Entries))
	}
	if decided > 0 && compared > 1 {
		t.warning("several-comparisons", "each of the %d differences has an interval of its own: the more of them, the "+
			"likelier that one excludes 0 by chance; the verdict is about the method that the validation part prefers", compared)
	}
}
