package paper

import (
	"fmt"
	"math"
	"slices"

	"toptau/internal/core/objective"
	"toptau/method"
	"toptau/surrogate"
	"toptau/threshold"
)

// patMatClaims returns the statements that Pat&Mat and Pat&Mat-NP do not collapse (Section 4.2, Appendix
// A.3).
func patMatClaims() []claim {
	found := &endsFound{}
	return []claim{
		{Check: Check{Name: "patmat-zero", Paper: "Theorem 4.5",
			Statement: "positives' mean score above the negatives': F(w) < F(0) for every beta up to the proof's; hinge, no lambda"},
			try: (*trial).patMatBelowZero},
		{Check: Check{Name: "patmat-zero-beta0", Paper: "Theorem 4.5",
			Statement: "there is a beta_0: F(w) < F(0) for every beta below it and for none above it; it is at least the proof's beta"},
			try: func(t *trial) error { return t.endOfBeta(found) }, note: found.String},
		{Check: Check{Name: "patmat-gradient-zero", Paper: "-",
			Statement: "grad F(0) = l'(t(0)) (mean of the population - mean of the positives): w = 0 is optimal only if they coincide"},
			try: (*trial).gradientAtZero},
	}
}

// hingeCase is a method with surrogate quantile, the hinge and lambda = 0, at a w with a larger mean score
// for the positives than for the negatives.
type hingeCase struct {
	scored
	z       []float64 // of the population
	method  method.Method
	tau     threshold.Rate
	lead    float64 // mean of the positives minus mean of the population
	size    float64
	printed float64 // beta of the proof
}

// hingeCase draws a case. It returns false if the scores do not clearly meet the theorem's condition.
func (t *trial) hingeCase() (hingeCase, bool) {
	w := t.drawWeights(t.draws)
	c := hingeCase{scored: t.scores(w), method: pick(t.draws, patMatMethods...), tau: t.rate(), size: t.scoreSize(w)}
	c.z = c.population(c.method.Population)
	c.lead = mean(c.scored.positives) - mean(c.z)
	bar, tau := mean(c.z), c.tau.Float64()
	c.printed = min(tau/(bar-slices.Min(c.all)), (1-tau)/(slices.Max(c.all)-bar))
	return c, c.lead > float64(near*c.size) && mean(c.scored.positives) > mean(c.negatives)
}

// advantage returns F(0) - F(w) at a beta, from the definition with t(0) = (1 - tau)/beta.
func (c *hingeCase) advantage(beta float64) (float64, error) {
	t, err := thresholdOf(threshold.SurrogateQuantile{Tau: c.tau, Beta: beta, Surrogate: surrogate.Hinge}, c.z)
	if err != nil {
		return 0, err
	}
	at := (1 - c.tau.Float64()) / beta
	sum := 0.0
	for _, z := range c.scored.positives {
		sum += max(-1-at, t-at-z) // l(t - z) - l(t(0)), where both are 1 + ... or 0
	}
	return -sum / float64(len(c.scored.positives)), nil
}

// patMatBelowZero tests betas up to that of the proof, at which F(0) - F(w) equals the lead.
func (t *trial) patMatBelowZero() error {
	c, ok := t.hingeCase()
	if !ok {
		return nil
	}
	for _, fraction := range []float64{1, 0.5, 0.1, 0.001} {
		beta := float64(c.printed * fraction)
		advantage, err := c.advantage(beta)
		if err != nil {
			return err
		}
		if c.lead > float64(near*(c.size+1/beta)) {
			t.holds(advantage > 0)
			t.equal(advantage, c.lead, c.size+1/beta)
		}
	}
	return nil
}

