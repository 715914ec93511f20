package simulate

import (
	"context"
	"io"
	"testing"
)

// BenchmarkWriteCSV measures rows per second of each kind, generation and formatting together.
func BenchmarkWriteCSV(b *testing.B) {
	for name, rows := range map[string]int{"detectors": 100_000, "example": 100_000, "hepmass": 100_000, "gisette": 2_000} {
		b.Run(name, func(b *testing.B) {
			d, err := New(Options{Kind: name, Rows: rows, Seed: 1})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := d.WriteCSV(context.Background(), io.Discard, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*float64(rows)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
