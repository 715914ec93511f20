package lockstep

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"toptau/internal/core/matrix"
)

// BenchmarkScores scores 24 models in one pass. Each keeps the top 1 % of its rows in the second variant.
func BenchmarkScores(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, d := range []int{10, 28, 128} {
		rows := benchRows(b, d)
		w, z := randomVector(1, d), make([]float64, rows.Rows())
		rows.Scores(w, z)
		slices.Sort(z)
		floor := float32(z[len(z)/100*99])
		for _, keep := range []bool{false, true} {
			requests := make([]Request, 24)
			for h := range requests {
				requests[h].W = w
				if keep {
					requests[h].Candidates, requests[h].Floor = &Candidates{}, floor
				}
			}
			passes := NewPasses(rows)
			b.Run(fmt.Sprintf("d=%d/candidates=%v", d, keep), func(b *testing.B) {
				b.SetBytes(int64(4 * d * rows.Rows()))
				for b.Loop() {
					passes.Scores(requests)
				}
			})
		}
	}
}

// benchRows returns rows of d float32 columns, 8 MB in all.
func benchRows(b *testing.B, d int) *matrix.ClassRows {
	b.Helper()
	builder := matrix.NewBuilder(matrix.Layout{{Kind: matrix.Dense, Cols: d}}, matrix.Float32)
	row := make([]float64, d)
	for i := range 8_000_000 / (4 * d) {
		for j := range row {
			row[j] = float64((i*7+j*13)%101)/50 - 1
		}
		builder.Add(i == 0, row, nil, nil, 1, i)
	}
	m, err := builder.Build()
	if err != nil {
		b.Fatal(err)
	}
	return m.Negatives
}
