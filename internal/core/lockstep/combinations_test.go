package lockstep

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"toptau/internal/core/matrix"
)

// repeated returns rows with one of a few combinations of levels, often that of the row before.
func repeated(seed uint64, rows, combinations int, groups []matrix.Group, gaps float64) sample {
	r := rand.New(rand.NewPCG(seed, 4))
	all := codedSample(r, combinations+1, groups, gaps)
	s := sample{y: make([]bool, rows), weights: make([]float64, rows)}
	at := 0
	for i := range rows {
		if r.IntN(5) == 0 {
			at = r.IntN(combinations)
		}
		s.x, s.weights[i] = append(s.x, all.x[at]), 1
	}
	s.y[0] = true
	return s
}

// combinedGroups have values and codes of two sizes.
var combinedGroups = []matrix.Group{{Levels: 3}, {Levels: 66}, {Levels: 300}, {Levels: 3, Values: []float64{0.3, -7, 1e-3}},
	{Levels: 2}}

// Fast scores of a coded block are its exact ones, rounded; fast gradients are sums in float64.
func TestCombinationsGiveWhatTheirGroupsGive(t *testing.T) {
	for _, c := range []struct {
		rows, combinations int
		gaps               float64
		few                bool
	}{{3000, 40, 0.1, true}, {700, 1, 0, true}, {700, 43, 1, true}, {700, 200, 0, false}} {
		p := repeated(7, c.rows, c.combinations, combinedGroups, c.gaps).rows(t, matrix.Layout{matrix.CodedSpec(combinedGroups)}, matrix.Float32)
		checkCombinations(t, p, c.few)
		var rows []int // neither whole panels nor the order of the rows
		for i := range 650 {
			rows = append(rows, i*7919%p.Rows())
		}
		checkCombinations(t, p.Take(rows), c.few)
	}
}

func checkCombinations(t *testing.T, p *matrix.ClassRows, few bool) {
	t.Helper()
	if found := p.Block(0).Combinations() != nil; found != few {
		t.Fatalf("%d rows: combinations %v, want %v", p.Rows(), found, few)
	}
	for _, count := range []int{1, 2, 5, 24} {
		r := rand.New(rand.NewPCG(uint64(count), 5))
		requests, c := make([]Request, count), make([]Coefficients, count)
		for h := range requests {
			requests[h] = Request{W: randomVector(r.Uint64(), p.Cols()), Keep: make([]float32, p.Rows())}
			for i := range p.Rows() {
				if r.IntN(1+h) == 0 {
					c[h].Rows, c[h].V = append(c[h].Rows, int32(i)), append(c[h].V, float32(unit(r)-0.5))
				}
			}
		}
		g := randomVector(6, count*p.Cols())
		want := append([]float64(nil), g...)
		f := NewPasses(p)
		f.Scores(requests)
		f.AddGradients(c, g)
		z, row := make([]float64, p.Rows()), make([]float64, p.Cols())
		for h := range requests {
			p.Scores(requests[h].W, z)
			for i := range z {
				if requests[h].Keep[i] != float32(z[i]) {
					t.Fatalf("model %d of %d, row %d: score %v, want %v", h, count, i, requests[h].Keep[i], float32(z[i]))
				}
			}
			for k, i := range c[h].Rows {
				p.Row(int(i), row)
				for j, x := range row {
					want[j*count+h] += x * float64(c[h].V[k])
				}
			}
		}
		for i := range g {
			if math.Abs(g[i]-want[i]) > 1e-11 {
				t.Fatalf("%d models: sum %d is %v, want %v", count, i, g[i], want[i])
			}
		}
	}
}

