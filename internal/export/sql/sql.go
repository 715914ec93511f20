// Package sql writes a model as a SELECT statement.
//
// The statement is a stack of subqueries: the columns as doubles and texts, the policies for missing values, places on scorecards,
// fractions, and then the sum, a few terms at a time, because databases limit the depth of an expression. A record without a score has
// the score NULL: a term that is NULL makes the sum NULL.
package sql

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"toptau/diag"
	"toptau/internal/export"
	"toptau/internal/portable"
	"toptau/internal/text"
)

// Options of Write.
type Options struct {
	Dialect Dialect  // "": Postgres
	Table   string   // the table, perhaps with a schema and a dot before it; "": rows
	From    string   // instead of Table: a subquery in parentheses, as SQL
	Name    string   // of a view that is created; "": a SELECT statement
	Keep    []string // columns that are passed through; nil: those that identify a row, or else all that the model reads
}

// termsPerLevel is the number of terms that a subquery adds. SQLite and DuckDB limit the depth of an expression to 1,000.
const termsPerLevel = 25

// Write writes a program.
//
// Errors (diag.Usage): an unknown dialect, or a model that is too large for the database.
func Write(w io.Writer, p *portable.Program, o Options) error {
	if o.Dialect == "" {
		o.Dialect = Postgres
	}
	rules, known := dialects[o.Dialect]
	if !known {
		return &diag.Error{Kind: diag.Usage, Param: "dialect", Found: diag.Quote(string(o.Dialect)), Expected: "one of " + strings.Join(text.Strings(Dialects()), ", ")}
	}
	if rules.quote == nil {
		rules = new(*rules)
		rules.quote = doubleQuotes
	}
	b := &builder{rules: rules, p: p, o: o, numbers: make([]string, len(p.Inputs)), texts: make([]string, len(p.Inputs))}
	if err := b.check(); err != nil {
		return err
	}
	b.read()
	b.sum()
	statement, err := b.statement()
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, statement)
	return err
}

// column is a column of a subquery: an expression on the columns of the subquery below it.
type column struct {
	name, expr string
	uses       []string
}

// builder is the state of Write. Columns have short names: they are only visible inside the statement.
type builder struct {
	*rules
	p *portable.Program
	o Options

	keep           []string   // columns that are passed through
	levels         [][]column // from the table upwards; level 0 reads the table
	numbers, texts []string   // by input: its column after the policies
	terms          []column   // terms of the sum, in order
	count          int
}

func (b *builder) fresh(prefix string) string {
	b.count++
	return fmt.Sprint(prefix, b.count)
}

// at adds a column to a level, counted from 0, and returns its name.
func (b *builder) at(level int, prefix, expr string, uses ...string) string {
	for len(b.levels) <= level {
		b.levels = append(b.levels, nil)
	}
	name := b.fresh(prefix)
	b.levels[level] = append(b.levels[level], column{name, expr, uses})
	return name
}

// Levels of the columns.
const (
	levelTable  = iota // columns of the table itself
	levelInputs        // after the policies
	levelPlaces        // places on scorecards, codes of texts, encoded numbers
	levelFirst         // differences to knots; numbers rounded to float32 except for ties
	levelSecond        // fractions; float32: the other side of a tie
	levelThird         // float32
)

func (b *builder) refuse(found, hint string) error { return export.Refuse(b.title, found, hint) }

// wayOut is the advice for a model that is too large for a database.
const wayOut = "train with the encodings raw and scorecard, or export the model to C, Go or ONNX"

