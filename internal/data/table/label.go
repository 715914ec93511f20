package table

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/schema"
)

// LabelCount is a value of the label with the number of its rows, spelled as in the first of these rows.
type LabelCount = schema.LabelCount

// labelLimit bounds the values with separate counts, so that a column of distinct values that is chosen
// as the label by mistake does not fill the memory.
const labelLimit = 1000

// rule separates the positive class from the negative one.
type rule struct {
	values  []labelValue
	negated bool // every label except values is positive
}

// labelValue is a label ready for comparison: numbers with numbers, of which booleans are 1 and 0, anything else as
// text.
type labelValue struct {
	text     string
	number   float64
	isNumber bool
	boolean  bool // the number stands for true or false
}

func newLabelValue(text string) labelValue {
	v := labelValue{text: string(trimBlanks([]byte(text)))}
	x, what := parseNumber([]byte(text))
	v.number, v.boolean = x, what == boolean
	v.isNumber = what == number || v.boolean
	return v
}

func (v labelValue) equal(u labelValue) bool {
	if v.isNumber && u.isNumber {
		return v.number == u.number
	}
	return v.isNumber == u.isNumber && v.text == u.text
}

// key returns the same text for values that share a count.
func (v labelValue) key() string {
	if v.boolean {
		return "b" + strconv.FormatFloat(v.number, 'g', -1, 64) // a count of its own: a mixture is probably a mistake
	}
	if v.isNumber {
		return "n" + strconv.FormatFloat(v.number+0, 'g', -1, 64) // -0 + 0 is 0
	}
	return "t" + v.text
}

// parseRule parses Options.Positive. Without values, the pairs of labels in the package documentation apply.
func parseRule(positive []string) (rule, error) {
	var r rule
	for i, text := range positive {
		negated := strings.HasPrefix(text, "!") && len(text) > 1
		if i > 0 && negated != r.negated {
			return r, &diag.Error{Kind: diag.Usage, Param: "positive", Found: "with and without '!'",
				Expected: "either labels, or '!' before each of them"}
		}
		r.negated = negated
		if negated {
			text = text[1:]
		}
		if len(trimBlanks([]byte(text))) == 0 {
			return r, usage("positive", text, "a value of the label")
		}
		r.values = append(r.values, newLabelValue(text))
	}
	return r, nil
}

// ClassOf returns the class of one label by the rule of Options.Positive, Unknown if the rule does not have it.
func ClassOf(positive []string, label string) Class {
	r, err := parseRule(positive)
	if err != nil {
		return Unknown
	}
	return newLabels(r, true).classify(newLabelValue(label))
}

// pair is a set of members of the pairs {1, 0}, {1, -1} and {true, false}.
type pair uint8

const (
	one pair = 1 << iota
	zero
	minusOne
	yes
	no
)

func pairOf(v labelValue) pair {
	switch {
	case v.boolean && v.number == 1:
		return yes
	case v.boolean:
		return no
	case v.isNumber && v.number == 1:
		return one
	case v.isNumber && v.number == 0:
		return zero
	case v.isNumber && v.number == -1:
		return minusOne
	}
	return 0
}

// labels classifies labels and counts their values.
type labels struct {
	rule    rule
	seen    map[string]*labelTally // by spelling
	values  map[string]*labelTally // by key
	order   []*labelTally
	beyond  int    // labels without a separate count
	pairs   pair   // the members that occur
	bad     bool   // a label outside the pairs, or labels from two of them
	hit     []bool // by value of the rule: it occurs
	counts  [2]int // rows by class
	unknown int    // rows of unknown class
	hide    bool   // a label outside the pairs is Unknown instead of bad

	known *knownLabels // of the model that the labels are read for; nil: not known
}

type labelTally struct {
	LabelCount
	class Class
}

func newLabels(r rule, hide bool) *labels {
	return &labels{rule: r, hide: hide, seen: map[string]*labelTally{}, values: map[string]*labelTally{},
		hit: make([]bool, len(r.values))}
}

// classOf counts a label that is not missing and returns its class.
func (l *labels) classOf(text []byte) Class {
	return l.count(l.tallyOf(text))
}

// tallyOf returns the tally of a spelling.
func (l *labels) tallyOf(text []byte) *labelTally {
	if tally := l.seen[string(text)]; tally != nil {
		return tally
	}
	return l.addSpelling(string(text))
}

