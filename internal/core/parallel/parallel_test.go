package parallel_test

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"toptau/internal/core/parallel"
)

// withThreads runs a test on 1, 2 and 8 threads.
func withThreads(t *testing.T, test func(t *testing.T)) {
	for _, threads := range []int{1, 2, 8} {
		t.Run(fmt.Sprint(threads), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
			test(t)
		})
	}
}

func TestEveryIndexOnce(t *testing.T) {
	withThreads(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 2, 7, 1000} {
			loops := map[string]func(mark func(i int)){
				"For":    func(mark func(i int)) { parallel.For(n, mark) },
				"ForErr": func(mark func(i int)) { parallel.ForErr(n, func(i int) error { mark(i); return nil }) },
				"Ranges": func(mark func(i int)) {
					parallel.Ranges(n, func(first, last int) {
						for i := first; i < last; i++ {
							mark(i)
						}
					})
				},
				"Blocks": func(mark func(i int)) {
					parallel.Blocks(n, 3, func(block, first, last int) {
						if first != 3*block {
							t.Errorf("block %d begins at %d", block, first)
						}
						for i := first; i < last; i++ {
							mark(i)
						}
					})
				},
			}
			for name, loop := range loops {
				count := make([]atomic.Int32, n)
				loop(func(i int) { count[i].Add(1) })
				for i := range count {
					if count[i].Load() != 1 {
						t.Errorf("%s of %d: index %d ran %d times", name, n, i, count[i].Load())
					}
				}
			}
		}
	})
}

func TestForErrReturnsTheErrorOfTheSmallestIndex(t *testing.T) {
	withThreads(t, func(t *testing.T) {
		for range 100 {
			err := parallel.ForErr(50, func(i int) error {
				if i == 12 || i == 13 || i == 40 {
					return errors.New(fmt.Sprint(i))
				}
				return nil
			})
			if err == nil || err.Error() != "12" {
				t.Fatal(err)
			}
		}
	})
}

func TestOrderedHandsOutInOrder(t *testing.T) {
	withThreads(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 2, 5, 100} {
			for _, stopAfter := range []int{0, 1, 3, n} {
				o := parallel.NewOrdered(n, runtime.GOMAXPROCS(0), func() *int { return new(int) }, func(i int, item *int) { *item = i * i })
				for i := range min(stopAfter, n) {
					if item := o.Next(); item == nil || *item != i*i {
						t.Fatalf("item %d of %d: %v", i, n, item)
					}
				}
				if stopAfter >= n && o.Next() != nil {
					t.Errorf("an item after the last of %d", n)
				}
				o.Stop()
			}
		}
	})
}
