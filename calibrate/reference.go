package calibrate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// Reference holds some order statistics of the scores of reference rows: rows of all classes, in the mix that a
// model meets, that did not train it. Later scores are compared with them (see Urn).
//
// Every row, of the reference and later ones, has a tie-breaker, uniform on the 32-bit numbers. Rows are ordered
// by score, then by tie-breaker. So no two rows are equal, and everything that holds for continuous scores
// holds for all scores, also if they are all the same. Above[i] of the Rows reference rows rank above
// (Scores[i], Ties[i]). The kept ranks depend on the number of rows alone.
type Reference struct {
	Sample
	Ties []uint32 `json:"tie"`
	// The numbers of rows at the kept scores, as of LevelCounts; absent if no kept score is that of several rows
	Counts []int  `json:"counts,omitempty"`
	Source string `json:"source"` // the rows, in words
}

// referenceGrowth is the ratio of neighbouring kept ranks near the top: 53 scores of 30,000 rows. Chosen by hand (a change moves results),
// so that the number above any score is known to an eighth. The constant is part of the format of model files.
const referenceGrowth = 1.25

// tieStream separates tie-breakers from other random numbers of the same seed. "ties" in ASCII.
const tieStream = 0x74696573

// NewReference returns order statistics of finite scores, with tie-breakers from the seed. It returns nil without
// scores.
func NewReference(scores []float64, seed uint64, source string) *Reference {
	if len(scores) == 0 {
		return nil
	}
	keys, ties := OrderWithTies(scores, rand.New(rand.NewPCG(seed, tieStream)))
	r := &Reference{Source: source, Sample: Sample{Rows: len(keys), Above: ranksFromTop(len(keys), referenceGrowth)}}
	for _, e := range r.Above {
		i := len(keys) - 1 - e
		r.Scores = append(r.Scores, keys[i]+0) // -0 becomes 0
		r.Ties = append(r.Ties, ties[i])
	}
	r.Counts = LevelCounts(keys, r.Above)
	return r
}

// LevelCounts returns the number of rows at each of some order statistics, by their values alone, for people. above[i] of the sorted keys
// rank above the i-th of them, with tie-breakers. Either the rows with its key or more are counted, or those with more than its
// key, whichever number is nearer to above[i] + 1, which the evidence counts. The first is at least that, the second is less, so the number shows
// which it is. Missing values (+Inf) are always counted. It returns nil if no other key is equal to one of them.
func LevelCounts(sorted []float64, above []int) []int {
	counts, tied := make([]int, len(above)), false
	for i, e := range above {
		key, ranked := sorted[len(sorted)-1-e], e+1
		atLeast := len(sorted) - sort.Search(len(sorted), func(j int) bool { return sorted[j] >= key })
		more := len(sorted) - sort.Search(len(sorted), func(j int) bool { return sorted[j] > key })
		if counts[i] = atLeast; atLeast-ranked > ranked-more && !math.IsInf(key, 1) {
			counts[i] = more
		}
		tied = tied || atLeast-more > 1
	}
	if !tied {
		return nil
	}
	return counts
}

// CheckLevelCounts returns an error for counts that LevelCounts does not return for this number of rows.
func CheckLevelCounts(counts []int, rows, levels int) error {
	if counts != nil && len(counts) != levels {
		return fmt.Errorf("%d counts of rows for %d levels", len(counts), levels)
	}
	for i, n := range counts {
		if n < 0 || n > rows || i > 0 && n > counts[i-1] {
			return fmt.Errorf("a level with %d of %d rows, or out of order", n, rows)
		}
	}
	return nil
}

// OrderWithTies returns keys in ascending order, equal ones in the order of new uniform tie-breakers.
func OrderWithTies(keys []float64, random *rand.Rand) (sorted []float64, ties []uint32) {
	type element struct {
		key float64
		tie uint32
	}
	list := make([]element, len(keys))
	for i, key := range keys {
		list[i] = element{key, random.Uint32()}
	}
	slices.SortFunc(list, func(a, b element) int {
		switch {
		case precedes(a.key, a.tie, b.key, b.tie):
			return -1
		case precedes(b.key, b.tie, a.key, a.tie):
			return 1
		}
		return 0
	})
	sorted, ties = make([]float64, len(keys)), make([]uint32, len(keys))
	for i, e := range list {
		sorted[i], ties[i] = e.key, e.tie
	}
	return sorted, ties
}

func precedes(key float64, tie uint32, otherKey float64, otherTie uint32) bool {
	return key < otherKey || key == otherKey && tie < otherTie
}

// Gap returns the number of kept order statistics that rank below a row: 0 is the gap below all of them. keys and
// ties are in ascending order.
func Gap(keys []float64, ties []uint32, key float64, tie uint32) int {
	i := sort.SearchFloat64s(keys, key)
	for i < len(keys) && keys[i] == key && ties[i] < tie {
		i++
	}
	return i
}

// Check returns an error for a reference that no rows can have.
func (r *Reference) Check() error {
	if r == nil {
		return nil
	}
	if err := r.Sample.Check(); err != nil {
		return err
	}
	if len(r.Ties) != len(r.Scores) {
		return fmt.Errorf("%d tie-breakers for %d scores", len(r.Ties), len(r.Scores))
	}
	for i := 1; i < len(r.Scores); i++ {
		if precedes(r.Scores[i], r.Ties[i], r.Scores[i-1], r.Ties[i-1]) {
			return fmt.Errorf("reference score %v, or its tie-breaker, is out of order", r.Scores[i])
		}
	}
	if err := CheckLevelCounts(r.Counts, r.Rows, len(r.Scores)); err != nil {
		return err
	}
	if !slices.Equal(r.Above, ranksFromTop(r.Rows, referenceGrowth)) {
		return fmt.Errorf("the reference has other ranks than %d rows leave", r.Rows)
	}
	return nil
}
