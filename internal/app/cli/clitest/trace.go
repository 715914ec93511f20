package clitest

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"time"
)

// PhaseFile is the environment variable with the file to which a traced command writes its phase.
const PhaseFile = "TOPTAU_TEST_PHASE"

// Traced returns a main function that writes its phase to a file every 5 ms. A test can then choose when to
// interrupt.
func Traced(main func()) func() {
	return func() {
		f, err := os.OpenFile(os.Getenv(PhaseFile), os.O_WRONLY, 0)
		if err != nil {
			panic(err)
		}
		go func() {
			buffer := make([]byte, 1<<20)
			for {
				stacks := buffer[:runtime.Stack(buffer, true)]
				f.WriteAt([]byte(fmt.Sprintf("%-20s", phaseOf(stacks))), 0)
				time.Sleep(5 * time.Millisecond)
			}
		}()
		main()
	}
}

// phases are recognised by the functions on the stacks of all goroutines. The first that matches counts.
var phases = []struct {
	name    string
	pattern *regexp.Regexp
}{
	{"writing", regexp.MustCompile(`atomicfile\.(Commit|\(\*File\))`)},
	{"report", regexp.MustCompile(`\.WriteReport`)},
	{"bootstrap", regexp.MustCompile(`metric\..*[bB]ootstrap`)},
	{"refit: trees", regexp.MustCompile(`(?s)feature\.\(\*forest\).*\(\*search\)\.refit|\(\*search\)\.refit.*feature\.\(\*forest\)`)},
	{"refit", regexp.MustCompile(`\(\*search\)\.refit`)},
	{"trees", regexp.MustCompile(`feature\.\(\*forest\)`)},
	{"solving", regexp.MustCompile(`internal/core/(solver|certified|learn|objective)[./]`)},
	{"encoding", regexp.MustCompile(`internal/models/feature\.(FitContext|\(\*(fitter|packing|Map)\))`)},
	{"scoring", regexp.MustCompile(`internal/models/feature\.\(\*Scorer\)`)},
	{"reading", regexp.MustCompile(`internal/data/table\.`)},
	{"simulating", regexp.MustCompile(`internal/core/simulate\.`)},
	{"checking", regexp.MustCompile(`internal/training/tune\.`)},
	{"starting", regexp.MustCompile(`kong\.|main\.main`)},
}

func phaseOf(stacks []byte) string {
	for _, p := range phases {
		if p.pattern.Match(stacks) {
			return p.name
		}
	}
	return "other"
}

// PhaseNames returns the names of all phases.
func PhaseNames() []string {
	var names []string
	for _, p := range phases {
		names = append(names, p.name)
	}
	return append(names, "other")
}
