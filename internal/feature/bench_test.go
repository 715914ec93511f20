package feature

import (
	"math/rand/v2"
	"testing"

	"toptau/internal/matrix"
	"toptau/internal/table"
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
