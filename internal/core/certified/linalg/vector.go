// Package linalg has the dense and sparse linear algebra of the certified solver: inner products, weighted
// rows with their Gram matrix, and a Cholesky factorisation.
//
// Every sum has a fixed order, and every product is rounded before it is added. So the bits do not depend on
// the processor or on the number of threads. This is why the package does not use a BLAS.
package linalg

import "toptau/internal/core/parallel"

// dot33 returns the nine inner products of three vectors with three others, each summed in ascending order.
// Nine sums and six loads fill the scalar registers without spilling.
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

// Dot returns the inner product, summed in ascending order.
func Dot(a, b []float64) float64 {
	b = b[:len(a)]
	var s float64
	for i, x := range a {
		s += float64(x * b[i])
	}
	return s
}

// Dot4 returns the inner products of four vectors with b. Four independent sums take little longer than one.
func Dot4(a0, a1, a2, a3, b []float64) (s0, s1, s2, s3 float64) {
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

// dot8 sets z to the inner products of eight adjacent rows in x with b.
func dot8(x, b []float64, z *[8]float64) {
	n := len(b)
	a0, a1, a2, a3 := x[:n], x[n:][:n], x[2*n:][:n], x[3*n:][:n]
	a4, a5, a6, a7 := x[4*n:][:n], x[5*n:][:n], x[6*n:][:n], x[7*n:][:n]
	var s0, s1, s2, s3, s4, s5, s6, s7 float64
	for k, x := range b {
		s0 += float64(a0[k] * x)
		s1 += float64(a1[k] * x)
		s2 += float64(a2[k] * x)
		s3 += float64(a3[k] * x)
		s4 += float64(a4[k] * x)
		s5 += float64(a5[k] * x)
		s6 += float64(a6[k] * x)
		s7 += float64(a7[k] * x)
	}
	*z = [8]float64{s0, s1, s2, s3, s4, s5, s6, s7}
}

// Axpy adds c*x to y.
func Axpy(c float64, x, y []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += float64(c * v)
	}
}

// Axpy4 is Axpy for four vectors, one after the other. y is loaded and stored once.
func Axpy4(c0, c1, c2, c3 float64, x0, x1, x2, x3, y []float64) {
	n := len(y)
	x0, x1, x2, x3 = x0[:n], x1[:n], x2[:n], x3[:n]
	for i, s := range y {
		s += float64(c0 * x0[i])
		s += float64(c1 * x1[i])
		s += float64(c2 * x2[i])
		s += float64(c3 * x3[i])
		y[i] = s
	}
}

// SubtractSymmetric sets r -= B x for a symmetric matrix of n rows, given by its lower triangle.
func SubtractSymmetric(b []float64, n int, x, r []float64) {
	row := func(i int) []float64 { return b[i*n : i*n+n] }
	i := 0
	for ; i+4 <= n; i += 4 {
		// Four rows at a time, as in Cholesky.Solve: the sums of their products with x, and then their columns.
		var sums [4]float64
		sums[0], sums[1], sums[2], sums[3] = Dot4(row(i), row(i+1), row(i+2), row(i+3), x[:i])
		for k := range sums {
			for j := i; j < i+k; j++ {
				sums[k] += float64(b[(i+k)*n+j] * x[j])
			}
			r[i+k] -= sums[k] + float64(b[(i+k)*n+i+k]*x[i+k])
		}
		Axpy4(-x[i], -x[i+1], -x[i+2], -x[i+3], row(i), row(i+1), row(i+2), row(i+3), r[:i])
		for k := 1; k < 4; k++ {
			Axpy(-x[i+k], b[(i+k)*n+i:(i+k)*n+i+k], r[i:i+k])
		}
	}
	for ; i < n; i++ {
		r[i] -= Dot(row(i)[:i], x[:i]) + float64(b[i*n+i]*x[i])
		Axpy(-x[i], row(i)[:i], r[:i])
	}
}

// Sum adds the elements in ascending order.
func Sum(a []float64) float64 {
	var s float64
	for _, v := range a {
		s += v
	}
	return s
}

// inlineWork is the number of multiplications below which starting goroutines costs more than it saves.
// Chosen by hand.
const inlineWork = 1e5

// For is parallel.For for a loop of about the given number of multiplications. A small loop runs on the
// caller's goroutine.
func For(n int, work float64, do func(i int)) {
	if work < inlineWork {
		for i := range n {
			do(i)
		}
		return
	}
	parallel.For(n, do)
}

// SumsOfBlocks splits [0, n) into blocks of a size, and adds the three sums that sum returns for each, in the
// order of the blocks. work is the number of multiplications per index, about.
func SumsOfBlocks(n, size int, work float64, sum func(first, end int) [3]float64) (total [3]float64) {
	parts := make([][3]float64, (n+size-1)/size)
	For(len(parts), work*float64(n), func(b int) { parts[b] = sum(b*size, min((b+1)*size, n)) })
	for _, part := range parts {
		for k, v := range part {
			total[k] += v
		}
	}
	return total
}
