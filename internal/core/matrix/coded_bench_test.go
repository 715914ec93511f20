package matrix

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// benchGroups is as many groups as the dense columns that they are compared with, of this many levels.
const benchGroups, benchLevels = 30, 16

// benchCoded is a block of groups whose rows stand at random levels.
func benchCoded(rows int, between bool) *ClassRows {
	groups := slices.Repeat([]Group{{Levels: benchLevels, Between: between}}, benchGroups)
	b, err := newCoded(CodedSpec(groups), Float32)
	if err != nil {
		panic(err)
	}
	r := rand.New(rand.NewPCG(27, 1))
	cols, values := make([]uint32, 0, 2*benchGroups), make([]float64, 0, 2*benchGroups)
	for range rows {
		cols, values = cols[:0], values[:0]
		for g := range benchGroups {
			level := uint32(benchLevels*g + r.IntN(benchLevels-1))
			cols, values = append(cols, level), append(values, 1)
			if between {
				f := Fraction(0.25 + 0.5*unit(r))
				cols, values = append(cols, level+1), append(values, f)
				values[len(values)-2] = 1 - f
			}
		}
		if bad, err := b.add(cols, values); bad >= 0 || err != nil {
			panic(fmt.Sprint(bad, err))
		}
	}
	b.flush()
	return newClassRows([]block{b}, rows, nil, make([]uint32, rows))
}

// compare interleaves on one thread.
func compare(b *testing.B, yardstick, measured func()) {
	b.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	interleave(b, yardstick, measured)
}

// BenchmarkCodedToDense compares 30 groups of 16 levels with 30 float32 columns, all rows active or every hundredth.
func BenchmarkCodedToDense(b *testing.B) {
	dense := benchPart(benchGroups)
	for _, between := range []bool{false, true} {
		coded := benchCoded(dense.rows, between)
		name := map[bool]string{false: "levels", true: "between"}[between]
		w, v := randomVector(1, coded.cols), randomVector(2, coded.rows)
		z, g := make([]float64, coded.rows), make([]float64, coded.cols)
		b.Run("scores/"+name, func(b *testing.B) {
			compare(b, func() { dense.Scores(w[:dense.cols], z) }, func() { coded.Scores(w, z) })
			b.ReportMetric(float64(coded.Bytes())/float64(dense.Bytes()), "bytes-ratio")
		})
		for _, every := range []int{1, 100, 1000} {
			var rows []int32
			for i := 0; i < coded.rows; i += every {
				rows = append(rows, int32(i))
			}
			b.Run(fmt.Sprintf("gradient/%s/every=%d", name, every), func(b *testing.B) {
				compare(b, func() { dense.AddGradient(rows, v[:len(rows)], g[:dense.cols]) },
					func() { coded.AddGradient(rows, v[:len(rows)], g) })
			})
			visit := func(first int, z, v []float64) bool {
				any := false
				for r := (every - first%every) % every; r < len(v); r += every {
					v[r], any = z[r], true
				}
				return any
			}
			b.Run(fmt.Sprintf("pass/%s/every=%d", name, every), func(b *testing.B) {
				compare(b, func() { dense.Pass(w[:dense.cols], visit, g[:dense.cols]) },
					func() { coded.Pass(w, visit, g) })
			})
		}
	}
}
