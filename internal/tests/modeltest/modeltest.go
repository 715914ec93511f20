// Package modeltest makes random models of every kind of block and policy, and rows with odd values for them. Tests of exports,
// of the server and of readers in other languages compare scores on them. It is for tests only.
package modeltest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"toptau/calibrate"
	"toptau/diag"
	"toptau/internal/core/heldout"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/internal/models/feature/trees"
	"toptau/method"
	"toptau/metric"
	"toptau/model"
	"toptau/schema"
	"toptau/threshold"
)

// Case is a random model.
type Case struct {
	Model   *model.Model
	numbers map[string][]float64 // by column: values at which its encoding changes
}

// Row is a record in two forms.
type Row struct {
	Fields  []string          // for Model.ScoreFields: with derived values; LIBSVM: "index:value"
	Record  map[string]string // for Model.Score, by column of the file, and the column of segments; LIBSVM: by index
	Segment string            // the value of the column of segments, "" without one
}

// Options restrict a random model. The zero value allows everything except Sparse and Salted.
type Options struct {
	Blocks []string      // kinds of its blocks in their order; nil: random. See Kinds
	Impute schema.Impute // ""; random
	Sparse bool          // indices of LIBSVM instead of columns
	Salted bool          // hashes instead of categories
	Plain  bool          // names and categories are plain words, no column is derived
	Wild   bool          // names and categories are random texts of characters that have a meaning somewhere
}

// Kinds are the kinds of blocks in Options.Blocks. Boosted is a leaves block whose trees also test categories and send some
// missing values left.
var Kinds = []string{"numeric", "onehot", "scorecard", "leaves", "boosted"}

// New returns a random model: one in eight of LIBSVM, the others of columns.
func New(r *rand.Rand) *Case { return NewWith(r, Options{Sparse: r.IntN(8) == 0}) }

// NewWith returns a random model with options. It panics if they contradict each other.
func NewWith(r *rand.Rand, o Options) *Case {
	for {
		if c := try(r, o); c != nil {
			return c
		}
	}
}

// try returns nil if the model refuses one of its probe rows, because a number is too large.
func try(r *rand.Rand, o Options) *Case {
	b := &builder{r: r, o: o, c: &Case{numbers: map[string][]float64{}}}
	if o.Sparse {
		b.indices()
	} else {
		b.columns()
	}
	b.derived()
	b.blocks()
	b.parts.Features = &b.m
	if err := b.m.Prepare(); err != nil {
		panic(err)
	}
	b.weights()
	b.points()
	b.parts.Training = model.Training{Rows: 100, Positives: 10, Digest: "sha256:" + strings.Repeat("0a", 32), Seed: 1}
	var err error
	b.c.Model, err = model.New(b.parts)
	if e := diag.Of(err); e != nil && e.Kind == diag.Data {
		return nil
	}
	if err != nil {
		panic(err)
	}
	if o.Salted {
		if b.c.Model, err = b.c.Model.Redacted(); err != nil {
			panic(err)
		}
	}
	return b.c
}

// builder is the state of NewWith.
type builder struct {
	r     *rand.Rand
	o     Options
	c     *Case
	m     feature.Map
	parts model.Parts
}

func (b *builder) chance(p float64) bool { return b.r.Float64() < p }

// oddNames are names that a careless export would break. None has U+0000, which no database allows in a name.
var oddNames = []string{`quo"te`, `it's`, `back\slash`, "new\nline", "-- drop", "/* c */", `ünïcødé`, "日本", "a;b", "tab\tname", "??/", `%s`,
	"select", "$$", "`tick`", "[x]", "{y}", "score", "a b"}

// oddCategories are categories of that kind.
var oddCategories = []string{`'`, `"`, `\`, `\'`, `''`, "line\nbreak", "nul\x00byte", "\x00", "--", "*/", "😀", "e\u0301", "é", "-1.5", "0", "NULL", "nan",
	" padded ", "tab\t.", "??/", `%d`, "\r\n", "$1", "{}", "\u2028", "x'", "\x7f", "\\0", "\\n", "A", "a"}

