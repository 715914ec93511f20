package feature

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toptau/schema"

	"toptau/diag"
	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
)

// A packed table gives the same map and matrix as a plain one. Consume gives the same matrix and removes the
// columns.
func TestConsume(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	for i := range 3000 {
		missing := ""
		if i%7 > 0 {
			missing = fmt.Sprint(r.Float64())
		}
		fmt.Fprintf(&b, "%d,%.3f,n%d,%s\n", i%3/2, r.Float64(), r.IntN(5), missing)
	}
	path := filepath.Join(t.TempDir(), "data.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(packed bool) *table.Table {
		x, _, err := table.Read(path, table.Options{Format: schema.Format{Label: "1", Header: "no", Positive: []string{"1"}}, Packed: packed})
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	plain, packed := read(false), read(true)
	for _, o := range []Options{{Impute: schema.ImputeIndicator}, {Impute: schema.ImputeMedian, Encode: EncodeScorecard}, {Impute: schema.ImputeZero, Encode: EncodeLeaves}} {
		want, _, err := Fit(plain, schema.Schema{}, nil, o)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := Fit(packed, schema.Schema{}, nil, o)
		if err != nil {
			t.Fatal(err)
		}
		compareJSON(t, want, got)
		compareMatrices(t, mustMatrix(t, want, plain), mustMatrix(t, got, packed))
	}
	m, _, err := Fit(packed, schema.Schema{}, nil, Options{Impute: schema.ImputeIndicator})
	if err != nil {
		t.Fatal(err)
	}
	x, err := m.Consume(t.Context(), packed, matrix.Float32)
	if err != nil {
		t.Fatal(err)
	}
	compareMatrices(t, mustMatrix(t, m, plain), x)
	if packed.Rows() != plain.Rows() || len(packed.Columns) != 0 {
		t.Errorf("%d rows, %d columns", packed.Rows(), len(packed.Columns))
	}
	if _, err := m.Consume(t.Context(), packed, matrix.Float32); diag.Of(err) == nil {
		t.Errorf("a second time: %v", err)
	}
}

func mustMatrix(t *testing.T, m *Map, x *table.Table) *matrix.Matrix {
	t.Helper()
	packed, err := m.Matrix(x, nil, matrix.Float32)
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

func compareJSON(t *testing.T, want, got *Map) {
	t.Helper()
	w, err := want.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	g, err := got.MarshalJSON()
	if err != nil || string(w) != string(g) {
		t.Fatalf("%v\n%s\n%s", err, w, g)
	}
}

func compareMatrices(t *testing.T, want, got *matrix.Matrix) {
	t.Helper()
	for _, parts := range [][2]*matrix.ClassRows{{want.Positives, got.Positives}, {want.Negatives, got.Negatives}} {
		if parts[0].Rows() != parts[1].Rows() || parts[0].Cols() != parts[1].Cols() {
			t.Fatal("parts of another shape")
		}
		w, g := make([]float64, parts[0].Cols()), make([]float64, parts[0].Cols())
		for i := range parts[0].Rows() {
			parts[0].Row(i, w)
			parts[1].Row(i, g)
			if !slices.Equal(w, g) || parts[0].Source(i) != parts[1].Source(i) {
				t.Fatalf("row %d: %v instead of %v", i, g, w)
			}
		}
	}
}
