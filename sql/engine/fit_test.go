package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"toptau/internal/core/certified"
	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/internal/training/large"
	"toptau/method"
	"toptau/schema"
	"toptau/sql/engine"
	"toptau/sql/scan"
	"toptau/sql/servers"
	"toptau/threshold"
)

// remoteAndRoot lists the attacks of the groups r2l and u2r of kddcup99.
var remoteAndRoot = []string{"ftp_write.", "guess_passwd.", "imap.", "multihop.", "phf.", "spy.", "warezclient.", "warezmaster.",
	"buffer_overflow.", "loadmodule.", "perl.", "rootkit."}

// readKDD reads kddcup99, or skips the test.
func readKDD(t testing.TB) *table.Table {
	t.Helper()
	root := os.Getenv("TOPTAU_DATA")
	if root == "" {
		t.Skip("TOPTAU_DATA is not set: no data to test on")
	}
	data, _, err := table.Read(filepath.Join(root, "kddcup99", "kddcup.data_10_percent.gz"),
		table.Options{Format: schema.Format{Label: "42", Positive: remoteAndRoot}})
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	return data
}

// database is a running database that has a table.
type database struct {
	name    string
	servers []*servers.Server
}

// databases runs a test in the databases that are installed, after loading tables: PostgreSQL, two servers of ClickHouse with half
// of the rows each, DuckDB, and Spark if TOPTAU_SPARK is set.
func databases(t *testing.T, test func(t *testing.T, d database), tables ...servers.Table) {
	t.Run("postgres", func(t *testing.T) {
		s := servers.Postgres(t, servers.PostgresOptions{Settings: []string{"shared_buffers = 1GB", "max_parallel_workers_per_gather = 0"}})
		for _, of := range tables {
			s.Load(t, of)
		}
		test(t, database{"postgres", []*servers.Server{s}})
	})
	t.Run("clickhouse", func(t *testing.T) {
		two := servers.ClickHouse(t, 2)
		for _, of := range tables {
			for i, s := range two {
				s.Load(t, of.Part(i, len(two)))
			}
		}
		test(t, database{"clickhouse", two})
	})
	t.Run("duckdb", func(t *testing.T) {
		s := servers.DuckDBFile(t)
		for _, of := range tables {
			s.Load(t, of)
		}
		test(t, database{"duckdb", []*servers.Server{s}})
	})
	t.Run("spark", func(t *testing.T) {
		s := spark(t)
		for _, of := range tables {
			s.Load(t, of)
		}
		test(t, database{"spark", []*servers.Server{s}})
	})
}

// open connects as the role that may only read.
func (d *database) open(t testing.TB) *engine.Engine {
	t.Helper()
	var o engine.Options
	for _, s := range d.servers {
		o.DSN = append(o.DSN, s.ReadOnly)
	}
	e, err := engine.Open(context.Background(), d.name, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// outcome is a fit with what it cost.
type outcome struct {
	certified.Result
	before, after scan.Traffic
	received      int64
	took          time.Duration
}

// fit solves a problem on the rows of a database.
func fit(t testing.TB, e *engine.Engine, rows *scan.Rows, m *feature.Map, p method.Problem, gap float64) outcome {
	t.Helper()
	ctx := context.Background()
	sample, err := rows.Sample(ctx, large.All(), 100_000)
	if err != nil {
		t.Fatal(err)
	}
	x, err := m.Matrix(sample.Table, nil, matrix.Float32)
	if err != nil {
		t.Fatal(err)
	}
	source, err := rows.NewSource(ctx, large.All(), m, matrix.Float32, p.Definition().Population)
	if err != nil {
		t.Fatal(err)
	}
	o := outcome{before: rows.Traffic()}
	first, _ := e.Bytes()
	begin := time.Now()
	if o.Result, err = certified.SolveSource(ctx, source, p, certified.Options{Gap: gap, Sample: x}); err != nil {
		t.Fatal(err)
	}
	o.took, o.after = time.Since(begin), rows.Traffic()
	last, _ := e.Bytes()
	o.received = last - first
	return o
}

func (o *outcome) String() string {
	scans := o.after.Scans - o.before.Scans
	waiting := o.after.Waiting - o.before.Waiting
	return fmt.Sprintf("%d scans + %d lookups, %d rows, %.2f MB in, %.2f s waiting (%.2f a scan), %.2f s own, %d rounds, F %.14g D %.14g, converged %v",
		scans, o.after.Lookups-o.before.Lookups, o.after.Rows-o.before.Rows, float64(o.received)/1e6, waiting.Seconds(),
		waiting.Seconds()/math.Max(1, float64(scans)), (o.took - waiting).Seconds(), o.Rounds, o.Objective, o.LowerBound, o.Converged)
}

// TestKDD compares fits of kddcup99 in databases with those in memory, on the same matrix.
func TestKDD(t *testing.T) {
	data := readKDD(t)
	m, _, err := feature.Fit(data, schema.Schema{Format: schema.CSV, Width: 42}, nil, feature.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x, err := m.Matrix(data, nil, matrix.Float32)
	if err != nil {
		t.Fatal(err)
	}
	problems := []method.Problem{
		{Method: method.TopMeanNP, Lambda: 1e-3, Tau: threshold.MustRate("0.1%")},
		{Method: method.TopPushK, Lambda: 1e-3, K: 20},
		{Method: method.PatMatNP, Lambda: 1e-3, Tau: threshold.MustRate("0.1%"), Beta: 1},
	}
	databases(t, func(t *testing.T, d database) {
		e := d.open(t)
		rows, err := scan.Open(context.Background(), e.Dialect, e.Shards, scan.Table{Name: []string{"kdd"}, Key: "k", Label: "y"})
		if err != nil {
			t.Fatal(d.name, err)
		}
		t.Log(d.name, rows.Name(), rows.Traffic())
		for _, p := range problems {
			p, err := p.Complete()
			if err != nil {
				t.Fatal(err)
			}
			o, err := objective.New(p, x)
			if err != nil {
				t.Fatal(err)
			}
			for _, gap := range []float64{1e-6, 1e-9} {
				if testing.Short() && gap < 1e-6 {
					continue
				}
				whole, err := certified.Solve(context.Background(), o, certified.Options{Gap: gap})
				if err != nil {
					t.Fatal(err)
				}
				got := fit(t, e, rows, m, p, gap)
				t.Logf("%s %s gap %g: %s; memory: %d passes, F %.14g D %.14g", d.name, p.Method, gap, got.String(), whole.Passes, whole.Objective, whole.LowerBound)
				if !got.Converged || got.LowerBound > whole.Objective*(1+1e-12) || whole.LowerBound > got.Objective*(1+1e-12) {
					t.Errorf("%s %s: the bounds do not meet those in memory", d.name, p.Method)
				}
			}
		}
		if err := rows.Check(context.Background()); err != nil {
			t.Error(d.name, err)
		}
		t.Log(d.name, rows.Traffic())
	}, servers.FromTable("kdd", "k", "y", data))
}
