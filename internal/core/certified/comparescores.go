package certified

import (
	"context"
	"fmt"
	"math"

	"toptau/diag"
	"toptau/internal/core/objective"
	"toptau/internal/core/text"
)

// CompareScores asks a source for the scores of its population at w, in one pass, and compares them with those of the same rows in memory:
// their number, and the sums of m (z - t) and of m (z - t)^2, which the objective is made of. Sums may differ by what rounding explains.
//
// Errors: diag.Data.
func CompareScores(ctx context.Context, source Source, o *objective.Objective, w []float64, t float64) error {
	request := Request{Sums: true, Origin: t}
	there, err := source.Scan(ctx, []Query{{At: newPoint(w), Population: request}})
	if err != nil {
		return err
	}
	here, err := NewMemory(o.Matrix(), o.Problem().Definition().Population).Scan(ctx, []Query{{At: newPoint(w), Population: request}})
	if err != nil {
		return err
	}
	a, b := &there[0].Population.Bins[0], &here[0].Population.Bins[0]
	differ := func(found string) error {
		return &diag.Error{Kind: diag.Data, Found: found, Expected: "the scores of the same rows in memory",
			Hint: "if the rows did not change meanwhile, this is a mistake of toptau"}
	}
	if a.Bad > 0 || a.Rows != b.Rows {
		return differ(fmt.Sprintf("%s with a score in the database, not %s", text.Plural(a.Rows-a.Bad, "row"), text.Count(b.Rows)))
	}
	// The errors of a score, and of a sum of as many terms, each with four roundings of its own.
	far := math.Max(math.Max(math.Abs(a.Low-t), math.Abs(a.High-t)), math.Max(math.Abs(b.Low-t), math.Abs(b.High-t)))
	off := 2 * there[0].Population.Rounding
	sum := float64(2*float64(b.Rows+4)) * 0x1p-53
	for _, s := range []struct{ a, b, size, slope float64 }{
		{a.Mass, b.Mass, b.Mass, 0}, {a.Score, b.Score, b.Mass * far, b.Mass}, {a.Square, b.Square, b.Mass * far * far, 2 * b.Mass * far},
	} {
		if most := float64(sum*s.size) + float64(off*s.slope); !(math.Abs(s.a-s.b) <= most) {
			return differ(fmt.Sprintf("scores in the database with a sum of %.17g, not %.17g", s.a, s.b))
		}
	}
	return nil
}
