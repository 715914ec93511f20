package matrix

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"toptau/internal/kernel"
)

// oddRows is a Responder: rows with an odd number and a score above 1 get half of it.
type oddRows struct{}

func (oddRows) Respond(first int, z []float32) (loss, slope float64) {
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

// responses are some of each kind; the last one but one has no row.
func responses(count int) []Response {
	r := rand.New(rand.NewPCG(uint64(count), 20))
	out := make([]Response, count)
	for h := range out {
		out[h].Hinge = kernel.Hinge{Sign: float64(1 - 2*(h%2)), Shift: float64(r.IntN(9) - 4), V: float32(1+r.IntN(4)) / 4}
		if h%3 == 2 {
			out[h] = Response{Other: oddRows{}}
		}
		if h == count-2 {
			out[h].Hinge.Shift = -1e9
		}
	}
	return out
}

// inSteps is FastPass by FastScores and AddFastGradients: the definition.
func inSteps(p *Part, w []float64, r Response) (loss, slope float64, g []float64) {
	z := make([]float32, p.Rows())
	p.FastScores([]Reading{{W: w, Keep: z}})
	var c Coefficients
	for i, zi := range z {
		v := float32(0)
		if r.Other != nil {
			one := []float32{zi}
			l, s := r.Other.Respond(i, one)
			loss, slope, v = loss+l, slope+s, one[0]
		} else if u := r.Hinge.Shift + r.Hinge.Sign*float64(zi); u > 0 {
			loss, slope, v = loss+u, slope+1, r.Hinge.V
		}
		if v != 0 {
			c.Rows, c.V = append(c.Rows, int32(i)), append(c.V, v)
		}
	}
	g = make([]float64, p.Cols())
	p.AddFastGradients([]Coefficients{c}, g)
	return loss, slope, g
}

func TestFastPassIsItsSteps(t *testing.T) {
	for name, layout := range fastLayouts {
		rows := 3000
		if name == "wide" {
			rows = 150
		}
		p := smallNumbers(rows, layout.Cols(), 5).build(t, layout, Float32).Negatives
		for _, count := range []int{1, 2, 7, 24} {
			if name == "wide" && count > 2 {
				continue
			}
			w, _ := models(p, count)
			answers := responses(count)
			readings := make([]Reading, count)
			for h := range readings {
				readings[h] = Reading{W: w[h], Response: &answers[h], Keep: make([]float32, p.Rows())}
			}
			g := make([]float64, count*p.Cols())
			for range 2 { // the second time with used memory
				clear(g)
				p.FastPass(readings, g)
			}
			for h := range readings {
				what := fmt.Sprintf("%s, model %d of %d", name, h, count)
				loss, slope, want := inSteps(p, w[h], answers[h])
				active := 0
				for _, x := range readings[h].Keep {
					if !(x == x) {
						t.Fatalf("%s: a score is %v", what, x)
					}
				}
				if a := answers[h]; a.Loss != loss || a.Slope != slope {
					t.Errorf("%s: loss %v, slope %v, want %v, %v", what, a.Loss, a.Slope, loss, slope)
				} else if a.Other == nil {
					active = int(slope)
				} else {
					active = int(slope * 4)
				}
				if answers[h].Active != active {
					t.Errorf("%s: %d rows are active, want %d", what, answers[h].Active, active)
				}
				for j := range want {
					if got := g[j*count+h]; got != want[j] {
						t.Fatalf("%s: gradient %d is %v, want %v", what, j, got, want[j])
					}
				}
			}
			p.FastPass(readings, nil)
			if loss, _, _ := inSteps(p, w[0], answers[0]); answers[0].Loss != loss {
				t.Errorf("%s: without a gradient the loss is %v, with one %v", name, answers[0].Loss, loss)
			}
		}
	}
}

func TestFastPassHasTheBitsOfEachModelAlone(t *testing.T) {
	split(t)
	s := newSample(37, 3000, 520, 0.3)
	for _, layout := range []Layout{{{Kind: Dense, Cols: 520}},
		{{Kind: Dense, Cols: 100}, {Kind: Sparse, Cols: 320}, {Kind: Dense, Cols: 100}}} {
		p := s.build(t, layout, Float32).Negatives
		w, _ := models(p, 9)
		bits := func(first, end int) []string {
			n, answers := end-first, responses(9)
			readings, g := make([]Reading, n), make([]float64, n*p.Cols())
			for h := range readings {
				answers[first+h].Hinge.Shift /= 3
				readings[h] = Reading{W: w[first+h], Response: &answers[first+h]}
			}
			p.FastPass(readings, g)
			out := make([]string, n)
			for h := range out {
				r := answers[first+h]
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

func TestNoAllocationInAFastPassWithResponses(t *testing.T) {
	split(t)
	p := newSample(35, 2000, 500, 0.1).build(t, Layout{{Kind: Dense, Cols: 300}, {Kind: Sparse, Cols: 200}}, Float32).Negatives
	for _, count := range []int{1, 6} {
		w, _ := models(p, count)
		answers, readings := responses(count), make([]Reading, count)
		for h := range readings {
			readings[h] = Reading{W: w[h], Response: &answers[h]}
		}
		g := make([]float64, count*p.Cols())
		if n := testing.AllocsPerRun(5, func() { p.FastPass(readings, g) }); n != 0 {
			t.Errorf("a pass of %d models allocates %v times", count, n)
		}
	}
}

// Coefficients of all rows give the bits of those that are not zero.
func TestAddFastRowsIsAddFastGradients(t *testing.T) {
	split(t)
	for name, layout := range fastLayouts {
		rows := 1500
		if name == "wide" {
			rows = 150
		}
		p := smallNumbers(rows, layout.Cols(), 9).build(t, layout, Float32).Negatives
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
			p.AddFastRows(all, got)
			p.AddFastGradients(listed, want)
			for j := range want {
				if got[j] != want[j] {
					t.Fatalf("%s, %d models: sum %d is %v, want %v", name, count, j, got[j], want[j])
				}
			}
		}
	}
}
