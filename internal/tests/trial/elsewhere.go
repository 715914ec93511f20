package trial

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"toptau/dataset"
	"toptau/diag"
	"toptau/internal/core/certified"
	"toptau/internal/core/matrix"
	"toptau/internal/core/simulate"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	rows "toptau/internal/training/large"
	"toptau/internal/training/rowset"
	"toptau/method"
	"toptau/schema"
)

// PackFile writes the rows of a file to a packed file.
func PackFile(t *testing.T, text, packed string, f schema.Format) *table.Info {
	t.Helper()
	files, err := table.OpenFiles(text)
	if err != nil {
		t.Fatal(err)
	}
	info, err := table.Pack(files, packed, table.Options{Format: f, Context: t.Context()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// SimulatedFiles writes simulated rows as text and packed.
func SimulatedFiles(t *testing.T, o simulate.Options) (text, packed string) {
	t.Helper()
	data, err := simulate.New(o)
	if err != nil {
		t.Fatal(err)
	}
	text, packed = filepath.Join(t.TempDir(), "rows.csv"), filepath.Join(t.TempDir(), "rows.ttp")
	if err := data.WriteFile(context.Background(), text); err != nil {
		t.Fatal(err)
	}
	var format schema.Format
	if o.Context {
		format.Categorical = []string{"flow"} // leading zeros stay
	}
	if info := PackFile(t, text, packed, format); info.Rows != o.Rows {
		t.Fatalf("packed %+v", info)
	}
	return text, packed
}

// Database is rows that have keys, and cannot encode scorecards.
type Database struct{ rows.Rows }

func (d Database) Name() string { return "test: table rows" }

func (d Database) Source(ctx context.Context, p rows.Part, m *feature.Map, s matrix.Storage, of method.Population) (certified.Source, error) {
	for _, b := range m.Blocks {
		if _, found := b.(*feature.ScorecardBlock); found {
			return nil, &diag.Error{Kind: diag.Usage, Found: "scorecards, which the database does not encode"}
		}
	}
	source, err := d.Rows.Source(ctx, p, m, s, of)
	return keyed{source}, err
}

type keyed struct{ certified.Source }

// Shape adds a bound of the values, which are standardised.
func (k keyed) Shape() certified.Shape {
	s := k.Source.Shape()
	s.Largest = slices.Repeat([]float64{1000}, s.Cols)
	return s
}

func (k keyed) Keys(_ bool, numbers []int32) ([]string, error) {
	keys := make([]string, len(numbers))
	for i, n := range numbers {
		keys[i] = "row " + strconv.Itoa(int(n))
	}
	return keys, nil
}

func (k keyed) Numbers(_ context.Context, _ bool, keys []string) ([]int32, error) {
	numbers := make([]int32, len(keys))
	for i, key := range keys {
		n, err := strconv.Atoi(strings.TrimPrefix(key, "row "))
		if err != nil {
			return nil, &diag.Error{Kind: diag.Data, Found: "no row with the key " + key}
		}
		numbers[i] = int32(n)
	}
	return numbers, nil
}

// DataOf returns rows as data of the verbs.
func DataOf(t *testing.T, of rows.Rows) *dataset.Data {
	t.Helper()
	d, err := rowset.OfDatabase(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	return rowset.Wrap(d).(*dataset.Data)
}

// ReadPacked reads a packed file.
func ReadPacked(t *testing.T, path string, f schema.Format) *dataset.Data {
	t.Helper()
	d, err := dataset.Read(context.Background(), path, f)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func AsJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
