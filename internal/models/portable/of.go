package portable

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"toptau/diag"
	"toptau/internal/core/matrix"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/internal/models/program"
	"toptau/model"
	"toptau/schema"
)

// MaxColumns is the largest number of columns, or indices of LIBSVM, of a program.
const MaxColumns = 10_000

// Of returns the program of a model.
//
// Errors (diag.Usage): the model has hashes instead of categories, more than MaxColumns columns, or weights so large that a
// score may exceed the range of float64.
func Of(m *model.Model) (*Program, error) {
	digest, err := m.Digest()
	if err != nil {
		return nil, err
	}
	from, err := program.Compile(feature.MapOf(m.Features()), m.Vector(), m.Offset())
	if err != nil {
		return nil, &diag.Error{Kind: diag.Usage, Found: err.Error(), Expected: "a kind that exports know", Hint: "score such rows with toptau"}
	}
	b := &builder{m: m, s: m.Schema(), from: from, p: &Program{Digest: digest, Offset: from.Offset}}
	if err := b.inputs(); err != nil {
		return nil, err
	}
	for _, d := range from.Derived {
		b.p.Derived = append(b.p.Derived, Derived(d))
	}
	for _, t := range from.Terms {
		if err := b.term(t); err != nil {
			return nil, err
		}
	}
	b.points()
	if err := b.p.checkBound(); err != nil {
		return nil, err
	}
	return b.p, b.probes()
}

// builder is the state of Of.
type builder struct {
	m    *model.Model
	s    schema.Schema
	from *program.Program
	p    *Program
}

// missing reads the spellings of a missing value. No index of LIBSVM is missing.
func (b *builder) missing() {
	for _, spelling := range b.s.Missing {
		spelling = strings.Trim(spelling, " \t")
		if spelling == "" || slices.Contains(b.p.MissingTexts, spelling) {
			continue
		}
		b.p.MissingTexts = append(b.p.MissingTexts, spelling)
		if x, ok := table.ParseNumber([]byte(spelling)); ok && !slices.Contains(b.p.MissingNumbers, x) {
			b.p.MissingNumbers = append(b.p.MissingNumbers, x)
		}
	}
	slices.Sort(b.p.MissingTexts)
	slices.Sort(b.p.MissingNumbers)
}

// inputs lists the columns in use.
func (b *builder) inputs() error {
	b.p.ID = b.s.ID
	if n := len(b.from.Columns); n > MaxColumns {
		return &diag.Error{Kind: diag.Usage, Found: "a model of " + text.Plural(n, "column"), Expected: "at most " + text.Count(MaxColumns),
			Hint: "score such rows with toptau"}
	}
	if b.s.Sparse() {
		for _, place := range b.from.Columns { // one that a row does not write is 0
			b.p.Inputs = append(b.p.Inputs, Input{Name: fmt.Sprintf("index %d", place+1), Place: place, Missing: Refused,
				Low: -math.MaxFloat64, High: math.MaxFloat64})
			b.p.Width = place + 1
		}
		return nil
	}
	b.missing()
	for _, c := range b.s.Columns {
		b.p.Columns = append(b.p.Columns, c.Name)
	}
	b.p.Width = len(b.p.Columns)
	for k, place := range b.from.Columns {
		c := &b.s.Columns[place]
		if c.Salt != "" {
			return &diag.Error{Kind: diag.Usage, Column: c.Name, Found: "hashes instead of categories", Expected: "the categories",
				Hint: "export the model before it is redacted"}
		}
		in := Input{Name: c.Name, Place: place, Part: c.Part, Source: c.Source, Origin: c.Origin, Low: -math.MaxFloat64, High: math.MaxFloat64}
		switch b.from.Missing {
		case schema.ImputeIndicator:
			in.Missing = Kept
		case schema.ImputeMedian:
			if in.Missing = Filled; b.from.Fill != nil {
				in.Fill = b.from.Fill[k]
			}
		case schema.ImputeZero:
			in.Missing = Filled
		}
		b.p.Inputs = append(b.p.Inputs, in)
	}
	for _, t := range b.from.Texts {
		in := &b.p.Inputs[t.Input]
		if in.Text, in.Categories = true, t.Categories; b.from.Missing == schema.ImputeZero {
			in.Missing = Kept
		}
	}
	return nil
}

