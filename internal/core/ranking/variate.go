package ranking

import (
	"math"
	"math/rand/v2"

	"toptau/internal/core/binomial"
	"toptau/internal/core/detmath"
)

// drawBinomial draws from Bin(n, part/whole) by inversion: it subtracts masses from one uniform number,
// alternately above and below the mode, so the work is proportional to the distance from the mode. part and
// whole are counts with part <= whole. If whole is 0, n must be 0.
func drawBinomial(rng *rand.Rand, n int, part, whole float64) int {
	switch {
	case n == 0 || part == 0:
		return 0
	case part == whole:
		return n
	}
	p, q := part/whole, (whole-part)/whole
	mode := min(n, int(float64(float64(n+1)*p)))
	up, down := mode, mode // the next masses to subtract are those of up+1 and down-1
	upper := binomial.Mass(n, mode, p, q)
	lower := upper
	u := float64(uniform(rng)) - upper
	for u >= 0 && (up < n || down > 0) {
		if up < n {
			upper = float64(upper * (float64(float64(n-up)*p) / float64(float64(up+1)*q)))
			up++
			if u -= upper; u < 0 {
				return up
			}
		}
		if down > 0 {
			lower = float64(lower * (float64(float64(down)*q) / float64(float64(n-down+1)*p)))
			down--
			if u -= lower; u < 0 {
				return down
			}
		}
		if upper+lower < 1e-18 {
			return mode // all masses are subtracted and rounding has left a remainder of u
		}
	}
	return mode
}

// uniform draws uniformly from [0, 1) on the grid of 2^-53.
func uniform(rng *rand.Rand) float64 { return float64(float64(rng.Uint64()>>11) / (1 << 53)) }

// drawExponential draws from the exponential distribution with mean 1 by the ziggurat of Marsaglia and Tsang
// (Journal of Statistical Software 5, 2000): layers of equal area cover the density, and a point of a layer
// is accepted at once if the whole height of the layer lies below the density.
func drawExponential(rng *rand.Rand) float64 {
	for {
		bits := rng.Uint64()
		i := bits & 255 // the layer; other bits give the place in it
		x := float64(float64(bits>>11) / (1 << 53) * layers.right[i])
		if x < layers.right[i+1] {
			return x
		}
		if i == 0 {
			return lastLayer - detmath.Log(positiveUniform(rng))
		}
		if low, high := layers.density[i], layers.density[i+1]; low+float64(uniform(rng)*(high-low)) < detmath.Exp(-x) {
			return x
		}
	}
}

// lastLayer is where the tail of layer 0 begins, for 256 layers (Marsaglia and Tsang).
const lastLayer = 7.69711747013104972

// layers has the right ends of the layers and the density there. Layer 0 has the width of a rectangle of the
// same area.
var layers = func() (l struct{ right, density [257]float64 }) {
	const area = 0.0039496598225815571993
	l.right[0], l.right[1] = area/detmath.Exp(-lastLayer), lastLayer
	for i := 1; i < 256; i++ {
		l.density[i] = detmath.Exp(-l.right[i])
		l.right[i+1] = -detmath.Log(l.density[i] + area/l.right[i])
	}
	l.right[256], l.density[256] = 0, 1
	return l
}()

// positiveUniform draws uniformly from (0, 1), from the midpoints of the cells of uniform.
func positiveUniform(rng *rand.Rand) float64 { return uniform(rng) + 1.0/(1<<54) }

// drawGamma draws the sum of k exponential variables with mean 1: up to three one by one, more by the method
// of Marsaglia and Tsang (ACM TOMS 26, 2000), which accepts a cubed normal variable in more than 95 % of the
// cases. 0.0331 is its squeeze.
func drawGamma(rng *rand.Rand, k int) float64 {
	if k == 0 {
		return 0
	}
	if k <= 3 {
		product := 1.0
		for range k {
			product *= positiveUniform(rng)
		}
		return -detmath.Log(product)
	}
	d := float64(k) - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := drawNormal(rng)
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = float64(float64(v*v) * v)
		u := positiveUniform(rng)
		square := float64(x * x)
		if u < 1-float64(0.0331*float64(square*square)) ||
			detmath.Log(u) < float64(square/2)+float64(d*(1-v+detmath.Log(v))) {
			return float64(d * v)
		}
	}
}

// drawNormal draws from the standard normal distribution by the polar method.
func drawNormal(rng *rand.Rand) float64 {
	for {
		x, y := float64(2*uniform(rng))-1, float64(2*uniform(rng))-1
		if s := float64(x*x) + float64(y*y); s < 1 && s > 0 {
			return float64(x * math.Sqrt(float64(-2*detmath.Log(s))/s))
		}
	}
}
