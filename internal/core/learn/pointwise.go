package learn

import (
	"toptau/internal/core/kernel"
	"toptau/internal/core/matrix"
	"toptau/internal/core/optim"
)

// pointwise is F of the package's doc with its second derivatives: an optim.Curved in the unknowns (w, b).
//
//	grad F = sum v x + lambda w,   v = sign c m l'(s) / M        and the sum of v for b
//	H p    = sum D (x'p + p_b) x + lambda p,   D = c m l''(s) / M
type pointwise struct {
	loss           Loss
	lambda         float64
	classes        [2]*class    // positives, negatives
	curve          [2][]float64 // D by row
	x, p           []float64    // current point and direction, with b last
	square         [3]float64   // |w|^2, w'p, |p|^2 without the intercept
	panels         []float64    // sums of one product by panel
	preconditioner *preconditioner
	passes         int // over the data
}

func newPointwise(x *matrix.Matrix, loss Loss, lambda float64, w ClassWeights) *pointwise {
	f := &pointwise{loss: loss, lambda: lambda}
	positive, negative := w.values()
	mass := float64(positive*massOf(x.Positives)) + float64(negative*massOf(x.Negatives))
	f.classes = [2]*class{newClass(x.Positives, -1, positive/mass), newClass(x.Negatives, 1, negative/mass)}
	for k, c := range f.classes {
		f.curve[k] = make([]float64, c.part.Rows())
	}
	most := max(x.Positives.Rows(), x.Negatives.Rows())
	f.panels = make([]float64, (most+kernel.PanelRows-1)/kernel.PanelRows)
	f.x, f.p = make([]float64, f.Dim()), make([]float64, f.Dim())
	f.preconditioner = newPreconditioner(f)
	return f
}

// Dim returns the number of columns, and one for the intercept.
func (f *pointwise) Dim() int { return f.classes[0].part.Cols() + 1 }

// Move computes the scores at x.
func (f *pointwise) Move(x, g []float64) float64 {
	copy(f.x, x)
	for _, c := range f.classes {
		c.computeScores(x, c.z)
	}
	f.passes++
	return f.evaluate(g)
}

// computeScores writes w'x + b to z.
func (c *class) computeScores(x, z []float64) {
	d := len(x) - 1
	c.part.Scores(x[:d], z)
	for i := range z {
		z[i] += x[d]
	}
}

// Aim computes the scores of the direction.
func (f *pointwise) Aim(p []float64) {
	copy(f.p, p)
	for _, c := range f.classes {
		c.computeScores(p, c.dz)
	}
	f.passes++
	d := len(p) - 1
	f.square = [3]float64{optim.Dot(f.x[:d], f.x[:d]), optim.Dot(f.x[:d], p[:d]), optim.Dot(p[:d], p[:d])}
}

// Along evaluates the loss once for each row.
func (f *pointwise) Along(alpha float64) (value, slope float64) {
	for _, c := range f.classes {
		part := pairInBlocks(len(c.z), func(first, end int) (value, slope float64) {
			for i := first; i < end; i++ {
				dz := c.dz[i]
				l, l1, _ := f.loss.at(c.sign * (c.z[i] + float64(alpha*dz)))
				m := c.weight(i)
				value += float64(m * l)
				slope += float64(float64(m*l1) * float64(c.sign*dz))
			}
			return value, slope
		})
		value += part.first
		slope += part.second
	}
	// lambda/2 |w + alpha p|^2 and its derivative.
	ww, wp, pp := f.square[0], f.square[1], f.square[2]
	value += float64(f.lambda / 2 * (ww + float64(alpha*(float64(2*wp)+float64(alpha*pp)))))
	slope += float64(f.lambda * (wp + float64(alpha*pp)))
	return value, slope
}

// Advance moves the scores.
func (f *pointwise) Advance(alpha float64, g []float64) float64 {
	for j, p := range f.p {
		f.x[j] += float64(alpha * p)
	}
	for _, c := range f.classes {
		for i, dz := range c.dz {
			c.z[i] += float64(alpha * dz)
		}
	}
	return f.evaluate(g)
}

// evaluate returns the value at the current scores. It sets the gradient and the curvatures.
func (f *pointwise) evaluate(g []float64) (value float64) {
	clear(g)
	d := len(g) - 1
	for k, c := range f.classes {
		curve := f.curve[k]
		part := pairInBlocks(len(c.z), func(first, end int) (value, total float64) {
			for i := first; i < end; i++ {
				l, l1, l2 := f.loss.at(float64(c.sign * c.z[i]))
				m := c.weight(i)
				value += float64(m * l)
				c.v[i] = float64(c.sign * float64(m*l1))
				curve[i] = float64(m * l2)
				total += c.v[i]
			}
			return value, total
		})
		value += part.first
		c.addGradient(g[:d])
		g[d] += part.second
	}
	f.passes++
	for j, w := range f.x[:d] {
		g[j] += float64(f.lambda * w)
	}
	return value + float64(f.lambda/2*optim.Dot(f.x[:d], f.x[:d]))
}

