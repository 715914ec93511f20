// Package onnx writes a model as an ONNX graph: IR version 9, operator sets 18 and ai.onnx.ml 5, in float64.
//
// Each term of the score is a column of a tensor, and CumSum adds the columns from left to right. So the order of the sum is that of
// the model for every number of threads. TreeEnsemble has an output for each tree instead of their sum. It also finds the places of
// numbers on scorecards, which is faster than comparing with all knots.
package onnx

import (
	"io"
	"math"
	"slices"
	"strings"

	"toptau/internal/models/export"
	"toptau/internal/models/feature"
	"toptau/internal/models/portable"
)

// Options of Write.
type Options struct {
	Tensor bool // one input X with a column for each column of the schema instead of one input a column
}

// largestFile is the largest file that readers of protobuf accept.
const largestFile = 1<<31 - 1

// Write writes a program.
//
// Errors (diag.Usage): categories with Tensor; indices of LIBSVM without it, or two inputs of the same name.
func Write(w io.Writer, p *portable.Program, o Options) error {
	if !o.Tensor && p.Columns == nil {
		return refuse("rows of LIBSVM indices, which have no columns", "set tensor: one input X with the value of index i in column i - 1")
	}
	if o.Tensor {
		if texts := p.Texts(); len(texts) > 0 || len(p.Segments()) > 0 {
			return refuse("columns of text", "leave out tensor: each column is an input of its own")
		}
		if p.Width > portable.MaxColumns {
			return refuse("an index above 10,000", "score such rows with toptau")
		}
	}
	b := &builder{p: p, columns: make([]int64, len(p.Inputs)+len(p.Derived)), text: make([]string, len(p.Inputs))}
	if err := b.inputs(o.Tensor); err != nil {
		return err
	}
	b.terms()
	b.outputs()
	model, err := b.model()
	if err != nil {
		return err
	}
	if len(model) > largestFile {
		return refuse("a file of more than 2 GB", "export the model to C or Go")
	}
	_, err = w.Write(model)
	return err
}

func refuse(found, hint string) error { return export.Refuse("ONNX", found, hint) }

// builder is the state of Write.
type builder struct {
	p *portable.Program
	g graph

	columns []int64  // by input, then by derived column: the column of a number among the features
	text    []string // by input: the tensor of a text
	numbers string   // the numbers after the policy for missing values; NaN is one that is kept
	refused []string // columns of 0, or NaN where the record has no score

	forest   forest
	features []string // columns that trees read: numbers, derived columns, then codes
	width    int64    // of them
	pending  []pending
	names    []string // tensors of the terms in order
}

// pending are terms that need the output of the forest.
type pending struct {
	at   int // in names
	make func(places string) string
}

// inputs adds the inputs of the graph and applies the policies.
func (b *builder) inputs(tensor bool) error {
	g, numbers := &b.g, b.p.Numbers()
	taken := map[string]bool{}
	declare := func(name string, kind, columns int) error {
		if taken[name] {
			return refuse("two inputs with the name "+export.Quote(name), "rename a column of the training file")
		}
		taken[name] = true
		g.inputs = append(g.inputs, valueInfo(name, kind, columns))
		return nil
	}
	var columns []string
	for i, k := range numbers {
		b.columns[k] = int64(i)
		if !tensor {
			columns = append(columns, b.p.Inputs[k].Name)
			if err := declare(b.p.Inputs[k].Name, typeDouble, 1); err != nil {
				return err
			}
		}
	}
	for _, k := range b.p.Texts() {
		b.text[k] = b.p.Inputs[k].Name
		if err := declare(b.text[k], typeString, 1); err != nil {
			return err
		}
	}
	for _, name := range b.p.Segments() {
		if taken[name] {
			continue // a column that the score needs as well
		}
		if err := declare(name, typeString, 1); err != nil {
			return err
		}
	}
	if tensor {
		if err := declare("X", typeDouble, b.p.Width); err != nil {
			return err
		}
		places := make([]int64, len(numbers))
		for i, k := range numbers {
			places[i] = int64(b.p.Inputs[k].Place)
		}
		columns = []string{g.pickOf("X", b.p.Width, places)}
	}
	if len(numbers) > 0 {
		b.policies(g.columns(columns), numbers)
	}
	for _, k := range b.p.Texts() {
		if in := &b.p.Inputs[k]; in.Missing == portable.Refused {
			missing := b.missingTexts()
			b.refused = append(b.refused, b.lookup(b.text[k], missing, repeat(math.NaN(), len(missing)), 0))
		}
	}
	return nil
}

