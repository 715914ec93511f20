// Package sql writes a model as a SELECT statement.
//
// The statement is a stack of subqueries: the columns as doubles and texts, the policies for missing values, places on scorecards,
// fractions, and then the sum, a few terms at a time, because databases limit the depth of an expression. A record without a score has
// the score NULL: a term that is NULL makes the sum NULL.
package sql

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"toptau/internal/core/text"
	"toptau/internal/models/dialect"
	"toptau/internal/models/export"
	"toptau/internal/models/feature"
	"toptau/internal/models/portable"
)

// Options of Write.
type Options struct {
	Dialect string   // the name of the database; "": postgres
	Table   string   // the table, perhaps with a schema and a dot before it; "": rows
	From    string   // instead of Table: a subquery in parentheses, as SQL
	Name    string   // of a view that is created; "": a SELECT statement
	Keep    []string // columns that are passed through; nil: those that identify a row, or else all that the model reads
	// Booleans lists the columns of true and false, which are 1 and 0 where the model reads numbers. Databases refuse to convert them.
	Booleans []string
}

// termsPerLevel is the number of terms that a subquery adds. SQLite and DuckDB limit the depth of an expression to 1,000.
const termsPerLevel = 25

// Write writes a program.
//
// Errors (diag.Usage): an unknown dialect, or a model that is too large for the database.
func Write(w io.Writer, p *portable.Program, o Options) error {
	d, err := dialect.ByName(cmp.Or(o.Dialect, "postgres"))
	if err != nil {
		return err
	}
	b := &builder{Dialect: d, p: p, o: o, numbers: make([]string, len(p.Inputs)), texts: make([]string, len(p.Inputs))}
	if err := b.check(); err != nil {
		return err
	}
	b.read()
	b.derive()
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
	*dialect.Dialect
	p *portable.Program
	o Options

	keep           []string   // columns that are passed through
	levels         [][]column // from the table upwards; level 0 reads the table
	numbers, texts []string   // by input: its column after the policies; numbers also of derived columns
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
	levelPlaces        // places on scorecards, codes of texts, encoded numbers, derived columns
	levelFirst         // differences to knots; numbers rounded to float32 except for ties
	levelSecond        // fractions; float32: the other side of a tie
	levelThird         // float32
)

func (b *builder) refuse(found, hint string) error { return export.Refuse(b.Title, found, hint) }

// wayOut is the advice for a model that is too large for a database.
const wayOut = "train with the encodings raw and scorecard, or export the model to C, Go or ONNX"

// obeyed reports whether a terminal obeys a character of a quoted name that the database has no escape for. Line ends and tabs are
// as in any SQL.
func obeyed(r rune) bool { return r != '\n' && r != '\t' && text.Unprintable(r) }

// check refuses names and sizes that the database does not have.
func (b *builder) check() error {
	p := b.p
	if p.Columns == nil {
		return b.refuse("rows of LIBSVM indices, which have no columns", "export the model to C, Go or ONNX")
	}
	if len(p.Inputs)+len(p.Derived) > b.Width/4 {
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
		if other, taken := folded[fold]; b.Folds && taken {
			return b.refuse("columns "+export.Quote(other)+" and "+export.Quote(name)+", which differ in case alone", "rename one of them before training")
		}
		folded[fold] = name
		if b.keep == nil || b.o.Keep == nil && p.ID == nil {
			b.keep = append(b.keep, name)
		}
	}
	for _, name := range append(names, p.Segments()...) {
		if name == "" || strings.ContainsAny(name, "\x00\r") || b.Never != nil && b.Never.MatchString(name) || strings.ContainsFunc(b.Quote(name), obeyed) {
			return b.refuse("a column with the name "+export.Quote(name), "rename it before training")
		}
		if b.NameMax > 0 && len(name) > b.NameMax {
			return b.refuse(fmt.Sprintf("a column whose name has %d bytes, of which it keeps %d: %s", len(name), b.NameMax, export.Quote(name)), "rename it before training")
		}
	}
	if b.Checks {
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
		name := b.Quote(in.Name)
		if in.Text {
			raw := b.at(levelTable, "toptau_t", b.Trim(b.String(name)))
			missing := "''"
			for _, s := range p.MissingTexts {
				if literal, fits := b.Text(s); fits {
					missing += ", " + literal
				}
			}
			b.texts[k] = b.at(levelInputs, "t", fmt.Sprintf("CASE WHEN %s IN (%s) THEN NULL ELSE %s END", raw, missing, raw), raw)
			if in.Missing == portable.Refused {
				b.term(fmt.Sprintf("CASE WHEN %s IS NOT NULL THEN %s END", b.texts[k], b.Number(0)), b.texts[k])
			}
			continue
		}
		if slices.Contains(b.o.Booleans, in.Name) {
			name = Boolean(name, b.Number)
		}
		raw := b.at(levelTable, "toptau_n", b.Double(name))
		missing := raw + " IS NULL"
		for _, x := range p.MissingNumbers {
			missing += fmt.Sprintf(" OR %s = %s", raw, b.Number(x))
		}
		fill, refused := "NULL", "NULL"
		if in.Missing == portable.Filled {
			fill = b.Number(in.Fill)
		}
		if in.Missing != portable.Refused {
			refused = b.Number(0)
		}
		inside := fmt.Sprintf("%s BETWEEN %s AND %s", raw, b.Number(in.Low), b.Number(in.High))
		b.numbers[k] = b.at(levelInputs, "x", fmt.Sprintf("CASE WHEN %s THEN %s WHEN %s THEN %s END", missing, fill, inside, raw), raw)
		b.levels[levelInputs] = append(b.levels[levelInputs], column{b.numbers[k] + "_ok",
			fmt.Sprintf("CASE WHEN %s THEN %s WHEN %s THEN %s END", missing, refused, inside, b.Number(0)), []string{raw}})
		b.term(b.numbers[k]+"_ok", b.numbers[k]+"_ok")
	}
}

