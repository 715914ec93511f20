//go:build unix

package trees

import (
	"context"
	"math/rand/v2"
	"syscall"
	"testing"
)

// BenchmarkBoost grows trees on 30,000 rows and 28 columns, whose signal is in eight of them.
func BenchmarkBoost(b *testing.B) {
	const rows, columns, rounds = 30_000, 28, 60
	r := rand.New(rand.NewPCG(1, 28))
	training := Training{Columns: make([]Column, columns), Positive: make([]bool, rows)}
	sum := make([]float64, rows)
	for j := range training.Columns {
		x := make([]float64, rows)
		for i := range x {
			x[i] = r.NormFloat64()
			if j < 8 {
				sum[i] += x[i] * x[i] / 4
			}
		}
		training.Columns[j] = func([]float64) []float64 { return x }
	}
	for i := range sum {
		training.Positive[i] = sum[i]+r.NormFloat64() > 3
	}
	for _, c := range []struct {
		name  string
		shape Shape
	}{
		{"16 leaves", Shape{Leaves: 16, Rate: .05, Ridge: .1, MinRows: 20, Columns: 1, Rows: 1}},
		{"64 leaves of samples", Shape{Leaves: 64, Depth: 6, Rate: .05, Ridge: 1, MinRows: 1, Curvature: 1, Columns: .6, Rows: .8}},
		{"255 leaves", Shape{Leaves: 255, Rate: .1, MinRows: 20, Columns: 1, Rows: 1}},
	} {
		b.Run(c.name, func(b *testing.B) {
			c.shape.Rounds = rounds
			start := processorTime()
			for b.Loop() {
				if _, err := training.Boost(context.Background(), c.shape, nil, false, 1); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(processorTime()-start)/float64(b.N)/rows/rounds, "cpu-ns/row/tree")
		})
	}
}

// processorTime returns the nanoseconds that the process has computed. Other processes do not count.
func processorTime() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
