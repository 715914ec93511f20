package method

import (
	"fmt"
	"math"

	"toptau/internal/fault"
	"toptau/surrogate"
	"toptau/threshold"
)

// Hyperparameters of a method. The zero value of Tau, Beta, K and Surrogate means unset.
type Hyperparameters struct {
	Lambda    float64             // of lambda/2 ||w||^2: finite, at least 0
	Tau       threshold.Rate      // the fraction on top, in (0,1)
	Beta      float64             // scale inside a surrogate quantile: finite, above 0
	K         int                 // number of negatives of TopPushK: at least 1
	Surrogate surrogate.Surrogate // nil: hinge
}

// Problem is a method with its hyperparameters, ready to be bound to data. With makes valid ones.
type Problem struct {
	Method          Method
	Hyperparameters Hyperparameters
	Rule            threshold.Rule
}

// With joins a method and its hyperparameters. An error of kind usage names the flag that is missing, out of range, or of no
// use to the method.
func (m Method) With(h Hyperparameters) (Problem, error) {
	if h.Surrogate == nil {
		h.Surrogate = surrogate.Hinge
	}
	for _, check := range []func(Hyperparameters) error{checkLambda, m.checkTau, m.checkBeta, m.checkK} {
		if err := check(h); err != nil {
			return Problem{}, err
		}
	}
	return Problem{Method: m, Hyperparameters: h, Rule: m.ruleOf(h)}, nil
}

// ruleOf returns the threshold rule for checked hyperparameters.
func (m Method) ruleOf(h Hyperparameters) threshold.Rule {
	switch m.rule {
	case topCount:
		return threshold.TopCount{K: h.K}
	case topMean:
		return threshold.TopMean{Tau: h.Tau}
	case quantile:
		return threshold.Quantile{Tau: h.Tau}
	case surrogateQuantile:
		return threshold.SurrogateQuantile{Tau: h.Tau, Beta: h.Beta, Surrogate: h.Surrogate}
	default:
		return threshold.TopCount{K: 1}
	}
}

func checkLambda(h Hyperparameters) error {
	if h.Lambda >= 0 && !math.IsInf(h.Lambda, 1) {
		return nil
	}
	return usage(fmt.Sprintf("--lambda %v", h.Lambda), "a finite number of at least 0", "")
}

func (m Method) checkTau(h Hyperparameters) error {
	set := !h.Tau.IsZero()
	switch {
	case m.UsesTau && !set:
		return m.missing("--tau", "a rate between 0 and 1", "for example --tau 1%")
	case set && !m.UsesTau:
		return m.unused("--tau", h.Tau.String(), "leave out --tau")
	}
	return nil
}

func (m Method) checkBeta(h Hyperparameters) error {
	set := h.Beta != 0 // NaN is set
	switch {
	case m.UsesBeta && !set:
		return m.missing("--beta", "a finite number above 0", "for example --beta 1")
	case set && !m.UsesBeta:
		return m.unused("--beta", fmt.Sprint(h.Beta), "leave out --beta")
	case set && (!(h.Beta > 0) || math.IsInf(h.Beta, 1)):
		return usage(fmt.Sprintf("--beta %v", h.Beta), "a finite number above 0", "")
	}
	return nil
}

func (m Method) checkK(h Hyperparameters) error {
	set := h.K != 0
	switch {
	case m.UsesK && !set:
		return m.missing("--k", "a whole number of at least 1", "for example --k 5")
	case set && !m.UsesK:
		hint := "leave out --k"
		if m.rule == highestScore {
			hint += ", or use --method toppushk"
		}
		return m.unused("--k", fmt.Sprint(h.K), hint)
	case h.K < 0:
		return usage(fmt.Sprintf("--k %d", h.K), "a whole number of at least 1", "")
	}
	return nil
}

func (m Method) missing(flag, expected, hint string) error {
	return usage("no "+flag+" for method "+m.Name, expected, hint)
}

func (m Method) unused(flag, value, hint string) error {
	return usage(flag+" "+value, "no "+flag+" for method "+m.Name, hint)
}

func usage(found, expected, hint string) error {
	return &fault.Error{Kind: fault.Usage, Found: found, Expected: expected, Hint: hint}
}
