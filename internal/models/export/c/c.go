// Package c writes a model as one file of C99: tables of numbers and a function that walks through them.
package c

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"toptau/internal/models/export"
	"toptau/internal/models/feature"
	"toptau/internal/models/portable"
)

// Options of Write.
type Options struct {
	Name string // what all names of the file begin with, an identifier; "": model
}

// Write writes a program. Every program fits.
func Write(w io.Writer, p *portable.Program, o Options) error {
	b := &writer{w: bufio.NewWriter(w), p: p, t: export.NewTables(p), name: export.Identifier(o.Name)}
	for _, line := range export.Lines(p) {
		b.print("// " + line + "\n")
	}
	b.template(head)
	b.names()
	b.tables()
	b.template(walker, export.Float(feature.MinPart), export.Float(feature.MaxPart))
	b.thresholds()
	return b.w.Flush()
}

const head = `//
// double MODEL_score(const double *numbers, const char *const *texts);
//     The score of a record: numbers in the order of MODEL_numbers (NaN is missing), texts in that of MODEL_texts (NULL and ""
//     are missing). NaN if the model refuses a value: infinite or too large, or missing where that is not allowed.
// double MODEL_score_sized(const double *numbers, const char *const *texts, const size_t *sizes);
//     The same for texts of sizes[i] bytes, which may contain zero bytes.
// double MODEL_threshold(int point, const char *segment);
//     The threshold of an operating point, from 0 in the order of MODEL_points, for a record whose segment column has this value (NULL:
//     none). The decision is score > threshold.
//
// Nothing is allocated and nothing global is written, so all functions may be called from many threads. Numbers are those of the
// model file: parse decimal text with strtod, or with any other parser that rounds correctly.

#include <stddef.h>
#include <string.h>

#ifdef __FAST_MATH__
#error "compile this file without -ffast-math, which changes the scores"
#endif
// 16 is double arithmetic on processors with half precision.
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != 16
#error "this file needs arithmetic in double, such as that of SSE2: -msse2 -mfpmath=sse"
#endif
#if defined(__clang__) || !defined(__GNUC__)
#pragma STDC FP_CONTRACT OFF
#endif
`

