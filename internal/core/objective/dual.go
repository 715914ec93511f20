package objective

import (
	"fmt"
	"math"

	"toptau/diag"
	"toptau/internal/core/matrix"
	"toptau/method"
)

// Dual is the value of the dual problem at a feasible point (p, a): a lower bound on the objective at every w.
//
// With t(w) = max over a of a'z - r(a), P = sum p, v = sum p_i x_i - P sum a_j x_j and the surrogate's conjugate l*,
//
//	D(p, a) = Gain - |v|^2 / (2 lambda),   Gain = -P r(a) - (1/M+) sum m_i l*(p_i M+/m_i).
//
// For the hinge the last sum is -P, so that Gain = P - P r(a); for the squared hinge it leaves P - P r(a) - B with
// B = sum (M+/(4 m_i)) p_i^2; for the logistic loss it is an entropy.
type Dual struct {
	D    float64
	Gain float64
	P    float64
	V    []float64 // w = V/lambda at the optimum
}

// feasibilitySlack is the largest relative violation of a constraint that counts as rounding. A point within it is moved onto
// the constraint before its value is computed, so that the bound is that of a feasible point. It is far above the rounding
// errors of the solvers' sums and far below any gap that matters.
const feasibilitySlack = 1e-12

// Dual returns the dual value at (p, a). p has one element for each positive, with 0 <= p_i <= (m_i/M+) sup l'; a has one
// for each row of the population (all: positives first, then negatives), with sum a = 1 and 0 <= a_j <= the rule's cap.
//
// For an infeasible point the error is a *diag.Error with the constraint, the value found and the values allowed. With
// lambda = 0 only points with v = 0 are feasible; DualInBall has no such condition. Methods that are not convex, and rules
// without a known r(a), have no dual.
func (o *Objective) Dual(p, a []float64) (Dual, error) {
	d, err := (&dualPoint{o, p, a}).gain()
	if err != nil {
		return Dual{}, err
	}
	norm := Norm(d.V)
	lambda := o.problem.Lambda
	switch {
	case norm == 0:
		d.D = d.Gain
	case lambda == 0:
		return Dual{}, infeasible("|v| = %g", norm, "v = 0, since lambda = 0",
			"a bound that holds for |w| <= R is the value in a ball of radius R")
	default:
		d.D = d.Gain - float64(norm*norm)/(2*lambda)
	}
	return d, nil
}

// DualInBall returns the dual value at (p, a) as a lower bound on the objective at every w with |w| <= radius. lambda may be 0:
// then the bound is Gain - radius |v|. In general
//
//	D = Gain - |v|^2/(2 lambda) when |v| <= lambda radius, else Gain - radius |v| + lambda radius^2/2.
func (o *Objective) DualInBall(p, a []float64, radius float64) (Dual, error) {
	if !(radius >= 0) || math.IsInf(radius, 1) {
		return Dual{}, infeasible("radius %g", radius, "a finite radius of at least 0", "")
	}
	d, err := (&dualPoint{o, p, a}).gain()
	if err != nil {
		return Dual{}, err
	}
	norm := Norm(d.V)
	lambda := o.problem.Lambda
	if norm <= float64(lambda*radius) {
		d.D = d.Gain
		if norm > 0 {
			d.D -= float64(norm*norm) / (2 * lambda)
		}
		return d, nil
	}
	d.D = d.Gain - float64(radius*norm) + float64(lambda/2*float64(radius*radius))
	return d, nil
}

// dualPoint is a point (p, a) of the dual problem.
type dualPoint struct {
	of   *Objective
	p, a []float64
}

// gain checks the point, moves it onto constraints that rounding breaks, and returns all of the dual value except for the norm.
func (d *dualPoint) gain() (Dual, error) {
	o := d.of
	if !o.problem.Definition().Convex {
		return Dual{}, fmt.Errorf("%s is not convex and has no dual", o.problem.Definition().Title)
	}
	if err := d.clipP(); err != nil {
		return Dual{}, err
	}
	value := Dual{P: sum(len(d.p), func(i int) float64 { return d.p[i] }), V: make([]float64, o.Dim())}
	if value.P == 0 {
		return value, nil // 0 <= F for any a
	}
	if err := d.clipA(); err != nil {
		return Dual{}, err
	}
	r := o.rule.Regulariser(d.a, o.weights)
	if math.IsNaN(r) {
		return Dual{}, fmt.Errorf("%s with the %s surrogate has no known dual", o.problem.Definition().Title, o.loss.Name())
	}
	total := o.positives.Total
	steepest := o.loss.Properties().MaxDerivative
	conjugates := sum(len(d.p), func(i int) float64 {
		m := o.positives.Of(i)
		slope := min(float64(d.p[i]*total)/m, steepest) // at its cap, p_i M+/m_i may round to just above it
		return float64(m*o.loss.Conjugate(slope)) / total
	})
	value.Gain = -float64(value.P*r) - conjugates
	d.addDirection(value.P, value.V)
	return value, nil
}

