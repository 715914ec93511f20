package report

import (
	"fmt"
	"strings"

	"toptau/internal/core/text"
	"toptau/metric"
	"toptau/result"
)

// JoinedText describes how scores were joined to rows.
func JoinedText(j *result.Joined) string {
	var b strings.Builder
	b.WriteString("joined by " + j.By)
	switch {
	case j.Labels > 0:
		fmt.Fprintf(&b, ", labels agree on %s rows", text.Count(j.Labels))
	case j.By == "position":
		b.WriteString(": the files have no id that could confirm the order")
	}
	if j.Unused > 0 {
		fmt.Fprintf(&b, ", ignored scores of %s", text.Plural(j.Unused, "other row"))
	}
	return b.String()
}

// OverlapText describes how many of the evaluated rows trained the model; nil: it has no fingerprints.
func OverlapText(o *result.Overlap) string {
	switch {
	case o == nil:
		return "unknown: the model keeps no fingerprints of its training rows"
	case o.Excess:
		return fmt.Sprintf("about %s of these rows trained the model", text.Number(o.Estimate))
	case o.Smallest == nil:
		return "unknown: all training rows are repeated, so fresh rows look like them"
	}
	return fmt.Sprintf("none found (fewer than about %s could go unnoticed)", text.Number(*o.Smallest))
}

// VerdictText returns a verdict's conclusion and the numbers of both sides, which are "" if nothing was
// measured.
func VerdictText(v *result.Verdict, e *result.Evaluation) (conclusion, evidence string) {
	entry := findEntry(e, v.Entry)
	switch {
	case v.About == result.AboutBest:
		return bestText(v, entry, len(e.Entries), counted(e))
	case v.Entry == "":
		return "nothing to compare: no top-focused method was fitted", ""
	case v.Against == "":
		return "nothing to compare: logistic regression was not fitted on the encoding of " + v.Entry, ""
	case v.Difference.Undefined != "":
		return "undefined", v.Difference.Undefined
	}
	value := entry.Goal.Value
	evidence = fmt.Sprintf("%s finds %.6g of %.6g %s, %s %.6g; %s", v.Entry, value.Numerator, value.Denominator, counted(e), v.Against,
		findEntry(e, v.Against).Goal.Value.Numerator, differenceText(v, &value))
	if v.Verdict == metric.Undecided {
		positives := value.Denominator
		if counted(e) != "positives" {
			positives = float64(e.Positives)
		}
		return fmt.Sprintf("inconclusive with %.6g positives", positives), evidence
	}
	better := v.Verdict == metric.Better
	switch v.About {
	case result.AboutLoss:
		conclusion = "top-focused training " + either(better, "helps", "hurts")
	case result.AboutEncoding:
		learner, _, _ := strings.Cut(v.Entry, "/")
		conclusion = fmt.Sprintf("%s %s %s", entry.Encoding, either(better, "helps", "hurts"), learner)
	default:
		conclusion = fmt.Sprintf("%s finds %s %s than %s", v.Entry, either(better, "more", either(e.Value == "", "fewer", "less")), counted(e),
			v.Against)
	}
	return conclusion, evidence
}

// differenceText returns "+2.4 points, 95 % CI -12.2 to +17.1".
func differenceText(v *result.Verdict, value *metric.Result) string {
	d := v.Difference
	s := text.Points(d.Rate) + " points"
	if d.Interval == nil || value.Interval == nil {
		return s
	}
	s += fmt.Sprintf(", %s CI %s to %s", text.Confidence(1-value.Interval.Confidence), text.Points(d.Interval.Low),
		text.Points(d.Interval.High))
	if v.Together > 1 {
		s += fmt.Sprintf(" (for all %d comparisons together)", v.Together)
	}
	return s
}

// counted names what the criterion counts: positives, the column of their amounts or, for a lowest recall, negatives.
func counted(e *result.Evaluation) string {
	switch g := e.Entries[0].Goal; {
	case e.Value != "":
		return e.Value
	case g != nil && g.Goal.Kind == metric.GoalMinRecall:
		return "negatives without an alert"
	}
	return "positives"
}

