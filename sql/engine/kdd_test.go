package engine_test

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
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

// TestSecondsOfAScan prints what a statement of the solver costs the database, next to its own sum of all columns: processor seconds of the
// server, which say more than wall time on a busy machine. They take turns, and the least of five counts. kddcup99 has columns of levels; the
// simulated table has a million rows of 28 single precision numbers.
func TestSecondsOfAScan(t *testing.T) {
	if os.Getenv("TOPTAU_SQL") != "results" {
		t.Skip("a measurement, with TOPTAU_SQL=results")
	}
	tables := []servers.Table{servers.FromTable("kdd", "k", "y", readKDD(t)), scaleTable(1_000_000)}
	databases(t, func(t *testing.T, d database) {
		for _, of := range tables {
			for _, encoding := range []schema.Encoding{schema.Raw, schema.Scorecard} {
				secondsOfAScan(t, d, of.Name, encoding)
			}
		}
	}, tables...)
}

func secondsOfAScan(t *testing.T, d database, name string, encoding schema.Encoding) {
	ctx := context.Background()
	e := d.open(t)
	rows, err := scan.Open(ctx, e.Dialect, e.Shards, scan.Table{Name: []string{name}, Key: "k", Label: "y"})
	if err != nil {
		t.Fatal(err)
	}
	sample, err := rows.Sample(ctx, large.All(), 100_000)
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := feature.Fit(sample.Table, rows.Schema(), nil, feature.Options{Encode: encoding})
	if err != nil {
		t.Fatal(err)
	}
	source, err := rows.NewSource(ctx, large.All(), m, matrix.Float32, method.Negatives)
	if err != nil {
		t.Fatal(err)
	}
	var sums []string
	var into []any
	for _, c := range rows.Columns() {
		column := e.Dialect.Present(e.Dialect.Quote(c.Name))
		if c.Kind == schema.Numeric {
			sums = append(sums, "sum("+e.Dialect.Cast(column)+")")
		} else {
			sums = append(sums, "sum(length("+column+"))*1e0")
		}
		into = append(into, new(float64))
	}
	cost := func(do func()) float64 {
		total := 0.0
		for _, s := range d.servers {
			total -= s.CPU()
		}
		do()
		for _, s := range d.servers {
			total += s.CPU()
		}
		return total
	}
	least := [5]float64{math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1)}
	r := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		least[0] = min(least[0], cost(func() {
			for _, shard := range e.Shards {
				if err := shard.Query(ctx, "SELECT "+strings.Join(sums, ", ")+" FROM "+name, into, func() error { return nil }); err != nil {
					t.Fatal(err)
				}
			}
		}))
		w, cuts := make([]float64, m.Cols()), make([]float64, 4097)
		for j := range w {
			w[j] = r.NormFloat64()
		}
		for k := range cuts {
			cuts[k] = float64(k)/512 - 4
		}
		least[1] = min(least[1], cost(func() {
			if _, err := source.Scan(ctx, []certified.Query{{At: &certified.Point{W: w}, Population: certified.Request{Cuts: cuts}}}); err != nil {
				t.Fatal(err)
			}
		}))
		var ends []float64
		for k := range 17 {
			ends = append(ends, float64(k)-8)
		}
		ends[0], ends[16] = math.Inf(-1), math.Inf(1)
		if encoding != schema.Raw {
			continue // sums for each level of each column take minutes
		}
		for k, r := range []certified.Request{{Groups: ends}, {Groups: ends, Moments: true, Origin: .5}, {Groups: ends, Cuts: ends[1:16], Moments: true}} {
			least[2+k] = min(least[2+k], cost(func() {
				if _, err := source.Scan(ctx, []certified.Query{{At: &certified.Point{W: w}, Population: r}}); err != nil {
					t.Fatal(err)
				}
			}))
		}
	}
	t.Logf("%s, %s, %s: the sum of all columns %.2f s, a scan with %d weights and 4,096 bins %.2f s (%.1f times)", d.name, name, encoding,
		least[0], m.Cols(), least[1], least[1]/least[0])
	if encoding != schema.Raw {
		return
	}
	for k, what := range []string{"16 groups", "with moments", "with moments and counts"} {
		t.Logf("  %s %.2f s (%.1f times)", what, least[2+k], least[2+k]/least[0])
	}
}
