// Package form describes a training problem without its data: the loss, the threshold, and the numbers that
// they depend on. It evaluates both on rows that the caller holds, and has the parts of the dual that need no
// rows' features.
//
// Minimise F(w) = (1/M+) sum over the positives of m_i l(t(w) - z_i) + lambda/2 |w|^2, where z = Xw are
// scores, m row weights and M+ the mass (the sum of weights) of the positives. Every threshold that has a
// certificate is
//
//	t(w) = max over the simplex of a'z - r(a)
//
// with the constraints and the regulariser r of its Kind.
package form

import (
	"fmt"

	"toptau/method"
	"toptau/surrogate"
	"toptau/threshold"
)

// Kind is the kind of threshold, by its constraint on a and its regulariser r(a).
type Kind int

const (
	TopMean         Kind = iota // a_j <= m_j/kappa, r = 0
	HingeQuantile               // r = (kappa max(a_j/m_j) - 1)/beta
	SquaredQuantile             // r = (sqrt(kappa sum a_j^2/m_j) - 1)/beta
)

// Form is a training problem without its data.
type Form struct {
	Kind    Kind
	Squared bool    // l(s) = max(0, 1+s)^2; false: max(0, 1+s)
	Kappa   float64 // the mass on top: K, or M tau
	Beta    float64 // of surrogate quantiles
	Lambda  float64
	Rule    threshold.Threshold // the same threshold bound to the whole population; nil: not bound yet
}

// Of returns the form of a problem. The error explains why there is no certificate for it.
func Of(p method.Problem) (Form, error) {
	f := Form{Lambda: p.Lambda}
	if !p.Definition().Convex {
		return f, fmt.Errorf("certified: %s is not convex: no certificate exists", p.Definition().Title)
	}
	switch p.Loss() {
	case surrogate.Hinge:
	case surrogate.SquaredHinge:
		f.Squared = true
	default:
		return f, fmt.Errorf("certified: the %s surrogate has no certified solver", p.Surrogate)
	}
	switch r := p.Rule().(type) {
	case threshold.TopCount, threshold.TopMean:
		f.Kind = TopMean
	case threshold.SurrogateQuantile:
		f.Kind, f.Beta = HingeQuantile, r.Beta
		if r.Surrogate != nil && r.Surrogate == surrogate.SquaredHinge {
			f.Kind = SquaredQuantile
		}
	default:
		return f, fmt.Errorf("certified: no dual is known for the threshold of %s", p.Definition().Title)
	}
	return f, nil
}

// Bind returns the form of a problem whose threshold is bound to its population.
func Bind(p method.Problem, rule threshold.Threshold) (Form, error) {
	f, err := Of(p)
	f.Kappa, f.Rule = rule.Kappa(), rule
	return f, err
}

// Band is 1/beta, the distance from t down to the lower edge of a surrogate quantile's band.
func (f *Form) Band() float64 { return 1 / f.Beta }

// AtZero returns F(0) for a population of the given mass. All scores are 0 there.
func (f *Form) AtZero(mass float64) float64 {
	t, _, _ := f.Threshold([]float64{0}, []float64{mass}, nil)
	return f.Loss(1 + t)
}

// Loss returns l for a margin 1 + t - z. It is surrogate.Hinge or surrogate.SquaredHinge as a function of the
// margin. Those take s = t - z and add 1, which rounds differently.
func (f *Form) Loss(margin float64) float64 { return Loss(f.Squared, margin) }

// Loss returns max(0, margin), or its square.
func Loss(squared bool, margin float64) float64 {
	if margin <= 0 {
		return 0
	}
	if squared {
		return margin * margin
	}
	return margin
}

// MeanLoss returns (1/M+) sum m_i l(t - z_i); mass is M+.
func (f *Form) MeanLoss(t float64, z, m []float64, mass float64) float64 {
	var total float64
	for i, v := range z {
		total += float64(m[i] * f.Loss(1+t-v))
	}
	return total / mass
}