// wild are characters that have a meaning in some language or format. Names have neither the first nor the second, and those that
// terminals obey, which some databases refuse, are rare in names.
var wild = []string{"\x00", "\r", "\u2028", "\x7f", "\x1b", "\x01", "\u009b", "\u202e", "\u2066", "'", `"`, "`", `\`, "\n", "\t", "-", "--", "/*", "*/", "//", ";", "%", "$", "$$", "?", "#", "@", ":", "{", "}", "[", "]", "(", ")",
	"<", ">", "&", "|", "=", ",", ".", "x", "0", "A", "é", "e\u0301", "日", "😀", "\ufeff", `\n`, `\0`, `\x41`, "U&", "E'", "NULL", " "}

// wildText returns up to eight of them.
func (b *builder) wildText(first int) string {
	var s strings.Builder
	for range 1 + b.r.IntN(8) {
		s.WriteString(wild[first+b.r.IntN(len(wild)-first)])
	}
	return s.String()
}

func (b *builder) name(used map[string]bool) string {
	for {
		name := "c" + strconv.Itoa(b.r.IntN(1000))
		if b.o.Wild {
			first := 9
			if b.chance(0.05) {
				first = 2
			}
			name = b.wildText(first)
		} else if !b.o.Plain && b.chance(0.3) {
			name = oddNames[b.r.IntN(len(oddNames))]
		}
		if fold := strings.ToLower(name); !used[fold] { // some databases do not distinguish case
			used[fold] = true
			return name
		}
	}
}

var imputes = []schema.Impute{schema.ImputeError, schema.ImputeMedian, schema.ImputeZero, schema.ImputeIndicator}

// columns makes the schema and the inputs of a table.
func (b *builder) columns() {
	s := &b.parts.Schema
	s.Format, s.Header = "csv", true
	b.m.Scale, b.m.Impute = schema.ScaleStandard, b.o.Impute
	if b.m.Impute == "" {
		b.m.Impute = imputes[b.r.IntN(len(imputes))]
	}
	b.m.Inputs, b.m.Dropped = []feature.Input{}, []feature.Dropped{}
	if b.chance(0.4) {
		s.Missing = []string{"-999", " NA ", "?"}[:1+b.r.IntN(3)]
	}
	used := map[string]bool{}
	texts := b.r.IntN(3)
	if slices.Contains(b.o.Blocks, "boosted") {
		texts++
	}
	for n := 1 + b.r.IntN(4) + texts; n > 0; n-- {
		s.Width++
		column := schema.Column{Name: b.name(used), Number: s.Width, Kind: schema.Numeric}
		if texts > 0 && n <= texts {
			column.Kind = schema.Categorical
		}
		if !b.o.Plain && b.chance(0.1) {
			b.partsOf(column)
			continue
		}
		b.column(column, nil)
	}
	if b.chance(0.3) {
		s.Width++
		s.Others = append(s.Others, schema.Name{Name: b.name(used), Number: s.Width})
		s.ID = []string{s.Others[0].Name}
	}
	if b.chance(0.5) {
		s.Width++
		s.Others = append(s.Others, schema.Name{Name: b.name(used), Number: s.Width})
	}
}

// partsOf appends the parts of a column of times or addresses.
func (b *builder) partsOf(c schema.Column) {
	parts := []schema.Part{schema.Hour, schema.Weekday, schema.Day, schema.Seconds}
	if c.Kind == schema.Categorical {
		parts = []schema.Part{schema.Net8, schema.Net16, schema.Net24, schema.Range}
	}
	for _, part := range parts {
		derived := schema.Column{Name: c.Name + " " + string(part), Number: c.Number, Kind: part.Kind(), Part: part, Source: c.Name}
		if part == schema.Seconds {
			derived.Origin = float64(b.r.IntN(2)) * 1.7e9
		}
		var categories []string
		for i := 0; derived.Kind == schema.Categorical && i < 3; i++ {
			if text, err := table.DeriveText(&derived, b.source(part), noText); err == nil && !slices.Contains(categories, text) {
				categories = append(categories, text)
			}
		}
		b.column(derived, categories)
	}
}

func noText(string) bool { return false }

// source returns a text that a part is derived from.
func (b *builder) source(part schema.Part) string {
	r := b.r
	switch part {
	case schema.Hour, schema.Weekday, schema.Day, schema.Seconds:
		if r.IntN(3) == 0 {
			return strconv.FormatInt(1.6e9+r.Int64N(1e8), 10)
		}
		return fmt.Sprintf("%04d-%02d-%02d %02d:%02d:%02d%s", 1990+r.IntN(50), 1+r.IntN(12), 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60),
			[]string{"", "Z", "+05:30", "-08:00", ".25"}[r.IntN(5)])
	}
	if r.IntN(4) == 0 {
		return fmt.Sprintf("2001:db8:%x::%x", r.IntN(4), r.IntN(9))
	}
	return fmt.Sprintf("%d.%d.%d.%d", []int{10, 127, 192, 224, 8}[r.IntN(5)], r.IntN(3), r.IntN(3), r.IntN(256))
}

// column appends a column and, mostly, its input. nil categories are random.
func (b *builder) column(c schema.Column, categories []string) {
	s := &b.parts.Schema
	s.Columns = append(s.Columns, c)
	if len(b.m.Inputs) > 0 && b.chance(0.1) {
		b.m.Dropped = append(b.m.Dropped, feature.Dropped{Column: len(s.Columns) - 1, Name: c.Name, Reason: "constant"})
		return
	}
	in := feature.Input{Column: len(s.Columns) - 1, Name: c.Name, Kind: c.Kind}
	if c.Kind == schema.Numeric {
		if b.m.Impute == schema.ImputeMedian {
			in.Fill = b.number()
		}
		b.m.Inputs = append(b.m.Inputs, in)
		return
	}
	in.Categories, in.Rare = categories, b.chance(0.4)
	for n := 1 + b.r.IntN(6); categories == nil && n > 0 || len(in.Categories) == 0; n-- {
		category := "v" + strconv.Itoa(b.r.IntN(20))
		if !b.o.Plain && b.chance(0.6) {
			category = oddCategories[b.r.IntN(len(oddCategories))]
		}
		if b.o.Wild {
			category = b.wildText(0)
		}
		category = strings.Trim(category, " \t")
		if !slices.Contains(in.Categories, category) && !isMissing(category, b.parts.Schema.Missing) {
			in.Categories = append(in.Categories, category)
		}
	}
	b.m.Inputs = append(b.m.Inputs, in)
}

// indices makes the schema and the inputs of LIBSVM rows.
func (b *builder) indices() {
	b.parts.Schema = schema.Schema{Format: schema.LIBSVM, Width: 40}
	b.m.Scale, b.m.Impute, b.m.Sparse = schema.ScaleStandard, schema.ImputeError, true
	b.m.Inputs, b.m.Dropped = []feature.Input{}, []feature.Dropped{}
	for place := range 40 {
		if b.chance(0.15) || place == 39 {
			b.m.Inputs = append(b.m.Inputs, feature.Input{Column: place, Name: fmt.Sprintf("index %d", place+1), Kind: schema.Numeric})
		}
	}
}

// number returns a number of any size, often a small or a round one.
func (b *builder) number() float64 {
	switch b.r.IntN(12) {
	case 0:
		return math.Ldexp(b.r.Float64()-0.5, b.r.IntN(80)-40)
	case 1:
		return float64(b.r.IntN(1<<25)) * 0.5 // ties of float32
	case 2, 3, 4:
		return float64(b.r.IntN(9) - 4)
	case 5:
		return math.Ldexp(b.r.Float64(), -1040+b.r.IntN(40)) // subnormal
	case 6:
		return 16777217 + float64(2*b.r.IntN(9)) // halfway between two of float32
	}
	return math.Round(b.r.NormFloat64()*1000) / 100
}

func (b *builder) some(n int) []float64 {
	var list []float64
	for range n {
		list = append(list, b.number()+0)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// blocks makes the blocks of the map.
func (b *builder) blocks() {
	kinds := b.o.Blocks
	for len(kinds) == 0 {
		for _, kind := range []string{"sparse", "numeric", "scorecard", "leaves", "boosted", "onehot"} {
			usable := b.o.Sparse == (kind == "sparse") || kind == "scorecard" || kind == "leaves"
			if usable && b.chance(0.5) {
				kinds = append(kinds, kind)
			}
		}
	}
	for _, kind := range kinds {
		if block := b.block(kind); block != nil {
			b.m.Blocks = append(b.m.Blocks, block)
		}
	}
	if len(b.m.Blocks) == 0 { // only categories and blocks of numbers, or the reverse
		kind := "onehot"
		if b.inputs(schema.Categorical) == nil {
			kind = "numeric"
		}
		b.m.Blocks = append(b.m.Blocks, b.block(kind))
	}
}

// derived makes the derived columns of the map. Only trees read them.
func (b *builder) derived() {
	numeric := b.inputs(schema.Numeric)
	if len(numeric) < 2 || b.chance(0.3) {
		return
	}
	for range 1 + b.r.IntN(4) {
		first := b.r.IntN(len(numeric))
		second := (first + 1 + b.r.IntN(len(numeric)-1)) % len(numeric)
		op := []feature.Op{feature.Difference, feature.Product, feature.Ratio}[b.r.IntN(3)]
		b.m.Derived = append(b.m.Derived, feature.Derived{Op: op, A: numeric[first], B: numeric[second]})
	}
	for _, k := range numeric {
		b.note(k, 0, feature.MinPart, -feature.MaxPart)
	}
}

// threshold returns a threshold of an input, or of a derived column, which some values hit.
func (b *builder) threshold(input int) float64 {
	at := b.number()
	if input < len(b.m.Inputs) {
		b.note(input, at, math.Nextafter(at, math.Inf(1)))
		return at
	}
	d := b.m.Derived[input-len(b.m.Inputs)]
	x, y := b.number(), b.number()
	b.note(d.A, x)
	b.note(d.B, y)
	if v := d.Op.Value(x, y); !math.IsNaN(v) {
		return v
	}
	return at
}

func (b *builder) inputs(kind schema.Kind) (list []int) {
	for k, in := range b.m.Inputs {
		if in.Kind == kind {
			list = append(list, k)
		}
	}
	return list
}

func (b *builder) block(kind string) feature.Block {
	numeric := b.inputs(schema.Numeric)
	switch kind {
	case "sparse":
		block := &feature.SparseBlock{}
		scaled := b.chance(0.5)
		for index := uint32(1); index <= 40; index++ {
			if b.chance(0.3) || index == 40 {
				block.Index = append(block.Index, index)
				if scaled {
					block.Scale = append(block.Scale, math.Abs(b.number())+1e-3)
				}
			}
		}
		return block
	case "numeric":
		return b.numeric(numeric)
	case "onehot":
		return b.onehot()
	case "scorecard":
		return b.scorecard(numeric)
	}
	inputs := numeric
	if kind == "boosted" {
		inputs = append(slices.Clone(numeric), b.inputs(schema.Categorical)...)
		slices.Sort(inputs)
	}
	for i := range b.m.Derived {
		inputs = append(inputs, len(b.m.Inputs)+i)
	}
	return b.leaves(inputs, kind == "boosted")
}

// input returns an input; a derived column is a numeric one.
func (b *builder) input(k int) feature.Input {
	if k < len(b.m.Inputs) {
		return b.m.Inputs[k]
	}
	return feature.Input{Kind: schema.Numeric}
}

func (b *builder) note(input int, x ...float64) {
	name := b.m.Inputs[input].Name
	b.c.numbers[name] = append(b.c.numbers[name], x...)
}

func (b *builder) numeric(inputs []int) feature.Block {
	if len(inputs) == 0 {
		return nil
	}
	block := &feature.NumericBlock{Inputs: inputs}
	if b.chance(0.7) {
		for _, k := range inputs {
			shift, scale := b.number(), math.Abs(b.number())+1e-3
			if b.chance(0.05) {
				scale = 1e-30
			}
			block.Shift, block.Scale = append(block.Shift, shift), append(block.Scale, scale)
			b.note(k, shift, shift+scale, shift+float64(scale*math.MaxFloat32), shift+float64(scale*1e-39))
		}
	} else {
		for _, k := range inputs {
			b.note(k, 16777217, 16777219, -16777217, 33554434, math.MaxFloat32, 3.4028235677973366e38, 1e-39, 7e-46)
		}
	}
	return block
}

func (b *builder) onehot() feature.Block {
	block := &feature.OneHotBlock{}
	for k, in := range b.m.Inputs {
		missing := b.m.Impute == schema.ImputeIndicator && b.chance(0.6)
		if in.Kind == schema.Numeric && !missing {
			continue
		}
		c := feature.OneHot{Input: k, Missing: missing}
		if b.chance(0.6) {
			n := len(in.Categories)
			if missing {
				n++
			}
			if in.Rare {
				n++
			}
			for range n {
				c.Scale = append(c.Scale, 0.01+b.r.Float64())
			}
		}
		block.Columns = append(block.Columns, c)
	}
	if len(block.Columns) == 0 {
		return nil
	}
	return block
}

func (b *builder) scorecard(inputs []int) feature.Block {
	block := &feature.ScorecardBlock{}
	for _, knotted := range []bool{true, false} { // columns with knots come first
		for i, k := range inputs {
			if (i%3 != 2) != knotted {
				continue
			}
			c := feature.Card{Input: k, Missing: b.m.Impute == schema.ImputeIndicator && b.chance(0.5)}
			if knotted {
				for len(c.Knots) < 2 {
					c.Knots = b.some(2 + b.r.IntN(15))
				}
				c.Atoms = b.some(b.r.IntN(4))
			} else {
				c.Atoms = b.some(1 + b.r.IntN(6))
			}
			b.note(k, c.Knots...)
			b.note(k, c.Atoms...)
			for i := 1; i < len(c.Knots); i++ {
				b.note(k, c.Knots[i-1]/2+c.Knots[i]/2)
			}
			for i := 1; i < len(c.Atoms); i++ {
				middle := c.Atoms[i-1]/2 + c.Atoms[i]/2
				b.note(k, middle, math.Nextafter(middle, math.Inf(1)), math.Nextafter(middle, math.Inf(-1)))
			}
			block.Columns = append(block.Columns, c)
		}
	}
	if len(block.Columns) == 0 {
		return nil
	}
	return block
}

func (b *builder) leaves(inputs []int, boosted bool) feature.Block {
	if len(inputs) == 0 {
		return nil
	}
	block := &feature.LeavesBlock{Inputs: inputs}
	for _, k := range inputs {
		if in := b.input(k); in.Kind == schema.Categorical {
			c := feature.CategoryCodes{Input: k, Unknown: 0.125}
			for range in.Categories {
				c.Values = append(c.Values, math.Round(b.r.Float64()*100)/100)
			}
			block.Codes = append(block.Codes, c)
		}
	}
	for range 1 + b.r.IntN(12) { // eight are followed together
		var t trees.Tree
		inner := 0
		var grow func(depth int)
		grow = func(depth int) {
			if depth == 0 || b.chance(0.25) {
				t.Ask, t.Mass = append(t.Ask, -1), append(t.Mass, float64(1+b.r.IntN(9)))
				return
			}
			ask := b.r.IntN(len(inputs))
			var at float64
			if b.input(inputs[ask]).Kind == schema.Categorical {
				at = math.Round(b.r.Float64()*100) / 100
			} else {
				at = b.threshold(inputs[ask])
			}
			t.Ask, t.At = append(t.Ask, ask), append(t.At, at)
			if boosted && b.chance(0.4) {
				t.MissingLeft = append(t.MissingLeft, inner)
			}
			inner++
			grow(depth - 1)
			grow(depth - 1)
		}
		grow(b.r.IntN(6))
		if t.At == nil {
			t.At = []float64{}
		}
		block.Trees = append(block.Trees, t)
	}
	return block
}

// weights makes weights of all sizes; some are 0.
func (b *builder) weights() {
	b.parts.Weights = make([]float64, b.parts.Features.Cols())
	for i := range b.parts.Weights {
		switch b.r.IntN(10) {
		case 0:
		case 1:
			b.parts.Weights[i] = math.Ldexp(b.r.NormFloat64(), b.r.IntN(40)-20)
		default:
			b.parts.Weights[i] = b.r.NormFloat64()
		}
	}
	b.parts.Offset = b.r.NormFloat64()
}

// points makes operating points of every kind of goal, with guarantees, segments and entities.
func (b *builder) points() {
	g := &calibrate.Guarantee{Certified: true, Kind: metric.GoalMaxFPR, Rate: threshold.MustRate("1%"), Delta: threshold.MustRate("5%"), Negatives: 300,
		Order: 300, Bound: 0.049040894071285854}
	list := []model.Point{
		{Name: "goal", Threshold: b.r.NormFloat64(), Goal: metric.RateGoal(metric.GoalMaxFPR, "1%"), Source: "calibration negatives", Guarantee: g},
		{Name: "top", Threshold: b.r.NormFloat64(), Goal: metric.RateGoal(metric.GoalTop, "1/3"), Source: "quantile of the training scores"},
		{Name: "tr\"ain'ing", Threshold: b.r.NormFloat64(), Source: "the training problem"},
	}
	if s := b.parts.Schema; len(s.Others) > 0 && b.chance(0.6) {
		p := model.Point{Name: "by segment", Threshold: b.r.NormFloat64(), Goal: metric.Goal{Kind: metric.GoalAlerts, Count: 50, Of: 2000000}, Source: "training rows",
			Segment: s.Others[len(s.Others)-1].Name}
		for _, value := range []string{"a", `it's "b"`, "é"} {
			p.Segments = append(p.Segments, model.Segment{Value: value, Threshold: b.r.NormFloat64()})
		}
		list = append(list, p)
	}
	b.r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	b.parts.Points = list[:1+b.r.IntN(len(list))]
	if b.chance(0.2) && b.parts.Points[0].Segment == "" {
		b.parts.Points[0].Entity = "host"
	}
	if b.chance(0.3) {
		b.parts.Probability = &calibrate.Probability{Method: calibrate.Isotonic, Knots: []calibrate.Knot{{Score: -1, Probability: 0.01},
			{Score: 2.5, Probability: 0.75}}, Scale: 0.5, Prevalence: 0.25, Rows: 40, Positives: 10, Source: "held-out rows",
			Reliability: []calibrate.Reliability{{Rows: 40, Positives: 10, Predicted: 0.26, Observed: 0.25, Low: 0.125, High: 0.5}}}
	}
}