// policies replaces missing numbers and marks records without a score.
func (b *builder) policies(x string, numbers []int) {
	g := &b.g
	missing := g.node("IsNaN", []string{x})
	for _, m := range b.p.MissingNumbers {
		missing = g.op2("Or", missing, g.op2("Equal", x, g.scalar(m)))
	}
	fill, low, high := make([]float64, len(numbers)), make([]float64, len(numbers)), make([]float64, len(numbers))
	refused, replaced := make([]bool, len(numbers)), len(b.p.MissingNumbers) > 0
	for i, k := range numbers {
		in := &b.p.Inputs[k]
		fill[i], low[i], high[i], refused[i] = math.NaN(), in.Low, in.High, in.Missing == portable.Refused
		if in.Missing == portable.Filled {
			fill[i], replaced = in.Fill, true
		}
	}
	bad := b.outside(x, missing, low, high)
	if slices.Contains(refused, true) {
		bad = g.op2("Or", bad, g.op2("And", missing, g.constant([]int64{1, int64(len(refused))}, refused)))
	}
	nan := g.where(bad, g.scalar(math.NaN()), g.scalar(0))
	b.refused = append(b.refused, g.node("ReduceSum", []string{nan, g.list(1)}, attribute("keepdims", 1)))
	if b.numbers = x; replaced {
		b.numbers = g.where(missing, g.row(fill), x)
	}
	b.features, b.width = []string{b.numbers}, int64(len(numbers))
	for _, op := range export.Ops {
		b.derive(op)
	}
}

// outside marks numbers that are not missing and not between low and high.
func (b *builder) outside(x, missing string, low, high []float64) string {
	g := &b.g
	if slices.Min(high) == math.MaxFloat64 && slices.Max(low) == -math.MaxFloat64 {
		return g.node("IsInf", []string{x})
	}
	outside := g.op2("Or", g.op2("Less", x, g.row(low)), g.op2("Greater", x, g.row(high))) // false for NaN
	if len(b.p.MissingNumbers) > 0 {
		outside = g.op2("And", outside, g.node("Not", []string{missing}))
	}
	return outside
}

// derive adds the derived columns of an operation.
func (b *builder) derive(op feature.Op) {
	g := &b.g
	var first, second []int64
	for i, d := range b.p.Derived {
		if d.Op == op {
			b.columns[len(b.p.Inputs)+i] = b.width + int64(len(first))
			first, second = append(first, b.columns[d.A]), append(second, b.columns[d.B])
		}
	}
	if len(first) == 0 {
		return
	}
	zero := g.scalar(0)
	inside := func(x string) string { // false for NaN
		size := g.node("Abs", []string{x})
		return g.op2("And", g.op2("GreaterOrEqual", size, g.scalar(feature.MinPart)), g.op2("LessOrEqual", size, g.scalar(feature.MaxPart)))
	}
	x, y := g.pick(b.numbers, first), g.pick(b.numbers, second)
	usedY := inside(y)
	if op != feature.Ratio {
		usedY = g.op2("Or", usedY, g.op2("Equal", y, zero))
	}
	used := g.op2("And", g.op2("Or", inside(x), g.op2("Equal", x, zero)), usedY)
	name := map[feature.Op]string{feature.Difference: "Sub", feature.Product: "Mul", feature.Ratio: "Div"}[op]
	b.features = append(b.features, g.where(used, g.op2(name, x, y), g.scalar(math.NaN())))
	b.width += int64(len(first))
}

// missingTexts returns the texts that are a missing value. Spellings with blanks at their ends are not among them: there is no
// operator that removes these.
func (b *builder) missingTexts() []string { return append([]string{""}, b.p.MissingTexts...) }

func repeat(x float64, n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = x
	}
	return list
}

// lookup adds a table from texts to numbers. Of equal keys the first counts.
func (b *builder) lookup(input string, keys []string, values []float64, otherwise float64) string {
	var once []string
	var numbers []float64
	for i, key := range keys {
		if !slices.Contains(once, key) {
			once, numbers = append(once, key), append(numbers, values[i])
		}
	}
	if len(once) == 0 { // the operator needs a key
		once, numbers = []string{""}, []float64{otherwise}
	}
	n := []int64{int64(len(once))}
	return b.g.ml("LabelEncoder", input, attribute("keys_tensor", tensor("", n, once)), attribute("values_tensor", tensor("", n, numbers)),
		attribute("default_tensor", tensor("", []int64{1}, []float64{otherwise})))
}

// levels adds a table from the texts of an input to the values of its levels.
func (b *builder) levels(input int, values []float64) string {
	in := &b.p.Inputs[input]
	n := len(in.Categories)
	missing := values[n]
	if in.Missing == portable.Filled {
		missing = values[0]
	}
	keys := b.missingTexts()
	return b.lookup(b.text[input], append(keys, in.Categories...), append(repeat(missing, len(keys)), values[:n]...), values[n+1])
}

