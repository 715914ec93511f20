package repository_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// update makes the tests of generated files write them instead of comparing.
var update = flag.Bool("update", false, "write the generated files: docs/reference/json.md, api/*.txt")

// jsonResults lists the types of the results in the order of the page, with the package if it is not result.
var jsonResults = []string{"Training", "Fit", "Evaluation", "Threshold", "Columns", "ModelDifference", "Diagnosis", "Verification", "inspect.Inspection",
	"inspect.TableInspection", "Monitoring", "printed.Packed", "Export"}

// commonFields are in every result. The introduction describes them once.
var commonFields = []string{"schema_version", "warnings", "database"}

const jsonIntroduction = `# The objects of --json

This page is generated from the comments of package ` + "`result`" + `: run ` + "`go test ./internal/tests/repository -run TestJSONReference -update`" + ` to write it again.

With ` + "`--json`" + ` a command prints exactly one object on standard output, also if it fails. ` + "`score` and `explain`" + ` print one object
per row. Every object has ` + "`schema_version`" + `, which is 2, and the objects of verbs also have these fields:

| field | type | meaning |
| --- | --- | --- |
COMMON
The version grows when a field changes its meaning or goes, and not when a field is added, so programs should ignore
fields that they do not know. A value that is unknown is ` + "`null`" + `, and a field that does not apply is absent. NaN and infinities never
occur. Rates that were given exactly are text (` + "`\"0.01\"`, `\"1/3\"`" + `), because a number cannot hold 1/3. Measured rates are numbers.
Only fields that begin with ` + "`seconds_`" + ` may differ between two runs with the same data, options and seed. A failure is an object
with ` + "`schema_version` and `error`" + `, a [Problem](#problem). ` + "`compare`" + ` prints the [Training](#training) of its first part
(` + "`null`" + ` for saved models) and the [Evaluation](#evaluation) as ` + "`training` and `evaluation`" + `.
`

// jsonNotes follows the objects.
const jsonNotes = `
## Lines of score and explain

` + "`toptau score --json`" + ` and ` + "`toptau explain --json`" + ` without --columns print one line per row, with the parts that apply. The server
answers NDJSON with the same lines, and JSON with a list of the same objects.

| field | meaning |
| --- | --- |
| ` + "`schema_version`" + `, ` + "`row`" + ` | 2, except in a list; the number of the row, from 1 |
| ` + "`id`" + ` | the row's value in the column that identifies rows; with several columns an object with the value in each |
| ` + "`input`" + ` | with --keep: an object with the row's text in each other column |
| ` + "`entity`" + `, ` + "`day`" + `, ` + "`rows`" + `, ` + "`alerts`" + ` | the entity whose rows were merged, their number, and the number of alerts among them |
| ` + "`score`" + `, ` + "`probability`" + ` | the model's score; with --probability the probability that the row is positive |
| ` + "`decision`" + `, ` + "`decisions`" + `, ` + "`threshold`" + ` | the decision at the chosen operating point, an object with that at each point, and the threshold for this row |
| ` + "`tail`" + ` | from the server, with a guarantee: at most this fraction of the calibration scores are as high |
| ` + "`expected_value`" + ` | with --rank-by value: the probability times the amount |
| ` + "`max_false`" + ` | with --best or --max-false-discoveries: at most this many of the rows down to this one are negative, with 95 % confidence for all rows together; absent if the operating point has no calibration negatives |
| ` + "`held_back`" + ` | an alert limit held the alert back, with the reason; then all decisions are false |
| ` + "`average_score`" + ` | with reasons: the mean score of the training rows; absent if the model keeps no averages |
| ` + "`offset`" + `, ` + "`reasons`" + `, ` + "`rounding`" + ` | a list of [Reason](#reason), the largest difference to the average training row first. ` + "`offset`" + `, what all reasons add, in their order, and ` + "`rounding`" + ` sum to the score |
| ` + "`imputed`" + `, ` + "`missing`" + `, ` + "`unknown`" + ` | columns whose missing value --impute replaced; from the server, columns whose value is missing, or does not occur in the training data |
| ` + "`error`" + ` | a [Problem](#problem): why the row has no score. The fields from ` + "`entity`" + ` on are then absent |

## Tables of score, and points of threshold

` + "`toptau score --precision --json`" + ` prints ` + "`n`, `expected_positives` and `budgets`" + `, a list of ` + "`{fraction, rows, score, probability, precision, positives}`" + `:
what to expect of the rows with the highest scores, down to ` + "`score`" + `. ` + "`toptau threshold --json`" + ` with --remove or --default and without data prints
` + "`warnings`, `points` and `history`" + `, as in [the model file](evidence.md#points).

## Address of ui

` + "`toptau ui --json`" + ` prints one object when the page is ready: ` + "`schema_version` and `address`" + `, which opens the page once.

## Warnings about columns

train, compare, fit and diagnose first print warnings about columns that should perhaps not be features:

* ` + "`column-copies-label`" + `: at most 100 values, each in only one class.
* ` + "`column-numbers-the-rows`" + `: whole numbers that rise or fall with every row, or a permutation of such numbers. Also whole numbers of which
  none recurs, if the column's name is id, uuid or ends in _id, or if they are spread evenly over their range (200 rows or more; Kolmogorov's
  test), as identifiers are and measurements are not.
* ` + "`many-categories`" + `: more categories than half of the rows.
* ` + "`column-separates-alone`" + `: the column alone separates the classes.

At most three columns of each kind have their own warning, and one more warning names the others. To measure what a column knows
alone, up to 20,000 rows of each class are halved. Each half gives the column's values (for numbers: 32 quantiles of each class)
their fractions of positives and scores the other half. The column separates the classes if the AUC is at least 0.998 and the lower
end of its 95 % interval is at least 0.9, which takes 36 rows of each class. The warning is a question, not a verdict: on
covtype_2vs4 it names the elevation (0.9991), which is an honest measurement. Weaker leaks pass: the difficulty level of NSL-KDD has
0.987 for r2l and u2r, less than honest columns have on KDD Cup 99.

## Parts of the objects

Each part has a row in bold, and below it its fields.

| field | type | meaning |
| --- | --- | --- |
`

