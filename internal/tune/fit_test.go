package tune

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"toptau/internal/matrix"
	"toptau/internal/optim"
	"toptau/method"
	"toptau/threshold"
)

// Problems that share readings get what they get one by one.
func TestLockstepFitsAreSingleFits(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	var x [][]float64
	var y []bool
	for i := range 9000 { // more than tinyBytes
		row := make([]float64, 10)
		for j := range row {
			row[j] = r.Float64() + float64(i%3/2)*0.3
		}
		x, y = append(x, row), append(y, i%3 == 2)
	}
	m, err := matrix.FromDense(x, y, nil, matrix.Float32)
	if err != nil {
		t.Fatal(err)
	}
	var problems []method.Problem
	for _, m := range method.All() {
		for _, h := range Grid(m, threshold.MustRate("5%"), "") {
			p, err := m.With(h)
			if err != nil {
				t.Fatal(err)
			}
			problems = append(problems, p)
		}
	}
	fits := func(s Paper) []string {
		out := make([]string, len(problems))
		var mu sync.Mutex
		err := s.Fit(context.Background(), m, problems, Watch{
			Fitted: func(i int, f Fit, err error) {
				mu.Lock()
				defer mu.Unlock()
				f.Seconds = 0
				out[i] += fmt.Sprint(f, err)
			},
			Progress: func(int, float64) {},
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	o := optim.StepOptions{Iterations: 12}
	for _, minibatches := range []int{0, 3} {
		for name, pair := range map[string][2]Paper{
			"adam": {{Options: o}, {Options: o, Solver: optim.Adam}},
			"sgd":  {{Options: o, Grid: optim.SGDGrid}, {Options: o, Solver: optim.SGD}},
		} {
			pair[0].Minibatches, pair[1].Minibatches = minibatches, minibatches
			together, alone := fits(pair[0]), fits(pair[1])
			for i := range problems {
				if together[i] != alone[i] || alone[i] == "" {
					t.Errorf("%s, %d minibatches, %s: %s\nalone: %s", name, minibatches, Describe(problems[i]), together[i], alone[i])
				}
			}
		}
	}
}
