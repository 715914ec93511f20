package optim

import (
	"context"
	"encoding/csv"
	"os"
	"strconv"
	"strings"
	"testing"

	"toptau/internal/core/matrix"
	"toptau/internal/core/matrix/matrixtest"
	"toptau/internal/core/objective"
	"toptau/method"
	"toptau/surrogate"
	"toptau/threshold"
)

// optimum is a row of internal/tests/reference/optima.csv.
type optimum struct {
	text      map[string]string
	dualLower float64
}

func optima(t *testing.T, dataset, preprocessing string) []optimum {
	t.Helper()
	rows := records(t, "../../tests/reference/optima.csv")
	var out []optimum
	for _, row := range rows[1:] {
		o := optimum{text: map[string]string{}}
		for k, name := range rows[0] {
			o.text[name] = row[k]
		}
		if o.text["dataset"] == dataset && o.text["preprocessing"] == preprocessing {
			o.dualLower = o.number(t, "dual_lower")
			out = append(out, o)
		}
	}
	return out
}

func (o *optimum) number(t *testing.T, name string) float64 {
	t.Helper()
	if o.text[name] == "" {
		return 0
	}
	x, err := strconv.ParseFloat(o.text[name], 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func (o *optimum) problem(t *testing.T) method.Problem {
	t.Helper()
	m, err := method.ByName(o.text["method"])
	if err != nil {
		t.Fatal(err)
	}
	l, err := surrogate.ByName(strings.ReplaceAll(o.text["surrogate"], "_", "-"))
	if err != nil {
		t.Fatal(err)
	}
	h := method.Problem{Lambda: o.number(t, "lambda"), Beta: o.number(t, "beta"), Surrogate: l.Name()}
	if m.UsesTau {
		h.Tau = threshold.MustRate(o.text["tau"])
	}
	if m.UsesK {
		h.K = int(o.number(t, "k"))
	}
	p, err := m.With(h)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func records(t *testing.T, path string) [][]string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func ionosphere(t *testing.T, storage matrix.Storage) *matrix.Matrix {
	t.Helper()
	x, y := matrixtest.Read(t, "ionosphere")
	m, err := matrix.FromDense(x, y, nil, storage)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestNeverBelowTheCertifiedOptimum checks that no run gets below a certified lower bound, and that every run
// from 0 gets close to the optimum or reports that it is no better than w = 0. The cases alternate between
// float64 and float32.
func TestNeverBelowTheCertifiedOptimum(t *testing.T) {
	data := []*matrix.Matrix{ionosphere(t, matrix.Float64), ionosphere(t, matrix.Float32)}
	tolerance := []float64{1e-12, 1e-7}
	cases := optima(t, "ionosphere", "raw")
	if len(cases) < 40 {
		t.Fatalf("only %d reference optima", len(cases))
	}
	worst := 0.0
	for k, c := range cases {
		if testing.Short() && k%8 > 1 {
			continue
		}
		o, err := objective.New(c.problem(t), data[k%2])
		if err != nil {
			t.Fatal(err)
		}
		r, err := Adam(context.Background(), o, nil, StepOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Best.F < c.dualLower*(1-tolerance[k%2]) {
			t.Errorf("%v: ADAM reached %v, below the certified bound %v", c.text, r.Best.F, c.dualLower)
		}
		// Small beta needs |w| that 1,000 steps of 0.01 cannot reach.
		decrease := r.AtZero.F - c.dualLower
		if decrease > 0.01 && (c.text["beta"] == "" || c.number(t, "beta") >= 1) {
			worst = max(worst, (r.Best.F-c.dualLower)/decrease)
		}
	}
	t.Logf("ADAM leaves at most %.1f %% of the possible decrease", 100*worst)
	if worst > 0.25 {
		t.Errorf("ADAM leaves %.0f %% of the possible decrease", 100*worst)
	}
}
