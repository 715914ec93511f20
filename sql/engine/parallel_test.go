package engine_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"toptau/internal/core/certified"
	"toptau/internal/core/matrix"
	"toptau/internal/models/feature"
	"toptau/internal/training/large"
	"toptau/method"
	"toptau/schema"
	"toptau/sql/scan"
	"toptau/sql/servers"
)

// lastStatement keeps the last statement.
type lastStatement struct {
	scan.Conn
	text string
}

func (c *lastStatement) Query(ctx context.Context, statement string, dest []any, each func() error) error {
	c.text = statement
	return c.Conn.Query(ctx, statement, dest, each)
}

// TestParallelWorkers checks that PostgreSQL's workers compute the scores of a scan and add them up, so that the process of the
// connection only adds the sums of the workers. (Of some 10,000 rows it adds the rows that the workers scored: its planner expects few.)
func TestParallelWorkers(t *testing.T) {
	s := servers.Postgres(t, servers.PostgresOptions{Settings: []string{"min_parallel_table_scan_size = 0", "parallel_setup_cost = 0",
		"max_parallel_workers_per_gather = 2"}})
	s.Load(t, scaleTable(100_000))
	s.Run(t, "VACUUM ANALYZE events")
	d := database{"postgres", []*servers.Server{s}}
	ctx := context.Background()
	e := d.open(t)
	c := &lastStatement{Conn: e.Shards[0]}
	rows, err := scan.Open(ctx, e.Dialect, []scan.Conn{c}, scan.Table{Name: []string{"events"}, Key: "k", Label: "y"})
	if err != nil {
		t.Fatal(err)
	}
	sample, err := rows.Sample(ctx, large.All(), 20_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, encoding := range []schema.Encoding{schema.Raw, schema.Scorecard} {
		m, _, err := feature.Fit(sample.Table, rows.Schema(), nil, feature.Options{Encode: encoding})
		if err != nil {
			t.Fatal(err)
		}
		source, err := rows.NewSource(ctx, large.All(), m, matrix.Float32, method.Negatives)
		if err != nil {
			t.Fatal(err)
		}
		w, r := make([]float64, m.Cols()), rand.New(rand.NewPCG(1, 2))
		for j := range w {
			w[j] = r.NormFloat64()
		}
		for name, request := range map[string]certified.Request{"intervals": {Cuts: []float64{-1, 0, 1}}, "groups": {Groups: []float64{-1, 0, 1}}} {
			if _, err := source.Scan(ctx, []certified.Query{{At: &certified.Point{W: w}, Population: request}}); err != nil {
				t.Fatal(err)
			}
			if plan := s.Run(t, "EXPLAIN "+c.text); !strings.Contains(plan, " Partial ") {
				t.Errorf("%s, %s: the workers add nothing:\n%s", encoding, name, plan)
			}
		}
	}
}