// TestJSONReference compares docs/reference/json.md with the comments of package result.
func TestJSONReference(t *testing.T) {
	r := &jsonReference{t: t, packages: map[string]*jsonPackage{}}
	for _, path := range []string{"result", "metric", "calibrate", "method", "diag", "internal/training/inspect", "internal/app/printed"} {
		r.packages[path[strings.LastIndexByte(path, '/')+1:]] = parsePackage(t, path)
	}
	for _, name := range jsonResults {
		if !strings.Contains(name, ".") {
			name = "result." + name
		}
		r.queued = append(r.queued, name)
	}
	isCommon := func(f jsonField) bool { return slices.Contains(commonFields, f.name) }
	before, after, _ := strings.Cut(jsonIntroduction, "COMMON")
	r.WriteString(before)
	r.writeFields(slices.DeleteFunc(r.fieldsOf(r.queued[0]), func(f jsonField) bool { return !isCommon(f) || f.name == "schema_version" }))
	r.WriteString(after)
	for _, name := range r.queued[:len(jsonResults)] {
		fmt.Fprintf(r, "\n## %s\n\n%s\n\n| field | type | meaning |\n| --- | --- | --- |\n", r.title(name), r.doc(name))
		r.writeFields(slices.DeleteFunc(r.fieldsOf(name), isCommon))
	}
	r.WriteString(jsonNotes)
	r.link("printed.Problem") // of a Failure
	for k := len(jsonResults); k < len(r.queued); k++ {
		name := r.queued[k]
		fmt.Fprintf(r, "| <a id=\"%s\"></a>**%s** | | %s |\n", anchor(r.title(name)), r.title(name), strings.ReplaceAll(r.doc(name), "|", `\|`))
		r.writeFields(r.fieldsOf(name))
	}
	compareGenerated(t, "docs/reference/json.md", r.String())
}

// compareGenerated compares a generated file with its content, or writes it with -update.
func compareGenerated(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(path[:strings.LastIndex(path, "/")], 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	a, b := strings.Split(string(got), "\n"), strings.Split(want, "\n")
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			t.Errorf("%s differs from the sources in line %d; run go test ./internal/tests/repository -run '%s' -update", path, i+1, t.Name())
			return
		}
	}
}

