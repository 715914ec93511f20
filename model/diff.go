package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"toptau/calibrate"
	"toptau/internal/core/text"
	"toptau/internal/models/feature"
	"toptau/result"
	"toptau/schema"
)

// Diff compares two models without data: the columns that they know and use, encodings, weights, operating
// points, methods and training data. Whether one is better takes labelled rows: see Evaluate.
func Diff(before, after *Model) *result.ModelDifference {
	d := &result.ModelDifference{Facts: []result.FactChange{}, Columns: []result.ColumnChange{}, Points: pointChanges(before, after)}
	old, now := factsOf(before), factsOf(after)
	scoring := false
	for i := range old {
		if old[i].value == now[i].value {
			continue
		}
		d.Facts = append(d.Facts, result.FactChange{Name: old[i].name, Before: old[i].value, After: now[i].value})
		scoring = scoring || old[i].scores
	}
	d.Columns = columnChanges(before, after)
	d.Same = !scoring && len(d.Columns) == 0 && len(d.Points) == 0
	return d
}

// modelFact is a fact of a model that can be compared.
type modelFact struct {
	name, value string
	scores      bool // it changes scores or decisions
}

func factsOf(m *Model) []modelFact {
	s, f, training := m.Schema(), feature.MapOf(m.Features()), m.Training()
	label := ""
	if s.Label != nil {
		label = s.Label.Name
	}
	kinds := map[string]int{}
	var order []string
	for _, b := range f.Blocks {
		kind := b.Kind()
		if kinds[kind] == 0 {
			order = append(order, kind)
		}
		kinds[kind]++
	}
	facts := []modelFact{
		{"training rows", fmt.Sprintf("%s, %s positive", text.Count(training.Rows), text.Count(training.Positives)), false},
		{"training data", training.Digest, false},
		{"method", MembersText(m.Members()), false},
		{"features", text.Count(m.Len()), true},
		{"encoding", strings.Join(order, ", "), true},
		{"scale", string(f.Scale), true},
		{"derived columns", strings.Join(feature.DerivedNames(f), ", "), true},
		{"missing values", string(f.Impute), true},
		{"spellings of missing values", strings.Join(s.Missing, ", "), true},
		{"offset", strconv.FormatFloat(m.Offset(), 'g', 6, 64), true},
		{"label", label, false},
		{"labels", labelNames(&s), false},
		{"positive labels", strings.Join(s.Positive, ", "), false},
		{"format", string(s.Format), true},
	}
	if p := m.Probability(); p != nil {
		return append(facts, modelFact{"probabilities", fmt.Sprintf("%s, for %s positives", p.Method, text.Percent(p.Prevalence)), false})
	}
	return append(facts, modelFact{"probabilities", "", false})
}

// labelNames returns the labels of training in a fixed order, without their counts, which differ from training to training.
func labelNames(s *schema.Schema) string {
	var names []string
	for _, l := range s.Labels {
		names = append(names, l.Value)
	}
	slices.Sort(names)
	if s.OtherLabels > 0 {
		names = append(names, "others")
	}
	return strings.Join(names, ", ")
}

// columnFeatures are the features of a column, by name, with their weights.
type columnFeatures struct {
	kind       schema.Kind
	categories []string
	weights    map[string]float64
}

// columnsIn returns the features of each column that a model uses. Features without a column (leaves of trees,
// indices) are under "trees" or the name of the index.
func columnsIn(m *Model) (names []string, columns map[string]*columnFeatures) {
	f := feature.MapOf(m.Features())
	columns = map[string]*columnFeatures{}
	of := func(name string) *columnFeatures {
		c := columns[name]
		if c == nil {
			c = &columnFeatures{weights: map[string]float64{}}
			columns[name] = c
			names = append(names, name)
		}
		return c
	}
	for _, in := range f.Inputs {
		c := of(in.Name)
		c.kind, c.categories = in.Kind, in.Categories
	}
	weights := m.Parts().Weights
	for i, w := range f.Weights() {
		name := w.Name
		switch {
		case w.Input >= 0:
			name = f.Inputs[w.Input].Name
		case !f.Sparse:
			name = "trees"
		}
		of(name).weights[w.Name] += weights[i]
	}
	return names, columns
}

// norm returns the Euclidean norm of weights, in a fixed order.
func norm(weights map[string]float64) float64 {
	sum := 0.0
	for _, name := range sortedKeys(weights) {
		sum += float64(weights[name] * weights[name])
	}
	return math.Sqrt(sum)
}

func sortedKeys[T any](m map[string]T) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func columnChanges(before, after *Model) []result.ColumnChange {
	names, old := columnsIn(before)
	later, now := columnsIn(after)
	for _, name := range later {
		if old[name] == nil {
			names = append(names, name)
		}
	}
	list := []result.ColumnChange{}
	for _, name := range names {
		if c := columnChange(name, old[name], now[name]); c != nil {
			list = append(list, *c)
		}
	}
	slices.SortStableFunc(list, func(a, b result.ColumnChange) int {
		size := func(c *result.ColumnChange) float64 {
			switch {
			case c.Moved != nil:
				return *c.Moved
			case c.Before != nil && c.After != nil:
				return math.Abs(*c.After - *c.Before)
			}
			return math.Inf(1)
		}
		return cmp.Compare(size(&b), size(&a))
	})
	return list
}

