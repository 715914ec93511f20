package lockstep

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"toptau/internal/core/matrix"
)

// smallNumbers returns a sample in which every sum of products is exact in float32, so that fast results are exact.
func smallNumbers(rows, cols, ones int) sample {
	r := rand.New(rand.NewPCG(uint64(rows), 9))
	s := sample{x: make([][]float64, rows), y: make([]bool, rows), weights: make([]float64, rows)}
	for i := range s.x {
		s.x[i] = make([]float64, cols)
		for j := range cols - ones {
			if r.IntN(3) > 0 {
				s.x[i][j] = float64(r.IntN(9) - 4)
			}
		}
		s.x[i][cols-ones+r.IntN(ones)] = 1
		s.y[i] = i%3 == 0
		s.weights[i] = 1
	}
	return s
}

// models returns weights, and coefficients of ever fewer rows.
func models(p *matrix.ClassRows, count int) (w [][]float64, c []Coefficients) {
	r := rand.New(rand.NewPCG(uint64(count), 10))
	for h := range count {
		wh := make([]float64, p.Cols())
		for j := range wh {
			wh[j] = float64(r.IntN(9) - 4)
		}
		w = append(w, wh)
		var ch Coefficients
		for i := range p.Rows() {
			if h%3 == 0 || r.IntN(50*h) == 0 {
				ch.Rows, ch.V = append(ch.Rows, int32(i)), append(ch.V, float32(r.IntN(5)-2))
			}
		}
		if h == count-1 && count > 1 {
			ch = Coefficients{}
		}
		c = append(c, ch)
	}
	return w, c
}

var fastLayouts = map[string]matrix.Layout{
	"dense":  {{Kind: matrix.Dense, Cols: 17}},
	"sparse": {{Kind: matrix.Sparse, Cols: 17}},
	"mixed":  {{Kind: matrix.Dense, Cols: 5}, {Kind: matrix.Sparse, Cols: 4}, {Kind: matrix.Dense, Cols: 3}, matrix.CodedSpec([]matrix.Group{{Levels: 5}})},
	"wide":   {{Kind: matrix.Dense, Cols: 5}, {Kind: matrix.Sparse, Cols: 1<<16 + 7}},
}

func TestPassesAreExactOnSmallNumbers(t *testing.T) {
	if testing.Short() {
		t.Skip("draws many problems")
	}
	for name, layout := range fastLayouts {
		for _, storage := range []matrix.Storage{matrix.Float32, matrix.Float64} {
			rows := 3000
			if name == "wide" {
				rows = 150
			}
			p := smallNumbers(rows, layout.Cols(), 5).rows(t, layout, storage)
			for _, count := range []int{1, 2, 7, 24} {
				if name == "wide" && count > 2 {
					continue
				}
				checkFast(t, fmt.Sprintf("%s, %d models", name, count), p, count)
			}
		}
	}
}

func checkFast(t *testing.T, what string, p *matrix.ClassRows, count int) {
	t.Helper()
	w, c := models(p, count)
	requests := make([]Request, count)
	floor := make([]float64, count)
	for h := range requests {
		requests[h] = Request{W: w[h], Keep: make([]float32, p.Rows()), Candidates: &Candidates{}, Floor: float32(3 * h)}
		floor[h] = float64(3 * h)
	}
	g, f := make([]float64, count*p.Cols()), NewPasses(p)
	for range 2 { // the second time with used memory
		f.Scores(requests)
		clear(g)
		f.AddGradients(c, g)
	}
	for h, r := range requests {
		z, want := make([]float64, p.Rows()), make([]float64, p.Cols())
		p.Scores(w[h], z)
		rows, found := r.Candidates.joined()
		at := 0
		for i := range z {
			if float64(r.Keep[i]) != z[i] {
				t.Fatalf("%s: score %d of model %d is %v, want %v", what, i, h, r.Keep[i], z[i])
			}
			if z[i] <= floor[h] {
				continue
			}
			if at >= len(rows) || rows[at] != int32(i) || float64(found[at]) != z[i] {
				t.Fatalf("%s: model %d does not find row %d with score %v", what, h, i, z[i])
			}
			at++
		}
		if at != len(rows) {
			t.Fatalf("%s: model %d finds %d rows, want %d", what, h, len(rows), at)
		}
		v := make([]float64, len(c[h].V))
		for i, x := range c[h].V {
			v[i] = float64(x)
		}
		p.AddGradient(c[h].Rows, v, want)
		for j := range want {
			if got := g[j*count+h]; got != want[j] {
				t.Fatalf("%s: gradient %d of model %d is %v, want %v", what, j, h, got, want[j])
			}
		}
	}
}