// Rows returns n random rows. Values are often those at which the encoding changes, missing, huge or not known. Model.Score
// may refuse a row because of a missing value or a number that is too large, and for no other reason.
func (c *Case) Rows(r *rand.Rand, n int) []Row {
	b := &builder{r: r, c: c}
	s := c.Model.Schema()
	rows := make([]Row, n)
	for i := range rows {
		if s.Sparse() {
			rows[i] = b.sparseRow()
			continue
		}
		row := Row{Record: map[string]string{}}
		gaps := []float64{0, 0.05, 0.4}[r.IntN(3)]
		for j := range s.Columns {
			column := &s.Columns[j]
			text, known := row.Record[column.FileColumn()]
			if !known {
				text = b.field(column, s.Missing, gaps)
				row.Record[column.FileColumn()] = text
			}
			if column.Salt == "" || column.Part != schema.Whole {
				derived, err := table.DeriveText(column, text, func(text string) bool { return isMissing(text, s.Missing) })
				if err != nil {
					panic(err)
				}
				text = derived
			}
			row.Fields = append(row.Fields, text)
		}
		for _, p := range c.Model.Points() {
			if p.Segment != "" {
				row.Segment = []string{"a", " a\t", `it's "b"`, "é", "other", "A"}[r.IntN(6)]
				row.Record[p.Segment] = row.Segment
			}
		}
		rows[i] = row
	}
	return rows
}

