package lockstep

import (
	"math"
	"math/rand/v2"
	"testing"

	"toptau/internal/core/matrix"
	"toptau/internal/core/parallel"
)

// sample holds rows as plain vectors, most values zero.
type sample struct {
	x       [][]float64
	y       []bool
	weights []float64
}

func unit(r *rand.Rand) float64 { return float64(r.Uint64()>>11) / (1 << 53) }

func newSample(seed uint64, rows, cols int, density float64) sample {
	r := rand.New(rand.NewPCG(seed, 1))
	s := sample{x: make([][]float64, rows), y: make([]bool, rows), weights: make([]float64, rows)}
	for i := range s.x {
		s.x[i] = make([]float64, cols)
		for j := range s.x[i] {
			if unit(r) < density {
				s.x[i][j] = math.Ldexp(2*unit(r)-1, int(r.Uint64()%20))
			}
		}
		s.y[i] = unit(r) < 0.5
		s.weights[i] = 1 + math.Floor(3*unit(r))
	}
	s.y[0], s.y[rows-1] = true, false
	return s
}

// rows packs the sample with the given blocks and returns its negatives.
func (s sample) rows(t testing.TB, layout matrix.Layout, storage matrix.Storage) *matrix.ClassRows {
	t.Helper()
	b := matrix.NewBuilder(layout, storage)
	for i, x := range s.x {
		var dense, values []float64
		var cols []uint32
		first := 0
		for _, spec := range layout {
			for j := first; j < first+spec.Cols; j++ {
				if spec.Kind == matrix.Dense {
					dense = append(dense, x[j])
				} else if x[j] != 0 {
					cols, values = append(cols, uint32(j)), append(values, x[j])
				}
			}
			first += spec.Cols
		}
		b.Add(s.y[i], dense, cols, values, s.weights[i], i)
	}
	m, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return m.Negatives
}

func randomVector(seed uint64, n int) []float64 {
	r := rand.New(rand.NewPCG(seed, 2))
	v := make([]float64, n)
	for i := range v {
		v[i] = 2*unit(r) - 1
	}
	return v
}

func sameBits(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d elements, want %d", what, len(got), len(want))
	}
	for i := range got {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			t.Fatalf("%s[%d] = %v, want %v", what, i, got[i], want[i])
		}
	}
}

// split lets small parts run on several goroutines for the rest of a test.
func split(t *testing.T) {
	before := parallel.InlineBytes
	parallel.InlineBytes = 0
	t.Cleanup(func() { parallel.InlineBytes = before })
}

// codedSample is rows that stand at random levels; gaps is the share of groups in which a row stands nowhere.
func codedSample(r *rand.Rand, rows int, groups []matrix.Group, gaps float64) sample {
	cols := matrix.CodedSpec(groups).Cols
	s := sample{x: make([][]float64, rows), y: make([]bool, rows), weights: make([]float64, rows)}
	for i := range s.x {
		s.x[i] = make([]float64, cols)
		first := 0
		for _, g := range groups {
			if unit(r) >= gaps {
				placeRow(r, g, s.x[i][first:])
			}
			first += g.Levels
		}
		s.y[i] = unit(r) < 0.5
		s.weights[i] = 1 + math.Floor(3*unit(r))
	}
	s.y[0], s.y[rows-1] = true, false
	return s
}

// placeRow puts a row at a level, often the first or the last, or between two.
func placeRow(r *rand.Rand, g matrix.Group, x []float64) {
	level := []int{0, g.Levels - 1, r.IntN(g.Levels), r.IntN(g.Levels)}[r.IntN(4)]
	switch {
	case g.Values != nil:
		x[level] = g.Values[level]
	case g.Between && level+1 < g.Levels && r.IntN(4) > 0:
		f := matrix.Fraction([]float64{unit(r), math.Ldexp(1, -24), 1 - math.Ldexp(1, -24), 1e-7}[r.IntN(4)])
		x[level], x[level+1] = 1-f, f
	default:
		x[level] = 1
	}
}
