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
		"toptau/diag",
		"toptau/internal/text",
		"toptau/internal/parallel",
		"toptau/internal/detmath",
		"toptau/internal/binomial",
		"toptau/internal/kernel",
		"toptau/surrogate",
		"toptau/threshold",
		"toptau/method",
		"toptau/internal/matrix",
		"toptau/internal/proof",
		"toptau/internal/objective",
		"toptau/internal/lockstep",
		"toptau/internal/optim",
		"toptau/internal/certified/form",
		"toptau/internal/certified/linalg",
		"toptau/internal/certified/restricted",
		"toptau/internal/certified/smoothed",
		"toptau/internal/certified",
		"toptau/internal/solver",
		"toptau/solve",
		"toptau/internal/learn",
		"toptau/metric",
		"toptau/calibrate",
		"toptau/internal/simulate",
	}},
	// The library knows files, columns, trees, the search, the model and its exports.
	{"library", []string{
		"toptau/internal/jsontext",
		"toptau/internal/atomicfile",
		"toptau/internal/memory",
		"toptau/schema",
		"toptau/result",
		"toptau/internal/scoredrow",
		"toptau/internal/sketch",
		"toptau/internal/packed",
		"toptau/internal/parquet",
		"toptau/internal/table",
		"toptau/internal/feature/trees",
		"toptau/internal/feature",
		"toptau/internal/reason",
		"toptau/internal/program",
		"toptau/model",
		"toptau/internal/profiles",
		"toptau/internal/wording",
		"toptau/internal/portable",
		"toptau/internal/dialect",
		"toptau/internal/export",
		"toptau/internal/export/onnx",
		"toptau/internal/export/sql",
		"toptau/internal/export/c",
		"toptau/internal/export/golang",
		"toptau/internal/leakage",
		"toptau/internal/inspect",
		"toptau/internal/tune",
		"toptau/internal/large",
		"toptau/internal/rowset",
		"toptau/dataset",
		"toptau/internal/effect",
		"toptau/internal/summary",
		"toptau/internal/ranked",
		"toptau/certify",
		"toptau/decide",
		"toptau/score",
		"toptau/measure",
		"toptau",
	}},
	// app knows people and other programs: flags, pages, HTTP, figures, monitoring.
	{"app", []string{
		"toptau/internal/alertlimit",
		"toptau/internal/monitor",
		"toptau/internal/plot",
		"toptau/internal/report",
		"toptau/internal/findings",
		"toptau/reports",
		"toptau/explorer",
		"toptau/monitoring",
		"toptau/internal/serve",
		"toptau/internal/ui",
		"toptau/internal/cli",
		"toptau/internal/cli/verbs",
		"toptau/cmd/toptau",
	}},
	// tests is what tests and measurements use. No product imports it.
	{"tests", []string{
		"toptau/internal/provenance",
		"toptau/internal/matrix/matrixtest",
		"toptau/internal/cli/clitest",
		"toptau/internal/plot/plottest",
		"toptau/internal/modeltest",
		"toptau/internal/rowset/rowsettest",
		"toptau/internal/campaigns",
		"toptau/internal/repository",
		"toptau/internal/trial",
		"toptau/internal/packed/packedtest",
		"toptau/internal/parquet/parquettest",
	}},
}

// mayUse lists the modules outside the standard library, each with the packages that may import it.
var mayUse = map[string][]string{
	"golang.org/x/sys/cpu":            {"toptau/internal/kernel"},
	"github.com/klauspost/compress":   {"toptau/internal/parquet", "toptau/internal/table"},
	"github.com/dsnet/compress":       {"toptau/internal/parquet"},
	"github.com/alecthomas/kong":      {"toptau/internal/cli", "toptau/internal/cli/clitest", "toptau/cmd/toptau"},
	"github.com/rogpeppe/go-internal": {"toptau/internal/cli/clitest"}, // these are for tests only
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
		"./internal/proof": {"toptau/internal/certified", "toptau/internal/optim", "toptau/internal/objective"},
		".":                {"toptau/internal/serve", "net/http", "crypto/tls", "log/slog", "testing"},
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