// count counts a row with a label and returns its class.
func (l *labels) count(tally *labelTally) Class {
	tally.Count++
	l.countClass(tally.class)
	return tally.class
}

// countMissing counts a row without a label.
func (l *labels) countMissing() Class {
	l.countClass(Unknown)
	return Unknown
}

func (l *labels) countClass(c Class) {
	if c == Unknown {
		l.unknown++
	} else {
		l.counts[c]++
	}
}

// addSpelling classifies a new spelling.
func (l *labels) addSpelling(text string) *labelTally {
	v := newLabelValue(text)
	tally := l.values[v.key()]
	if tally == nil {
		tally = &labelTally{LabelCount{Value: v.text}, l.classify(v)}
		if len(l.order) >= labelLimit {
			l.beyond++
			return tally // not remembered
		}
		l.values[v.key()] = tally
		l.order = append(l.order, tally)
	}
	if len(l.seen) < 4*labelLimit {
		l.seen[text] = tally
	}
	return tally
}

func (l *labels) classify(v labelValue) Class {
	if len(l.rule.values) == 0 {
		return l.classifyPair(v)
	}
	listed := false
	for i, u := range l.rule.values {
		if v.equal(u) {
			l.hit[i], listed = true, true
		}
	}
	if listed != l.rule.negated {
		return Positive
	}
	return Negative
}

func (l *labels) classifyPair(v labelValue) Class {
	p := pairOf(v)
	l.pairs |= p
	words, numbers := l.pairs&(yes|no) != 0, l.pairs&(one|zero|minusOne) != 0
	if p == 0 || words && numbers || l.pairs&zero != 0 && l.pairs&minusOne != 0 {
		if l.hide {
			if p == 0 {
				return Unknown
			}
		} else {
			l.bad = true
		}
	}
	if p == one || p == yes {
		return Positive
	}
	return Negative
}

// list returns the values by falling count, those with equal counts in order of appearance.
func (l *labels) list() []LabelCount {
	all := make([]LabelCount, len(l.order))
	for i, t := range l.order {
		all[i] = t.LabelCount
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Count > all[j].Count })
	return all
}

// describe returns at most ten values with their counts, as text.
func (l *labels) describe() string {
	all := l.list()
	var b strings.Builder
	for i, v := range all {
		if i == 10 {
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s (%s)", diag.Quote(v.Value), text.Count(v.Count))
	}
	switch {
	case l.beyond > 0:
		fmt.Fprintf(&b, " and more than %s others", text.Count(len(all)-min(10, len(all))))
	case len(all) > 10:
		fmt.Fprintf(&b, " and %s", text.Plural(len(all)-10, "other"))
	}
	return b.String()
}

// checkRule refuses a value of the rule that never occurs, unless the model knows it. e names the file and column of the labels.
func (l *labels) checkRule(e diag.Error) error {
	for i, v := range l.rule.values {
		if l.hit[i] || l.known != nil && l.known.has(v) {
			continue
		}
		e.Found = "no label " + diag.Quote(v.text)
		e.Expected = "one of the values that occur: " + l.describe()
		e.Fixes = []diag.Fix{{Param: "positive", When: "with one of them"}}
		var known []string
		for _, t := range l.order {
			known = append(known, t.Value)
		}
		if near := text.Nearest(v.text, known); near != "" {
			e.Fixes, e.Hint = nil, fmt.Sprintf("did you mean %s?", diag.Quote(near))
		}
		return &e
	}
	return nil
}

// checkPair refuses labels that are not one of the pairs if there is no rule.
func (l *labels) checkPair(e diag.Error) error {
	if !l.bad {
		return nil
	}
	e.Found = "the labels " + l.describe()
	e.Expected = "1 and 0, 1 and -1, or true and false"
	e.Fixes = []diag.Fix{{Param: "positive", Value: "VALUE", When: "for each positive label"}}
	return &e
}

// checkClasses refuses a file of one class.
func (l *labels) checkClasses(e diag.Error) error {
	for class, name := range []string{"negative", "positive"} {
		if l.counts[class] > 0 {
			continue
		}
		e.Found = fmt.Sprintf("no %s row, the labels are %s", name, l.describe())
		e.Expected = "rows of both classes"
		if len(l.order) > 1 {
			e.Fixes = []diag.Fix{{Param: "positive", Value: "VALUE", When: "for each positive label"}}
		}
		return &e
	}
	return nil
}