func bestText(v *result.Verdict, entry *result.Entry, entries int, what string) (conclusion, evidence string) {
	value := entry.Goal.Value
	confidence := ""
	if value.Interval != nil {
		confidence = " (" + text.Confidence(1-value.Interval.Confidence) + " confidence)"
	}
	evidence = fmt.Sprintf("%.6g of %.6g %s, the most of %d entries", value.Numerator, value.Denominator, what, entries)
	if len(v.Among) == 1 {
		return v.Entry + " is the best", evidence + "; no other entry is as good" + confidence
	}
	conclusion = v.Entry + " finds the most, but not significantly more than all others"
	if len(v.Among) == entries {
		return conclusion, evidence + "; none can be ruled out as the best" + confidence
	}
	return conclusion, evidence + "; the best is one of " + text.List(v.Among, "or") + confidence
}

func either(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

func findEntry(e *result.Evaluation, name string) *result.Entry {
	for i := range e.Entries {
		if e.Entries[i].Name == name {
			return &e.Entries[i]
		}
	}
	return nil
}

// ProbabilityText compares a model's probabilities with what happened; "" if it has none.
func ProbabilityText(m *result.Measured) string {
	rows, positives, expected, inside := 0, 0, 0.0, 0
	for _, r := range m.Reliability {
		rows += r.Rows
		positives += r.Positives
		expected += float64(r.Predicted * float64(r.Rows))
		if r.Low <= r.Predicted && r.Predicted <= r.High {
			inside++
		}
	}
	if rows == 0 {
		return ""
	}
	n := float64(rows)
	return fmt.Sprintf("%s of these rows are positive, %s expected; %d of %s of similar rows have the predicted fraction within its interval",
		text.Percent(float64(positives)/n), text.Percent(expected/n), inside, text.Plural(len(m.Reliability), "group"))
}

// ShiftFacts describes how rows differ from those that calibrated a threshold. A probability above result.ShiftLevel
// is no sign of a difference.
func ShiftFacts(list []result.Shift) []Fact {
	var facts []Fact
	for _, s := range list {
		name := "rows here against calibration"
		if s.Segment != nil {
			name += ", " + *s.Segment
		}
		line := "no sign of a difference"
		if s.P <= result.ShiftLevel {
			line = fmt.Sprintf("%s here, %s there above a score of %.4g; by chance, that has a probability of at most %s",
				text.Percent(s.Seen), text.Percent(s.Expected), s.Score, text.SmallProbability(s.P))
		}
		facts = append(facts, Fact{Name: name, Value: line})
	}
	return facts
}

// ListText describes the best rows of a delivery. what is "rows", or what an entity is.
func ListText(l *result.List, what string) string {
	negatives := fmt.Sprintf("from %s calibration negatives", text.Count(l.Negatives))
	confidence := text.Confidence(1 - l.Confidence)
	switch {
	case !l.MaxFalseDiscoveries.IsZero() && l.Rows == 0:
		return fmt.Sprintf("no list: with at most %s false, a list of %s %s has at least %s, and too few score above the calibration negatives (%s)",
			text.Percent(l.MaxFalseDiscoveries.Float64()), text.Count(l.Batch), what, text.Count(l.Shortest), negatives)
	case l.MaxFalseDiscoveries.IsZero():
		return fmt.Sprintf("at most %s of the best %s %s are false, with %s confidence (%s; column max_false: of each shorter list)",
			text.Count(l.MaxFalse),
			text.Count(l.Rows), what, confidence, negatives)
	}
	line := fmt.Sprintf("%s of %s %s: on average at most %s of such a list is false; of this one at most %s, with %s confidence (%s)",
		text.Count(l.Rows),
		text.Count(l.Batch), what, text.Percent(l.MaxFalseDiscoveries.Float64()), text.Count(l.MaxFalse), confidence, negatives)
	if l.Cut {
		line += "; it ends at the lowest score of a negative that the model keeps, and may be longer with a file of calibration rows"
	}
	return line
}
