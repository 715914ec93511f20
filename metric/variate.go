package metric

import (
	"math"
	"math/rand/v2"

	"toptau/internal/binomial"
	"toptau/internal/detmath"
)

// drawBinomial draws from Bin(n, part/whole) by inversion: the masses are subtracted from one uniform number,
// alternately above and below the mode, so that the work is about the distance from it. part <= whole are counts;
// with whole = 0 there is nothing to draw and n is 0.
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
			return mode // all masses are subtracted and rounding has left a crumb of u
		}
	}
	return mode
}

// uniform is uniform in [0, 1) on the grid of 2^-53.
func uniform(rng *rand.Rand) float64 { return float64(float64(rng.Uint64()>>11) / (1 << 53)) }

// drawExponential draws from the exponential distribution with mean 1 by the ziggurat of Marsaglia and Tsang (Journal of Statistical
// Software 5, 2000): the density is covered by layers of equal area, and a point of a layer is taken at once where the whole
// height of the layer lies below the density.
func drawExponential(rng *rand.Rand) float64 {
	for {
		bits := rng.Uint64()
		i := bits & 255 // the layer; the bits of the place in it are others
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

// lastLayer is where the tail begins that belongs to layer 0, for 256 layers.
const lastLayer = 7.69711747013104972

// layers are the right ends of the layers and the density there. Layer 0 is as wide as a rectangle of the same area would be.
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

// positiveUniform is uniform in (0, 1), in the middle of the cells of uniform.
func positiveUniform(rng *rand.Rand) float64 { return uniform(rng) + 1.0/(1<<54) }

// drawGamma draws the sum of k exponential variables with mean 1: one by one where they are few, otherwise by the method of
// Marsaglia and Tsang (ACM TOMS 26, 2000), which accepts a cubed normal variable in all but a few per cent of the cases.
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