// terms adds the tensors of all terms.
func (b *builder) terms() {
	list := b.p.Terms
	for len(list) > 0 {
		n := 1
		switch t := list[0].(type) {
		case *portable.Number:
			n = run[*portable.Number](list)
			b.names = append(b.names, b.products(list[:n]))
		case *portable.Card:
			n = run[*portable.Card](list)
			b.cards(list[:n])
		case *portable.Level:
			b.names = append(b.names, b.levels(t.Input, t.Terms))
		case *portable.Absent:
			never := []portable.Cell{{Upto: math.MaxFloat64}}
			b.tree(b.forest.cells(b.columns[t.Input], never, func(int) float64 { return 0 }, t.Term))
		case *portable.Steps:
			b.tree(b.forest.cells(b.columns[t.Input], t.Cells(), func(place int) float64 { return t.Terms[place] }, t.Missing))
		case *portable.Trees:
			b.trees(t)
		}
		list = list[n:]
	}
	if len(b.pending) == 0 {
		return
	}
	if b.width == 0 { // only trees without tests
		b.features = []string{b.zero()}
	}
	places := b.forest.add(&b.g, b.g.columns(b.features))
	for _, later := range b.pending {
		b.names[later.at] = later.make(places)
	}
}

// zero returns a column of zeros.
func (b *builder) zero() string {
	for _, name := range b.text {
		if name != "" {
			return b.lookup(name, nil, nil, 0)
		}
	}
	return ""
}

// run returns the number of terms of one type at the start of a list.
func run[T portable.Term](list []portable.Term) int {
	for n := range list {
		if _, same := list[n].(T); !same {
			return n
		}
	}
	return len(list)
}

// products returns the terms of Number.
func (b *builder) products(list []portable.Term) string {
	g := &b.g
	columns := make([]int64, len(list))
	shift, scale, weight := make([]float64, len(list)), repeat(1, len(list)), make([]float64, len(list))
	scaled := false
	for i, t := range list {
		n := t.(*portable.Number)
		columns[i], weight[i] = b.columns[n.Input], n.Weight
		if n.Scaled {
			shift[i], scale[i], scaled = n.Shift, n.Scale, true
		}
	}
	x := b.pickNumbers(columns)
	missing := g.node("IsNaN", []string{x})
	if scaled {
		x = g.op2("Div", g.op2("Sub", x, g.row(shift)), g.row(scale))
	}
	x = g.node("Cast", []string{g.node("Cast", []string{x}, attribute("to", typeFloat))}, attribute("to", typeDouble))
	return g.where(missing, g.scalar(0), g.op2("Mul", x, g.row(weight)))
}

// pickNumbers returns columns of numbers.
func (b *builder) pickNumbers(columns []int64) string {
	return b.g.pickOf(b.numbers, len(b.p.Numbers()), columns)
}

// tree appends the term of a tree.
func (b *builder) tree(columns ...int64) {
	b.pending = append(b.pending, pending{len(b.names), func(places string) string {
		return b.g.pickOf(places, b.forest.trees, columns)
	}})
	b.names = append(b.names, "")
}

// trees appends the terms of a block of trees.
func (b *builder) trees(t *portable.Trees) {
	columns := slices.Clone(b.columns)
	for _, c := range t.Codes {
		columns[c.Input] = b.width
		b.features = append(b.features, b.levels(c.Input, c.Values))
		b.width++
	}
	places := make([]int64, len(t.Trees))
	for i := range t.Trees {
		places[i] = b.forest.tree(&t.Trees[i], columns)
	}
	if len(places) > 0 {
		b.tree(places...)
	}
}

