package paper

import (
	"fmt"
	"math"
	"slices"

	"toptau/internal/objective"
	"toptau/method"
	"toptau/surrogate"
	"toptau/threshold"
)

// patMatClaims say that Pat&Mat and Pat&Mat-NP do not collapse (Section 4.2, Appendix A.3).
func patMatClaims() []claim {
	found := &endsFound{}
	return []claim{
		{Check: Check{Name: "patmat-zero", Paper: "Theorem 4.5",
			Statement: "positives' mean score above the negatives': F(w) < F(0) for every beta up to the proof's; hinge, no lambda"},
			try: (*trial).patMatBelowZero},
		{Check: Check{Name: "patmat-zero-beta0", Paper: "Theorem 4.5",
			Statement: "beta_0 found: F(w) < F(0) for every beta below it, none above it; it is at least the proof's beta"},
			try: func(t *trial) error { return t.endOfBeta(found) }, note: found.String},
		{Check: Check{Name: "patmat-gradient-zero", Paper: "-",
			Statement: "grad F(0) = l'(t(0)) (mean of the population - mean of the positives): w = 0 is optimal only if they coincide"},
			try: (*trial).gradientAtZero},
	}
}

// hingeCase is a method with surrogate quantile at a w that scores the positives higher than the negatives on average,
// with the hinge and no lambda.
type hingeCase struct {
	scored
	z       []float64 // of the population
	method  method.Method
	tau     threshold.Rate
	lead    float64 // mean of the positives minus mean of the population
	size    float64
	printed float64 // the beta of the proof
}

// hingeCase draws a case. It has none when the scores do not meet the theorem's condition, or too closely to tell.
func (t *trial) hingeCase() (hingeCase, bool) {
	w := t.point(t.draws)
	c := hingeCase{scored: t.scores(w), method: pick(t.draws, patMatMethods...), tau: t.rate(), size: t.size(w)}
	c.z = c.population(c.method.Population)
	c.lead = mean(c.scored.positives) - mean(c.z)
	bar, tau := mean(c.z), c.tau.Float64()
	c.printed = min(tau/(bar-slices.Min(c.all)), (1-tau)/(slices.Max(c.all)-bar))
	return c, c.lead > float64(near*c.size) && mean(c.scored.positives) > mean(c.negatives)
}

// advantage is F(0) - F(w) at a beta, from the definition: t(0) = (1 - tau)/beta.
func (c *hingeCase) advantage(beta float64) (float64, error) {
	t, err := thresholdOf(threshold.SurrogateQuantile{Tau: c.tau, Beta: beta, Surrogate: surrogate.Hinge}, c.z)
	if err != nil {
		return 0, err
	}
	at := (1 - c.tau.Float64()) / beta
	sum := 0.0
	for _, z := range c.scored.positives {
		sum += max(-1-at, t-at-z) // l(t - z) - l(t(0)), as both are 1 + ... or 0
	}
	return -sum / float64(len(c.scored.positives)), nil
}

// patMatBelowZero tries betas up to that of the proof, where F(0) - F(w) is the lead itself.
func (t *trial) patMatBelowZero() error {
	c, ok := t.hingeCase()
	if !ok {
		return nil
	}
	for _, share := range []float64{1, 0.5, 0.1, 0.001} {
		beta := float64(c.printed * share)
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

// endOfBeta finds beta_0 by bisection: t(w) - t(0) is a slope of a convex function along a ray and rises with beta, and so
// does every loss at w less its value at 0. So the betas at which w beats 0 have no gap.
func (t *trial) endOfBeta(found *endsFound) error {
	c, ok := t.hingeCase()
	if !ok || c.lead <= float64(near*(c.size+1/c.printed)) {
		return nil
	}
	end, err := c.bisect(c.printed, float64(1e12*c.printed))
	if err != nil {
		return err
	}
	if math.IsInf(end, 1) { // so it must be in the limit, where the threshold is the largest score
		found.unbounded++
		t.holds(c.atLargeBeta() > float64(-near*c.size))
		return nil
	}
	found.ratios = append(found.ratios, end/c.printed)
	t.holds(end >= float64(c.printed*(1-1e-9)))
	return t.sidesOf(&c, end)
}

// bisect returns the last beta at which w beats 0, given one at which it does; infinity when there is none up to most.
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

// atLargeBeta is the limit of F(0) - F(w) as beta grows.
func (c *hingeCase) atLargeBeta() float64 {
	sum, top := 0.0, slices.Max(c.z)
	for _, z := range c.scored.positives {
		sum += max(-1, top-z)
	}
	return -sum / float64(len(c.scored.positives))
}

// sidesOf tries betas on both sides of the end that was found.
func (t *trial) sidesOf(c *hingeCase, end float64) error {
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

// endsFound is what the bisections found, in words.
type endsFound struct {
	ratios    []float64 // beta_0 over the beta of the proof
	unbounded int
}

func (e *endsFound) String() string {
	if len(e.ratios) == 0 {
		return ""
	}
	slices.Sort(e.ratios)
	return fmt.Sprintf("beta_0 is %.3g to %.3g times the proof's beta, median %.3g; without end in %d cases (Pat&Mat-NP)",
		e.ratios[0], e.ratios[len(e.ratios)-1], e.ratios[len(e.ratios)/2], e.unbounded)
}

// gradientAtZero compares the gradient with its formula, and takes a step against it.
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
