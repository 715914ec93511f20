package program_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/internal/models/program"
	"toptau/internal/tests/modeltest"
	"toptau/model"
	"toptau/schema"
)

const unknown, missing = -1, -2 // instead of a position among categories; slices.Index returns the first

// run executes a program as docs/reference/model.md specifies it. It returns NaN for a record without a score. numbers has the value of each
// column, NaN if it is missing, and levels the positions of categories.
func run(p *program.Program, numbers []float64, levels []int) float64 {
	numbers = slices.Clone(numbers)
	for k, x := range numbers {
		text := slices.ContainsFunc(p.Texts, func(t program.Text) bool { return t.Input == k })
		switch absent := text && levels[k] == missing || !text && math.IsNaN(x); {
		case absent && p.Missing == schema.ImputeError:
			return math.NaN()
		case absent && p.Missing == schema.ImputeMedian && text:
			levels[k] = 0
		case absent && p.Missing == schema.ImputeMedian && p.Fill != nil:
			numbers[k] = p.Fill[k]
		case absent && (p.Missing == schema.ImputeMedian || p.Missing == schema.ImputeZero):
			numbers[k] = 0
		}
	}
	for _, d := range p.Derived {
		numbers = append(numbers, d.Op.Value(numbers[d.A], numbers[d.B]))
	}
	z := 0.0
	for _, t := range p.Terms {
		switch {
		case t.Numbers != nil:
			z = addNumbers(z, t.Numbers, numbers)
		case t.Levels != nil:
			for i := range t.Levels {
				z += level(p, &t.Levels[i], numbers, levels)
			}
		case t.Cards != nil:
			for i := range t.Cards {
				z = addCard(z, &t.Cards[i], numbers[t.Cards[i].Input])
			}
		case t.Trees != nil:
			for _, c := range t.Trees.Codes {
				switch level := levels[c.Input]; level {
				case missing:
					numbers[c.Input] = math.NaN()
				case unknown:
					numbers[c.Input] = c.Unknown
				default:
					numbers[c.Input] = c.Values[level]
				}
			}
			for i := range t.Trees.Trees {
				z += leaf(t.Trees, &t.Trees.Trees[i], numbers)
			}
		}
	}
	if z += p.Offset; math.IsInf(z, 0) {
		return math.NaN()
	}
	return z
}

func addNumbers(z float64, t *program.Numbers, numbers []float64) float64 {
	for i, w := range t.Weights {
		k := i
		if t.Inputs != nil {
			k = t.Inputs[i]
		}
		x := numbers[k]
		if math.IsNaN(x) {
			continue
		}
		if t.Shift != nil {
			x -= t.Shift[i]
		}
		if t.Scale != nil {
			x /= t.Scale[i]
		}
		f := float64(float32(x))
		if math.IsInf(f, 0) {
			return math.NaN()
		}
		z += float64(f * w)
	}
	return z
}

// level returns what a level adds.
func level(p *program.Program, l *program.Level, numbers []float64, levels []int) float64 {
	n, place, rare := 0, unknown, false
	if i := slices.IndexFunc(p.Texts, func(t program.Text) bool { return t.Input == l.Input }); i >= 0 {
		n, place, rare = len(p.Texts[i].Categories), levels[l.Input], p.Texts[i].Rare
	} else if math.IsNaN(numbers[l.Input]) {
		place = missing
	}
	switch {
	case place == missing && l.Missing:
		place = n
	case place == unknown && rare:
		place = len(l.Weights) - 1
	case place < 0:
		return 0
	}
	x := 1.0
	if l.Scale != nil {
		x = 1 / l.Scale[place]
	}
	return float64(float64(float32(x)) * l.Weights[place])
}

func addCard(z float64, t *program.Card, x float64) float64 {
	switch {
	case !math.IsNaN(x):
	case t.Missing:
		return z + t.Weights[len(t.Weights)-1]
	default:
		return z
	}
	ends := slices.Concat(t.Knots, t.Atoms)
	x = min(max(x, slices.Min(ends)), slices.Max(ends))
	if j := slices.Index(t.Atoms, x); j >= 0 {
		return z + t.Weights[len(t.Knots)+j]
	}
	if len(t.Knots) == 0 {
		j := 0
		for j+1 < len(t.Atoms) && (t.Atoms[j+1] <= x || float64(t.Atoms[j+1]/2)-float64(x/2) < float64(x/2)-float64(t.Atoms[j]/2)) {
			j++
		}
		return z + t.Weights[j]
	}
	i, last := 0, len(t.Knots)-1
	for i < last && t.Knots[i+1] <= x {
		i++
	}
	f := 0.0
	if i < last {
		x, a, b := max(x, t.Knots[0]), t.Knots[i], t.Knots[i+1]
		if math.IsInf(b-a, 0) {
			x, a, b = x/2, a/2, b/2
		}
		f = math.RoundToEven((x-a)/(b-a)*0x1p24) * 0x1p-24
	}
	z += float64((1 - f) * t.Weights[i])
	if f > 0 {
		z += float64(f * t.Weights[i+1])
	}
	return z
}

