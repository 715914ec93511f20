package tune

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"toptau/internal/matrix"
	"toptau/internal/optim"
	"toptau/method"
	"toptau/threshold"
)

// What a problem gets does not depend on the problems beside it, nor on their order.
func TestCertifiedFitsAreSingleFits(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	var x [][]float64
	var y []bool
	for i := range 600 {
		row := make([]float64, 4)
		for j := range row {
			row[j] = float64(r.Uint64()>>11)/(1<<53) + float64(i%4/3)*.3
		}
		x, y = append(x, row), append(y, i%4 == 3)
	}
	m, err := matrix.FromDense(x, y, nil, matrix.Float32)
	if err != nil {
		t.Fatal(err)
	}
	var problems []method.Problem
	for _, m := range method.All() { // those that are not convex go to the other scheme
		for _, h := range Grid(m, threshold.MustRate("5%"), "")[:3] {
			p, err := m.With(h)
			if err != nil {
				t.Fatal(err)
			}
			problems = append(problems, p)
		}
	}
	scheme := Certified{Rest: Paper{Options: optim.StepOptions{Iterations: 5}}}
	fit := func(problems []method.Problem) []string {
		out := make([]string, len(problems))
		var mu sync.Mutex
		err := scheme.Fit(context.Background(), m, problems, Watch{
			Fitted: func(i int, f Fit, err error) {
				mu.Lock()
				defer mu.Unlock()
				certificate := ""
				if f.Certified != nil {
					certificate = fmt.Sprint(*f.Certified)
				}
				f.Seconds, f.Certified = 0, nil
				out[i] += fmt.Sprint(f, certificate, err)
			},
			Progress: func(int, float64) {},
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	together := fit(problems)
	backwards := slices.Clone(problems)
	slices.Reverse(backwards)
	reversed := fit(backwards)
	slices.Reverse(reversed)
	for i, p := range problems {
		if alone := fit([]method.Problem{p})[0]; together[i] != alone || reversed[i] != alone || alone == "" {
			t.Errorf("%s: together %s\nreversed %s\nalone %s", Describe(p), together[i], reversed[i], alone)
		}
	}
}
