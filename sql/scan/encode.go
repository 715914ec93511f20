package scan

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"toptau/diag"
	"toptau/internal/core/matrix"
	"toptau/internal/models/dialect"
	"toptau/internal/models/feature"
	"toptau/schema"
)

// encoder writes the features of a map as expressions on columns of a subquery: what the columns of the table are after the
// policies for missing values. The features of both storages have the bits of a packed matrix.
type encoder struct {
	d       *dialect.Dialect
	columns []column // those that features read
	pieces  []piece
	most    []float64 // for each feature the largest absolute value

	places    []column // of the scorecards, on the columns
	fractions []column // of the scorecards, on the columns and the places
}

// needsPlaces reports whether a statement needs the places of scorecards: their features do, and scores where lists have elements.
func (e *encoder) needsPlaces(features bool) bool {
	return len(e.places) > 0 && (features || e.d.Element != nil)
}

// column is a column of the innermost subquery.
type column struct {
	name string // in the subquery
	expr string // on the table
}

// piece is the features of one input in one block.
type piece interface {
	// score returns the sum of the features times weights; "": it is 0.
	score(d *dialect.Dialect, w []float64) string
	// values appends an expression for each feature.
	values(d *dialect.Dialect, list []string) []string
	// bounds appends the largest absolute value of each feature.
	bounds(list []float64) []float64
	width() int
}

// newEncoder returns the encoder of a map, whose inputs are columns of the table.
//
// Errors: diag.Usage names a kind of block that is not computed in a database, diag.Data a column with values that the map refuses.
func newEncoder(d *dialect.Dialect, t *layout, m *feature.Map, storage matrix.Storage) (*encoder, error) {
	e := &encoder{d: d}
	if m.Sparse {
		return nil, &diag.Error{Kind: diag.Usage, Param: "encoding", Found: "indices", Expected: "columns of a table"}
	}
	inputs := make([]input, len(m.Inputs))
	for k := range m.Inputs {
		in := &m.Inputs[k]
		c := t.feature(in.Column)
		if c == nil || c.name != in.Name || (in.Kind == schema.Categorical) != (c.role == category) {
			return nil, &diag.Error{Kind: diag.Model, Column: in.Name, Found: "no such column", Expected: "the columns of the training data"}
		}
		if c.missing > 0 && m.Impute == schema.ImputeError {
			return nil, missingError(c)
		}
		inputs[k] = input{in: in, name: fmt.Sprintf("toptau_c%d", k), least: c.least, most: c.most}
		e.columns = append(e.columns, column{inputs[k].name, inputs[k].read(d, c, m.Impute)})
	}
	for _, b := range m.Blocks {
		switch b := b.(type) {
		case *feature.NumericBlock:
			if err := e.addNumbers(b, inputs, storage); err != nil {
				return nil, err
			}
		case *feature.OneHotBlock:
			e.addLevels(b, inputs, storage)
		case *feature.ScorecardBlock:
			for i := range b.Columns {
				k := len(e.places)
				p := &cardPiece{input: &inputs[b.Columns[i].Input], card: &b.Columns[i], place: fmt.Sprintf("toptau_p%d", k), fraction: fmt.Sprintf("toptau_f%d", k)}
				e.places = append(e.places, column{p.place, p.placeOf(d)})
				e.fractions = append(e.fractions, column{p.fraction, p.fractionOf(d)})
				e.pieces = append(e.pieces, p)
			}
		default:
			return nil, &diag.Error{Kind: diag.Usage, Param: "encoding", Found: diag.Quote(b.Kind()),
				Expected: "raw or scorecard, which a database computes",
				Hint:     "other encodings are trained from files"}
		}
	}
	for _, p := range e.pieces {
		e.most = p.bounds(e.most)
	}
	return e, nil
}

// addNumbers adds the features of numbers.
func (e *encoder) addNumbers(b *feature.NumericBlock, inputs []input, storage matrix.Storage) error {
	for i, k := range b.Inputs {
		p := &numericPiece{input: &inputs[k], single: storage == matrix.Float32}
		if b.Scale != nil {
			p.scaled, p.shift, p.scale = true, b.Shift[i], b.Scale[i]
		}
		if err := p.fits(); err != nil {
			return err
		}
		e.pieces = append(e.pieces, p)
	}
	return nil
}

// addLevels adds the features of categories.
func (e *encoder) addLevels(b *feature.OneHotBlock, inputs []input, storage matrix.Storage) {
	for i := range b.Columns {
		c := &b.Columns[i]
		p := &levelPiece{input: &inputs[c.Input], missing: c.Missing}
		p.value = func(level int) float64 {
			v := 1.0
			if c.Scale != nil {
				v = 1 / c.Scale[level]
			}
			if storage == matrix.Float32 {
				v = float64(float32(v))
			}
			return v
		}
		e.pieces = append(e.pieces, p)
	}
}

