package feature

import (
	"math"
	"testing"

	"toptau/internal/core/detmath"
)

func TestMomentsByHand(t *testing.T) {
	tests := []struct {
		name       string
		x, weights []float64
		want       moments
	}{
		{"population deviation", []float64{2, 4, 4, 4, 5, 5, 7, 9}, nil, moments{mean: 5, sd: 2}},
		{"weights as repeated rows", []float64{2, 4, 5, 7, 9}, []float64{1, 3, 2, 1, 1}, moments{mean: 5, sd: 2}},
		{"a weight of 0 does not count", []float64{2, 4, 5, 7, 9, 1e9}, []float64{1, 3, 2, 1, 1, 0}, moments{mean: 5, sd: 2}},
		{"constant that binary cannot hold", []float64{0.1, 0.1, 0.1}, nil, moments{mean: 0.1, constant: true}},
		{"squares overflow", []float64{-1e300, 1e300}, nil, moments{mean: 0, sd: 1e300}},
		{"squares vanish", []float64{-1e-300, 1e-300}, nil, moments{mean: 0, sd: 1e-300}},
		{"small change on a large mean", []float64{1e15, 1e15 + 2}, nil, moments{mean: 1e15 + 1, sd: 1}},
		{"smallest numbers", []float64{0, 5e-324, 0, 0, 0, 0, 0, 0, 0, 0}, nil, moments{constant: true}},
	}
	for _, test := range tests {
		if got := momentsOf(test.x, test.weights); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

// A plain sum of a million tenths is wrong in the eleventh digit; the compensated one is not.
func TestSumIsCompensated(t *testing.T) {
	var s detmath.Sum
	const n = 1_000_000
	for range n {
		s.Add(0.1)
	}
	if got := s.Value(); math.Abs(got-n*0.1) > 1e-10 {
		t.Errorf("sum of %d times 0.1 is %v", n, got)
	}
	var cancel detmath.Sum
	for _, x := range []float64{1, 1e100, 1, -1e100} {
		cancel.Add(x)
	}
	if got := cancel.Value(); got != 2 {
		t.Errorf("1 + 1e100 + 1 - 1e100 = %v", got)
	}
}

func TestMedian(t *testing.T) {
	tests := []struct {
		x, weights []float64
		want       float64
	}{
		{[]float64{3, 1, 2}, nil, 2},
		{[]float64{4, 1, 3, 2}, nil, 2.5},
		{[]float64{1, 2, 3}, []float64{1, 1, 5}, 3},
		{[]float64{1, 2, 3}, []float64{2, 1, 1}, 1.5},
		{[]float64{1, 2, 9}, []float64{1, 1, 0}, 1.5},
		{[]float64{7}, nil, 7},
		{[]float64{1.5e308, 1.7e308}, nil, 1.6e308},
	}
	for _, test := range tests {
		if got := medianOf(test.x, test.weights); got != test.want {
			t.Errorf("median of %v, weights %v: %v, want %v", test.x, test.weights, got, test.want)
		}
	}
}