// term appends the terms of a term.
func (b *builder) term(from program.Term) error {
	switch {
	case from.Numbers != nil:
		b.numbers(from.Numbers)
	case from.Levels != nil:
		b.levels(from.Levels)
	case from.Cards != nil:
		for i := range from.Cards {
			if err := b.card(&from.Cards[i]); err != nil {
				return err
			}
		}
	case from.Trees != nil:
		b.trees(from.Trees)
	}
	return nil
}

// levels appends a Level for each text and an Absent for each number.
func (b *builder) levels(from []program.Level) {
	for i := range from {
		l := &from[i]
		in := &b.p.Inputs[l.Input]
		rare := slices.ContainsFunc(b.from.Texts, func(t program.Text) bool { return t.Input == l.Input && t.Rare })
		terms, missing, other := l.Products(len(in.Categories), rare)
		switch {
		case in.Text:
			b.p.Terms = append(b.p.Terms, &Level{l.Input, append(terms, missing, other)})
		case l.Missing:
			b.p.Terms = append(b.p.Terms, &Absent{l.Input, missing})
		}
	}
}

// numbers appends a Number for each input and narrows the range of the input to numbers that fit into float32.
func (b *builder) numbers(from *program.Numbers) {
	for i, weight := range from.Weights {
		n := &Number{Input: i, Scale: 1, Weight: weight}
		if from.Inputs != nil {
			n.Input = from.Inputs[i]
		}
		if from.Scale != nil {
			n.Scaled, n.Scale = true, from.Scale[i]
		}
		if from.Shift != nil {
			n.Shift = from.Shift[i]
		}
		in := &b.p.Inputs[n.Input]
		fits := func(x float64) bool { f := float32(n.Value(x)); return f-f == 0 }
		in.Low = max(in.Low, program.LastWith(-math.MaxFloat64, n.Shift, fits))
		in.High = min(in.High, program.LastWith(math.MaxFloat64, n.Shift, fits))
		if in.Missing == Filled && !(in.Low <= in.Fill && in.Fill <= in.High) {
			in.Missing, in.Fill = Refused, 0 // scoring refuses the number that takes its place
		}
		b.p.Terms = append(b.p.Terms, n)
	}
}

// Value returns the encoded value of a number before it is rounded to float32.
func (n *Number) Value(x float64) float64 {
	if !n.Scaled {
		return x
	}
	return (x - n.Shift) / n.Scale
}

// card appends a Card, or Steps without knots.
func (b *builder) card(from *program.Card) error {
	weights, missing := from.Split()
	if len(from.Knots) == 0 {
		b.p.Terms = append(b.p.Terms, &Steps{from.Input, program.Nearer(from.Atoms), weights, missing})
		return nil
	}
	for i := 1; i < len(from.Knots); i++ {
		if math.IsInf(from.Knots[i]-from.Knots[i-1], 0) {
			return &diag.Error{Kind: diag.Usage, Column: b.p.Inputs[from.Input].Name, Found: "values further apart than the range of float64",
				Expected: "a scorecard of smaller numbers", Fixes: []diag.Fix{{Param: "encoding", Value: string(schema.Raw)}}}
		}
	}
	t := &Card{Input: from.Input, Low: from.Knots[0], High: from.Knots[len(from.Knots)-1], Knots: from.Knots, Atoms: from.Atoms,
		Weights: weights, Missing: missing}
	if n := len(from.Atoms); n > 0 {
		t.Low, t.High = min(t.Low, from.Atoms[0]), max(t.High, from.Atoms[n-1])
	}
	b.p.Terms = append(b.p.Terms, t)
	return nil
}

// Fraction returns the place of a number between two knots; see Card.
func (c *Card) Fraction(x float64, place int) float64 {
	if place >= len(c.Knots)-1 {
		return 0
	}
	return matrix.Fraction((max(x, c.Knots[0]) - c.Knots[place]) / (c.Knots[place+1] - c.Knots[place]))
}

