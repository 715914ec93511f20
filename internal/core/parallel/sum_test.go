package parallel_test

import (
	"math"
	"runtime"
	"testing"

	"toptau/internal/core/parallel"
)

// powers is a Part whose vectors differ so much in size that every order of addition gives another sum.
type powers struct{ last [8]int }

func (p *powers) Compute(worker, i int) bool {
	if i%7 == 3 {
		for range 1000 { // out of turn
			runtime.Gosched()
		}
	}
	p.last[worker] = i
	return i%5 != 0
}

func (p *powers) AddTo(worker, i int, sum []float64) {
	if p.last[worker] != i {
		panic("AddTo without Compute")
	}
	for j := range sum {
		sum[j] += math.Ldexp(1, i*11%97) / float64(j+3)
	}
}

func TestOrderedSumAddsInOrder(t *testing.T) {
	want := []float64{1, 2}
	for i := range 200 {
		for j := range want {
			if i%5 != 0 {
				want[j] += math.Ldexp(1, i*11%97) / float64(j+3)
			}
		}
	}
	var s parallel.OrderedSum
	for _, workers := range []int{1, 2, 8, 3} { // with memory of earlier runs
		got := []float64{1, 2}
		s.Run(&powers{}, 200, workers, got)
		for j := range got {
			if got[j] != want[j] {
				t.Errorf("%d workers: sum %d is %v, want %v", workers, j, got[j], want[j])
			}
		}
		s.Run(&powers{}, 200, workers, nil)
	}
}
