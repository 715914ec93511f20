package modeltest

import (
	"math/rand/v2"
	"testing"

	"toptau/diag"
	"toptau/schema"
)

// Rows are refused for their values only, and both forms of a row have the same score.
func TestRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var list []Options
	for _, kind := range Kinds {
		for _, impute := range imputes {
			list = append(list, Options{Blocks: []string{kind}, Impute: impute})
		}
	}
	list = append(list, Options{Sparse: true}, Options{Salted: true}, Options{Plain: true}, Options{Blocks: []string{"numeric", "scorecard", "boosted", "onehot"}})
	for _, o := range list {
		for range 10 {
			c := NewWith(r, o)
			for _, row := range c.Rows(r, 30) {
				want, err := c.Model.ScoreFields(row.Fields)
				if e := diag.Of(err); err != nil && e.Kind != diag.Data {
					t.Fatalf("%+v: %v", o, err)
				}
				got, failed := c.Model.Score(row.Record)
				if got != want || (err == nil) != (failed == nil) {
					t.Fatalf("%+v: %v (%v) and %v (%v) for %q", o, want, err, got, failed, row.Record)
				}
				if err != nil && o.Impute != schema.ImputeError && o.Impute != "" && len(o.Blocks) == 1 && o.Blocks[0] == "leaves" {
					t.Fatalf("%+v: %v", o, err)
				}
			}
		}
	}
}
