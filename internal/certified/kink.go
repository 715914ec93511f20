package certified

// kink is max(0, x) with its corner rounded over a width,
//
//	c(x) = (x + width/2)^2/(2 width)  for |x| < width/2,
//
// or max(0, x)^2, which has no corner. Slopes of the former rise from 0 to 1, so that those of a rounded problem are
// feasible multipliers of the true one. Narrower corners have smaller values everywhere.
type kink struct {
	square bool
	width  float64
}

// at returns c, c' and c”.
func (k kink) at(x float64) (value, slope, bend float64) {
	if k.square {
		if x <= 0 {
			return 0, 0, 0
		}
		return float64(x * x), 2 * x, 2
	}
	if x <= -k.width/2 {
		return 0, 0, 0
	} else if x >= k.width/2 {
		return x, 1, 0
	}
	slope = x/k.width + .5
	return float64(float64(k.width/2*slope) * slope), slope, 1 / k.width
}

func (k kink) value(x float64) float64 { v, _, _ := k.at(x); return v }
func (k kink) slope(x float64) float64 { _, v, _ := k.at(x); return v }
func (k kink) bend(x float64) float64  { _, _, v := k.at(x); return v }

// reach is how far below 0 the kink begins.
func (k kink) reach() float64 {
	if k.square {
		return 0
	}
	return k.width / 2
}