// derive adds the derived columns.
func (b *builder) derive() {
	for _, d := range b.p.Derived {
		x, y := b.numbers[d.A], b.numbers[d.B]
		part := func(x string) string {
			return fmt.Sprintf("abs(%s) BETWEEN %s AND %s", x, b.Number(feature.MinPart), b.Number(feature.MaxPart))
		}
		orZero := func(x string) string { return fmt.Sprintf("(%s = %s OR %s)", x, b.Number(0), part(x)) }
		second := orZero(y)
		if d.Op == feature.Ratio {
			second = part(y)
		}
		b.numbers = append(b.numbers, b.at(levelPlaces, "m", fmt.Sprintf("CASE WHEN %s AND %s THEN %s %s %s END", orZero(x), second, x, d.Op, y), x, y))
	}
}

// Boolean returns 1 for true, 0 for false and NULL for NULL, as files have booleans.
func Boolean(x string, number func(float64) string) string {
	return "CASE WHEN " + x + " THEN " + number(1) + " WHEN NOT " + x + " THEN " + number(0) + " END"
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
			b.term(fmt.Sprintf("CASE WHEN %s IS NULL THEN %s ELSE %s*%s END", x, b.Number(0), x, b.Number(t.Weight)), x)
		case *portable.Level:
			b.term(b.level(t.Input, t.Terms), b.texts[t.Input])
		case *portable.Absent:
			x := b.numbers[t.Input]
			b.term(fmt.Sprintf("CASE WHEN %s IS NULL THEN %s ELSE %s END", x, b.Number(t.Term), b.Number(0)), x)
		case *portable.Steps:
			x := b.numbers[t.Input]
			b.term(b.cells(x, t.Cells(), func(place int) string { return b.Number(t.Terms[place]) }, b.Number(t.Missing)), x)
		case *portable.Card:
			b.card(t)
		case *portable.Trees:
			b.trees(t)
		}
	}
	b.term(b.Number(b.p.Offset))
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
		absent = b.Number(missing)
	}
	fmt.Fprintf(&s, "CASE WHEN %s IS NULL THEN %s", x, absent)
	for i, category := range in.Categories {
		if literal, fits := b.Text(category); fits {
			fmt.Fprintf(&s, " WHEN %s = %s THEN %s", x, literal, b.Number(values[i]))
		}
	}
	return s.String() + " ELSE " + b.Number(values[n+1]) + " END"
}

// cells returns a value by the cell of a number.
func (b *builder) cells(x string, cells []portable.Cell, value func(place int) string, missing string) string {
	var s strings.Builder
	fmt.Fprintf(&s, "CASE WHEN %s IS NULL THEN %s", x, missing)
	last := len(cells) - 1
	for _, c := range cells[:last] {
		fmt.Fprintf(&s, " WHEN %s <= %s THEN %s", x, b.Number(c.Upto), value(c.Place))
	}
	return s.String() + " ELSE " + value(cells[last].Place) + " END"
}

// table returns a value by a place, the last one for all other places.
func (b *builder) table(place string, values []float64) string {
	last := len(values) - 1
	if last == 0 {
		return b.Number(values[0])
	}
	var s strings.Builder
	s.WriteString("CASE")
	for i, x := range values[:last] {
		fmt.Fprintf(&s, " WHEN %s = %d THEN %s", place, i, b.Number(x))
	}
	return s.String() + " ELSE " + b.Number(values[last]) + " END"
}