// columnChange describes how a column differs, nil if it does not.
func columnChange(name string, old, now *columnFeatures) *result.ColumnChange {
	c := &result.ColumnChange{Column: name}
	if old != nil {
		n := norm(old.weights)
		c.Before = &n
	}
	if now != nil {
		n := norm(now.weights)
		c.After = &n
	}
	switch {
	case old == nil:
		c.Change, c.Detail = "added", "a "+kindText(now.kind)+"column"
		return c
	case now == nil:
		c.Change, c.Detail = "removed", "a "+kindText(old.kind)+"column"
		return c
	case old.kind != now.kind:
		c.Change, c.Detail = "kind", fmt.Sprintf("%s instead of %s", now.kind, old.kind)
		return c
	}
	added, removed := missingFrom(now.categories, old.categories), missingFrom(old.categories, now.categories)
	if len(added)+len(removed) > 0 {
		c.Change, c.Detail = "categories", categoriesText(added, removed)
		return c
	}
	moved, largest, at := 0.0, 0.0, ""
	if len(old.weights) != len(now.weights) {
		c.Change, c.Detail = "encoding", fmt.Sprintf("%s instead of %s", text.Plural(len(now.weights), "feature"), text.Count(len(old.weights)))
		return c
	}
	for _, feature := range sortedKeys(now.weights) {
		w, known := old.weights[feature]
		if !known {
			c.Change, c.Detail = "encoding", fmt.Sprintf("%s with other values", text.Plural(len(now.weights), "feature"))
			return c
		}
		step := now.weights[feature] - w
		moved += float64(step * step)
		if math.Abs(step) > math.Abs(largest) {
			largest, at = step, feature
		}
	}
	if moved = math.Sqrt(moved); moved == 0 {
		return nil
	}
	c.Change, c.Moved = "weights", &moved
	c.Detail = fmt.Sprintf("%s %+.4g, from %.4g to %.4g", at, largest, old.weights[at], now.weights[at])
	return c
}

func kindText(k schema.Kind) string {
	if k == "" {
		return ""
	}
	return string(k) + " "
}

// missingFrom returns the elements of list that are not in other.
func missingFrom(list, other []string) []string {
	known := map[string]bool{}
	for _, x := range other {
		known[x] = true
	}
	return slices.DeleteFunc(slices.Clone(list), func(x string) bool { return known[x] })
}

// categoriesText names at most five added and removed categories.
func categoriesText(added, removed []string) string {
	var parts []string
	for _, p := range []struct {
		what string
		list []string
	}{{"new", added}, {"gone", removed}} {
		if len(p.list) == 0 {
			continue
		}
		shown := p.list[:min(5, len(p.list))]
		line := p.what + " " + strings.Join(shown, ", ")
		if more := len(p.list) - len(shown); more > 0 {
			line += fmt.Sprintf(" and %s more", text.Count(more))
		}
		parts = append(parts, line)
	}
	return strings.Join(parts, "; ")
}

// pointChanges lists the operating points that differ.
func pointChanges(before, after *Model) []result.PointChange {
	list := []result.PointChange{}
	for _, p := range before.Points() {
		now, kept := after.Point(p.Name)
		if !kept {
			list = append(list, result.PointChange{Name: p.Name, Change: "removed", Before: &p.Threshold, Goal: p.Goal,
				Guarantee: guaranteeChange(p.Guarantee, nil)})
		} else if !samePoint(&p, &now) {
			list = append(list, result.PointChange{Name: p.Name, Change: "changed", Before: &p.Threshold, After: &now.Threshold, Goal: now.Goal,
				Guarantee: guaranteeChange(p.Guarantee, now.Guarantee)})
		}
	}
	for _, p := range after.Points() {
		if _, known := before.Point(p.Name); !known {
			list = append(list, result.PointChange{Name: p.Name, Change: "added", After: &p.Threshold, Goal: p.Goal,
				Guarantee: guaranteeChange(nil, p.Guarantee)})
		}
	}
	old, hadDefault := before.Point("")
	if now, has := after.Point(""); has && hadDefault && now.Name != old.Name {
		list = append(list, result.PointChange{Name: now.Name, Change: "default", Before: &old.Threshold, After: &now.Threshold, Goal: now.Goal})
	}
	return list
}

// samePoint reports whether two points decide and claim the same.
func samePoint(a, b *Point) bool {
	x, _ := json.Marshal(a) // points of models can be marshalled
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// guaranteeChange describes what changed about a guarantee.
func guaranteeChange(before, after *calibrate.Guarantee) string {
	words := func(g *calibrate.Guarantee) string {
		if g == nil {
			return ""
		}
		return fmt.Sprintf("%s of %s, delta %s", g.Kind, cmp.Or(g.Rate.String(), "the largest negative"), g.Delta)
	}
	old, now := words(before), words(after)
	switch {
	case old == now:
		return ""
	case old == "":
		return "now guaranteed: " + now
	case now == "":
		return "no longer guaranteed: " + old
	}
	return now + " instead of " + old
}