// jsonPackage is the source of a package.
type jsonPackage struct {
	types     map[string]*ast.TypeSpec
	docs      map[string]string
	marshaler map[string]*ast.FuncDecl // MarshalJSON by receiver
	textual   map[string]bool          // types with MarshalText
}

func parsePackage(t *testing.T, dir string) *jsonPackage {
	t.Helper()
	p := &jsonPackage{map[string]*ast.TypeSpec{}, map[string]string{}, map[string]*ast.FuncDecl{}, map[string]bool{}}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), dir+"/"+e.Name(), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if s, ok := spec.(*ast.TypeSpec); ok {
						p.types[s.Name.Name] = s
						first, _, _ := strings.Cut(d.Doc.Text()+s.Doc.Text(), "\n\n")
						p.docs[s.Name.Name] = oneLine(first)
					}
				}
			case *ast.FuncDecl:
				if d.Recv == nil {
					continue
				}
				receiver, _ := d.Recv.List[0].Type.(*ast.Ident)
				switch {
				case receiver == nil:
				case d.Name.Name == "MarshalJSON":
					p.marshaler[receiver.Name] = d
				case d.Name.Name == "MarshalText":
					p.textual[receiver.Name] = true
				}
			}
		}
	}
	return p
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// jsonReference is the page while it is written. queued lists the types with a section, "package.Name".
type jsonReference struct {
	strings.Builder
	t        *testing.T
	packages map[string]*jsonPackage
	queued   []string
}

// doc returns the first paragraph of the comment of a type.
func (r *jsonReference) doc(name string) string {
	pkg, short, _ := strings.Cut(name, ".")
	doc := r.packages[pkg].docs[short]
	if doc == "" {
		r.t.Errorf("%s has no comment", name)
	}
	return doc
}

// fieldsOf returns the fields of a type, which all have comments.
func (r *jsonReference) fieldsOf(name string) []jsonField {
	pkg, short, _ := strings.Cut(name, ".")
	fields := r.fields(pkg, short)
	if len(fields) == 0 {
		r.t.Errorf("%s has no fields", name)
	}
	for _, f := range fields {
		if f.meaning == "" && f.name != "" {
			r.t.Errorf("%s: the field %s has no comment", name, f.name)
		}
	}
	return fields
}

// writeFields writes the rows of fields, one for neighbours that mean the same. Fields without a name are those of another type.
func (r *jsonReference) writeFields(fields []jsonField) {
	for i := 0; i < len(fields); {
		first := fields[i]
		if i++; first.name == "" {
			fmt.Fprintf(r, "| | | the fields of %s |\n", first.kind)
			continue
		}
		names, kinds := "`"+first.name+"`", []string{first.kind}
		for ; i < len(fields) && fields[i].name != "" && (fields[i].meaning == first.meaning || fields[i].meaning == "likewise"); i++ {
			names += ", `" + fields[i].name + "`"
			if !slices.Contains(kinds, fields[i].kind) {
				kinds = append(kinds, fields[i].kind)
			}
		}
		fmt.Fprintf(r, "| %s | %s | %s |\n", names, strings.Join(kinds, "; "), strings.ReplaceAll(first.meaning, "|", `\|`))
	}
}

// title returns the heading of a type: its name, with the package if two have the same name.
func (r *jsonReference) title(name string) string {
	pkg, short, _ := strings.Cut(name, ".")
	if documents := []string{"result", "inspect", "printed"}; !slices.Contains(documents, pkg) {
		for _, other := range documents {
			if r.packages[other].types[short] != nil {
				return pkg + "." + short
			}
		}
	}
	return short
}

type jsonField struct{ name, kind, meaning string }