// card adds the two terms of a scorecard column.
func (b *builder) card(t *portable.Card) {
	x, inner := b.numbers[t.Input], len(t.Knots)-1
	missing := len(t.Weights)
	place := b.at(levelPlaces, "p", b.cells(x, t.Cells(), func(place int) string { return fmt.Sprint(place) }, fmt.Sprint(missing)), x)
	widths, none := make([]float64, inner), make([]float64, inner)
	for i := range widths {
		widths[i] = t.Knots[i+1] - t.Knots[i]
		none[i] = dialect.LastZero(func(y float64) bool { return y/widths[i]+even-even == 0 })
	}
	low := b.Number(t.Knots[0])
	part := b.at(levelFirst, "d", fmt.Sprintf("CASE WHEN %s < %s THEN %s ELSE %s END - %s", x, low, low, x, b.table(place, t.Knots[:inner])), place, x)
	condition := fmt.Sprintf("%s < %d", place, inner)
	if b.Checks {
		condition += fmt.Sprintf(" AND %s > %s", part, b.table(place, none))
	}
	fraction := b.at(levelSecond, "f", fmt.Sprintf("CASE WHEN %s THEN %s/%s + %s - %s ELSE %s END", condition, part, b.table(place, widths),
		b.Number(even), b.Number(even), b.Number(0)), place, part)
	b.term(fmt.Sprintf("(%s - %s)*%s", b.Number(1), fraction, b.table(place, append(slices.Clone(t.Weights), t.Missing))), fraction, place)
	b.term(fmt.Sprintf("%s*%s", fraction, b.table(place, append(slices.Clone(t.Weights[1:inner+1]), 0))), fraction, place)
}

// even is 1.5 x 2^28: adding it rounds a fraction to a multiple of 2^-24, ties to even.
const even = 402653184.0

// single32 adds columns for the encoded number of a term, rounded to float32, and returns the last one.
func (b *builder) single32(t *portable.Number) string {
	x := b.numbers[t.Input]
	difference, v := x, x
	if t.Scaled {
		difference = fmt.Sprintf("(%s - %s)", x, b.Number(t.Shift))
		v = fmt.Sprintf("%s/%s", difference, b.Number(t.Scale))
	}
	if b.Single != nil {
		rounded := b.Single(v)
		if b.Checks {
			none := dialect.LastZero(func(y float64) bool {
				if t.Scaled {
					y /= t.Scale
				}
				return float32(y) == 0
			})
			rounded = fmt.Sprintf("CASE WHEN abs(%s) <= %s THEN %s ELSE %s END", difference, b.Number(none), b.Number(0), rounded)
		}
		return b.at(levelPlaces, "v", rounded, x)
	}
	v = b.at(levelPlaces, "v", v, x)
	h := b.at(levelFirst, "h", fmt.Sprintf("CASE WHEN abs(%s) < %s THEN %s + %s - %s ELSE %s END", v, b.Number(0x1p-126), v, b.Number(0x1.8p-97),
		b.Number(0x1.8p-97), b.split(v, 29)), v)
	e := b.at(levelSecond, "e", fmt.Sprintf("%s + (%s - %s) + (%s - %s)", h, v, h, v, h), v, h)
	return b.at(levelThird, "r", fmt.Sprintf("CASE WHEN abs(%s) >= %s AND %s <> %s AND %s = %s AND %s <> %s THEN %s ELSE %s END",
		v, b.Number(0x1p-126), e, h, e, b.split(e, 29), h, b.split(h, 30), e, h), v, h, e)
}

// split rounds a column to 53 - bits bits (Veltkamp 1968): c x - (c x - x) with c = 2^bits + 1 is one of the nearest two numbers, of
// a tie any of both. single32 corrects ties: h is odd if it changes when it is rounded to one bit less, and e = h + 2 (v - h) is the
// other side of a tie if it does not change when it is rounded. Below 2^-126 float32 has a fixed grid, to which adding 1.5 x 2^-97
// rounds.
func (b *builder) split(x string, bits int) string {
	c := b.Number(float64(int64(1)<<bits + 1))
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
		s.WriteString(b.Number(n.Term))
	case depth < b.Nest:
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
			s.WriteString(" ELSE " + b.Number(n.Term) + " END") // the last leaf
			return
		}
		s.WriteString(" WHEN " + strings.Join(turns, " AND ") + " THEN " + b.Number(n.Term))
	}
	walk(root, nil)
}

// left returns the condition under which a row goes left.
func (b *builder) left(n *portable.Node, values []string, used map[string]bool) string {
	x := values[n.Input]
	used[x] = true
	if n.MissingLeft {
		return fmt.Sprintf("(%s <= %s OR %s IS NULL)", x, b.Number(n.At), x)
	}
	return fmt.Sprintf("%s <= %s", x, b.Number(n.At))
}
