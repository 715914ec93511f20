package metric

import "math/rand/v2"

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
	upper := mass(n, mode, p, q)
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
func uniform(rng *rand.Rand) float64 { return float64(rng.Uint64()>>11) / (1 << 53) }
