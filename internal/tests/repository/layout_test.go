package repository_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// rings are the rings of docs/design/architecture.md from the inside out, each with its packages in order. A package may import only
// packages that come before it.
var rings = []struct {
	name     string
	packages []string
}{
	// core knows numbers, rows of numbers and scores: no file, no column, no model file.
	{"core", []string{
		"toptau/internal/core/text",
		"toptau/diag",
		"toptau/internal/core/parallel",
		"toptau/internal/core/detmath",
		"toptau/internal/core/binomial",
		"toptau/internal/core/kernel",
		"toptau/surrogate",
		"toptau/threshold",
		"toptau/method",
		"toptau/internal/core/matrix",
		"toptau/internal/core/proof",
		"toptau/internal/core/objective",
		"toptau/internal/core/lockstep",
		"toptau/internal/core/optim",
		"toptau/internal/core/certified/form",
		"toptau/internal/core/certified/linalg",
		"toptau/internal/core/certified/restricted",
		"toptau/internal/core/certified/smoothed",
		"toptau/internal/core/certified",
		"toptau/internal/core/solver",
		"toptau/solve",
		"toptau/internal/core/learn",
		"toptau/metric",
		"toptau/internal/core/ranking",
		"toptau/internal/core/evidence",
		"toptau/calibrate",
		"toptau/internal/core/heldout",
		"toptau/internal/core/simulate",
	}},
	// The library knows files, columns, trees, the search, the model and its exports.
	{"library", []string{
		"toptau/internal/data/jsontext",
		"toptau/internal/data/atomicfile",
		"toptau/internal/data/memory",
		"toptau/schema",
		"toptau/result",
		"toptau/internal/data/scoredrow",
		"toptau/internal/data/sketch",
		"toptau/internal/data/packed",
		"toptau/internal/data/parquet",
		"toptau/internal/data/table",
		"toptau/internal/models/feature/trees",
		"toptau/internal/models/feature",
		"toptau/internal/models/reason",
		"toptau/internal/models/program",
		"toptau/model",
		"toptau/internal/models/profiles",
		"toptau/internal/models/wording",
		"toptau/internal/models/portable",
		"toptau/internal/models/dialect",
		"toptau/internal/models/export",
		"toptau/internal/models/export/onnx",
		"toptau/internal/models/export/sql",
		"toptau/internal/models/export/c",
		"toptau/internal/models/export/golang",
		"toptau/internal/training/leakage",
		"toptau/internal/training/inspect",
		"toptau/internal/training/tune",
		"toptau/internal/training/large",
		"toptau/internal/training/rowset",
		"toptau/dataset",
		"toptau/internal/training/effect",
		"toptau/internal/training/summary",
		"toptau/internal/training/ranked",
		"toptau/certify",
		"toptau/decide",
		"toptau/score",
		"toptau/measure",
		"toptau",
	}},
	// app knows people and other programs: flags, pages, HTTP, figures, monitoring.
	{"app", []string{
		"toptau/internal/app/printed",
		"toptau/internal/app/alertlimit",
		"toptau/internal/app/monitor",
		"toptau/internal/app/plot",
		"toptau/internal/app/report",
		"toptau/internal/app/findings",
		"toptau/reports",
		"toptau/explorer",
		"toptau/monitoring",
		"toptau/internal/app/serve",
		"toptau/internal/app/ui",
		"toptau/internal/app/cli",
		"toptau/internal/app/cli/verbs",
		"toptau/cmd/toptau",
	}},
	// tests is what tests and measurements use. No product imports it.
	{"tests", []string{
		"toptau/internal/tests/provenance",
		"toptau/internal/core/matrix/matrixtest",
		"toptau/internal/app/cli/clitest",
		"toptau/internal/app/plot/plottest",
		"toptau/internal/tests/modeltest",
		"toptau/internal/training/rowset/rowsettest",
		"toptau/internal/tests/campaigns",
		"toptau/internal/tests/repository",
		"toptau/internal/tests/trial",
		"toptau/internal/data/packed/packedtest",
		"toptau/internal/data/parquet/parquettest",
	}},
}

// mayUse lists the modules outside the standard library, each with the packages that may import it.
var mayUse = map[string][]string{
	"golang.org/x/sys/cpu":            {"toptau/internal/core/kernel"},
	"github.com/klauspost/compress":   {"toptau/internal/data/parquet", "toptau/internal/data/table"},
	"github.com/dsnet/compress":       {"toptau/internal/data/parquet"},
	"github.com/alecthomas/kong":      {"toptau/internal/app/cli", "toptau/internal/app/cli/clitest", "toptau/cmd/toptau"},
	"github.com/rogpeppe/go-internal": {"toptau/internal/app/cli/clitest"}, // these are for tests only
	"github.com/google/go-cmp":        {},
	"pgregory.net/rapid":              {},
}

