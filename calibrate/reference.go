package calibrate

import (
	"fmt"
	"slices"
	"toptau/internal/core/evidence"
)

// Reference holds some order statistics of the scores of reference rows: rows of all classes, in the mix that a
// model meets, that did not train it. Later scores are compared with them.
//
// Every row, of the reference and later ones, has a tie-breaker, uniform on the 32-bit numbers. Rows are ordered
// by score, then by tie-breaker. So no two rows are equal, and everything that holds for continuous scores
// holds for all scores, also if they are all the same. Above[i] of the Rows reference rows rank above
// (Scores[i], Ties[i]). The kept ranks depend on the number of rows alone.
type Reference struct {
	Sample
	Ties []uint32 `json:"tie"`
	// The numbers of rows with at least the kept scores, or with more, whichever is nearer to Above; absent if no kept score is that of
	// several rows
	Counts []int  `json:"counts,omitempty"`
	Source string `json:"source"` // the rows, in words
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
		if evidence.Precedes(r.Scores[i], r.Ties[i], r.Scores[i-1], r.Ties[i-1]) {
			return fmt.Errorf("reference score %v, or its tie-breaker, is out of order", r.Scores[i])
		}
	}
	if err := evidence.CheckLevelCounts(r.Counts, r.Rows, len(r.Scores)); err != nil {
		return err
	}
	if !slices.Equal(r.Above, evidence.ReferenceRanks(r.Rows)) {
		return fmt.Errorf("the reference has other ranks than %d rows leave", r.Rows)
	}
	return nil
}