func leaf(trees *program.Trees, t *program.Tree, numbers []float64) float64 {
	inner, leaves, skip := 0, 0, 0 // skip counts subtrees that are passed over
	for _, ask := range t.Ask {
		switch {
		case ask < 0 && skip == 0:
			return t.Weights[leaves]
		case ask < 0:
			leaves++
			skip--
		case skip > 0:
			inner++
			skip++
		default:
			x := numbers[trees.Inputs[ask]]
			if !(x <= t.At[inner] || math.IsNaN(x) && slices.Contains(t.MissingLeft, inner)) {
				skip = 1
			}
			inner++
		}
	}
	panic("a tree without a leaf")
}

// read returns the values of a record of fields, as Model.ScoreFields takes them.
func read(t *testing.T, s schema.Schema, p *program.Program, fields []string) (numbers []float64, levels []int) {
	numbers, levels = make([]float64, len(p.Columns)), make([]int, len(p.Columns))
	if s.Sparse() {
		for _, field := range fields {
			index, value, _ := strings.Cut(field, ":")
			place, _ := strconv.Atoi(index)
			if k, found := slices.BinarySearch(p.Columns, place-1); found {
				numbers[k], _ = table.ParseNumber([]byte(value))
			}
		}
		return numbers, levels
	}
	for k, place := range p.Columns {
		c := s.Columns[place]
		salt := c.Salt
		c.Part, c.Salt = schema.Whole, ""
		reader := table.NewFieldReader(&c, s.Missing, "")
		if c.Kind == schema.Numeric {
			var err error
			if numbers[k], err = reader.Number([]byte(fields[place])); err != nil {
				t.Fatal(err)
			}
			continue
		}
		i := slices.IndexFunc(p.Texts, func(t program.Text) bool { return t.Input == k })
		text := strings.Trim(fields[place], " \t")
		if category, _ := reader.Category([]byte(fields[place])); category == nil {
			levels[k] = missing
		} else if levels[k] = slices.Index(p.Texts[i].Categories, text); levels[k] == unknown && salt != "" {
			levels[k] = slices.Index(p.Texts[i].Categories, table.HashName(salt, text))
		}
	}
	return numbers, levels
}

// textOf returns a program as compact JSON.
func textOf(p *program.Program) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(p)
	return b.Bytes(), err
}

func readText(text []byte) (*program.Program, error) {
	p := &program.Program{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return p, decoder.Decode(p)
}

// compare runs the program of a model on rows, as compiled and as read from its text, and returns the numbers of scores and of refusals. Both
// must be those of the model.
func compare(t *testing.T, name string, m *model.Model, rows []modeltest.Row) (scored, refused int) {
	t.Helper()
	p, err := program.Compile(feature.MapOf(m.Features()), m.Vector(), m.Offset())
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	text, err := textOf(p)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if p, err = readText(text); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if again, _ := textOf(p); !bytes.Equal(again, text) {
		t.Errorf("%s: the text is not read as it is written", name)
	}
	s := m.Schema()
	checkFeatures(t, name, p, m)
	for _, row := range rows {
		want, err := m.ScoreFields(row.Fields)
		if err != nil {
			want = math.NaN()
			refused++
		} else {
			scored++
		}
		numbers, levels := read(t, s, p, row.Fields)
		if got := run(p, numbers, levels); math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("%s: %v, the model has %v (%v) for %q", name, got, want, err, row.Fields)
		}
	}
	return scored, refused
}

// checkFeatures compares the features and weights that a program gives with those of its model.
func checkFeatures(t *testing.T, name string, p *program.Program, m *model.Model) {
	t.Helper()
	features := feature.MapOf(m.Features())
	again, weights, err := p.Features(program.RestOf(features), m.Schema())
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	want, err := features.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := again.MarshalJSON(); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("%s: %v, features\n%s instead of\n%s", name, err, got, want)
	}
	for i, w := range m.Vector() {
		if math.Float64bits(w) != math.Float64bits(weights[i]) {
			t.Fatalf("%s: weight %d is %v instead of %v", name, i, weights[i], w)
		}
	}
}

// A program has the bits of the model for random models of every kind of block and policy, with hashes, of LIBSVM rows, and for odd values. It
// refuses the same rows.
func TestProgramsHaveTheBitsOfTheModel(t *testing.T) {
	scored, refused := 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 5))
		c := modeltest.NewWith(r, modeltest.Options{Sparse: seed%8 == 0, Salted: seed%8 == 1})
		n, not := compare(t, fmt.Sprintf("seed %d", seed), c.Model, c.Rows(r, 40))
		scored, refused = scored+n, refused+not
	}
	t.Logf("%d rows with a score, %d without", scored, refused)
	if scored < 9000 || refused < 500 {
		t.Errorf("only %d rows with a score and %d without", scored, refused)
	}
}

