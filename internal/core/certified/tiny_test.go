package certified

import (
	"context"
	"encoding/json"
	"math"
	"math/big"
	"os"
	"testing"

	"toptau/internal/core/matrix"
)

type tinyCase struct {
	Kind       string
	Method     string
	ID         string
	X          [][]string
	Y          []int
	Surrogate  string
	Lambda     string
	Params     map[string]string
	FOptimum   string   `json:"F_opt"`
	WOptimum   []string `json:"w_opt"`
	TOptimum   string   `json:"t_opt"`
	PositivesP []string `json:"dual_alpha_positives"`
	PopP       []string `json:"dual_beta_population"`
}

func rational(t testing.TB, s string) float64 {
	t.Helper()
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("not a fraction: %q", s)
	}
	f, _ := r.Float64()
	return f
}

// TestTinyOptima compares with optima that are known as exact fractions.
func TestTinyOptima(t *testing.T) {
	text, err := os.ReadFile("../../tests/reference/tiny_cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []tinyCase }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, c := range file.Cases {
		if c.Kind != "optimum" {
			continue
		}
		count++
		var d dataset
		for i, row := range c.X {
			var x []float64
			for _, v := range row {
				x = append(x, rational(t, v))
			}
			d.x = append(d.x, x)
			d.y = append(d.y, c.Y[i] == 1)
		}
		var beta float64
		var k int
		if c.Params["beta"] != "" {
			beta = rational(t, c.Params["beta"])
		}
		if c.Params["k"] != "" {
			k = int(rational(t, c.Params["k"]))
		}
		o := bind(t, newProblem(t, c.Method, hyper(rational(t, c.Lambda), c.Params["tau"], beta, k, false)), d.matrix(t, matrix.Float64))
		want := rational(t, c.FOptimum)
		r, err := Solve(context.Background(), o, Options{Gap: 2e-10})
		if err != nil {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		if math.Abs(r.Objective-want) > 1e-9 || r.LowerBound > want+1e-12 || !r.Converged {
			t.Errorf("%s: F %.12g, optimum %.12g\n  %s", c.ID, r.Objective, want, describe(r))
		}
	}
	if count != 36 {
		t.Errorf("%d cases, expected 36", count)
	}
}
