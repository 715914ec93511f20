package method

import (
	"fmt"

	"toptau/diag"
)

// Solver is an algorithm that minimises a method's objective.
type Solver string

const (
	AutoSolver      Solver = ""          // CertifiedSolver if it applies, otherwise Adam; also written "auto"
	CertifiedSolver Solver = "certified" // the optimum, with a lower bound; convex methods with a hinge
	Adam            Solver = "adam"      // the paper's solver, without a bound on the distance to the optimum
	SGD             Solver = "sgd"       // stochastic gradient descent, without a bound either
)

// Start is the starting point of Adam and SGD.
type Start string

const (
	ZeroStart   Start = "zero"   // w = 0; the default
	RandomStart Start = "random" // drawn uniformly from [-1, 1] with the seed
)

// Storage is the number type of the packed matrix. Certificates are about the stored numbers.
type Storage string

const (
	Float32 Storage = "float32" // 4 bytes a number; the default
	Float64 Storage = "float64" // 8 bytes a number
)

// Settings are the settings of a solver. The zero value of each is its default. A fit returns the settings
// that it used, without those that its solver ignores. For CertifiedSolver it returns the number of Newton
// systems in Iterations.
type Settings struct {
	Solver      Solver  `json:"name"`                  // the algorithm
	Iterations  int     `json:"iterations,omitempty"`  // Adam, SGD: steps; 0: 1000
	Step        float64 `json:"step,omitempty"`        // Adam, SGD: step size; 0: 0.01
	Start       Start   `json:"start,omitempty"`       // Adam, SGD: the first w
	Minibatches int     `json:"minibatches,omitempty"` // Adam, SGD: number of minibatches; 0: one
	Seed        uint64  `json:"seed,omitempty"`        // seed of every random choice
	// certified: gap of the decrease to reach; 0: 1e-6
	Gap        float64 `json:"gap,omitempty"`
	MaxPasses  int     `json:"max_passes,omitempty"` // certified: most passes
	Stratified bool    `json:"stratified,omitempty"` // Adam, SGD: equal rates of positives
	Storage    Storage `json:"storage,omitempty"`    // the number type of the packed matrix
}

// Check returns an error of kind usage if a value is out of range, or if the chosen solver does not use a
// setting.
func (s Settings) Check() error {
	switch s.Solver {
	case AutoSolver, "auto", CertifiedSolver, Adam, SGD:
	default:
		return badValue("solver", diag.Quote(string(s.Solver)), "auto, certified, adam or sgd")
	}
	switch s.Start {
	case "", ZeroStart, RandomStart:
	default:
		return badValue("start", diag.Quote(string(s.Start)), "zero or random")
	}
	switch s.Storage {
	case "", Float32, Float64:
	default:
		return badValue("storage", diag.Quote(string(s.Storage)), "float32 or float64")
	}
	switch {
	case !(s.Gap >= 0 && s.Gap < 1):
		return badValue("gap", fmt.Sprint(s.Gap), "a number from 0 to below 1")
	case s.MaxPasses < 0:
		return badValue("max-passes", fmt.Sprint(s.MaxPasses), "at least 1")
	case s.Minibatches < 0:
		return badValue("minibatches", fmt.Sprint(s.Minibatches), "at least 1")
	}
	if param, value := s.stepSetting(); s.Solver == CertifiedSolver && param != "" {
		return &diag.Error{Kind: diag.Usage, Param: param, Found: value,
			Expected: "no value: the certified solver does not use it",
			Fixes:    []diag.Fix{{Param: "solver", Value: string(Adam)}}}
	}
	return nil
}

// stepSetting returns a setting of Adam and SGD that differs from its default, "" if there is none.
func (s Settings) stepSetting() (param, value string) {
	switch {
	case s.Iterations != 0:
		return "iterations", fmt.Sprint(s.Iterations)
	case s.Step != 0:
		return "step", fmt.Sprint(s.Step)
	case s.Minibatches > 1:
		return "minibatches", fmt.Sprint(s.Minibatches)
	case s.Start == RandomStart:
		return "start", string(s.Start)
	}
	return "", ""
}
