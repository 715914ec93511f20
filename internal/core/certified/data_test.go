package certified

import (
	"fmt"
	"testing"

	"toptau/internal/core/matrix"
	"toptau/internal/core/matrix/matrixtest"
	"toptau/internal/core/objective"
	"toptau/method"
	"toptau/surrogate"
	"toptau/threshold"
)

// dataset is a data set of these tests: numeric or one-hot columns, in float64.
type dataset struct {
	x [][]float64
	y []bool
}

// readSet reads a public set.
func readSet(t testing.TB, name string) dataset {
	t.Helper()
	x, y := matrixtest.Read(t, name)
	return dataset{x, y}
}

// standardise scales the columns.
func (d dataset) standardise() dataset { return dataset{matrixtest.Standardise(d.x), d.y} }

func (d dataset) matrix(t testing.TB, s matrix.Storage) *matrix.Matrix {
	t.Helper()
	x, err := matrix.FromDense(d.x, d.y, nil, s)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// newProblem makes a problem from names and numbers; 0 means unset.
func newProblem(t testing.TB, name string, h method.Problem) method.Problem {
	t.Helper()
	m, err := method.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.With(h)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func bind(t testing.TB, p method.Problem, x *matrix.Matrix) *objective.Objective {
	t.Helper()
	o, err := objective.New(p, x)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func hyper(lambda float64, tau string, beta float64, k int, squared bool) method.Problem {
	h := method.Problem{Lambda: lambda, Beta: beta, K: k}
	if tau != "" {
		h.Tau = threshold.MustRate(tau)
	}
	if squared {
		h.Surrogate = surrogate.SquaredHinge.Name()
	}
	return h
}

func describe(r Result) string {
	fraction, some := r.GapOfDecrease()
	text := "w=0"
	if some {
		text = fmt.Sprintf("%.1e", fraction)
	}
	return fmt.Sprintf("F %.10g D %.10g gap %.1e decrease %s passes %d reads %.1f systems %d rounds %d rows %d R %.1e converged %v",
		r.Objective, r.LowerBound, r.RelativeGap(), text, r.Passes, r.RowReads, r.Iterations, r.Rounds, r.WorkingSet, r.BallRadius, r.Converged)
}