// addDirection adds sum p_i x_i - P sum a_j x_j to v. It overwrites p and a.
func (d *dualPoint) addDirection(total float64, v []float64) {
	p, a := d.p, d.a
	for j := range a {
		a[j] *= -total
	}
	if d.of.problem.Definition().Population != method.Negatives {
		for i := range p {
			p[i] += a[i]
		}
		a = a[len(p):]
	}
	d.of.addRows(d.of.x.Positives, p, v)
	d.of.addRows(d.of.x.Negatives, a, v)
}

// clipP checks p and replaces it by a copy cut to its caps.
func (d *dualPoint) clipP() error {
	o := d.of
	if len(d.p) != o.x.Positives.Rows() {
		return infeasible("p has %g elements", float64(len(d.p)),
			fmt.Sprintf("one for each of %d positives", o.x.Positives.Rows()), "")
	}
	out := make([]float64, len(d.p))
	slope := o.loss.Properties().MaxDerivative
	for i, x := range d.p {
		cap := math.Inf(1)
		if !math.IsInf(slope, 1) {
			cap = float64(slope*o.positives.Of(i)) / o.positives.Total
		}
		name := func() string { return fmt.Sprintf("p of positive %d (%s)", i+1, at(o.x.Positives, i)) }
		x, err := clip(name, x, cap)
		if err != nil {
			return err
		}
		out[i] = x
	}
	d.p = out
	return nil
}

// clipA checks a and replaces it by a copy within its caps and with sum 1 up to the last bits: what clipping takes away is
// spread over the distances to the caps.
func (d *dualPoint) clipA() error {
	o := d.of
	if len(d.a) != o.population.Rows {
		return infeasible("a has %g elements", float64(len(d.a)),
			fmt.Sprintf("one for each of %d rows of the population", o.population.Rows), "")
	}
	total := sum(len(d.a), func(j int) float64 { return d.a[j] })
	if !(math.Abs(total-1) <= feasibilitySlack) {
		return infeasible("sum of a is %.17g", total, "1", "")
	}
	out := make([]float64, len(d.a))
	limit := func(j int) float64 { return o.rule.Cap(weight(o.weights, j)) }
	for j, x := range d.a {
		name := func() string { return fmt.Sprintf("a of %s", d.populationRow(j)) }
		x, err := clip(name, x, limit(j))
		if err != nil {
			return err
		}
		out[j] = x
	}
	spread(out, limit)
	d.a = out
	return nil
}

// spread changes a by at most feasibilitySlack so that its sum is 1: downwards by a factor, upwards in proportion to the
// distances to the caps.
func spread(a []float64, limit func(j int) float64) {
	total := sum(len(a), func(j int) float64 { return a[j] })
	missing := 1 - total
	if missing <= 0 {
		for j := range a {
			a[j] /= total
		}
		return
	}
	below := sum(len(a), func(j int) float64 { return limit(j) - a[j] })
	if below <= 0 {
		return
	}
	fraction := min(missing/below, 1)
	for j := range a {
		a[j] += float64(fraction * (limit(j) - a[j]))
	}
}

// clip returns x cut to [0, limit], or an error when it lies outside by more than rounding.
func clip(name func() string, x, limit float64) (float64, error) {
	switch {
	case !(x >= 0) || math.IsInf(x, 1):
		return 0, infeasible(name()+" is %g", x, "at least 0, and finite", "")
	case x > limit && !(x <= limit*(1+feasibilitySlack)):
		return 0, infeasible(name()+" is %.17g", x, fmt.Sprintf("at most %.17g", limit), "")
	}
	return min(x, limit), nil
}

func weight(weights []float64, i int) float64 {
	if weights == nil {
		return 1
	}
	return weights[i]
}

// populationRow returns the name of row j of the population.
func (d *dualPoint) populationRow(j int) string {
	o := d.of
	positives := o.x.Positives.Rows()
	switch {
	case o.problem.Definition().Population == method.Negatives:
		return fmt.Sprintf("negative %d (%s)", j+1, at(o.x.Negatives, j))
	case j < positives:
		return fmt.Sprintf("positive %d (%s)", j+1, at(o.x.Positives, j))
	default:
		return fmt.Sprintf("negative %d (%s)", j-positives+1, at(o.x.Negatives, j-positives))
	}
}

// at returns the name of row i in the user's data.
func at(p *matrix.ClassRows, i int) string { return fmt.Sprintf("row %d of the data", p.Source(i)+1) }

// infeasible returns the error for a dual point outside its domain.
func infeasible(found string, number float64, expected, hint string) error {
	return &diag.Error{Kind: diag.Data, Found: "infeasible dual point: " + fmt.Sprintf(found, number),
		Expected: expected, Hint: hint}
}
