package simulate

import (
	"math"
	"math/rand/v2"

	"toptau/internal/core/detmath"
)

// source draws random variates with the same bits on every platform. It uses PCG bits, square roots, and the
// logarithm of package detmath.
type source struct {
	pcg   *rand.PCG
	spare float64 // the second variate of a polar pair
	has   bool
}

// newSource returns the stream of a seed, a kind and a block. They are mixed, so that streams of adjacent
// blocks are unrelated.
func newSource(seed, kind, block uint64) *source {
	return &source{pcg: rand.NewPCG(mix(seed^mix(kind)), mix(block^mix(seed+kind)))}
}

// mix is the finaliser of SplitMix64, a bijection of 64-bit words.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// uniform draws a multiple of 2^-53 from [0, 1).
func (r *source) uniform() float64 { return float64(r.pcg.Uint64()>>11) / (1 << 53) }

// below draws uniformly from 0..n-1, with a bias of at most n/2^32.
func (r *source) below(n int) int { return int(r.pcg.Uint64() >> 32 * uint64(n) >> 32) }

// normal draws a standard normal variate by Marsaglia's polar method.
func (r *source) normal() float64 {
	if r.has {
		r.has = false
		return r.spare
	}
	for {
		u, v := float64(2*r.uniform())-1, float64(2*r.uniform())-1
		s := float64(u*u) + float64(v*v)
		if s >= 1 || s == 0 {
			continue
		}
		f := math.Sqrt(-2 * detmath.Log(s) / s)
		r.spare, r.has = float64(v*f), true
		return float64(u * f)
	}
}

// open draws uniformly from (0, 1) without the ends.
func (r *source) open() float64 { return (float64(r.pcg.Uint64()>>12) + 0.5) / (1 << 52) }

// exponential draws an exponential variate with mean 1.
func (r *source) exponential() float64 { return -detmath.Log(r.open()) }

// tail draws the factor that turns normal variates into Student's t with 2m degrees of freedom: sqrt(2m /
// chi2). A chi2 with 2m degrees is -2 log of a product of m uniforms. Variates with the same factor are
// extreme together.
func (r *source) tail(m int) float64 {
	product := 1.0
	for range m {
		product *= r.open()
	}
	return math.Sqrt(float64(m) / -detmath.Log(product))
}

// round4 rounds to four decimals, the precision of the files, which makes them fast to write.
func round4(x float64) float64 { return math.Round(x*1e4)/1e4 + 0 } // -0 becomes 0

// gamma2 draws the mean of two exponentials, with one logarithm of a product of two uniforms.
func (r *source) gamma2() float64 { return float64(-0.5 * detmath.Log(r.open()*r.open())) }
