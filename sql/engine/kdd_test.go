package engine_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"toptau/internal/feature"
	"toptau/internal/large"
	"toptau/internal/matrix"
	"toptau/schema"
	"toptau/sql/scan"
	"toptau/sql/servers"
)

// TestKDDAnswers is TestAnswers on the first rows of kddcup99, which has columns of many scales and many levels.
func TestKDDAnswers(t *testing.T) {
	of := servers.FromTable("kdd", "k", "y", readKDD(t))
	of.Rows = 80_000
	databases(t, func(t *testing.T, d database) {
		e := d.open(t)
		rows, err := scan.Open(context.Background(), e.Dialect, e.Shards, scan.Table{Name: []string{"kdd"}, Key: "k", Label: "y"})
		if err != nil {
			t.Fatal(err)
		}
		sample, err := rows.Sample(context.Background(), large.All(), of.Rows)
		if err != nil {
			t.Fatal(err)
		}
		m, _, err := feature.Fit(sample.Table, schema.Schema{Format: schema.CSV, Width: 42}, nil, feature.Options{})
		if err != nil {
			t.Fatal(err)
		}
		compareAnswers(t, d.name, rows, sample.Table, m, matrix.Float32, rand.New(rand.NewPCG(1, 1)))
	}, of)
}