// goPackage is a package as go list describes it.
type goPackage struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

// listPackages returns all packages of the module.
func listPackages(t *testing.T) map[string]goPackage {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	list := map[string]goPackage{}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var pkg goPackage
		if err := decoder.Decode(&pkg); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list[pkg.ImportPath] = pkg
	}
}

// placeOf returns the ring of a package and its place among all packages, or -1.
func placeOf(path string) (ring, place int) {
	before := 0
	for r := range rings {
		if i := slices.Index(rings[r].packages, path); i >= 0 {
			return r, before + i
		}
		before += len(rings[r].packages)
	}
	return -1, -1
}

func inModule(path string) bool { return path == "toptau" || strings.HasPrefix(path, "toptau/") }

func TestPackagesImportOnlyEarlierOnes(t *testing.T) {
	for _, pkg := range listPackages(t) {
		_, place := placeOf(pkg.ImportPath)
		if place < 0 {
			t.Errorf("%s has no place in the order", pkg.ImportPath)
			continue
		}
		for _, path := range pkg.Imports {
			switch {
			case inModule(path):
				if _, i := placeOf(path); i >= place {
					t.Errorf("%s imports %s, which comes later", pkg.ImportPath, path)
				}
			case strings.Contains(strings.SplitN(path, "/", 2)[0], "."):
				if !allowed(path, pkg.ImportPath) {
					t.Errorf("%s may not import %s", pkg.ImportPath, path)
				}
			}
		}
	}
}

// folders are the folders below internal, from the inside out, each with its ring.
var folders = [][2]string{{"core", "core"}, {"data", "library"}, {"models", "library"}, {"training", "library"}, {"app", "app"}, {"tests", "tests"}}

// The folders have the order of the packages: what is in one imports nothing of a later one.
func TestFoldersAreRings(t *testing.T) {
	last := 0
	for _, ring := range rings {
		for _, path := range ring.packages {
			inside, found := strings.CutPrefix(path, "toptau/internal/")
			if !found {
				continue
			}
			name, _, _ := strings.Cut(inside, "/")
			i := slices.IndexFunc(folders, func(f [2]string) bool { return f[0] == name })
			switch {
			case i < 0:
				t.Errorf("%s: no folder of a ring", path)
			case ring.name == "tests": // what tests use stands next to what they test
			case folders[i][1] != ring.name:
				t.Errorf("%s is of the ring %s, its folder of the ring %s", path, ring.name, folders[i][1])
			case i < last:
				t.Errorf("%s comes after packages of the folder %s", path, folders[last][0])
			default:
				last = i
			}
		}
	}
}

// The core builds and is tested alone: its tests, and what they use of the ring of tests, import no package of the library or the app.
func TestCoreIsAlone(t *testing.T) {
	packages := listPackages(t)
	for _, name := range rings[0].packages {
		pkg := packages[name]
		paths := slices.Concat(pkg.TestImports, pkg.XTestImports)
		for seen := map[string]bool{}; len(paths) > 0; paths = paths[1:] {
			path := paths[0]
			ring, _ := placeOf(path)
			if seen[path] || ring <= 0 { // of the core, or of another module
				continue
			}
			seen[path] = true
			if rings[ring].name != "tests" {
				t.Errorf("the tests of %s need %s, of the ring %s", name, path, rings[ring].name)
			}
			paths = append(paths, packages[path].Imports...)
		}
	}
}

// No code of tests is linked into the product, and the library, which may be part of other programs, has no network.
func TestWhatIsNotLinked(t *testing.T) {
	for of, refused := range map[string][]string{
		"./cmd/toptau": {"testing"},
		// a certificate is checked by code that shares nothing with the solvers
		"./internal/core/proof": {"toptau/internal/core/certified", "toptau/internal/core/optim", "toptau/internal/core/objective"},
		".":                     {"toptau/internal/app/serve", "net/http", "crypto/tls", "log/slog", "testing"},
	} {
		out, err := exec.Command("go", "list", "-deps", of).Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		for _, path := range strings.Fields(string(out)) {
			for _, refused := range refused {
				if path == refused || strings.HasPrefix(path, refused+"/") {
					t.Errorf("%s imports %s", of, path)
				}
			}
		}
	}
}

func allowed(path, user string) bool {
	for prefix, users := range mayUse {
		if (path == prefix || strings.HasPrefix(path, prefix+"/")) && slices.Contains(users, user) {
			return true
		}
	}
	return false
}
