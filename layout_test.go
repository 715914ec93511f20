package toptau_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// order is the order of docs/design/architecture.md: a package may import only packages that come before it.
var order = []string{
	"toptau/diag",
	"toptau/internal/text",
	"toptau/internal/jsontext",
	"toptau/internal/parallel",
	"toptau/internal/detmath",
	"toptau/internal/provenance",
	"toptau/internal/binomial",
	"toptau/internal/atomicfile",
	"toptau/internal/memory",
	"toptau/internal/kernel",
	"toptau/surrogate",
	"toptau/threshold",
	"toptau/method",
	"toptau/schema",
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
	"toptau/internal/alertlimit",
	"toptau/result",
	"toptau/internal/scoredrow",
	"toptau/internal/sketch",
	"toptau/internal/packed",
	"toptau/internal/parquet",
	"toptau/internal/table",
	"toptau/internal/simulate",
	"toptau/internal/feature/trees",
	"toptau/internal/feature",
	"toptau/internal/reason",
	"toptau/model",
	"toptau/internal/portable",
	"toptau/internal/dialect",
	"toptau/internal/export",
	"toptau/internal/export/onnx",
	"toptau/internal/export/sql",
	"toptau/internal/export/c",
	"toptau/internal/export/golang",
	"toptau/internal/export/card",
	"toptau/internal/monitor",
	"toptau/internal/leakage",
	"toptau/internal/tune",
	"toptau/internal/large",
	"toptau/internal/inspect",
	"toptau/internal/plot",
	"toptau/internal/report",
	"toptau",
	"toptau/modelcard",
	"toptau/internal/serve",
	"toptau/internal/ui",
	"toptau/internal/cli",
	"toptau/internal/cli/verbs",
	"toptau/internal/cli/clitest",
	"toptau/cmd/toptau",
	"toptau/internal/plot/plottest",
	"toptau/internal/modeltest",
	"toptau/internal/packed/packedtest",
	"toptau/internal/parquet/parquettest",
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

func TestPackagesImportOnlyEarlierOnes(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var pkg struct {
			ImportPath string
			Imports    []string
		}
		if err := decoder.Decode(&pkg); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		place := slices.Index(order, pkg.ImportPath)
		if place < 0 {
			t.Errorf("%s has no place in the order", pkg.ImportPath)
			continue
		}
		for _, path := range pkg.Imports {
			switch {
			case path == "toptau" || strings.HasPrefix(path, "toptau/"):
				if i := slices.Index(order, path); i >= place {
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
