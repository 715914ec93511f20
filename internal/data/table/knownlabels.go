package table

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/schema"
)

// A model keeps the labels of its training file. A label of another file that is none of them follows the rule of the positive labels,
// which would silently make a negative of "Fraud" where training had "fraud". So:
//
//  1. A label that looks like a misspelled training label is an error. Two texts look alike if they differ in case and blanks alone, or in
//     one letter of at least four (two of at least ten), unless training labels differ as little. Numbers never do.
//  2. Any other label that is new is an error if the positive labels are named, because a further one may be positive.
//  3. Otherwise it is counted and named in a warning, and follows the rule.
//
// Options.Positive, given for this file, decides instead of 1 and 2, except for a named label that occurs in another spelling only.

// knownLabels are the labels of a training file.
type knownLabels struct {
	values []labelValue
	others bool // there were more, which are not listed
	given  bool // the positive labels are those of Options.Positive instead of the model's
	apart  int  // the smallest edit distance of two of the values, 0 if they differ in case and blanks alone
}

// newKnownLabels returns the labels that a schema has, nil if it has none.
func newKnownLabels(s *schema.Schema, given bool) *knownLabels {
	if len(s.Labels) == 0 {
		return nil
	}
	k := &knownLabels{others: s.OtherLabels > 0, given: given, apart: maxCompared}
	for _, c := range s.Labels {
		v := newLabelValue(c.Value)
		for _, u := range k.values {
			if !v.isNumber && !u.isNumber {
				k.apart = min(k.apart, distance(v.text, u.text))
			}
		}
		k.values = append(k.values, v)
	}
	return k
}

func (k *knownLabels) has(v labelValue) bool { return slices.ContainsFunc(k.values, v.equal) }

// near returns the known label that v is probably a misspelling of, "" for none.
func (k *knownLabels) near(v labelValue, among []labelValue) string {
	for _, u := range among {
		if v.isNumber || u.isNumber {
			continue
		}
		allowed, n := 0, min(len([]rune(v.text)), len([]rune(u.text)))
		if n >= 4 && digitsOf(v.text) == digitsOf(u.text) {
			allowed = min(2, 1+n/10)
		}
		if d := distance(v.text, u.text); d <= allowed && d < k.apart {
			return u.text
		}
	}
	return ""
}

// distance is the edit distance of two labels without case and blanks.
func distance(a, b string) int { return text.Distance(folded(a), folded(b)) }

func folded(label string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, label)
}

func digitsOf(label string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, label)
}

// maxCompared bounds the new labels that are compared with the known ones, and the letters of each.
const maxCompared = 100

// checkKnown checks the labels of a file that is read for a model, by the rules above. e names the file and column of the labels.
func (l *labels) checkKnown(e diag.Error) (*diag.Warning, error) {
	k := l.known
	if k == nil {
		return nil, nil
	}
	fresh, rows := &labels{}, map[Class]int{}
	for _, t := range l.order {
		if t.Count > 0 && !k.has(newLabelValue(t.Value)) {
			fresh.order = append(fresh.order, t)
			rows[t.class] += t.Count
		}
	}
	among := k.values
	if k.given {
		among = l.unusedValues()
	}
	for _, t := range fresh.order[:min(len(fresh.order), maxCompared)] {
		if near := k.near(newLabelValue(t.Value), among); near != "" {
			return nil, misspelled(e, t, near)
		}
	}
	if len(fresh.order) == 0 || k.others {
		return nil, nil
	}
	named := fresh.describe()
	if !k.given && len(l.rule.values) > 0 && !l.rule.negated {
		e.Found = "labels that training did not have: " + named
		e.Expected = "those of training: " + k.describe()
		e.Fixes = []diag.Fix{{Param: "positive", Value: "VALUE", When: "for each positive label"}}
		if len(l.rule.values) == 1 {
			e.Fixes = []diag.Fix{{Param: "positive", Value: shellQuote(l.rule.values[0].text), When: "again, if the others are negative"}}
		}
		return nil, &e
	}
	var counts []string
	for _, c := range []struct {
		class Class
		words string
	}{{Positive, "positive"}, {Negative, "negative"}, {Unknown, "rows without a label"}} {
		if n := rows[c.class]; n > 0 {
			counts = append(counts, fmt.Sprintf("%s as %s", text.Count(n), c.words))
		}
	}
	return &diag.Warning{Code: "new-labels", Text: fmt.Sprintf("%s: labels that training did not have: %s; they count %s",
		e.File, named, strings.Join(counts, ", "))}, nil
}

// unusedValues returns the values of the rule that do not occur.
func (l *labels) unusedValues() (list []labelValue) {
	for i, v := range l.rule.values {
		if !l.hit[i] {
			list = append(list, v)
		}
	}
	return list
}

func misspelled(e diag.Error, t *labelTally, near string) error {
	e.Found = fmt.Sprintf("the label %s in %s, which training did not have", diag.Quote(t.Value), text.Plural(t.Count, "row"))
	e.Expected = "the labels of training"
	e.Hint = fmt.Sprintf("did you mean %s?", diag.Quote(near))
	e.Fixes = []diag.Fix{{Param: "positive", Value: "VALUE", When: "for each positive label of this file, if it is spelled right"}}
	return &e
}

// describe returns at most ten labels as text.
func (k *knownLabels) describe() string {
	list := make([]string, len(k.values))
	for i, v := range k.values {
		list[i] = v.text
	}
	return quotedList(list, 10)
}

// kept returns the labels that a schema keeps, and the number of rows with others.
func (l *labels) kept() (list []LabelCount, others int) {
	for _, c := range l.list() {
		if len(list) == schema.MaxLabels {
			others += c.Count
			continue
		}
		if v := newLabelValue(c.Value); v.isNumber && !v.boolean {
			c.Value = strconv.FormatFloat(v.number+0, 'g', -1, 64) // the same from every format
		}
		list = append(list, c)
	}
	return list, others + l.beyond
}

// Names reports whether Options.Positive has a label, with or without '!'.
func Names(positive []string, label string) bool {
	r, err := parseRule(positive)
	return err == nil && slices.ContainsFunc(r.values, newLabelValue(label).equal)
}

// LabelReader classifies labels that come without rows, for a model with a schema.
type LabelReader struct{ labels *labels }

// NewLabelReader returns a LabelReader. positive are the positive labels, nil for those of the schema.
func NewLabelReader(s *schema.Schema, positive []string) (*LabelReader, error) {
	given := len(positive) > 0
	if !given {
		positive = s.Positive
	}
	r, err := parseRule(positive)
	if err != nil {
		return nil, err
	}
	l := newLabels(r, true)
	l.known = newKnownLabels(s, given)
	return &LabelReader{l}, nil
}

// ClassOf returns the class of a label, Unknown if the rule does not have it.
func (r *LabelReader) ClassOf(label string) Class { return r.labels.classOf([]byte(label)) }

// Add counts some rows with a label.
func (r *LabelReader) Add(label string, rows int) { r.labels.tallyOf([]byte(label)).Count += rows }

// Kept returns the labels that a schema keeps, and the number of rows with others.
func (r *LabelReader) Kept() ([]LabelCount, int) { return r.labels.kept() }

// Check returns an error of labels that are probably wrong, or a warning of others that training did not have. e has their place.
func (r *LabelReader) Check(e diag.Error) (*diag.Warning, error) { return r.labels.checkKnown(e) }