// computed returns columns of the features of numbers, on the columns of the encoder. The pieces of a copy read them, so that a statement
// that sums features and their moments computes each once a row.
func (e *encoder) computed() (list []column, by *encoder) {
	pieces := slices.Clone(e.pieces)
	for k, p := range pieces {
		if p, ok := p.(*numericPiece); ok {
			list = append(list, column{fmt.Sprintf("toptau_v%d", k), p.value(e.d)})
			named := *p
			named.computed = list[len(list)-1].name
			pieces[k] = &named
		}
	}
	c := *e
	c.pieces = pieces
	return list, &c
}

// reads reports whether a feature that is not computed reads a column.
func (e *encoder) reads(k int) bool {
	return slices.ContainsFunc(e.pieces, func(p piece) bool {
		switch p := p.(type) {
		case *levelPiece:
			return p.name == e.columns[k].name
		case *cardPiece:
			return p.name == e.columns[k].name
		}
		return false
	})
}

// score returns w'x as an expression, and a bound on its rounding error for all rows.
func (e *encoder) score(w []float64) (expr string, rounding float64) {
	var terms []string
	sum, first := 0.0, 0
	for _, p := range e.pieces {
		part := w[first : first+p.width()]
		if s := p.score(e.d, part); s != "" {
			terms = append(terms, s)
		}
		for j, v := range part {
			sum += math.Abs(v) * e.most[first+j]
		}
		first += p.width()
	}
	// A product, a fraction's two products and their sum, and the additions on the way to the root.
	depth := math.Ceil(math.Log2(float64(max(1, len(terms))))) + 5
	return e.sum(terms), depth * 0x1p-53 * sum
}

// sum adds terms as a balanced tree, whose rounding error and depth grow with the logarithm of their number.
func (e *encoder) sum(terms []string) string {
	switch n := len(terms); n {
	case 0:
		return e.d.Num(0)
	case 1:
		return terms[0]
	default:
		return "(" + e.sum(terms[:n/2]) + " + " + e.sum(terms[n/2:]) + ")"
	}
}

// values returns an expression for each feature.
func (e *encoder) values() (list []string) {
	for _, p := range e.pieces {
		list = p.values(e.d, list)
	}
	return list
}

// input is a column that features read.
type input struct {
	in          *feature.Input
	name        string  // the column of the subquery
	narrow      bool    // it is a float32
	absent      string  // the condition that the value is missing; "": it never is
	least, most float64 // of a number
	smallest    float64 // a lower bound of the absolute values that are not 0
}

// read returns the column of the subquery as an expression on the table, after the policy for missing values.
func (in *input) read(d *dialect.Dialect, c *tableColumn, impute schema.Impute) string {
	if c.kind == dialect.Int || c.kind == dialect.Bool {
		in.smallest = 1
	}
	switch {
	case c.role == category:
		return in.readText(d, c, impute)
	case c.missing > 0:
		value := d.Double(c.expr(d))
		if impute == schema.ImputeIndicator {
			in.absent = in.name + " IS NULL"
			return value
		}
		fill := in.in.Fill
		in.least, in.most = min(c.least, fill), max(c.most, fill)
		if fill != 0 {
			in.smallest = min(in.smallest, math.Abs(fill))
		}
		return "coalesce(" + value + ", " + d.Num(fill) + ")"
	case c.kind == dialect.Single && d.Narrow != nil:
		in.narrow = true
		return d.Present(c.expr(d))
	}
	return d.Present(d.Cast(c.expr(d)))
}

// readText is read for a category: the empty text for a missing one.
func (in *input) readText(d *dialect.Dialect, c *tableColumn, impute schema.Impute) string {
	text := d.Present(d.String(c.expr(d)))
	if c.missing > 0 {
		text = "coalesce(" + d.String(c.expr(d)) + ", '')"
	}
	if c.padded {
		text = d.Trim(text)
	}
	in.absent = in.name + " = ''"
	if impute == schema.ImputeMedian && c.missing > 0 {
		first, _ := d.Text(in.in.Categories[0])
		return "CASE WHEN " + text + " = '' THEN " + first + " ELSE " + text + " END"
	}
	return text
}

// distance returns x - shift, and a lower bound of its absolute values that are not 0. Numbers that are closer to the shift than half of it
// have at least half its exponent, so their difference is a multiple of 2^-54 of the shift.
func (in *input) distance(d *dialect.Dialect, shift float64) (expr string, smallest float64) {
	if shift == 0 {
		return in.name, in.smallest
	}
	return "(" + in.name + " - " + d.Num(shift) + ")", math.Abs(shift) * 0x1p-54
}