// fields lists the JSON fields of a struct type. Those of a long embedded struct are one that links to it. The struct inside a MarshalJSON replaces the
// type's own fields, whose comments still apply.
func (r *jsonReference) fields(pkg, short string) []jsonField {
	p := r.packages[pkg]
	spec := p.types[short]
	if spec == nil {
		r.t.Fatalf("no type %s.%s", pkg, short)
	}
	own, _ := spec.Type.(*ast.StructType)
	meanings := map[string]string{}
	if own != nil {
		for _, f := range own.Fields.List {
			for _, name := range f.Names {
				meanings[name.Name] = oneLine(f.Doc.Text() + " " + f.Comment.Text())
			}
		}
	}
	shown := own
	if m := p.marshaler[short]; m != nil {
		ast.Inspect(m, func(n ast.Node) bool {
			if s, ok := n.(*ast.StructType); ok && s.Fields.NumFields() > 0 {
				shown = s
			}
			return true
		})
		// A MarshalJSON without a struct uses the type goalJSON for Goal.
		if hidden := p.types[strings.ToLower(short)+"JSON"]; shown == own && hidden != nil {
			shown = hidden.Type.(*ast.StructType)
		}
	}
	if shown == nil {
		return nil
	}
	var list []jsonField
	for _, f := range shown.Fields.List {
		tag := ""
		if f.Tag != nil {
			tag = reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json")
		}
		name, options, _ := strings.Cut(tag, ",")
		if len(f.Names) == 0 && name == "" {
			list = append(list, r.embedded(pkg, f.Type)...)
			continue
		}
		if name == "" || name == "-" {
			continue
		}
		meaning := oneLine(f.Doc.Text() + " " + f.Comment.Text())
		if meaning == "" && len(f.Names) > 0 {
			meaning = meanings[f.Names[0].Name]
		}
		kind := r.kind(pkg, f.Type)
		if strings.HasPrefix(options, "omit") {
			kind = strings.TrimSuffix(kind, " or null") + ", or absent"
		}
		list = append(list, jsonField{name, kind, meaning})
	}
	return list
}

// shortStruct is the number of fields up to which those of an embedded struct are listed wherever it is.
const shortStruct = 3

// embedded returns the fields of an embedded struct, or one that links to them.
func (r *jsonReference) embedded(pkg string, e ast.Expr) []jsonField {
	short := ""
	switch e := e.(type) {
	case *ast.Ident:
		short = strings.Replace(e.Name, "proportionJSON", "Proportion", 1) // which has the comments
	case *ast.SelectorExpr:
		pkg, short = e.X.(*ast.Ident).Name, e.Sel.Name
	default:
		r.t.Fatalf("an embedded %T", e)
	}
	if list := r.fields(pkg, short); len(list) <= shortStruct {
		return list
	}
	return []jsonField{{kind: r.link(pkg + "." + short)}}
}

// kind describes a type as JSON, and queues types that the page describes.
func (r *jsonReference) kind(pkg string, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return r.kind(pkg, e.X) + " or null"
	case *ast.ArrayType:
		if e.Len != nil {
			return "pair of " + r.kind(pkg, e.Elt) + "s"
		}
		if element := r.kind(pkg, e.Elt); element == "number" {
			return "list of numbers"
		} else {
			return "list of " + element
		}
	case *ast.SelectorExpr:
		return r.named(e.X.(*ast.Ident).Name, e.Sel.Name)
	case *ast.Ident:
		switch e.Name {
		case "int", "int64", "uint64", "float64":
			return "number"
		case "string":
			return "text"
		case "bool":
			return "true or false"
		}
		return r.named(pkg, e.Name)
	}
	r.t.Fatalf("a field of type %T", e)
	return ""
}

// named describes a named type.
func (r *jsonReference) named(pkg, short string) string {
	switch pkg + "." + short {
	case "result.Version":
		return "number"
	case "result.Warnings":
		return "list of " + r.named("diag", "Warning")
	case "metric.Goal":
		return r.link("metric.Goal") + " or null"
	}
	p := r.packages[pkg]
	if p == nil || p.types[short] == nil { // schema, surrogate, threshold: names and rates
		return "text"
	}
	if _, isStruct := p.types[short].Type.(*ast.StructType); !isStruct || p.textual[short] {
		return "text"
	}
	return r.link(pkg + "." + short)
}

// link returns a link to the description of a type.
func (r *jsonReference) link(name string) string {
	if !slices.Contains(r.queued, name) {
		r.queued = append(r.queued, name)
	}
	title := r.title(name)
	return fmt.Sprintf("[%s](#%s)", title, anchor(title))
}

// anchor returns the anchor of a title.
func anchor(title string) string { return strings.ReplaceAll(strings.ToLower(title), ".", "") }
