package engine_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"toptau/internal/certified"
	"toptau/internal/feature"
	"toptau/internal/large"
	"toptau/internal/matrix"
	"toptau/method"
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

// TestSecondsOfAScan prints the seconds of a statement of the solver next to those of the database's own sum of all columns. They take
// turns, since the machine may be busy.
func TestSecondsOfAScan(t *testing.T) {
	data := readKDD(t)
	of := servers.FromTable("kdd", "k", "y", data)
	m, _, err := feature.Fit(data, schema.Schema{Format: schema.CSV, Width: 42}, nil, feature.Options{})
	if err != nil {
		t.Fatal(err)
	}
	databases(t, func(t *testing.T, d database) {
		ctx := context.Background()
		e := d.open(t)
		rows, err := scan.Open(ctx, e.Dialect, e.Shards, scan.Table{Name: []string{"kdd"}, Key: "k", Label: "y"})
		if err != nil {
			t.Fatal(err)
		}
		source, err := rows.NewSource(ctx, large.All(), m, matrix.Float32, method.Negatives)
		if err != nil {
			t.Fatal(err)
		}
		var sums []string
		dest := make([]float64, 0, len(of.Columns))
		for _, c := range rows.Columns() {
			if c.Kind == schema.Numeric {
				sums, dest = append(sums, "sum("+e.Dialect.Present(e.Dialect.Cast(e.Dialect.Quote(c.Name)))+")"), append(dest, 0)
			} else {
				sums, dest = append(sums, "sum(length("+e.Dialect.Present(e.Dialect.Quote(c.Name))+"))*1e0"), append(dest, 0)
			}
		}
		into := make([]any, len(dest))
		for i := range dest {
			into[i] = &dest[i]
		}
		least := [2]float64{math.Inf(1), math.Inf(1)}
		r := rand.New(rand.NewPCG(1, 2))
		for range 5 {
			begin := time.Now()
			for _, shard := range e.Shards {
				if err := shard.Query(ctx, "SELECT "+strings.Join(sums, ", ")+" FROM kdd", into, func() error { return nil }); err != nil {
					t.Fatal(err)
				}
			}
			least[0] = min(least[0], time.Since(begin).Seconds())
			w, cuts := make([]float64, m.Cols()), make([]float64, 4097)
			for j := range w {
				w[j] = r.NormFloat64()
			}
			for k := range cuts {
				cuts[k] = float64(k)/512 - 4
			}
			begin = time.Now()
			if _, err := source.Scan(ctx, []certified.Query{{At: &certified.Point{W: w}, Population: certified.Request{Cuts: cuts}}}); err != nil {
				t.Fatal(err)
			}
			least[1] = min(least[1], time.Since(begin).Seconds())
		}
		t.Logf("%s: the sum of all columns %.2f s, a scan with 4,096 bins %.2f s", d.name, least[0], least[1])
	}, of)
}
