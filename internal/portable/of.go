package portable

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"toptau/diag"
	"toptau/internal/feature"
	"toptau/internal/matrix"
	"toptau/internal/table"
	"toptau/internal/text"
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
	b := &builder{m: m, s: m.Schema(), features: feature.MapOf(m.Features()), weights: m.Parts().Weights,
		p: &Program{Digest: digest, Offset: m.Offset()}}
	b.missing()
	if err := b.inputs(); err != nil {
		return nil, err
	}
	b.derived()
	for _, block := range b.features.Blocks {
		if err := b.block(block); err != nil {
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
	m        *model.Model
	s        schema.Schema
	features *feature.Map
	weights  []float64 // those of the blocks that are still to come
	p        *Program
	input    []int // by position in features.Inputs, then of derived columns: the number in Program
}

// missing reads the spellings of a missing value. No index of LIBSVM is missing.
func (b *builder) missing() {
	if b.features.Sparse {
		return
	}
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
	m := b.features
	b.p.ID = b.s.ID
	if m.Sparse {
		return b.indices()
	}
	for _, c := range b.s.Columns {
		b.p.Columns = append(b.p.Columns, c.Name)
	}
	b.p.Width = len(b.p.Columns)
	if err := checkWidth(len(m.Inputs)); err != nil {
		return err
	}
	for k := range m.Inputs {
		from := &m.Inputs[k]
		c := &b.s.Columns[from.Column]
		if c.Salt != "" {
			return &diag.Error{Kind: diag.Usage, Column: c.Name, Found: "hashes instead of categories", Expected: "the categories",
				Hint: "export the model before it is redacted"}
		}
		in := Input{Name: c.Name, Place: from.Column, Part: c.Part, Source: c.Source, Origin: c.Origin, Text: from.Kind == schema.Categorical,
			Categories: from.Categories, Fill: from.Fill, Low: -math.MaxFloat64, High: math.MaxFloat64}
		switch {
		case m.Impute == schema.ImputeError:
			in.Missing = Refused
		case m.Impute == schema.ImputeIndicator || in.Text && m.Impute == schema.ImputeZero:
			in.Missing = Kept
		default:
			in.Missing = Filled
		}
		if in.Missing != Filled {
			in.Fill = 0
		}
		b.input = append(b.input, len(b.p.Inputs))
		b.p.Inputs = append(b.p.Inputs, in)
	}
	return nil
}

// indices lists the indices of LIBSVM that have a weight. One that a row does not write is 0.
func (b *builder) indices() error {
	used := map[int]bool{}
	for _, in := range b.features.Inputs {
		used[in.Column] = true
	}
	for _, block := range b.features.Blocks {
		if block, ok := block.(*feature.SparseBlock); ok {
			for _, index := range block.Index {
				used[int(index)-1] = true
			}
		}
	}
	if err := checkWidth(len(used)); err != nil {
		return err
	}
	places := make([]int, 0, len(used))
	for place := range used {
		places = append(places, place)
	}
	slices.Sort(places)
	for _, place := range places {
		b.p.Inputs = append(b.p.Inputs, Input{Name: fmt.Sprintf("index %d", place+1), Place: place, Missing: Refused,
			Low: -math.MaxFloat64, High: math.MaxFloat64})
		b.p.Width = place + 1
	}
	for _, in := range b.features.Inputs {
		b.input = append(b.input, b.atPlace(in.Column))
	}
	return nil
}

// derived lists the derived columns.
func (b *builder) derived() {
	for i, d := range b.features.Derived {
		b.p.Derived = append(b.p.Derived, Derived{d.Op, b.input[d.A], b.input[d.B]})
		b.input = append(b.input, len(b.p.Inputs)+i)
	}
}

func (b *builder) atPlace(place int) int {
	k, _ := slices.BinarySearchFunc(b.p.Inputs, place, func(in Input, place int) int { return in.Place - place })
	return k
}

func checkWidth(n int) error {
	if n <= MaxColumns {
		return nil
	}
	return &diag.Error{Kind: diag.Usage, Found: "a model of " + text.Plural(n, "column"), Expected: "at most " + text.Count(MaxColumns),
		Hint: "score such rows with toptau"}
}

// take returns the next n weights.
func (b *builder) take(n int) []float64 {
	w := b.weights[:n]
	b.weights = b.weights[n:]
	return w
}

// block appends the terms of a block.
func (b *builder) block(block feature.Block) error {
	switch block := block.(type) {
	case *feature.NumericBlock:
		for i, k := range block.Inputs {
			n := Number{Input: b.input[k], Weight: b.take(1)[0], Scale: 1}
			if block.Scale != nil {
				n.Scaled, n.Shift, n.Scale = true, block.Shift[i], block.Scale[i]
			}
			b.number(n)
		}
	case *feature.SparseBlock:
		for i, index := range block.Index {
			n := Number{Input: b.atPlace(int(index) - 1), Weight: b.take(1)[0], Scale: 1}
			if block.Scale != nil {
				n.Scaled, n.Scale = true, block.Scale[i]
			}
			b.number(n)
		}
	case *feature.OneHotBlock:
		for i := range block.Columns {
			b.level(&block.Columns[i])
		}
	case *feature.ScorecardBlock:
		for i := range block.Columns {
			if err := b.card(&block.Columns[i]); err != nil {
				return err
			}
		}
	case *feature.LeavesBlock:
		b.trees(block)
	default:
		return &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("a feature block of kind %q", block.Kind()),
			Expected: "a kind that exports know", Hint: "score such rows with toptau"}
	}
	return nil
}

