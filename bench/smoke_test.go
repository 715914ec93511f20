package main

import (
	"bufio"
	"context"
	"path/filepath"
	"testing"

	"toptau/internal/core/certified"
	"toptau/internal/core/matrix"
	"toptau/internal/core/optim"
	"toptau/internal/data/table"
	"toptau/schema"
)

// The smoke test of speed: one small benchmark for each kind of work. "make measure WHAT=smoke" compares them with baseline.txt.
// Nothing passes or fails by its speed.

// smokeMatrix returns simulated rows.
func smokeMatrix(b *testing.B, rows int) *matrix.Matrix {
	b.Helper()
	data, err := simulation("hepmass", rows)
	if err != nil {
		b.Fatal(err)
	}
	x, err := data.matrix()
	if err != nil {
		b.Fatal(err)
	}
	return x
}

func BenchmarkSmokeExactScores(b *testing.B) {
	x := smokeMatrix(b, 50_000).Negatives
	w, z := random(1, x.Cols()), make([]float64, x.Rows())
	for b.Loop() {
		x.Scores(w, z)
	}
}

func BenchmarkSmokeScoresAndGradient(b *testing.B) {
	x := smokeMatrix(b, 50_000).Negatives
	w, g := random(1, x.Cols()), make([]float64, x.Cols())
	for b.Loop() {
		x.Pass(w, everyActive(1), g)
	}
}

func BenchmarkSmokeCertified(b *testing.B) {
	x := smokeMatrix(b, 20_000)
	for b.Loop() {
		o, err := bind("toppushk", 0.1, x)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := certified.Solve(context.Background(), o, certified.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSmokeADAM(b *testing.B) {
	x := smokeMatrix(b, 20_000)
	for b.Loop() {
		o, err := bind("grill", 0.001, x)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := optim.Adam(context.Background(), o, nil, optim.StepOptions{Iterations: 50}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSmokeReading(b *testing.B) {
	path := filepath.Join(b.TempDir(), "floats.csv")
	if err := writeFile(path, func(w *bufio.Writer) { writeFloats(w, 20_000) }); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, _, err := table.Read(path, table.Options{Format: schema.Format{Label: "last"}}); err != nil {
			b.Fatal(err)
		}
	}
}