func (f *Candidates) joined() (rows []int32, z []float32) {
	for r, x := range f.All() {
		rows, z = append(rows, r...), append(z, x...)
	}
	return rows, z
}

// fastBits returns all results of some models, computed in one pass or one model at a time.
func fastBits(p *matrix.ClassRows, w [][]float64, c []Coefficients, together bool) []string {
	out := make([]string, len(w))
	pass := func(first, end int) {
		n := end - first
		requests := make([]Request, n)
		for h := range requests {
			requests[h] = Request{W: w[first+h], Keep: make([]float32, p.Rows()), Candidates: &Candidates{}, Floor: 0.5}
		}
		f := NewPasses(p)
		f.Scores(requests)
		g := make([]float64, n*p.Cols())
		f.AddGradients(c[first:end], g)
		for h, r := range requests {
			one := make([]float64, p.Cols())
			for j := range one {
				one[j] = g[j*n+h]
			}
			rows, found := r.Candidates.joined()
			out[first+h] = fmt.Sprintf("%x %v %x %x", r.Keep, rows, found, one)
		}
	}
	if together {
		pass(0, len(w))
		return out
	}
	for h := range w {
		pass(h, h+1)
	}
	return out
}

func TestBitsDependOnTheModelAlone(t *testing.T) {
	split(t)
	s := newSample(31, 3000, 520, 0.3)
	for _, layout := range []matrix.Layout{{{Kind: matrix.Dense, Cols: 520}},
		{{Kind: matrix.Dense, Cols: 100}, {Kind: matrix.Sparse, Cols: 320}, {Kind: matrix.Dense, Cols: 100}}} {
		p := s.rows(t, layout, matrix.Float32)
		if NewPasses(p).stripes().Count() < 3 {
			t.Fatal("too few rows for three stripes")
		}
		w, c := models(p, 9)
		for h := range w {
			for j := range w[h] {
				w[h][j] /= 3
			}
			for i := range c[h].V {
				c[h].V[i] /= 7
			}
		}
		want := fastBits(p, w, c, false)
		for _, threads := range []int{1, 2, 3, 8} {
			before := runtime.GOMAXPROCS(threads)
			got := fastBits(p, w, c, true)
			runtime.GOMAXPROCS(before)
			for h := range got {
				if got[h] != want[h] {
					t.Errorf("%d blocks, %d threads: model %d has other bits", len(layout), threads, h)
				}
			}
		}
	}
}

func TestScoresAreNearExactOnes(t *testing.T) {
	p := newSample(33, 500, 60, 1).rows(t, matrix.Layout{{Kind: matrix.Dense, Cols: 60}}, matrix.Float32)
	w := randomVector(5, 60)
	z, r := make([]float64, p.Rows()), Request{W: w, Keep: make([]float32, p.Rows())}
	p.Scores(w, z)
	NewPasses(p).Scores([]Request{r})
	row := make([]float64, 60)
	for i := range z {
		size := 0.0
		p.Row(i, row)
		for j, x := range row {
			size += math.Abs(x * w[j])
		}
		if math.Abs(float64(r.Keep[i])-z[i]) > 61*0x1p-24*size {
			t.Fatalf("score %d is %v, exactly %v", i, r.Keep[i], z[i])
		}
	}
}

func TestNoAllocationInAPass(t *testing.T) {
	split(t)
	p := newSample(35, 2000, 500, 0.1).rows(t, matrix.Layout{{Kind: matrix.Dense, Cols: 300}, {Kind: matrix.Sparse, Cols: 200}}, matrix.Float32)
	for _, count := range []int{1, 6} {
		w, c := models(p, count)
		requests := make([]Request, count)
		for h := range requests {
			requests[h] = Request{W: w[h], Candidates: &Candidates{}}
		}
		g, f := make([]float64, count*p.Cols()), NewPasses(p)
		for name, pass := range map[string]func(){
			"scores":   func() { f.Scores(requests) },
			"gradient": func() { f.AddGradients(c, g) },
		} {
			if n := testing.AllocsPerRun(5, pass); n != 0 {
				t.Errorf("%s of %d models allocates %v times", name, count, n)
			}
		}
	}
}