// isMissing reports whether a field is a missing value.
func isMissing(field string, spellings []string) bool {
	field = strings.Trim(field, " \t")
	return field == "" || slices.ContainsFunc(spellings, func(s string) bool { return strings.Trim(s, " \t") == field })
}

// field returns a random value of a column of the file.
func (b *builder) field(c *schema.Column, missing []string, gaps float64) string {
	if b.chance(gaps) {
		return append([]string{""}, missing...)[b.r.IntN(1+len(missing))]
	}
	switch {
	case c.Part != schema.Whole:
		return b.source(c.Part)
	case c.Kind == schema.Numeric && b.chance(0.05):
		return []string{"true", "F", " False\t", "T", "1 "}[b.r.IntN(5)]
	case c.Kind == schema.Numeric:
		return strconv.FormatFloat(b.value(b.c.numbers[c.Name]), 'g', -1, 64)
	case b.chance(0.15):
		return []string{"unseen", "v99", "A", "a", "é", "\\", "'"}[b.r.IntN(7)]
	case c.Salt == "" && len(c.Dictionary) > 0:
		blanks := []string{"", "", " ", "\t "}
		return blanks[b.r.IntN(4)] + c.Dictionary[b.r.IntN(len(c.Dictionary))] + blanks[b.r.IntN(4)]
	}
	return oddCategories[b.r.IntN(len(oddCategories))]
}