// A fast score is that of the tile, then those of the other blocks, each rounded; nothing depends on the other models, on
// threads, or on passes at the same time.
func TestCombinationsNextToOtherBlocks(t *testing.T) {
	if testing.Short() {
		t.Skip("draws many problems")
	}
	split(t)
	s := repeated(9, 9000, 30, combinedGroups, 0.05)
	dense := newSample(32, len(s.x), 40, 0.5)
	for i := range s.x {
		s.x[i] = append(append([]float64(nil), dense.x[i]...), s.x[i]...)
		s.x[i] = append(s.x[i], s.x[i][:20]...)
	}
	layout := matrix.Layout{{Kind: matrix.Dense, Cols: 40}, matrix.CodedSpec(combinedGroups), {Kind: matrix.Sparse, Cols: 20}}
	p := s.rows(t, layout, matrix.Float32)
	if NewPasses(p).stripes().Count() < 3 || p.Block(1).Combinations() == nil {
		t.Fatal("too few rows for three stripes, or no combinations")
	}
	w, c := models(p, 9)
	for h := range w {
		for j := range w[h] {
			w[h][j] /= 3
		}
	}
	// Alone, each block has the scores that the sum is made of.
	parts := make([][]float32, len(layout))
	for b := range layout {
		only := make([]float64, p.Cols())
		block := p.Block(b)
		copy(only[block.First:block.First+block.Cols], w[0][block.First:])
		parts[b] = make([]float32, p.Rows())
		NewPasses(p).Scores([]Request{{W: only, Keep: parts[b]}})
	}
	all := make([]float32, p.Rows())
	NewPasses(p).Scores([]Request{{W: w[0], Keep: all}})
	for i := range all {
		if want := parts[0][i] + parts[1][i] + parts[2][i]; all[i] != want {
			t.Fatalf("row %d: score %v, want %v", i, all[i], want)
		}
	}
	want := fastBits(p, w, c, false)
	for _, threads := range []int{1, 2, 5} {
		before := runtime.GOMAXPROCS(threads)
		fresh := s.rows(t, layout, matrix.Float32)
		done := make(chan []string)
		for range 2 {
			go func() { done <- fastBits(fresh, w, c, true) }()
		}
		for range 2 {
			if got := <-done; fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%d threads: other bits", threads)
			}
		}
		runtime.GOMAXPROCS(before)
	}
}

// Rows between two levels have no combinations.
func TestFractionsHaveNoCombinations(t *testing.T) {
	groups := []matrix.Group{{Levels: 2}, {Levels: 2, Between: true}}
	p := repeated(11, 1000, 3, groups, 0).rows(t, matrix.Layout{matrix.CodedSpec(groups)}, matrix.Float32)
	if p.Block(0).Combinations() != nil {
		t.Error("a block with fractions has combinations")
	}
}

// given is a RowLoss with coefficients that do not depend on the scores.
type given []float32

func (v given) Coefficients(first int, z []float32) (loss, slope float64) {
	copy(z, v[first:])
	return 0, 0
}

// LossGradients adds whole panels and AddGradients listed rows; the sums are the same.
func TestCombinationsOfPanelsAndOfLists(t *testing.T) {
	split(t)
	s := repeated(13, 5000, 60, combinedGroups, 0.05)
	width := matrix.CodedSpec(combinedGroups).Cols
	for i := range s.x {
		s.x[i] = append(s.x[i], s.x[i][:30]...)
	}
	for _, layout := range []matrix.Layout{{matrix.CodedSpec(combinedGroups), {Kind: matrix.Dense, Cols: 30}},
		{matrix.CodedSpec(combinedGroups), {Kind: matrix.Sparse, Cols: 30}}, {{Kind: matrix.Dense, Cols: width}, {Kind: matrix.Sparse, Cols: 30}}} {
		p := s.rows(t, layout, matrix.Float32)
		for _, count := range []int{1, 3, 9} {
			r := rand.New(rand.NewPCG(uint64(count), 6))
			requests, c := make([]Request, count), make([]Coefficients, count)
			for h := range requests {
				v := make(given, p.Rows())
				for i := range v {
					if h%3 < 2 && r.IntN(1+4*h) == 0 {
						v[i] = float32(unit(r) - 0.5)
						c[h].Rows, c[h].V = append(c[h].Rows, int32(i)), append(c[h].V, v[i])
					}
				}
				requests[h] = Request{W: make([]float64, p.Cols()), Loss: &LossTerm{Rows: v}}
			}
			got, want, f := make([]float64, count*p.Cols()), make([]float64, count*p.Cols()), NewPasses(p)
			for range 2 { // the second pass finds what the first has left behind
				clear(got)
				clear(want)
				f.LossGradients(requests, got)
				f.AddGradients(c, want)
				sameBits(t, fmt.Sprintf("%d models", count), got, want)
			}
		}
	}
}