// check refuses names and sizes that the database does not have.
func (b *builder) check() error {
	p := b.p
	if p.Columns == nil {
		return b.refuse("rows of LIBSVM indices, which have no columns", "export the model to C, Go or ONNX")
	}
	if len(p.Inputs) > b.columns/4 {
		return b.refuse("a model of "+text.Plural(len(p.Inputs), "column"), "export the model to C, Go or ONNX")
	}
	if b.keep = b.o.Keep; b.keep == nil {
		b.keep = p.ID
	}
	names := slices.Clone(b.keep)
	folded := map[string]string{}
	for k := range p.Inputs {
		name := p.Inputs[k].Name
		names = append(names, name)
		fold := strings.ToLower(name)
		if other, taken := folded[fold]; b.folds && taken {
			return b.refuse("columns "+export.Quote(other)+" and "+export.Quote(name)+", which differ in case alone", "rename one of them before training")
		}
		folded[fold] = name
		if b.keep == nil || b.o.Keep == nil && p.ID == nil {
			b.keep = append(b.keep, name)
		}
	}
	for _, name := range append(names, p.Segments()...) {
		if name == "" || strings.ContainsAny(name, "\x00\r") || b.never != nil && b.never.MatchString(name) {
			return b.refuse("a column with the name "+export.Quote(name), "rename it before training")
		}
	}
	if b.checks {
		for _, t := range p.Terms {
			if n, ok := t.(*portable.Number); ok && n.Weight != 0 && math.Abs(n.Weight) < 1e-250 {
				return b.refuse("a weight of "+export.Float(n.Weight)+", whose products are too small", "export the model to C, Go or ONNX")
			}
		}
	}
	return nil
}

// read adds the columns of the table and applies the policies. A term of each input is 0, or NULL if the record has no score.
func (b *builder) read() {
	p := b.p
	for k := range p.Inputs {
		in := &p.Inputs[k]
		name := b.quote(in.Name)
		if in.Text {
			raw := b.at(levelTable, "toptau_t", b.str(name))
			missing := "''"
			for _, s := range p.MissingTexts {
				if literal, fits := b.text(s); fits {
					missing += ", " + literal
				}
			}
			b.texts[k] = b.at(levelInputs, "t", fmt.Sprintf("CASE WHEN %s IN (%s) THEN NULL ELSE %s END", b.trim(raw), missing, raw), raw)
			if in.Missing == portable.Refused {
				b.term(fmt.Sprintf("CASE WHEN %s IS NOT NULL THEN %s END", b.texts[k], b.number(0)), b.texts[k])
			}
			continue
		}
		raw := b.at(levelTable, "toptau_n", b.double(name))
		missing := raw + " IS NULL"
		for _, x := range p.MissingNumbers {
			missing += fmt.Sprintf(" OR %s = %s", raw, b.number(x))
		}
		fill, refused := "NULL", "NULL"
		if in.Missing == portable.Filled {
			fill = b.number(in.Fill)
		}
		if in.Missing != portable.Refused {
			refused = b.number(0)
		}
		inside := fmt.Sprintf("%s BETWEEN %s AND %s", raw, b.number(in.Low), b.number(in.High))
		b.numbers[k] = b.at(levelInputs, "x", fmt.Sprintf("CASE WHEN %s THEN %s WHEN %s THEN %s END", missing, fill, inside, raw), raw)
		b.levels[levelInputs] = append(b.levels[levelInputs], column{b.numbers[k] + "_ok",
			fmt.Sprintf("CASE WHEN %s THEN %s WHEN %s THEN %s END", missing, refused, inside, b.number(0)), []string{raw}})
		b.term(b.numbers[k]+"_ok", b.numbers[k]+"_ok")
	}
}

// term adds a term of the sum.
func (b *builder) term(expr string, uses ...string) {
	b.terms = append(b.terms, column{expr: expr, uses: uses})
}

// sum adds the terms of the program.
func (b *builder) sum() {
	for _, t := range b.p.Terms {
		switch t := t.(type) {
		case *portable.Number:
			x := b.single32(t)
			b.term(fmt.Sprintf("CASE WHEN %s IS NULL THEN %s ELSE %s*%s END", x, b.number(0), x, b.number(t.Weight)), x)
		case *portable.Level:
			b.term(b.level(t.Input, t.Terms), b.texts[t.Input])
		case *portable.Absent:
			x := b.numbers[t.Input]
			b.term(fmt.Sprintf("CASE WHEN %s IS NULL THEN %s ELSE %s END", x, b.number(t.Term), b.number(0)), x)
		case *portable.Steps:
			x := b.numbers[t.Input]
			b.term(b.cells(x, t.Cells(), func(place int) string { return b.number(t.Terms[place]) }, b.number(t.Missing)), x)
		case *portable.Card:
			b.card(t)
		case *portable.Trees:
			b.trees(t)
		}
	}
	b.term(b.number(b.p.Offset))
}