// trees appends Trees.
func (b *builder) trees(trees *program.Trees) {
	t := &Trees{}
	for _, c := range trees.Codes {
		t.Codes = append(t.Codes, Codes{Input: c.Input, Values: append(slices.Clone(c.Values), math.NaN(), c.Unknown)})
	}
	for i := range trees.Trees {
		from := &trees.Trees[i]
		tree := Tree{Nodes: make([]Node, len(from.Ask))}
		var open []int
		inner, leaf := 0, 0
		for k, ask := range from.Ask {
			if ask >= 0 {
				ask = trees.Inputs[ask]
				_, left := slices.BinarySearch(from.MissingLeft, inner)
				tree.Nodes[k] = Node{Input: ask, At: from.At[inner], MissingLeft: left}
				open = append(open, k)
				inner++
				continue
			}
			tree.Nodes[k] = Node{Input: -1, Term: from.Weights[leaf]}
			leaf++
			if last := len(open) - 1; last >= 0 {
				tree.Nodes[open[last]].Right = k + 1
				open = open[:last]
			}
		}
		t.Trees = append(t.Trees, tree)
	}
	b.p.Terms = append(b.p.Terms, t)
}

// points copies the operating points.
func (b *builder) points() {
	var segments []string
	for _, point := range b.m.Points() {
		p := Point{Point: point, Segment: -1}
		if point.Segment != "" {
			if p.Segment = slices.Index(segments, point.Segment); p.Segment < 0 {
				p.Segment = len(segments)
				segments = append(segments, point.Segment)
			}
		}
		b.p.Points = append(b.p.Points, p)
	}
}

// probes makes the probe rows of the model again.
func (b *builder) probes() error {
	for _, fields := range feature.MapOf(b.m.Features()).Probes(len(b.s.Columns), b.p.missingText) {
		score, err := b.m.ScoreFields(fields)
		if err != nil {
			return err
		}
		values, err := b.p.Values(fields)
		if err != nil {
			return err
		}
		b.p.Probes = append(b.p.Probes, Probe{Values: values, Score: score})
	}
	return nil
}

// Values returns the values of a record of text: one field for each column of the schema, as Model.ScoreFields takes them. Of
// LIBSVM these are "index:value".
func (p *Program) Values(fields []string) ([]Value, error) {
	values := make([]Value, len(p.Inputs))
	at := func(k int, field string) error {
		in := &p.Inputs[k]
		if p.missingText(field) {
			values[k].Number = math.NaN()
			return nil
		}
		if in.Text {
			values[k].Text = &field
			return nil
		}
		var err error
		values[k].Number, err = table.NewFieldReader(&schema.Column{Name: in.Name}, p.MissingTexts, "").Number([]byte(field))
		return err
	}
	if p.Columns != nil {
		for k := range p.Inputs {
			if err := at(k, fields[p.Inputs[k].Place]); err != nil {
				return nil, err
			}
		}
		return values, nil
	}
	for _, field := range fields {
		index, value, _ := strings.Cut(field, ":")
		for k := range p.Inputs {
			if p.Inputs[k].Name == "index "+index {
				if err := at(k, value); err != nil {
					return nil, err
				}
			}
		}
	}
	return values, nil
}

func (p *Program) missingText(field string) bool {
	field = strings.Trim(field, " \t")
	return field == "" || slices.Contains(p.MissingTexts, field)
}

// checkBound refuses a program whose scores might be infinite: no export checks that.
func (p *Program) checkBound() error {
	sum := math.Abs(p.Offset)
	for _, t := range p.Terms {
		sum += t.bound(p)
	}
	if sum < math.MaxFloat64/2 {
		return nil
	}
	return &diag.Error{Kind: diag.Usage, Found: "weights so large that a score may exceed the range of float64",
		Expected: "a model of smaller weights", Hint: "score such rows with toptau, which refuses infinite scores"}
}

func (t *Number) bound(*Program) float64 { return math.Abs(t.Weight) * math.MaxFloat32 }
func (t *Level) bound(*Program) float64  { return largest(t.Terms) }
func (t *Absent) bound(*Program) float64 { return math.Abs(t.Term) }
func (t *Card) bound(*Program) float64   { return max(2*largest(t.Weights), math.Abs(t.Missing)) }
func (t *Steps) bound(*Program) float64  { return max(largest(t.Terms), math.Abs(t.Missing)) }
func (t *Trees) bound(*Program) float64 {
	sum := 0.0
	for i := range t.Trees {
		most := 0.0
		for _, n := range t.Trees[i].Nodes {
			most = max(most, math.Abs(n.Term))
		}
		sum += most
	}
	return sum
}

func largest(list []float64) float64 {
	most := 0.0
	for _, x := range list {
		most = max(most, math.Abs(x))
	}
	return most
}