// endOfBeta finds beta_0 by bisection. t(w) - t(0) is a slope of a convex function along a ray, so it
// increases with beta, and so does the difference of every loss at w and at 0. The betas at which w is better
// than 0 therefore have no gap.
func (t *trial) endOfBeta(found *endsFound) error {
	c, ok := t.hingeCase()
	if !ok || c.lead <= float64(near*(c.size+1/c.printed)) {
		return nil
	}
	end, err := c.bisect(c.printed, float64(1e12*c.printed))
	if err != nil {
		return err
	}
	if math.IsInf(end, 1) { // then w is better in the limit, too, in which the threshold is the largest score
		found.unbounded++
		t.holds(c.atLargeBeta() > float64(-near*c.size))
		return nil
	}
	found.ratios = append(found.ratios, end/c.printed)
	t.holds(end >= float64(c.printed*(1-1e-9)))
	return t.testSides(&c, end)
}

// bisect returns the largest beta at which w is better than 0, starting from one at which it is. It returns
// infinity if the largest beta is above most.
func (c *hingeCase) bisect(low, most float64) (float64, error) {
	high := low
	for advantage := 1.0; advantage > 0; {
		if low, high = high, float64(2*high); high > most {
			return math.Inf(1), nil
		}
		var err error
		if advantage, err = c.advantage(high); err != nil {
			return 0, err
		}
	}
	for high-low > float64(1e-12*high) {
		middle := low + float64((high-low)/2)
		advantage, err := c.advantage(middle)
		if err != nil {
			return 0, err
		}
		if advantage > 0 {
			low = middle
		} else {
			high = middle
		}
	}
	return low, nil
}

// atLargeBeta returns the limit of F(0) - F(w) for large beta.
func (c *hingeCase) atLargeBeta() float64 {
	sum, top := 0.0, slices.Max(c.z)
	for _, z := range c.scored.positives {
		sum += max(-1, top-z)
	}
	return -sum / float64(len(c.scored.positives))
}

// testSides tests betas on both sides of beta_0.
func (t *trial) testSides(c *hingeCase, end float64) error {
	for range 4 {
		factor := 1 + float64(9*t.unit())
		for _, below := range []bool{true, false} {
			beta := float64(end * (factor + 1e-6))
			if below {
				beta = end / (factor + 1e-6)
			}
			advantage, err := c.advantage(beta)
			if err != nil {
				return err
			}
			slack := float64(Tolerance * (c.size + 1/beta))
			t.holds(below && advantage > -slack || !below && advantage < slack)
		}
	}
	return nil
}

// endsFound collects the results of the bisections.
type endsFound struct {
	ratios    []float64 // beta_0 divided by the beta of the proof
	unbounded int       // number of cases without a finite beta_0
}

// String returns the results in words.
func (e *endsFound) String() string {
	if len(e.ratios) == 0 {
		return ""
	}
	slices.Sort(e.ratios)
	return fmt.Sprintf("beta_0 is %.3g to %.3g times the proof's beta, median %.3g; infinite in %d cases (Pat&Mat-NP)",
		e.ratios[0], e.ratios[len(e.ratios)-1], e.ratios[len(e.ratios)/2], e.unbounded)
}

// gradientAtZero compares the gradient with its formula and checks that a step against it decreases F.
func (t *trial) gradientAtZero() error {
	o, err := t.objective(t.draws, pick(t.draws, patMatMethods...))
	if err != nil {
		return err
	}
	p := o.Problem()
	g, zero, away := make([]float64, o.Dim()), make([]float64, o.Dim()), 0.0
	at := o.At(zero, g)
	slope := p.Loss().Derivative(at.T)
	difference := make([]float64, o.Dim())
	for j := range g {
		population := t.subject.negatives[j]
		if p.Definition().Population == method.AllRows {
			n := float64(t.X.Rows())
			population = float64(t.subject.positives[j]*float64(t.X.Positives.Rows())/n) +
				float64(t.subject.negatives[j]*float64(t.X.Negatives.Rows())/n)
		}
		difference[j] = t.subject.positives[j] - population
		away = max(away, math.Abs(g[j]+float64(slope*difference[j])))
	}
	t.atMost(away, 0, float64(slope*t.reach))
	if length := objective.Norm(difference); length > float64(1e-6*t.reach) {
		for j := range difference {
			difference[j] /= float64(length * length)
		}
		t.holds(t.falls(o, difference, at.F))
	}
	return nil
}
