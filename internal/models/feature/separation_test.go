package feature_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"toptau/internal/core/learn"
	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/schema"
)

// shapes has a class that is a step of one column, a bump of one, or a pair of quadrants of two. No linear
// function separates the bump or the quadrants, and no sum of curves separates the quadrants.
var shapes = []struct {
	name     string
	positive func(x, y float64) bool
	right    map[feature.Encode]bool // whether the encoding can separate the classes
}{
	{"step", func(x, _ float64) bool { return x > 0.3 },
		map[feature.Encode]bool{feature.EncodeRaw: true, feature.EncodeScorecard: true, feature.EncodeLeaves: true}},
	{"bump", func(x, _ float64) bool { return x > 0.4 && x < 0.6 },
		map[feature.Encode]bool{feature.EncodeRaw: false, feature.EncodeScorecard: true, feature.EncodeLeaves: true}},
	{"quadrants", func(x, y float64) bool { return (x > 0.5) == (y > 0.5) },
		map[feature.Encode]bool{feature.EncodeRaw: false, feature.EncodeScorecard: false, feature.EncodeLeaves: true}},
}

// Logistic regression on the encoded rows separates new rows (the area under the ROC curve is near 1) if the
// encoding can represent the shape, and only then.
func TestShapesThatEncodingsRepresent(t *testing.T) {
	for _, shape := range shapes {
		r := rand.New(rand.NewPCG(1, 7))
		draw := func() *table.Table {
			data := &table.Table{Columns: []table.Column{{Name: "x", Number: 1}, {Name: "y", Number: 2}}}
			for i := range 1500 {
				x, y := r.Float64(), r.Float64()
				class := table.Negative
				if shape.positive(x, y) {
					class = table.Positive
				}
				data.Columns[0].Values = append(data.Columns[0].Values, x)
				data.Columns[1].Values = append(data.Columns[1].Values, y)
				data.Label, data.Line = append(data.Label, class), append(data.Line, i+1)
			}
			return data
		}
		training, fresh := draw(), draw()
		for encode, right := range shape.right {
			m, _, err := feature.Fit(training, schema.Schema{Header: true}, nil, feature.Options{Encode: encode, Trees: 15, Leaves: 40})
			if err != nil {
				t.Fatal(err)
			}
			x, err := m.Matrix(training, nil, matrix.Float32)
			if err != nil {
				t.Fatal(err)
			}
			fitted, err := learn.Fit(context.Background(), x, learn.Options{Lambda: 1e-3, Tolerance: 1e-4})
			if err != nil {
				t.Fatal(err)
			}
			if x, err = m.Matrix(fresh, nil, matrix.Float32); err != nil {
				t.Fatal(err)
			}
			if area := areaUnderROC(x, fitted.W); right && area < 0.985 || !right && area > 0.8 {
				t.Errorf("%s on %s: area %.4f", shape.name, encode, area)
			} else {
				t.Logf("%s on %s: area %.4f", shape.name, encode, area)
			}
		}
	}
}

// areaUnderROC counts the pairs in the right order; ties are wrong.
func areaUnderROC(x *matrix.Matrix, w []float64) float64 {
	p, n := make([]float64, x.Positives.Rows()), make([]float64, x.Negatives.Rows())
	x.Positives.Scores(w, p)
	x.Negatives.Scores(w, n)
	right := 0
	for _, a := range p {
		for _, b := range n {
			if a > b {
				right++
			}
		}
	}
	return float64(right) / float64(len(p)) / float64(len(n))
}
