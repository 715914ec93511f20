package heldout

import (
	"math/rand/v2"

	"toptau/calibrate"
	"toptau/internal/core/evidence"
)

// tieStream separates tie-breakers from other random numbers of the same seed. "ties" in ASCII.
const tieStream = 0x74696573

// NewReference returns order statistics of finite scores, with tie-breakers from the seed. It returns nil without
// scores.
func NewReference(scores []float64, seed uint64, source string) *calibrate.Reference {
	if len(scores) == 0 {
		return nil
	}
	keys, ties := evidence.OrderWithTies(scores, rand.New(rand.NewPCG(seed, tieStream)))
	r := &calibrate.Reference{Source: source, Sample: calibrate.Sample{Rows: len(keys), Above: evidence.ReferenceRanks(len(keys))}}
	for _, e := range r.Above {
		i := len(keys) - 1 - e
		r.Scores = append(r.Scores, keys[i])
		r.Ties = append(r.Ties, ties[i])
	}
	r.Counts = evidence.LevelCounts(keys, r.Above)
	return r
}
