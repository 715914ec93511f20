package tune

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"toptau/internal/core/matrix"
	"toptau/internal/core/optim"
	"toptau/method"
	"toptau/threshold"
)

// Problems that share readings get what they get one by one.
func TestLockstepFitsAreSingleFits(t *testing.T) {
	if testing.Short() {
		t.Skip("fits many models")
	}
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
	collect := func(fit func(w Watch) error) []string {
		out := make([]string, len(problems))
		var mu sync.Mutex
		err := fit(Watch{
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
	ctx, o := context.Background(), optim.StepOptions{Iterations: 12}
	for _, minibatches := range []int{0, 3} {
		for name, of := range map[string]struct {
			lockstep Lockstep
			single   func(context.Context, optim.Objective, []optim.Objective, optim.StepOptions) (optim.StepResult, error)
		}{"adam": {optim.AdamGrid, optim.Adam}, "sgd": {optim.SGDGrid, optim.SGD}} {
			scheme := Paper{Grid: of.lockstep, Options: o, Minibatches: minibatches}
			together := collect(func(w Watch) error { return scheme.Fit(ctx, m, problems, w) })
			alone := collect(func(w Watch) error {
				batches, err := scheme.minibatches(m, problems)
				for _, r := range bindProblems(m, batches, problems, w) {
					res, err := of.single(ctx, r.full, optim.Batches(r.batches), o)
					r.report(ctx, res, err, 0, w)
				}
				return err
			})
			for i := range problems {
				if together[i] != alone[i] || alone[i] == "" {
					t.Errorf("%s, %d minibatches, %s with %s: %s\nalone: %s", name, minibatches, problems[i].Method,
						problemText(problems[i]), together[i], alone[i])
				}
			}
		}
	}
}
