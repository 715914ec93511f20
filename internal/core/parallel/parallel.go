// Package parallel runs loops on all processors. The rule of determinism is here: work for index i must write to places of
// its own and must not depend on which goroutine runs it, so that results do not depend on the number of threads.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// For calls do(i) for every i in [0, n) and returns when all calls have returned. Goroutines take indices one at a time, in
// ascending order.
func For(n int, do func(i int)) {
	workers := min(n, runtime.GOMAXPROCS(0))
	if workers < 2 {
		for i := range n {
			do(i)
		}
		return
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := int(next.Add(1) - 1); i < n; i = int(next.Add(1) - 1) {
				do(i)
			}
		})
	}
	group.Wait()
}

// ForErr is For with errors: it returns the error of the smallest index that has one. After an error, indices that have not
// begun may be skipped; smaller ones never are.
func ForErr(n int, do func(i int) error) error {
	errs := make([]error, n)
	var failed atomic.Int64 // the smallest index with an error
	failed.Store(int64(n))
	For(n, func(i int) {
		if int64(i) > failed.Load() {
			return
		}
		if errs[i] = do(i); errs[i] == nil {
			return
		}
		for {
			smallest := failed.Load()
			if int64(i) >= smallest || failed.CompareAndSwap(smallest, int64(i)) {
				return
			}
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Ranges splits [0, n) into one range of nearly equal length for each processor and calls do for each, at the same time.
func Ranges(n int, do func(first, last int)) {
	workers := min(n, runtime.GOMAXPROCS(0))
	For(workers, func(k int) { do(k*n/workers, (k+1)*n/workers) })
}

// Blocks splits [0, n) into blocks of size indices (the last one may be shorter) and calls do(block, first, last) for each.
// The blocks depend on size alone, so per-block sums that are added in the order of the blocks are the same on any number
// of threads.
func Blocks(n, size int, do func(block, first, last int)) {
	For((n+size-1)/size, func(block int) { do(block, block*size, min((block+1)*size, n)) })
}

// InOrder calls do for every i in [0, n), at most atOnce of them before their results are added, and add with the results in
// the order of i. It begins with one, and then takes twice as many each time, so that early results can keep later ones
// small. What do finds in earlier results, and the order of sums, do not depend on the number of threads.
func InOrder[T any](n, atOnce int, do func(i int) (T, error), add func(T)) error {
	results := make([]T, min(n, atOnce))
	for first, count := 0, 1; first < n; first, count = first+count, min(2*count, atOnce) {
		count = min(count, n-first)
		err := ForErr(count, func(k int) (err error) {
			results[k], err = do(first + k)
			return err
		})
		if err != nil {
			return err
		}
		for k := range count {
			add(results[k])
		}
	}
	return nil
}