// value returns a number, often one of the given or its neighbour.
func (b *builder) value(special []float64) float64 {
	if len(special) > 0 && b.chance(0.6) {
		x := special[b.r.IntN(len(special))]
		switch b.r.IntN(5) {
		case 0:
			x = math.Nextafter(x, math.Inf(1))
		case 1:
			x = math.Nextafter(x, math.Inf(-1))
		}
		if !math.IsInf(x, 0) {
			return x
		}
	}
	switch b.r.IntN(40) {
	case 0:
		return []float64{math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, math.Copysign(0, -1), 1e300, -1e39}[b.r.IntN(6)]
	case 1:
		return 0
	}
	return b.number()
}

func (b *builder) sparseRow() Row {
	row := Row{Record: map[string]string{}}
	for index := range 45 {
		if b.chance(0.2) {
			name := strconv.Itoa(index + 1)
			text := strconv.FormatFloat(b.value(b.c.numbers["index "+name]), 'g', -1, 64)
			row.Record[name] = text
			row.Fields = append(row.Fields, name+":"+text)
		}
	}
	return row
}

// IfLong returns the size of a test: the second one where TOPTAU_LONG is set, as in make nightly.
func IfLong(short, long int) int {
	if os.Getenv("TOPTAU_LONG") != "" {
		return long
	}
	return short
}

// Uniform returns a number in [0, 1).
func Uniform(r *rand.Rand) float64 { return float64(r.Uint64()>>11) / (1 << 53) }

// ThresholdOfScores returns the threshold for a false positive rate from scores of negatives; delta "": without a guarantee.
func ThresholdOfScores(t testing.TB, negatives []float64, alpha, delta string) *heldout.Threshold {
	t.Helper()
	s, err := heldout.Sort(negatives, nil, method.Negatives)
	if err != nil {
		t.Fatal(err)
	}
	var d threshold.Rate
	if delta != "" {
		d = threshold.MustRate(delta)
	}
	at, err := heldout.For(metric.RateGoal(metric.GoalMaxFPR, alpha), d, s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}