// Product makes one pass over the data.
func (f *pointwise) Product(s, out []float64) {
	clear(out)
	d := len(s) - 1
	for k, c := range f.classes {
		curve := f.curve[k]
		// One pass scores a panel of rows and adds its weighted rows; the sum for b is kept by panel, for a
		// fixed order.
		panels := f.panels[:(len(c.z)+kernel.PanelRows-1)/kernel.PanelRows]
		clear(panels)
		c.part.Pass(s[:d], func(first int, z, v []float64) bool {
			var total float64
			some := false
			for i, zi := range z {
				if m := curve[first+i]; m != 0 {
					v[i] = float64(m * (zi + s[d]))
					total += v[i]
					some = true
				}
			}
			panels[first/kernel.PanelRows] = total
			return some
		}, out[:d])
		for _, x := range panels {
			out[d] += x
		}
	}
	f.passes++
	f.preconditioner.products++
	for j, x := range s[:d] {
		out[j] += float64(f.lambda * x)
	}
}

// Bounded is true with a penalty, and for the squared hinge, which is piecewise quadratic.
func (f *pointwise) Bounded() bool { return f.lambda > 0 || f.loss == SquaredHinge }

const (
	// harmless is the largest loss of a margin, as a part of the largest gain, that counts as none: rounding,
	// or a Newton step that still converges. Chosen by hand.
	harmless = 1e-9
	// stillMoving is the change of a margin by a Newton step, where the gradient has faded, that shows an
	// exponential tail. Chosen by hand between the two cases: about 0 at a minimum and 1 on the tail.
	stillMoving = 0.1
)

// Falls is true if a direction makes no margin worse and some better. Then the logistic loss falls without
// end. The directions that it tries are the current point, which is one if it separates the classes, and the
// direction of Aim.
//
// Where the gradient has faded, a Newton step that still improves a margin by a tenth shows the same. At a
// minimum the step would be as small as the gradient; on an exponential tail it is always 1.
func (f *pointwise) Falls(faded bool) bool {
	separates := true
	var gain, harm float64
	for _, c := range f.classes {
		for i, dz := range c.dz {
			gain = max(gain, float64(-c.sign*dz))
			harm = max(harm, float64(c.sign*dz))
			separates = separates && float64(c.sign*c.z[i]) < 0
		}
	}
	return separates || gain > 0 && harm <= harmless*gain || faded && gain > stillMoving
}

// Factor prepares the preconditioner.
func (f *pointwise) Factor(damping float64) { f.preconditioner.factor(damping) }

// Precondition applies the preconditioner.
func (f *pointwise) Precondition(r, out []float64) { f.preconditioner.apply(r, out) }

// lowerBound returns a lower bound of min F from the current point, by weak duality. Let v have sign v >= 0,
// sum 0 (because b is free) and, for the logistic loss, |v| <= c m / M. Then
//
//	min F >= - sum of (c m / M) l*(|v| M / (c m)) - |X'v|^2 / (2 lambda).
//
// The v of the gradient sums almost to 0. The class with the larger sum is scaled down. For lambda = 0 the
// bound is 0, as no loss is negative.
func (f *pointwise) lowerBound() float64 {
	if f.lambda == 0 {
		return 0
	}
	var total [2]float64
	for k, c := range f.classes {
		total[k] = sumInBlocks(len(c.v), func(first, end int) (t float64) {
			for _, v := range c.v[first:end] {
				t += float64(c.sign * v)
			}
			return t
		})
	}
	g := make([]float64, f.classes[0].part.Cols())
	var gain float64
	for k, c := range f.classes {
		scale := 0.0
		if total[k] > 0 {
			scale = min(total[0], total[1]) / total[k]
		}
		gain -= sumInBlocks(len(c.v), func(first, end int) (t float64) {
			for i := first; i < end; i++ {
				c.v[i] *= scale
				m := c.weight(i)
				t += float64(m * f.loss.conjugate(float64(c.sign*c.v[i])/m))
			}
			return t
		})
		c.addGradient(g)
	}
	f.passes++
	return max(0, gain-optim.Dot(g, g)/(2*f.lambda))
}