// cards appends the two products of each scorecard column with knots. A place is a position in tables of all columns.
func (b *builder) cards(list []portable.Term) {
	var start, width, weight, next, lowest []float64
	var columns, places []int64
	for _, t := range list {
		c := t.(*portable.Card)
		first, knots := len(weight), len(c.Knots)
		for i, w := range c.Weights {
			s, d, n := 0.0, math.Inf(1), 0.0 // any finite number over an infinite one is 0
			if i < knots-1 {
				s, d, n = c.Knots[i], c.Knots[i+1]-c.Knots[i], c.Weights[i+1]
			}
			start, width, weight, next = append(start, s), append(width, d), append(weight, w), append(next, n)
		}
		start, width, weight, next = append(start, 0), append(width, math.Inf(1)), append(weight, c.Missing), append(next, 0)
		columns, lowest = append(columns, b.columns[c.Input]), append(lowest, c.Knots[0])
		places = append(places, b.forest.cells(b.columns[c.Input], c.Cells(), func(place int) float64 { return float64(first + place) },
			float64(first+len(c.Weights))))
	}
	b.pending = append(b.pending, pending{len(b.names), func(forest string) string {
		g := &b.g
		place := g.node("Cast", []string{g.pick(forest, places)}, attribute("to", typeInt64))
		table := func(values []float64) string {
			return g.node("Gather", []string{g.constant([]int64{int64(len(values))}, values), place}, attribute("axis", 0))
		}
		x := b.pickNumbers(columns)
		low := g.row(lowest)
		x = g.where(g.op2("Greater", x, low), x, low) // also instead of NaN
		f := g.op2("Div", g.op2("Sub", x, table(start)), table(width))
		const even = 402653184 // 1.5 x 2^28: adding it rounds to a multiple of 2^-24, ties to even
		f = g.op2("Sub", g.op2("Add", f, g.scalar(even)), g.scalar(even))
		axis := g.list(2)
		both := g.node("Concat", []string{
			g.op2("Unsqueeze", g.op2("Mul", g.op2("Sub", g.scalar(1), f), table(weight)), axis),
			g.op2("Unsqueeze", g.op2("Mul", f, table(next)), axis)}, attribute("axis", 2))
		return g.op2("Reshape", both, g.list(0, int64(2*len(columns))))
	}})
	b.names = append(b.names, "")
}

// outputs adds the score and the decisions.
func (b *builder) outputs() {
	g := &b.g
	score, decision := b.free("score"), b.free("decision")
	g.add("", "Add", []string{b.sum(), g.scalar(b.p.Offset)}, score, nil)
	g.outputs = append(g.outputs, valueInfo(score, typeDouble, 1))
	if len(b.p.Points) == 0 {
		return
	}
	var decisions []string
	for _, p := range b.p.Points {
		threshold := g.scalar(p.Threshold)
		if p.Segment >= 0 {
			var keys []string
			var values []float64
			for _, s := range p.Segments {
				keys, values = append(keys, s.Value), append(values, s.Threshold)
			}
			threshold = b.lookup(p.Point.Segment, keys, values, p.Threshold)
		}
		decisions = append(decisions, g.op2("Greater", score, threshold))
	}
	g.add("", "Concat", decisions, decision, []message{attribute("axis", 1)})
	g.outputs = append(g.outputs, valueInfo(decision, typeBool, len(b.p.Points)))
}

// sum returns the sum of the terms, from left to right, or NaN for a record that is refused. Adding 0 changes no sum but -0, to the 0 of
// a sum that starts with 0.
func (b *builder) sum() string {
	g, refused := &b.g, ""
	if n := len(b.refused); n > 0 {
		if refused = g.columns(b.refused); n > 1 {
			refused = g.node("ReduceSum", []string{refused, g.list(1)}, attribute("keepdims", 1))
		}
	}
	if len(b.names) == 0 {
		return refused
	}
	sums := g.node("CumSum", []string{g.columns(b.names), g.list(1)})
	last := g.node("Gather", []string{sums, g.list(-1)}, attribute("axis", 1))
	if refused == "" {
		return last
	}
	return g.op2("Add", last, refused)
}

// free returns a name that no input has.
func (b *builder) free(name string) string {
	names := b.p.Segments()
	for k := range b.p.Inputs {
		names = append(names, b.p.Inputs[k].Name)
	}
	for slices.Contains(names, name) {
		name += "_"
	}
	return name
}

// model returns the ModelProto.
func (b *builder) model() (message, error) {
	points, err := export.PointsJSON(b.p)
	if err != nil {
		return nil, err
	}
	doc := strings.Join(append(export.Lines(b.p),
		"Inputs are float64 and text. A number that was rounded to float32 before may fall on the other side of a knot or a split.",
		"NaN and the empty text are missing. The score is NaN for a value that the model refuses.",
		"The columns of decision are the operating points in this order."), "\n")
	var m, core, ml message
	m.varint(1, 9) // ir_version
	m.text(2, "toptau")
	m.text(6, doc)
	m.bytes(7, b.g.message(doc))
	core.text(1, "")
	core.varint(2, 18)
	ml.text(1, "ai.onnx.ml")
	ml.varint(2, 5)
	m.bytes(8, core)
	m.bytes(8, ml)
	for _, meta := range [][2]string{{"toptau_digest", b.p.Digest}, {"toptau_points", points}} {
		m.bytes(14, pair(meta[0], meta[1]))
	}
	return m, nil
}