// unless returns an expression that is 0 for a missing value.
func (in *input) unless(d *dialect.Dialect, expr string) string {
	if in.absent == "" {
		return expr
	}
	return "CASE WHEN " + in.absent + " THEN " + d.Num(0) + " ELSE " + expr + " END"
}

// numericPiece is one feature, (x - shift) / scale.
type numericPiece struct {
	*input
	scaled       bool
	shift, scale float64
	single       bool
	computed     string // the column of a subquery that has the feature, where it is summed
}

func (p *numericPiece) width() int { return 1 }

func (p *numericPiece) scaling() (shift, scale float64) {
	if !p.scaled {
		return 0, 1
	}
	return p.shift, p.scale
}

// fits fails for a column with values that are infinite after they are rounded to float32. Files with them are refused, too.
func (p *numericPiece) fits() error {
	shift, scale := p.scaling()
	for _, x := range []float64{p.least, p.most} {
		if math.IsInf(float64(float32((x-shift)/scale)), 0) {
			return &diag.Error{Kind: diag.Data, Column: p.in.Name, Found: strconv.FormatFloat(x, 'g', -1, 64) + " is too large to be scored",
				Expected: fmt.Sprintf("values that stay below %.0g after scaling", math.MaxFloat32)}
		}
	}
	return nil
}

func (p *numericPiece) value(d *dialect.Dialect) string {
	shift, scale := p.scaling()
	x, smallest := p.distance(d, shift)
	if p.narrow && shift == 0 {
		x = d.Cast(x) // sums of it are not those of float32
	}
	return p.unless(d, d.Scaled(x, scale, p.single, smallest))
}

func (p *numericPiece) score(d *dialect.Dialect, w []float64) string {
	if w[0] == 0 {
		return ""
	}
	if p.computed != "" {
		return p.computed + " * " + d.Num(w[0])
	}
	shift, scale := p.scaling()
	x, smallest := p.distance(d, shift)
	return p.unless(d, d.Factor(x, scale, p.single, smallest)) + " * " + d.Num(w[0])
}

func (p *numericPiece) values(d *dialect.Dialect, list []string) []string {
	if p.computed != "" {
		return append(list, p.computed)
	}
	return append(list, p.value(d))
}

func (p *numericPiece) bounds(list []float64) []float64 {
	shift, scale := p.scaling()
	most := max(math.Abs(p.least-shift), math.Abs(p.most-shift)) / scale
	return append(list, most*(1+0x1p-22)) // rounded to float32, perhaps upwards
}

// levelPiece is a feature for each category of an input, and for a missing or rare value.
type levelPiece struct {
	*input
	missing bool
	value   func(level int) float64
}

func (p *levelPiece) width() int {
	n := len(p.in.Categories)
	if p.missing {
		n++
	}
	if p.in.Rare {
		n++
	}
	return n
}

// of returns an expression with the given number at each level, and 0 for an unknown category.
func (p *levelPiece) of(d *dialect.Dialect, at func(level int) float64) string {
	var whens []string
	last := 0.0
	if p.in.Rare {
		last = at(p.width() - 1)
	}
	when := func(literal string, v float64) {
		if v != last {
			whens = append(whens, "WHEN "+literal+" THEN "+d.Num(v))
		}
	}
	for level, category := range p.in.Categories {
		if literal, ok := d.Text(category); ok {
			when(literal, at(level))
		}
	}
	if p.absent != "" {
		v := 0.0
		if p.missing {
			v = at(len(p.in.Categories))
		}
		if p.in.Kind != schema.Categorical {
			return "CASE WHEN " + p.absent + " THEN " + d.Num(v) + " ELSE " + d.Num(last) + " END"
		}
		when("''", v)
	}
	if len(whens) == 0 {
		return d.Num(last)
	}
	return "CASE " + p.name + " " + strings.Join(whens, " ") + " ELSE " + d.Num(last) + " END"
}

func (p *levelPiece) score(d *dialect.Dialect, w []float64) string {
	if !slices.ContainsFunc(w, func(v float64) bool { return v != 0 }) {
		return ""
	}
	return p.of(d, func(level int) float64 { return p.value(level) * w[level] })
}

func (p *levelPiece) values(d *dialect.Dialect, list []string) []string {
	for k := range p.width() {
		list = append(list, p.of(d, func(level int) float64 {
			if level == k {
				return p.value(level)
			}
			return 0
		}))
	}
	return list
}

func (p *levelPiece) bounds(list []float64) []float64 {
	for level := range p.width() {
		list = append(list, p.value(level))
	}
	return list
}