// number appends a Number and narrows the range of its input to numbers that fit into float32.
func (b *builder) number(n Number) {
	in := &b.p.Inputs[n.Input]
	fits := func(x float64) bool { f := float32(n.Value(x)); return f-f == 0 }
	if low := lastWith(-math.MaxFloat64, n.Shift, fits); low > in.Low {
		in.Low = low
	}
	if high := lastWith(math.MaxFloat64, n.Shift, fits); high < in.High {
		in.High = high
	}
	if in.Missing == Filled && !(in.Low <= in.Fill && in.Fill <= in.High) {
		in.Missing, in.Fill = Refused, 0 // scoring refuses the number that takes its place
	}
	b.p.Terms = append(b.p.Terms, &n)
}

// Value returns the encoded value of a number before it is rounded to float32.
func (n *Number) Value(x float64) float64 {
	if !n.Scaled {
		return x
	}
	return (x - n.Shift) / n.Scale
}

// lastWith returns the number nearest to end, on the way from start to it, for which holds is true. It is true at start and
// changes once at most.
func lastWith(end, start float64, holds func(float64) bool) float64 {
	if holds(end) {
		return end
	}
	low, high := min(ordinal(start), ordinal(end)), max(ordinal(start), ordinal(end))
	for high-low > 1 {
		middle := low + (high-low)/2
		if holds(fromOrdinal(middle)) == (start < end) {
			low = middle
		} else {
			high = middle
		}
	}
	if start < end {
		return fromOrdinal(low)
	}
	return fromOrdinal(high)
}

const zeroOrdinal = 1 << 63

// ordinal numbers the floats in their order; both zeros are zeroOrdinal.
func ordinal(x float64) uint64 {
	n := math.Float64bits(math.Abs(x))
	if x < 0 {
		return zeroOrdinal - n
	}
	return zeroOrdinal + n
}

func fromOrdinal(n uint64) float64 {
	if n < zeroOrdinal {
		return -math.Float64frombits(zeroOrdinal - n)
	}
	return math.Float64frombits(n - zeroOrdinal)
}

