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

// rooms is the order of docs/architecture.md: a package may import only packages that stand before it.
var rooms = []string{
	"toptau/internal/fault",
	"toptau/internal/outfile",
	"toptau/internal/memory",
	"toptau/internal/elementary",
	"toptau/internal/kernel",
	"toptau/surrogate",
	"toptau/threshold",
	"toptau/method",
	"toptau/internal/matrix",
	"toptau/internal/objective",
	"toptau/internal/solver",
	"toptau/internal/solver/certified",
	"toptau/internal/solver/smooth",
	"toptau/internal/baseline",
	"toptau/metric",
	"toptau/calibrate",
	"toptau/internal/sketch",
	"toptau/internal/table",
	"toptau/internal/simulate",
	"toptau/internal/feature",
	"toptau/model",
	"toptau/internal/scoring",
	"toptau/internal/tune",
	"toptau/internal/report",
	"toptau/internal/paper",
	"toptau",
	"toptau/cmd/toptau",
}

// mayUse lists the modules outside the standard library, each with the rooms that may know it.
var mayUse = map[string][]string{
	"golang.org/x/sys/cpu":            {"toptau/internal/kernel"},
	"github.com/klauspost/compress":   {"toptau/internal/table"},
	"github.com/alecthomas/kong":      {"toptau/cmd/toptau"},
	"gonum.org/v1/gonum":              {"toptau/internal/paper"}, // distributions of the tests beside a table
	"github.com/rogpeppe/go-internal": {},                        // these are for tests only
	"github.com/google/go-cmp":        {},
	"pgregory.net/rapid":              {},
}

func TestRoomsImportOnlyRoomsAboveThem(t *testing.T) {
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
		room := slices.Index(rooms, pkg.ImportPath)
		if room < 0 {
			t.Errorf("%s has no place in the order of rooms", pkg.ImportPath)
			continue
		}
		for _, path := range pkg.Imports {
			switch {
			case path == "toptau" || strings.HasPrefix(path, "toptau/"):
				if i := slices.Index(rooms, path); i >= room {
					t.Errorf("%s imports %s, which stands below it", pkg.ImportPath, path)
				}
			case strings.Contains(strings.SplitN(path, "/", 2)[0], "."):
				if !allowed(path, pkg.ImportPath) {
					t.Errorf("%s may not import %s", pkg.ImportPath, path)
				}
			}
		}
	}
}

func allowed(path, room string) bool {
	for prefix, users := range mayUse {
		if (path == prefix || strings.HasPrefix(path, prefix+"/")) && slices.Contains(users, room) {
			return true
		}
	}
	return false
}
