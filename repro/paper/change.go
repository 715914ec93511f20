package paper

import (
	"math/rand/v2"
	"strings"

	"toptau/internal/core/matrix"
)

// change is a change of a run on which no result should depend: "rows1" and "rows2" permute the training rows
// of each class, "start1" changes the last bits of the start of ADAM, and "gap1" divides the gap of the certified solver
// by ten. "" changes nothing. A cell that differs under a change is decided by rounding, by ties or by the gap, not by
// the data.
type change string

// changesOf returns the changes to test for a solver. The certified solver has no start.
func changesOf(solver string) []change {
	if solver == solverCertified {
		return []change{"rows1", "rows2", "gap1"}
	}
	return []change{"rows1", "rows2", "start1"}
}

// words returns the change in words.
func (c change) words() string {
	switch {
	case c == "":
		return "unchanged"
	case strings.HasPrefix(string(c), "start"):
		return "last bits of the start changed"
	case strings.HasPrefix(string(c), "gap"):
		return "a tenth of the gap"
	}
	return "rows permuted (" + strings.TrimPrefix(string(c), "rows") + ")"
}

// jitter returns the seed of the change of the start, and 0 for none.
func (c change) jitter() uint64 {
	if strings.HasPrefix(string(c), "start") {
		return uint64(c[len(c)-1] - '0')
	}
	return 0
}

// gap returns the gap of the certified solver.
func (c change) gap() float64 {
	if strings.HasPrefix(string(c), "gap") {
		return certifiedGap / 10
	}
	return certifiedGap
}

// ofAdam returns the change for a run of ADAM, which has no gap.
func (c change) ofAdam() change {
	if c.gap() != certifiedGap {
		return ""
	}
	return c
}

// apply returns the training rows with the change.
func (c change) apply(x *matrix.Matrix) *matrix.Matrix {
	if !strings.HasPrefix(string(c), "rows") {
		return x
	}
	random := rand.New(rand.NewPCG(uint64(c[len(c)-1]-'0'), 0x7065726d757465))
	permute := func(p *matrix.ClassRows) *matrix.ClassRows { return p.Take(random.Perm(p.Rows())) }
	positives := permute(x.Positives)
	return &matrix.Matrix{Positives: positives, Negatives: permute(x.Negatives)}
}
