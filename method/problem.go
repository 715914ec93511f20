package method

import (
	"fmt"
	"math"

	"toptau/diag"
	"toptau/surrogate"
	"toptau/threshold"
)

// Problem is a method with its hyperparameters. It is plain data: it can be compared with ==, printed and
// stored. Tau, Beta and K are zero for methods that do not use them.
type Problem struct {
	Method    Name           `json:"method"`              // the learner
	Surrogate surrogate.Name `json:"surrogate,omitempty"` // loss; "": hinge
	Lambda    float64        `json:"lambda"`              // in lambda/2 |w|^2: finite, at least 0
	Tau       threshold.Rate `json:"tau,omitzero"`        // the fraction on top, in (0,1)
	Beta      float64        `json:"beta,omitempty"`      // the scale in a surrogate quantile: finite, above 0
	K         int            `json:"k,omitempty"`         // TopPushK: the number of negatives on top, at least 1
}

// With returns the problem of method m with the hyperparameters of p. It ignores p.Method. The surrogate
// defaults to the hinge. Errors are those of Check.
func (m Method) With(p Problem) (Problem, error) {
	p.Method = m.Name
	return p.Complete()
}

// Complete returns the problem with its default surrogate, the hinge, if none is set. Errors are those of
// Check.
func (p Problem) Complete() (Problem, error) {
	if p.Surrogate == "" {
		p.Surrogate = surrogate.Hinge.Name()
	}
	return p, p.Check()
}

// Hyperparameters lists the hyperparameters that are set: "lambda 0.001, tau 0.01, beta 1".
func (p Problem) Hyperparameters() string {
	line := fmt.Sprintf("lambda %v", p.Lambda)
	if !p.Tau.IsZero() {
		line += ", tau " + p.Tau.String()
	}
	if p.Beta != 0 {
		line += fmt.Sprintf(", beta %v", p.Beta)
	}
	if p.K != 0 {
		line += fmt.Sprintf(", k %d", p.K)
	}
	return line
}

// Definition returns the method of the problem, or the zero Method if its name is not in All.
func (p Problem) Definition() Method {
	for i := range methods {
		if methods[i].Name == p.Method {
			return methods[i]
		}
	}
	return Method{}
}

// Loss returns the surrogate: the hinge by default, nil for an unknown name.
func (p Problem) Loss() surrogate.Surrogate {
	if p.Surrogate == "" {
		return surrogate.Hinge
	}
	l, _ := surrogate.ByName(p.Surrogate)
	return l
}

// Rule returns the threshold rule. The problem must be one that Check accepts.
func (p Problem) Rule() threshold.Rule { return p.Definition().rule.build(p) }

// Check returns an error of kind usage if a parameter is missing, out of range, or set although the method
// does not use it. The error names the parameter.
func (p Problem) Check() error {
	m, err := ByName(p.Method)
	if err != nil {
		return err
	}
	if p.Surrogate != "" {
		if _, err := surrogate.ByName(p.Surrogate); err != nil {
			return err
		}
	}
	if !(p.Lambda >= 0) || math.IsInf(p.Lambda, 1) {
		return badValue("lambda", fmt.Sprint(p.Lambda), "a finite number of at least 0")
	}
	for _, check := range []func(Problem) error{m.checkTau, m.checkBeta, m.checkK} {
		if err := check(p); err != nil {
			return err
		}
	}
	return nil
}

func (m Method) checkTau(p Problem) error {
	set := !p.Tau.IsZero()
	switch {
	case m.UsesTau && !set:
		return m.missing("tau", "a rate between 0 and 1", "1%")
	case set && !m.UsesTau:
		return m.unused("tau", p.Tau.String())
	}
	return nil
}

func (m Method) checkBeta(p Problem) error {
	set := p.Beta != 0 // NaN is set
	switch {
	case m.UsesBeta && !set:
		return m.missing("beta", "a finite number above 0", "1")
	case set && !m.UsesBeta:
		return m.unused("beta", fmt.Sprint(p.Beta))
	case set && (!(p.Beta > 0) || math.IsInf(p.Beta, 1)):
		return badValue("beta", fmt.Sprint(p.Beta), "a finite number above 0")
	}
	return nil
}

func (m Method) checkK(p Problem) error {
	set := p.K != 0
	switch {
	case m.UsesK && !set:
		return m.missing("k", "a whole number of at least 1", "5")
	case set && !m.UsesK:
		err := m.unused("k", fmt.Sprint(p.K))
		if m.Name == TopPush {
			err.Fixes = []diag.Fix{{Param: "method", Value: string(TopPushK)}}
		}
		return err
	case p.K < 0:
		return badValue("k", fmt.Sprint(p.K), "a whole number of at least 1")
	}
	return nil
}

func (m Method) missing(param, expected, example string) *diag.Error {
	return &diag.Error{Kind: diag.Usage, Param: param, Expected: fmt.Sprintf("%s for method %s", expected, m.Name),
		Fixes: []diag.Fix{{Param: param, Value: example}}}
}

func (m Method) unused(param, value string) *diag.Error {
	return &diag.Error{Kind: diag.Usage, Param: param, Found: value, Expected: "none: method " + string(m.Name) + " does not use it",
		Hint: "leave it out"}
}

func badValue(param, value, expected string) *diag.Error {
	return &diag.Error{Kind: diag.Usage, Param: param, Found: value, Expected: expected}
}
