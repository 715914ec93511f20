//go:build unix

package trees

import (
	"context"
	"math/rand/v2"
	"syscall"
	"testing"
)

// benchmarkRows returns rows whose signal is in eight of the columns.
func benchmarkRows(rows, columns int) *Training {
	r := rand.New(rand.NewPCG(1, 28))
	training := &Training{Columns: make([]Column, columns), Positive: make([]bool, rows)}
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
	return training
}

// BenchmarkRandom grows random trees on 8,000 rows and 40 columns, as in a fold of the search.
func BenchmarkRandom(b *testing.B) {
	const rows, count, leaves = 8000, 30, 128
	training := benchmarkRows(rows, 40)
	start := processorTime()
	for b.Loop() {
		if _, err := training.Random(context.Background(), count, leaves, 1); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(processorTime()-start)/float64(b.N)/rows/count, "cpu-ns/row/tree")
}

// BenchmarkBoost grows trees on 30,000 rows and 28 columns.
func BenchmarkBoost(b *testing.B) {
	const rows, rounds = 30_000, 60
	training := benchmarkRows(rows, 28)
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