// walker computes a score. A product is stored before it is added, so that no compiler fuses the two operations.
const walker = `
static double MODEL_zero(void) {
	volatile double zero = 0;
	return zero;
}

static double MODEL_product(double a, double b) {
	volatile double p = a * b;
	return p;
}

// Removes the blanks and tabs at the ends of a text.
static const char *MODEL_trim(const char *text, size_t *size) {
	while (*size > 0 && (text[0] == ' ' || text[0] == '\t')) text++, --*size;
	while (*size > 0 && (text[*size - 1] == ' ' || text[*size - 1] == '\t')) --*size;
	return text;
}

static int MODEL_is_missing(const char *text, size_t size) {
	int i;
	if (size == 0) return 1;
	for (i = 0; i < MODEL_MISSING_TEXTS; i++)
		if (size == MODEL_missing_texts[i].size && memcmp(text, MODEL_missing_texts[i].text, size) == 0) return 1;
	return 0;
}

// The level of a text: a category, then the missing value, then any other text.
static int MODEL_level(const struct MODEL_input *in, const char *text, size_t size) {
	int low = in->first, high = in->first + in->count;
	if (text == NULL) return in->count;
	text = MODEL_trim(text, &size);
	if (MODEL_is_missing(text, size)) return in->count;
	while (low < high) {
		int middle = low + (high - low) / 2;
		const struct MODEL_word *word = &MODEL_words[middle];
		int order = memcmp(word->text, text, word->size < size ? word->size : size);
		if (order == 0 && word->size == size) return word->level;
		if (order < 0 || (order == 0 && word->size < size)) low = middle + 1;
		else high = middle;
	}
	return in->count + 1;
}

// Adds the two products of a scorecard column; see docs/reference/export.md.
static double MODEL_card(double z, const double *d, int knots, int atoms, double x) {
	const double *knot = d + 2, *atom = knot + knots, *weight = atom + atoms;
	double f;
	int i;
	if (x != x) return z + weight[knots + atoms];
	if (x < d[0]) x = d[0];
	if (x > d[1]) x = d[1];
	for (i = 0; i < atoms; i++)
		if (x == atom[i]) return z + weight[knots + i];
	for (i = 0; i + 1 < knots && knot[i + 1] <= x; i++) {}
	if (i + 1 == knots) return z + weight[i];
	if (x < knot[0]) x = knot[0];
	f = (x - knot[i]) / (knot[i + 1] - knot[i]);
	f = f + 402653184.0; // 1.5 * 2^28: rounds to a multiple of 2^-24, ties to even
	f = f - 402653184.0;
	z = z + MODEL_product(1 - f, weight[i]);
	return z + MODEL_product(f, weight[i + 1]);
}

// Adds the leaves of eight trees, which are followed together, because each step waits for memory: as many steps as the deepest has.
// x has the value of each input, NaN if it is missing, then NaN, then the same values with -infinity for a missing one. Both sides of a
// node are next to each other, so a step has no branch. A leaf compares with the NaN and leads to itself.
static double MODEL_trees(double z, const struct MODEL_op *op, const double *x) {
	const struct MODEL_node *a = MODEL_nodes + op[0].input, *b = MODEL_nodes + op[1].input;
	const struct MODEL_node *c = MODEL_nodes + op[2].input, *d = MODEL_nodes + op[3].input;
	const struct MODEL_node *e = MODEL_nodes + op[4].input, *f = MODEL_nodes + op[5].input;
	const struct MODEL_node *g = MODEL_nodes + op[6].input, *h = MODEL_nodes + op[7].input;
	int steps = 0, i;
	for (i = 0; i < 8; i++)
		if (op[i].n > steps) steps = op[i].n;
	while (steps-- > 0) {
		a = MODEL_STEP(a);
		b = MODEL_STEP(b);
		c = MODEL_STEP(c);
		d = MODEL_STEP(d);
		e = MODEL_STEP(e);
		f = MODEL_STEP(f);
		g = MODEL_STEP(g);
		h = MODEL_STEP(h);
	}
	z = z + a->at;
	z = z + b->at;
	z = z + c->at;
	z = z + d->at;
	z = z + e->at;
	z = z + f->at;
	z = z + g->at;
	return z + h->at;
}

static double MODEL_tree(const struct MODEL_op *op, const double *x) {
	const struct MODEL_node *n = MODEL_nodes + op->input;
	int steps = op->n;
	while (steps-- > 0) n = MODEL_STEP(n);
	return n->at;
}

// Whether MODEL_trees can add this many trees from step i on.
static int MODEL_are_trees(int i, int count) {
	while (count > 0 && i < MODEL_OPS && MODEL_ops[i].kind == MODEL_TREE) i++, count--;
	return count == 0;
}

// Whether a derived column uses a number: 0, or an absolute value from 2^-500 to 2^500.
static int MODEL_is_part(double x) {
	double size = x < 0 ? -x : x;
	return x == 0 || (%s <= size && size <= %s);
}

double MODEL_score_sized(const double *numbers, const char *const *texts, const size_t *sizes) {
	const double nan = MODEL_zero() / MODEL_zero();
	double x[2 * MODEL_VALUES + 1], *left = x + MODEL_VALUES + 1, z = 0;
	int level[MODEL_INPUTS], i, k;
	for (i = 0; i < MODEL_INPUTS; i++) {
		const struct MODEL_input *in = &MODEL_inputs[i];
		int missing;
		level[i] = 0;
		if (in->text) {
			x[i] = 0;
			level[i] = MODEL_level(in, texts[in->position], texts[in->position] != NULL ? sizes[in->position] : 0);
			missing = level[i] == in->count;
		} else {
			x[i] = numbers[in->position];
			missing = x[i] != x[i];
			for (k = 0; k < MODEL_MISSING_NUMBERS; k++) missing |= x[i] == MODEL_missing_numbers[k];
			if (!missing && !(in->low <= x[i] && x[i] <= in->high)) return nan;
		}
		if (missing) {
			if (in->policy == MODEL_REFUSED) return nan;
			if (in->policy == MODEL_FILLED) level[i] = 0;
			x[i] = in->policy == MODEL_FILLED ? in->fill : nan;
		}
		left[i] = x[i] == x[i] ? x[i] : -1 / MODEL_zero();
	}
	for (i = 0; i < MODEL_DERIVED; i++) {
		const struct MODEL_derived *d = &MODEL_deriveds[i];
		k = MODEL_INPUTS + i;
		x[k] = nan;
		if (MODEL_is_part(x[d->a]) && MODEL_is_part(x[d->b])) {
			if (d->op == MODEL_DIFFERENCE) x[k] = x[d->a] - x[d->b];
			else if (d->op == MODEL_PRODUCT) x[k] = x[d->a] * x[d->b];
			else if (x[d->b] != 0) x[k] = x[d->a] / x[d->b];
		}
		left[k] = x[k] == x[k] ? x[k] : -1 / MODEL_zero();
	}
	x[MODEL_VALUES] = nan;
	for (i = 0; i < MODEL_OPS; i++) {
		const struct MODEL_op *op = &MODEL_ops[i];
		const double *d = MODEL_table + op->at;
		double v = op->kind == MODEL_TREE ? 0 : x[op->input];
		switch (op->kind) {
		case MODEL_NUMBER:
			if (v == v) z = z + MODEL_product((double)(float)((v - d[0]) / d[1]), d[2]);
			break;
		case MODEL_LEVEL: z = z + d[level[op->input]]; break;
		case MODEL_ABSENT: if (v != v) z = z + d[0]; break;
		case MODEL_STEPS:
			if (v != v) { z = z + d[2 * op->n + 1]; break; }
			for (k = 0; k < op->n && d[k] <= v; k++) {}
			z = z + d[op->n + k];
			break;
		case MODEL_CARD: z = MODEL_card(z, d, op->n, op->m, v); break;
		case MODEL_CODES:
			k = level[op->input] == MODEL_inputs[op->input].count;
			x[op->input] = k ? nan : d[level[op->input]];
			left[op->input] = k ? -1 / MODEL_zero() : x[op->input];
			break;
		case MODEL_TREE:
			if (MODEL_are_trees(i, 8)) {
				z = MODEL_trees(z, op, x);
				i += 7;
			} else {
				z = z + MODEL_tree(op, x);
			}
			break;
		}
	}
	return z + MODEL_offset;
}

double MODEL_score(const double *numbers, const char *const *texts) {
	size_t sizes[MODEL_TEXTS + 1];
	int i;
	sizes[0] = 0;
	for (i = 0; i < MODEL_TEXTS; i++) sizes[i] = texts[i] != NULL ? strlen(texts[i]) : 0;
	return MODEL_score_sized(numbers, texts, sizes);
}
`