// level appends a column of a OneHotBlock.
func (b *builder) level(c *feature.OneHot) {
	from := &b.features.Inputs[c.Input]
	levels := len(from.Categories)
	if c.Missing {
		levels++
	}
	if from.Rare {
		levels++
	}
	w := b.take(levels)
	term := func(level int) float64 {
		x := 1.0
		if c.Scale != nil {
			x = 1 / c.Scale[level]
		}
		return float64(float64(float32(x)) * w[level])
	}
	if from.Kind != schema.Categorical {
		if c.Missing {
			b.p.Terms = append(b.p.Terms, &Absent{Input: b.input[c.Input], Term: term(0)})
		}
		return
	}
	t := &Level{Input: b.input[c.Input], Terms: make([]float64, len(from.Categories)+2)}
	for level := range from.Categories {
		t.Terms[level] = term(level)
	}
	if c.Missing {
		t.Terms[len(from.Categories)] = term(len(from.Categories))
	}
	if from.Rare {
		t.Terms[len(from.Categories)+1] = term(levels - 1)
	}
	b.p.Terms = append(b.p.Terms, t)
}

// card appends a column of a ScorecardBlock.
func (b *builder) card(c *feature.Card) error {
	w := b.take(len(c.Knots) + len(c.Atoms))
	missing := 0.0
	if c.Missing {
		missing = b.take(1)[0]
	}
	input := b.input[c.Input]
	if len(c.Knots) == 0 {
		b.p.Terms = append(b.p.Terms, &Steps{Input: input, Cuts: Nearer(c.Atoms), Terms: w, Missing: missing})
		return nil
	}
	for i := 1; i < len(c.Knots); i++ {
		if math.IsInf(c.Knots[i]-c.Knots[i-1], 0) {
			return &diag.Error{Kind: diag.Usage, Column: b.p.Inputs[input].Name, Found: "values further apart than the range of float64",
				Expected: "a scorecard of smaller numbers", Fixes: []diag.Fix{{Param: "encoding", Value: string(schema.Raw)}}}
		}
	}
	t := &Card{Input: input, Low: c.Knots[0], High: c.Knots[len(c.Knots)-1], Knots: c.Knots, Atoms: c.Atoms, Weights: w, Missing: missing}
	if n := len(c.Atoms); n > 0 {
		t.Low, t.High = min(t.Low, c.Atoms[0]), max(t.High, c.Atoms[n-1])
	}
	b.p.Terms = append(b.p.Terms, t)
	return nil
}

// Nearer returns for each atom but the first the smallest number that belongs to it and not to the one before.
func Nearer(atoms []float64) (cuts []float64) {
	for i := 1; i < len(atoms); i++ {
		cuts = append(cuts, firstNearer(atoms[i-1], atoms[i]))
	}
	return cuts
}

// firstNearer returns the smallest number above the atom a that belongs to the atom b: the halves are compared as in
// feature.Card.
func firstNearer(a, b float64) float64 {
	return lastWith(math.Nextafter(a, b), b, func(x float64) bool {
		return x == b || float64(b/2)-float64(x/2) < float64(x/2)-float64(a/2)
	})
}

// Fraction returns the place of a number between two knots; see Card.
func (c *Card) Fraction(x float64, place int) float64 {
	if place >= len(c.Knots)-1 {
		return 0
	}
	return matrix.Fraction((max(x, c.Knots[0]) - c.Knots[place]) / (c.Knots[place+1] - c.Knots[place]))
}

// trees appends a LeavesBlock.
func (b *builder) trees(block *feature.LeavesBlock) {
	t := &Trees{}
	for _, c := range block.Codes {
		t.Codes = append(t.Codes, Codes{Input: b.input[c.Input], Values: append(slices.Clone(c.Values), math.NaN(), c.Unknown)})
	}
	for i := range block.Trees {
		from := &block.Trees[i]
		w := b.take(len(from.Mass))
		tree := Tree{Nodes: make([]Node, len(from.Ask))}
		var open []int
		inner, leaf := 0, 0
		for k, ask := range from.Ask {
			if ask >= 0 {
				_, left := slices.BinarySearch(from.MissingLeft, inner)
				tree.Nodes[k] = Node{Input: b.input[block.Inputs[ask]], At: from.At[inner], MissingLeft: left}
				open = append(open, k)
				inner++
				continue
			}
			tree.Nodes[k] = Node{Input: -1, Term: w[leaf]}
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
	for _, fields := range b.features.Probes(len(b.s.Columns), b.p.missingText) {
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
