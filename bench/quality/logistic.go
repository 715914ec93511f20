package main

import (
	"context"
	"fmt"

	"toptau/internal/core/learn"
	"toptau/internal/core/matrix"
	"toptau/internal/models/feature"
	"toptau/internal/training/tune"
	"toptau/schema"
)

// lambdas are the penalties that logistic regression chooses from, largest first.
var lambdas = []float64{0.1, 0.01, 0.001, 0.0001, 0.00001, 0.000001}

// logistic returns what users have today: logistic regression with a penalty chosen by cross-validation (3 folds, or 5 for fewer
// than 3,000 rows) on log-pAUC, the measure of this comparison, and fitted again to the whole training part.
func logistic(encode schema.Encoding) scorer {
	return func(ctx context.Context, _ *harness, j job, p *parts) (scored, error) {
		o := feature.Options{Encode: encode, Seed: uint64(j.seed)}
		best, err := choosePenalty(ctx, p, o)
		if err != nil {
			return scored{}, err
		}
		f, err := encoded(p, nil, o)
		if err != nil {
			return scored{}, err
		}
		fits, err := learn.Path(ctx, f.x, learn.Options{}, lambdas[:best+1])
		if err != nil {
			return scored{}, err
		}
		test, err := f.columns.Matrix(p.test, nil, matrix.Float32)
		if err != nil {
			return scored{}, err
		}
		return scored{scores: inOrder(test, fits[best].W), note: fmt.Sprintf("lambda %g", lambdas[best])}, nil
	}
}

// choosePenalty returns the index of the penalty with the best mean criterion over the folds; the larger of
// equals.
func choosePenalty(ctx context.Context, p *parts, o feature.Options) (int, error) {
	k := 3
	if p.train.Rows() < 3000 {
		k = 5
	}
	folds, err := tune.Cut{Seed: o.Seed}.Folds(p.train.Label, k)
	if err != nil {
		return 0, err
	}
	sums := make([]float64, len(lambdas))
	for _, fold := range folds {
		f, err := encoded(p, fold.Train, o)
		if err != nil {
			return 0, err
		}
		fits, err := learn.Path(ctx, f.x, learn.Options{}, lambdas)
		if err != nil {
			return 0, err
		}
		validation, err := f.columns.Matrix(p.train, fold.Validation, matrix.Float32)
		if err != nil {
			return 0, err
		}
		for i := range fits {
			c, err := measure(scoresOf(validation.Positives, fits[i].W), scoresOf(validation.Negatives, fits[i].W))
			if err != nil {
				return 0, err
			}
			sums[i] += c.LogPAUC
		}
	}
	best := 0
	for i, sum := range sums {
		if sum > sums[best] {
			best = i
		}
	}
	return best, ctx.Err()
}

// encoding is some training rows and the map that was fitted on them.
type encoding struct {
	columns *feature.Map
	x       *matrix.Matrix
}

func encoded(p *parts, rows []int, o feature.Options) (*encoding, error) {
	columns, _, err := feature.Fit(p.train, p.schema, rows, o)
	if err != nil {
		return nil, err
	}
	x, err := columns.Matrix(p.train, rows, matrix.Float32)
	return &encoding{columns, x}, err
}

func scoresOf(part *matrix.ClassRows, w []float64) []float64 {
	z := make([]float64, part.Rows())
	part.Scores(w, z)
	return z
}

// inOrder returns the scores of a matrix in the order of its table.
func inOrder(x *matrix.Matrix, w []float64) []float64 {
	scores := make([]float64, x.Rows())
	for _, part := range []*matrix.ClassRows{x.Positives, x.Negatives} {
		for i, z := range scoresOf(part, w) {
			scores[part.Source(i)] = z
		}
	}
	return scores
}
