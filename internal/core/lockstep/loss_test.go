package lockstep

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"toptau/internal/core/kernel"
	"toptau/internal/core/matrix"
)

// oddRows is a RowLoss: rows with an odd number and a score above 1 get half of it.
type oddRows struct{}

func (oddRows) Coefficients(first int, z []float32) (loss, slope float64) {
	for i, zi := range z {
		z[i] = 0
		if (first+i)%2 == 1 && zi > 1 {
			z[i] = zi / 2
			loss += float64(zi)
			slope += 0.25
		}
	}
	return loss, slope
}

// lossTerms returns some of each kind. The last but one has no active row.
func lossTerms(count int) []LossTerm {
	r := rand.New(rand.NewPCG(uint64(count), 20))
	out := make([]LossTerm, count)
	for h := range out {
		out[h].Hinge = kernel.Hinge{Sign: float64(1 - 2*(h%2)), Shift: float64(r.IntN(9) - 4), V: float32(1+r.IntN(4)) / 4}
		if h%3 == 2 {
			out[h] = LossTerm{Rows: oddRows{}}
		}
		if h == count-2 {
			out[h].Hinge.Shift = -1e9
		}
	}
	return out
}

// inSteps computes LossGradients by Scores and AddGradients, according to its definition.
func inSteps(p *matrix.ClassRows, w []float64, r LossTerm) (loss, slope float64, g []float64) {
	z := make([]float32, p.Rows())
	f := NewPasses(p)
	f.Scores([]Request{{W: w, Keep: z}})
	var c Coefficients
	for i, zi := range z {
		v := float32(0)
		if r.Rows != nil {
			one := []float32{zi}
			l, s := r.Rows.Coefficients(i, one)
			loss, slope, v = loss+l, slope+s, one[0]
		} else if u := r.Hinge.Shift + r.Hinge.Sign*float64(zi); u > 0 {
			loss, slope, v = loss+u, slope+1, r.Hinge.V
		}
		if v != 0 {
			c.Rows, c.V = append(c.Rows, int32(i)), append(c.V, v)
		}
	}
	g = make([]float64, p.Cols())
	f.AddGradients([]Coefficients{c}, g)
	return loss, slope, g
}

func TestLossGradientsIsItsSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("draws many problems")
	}
	for name, layout := range fastLayouts {
		rows := 3000
		if name == "wide" {
			rows = 150
		}
		p := smallNumbers(rows, layout.Cols(), 5).rows(t, layout, matrix.Float32)
		for _, count := range []int{1, 2, 7, 24} {
			if name == "wide" && count > 2 {
				continue
			}
			w, _ := models(p, count)
			terms := lossTerms(count)
			requests := make([]Request, count)
			for h := range requests {
				requests[h] = Request{W: w[h], Loss: &terms[h], Keep: make([]float32, p.Rows())}
			}
			g, f := make([]float64, count*p.Cols()), NewPasses(p)
			for range 2 { // the second time with used memory
				clear(g)
				f.LossGradients(requests, g)
			}
			for h := range requests {
				what := fmt.Sprintf("%s, model %d of %d", name, h, count)
				loss, slope, want := inSteps(p, w[h], terms[h])
				active := 0
				for _, x := range requests[h].Keep {
					if !(x == x) {
						t.Fatalf("%s: a score is %v", what, x)
					}
				}
				if a := terms[h]; a.Loss != loss || a.Slope != slope {
					t.Errorf("%s: loss %v, slope %v, want %v, %v", what, a.Loss, a.Slope, loss, slope)
				} else if a.Rows == nil {
					active = int(slope)
				} else {
					active = int(slope * 4)
				}
				if terms[h].Active != active {
					t.Errorf("%s: %d rows are active, want %d", what, terms[h].Active, active)
				}
				for j := range want {
					if got := g[j*count+h]; got != want[j] {
						t.Fatalf("%s: gradient %d is %v, want %v", what, j, got, want[j])
					}
				}
			}
			f.LossGradients(requests, nil)
			if loss, _, _ := inSteps(p, w[0], terms[0]); terms[0].Loss != loss {
				t.Errorf("%s: without a gradient the loss is %v, with one %v", name, terms[0].Loss, loss)
			}
		}
	}
}

