//go:build unix

package feature

import (
	"fmt"
	"math"
	"math/rand/v2"
	"syscall"
	"testing"

	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
	"toptau/schema"
)

// wideTable is shaped like network flows: 38 numbers and 3 categorical columns.
func wideTable(rows int) *table.Table {
	r := rand.New(rand.NewPCG(1, 1))
	data := &table.Table{}
	for j := range 41 {
		c := table.Column{Name: string(rune('A' + j)), Number: j + 1}
		if j < 3 {
			c.Kind = schema.Categorical
			for k := range 60 {
				c.Dictionary = append(c.Dictionary, "service-"+string(rune('A'+k)))
			}
		}
		for range rows {
			if j < 3 {
				c.Codes = append(c.Codes, int32(r.IntN(60)))
			} else {
				c.Values = append(c.Values, r.Float64())
			}
		}
		data.Columns = append(data.Columns, c)
	}
	for i := range rows {
		data.Line = append(data.Line, i+1)
		data.Label = append(data.Label, table.Class(i%2))
	}
	return data
}

func BenchmarkFit(b *testing.B) {
	data := wideTable(10_000)
	for b.Loop() {
		if _, _, err := Fit(data, named, nil, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMatrix(b *testing.B) {
	data := wideTable(10_000)
	m, _, err := Fit(data, named, nil, Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Matrix(data, nil, matrix.Float32); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkScores(b *testing.B) {
	data := wideTable(10_000)
	m, _, err := Fit(data, named, nil, Options{})
	if err != nil {
		b.Fatal(err)
	}
	s, err := NewScorer(m, make([]float64, m.Cols()), 0)
	if err != nil {
		b.Fatal(err)
	}
	dst := make([]float64, data.Rows())
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Scores(data, dst); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBatchOfLeaves(b *testing.B) {
	data := wideTable(10_000)
	for i := range data.Label {
		data.Label[i] = table.Class(i % 2)
	}
	m, _, err := Fit(data, named, nil, Options{Encode: EncodeLeaves, Trees: 50, Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	s, err := NewScorer(m, make([]float64, m.Cols()), 0)
	if err != nil {
		b.Fatal(err)
	}
	batch := NewBatch(s)
	b.Run("rows", func(b *testing.B) {
		for b.Loop() {
			for row := range BatchRows {
				s.Score(data, row)
			}
		}
	})
	b.Run("batch", func(b *testing.B) {
		z := make([]float64, BatchRows)
		for b.Loop() {
			batch.Score(data, 0, z)
		}
	})
}

// flows are 34 numeric columns with a signal, as the detectors of the simulation have.
func flows(rows int) *table.Table {
	r := rand.New(rand.NewPCG(2, 2))
	data := &table.Table{}
	for j := range 34 {
		c := table.Column{Name: fmt.Sprint("x", j), Number: j + 1, Kind: schema.Numeric}
		for i := range rows {
			c.Values = append(c.Values, math.Round(1e4*math.Exp(r.NormFloat64()+0.3*float64(i%2)))/1e4)
		}
		data.Columns = append(data.Columns, c)
	}
	for i := range rows {
		data.Line, data.Label = append(data.Line, i+1), append(data.Label, table.Class(i%2))
	}
	return data
}

func BenchmarkBatch(b *testing.B) {
	data := flows(20_000)
	for _, c := range []struct {
		name    string
		options Options
	}{
		{"raw", Options{}},
		{"scorecard", Options{Encode: EncodeScorecard}},
		{"100 boosted trees", Options{Encode: EncodeBoosted, Rounds: 100}},
		{"60 random trees", Options{Encode: EncodeLeaves, Trees: 60}},
		{"500 random trees", Options{Encode: EncodeLeaves, Trees: 500}},
	} {
		c.options.Seed = 1
		m, _, err := Fit(data, named, nil, c.options)
		if err != nil {
			b.Fatal(err)
		}
		s, err := NewScorer(m, make([]float64, m.Cols()), 0)
		if err != nil {
			b.Fatal(err)
		}
		batch := NewBatch(s)
		b.Run(c.name, func(b *testing.B) {
			z := make([]float64, BatchRows)
			first, start := 0, processorTime()
			for b.Loop() {
				batch.Score(data, first, z)
				first = (first + BatchRows) % (data.Rows() - BatchRows)
			}
			b.ReportMetric(float64(processorTime()-start)/float64(b.N)/BatchRows, "cpu-ns/row")
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