type writer struct {
	w    *bufio.Writer
	p    *portable.Program
	t    *export.Tables
	name string
}

func (b *writer) print(texts ...string) {
	for _, s := range texts {
		b.w.WriteString(s) // Flush returns the error
	}
}

// template writes C with MODEL in the place of the name.
func (b *writer) template(text string, args ...any) {
	text = strings.ReplaceAll(text, "MODEL", b.name)
	if len(args) > 0 {
		text = fmt.Sprintf(text, args...)
	}
	b.print(text)
}

// names writes what callers read, and the sizes of the tables.
func (b *writer) names() {
	list := func(what string, names []string) {
		b.print("const char *const ", b.name, what, "[] = {")
		for _, s := range names {
			b.print(quote(s), ", ")
		}
		b.print("0};\n")
	}
	var numbers, texts, points []string
	for _, k := range b.p.Numbers() {
		numbers = append(numbers, b.p.Inputs[k].Name)
	}
	for _, k := range b.p.Texts() {
		texts = append(texts, b.p.Inputs[k].Name)
	}
	for i := range b.p.Points {
		points = append(points, b.p.Points[i].Name)
	}
	b.print("\nconst char ", b.name, "_digest[] = ", quote(b.p.Digest), ";\n")
	list("_numbers", numbers)
	list("_texts", texts)
	list("_points", points)
	b.template(`double MODEL_score(const double *numbers, const char *const *texts);
double MODEL_score_sized(const double *numbers, const char *const *texts, const size_t *sizes);
double MODEL_threshold(int point, const char *segment);

enum { MODEL_INPUTS = %d, MODEL_DERIVED = %d, MODEL_VALUES = MODEL_INPUTS + MODEL_DERIVED, MODEL_TEXTS = %d, MODEL_OPS = %d, MODEL_MISSING_TEXTS = %d, MODEL_MISSING_NUMBERS = %d };
enum { MODEL_NUMBER, MODEL_LEVEL, MODEL_ABSENT, MODEL_STEPS, MODEL_CARD, MODEL_CODES, MODEL_TREE };
enum { MODEL_REFUSED, MODEL_FILLED, MODEL_KEPT };
enum { MODEL_DIFFERENCE, MODEL_PRODUCT, MODEL_RATIO };

struct MODEL_op { int kind, input, at, n, m; };
struct MODEL_node { double at; int input, next; };
#define MODEL_STEP(n) (MODEL_nodes + ((n)->next + !(x[(n)->input] <= (n)->at)))
struct MODEL_word { const char *text; size_t size; int level; };
struct MODEL_input { int text, position, policy; double fill, low, high; int first, count; };
struct MODEL_derived { int op, a, b; };
struct MODEL_segment { int point; const char *text; size_t size; double threshold; };

static const double MODEL_offset = %s;
`, len(b.p.Inputs), len(b.p.Derived), len(texts), len(b.t.Ops), len(b.p.MissingTexts), len(b.p.MissingNumbers), export.Float(b.p.Offset))
}

