package engine_test

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"toptau/internal/core/certified"
	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/internal/training/large"
	"toptau/method"
	"toptau/schema"
	"toptau/sql/scan"
	"toptau/sql/servers"
	"toptau/surrogate"
	"toptau/threshold"
)

// referenceSets are the sets of the reference optima.
var referenceSets = []struct {
	name, file string
	format     schema.Format
}{
	{"pima", "pima/pima-indians-diabetes.data", schema.Format{Label: "last"}},
	{"mammography", "mammography/mammography.csv", schema.Format{Label: "last", Positive: []string{"'1'"}}},
	{"ionosphere", "ionosphere/ionosphere.data", schema.Format{Label: "last", Positive: []string{"b"}}},
	{"german", "german/german.numer_scale", schema.Format{Positive: []string{"+1"}}},
}

// withColumns returns a table whose features are columns: LIBSVM rows are written as CSV, with their zeros, and read again.
func withColumns(t *testing.T, from *table.Table) *table.Table {
	t.Helper()
	if from.Sparse == nil {
		return from
	}
	var b strings.Builder
	b.WriteString("y")
	for j := range from.Sparse.Cols {
		fmt.Fprintf(&b, ",x%d", j+1)
	}
	for i := range from.Rows() {
		fmt.Fprintf(&b, "\n%d", from.Label[i])
		for j := range from.Sparse.Cols {
			b.WriteString("," + strconv.FormatFloat(from.Sparse.At(i, uint32(j)), 'g', -1, 64))
		}
	}
	path := filepath.Join(t.TempDir(), "columns.csv")
	if err := os.WriteFile(path, []byte(b.String()+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	read, _, err := table.Read(path, table.Options{Format: schema.Format{Label: "y", Positive: []string{"1"}}})
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// TestReferenceOptima compares fits in databases with optima that were bracketed by other means: a fourth of them, or all with
// TOPTAU_SQL=results.
func TestReferenceOptima(t *testing.T) {
	file, err := os.Open("../../internal/tests/reference/optima.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	list, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for j, name := range list[0] {
		column[name] = j
	}
	root := os.Getenv("TOPTAU_DATA")
	if root == "" {
		t.Skip("TOPTAU_DATA is not set: no data to test on")
	}
	data := map[string]*table.Table{}
	var tables []servers.Table
	for _, set := range referenceSets {
		read, _, err := table.Read(filepath.Join(root, set.file), table.Options{Format: set.format})
		if errors.Is(err, fs.ErrNotExist) {
			t.Skip(err)
		} else if err != nil {
			t.Fatal(err)
		}
		read = withColumns(t, read)
		data[set.name] = read
		tables = append(tables, servers.FromTable(set.name, "k", "y", read))
	}
	databases(t, func(t *testing.T, d database) {
		ctx := context.Background()
		e := d.open(t)
		sources := map[string]*scan.Source{}
		total, statements := 0, 0
		for line, row := range list[1:] {
			get := func(name string) string { return row[column[name]] }
			number := func(name string) float64 { v, _ := strconv.ParseFloat(get(name), 64); return v }
			of := data[get("dataset")]
			if of == nil || os.Getenv("TOPTAU_SQL") != "results" && line%4 != 0 {
				continue
			}
			m, err := method.ByName(get("method"))
			if err != nil {
				t.Fatal(err)
			}
			h := method.Problem{Lambda: number("lambda"), Beta: number("beta"), Surrogate: surrogate.Hinge.Name()}
			if get("surrogate") == "squared_hinge" {
				h.Surrogate = surrogate.SquaredHinge.Name()
			}
			if tau := get("tau"); tau != "" {
				h.Tau = threshold.MustRate(tau)
			}
			if get("method") == "TopPushK" {
				h.K = int(number("k"))
			}
			p, err := m.With(h)
			if err != nil {
				t.Fatal(err)
			}
			scale := schema.ScaleStandard
			if get("preprocessing") == "raw" {
				scale = schema.ScaleNone
			}
			key := fmt.Sprint(get("dataset"), scale, p.Definition().Population)
			source := sources[key]
			if source == nil {
				rows, err := scan.Open(ctx, e.Dialect, e.Shards, scan.Table{Name: []string{get("dataset")}, Key: "k", Label: "y"})
				if err != nil {
					t.Fatal(err)
				}
				features, _, err := feature.Fit(of, schema.Schema{Format: schema.CSV}, nil, feature.Options{Scale: scale})
				if err != nil {
					t.Fatal(err)
				}
				if source, err = rows.NewSource(ctx, large.All(), features, matrix.Float64, p.Definition().Population); err != nil {
					t.Fatal(err)
				}
				sources[key] = source
			}
			name := strings.Join(row[:8], " ")
			r, err := certified.SolveSource(ctx, source, p, certified.Options{Gap: 1e-7})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			total++
			statements += r.Passes
			lower, upper := number("dual_lower"), number("primal_upper")
			gap := math.Max(1e-7*(r.AtZero-lower), 1e-9*r.AtZero)
			// The scaling is rounded, so the optimum is the reference's to about 1e-7.
			if lower*(1-2e-7) > r.Objective || r.LowerBound > upper*(1+2e-7) || r.Objective-lower > gap+2e-7*r.AtZero || !r.Converged {
				t.Errorf("%s: F %.12g D %.12g converged %v after %d passes, reference %.12g to %.12g", name, r.Objective, r.LowerBound, r.Converged, r.Passes, lower, upper)
			}
		}
		t.Logf("%s: %d problems, %d statements over the population", d.name, total, statements)
	}, tables...)
}
