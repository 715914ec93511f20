package repository_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A package has at most floor percent of uses from file to file that run back up in the best order of its files, or one. Without any, it
// reads from top to bottom. No type has more than maxMethods methods.
const (
	floor      = 10
	maxMethods = 25
)

// floors are the packages that have more, with their limit. It may only fall.
var floors = map[string]int{
	"toptau/internal/core/heldout":              20,
	"toptau/cmd/toptau":                         11,
	"toptau/internal/data/atomicfile":           17,
	"toptau/internal/core/certified/restricted": 11,
	"toptau/internal/app/cli":                   18,
	"toptau/internal/models/dialect":            29,
	"toptau/internal/models/feature/trees":      13,
	"toptau/internal/core/learn":                25,
	"toptau/internal/core/lockstep":             25,
	"toptau/internal/core/matrix":               15,
	"toptau/internal/app/monitor":               18,
	"toptau/internal/data/parquet":              13,
	"toptau/internal/core/proof":                17,
	"toptau/internal/app/report":                16,
	"toptau/internal/core/simulate":             24,
	"toptau/internal/app/ui":                    40,
	"toptau/model":                              25,
	"toptau/schema":                             40,
}

// manyMethods are the types that have more than maxMethods, with their number. It may only fall.
var manyMethods = map[string]int{"toptau/internal/tests/modeltest.builder": 26, "toptau/model.Model": 46}

// TestLayoutOfFiles checks that the files of a package have an order in which most uses point one way.
func TestLayoutOfFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("loads every package with types")
	}
	var paths []string
	for _, pkg := range listPackages(t) {
		paths = append(paths, pkg.ImportPath)
	}
	slices.Sort(paths)
	packages := listExports(t, paths)
	for _, path := range paths {
		uses, methods := packages.usesOf(t, path)
		order, back := bestOrder(uses)
		total := 0
		for _, of := range uses {
			total += len(of)
		}
		if limit := max(floor, floors[path]); len(back) > 1 && 100*len(back) > limit*total {
			t.Errorf("%s: %d of %d uses between files run back up, more than %d %%", path, len(back), total, limit)
		}
		t.Logf("%s: %d of %d uses between files run back up: %.0f %%", path, len(back), total, 100*float64(len(back))/float64(max(1, total)))
		t.Logf("  from the top: %s", strings.Join(order, " "))
		for _, b := range back {
			t.Logf("  %s uses %s: %s", b[0], b[1], strings.Join(uses[b[0]][b[1]], " "))
		}
		for _, name := range slices.SortedFunc(maps.Keys(methods), func(a, b string) int {
			return cmp.Or(len(methods[b])-len(methods[a]), strings.Compare(a, b))
		}) {
			files := map[string]bool{}
			for _, file := range methods[name] {
				files[file] = true
			}
			if n := len(methods[name]); n > max(maxMethods, manyMethods[path+"."+name]) {
				t.Errorf("%s: %s has %d methods, more than %d", path, name, n, maxMethods)
			} else if n >= 15 {
				t.Logf("  %s has %d methods in %d files", name, n, len(files))
			}
		}
	}
}

// exports are packages by their path, with the files of their compiled exports.
type exports map[string]struct {
	Dir, Export string
	GoFiles     []string
}

func listExports(t *testing.T, paths []string) exports {
	args := append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles"}, paths...)
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	list := exports{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var pkg struct {
			ImportPath, Dir, Export string
			GoFiles                 []string
		}
		if err := decoder.Decode(&pkg); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list[pkg.ImportPath] = struct {
			Dir, Export string
			GoFiles     []string
		}{pkg.Dir, pkg.Export, pkg.GoFiles}
	}
}

// usesOf returns what each file of a package uses of each other one, and the files of each type's methods.
func (e exports) usesOf(t *testing.T, path string) (uses map[string]map[string][]string, methods map[string][]string) {
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range e[path].GoFiles {
		file, err := parser.ParseFile(set, filepath.Join(e[path].Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(e[path].Export) }
	config := types.Config{Importer: importer.ForCompiler(set, "gc", open)}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	pkg, err := config.Check(path, set, files, &info)
	if err != nil {
		t.Fatal(err)
	}
	fileOf := func(at token.Pos) string { return filepath.Base(set.Position(at).Filename) }
	uses, methods = map[string]map[string][]string{}, map[string][]string{}
	for _, file := range files {
		uses[fileOf(file.Pos())] = map[string][]string{}
	}
	for ident, object := range info.Uses {
		if f, ok := object.(*types.Func); ok {
			object = f.Origin()
		}
		method, isFunc := object.(*types.Func)
		isMethod := isFunc && method.Signature().Recv() != nil
		if object.Pkg() != pkg || !isMethod && object.Parent() != pkg.Scope() {
			continue
		}
		from, to := fileOf(ident.Pos()), fileOf(object.Pos())
		if from != to && !slices.Contains(uses[from][to], object.Name()) {
			uses[from][to] = append(uses[from][to], object.Name())
		}
	}
	for _, of := range uses {
		for _, names := range of {
			slices.Sort(names)
		}
	}
	for _, object := range info.Defs {
		if f, ok := object.(*types.Func); ok && f.Signature().Recv() != nil {
			of := f.Signature().Recv().Type()
			if p, ok := of.(*types.Pointer); ok {
				of = p.Elem()
			}
			if named, ok := of.(*types.Named); ok {
				name := named.Obj().Name()
				methods[name] = append(methods[name], fileOf(f.Pos()))
			}
		}
	}
	return uses, methods
}

// bestOrder returns an order of files with few uses from a later file to an earlier one, and those uses. It moves single
// files to better places, from several orders at first, so the order is a good one, not always the best.
func bestOrder(uses map[string]map[string][]string) (order []string, back [][2]string) {
	backward := func(order []string) (list [][2]string) {
		for i, from := range order {
			for _, to := range order[:i] {
				if len(uses[from][to]) > 0 {
					list = append(list, [2]string{from, to})
				}
			}
		}
		return list
	}
	names := slices.Sorted(maps.Keys(uses))
	for turn := 0; turn < len(names); turn += (len(names) + 7) / 8 {
		try := slices.Concat(names[turn:], names[:turn])
		for better := true; better; {
			better = false
			for _, name := range names {
				better = improvePlace(uses, try, name) || better
			}
		}
		if list := backward(try); order == nil || len(list) < len(back) {
			order, back = try, list
		}
	}
	return order, back
}

// improvePlace moves a file to the place in an order with the fewest backward uses, and reports whether that saves any.
func improvePlace(uses map[string]map[string][]string, order []string, name string) bool {
	now := slices.Index(order, name)
	change := func(place int, other string) int { // of backward uses if the file is moved past another one
		uses, used := min(1, len(uses[name][other])), min(1, len(uses[other][name]))
		if place > now {
			return uses - used
		}
		return used - uses
	}
	best, saved := now, 0
	for _, direction := range []int{-1, 1} {
		sum := 0
		for place := now + direction; place >= 0 && place < len(order); place += direction {
			if sum += change(place, order[place]); sum < saved {
				best, saved = place, sum
			}
		}
	}
	without := slices.Delete(slices.Clone(order), now, now+1)
	copy(order, slices.Insert(without, best, name))
	return saved < 0
}