// tables writes the tables. Each ends with an element that is not used, since C has no empty arrays; gcc warns of columns that a
// shorter table cannot hold.
func (b *writer) tables() {
	array(b, "double", "missing_numbers", "0", b.p.MissingNumbers, export.Float)
	array(b, "struct MODEL_word", "missing_texts", "{0, 0, 0}", b.p.MissingTexts, func(s string) string { return word(export.Word{Text: s}) })
	array(b, "struct MODEL_word", "words", "{0, 0, 0}", b.t.Words, word)
	array(b, "struct MODEL_input", "inputs", "{0, 0, 0, 0, 0, 0, 0, 0}", b.t.Inputs, func(in export.TableInput) string {
		return fmt.Sprintf("{%d, %d, %d, %s, %s, %s, %d, %d}", truth(in.Text), in.Position, in.Missing, export.Float(in.Fill), export.Float(in.Low),
			export.Float(in.High), in.First, in.Count)
	})
	array(b, "struct MODEL_derived", "deriveds", "{0, 0, 0}", b.t.Derived, func(d portable.Derived) string {
		return fmt.Sprintf("{%d, %d, %d}", slices.Index(export.Ops, d.Op), d.A, d.B)
	})
	array(b, "double", "table", "0, 0, 0, 0", b.t.Numbers, number)
	array(b, "struct MODEL_node", "nodes", "{0, 0, 0}", b.t.Nodes, func(n export.TableNode) string {
		return fmt.Sprintf("{%s, %d, %d}", export.Float(n.At), n.Input, n.Next)
	})
	array(b, "struct MODEL_op", "ops", "{0, 0, 0, 0, 0}", b.t.Ops, func(o export.Op) string {
		return fmt.Sprintf("{%d, %d, %d, %d, %d}", o.Kind, o.Input, o.At, o.N, o.M)
	})
}

// thresholds writes the operating points.
func (b *writer) thresholds() {
	thresholds := make([]float64, len(b.p.Points))
	var segments []string
	for i := range b.p.Points {
		thresholds[i] = b.p.Points[i].Threshold
		for _, s := range b.p.Points[i].Segments {
			segments = append(segments, fmt.Sprintf("{%d, %s, %d, %s}", i, quote(s.Value), len(s.Value), export.Float(s.Threshold)))
		}
	}
	b.print("\n")
	array(b, "double", "thresholds", "0", thresholds, export.Float)
	array(b, "struct MODEL_segment", "segments", "{0, 0, 0, 0}", segments, func(s string) string { return s })
	b.template(`
double MODEL_threshold(int point, const char *segment) {
	int i;
	size_t size = segment != NULL ? strlen(segment) : 0;
	if (segment != NULL) segment = MODEL_trim(segment, &size);
	for (i = 0; segment != NULL && i < %d; i++) {
		const struct MODEL_segment *s = &MODEL_segments[i];
		if (s->point == point && size == s->size && memcmp(s->text, segment, size) == 0) return s->threshold;
	}
	return MODEL_thresholds[point];
}
`, len(segments))
}

// array writes a constant array, several elements a line, and last.
func array[T any](b *writer, kind, name, last string, list []T, element func(T) string) {
	b.template("static const " + kind + " MODEL_" + name + "[] = {")
	width := 0
	for _, x := range list {
		text := element(x) + ", "
		if width -= len(text); width < 0 {
			b.print("\n\t")
			width = 120
		}
		b.print(text)
	}
	b.print(last, "};\n")
}

func word(w export.Word) string {
	return fmt.Sprintf("{%s, %d, %d}", quote(w.Text), len(w.Text), w.Level)
}

// number writes a number of the tables; the code of a missing value, which is not read, is 0.
func number(x float64) string {
	if x != x {
		return "0"
	}
	return export.Float(x)
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// quote writes a string literal. Escapes have three octal digits, so that the next character is not part of them, and question
// marks start no trigraph.
func quote(s string) string {
	var out bytes.Buffer
	out.WriteByte('"')
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' || c == '"' || c == '\\' || c == '?' {
			fmt.Fprintf(&out, `\%03o`, c)
		} else {
			out.WriteByte(c)
		}
	}
	out.WriteByte('"')
	return out.String()
}
