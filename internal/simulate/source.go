package simulate

import (
	"math"
	"math/rand/v2"

	"toptau/internal/detmath"
)

// source draws random variates whose bytes are the same on every platform: PCG bits, square roots, and logarithms of our
// own.
type source struct {
	pcg   *rand.PCG
	spare float64 // the second variate of a polar pair
	has   bool
}

// newSource seeds a stream from a seed and the numbers of a kind and a block, mixed so that neighbours share no bits.
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

// uniform is uniform in [0, 1) on the grid of 2^-53.
func (r *source) uniform() float64 { return float64(r.pcg.Uint64()>>11) / (1 << 53) }

// below is uniform in 0..n-1, up to a bias of n/2^32.
func (r *source) below(n int) int { return int(r.pcg.Uint64() >> 32 * uint64(n) >> 32) }

// normal is standard normal: Marsaglia's polar method.
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

// open is uniform in (0, 1) without its ends.
func (r *source) open() float64 { return (float64(r.pcg.Uint64()>>12) + 0.5) / (1 << 52) }

// exponential has mean 1.
func (r *source) exponential() float64 { return -detmath.Log(r.open()) }

// tail is the common factor that turns normals into Student's t with 2m degrees of freedom: sqrt(2m / chi2). A chi2 of
// 2m degrees is -2 log of a product of m uniforms. Rows that share the factor have heavy tails together.
func (r *source) tail(m int) float64 {
	product := 1.0
	for range m {
		product *= r.open()
	}
	return math.Sqrt(float64(m) / -detmath.Log(product))
}

// round4 rounds to four decimals: the precision of the files, and what makes them quick to write.
func round4(x float64) float64 { return math.Round(x*1e4)/1e4 + 0 } // -0 becomes 0

// gamma2 is the mean of two exponentials: one logarithm of a product of two uniforms.
func (r *source) gamma2() float64 { return float64(-0.5 * detmath.Log(r.open()*r.open())) }
