package repository_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"toptau"
	"toptau/certify"
	"toptau/dataset"
	"toptau/decide"
	"toptau/internal/app/cli/verbs"
	"toptau/measure"
	"toptau/method"
	"toptau/monitoring"
	"toptau/schema"
	"toptau/score"
	"toptau/solve"
)

// publicPackages are the packages that other modules may import, in import order.
var publicPackages = []string{"diag", "surrogate", "threshold", "method", "solve", "schema", "metric", "calibrate", "result", "model", "dataset", "certify", "decide", "score", "measure", ".", "reports", "explorer", "monitoring"}

// maxNames is the most exported names of package toptau, which a reader shall have in mind.
const maxNames = 42

// maxPublic is the most functions and types of all public packages. It may only fall.
const maxPublic = 256

// The page of the Go packages has every function and type of every package once.
func TestPageOfNames(t *testing.T) {
	content, err := os.ReadFile("docs/reference/go.md")
	if err != nil {
		t.Fatal(err)
	}
	onPage, pkg := map[string]int{}, ""
	for line := range strings.Lines(string(content)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			continue
		}
		if name := strings.Trim(cells[1], " `"); name != "" {
			pkg = name
		}
		for name := range strings.FieldsSeq(cells[3]) {
			onPage[pkg+"."+strings.Trim(name, "`")]++
		}
	}
	total := 0
	for _, pkg := range publicPackages {
		if pkg == "." {
			pkg = "toptau"
		}
		api, err := os.ReadFile("internal/tests/repository/api/" + pkg + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^(?:func|type) ([A-Z]\w*)`).FindAllStringSubmatch(string(api), -1) {
			if name := pkg + "." + m[1]; onPage[name] != 1 {
				t.Errorf("docs/reference/go.md has %s %d times", name, onPage[name])
			} else {
				delete(onPage, name)
			}
			total++
		}
	}
	for name := range onPage {
		if !strings.HasPrefix(name, "package.") && !strings.HasPrefix(name, "---.") {
			t.Errorf("docs/reference/go.md has %s, which is not public", name)
		}
	}
	if total > maxPublic || !strings.Contains(string(content), strconv.Itoa(total)+" functions and types") {
		t.Errorf("%d public functions and types, at most %d; docs/reference/go.md has another number", total, maxPublic)
	}
}

// TestAPI compares api/*.txt with the documentation of every public package, so that a review sees each change.
func TestAPI(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command")
	}
	for _, pkg := range publicPackages {
		text, err := exec.Command("go", "doc", "-all", "./"+pkg).Output()
		if err != nil {
			t.Fatalf("go doc %s: %v", pkg, err)
		}
		name := pkg
		if pkg == "." {
			name = "toptau"
		}
		compareGenerated(t, "internal/tests/repository/api/"+name+".txt", string(text))
	}
	short, err := exec.Command("go", "doc").Output()
	if err != nil {
		t.Fatal(err)
	}
	if names := regexp.MustCompile(`(?m)^ *(func|type|const|var) `).FindAll(short, -1); len(names) > maxNames {
		t.Errorf("package toptau has %d exported names, more than %d", len(names), maxNames)
	}
	files, err := filepath.Glob("internal/tests/repository/api/*.txt")
	if err != nil || len(files) != len(publicPackages) {
		t.Errorf("%q in api, expected one for each of %q: %v", files, publicPackages, err)
	}
	out, err := exec.Command("go", "list", "-f", "{{.Module.Path}} {{.ImportPath}}", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		module, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		name := strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
		if name == "" {
			name = "."
		}
		if !strings.HasPrefix(name, "internal/") && !strings.HasPrefix(name, "cmd/") && !slices.Contains(publicPackages, name) {
			t.Errorf("package %s is public and not in the list", path)
		}
	}
}

// No public function, method or field has a type of an internal package: other modules could not name it.
func TestPublicTypes(t *testing.T) {
	for _, pkg := range publicPackages {
		paths, err := filepath.Glob(pkg + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			hidden := map[string]bool{} // names of internal packages
			for _, i := range file.Imports {
				if name, err := strconv.Unquote(i.Path.Value); err == nil && strings.Contains(name, "/internal/") {
					hidden[name[strings.LastIndexByte(name, '/')+1:]] = true
				}
			}
			for _, d := range file.Decls {
				for _, name := range hiddenTypes(d, hidden) {
					t.Errorf("%s: the public interface has %s", path, name)
				}
			}
		}
	}
}

// hiddenTypes lists the types of internal packages in what godoc shows of a declaration.
func hiddenTypes(d ast.Decl, hidden map[string]bool) (list []string) {
	look := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := s.X.(*ast.Ident); ok && hidden[x.Name] {
				list = append(list, x.Name+"."+s.Sel.Name)
			}
			return false
		})
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(typeName(d.Recv.List[0].Type))) {
			look(d.Type)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			s, ok := s.(*ast.TypeSpec)
			if !ok || !s.Name.IsExported() {
				continue
			}
			record, ok := s.Type.(*ast.StructType)
			if !ok {
				look(s.Type)
				continue
			}
			for _, f := range record.Fields.List {
				if len(f.Names) == 0 || slices.ContainsFunc(f.Names, (*ast.Ident).IsExported) {
					look(f.Type)
				}
			}
		}
	}
	return list
}

// typeName returns the name of a receiver's type.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// furtherParams are names of parameters that are no field of an option struct.
var furtherParams = map[string]string{
	"score":       "Entry.Column: the flag says what the column holds",
	"audited":     "a file of answers on the command line: decide.Options.Reviewed in Go",
	"taus":        "the rates of internal/core/learn",
	"baseline":    "a flag of monitor: Baseline in Go",
	"block":       "a flag of monitor: BlockRows or BlockTime in Go",
	"row":         "the argument of Explorer.Row",
	"certificate": "an argument of solve.Verify",
	"class":       "an argument of Explorer's functions",
	"from":        "an argument of Explorer's functions",
	"rows":        "an argument of Explorer's functions",
	"target":      "the argument of export: the target in Go",
	"sign":        "a key file on the command line: Model.Sign in Go",
}

// Errors name a parameter by its field in an option struct, in kebab case, or by the kind of a goal.
func TestParametersAreOptions(t *testing.T) {
	known := map[string]bool{}
	for _, kind := range verbs.GoalKinds() {
		known[string(kind)] = true
	}
	for _, options := range []any{toptau.TrainOptions{}, certify.FitOptions{}, measure.Options{}, decide.Options{}, certify.DiagnoseOptions{}, score.Options{},
		score.ExplainOptions{}, monitoring.Options{}, toptau.ExportOptions{}, schema.Format{}, method.Problem{}, method.Settings{}, solve.Problem{}, dataset.Entry{}} {
		addParams(known, reflect.TypeOf(options))
	}
	used := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if path != "." && (strings.HasPrefix(path, ".") || path == "bench" || path == "sql" || path == "cmd" || path == "internal/app/cli" || path == "repro" ||
				path == "internal/app/alertlimit" || path == "internal/app/serve" || path == "internal/app/ui") { // whose parameters are flags and fields of a page
				return fs.SkipDir
			}
			return nil
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			pair, ok := n.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			if key, ok := pair.Key.(*ast.Ident); !ok || key.Name != "Param" {
				return true
			}
			literal, ok := pair.Value.(*ast.BasicLit)
			if !ok {
				return true
			}
			name, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			used[name] = true
			if !known[name] && furtherParams[name] == "" {
				t.Errorf("%s: the parameter %q is no field of an option struct and no kind of goal", path, name)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range furtherParams {
		if !used[name] {
			t.Errorf("no error names the parameter %q any more", name)
		}
	}
	if len(used) < 20 {
		t.Errorf("only %d parameters found: %v", len(used), used)
	}
}

// addParams adds the names of a struct's fields, and of the structs in it.
func addParams(names map[string]bool, s reflect.Type) {
	for i := range s.NumField() {
		f := s.Field(i)
		if !f.IsExported() {
			continue
		}
		names[kebabCase(f.Name)] = true
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			addParams(names, f.Type)
		}
	}
}

// kebabCase returns a field's name as a parameter: MaxTime is max-time, ID is id.
func kebabCase(name string) string {
	var b strings.Builder
	letters := []rune(name)
	for i, c := range letters {
		starts := i > 0 && unicode.IsUpper(c) && (unicode.IsLower(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1]))
		if starts {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

func TestKebabCase(t *testing.T) {
	for name, want := range map[string]string{"MaxTime": "max-time", "ID": "id", "K": "k", "LabelsFile": "labels-file", "MaxFPR": "max-fpr"} {
		if got := kebabCase(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// clientProgram is a program of another module: it trains, saves, loads and scores.
const clientProgram = `package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"

	"toptau"
	"toptau/dataset"
	"toptau/model"
	"toptau/score"
	"toptau/threshold"
)

func main() {
	ctx := context.Background()
	var rows dataset.Rows
	rows.Columns = []string{"errors", "bytes"}
	for i := range 400 {
		attack := i%4 == 0
		rows.Numbers = append(rows.Numbers, []float64{float64(i*7%10) + map[bool]float64{true: 6}[attack], float64(i % 13)})
		rows.Positive = append(rows.Positive, attack)
	}
	data, err1 := rows.Data()
	trained, err2 := toptau.Train(ctx, data, toptau.MaxFPR("10%"), toptau.TrainOptions{Delta: threshold.MustRate("5%")})
	if err := errors.Join(err1, err2); err != nil {
		log.Fatal(err)
	}
	err1 = trained.Model.Save("model.json")
	m, err2 := model.Load("model.json")
	if err := errors.Join(err1, err2); err != nil {
		log.Fatal(err)
	}
	stream, err := score.Open(ctx, m, strings.NewReader("errors,bytes\n15,3\n0,4\n"), score.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for row, err := range stream.Rows() {
		fmt.Println(row.Number, row.Decisions[0], err)
	}
}
`

// A program of another module compiles and runs with the public packages alone.
func TestClientModule(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command")
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	_, requirements, _ := strings.Cut(string(mod), "\n") // the same go version and modules
	dir := t.TempDir()
	for name, content := range map[string]string{"main.go": clientProgram,
		"go.mod": "module client\n" + requirements + "\nrequire toptau v0.0.0\nreplace toptau => " + strconv.Quote(here) + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o600); err != nil {
		t.Fatal(err)
	}
	run := exec.Command("go", "run", "-mod=mod", ".")
	run.Dir = dir
	run.Env = append(os.Environ(), "GOFLAGS=", "GOPROXY=off", "GOWORK=off")
	out, err := run.CombinedOutput()
	if want := "1 true <nil>\n2 false <nil>\n"; err != nil || string(out) != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, out, want)
	}
}
