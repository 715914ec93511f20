package feature

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"toptau/internal/matrix"
	"toptau/schema"
)

// The matrix has the rows that Encode returns, also unknown and missing values, and takes a byte per row for
// a categorical column.
func TestOneHotInTheMatrix(t *testing.T) {
	training := tableOf(symbol("s", "a", "b", "a", "c", ""), number("x", 1, missing, 3, 4, 5),
		symbol("u", "p", "q", "q", "p", "p"))
	later := tableOf(symbol("s", "c", "new", "", "a", "b"), number("x", missing, 2, missing, 4, 5),
		symbol("u", "q", "p", "new", "new", ""))
	for _, scale := range []schema.Scale{schema.ScaleStandard, schema.ScaleAll, schema.ScaleNone} {
		m := fit(t, training, Options{Scale: scale, Impute: schema.ImputeIndicator})
		if spec := m.Layout()[1]; spec.Kind != matrix.Coded || len(spec.Groups) != 3 || spec.Cols != 7 {
			t.Fatalf("layout %+v", m.Layout())
		}
		want := encoded(t, m, later)
		for _, storage := range []matrix.Storage{matrix.Float32, matrix.Float64} {
			x, err := m.Matrix(later, nil, storage)
			if err != nil {
				t.Fatal(err)
			}
			got := make([][]float64, len(want))
			for _, p := range []*matrix.ClassRows{x.Positives, x.Negatives} {
				for i := range p.Rows() {
					row := make([]float64, m.Cols())
					p.Row(i, row)
					for j := range row {
						row[j] = float64(float32(row[j]))
					}
					got[p.Source(i)] = row
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("scale %s, storage %d (-want +got):\n%s", scale, storage, diff)
			}
		}
	}
}
