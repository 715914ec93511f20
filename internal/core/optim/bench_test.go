package optim

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
	"toptau/method"
	"toptau/threshold"
)

// shape is the size of a data set to measure on.
type shape struct {
	name       string
	rows, cols int
	positives  float64
}

// The paper's table of times has 5.6 to 8.4 ms for an iteration on a minibatch of Hepmass, and 22 to 44 ms on
// Gisette.
var (
	hepmass = shape{"hepmass-minibatch", 131250, 28, 0.5}
	gisette = shape{"gisette", 6000, 5000, 0.5}
	network = shape{"network", 100000, 40, 0.02}
)

// data returns overlapping classes. They are made once for a shape.
func (s shape) data(b *testing.B) *matrix.Matrix {
	b.Helper()
	if made := shapes[s.name]; made != nil {
		return made
	}
	build := matrix.NewBuilder(matrix.Layout{{Kind: matrix.Dense, Cols: s.cols}}, matrix.Float32)
	x := make([]float64, s.cols)
	state := uint64(1)
	for i := range s.rows {
		positive := float64(i)*s.positives-math.Floor(float64(i)*s.positives) < s.positives
		for j := range x {
			sum := 0.0 // of four uniform numbers: nearly normal
			for range 4 {
				state ^= state << 13
				state ^= state >> 7
				state ^= state << 17
				sum += float64(state>>11)/(1<<53) - 0.5
			}
			x[j] = sum
			if positive && j%4 == 0 {
				x[j] += 0.5
			}
		}
		build.Add(positive, x, nil, nil, 1, i)
	}
	m, err := build.Build()
	if err != nil {
		b.Fatal(err)
	}
	shapes[s.name] = m
	return m
}

var shapes = map[string]*matrix.Matrix{}

func benchProblem(b *testing.B, name string, h method.Problem) method.Problem {
	b.Helper()
	m, err := method.ByName(name)
	if err != nil {
		b.Fatal(err)
	}
	if m.UsesTau && h.Tau.IsZero() {
		h.Tau = threshold.MustRate("1%")
	}
	if m.UsesBeta && h.Beta == 0 {
		h.Beta = 1
	}
	if m.UsesK && h.K == 0 {
		h.K = 5
	}
	p, err := m.With(h)
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func bound(b *testing.B, p method.Problem, x *matrix.Matrix) *objective.Objective {
	b.Helper()
	o, err := objective.New(p, x)
	if err != nil {
		b.Fatal(err)
	}
	return o
}

// BenchmarkIteration measures one iteration of ADAM on all rows, with selection, losses and update.
func BenchmarkIteration(b *testing.B) {
	for _, s := range []shape{hepmass, gisette} {
		for _, name := range []string{"toppushk", "patmat", "patmat-np", "topmean-np", "grill"} {
			b.Run(s.name+"/"+name, func(b *testing.B) {
				o := bound(b, benchProblem(b, name, method.Problem{Lambda: 0.001}), s.data(b))
				before := o.Visits()
				b.ResetTimer()
				if _, err := Adam(context.Background(), o, nil, StepOptions{Iterations: b.N}); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(o.Visits()-before)/float64(b.N*s.rows), "visits/row")
			})
		}
	}
}

// benchGrid returns 24 problems: several methods with several lambda, k and beta.
func benchGrid(b *testing.B, names ...string) []method.Problem {
	var out []method.Problem
	for _, name := range names {
		for i := range 24 / len(names) {
			lambda := 0.00001 * math.Pow(10, float64(i%6)/1.5)
			out = append(out, benchProblem(b, name, method.Problem{Lambda: lambda}))
		}
	}
	return out
}

// BenchmarkGridToOne measures the time of 24 problems over the time of one of them, the first of each method
// in turn.
func BenchmarkGridToOne(b *testing.B) {
	for _, names := range [][]string{{"topmean-np"}, {"toppushk", "patmat-np", "topmean-np", "topmean"}, {"grill-np"}} {
		for _, s := range []shape{network, hepmass} {
			b.Run(fmt.Sprintf("%s/%v", s.name, names), func(b *testing.B) {
				x, o := s.data(b), StepOptions{Iterations: 60}
				fit := func(problems []method.Problem) (seconds, active float64) {
					tasks := make([]Task, len(problems))
					for i, p := range problems {
						tasks[i].Full = bound(b, p, x)
					}
					start := time.Now()
					for _, out := range AdamGrid(context.Background(), tasks, o) {
						if out.Err != nil {
							b.Fatal(out.Err)
						}
						active += (out.Result.RowReads - float64(out.Result.Passes)) / 60 / float64(len(problems))
					}
					return time.Since(start).Seconds(), active
				}
				all := benchGrid(b, names...)
				var one, many []float64
				var active float64
				b.ResetTimer()
				for range b.N {
					seconds := 0.0
					for i := range names {
						t, _ := fit(all[i*24/len(names):][:1])
						seconds += t / float64(len(names))
					}
					one = append(one, seconds)
					t, a := fit(all)
					many, active = append(many, t), a
				}
				b.ReportMetric(slices.Min(many)/slices.Min(one), "ratio")
				b.ReportMetric(1e3*slices.Min(one)/60, "ms/iteration-of-one")
				b.ReportMetric(active, "active")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
