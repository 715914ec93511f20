package learn

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"toptau/internal/core/matrix"
)

// overlapping returns many weighted rows of two classes that no line separates.
func overlapping(t *testing.T, rows int) *matrix.Matrix {
	t.Helper()
	r := rand.New(rand.NewPCG(4, 2))
	b := matrix.NewBuilder(matrix.Layout{{Kind: matrix.Dense, Cols: 3}}, matrix.Float32)
	for i := range rows {
		positive := r.IntN(20) == 0
		x := []float64{r.Float64(), r.Float64() - r.Float64(), float64(r.IntN(3))}
		if positive {
			x[0] += 0.3
			x[1] -= 0.2 * r.Float64()
		}
		b.Add(positive, x, nil, nil, 1+float64(r.IntN(4))/2, i)
	}
	x, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// balanced returns the class weights M / (2 M+) and M / (2 M-), which give both classes the same total weight.
func balanced(x *matrix.Matrix) ClassWeights {
	positives, negatives := massOf(x.Positives), massOf(x.Negatives)
	half := (positives + negatives) / 2
	return ClassWeights{half / positives, half / negatives}
}

// A start from a sample saves steps on all rows and ends at the same minimum.
func TestStartFromASample(t *testing.T) {
	if testing.Short() {
		t.Skip("fits many rows")
	}
	x := overlapping(t, 120_000)
	for _, loss := range []Loss{Logistic, SquaredHinge} {
		for _, weights := range []ClassWeights{{}, balanced(x)} {
			o := Options{Loss: loss, Lambda: 1e-4, ClassWeights: weights}
			r := fit(t, x, o)
			o.Start = &Result{W: make([]float64, 3)} // none of its own
			cold := fit(t, x, o)
			if math.Abs(r.Objective-cold.Objective) > 1e-12*cold.Objective || r.Passes > cold.Passes {
				t.Errorf("%v: F %v in %d passes; from zero %v in %d", loss, r.Objective, r.Passes, cold.Objective, cold.Passes)
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := Fit(ctx, x, Options{Loss: Logistic, Lambda: 1e-4})
	if err != nil || r.Converged {
		t.Errorf("cancelled: %+v, %v", r, err)
	}
}
