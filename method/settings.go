package method

import (
	"fmt"

	"toptau/diag"
)

// Solver is an algorithm that minimises a method's objective.
type Solver string

const (
	AutoSolver      Solver = ""          // CertifiedSolver where it applies, otherwise Adam; also written "auto"
	CertifiedSolver Solver = "certified" // finds the global optimum with a lower bound; convex methods with a hinge only
	Adam            Solver = "adam"      // the paper's solver; nothing bounds its distance to the optimum
	SGD             Solver = "sgd"
)

// Start is where ADAM and SGD begin.
type Start string

const (
	ZeroStart   Start = "zero"   // w = 0; the default
	RandomStart Start = "random" // uniform in [-1, 1] by the seed
)

// Storage is how the packed matrix is stored; bounds refer to the stored numbers.
type Storage string

const (
	Float32 Storage = "float32" // the default
	Float64 Storage = "float64"
)

// Settings are the settings of a solver. The zero value is the default of each; a fit returns those it used, and leaves out
// what its solver does not use.
type Settings struct {
	Solver      Solver  `json:"name"`                           // the algorithm
	Iterations  int     `json:"iterations,omitempty"`           // Adam, SGD: steps; 0: 1000. Results of CertifiedSolver: Newton systems
	Step        float64 `json:"step,omitempty"`                 // Adam, SGD: step size; 0: 0.01
	Start       Start   `json:"start,omitempty"`                // Adam, SGD: the first w
	Minibatches int     `json:"minibatches,omitempty"`          // Adam, SGD: 0 or 1: full batches
	Seed        uint64  `json:"seed,omitempty"`                 // of every random choice
	Gap         float64 `json:"gap,omitempty"`                  // CertifiedSolver: the gap of the decrease to reach; 0: 1e-6
	MaxPasses   int     `json:"max_passes,omitempty" since:"2"` // CertifiedSolver: passes over the data after which to stop; 0: no limit
	Stratified  bool    `json:"stratified,omitempty" since:"2"` // Adam, SGD: every minibatch has its fraction of the positives
	Storage     Storage `json:"storage,omitempty" since:"2"`    // how the packed matrix is stored
}

// Check returns an error of kind usage for a value out of range, and for a setting that the named solver does not use.
func (s Settings) Check() error {
	switch s.Solver {
	case AutoSolver, "auto", CertifiedSolver, Adam, SGD:
	default:
		return wrong("solver", diag.Quote(string(s.Solver)), "auto, certified, adam or sgd")
	}
	switch s.Start {
	case "", ZeroStart, RandomStart:
	default:
		return wrong("start", diag.Quote(string(s.Start)), "zero or random")
	}
	switch s.Storage {
	case "", Float32, Float64:
	default:
		return wrong("storage", diag.Quote(string(s.Storage)), "float32 or float64")
	}
	switch {
	case !(s.Gap >= 0 && s.Gap < 1):
		return wrong("gap", fmt.Sprint(s.Gap), "a number from 0 to below 1")
	case s.MaxPasses < 0:
		return wrong("max-passes", fmt.Sprint(s.MaxPasses), "at least 1")
	case s.Minibatches < 0:
		return wrong("minibatches", fmt.Sprint(s.Minibatches), "at least 1")
	}
	if param, value := s.stepSetting(); s.Solver == CertifiedSolver && param != "" {
		return &diag.Error{Kind: diag.Usage, Param: param, Found: value, Expected: "none: the certified solver does not use it",
			Fixes: []diag.Fix{{Param: "solver", Value: "adam"}}}
	}
	return nil
}

// stepSetting returns a setting of Adam and SGD that was made, "" if there is none.
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