func TestLossGradientsHasTheBitsOfEachModelAlone(t *testing.T) {
	split(t)
	s := newSample(37, 3000, 520, 0.3)
	for _, layout := range []matrix.Layout{{{Kind: matrix.Dense, Cols: 520}},
		{{Kind: matrix.Dense, Cols: 100}, {Kind: matrix.Sparse, Cols: 320}, {Kind: matrix.Dense, Cols: 100}}} {
		p := s.rows(t, layout, matrix.Float32)
		w, _ := models(p, 9)
		bits := func(first, end int) []string {
			n, terms := end-first, lossTerms(9)
			requests, g := make([]Request, n), make([]float64, n*p.Cols())
			for h := range requests {
				terms[first+h].Hinge.Shift /= 3
				requests[h] = Request{W: w[first+h], Loss: &terms[first+h]}
			}
			NewPasses(p).LossGradients(requests, g)
			out := make([]string, n)
			for h := range out {
				r := terms[first+h]
				out[h] = fmt.Sprintf("%x %x %d", r.Loss, r.Slope, r.Active)
				for j := range p.Cols() {
					out[h] += fmt.Sprintf(" %x", g[j*n+h])
				}
			}
			return out
		}
		var want []string
		for h := range w {
			want = append(want, bits(h, h+1)...)
		}
		for _, threads := range []int{1, 2, 3, 8} {
			before := runtime.GOMAXPROCS(threads)
			got := bits(0, len(w))
			runtime.GOMAXPROCS(before)
			for h := range got {
				if got[h] != want[h] {
					t.Errorf("%d blocks, %d threads: model %d has other bits", len(layout), threads, h)
				}
			}
		}
	}
}

func TestNoAllocationInLossGradients(t *testing.T) {
	split(t)
	p := newSample(35, 2000, 500, 0.1).rows(t, matrix.Layout{{Kind: matrix.Dense, Cols: 300}, {Kind: matrix.Sparse, Cols: 200}}, matrix.Float32)
	for _, count := range []int{1, 6} {
		w, _ := models(p, count)
		terms, requests := lossTerms(count), make([]Request, count)
		for h := range requests {
			requests[h] = Request{W: w[h], Loss: &terms[h]}
		}
		g, f := make([]float64, count*p.Cols()), NewPasses(p)
		if n := testing.AllocsPerRun(5, func() { f.LossGradients(requests, g) }); n != 0 {
			t.Errorf("a pass of %d models allocates %v times", count, n)
		}
	}
}

// Coefficients of all rows give the bits of those that are not zero.
func TestAddDenseGradientsIsAddGradients(t *testing.T) {
	if testing.Short() {
		t.Skip("draws many problems")
	}
	split(t)
	for name, layout := range fastLayouts {
		rows := 1500
		if name == "wide" {
			rows = 150
		}
		p := smallNumbers(rows, layout.Cols(), 9).rows(t, layout, matrix.Float32)
		for _, count := range []int{1, 3, 6} {
			listed, all := make([]Coefficients, count), make([]Coefficients, count)
			for h := range count {
				all[h].V = make([]float32, p.Rows())
				for i := range all[h].V {
					if (i/100+i*h)%3 == 0 {
						v := 1 / float32(i%100+h+1)
						all[h].V[i] = v
						listed[h].Rows, listed[h].V = append(listed[h].Rows, int32(i)), append(listed[h].V, v)
					}
				}
			}
			got, want := make([]float64, count*p.Cols()), make([]float64, count*p.Cols())
			f := NewPasses(p)
			f.AddDenseGradients(all, got)
			f.AddGradients(listed, want)
			for j := range want {
				if got[j] != want[j] {
					t.Fatalf("%s, %d models: sum %d is %v, want %v", name, count, j, got[j], want[j])
				}
			}
		}
	}
}