// level returns the value of a text's level.
func (b *builder) level(input int, values []float64) string {
	in, x := &b.p.Inputs[input], b.texts[input]
	n := len(in.Categories)
	missing := values[n]
	if in.Missing == portable.Filled {
		missing = values[0]
	}
	var s strings.Builder
	absent := "NULL"
	if !math.IsNaN(missing) {
		absent = b.number(missing)
	}
	fmt.Fprintf(&s, "CASE WHEN %s IS NULL THEN %s", x, absent)
	for i, category := range in.Categories {
		if literal, fits := b.text(category); fits {
			fmt.Fprintf(&s, " WHEN %s = %s THEN %s", x, literal, b.number(values[i]))
		}
	}
	return s.String() + " ELSE " + b.number(values[n+1]) + " END"
}

// cells returns a value by the cell of a number.
func (b *builder) cells(x string, cells []portable.Cell, value func(place int) string, missing string) string {
	var s strings.Builder
	fmt.Fprintf(&s, "CASE WHEN %s IS NULL THEN %s", x, missing)
	last := len(cells) - 1
	for _, c := range cells[:last] {
		fmt.Fprintf(&s, " WHEN %s <= %s THEN %s", x, b.number(c.Upto), value(c.Place))
	}
	return s.String() + " ELSE " + value(cells[last].Place) + " END"
}

// table returns a value by a place, the last one for all other places.
func (b *builder) table(place string, values []float64) string {
	last := len(values) - 1
	if last == 0 {
		return b.number(values[0])
	}
	var s strings.Builder
	s.WriteString("CASE")
	for i, x := range values[:last] {
		fmt.Fprintf(&s, " WHEN %s = %d THEN %s", place, i, b.number(x))
	}
	return s.String() + " ELSE " + b.number(values[last]) + " END"
}

// card adds the two terms of a scorecard column.
func (b *builder) card(t *portable.Card) {
	x, inner := b.numbers[t.Input], len(t.Knots)-1
	missing := len(t.Weights)
	place := b.at(levelPlaces, "p", b.cells(x, t.Cells(), func(place int) string { return fmt.Sprint(place) }, fmt.Sprint(missing)), x)
	widths, none := make([]float64, inner), make([]float64, inner)
	for i := range widths {
		widths[i] = t.Knots[i+1] - t.Knots[i]
		none[i] = LastZero(func(y float64) bool { return y/widths[i]+even-even == 0 })
	}
	low := b.number(t.Knots[0])
	part := b.at(levelFirst, "d", fmt.Sprintf("CASE WHEN %s < %s THEN %s ELSE %s END - %s", x, low, low, x, b.table(place, t.Knots[:inner])), place, x)
	condition := fmt.Sprintf("%s < %d", place, inner)
	if b.checks {
		condition += fmt.Sprintf(" AND %s > %s", part, b.table(place, none))
	}
	fraction := b.at(levelSecond, "f", fmt.Sprintf("CASE WHEN %s THEN %s/%s + %s - %s ELSE %s END", condition, part, b.table(place, widths),
		b.number(even), b.number(even), b.number(0)), place, part)
	b.term(fmt.Sprintf("(%s - %s)*%s", b.number(1), fraction, b.table(place, append(slices.Clone(t.Weights), t.Missing))), fraction, place)
	b.term(fmt.Sprintf("%s*%s", fraction, b.table(place, append(slices.Clone(t.Weights[1:inner+1]), 0))), fraction, place)
}

// even is 1.5 x 2^28: adding it rounds a fraction to a multiple of 2^-24, ties to even.
const even = 402653184.0

