package certified

import (
	"runtime"
	"sync"
)

// dot33 returns the nine inner products of three vectors with three others, each summed in ascending order. Nine sums
// and six loads fill the scalar registers without spilling; the products are rounded before they are added, so every
// platform gives the same bits.
func dot33(a0, a1, a2, b0, b1, b2 []float64) (s00, s01, s02, s10, s11, s12, s20, s21, s22 float64) {
	n := len(a0)
	a1, a2, b0, b1, b2 = a1[:n], a2[:n], b0[:n], b1[:n], b2[:n]
	for k, x0 := range a0 {
		y0, y1, y2 := b0[k], b1[k], b2[k]
		s00 += float64(x0 * y0)
		s01 += float64(x0 * y1)
		s02 += float64(x0 * y2)
		x1 := a1[k]
		s10 += float64(x1 * y0)
		s11 += float64(x1 * y1)
		s12 += float64(x1 * y2)
		x2 := a2[k]
		s20 += float64(x2 * y0)
		s21 += float64(x2 * y1)
		s22 += float64(x2 * y2)
	}
	return
}

// dot is the inner product, summed in ascending order.
func dot(a, b []float64) float64 {
	b = b[:len(a)]
	var s float64
	for i, x := range a {
		s += float64(x * b[i])
	}
	return s
}

// dot4 returns the inner products of four vectors with b: four sums side by side take little longer than one.
func dot4(a0, a1, a2, a3, b []float64) (s0, s1, s2, s3 float64) {
	n := len(b)
	a0, a1, a2, a3 = a0[:n], a1[:n], a2[:n], a3[:n]
	for k, x := range b {
		s0 += float64(a0[k] * x)
		s1 += float64(a1[k] * x)
		s2 += float64(a2[k] * x)
		s3 += float64(a3[k] * x)
	}
	return
}

// axpy adds c*x to y.
func axpy(c float64, x, y []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += float64(c * v)
	}
}

func sum(a []float64) float64 {
	var s float64
	for _, v := range a {
		s += v
	}
	return s
}

// parallel calls do(i) for every i in [0, n). Tasks must write to places of their own, and what a task computes must
// not depend on who runs it; then the result does not depend on the number of threads. work is a rough count of
// multiplications: small work runs inline.
func parallel(n int, work float64, do func(i int)) {
	threads := min(runtime.GOMAXPROCS(0), n)
	if threads < 2 || work < 1e5 {
		for i := range n {
			do(i)
		}
		return
	}
	var next int
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range threads {
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= n {
					return
				}
				do(i)
			}
		})
	}
	wg.Wait()
}