// Every encoding that fit and train know has a program.
func TestProgramsOfEncodings(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	data := &table.Table{Columns: []table.Column{{Name: "a", Number: 1}, {Name: "b", Number: 2}, {Name: "kind", Number: 3, Kind: schema.Categorical, Dictionary: []string{"x", "y"}}}}
	for i := range 300 {
		data.Line, data.Label = append(data.Line, i+2), append(data.Label, table.Class(i%2))
		data.Columns[0].Values = append(data.Columns[0].Values, r.NormFloat64()+float64(i%2))
		data.Columns[1].Values = append(data.Columns[1].Values, float64(r.IntN(4)))
		data.Columns[2].Codes = append(data.Columns[2].Codes, int32(r.IntN(3)-1))
	}
	for _, encoding := range feature.Encodings() {
		s := schema.Schema{Format: "csv", Header: true, Width: 3}
		for _, c := range data.Columns {
			kind := schema.Numeric
			if c.Kind == schema.Categorical {
				kind = c.Kind
			}
			s.Columns = append(s.Columns, schema.Column{Name: c.Name, Number: c.Number, Kind: kind})
		}
		features, _, err := feature.Fit(data, s, nil, feature.Options{Encode: feature.Encode(encoding), Impute: schema.ImputeIndicator})
		if err != nil {
			t.Fatalf("%s: %v", encoding, err)
		}
		parts := model.Parts{Schema: s, Features: features, Weights: make([]float64, features.Cols()), Training: model.Training{Rows: 300, Positives: 150}}
		for i := range parts.Weights {
			parts.Weights[i] = r.NormFloat64()
		}
		m, err := model.New(parts)
		if err != nil {
			t.Fatalf("%s: %v", encoding, err)
		}
		var rows []modeltest.Row
		for range 100 {
			field := func(text string) string { return []string{text, text, text, ""}[r.IntN(4)] }
			rows = append(rows, modeltest.Row{Fields: []string{field(fmt.Sprint(r.NormFloat64())), field(strconv.Itoa(r.IntN(6))), field([]string{"x", "y", "z"}[r.IntN(3)])}})
		}
		if scored, _ := compare(t, string(encoding), m, rows); scored < 100 {
			t.Errorf("%s: only %d rows have a score", encoding, scored)
		}
	}
}

// Features and weights of LIBSVM rows come back from their program, whatever is encoded, scaled and replaced.
func TestFeaturesOfIndices(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	data := &table.Table{Sparse: &table.Sparse{Cols: 12, Start: []int64{0}}}
	for i := range 300 {
		data.Line, data.Label = append(data.Line, i+1), append(data.Label, table.Class(i%2))
		for index := range uint32(11) { // 3 is constant, 11 never written
			if x := float64(r.IntN(5)) - 1 + float64(index)/4; index == 3 || r.IntN(3) > 0 && x != 0 {
				data.Sparse.Index = append(data.Sparse.Index, index)
				data.Sparse.Value = append(data.Sparse.Value, map[bool]float64{true: 7, false: x}[index == 3])
			}
		}
		data.Sparse.Start = append(data.Sparse.Start, int64(len(data.Sparse.Index)))
	}
	s := schema.Schema{Format: schema.LIBSVM, Width: 12}
	var fitted []*feature.Map
	for _, encoding := range feature.Encodings() {
		for _, o := range []feature.Options{{Scale: schema.ScaleAll, Impute: schema.ImputeMedian}, {Scale: schema.ScaleNone}, {Impute: schema.ImputeIndicator}} {
			o.Encode = feature.Encode(encoding)
			m, _, err := feature.Fit(data, s, nil, o)
			if err != nil {
				t.Fatalf("%s: %v", encoding, err)
			}
			fitted = append(fitted, m)
		}
	}
	for i := 0; i+3 < len(fitted); i += 2 { // averages over two encodings
		if union, _, err := feature.Union([]*feature.Map{fitted[i], fitted[i+3]}); err == nil {
			fitted = append(fitted, union)
		}
	}
	for i, m := range fitted {
		parts := model.Parts{Schema: s, Features: m, Weights: make([]float64, m.Cols()), Training: model.Training{Rows: 300, Positives: 150}}
		for k := range parts.Weights {
			parts.Weights[k] = r.NormFloat64()
		}
		made, err := model.New(parts)
		if err != nil {
			t.Fatal(err)
		}
		var rows []modeltest.Row
		for range 20 {
			rows = append(rows, modeltest.Row{Fields: []string{fmt.Sprintf("%d:%d", 1+r.IntN(6), r.IntN(9)), fmt.Sprintf("%d:%v", 7+r.IntN(8), r.NormFloat64())}})
		}
		compare(t, fmt.Sprintf("features %d", i), made, rows)
		var b bytes.Buffer
		if _, err := made.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := model.Read(&b, "m.json"); err != nil {
			t.Errorf("features %d: %v", i, err)
		}
	}
	t.Logf("%d features", len(fitted))
}