// LastZero returns the largest number that is not negative and for which zero is true.
func LastZero(zero func(float64) bool) float64 {
	low, high := uint64(0), math.Float64bits(math.MaxFloat64)
	for high-low > 1 {
		if middle := low + (high-low)/2; zero(math.Float64frombits(middle)) {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Float64frombits(low)
}

// single32 adds columns for the encoded number of a term, rounded to float32, and returns the last one.
func (b *builder) single32(t *portable.Number) string {
	x := b.numbers[t.Input]
	difference, v := x, x
	if t.Scaled {
		difference = fmt.Sprintf("(%s - %s)", x, b.number(t.Shift))
		v = fmt.Sprintf("%s/%s", difference, b.number(t.Scale))
	}
	if b.single != nil {
		rounded := b.single(v)
		if b.checks {
			none := LastZero(func(y float64) bool {
				if t.Scaled {
					y /= t.Scale
				}
				return float32(y) == 0
			})
			rounded = fmt.Sprintf("CASE WHEN abs(%s) <= %s THEN %s ELSE %s END", difference, b.number(none), b.number(0), rounded)
		}
		return b.at(levelPlaces, "v", rounded, x)
	}
	v = b.at(levelPlaces, "v", v, x)
	h := b.at(levelFirst, "h", fmt.Sprintf("CASE WHEN abs(%s) < %s THEN %s + %s - %s ELSE %s END", v, b.number(0x1p-126), v, b.number(0x1.8p-97),
		b.number(0x1.8p-97), b.split(v, 29)), v)
	e := b.at(levelSecond, "e", fmt.Sprintf("%s + (%s - %s) + (%s - %s)", h, v, h, v, h), v, h)
	return b.at(levelThird, "r", fmt.Sprintf("CASE WHEN abs(%s) >= %s AND %s <> %s AND %s = %s AND %s <> %s THEN %s ELSE %s END",
		v, b.number(0x1p-126), e, h, e, b.split(e, 29), h, b.split(h, 30), e, h), v, h, e)
}

// split rounds a column to 53 - bits bits (Veltkamp 1968): c x - (c x - x) with c = 2^bits + 1 is one of the nearest two numbers, of
// a tie any of both. single32 corrects ties: h is odd if it changes when it is rounded to one bit less, and e = h + 2 (v - h) is the
// other side of a tie if it does not change when it is rounded. Below 2^-126 float32 has a fixed grid, to which adding 1.5 x 2^-97
// rounds.
func (b *builder) split(x string, bits int) string {
	c := b.number(float64(int64(1)<<bits + 1))
	return fmt.Sprintf("(%s*%s - (%s*%s - %s))", x, c, x, c, x)
}

// trees adds a term for each tree.
func (b *builder) trees(t *portable.Trees) {
	values := slices.Clone(b.numbers)
	for _, c := range t.Codes {
		values[c.Input] = b.at(levelPlaces, "c", b.level(c.Input, c.Values), b.texts[c.Input])
	}
	for i := range t.Trees {
		var s strings.Builder
		used := map[string]bool{}
		b.tree(&s, &t.Trees[i], 0, 0, values, used)
		b.term(s.String(), slices.Sorted(maps.Keys(used))...)
	}
}

// tree writes the nodes from i on, nested down to the deepest level of the database, and flat below.
func (b *builder) tree(s *strings.Builder, t *portable.Tree, i, depth int, values []string, used map[string]bool) {
	n := &t.Nodes[i]
	switch {
	case n.Input < 0:
		s.WriteString(b.number(n.Term))
	case depth < b.nest:
		s.WriteString("CASE WHEN " + b.left(n, values, used) + " THEN ")
		b.tree(s, t, i+1, depth+1, values, used)
		s.WriteString(" ELSE ")
		b.tree(s, t, n.Right, depth+1, values, used)
		s.WriteString(" END")
	default:
		b.flat(s, t, i, values, used)
	}
}

// flat writes the leaves below a node in preorder, each with the left turns of its path alone. The leaf of a row is the first
// whose left turns the row all takes: where it turns right, it takes no left turn of the leaves before.
func (b *builder) flat(s *strings.Builder, t *portable.Tree, root int, values []string, used map[string]bool) {
	s.WriteString("CASE")
	var walk func(i int, turns []string)
	walk = func(i int, turns []string) {
		n := &t.Nodes[i]
		if n.Input >= 0 {
			walk(i+1, append(slices.Clip(turns), b.left(n, values, used)))
			walk(n.Right, turns)
			return
		}
		if len(turns) == 0 {
			s.WriteString(" ELSE " + b.number(n.Term) + " END") // the last leaf
			return
		}
		s.WriteString(" WHEN " + strings.Join(turns, " AND ") + " THEN " + b.number(n.Term))
	}
	walk(root, nil)
}

// left returns the condition under which a row goes left.
func (b *builder) left(n *portable.Node, values []string, used map[string]bool) string {
	x := values[n.Input]
	used[x] = true
	if n.MissingLeft {
		return fmt.Sprintf("(%s <= %s OR %s IS NULL)", x, b.number(n.At), x)
	}
	return fmt.Sprintf("%s <= %s", x, b.number(n.At))
}
