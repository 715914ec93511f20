package engine_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"toptau/diag"
	"toptau/internal/core/certified"
	"toptau/internal/core/matrix"
	"toptau/internal/models/feature"
	"toptau/internal/training/large"
	"toptau/method"
	"toptau/sql/engine"
	"toptau/sql/scan"
	"toptau/sql/servers"
	"toptau/threshold"
)

// clouds is a table of two overlapping clouds, with whole numbers as keys: 10, 20, 30 ...
func clouds(rows, columns int, positive float64) servers.Table {
	r := rand.New(rand.NewPCG(3, 4))
	label := make([]int64, rows)
	values := make([][]float64, columns)
	for j := range values {
		values[j] = make([]float64, rows)
	}
	for i := range rows {
		if r.Float64() < positive {
			label[i] = 1
		}
		for j := range values {
			values[j][i] = r.NormFloat64() + 3*float64(label[i])/math.Sqrt(float64(1+j))
		}
	}
	t := servers.Table{Name: "clouds", Key: "k", Rows: rows, Columns: []servers.Column{
		{Name: "k", Integer: func(row int) int64 { return 10 * int64(row+1) }},
		{Name: "y", Integer: func(row int) int64 { return label[row] }}}}
	for j := range values {
		t.Columns = append(t.Columns, servers.Column{Name: "c" + string(rune('a'+j)), Number: func(row int) float64 { return values[j][row] }})
	}
	return t
}

// faultyConn does something at one of its statements.
type faultyConn struct {
	scan.Conn
	left atomic.Int32
	do   func()
}

func (c *faultyConn) Query(ctx context.Context, statement string, dest []any, each func() error) error {
	if c.left.Add(-1) == 0 {
		c.do()
	}
	return c.Conn.Query(ctx, statement, dest, each)
}

// fitClouds opens the table, does something at the first server's at-th statement from then on, and fits.
func fitClouds(t *testing.T, d database, at int, do func()) (certified.Result, *scan.Rows, error) {
	t.Helper()
	return fitTable(t, d, "clouds", at, do)
}

func fitTable(t *testing.T, d database, name string, at int, do func()) (certified.Result, *scan.Rows, error) {
	t.Helper()
	ctx := context.Background()
	e := d.open(t)
	faulty := &faultyConn{Conn: e.Shards[0], do: do}
	e.Shards[0] = faulty
	rows, err := scan.Open(ctx, e.Dialect, e.Shards, scan.Table{Name: []string{name}, Key: "k", Label: "y"})
	if err != nil {
		t.Fatal(err)
	}
	sample, err := rows.Sample(ctx, large.All(), 5000)
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := feature.Fit(sample.Table, rows.Schema(), nil, feature.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x, err := m.Matrix(sample.Table, nil, matrix.Float32)
	if err != nil {
		t.Fatal(err)
	}
	p, err := method.Problem{Method: method.TopMeanNP, Lambda: 1e-3, Tau: threshold.MustRate("1%")}.Complete()
	if err != nil {
		t.Fatal(err)
	}
	source, err := rows.NewSource(ctx, large.All(), m, matrix.Float32, p.Definition().Population)
	if err != nil {
		t.Fatal(err)
	}
	faulty.left.Store(int32(at))
	r, err := certified.SolveSource(ctx, source, p, certified.Options{Sample: x})
	if err == nil {
		err = rows.Check(ctx)
	}
	return r, rows, err
}

// TestFaults kills servers and changes rows in the middle of a fit. The result is the same, or the error says why not.
func TestFaults(t *testing.T) {
	databases(t, func(t *testing.T, d database) {
		if d.name == "duckdb" {
			t.Skip("no process can write to a file that is open: TestDuckDB")
		}
		s := d.servers[0]
		want, _, err := fitClouds(t, d, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !want.Converged {
			t.Fatal("not converged")
		}
		same := func(t *testing.T, got certified.Result) {
			t.Helper()
			if !got.Converged || got.LowerBound > want.Objective || want.LowerBound > got.Objective {
				t.Errorf("F %v D %v, without the fault F %v D %v", got.Objective, got.LowerBound, want.Objective, want.LowerBound)
			}
		}
		t.Run("killed", func(t *testing.T) {
			if d.name == "spark" {
				t.Skip("its tables end with the process: TestSparkSession")
			}
			ended := make(chan struct{})
			got, rows, err := fitClouds(t, d, 2, func() {
				go func() {
					defer close(ended)
					time.Sleep(5 * time.Millisecond)
					s.Kill()
					s.Start(t)
				}()
				time.Sleep(20 * time.Millisecond)
			})
			<-ended
			if err != nil {
				t.Fatal(err)
			}
			same(t, got)
			if rows.Traffic().Retries == 0 {
				t.Error("no statement was repeated")
			}
		})
		t.Run("rows are added", func(t *testing.T) {
			got, _, err := fitClouds(t, d, 2, func() { s.Run(t, "INSERT INTO clouds SELECT k + 100000000, y, ca, cb, cc, cd FROM clouds") })
			if err != nil {
				t.Fatal(err)
			}
			same(t, got)
			if d.name == "postgres" { // the next fit is compared, too
				s.Run(t, "DELETE FROM clouds WHERE k > 100000000")
			}
		})
		t.Run("a row is added among the others", func(t *testing.T) {
			got, _, err := fitClouds(t, d, 2, func() { s.Run(t, "INSERT INTO clouds VALUES (15, 0, 1, 1, 1, 1)") })
			if d.name == "postgres" { // it has snapshots
				if err != nil {
					t.Fatal(err)
				}
				same(t, got)
			} else if e := diag.Of(err); e == nil || !strings.Contains(e.Found, "changed while they were read") {
				t.Errorf("%v", err)
			}
		})
		t.Run("cancelled", func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			e := d.open(t)
			time.AfterFunc(300*time.Millisecond, cancel)
			begin := time.Now()
			slow := map[string]string{"postgres": "SELECT count(*) FROM pg_sleep(60)",
				"clickhouse": "SELECT toInt64(count()) FROM system.numbers WHERE cityHash64(number) = 1",
				"spark":      "SELECT count(*) FROM range(1000000000000) WHERE hash(id) = 1"}[d.name]
			var n int64
			err := e.Shards[0].Query(ctx, slow, []any{&n}, func() error { return nil })
			if !errors.Is(err, context.Canceled) && ctx.Err() == nil || err == nil || time.Since(begin) > 20*time.Second {
				t.Errorf("%v after %v", err, time.Since(begin))
			}
		})
		t.Run("refuses to write", func(t *testing.T) {
			if d.name == "spark" {
				t.Skip("the server's access control decides")
			}
			o := engine.Options{DSN: []string{s.DSN}} // a role with all rights
			e, err := engine.Open(context.Background(), d.name, o)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			var n int64
			for _, statement := range []string{"INSERT INTO clouds VALUES (5, 0, 1, 1, 1, 1)", "DROP TABLE clouds"} {
				if err := e.Shards[0].Query(context.Background(), statement, []any{&n}, func() error { return nil }); err == nil {
					t.Errorf("%s was run", statement)
				}
			}
		})
	}, clouds(30_000, 4, .05))
}

// TestThreeServers fits a table on three servers of ClickHouse, named one by one and as a Distributed table, and kills one of them in the
// middle. The bounds are those of one server with all rows.
func TestThreeServers(t *testing.T) {
	three := servers.ClickHouse(t, 3)
	of := clouds(30_000, 4, .05)
	for i, s := range three {
		s.Load(t, of.Part(i, len(three)))
	}
	whole := of
	whole.Name = "whole"
	three[0].Load(t, whole)
	three[0].Run(t, "CREATE TABLE together AS clouds ENGINE = Distributed(all, default, clouds)")
	one := database{"clickhouse", three[:1]}
	want, _, err := fitTable(t, one, "whole", 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		name, table string
		d           database
	}{{"named", "clouds", database{"clickhouse", three}}, {"Distributed", "together", one}} {
		for _, killed := range []string{"not", "before", "during"} { // a statement
			t.Run(of.name+", killed "+killed, func(t *testing.T) {
				at, ended := 0, make(chan struct{})
				if killed != "not" {
					at = 2
				}
				got, rows, err := fitTable(t, of.d, of.table, at, func() {
					if killed == "before" {
						three[1].Kill()
					}
					go func() {
						defer close(ended)
						time.Sleep(30 * time.Millisecond)
						three[1].Kill()
						three[1].Start(t)
					}()
				})
				if at > 0 {
					<-ended
				}
				if err != nil {
					t.Fatal(err)
				}
				retries := rows.Traffic().Retries
				t.Logf("F %.12g D %.12g, on one server F %.12g D %.12g, %d statements, %d repeated", got.Objective, got.LowerBound, want.Objective, want.LowerBound, rows.Traffic().Statements, retries)
				if !got.Converged || got.LowerBound > want.Objective || want.LowerBound > got.Objective {
					t.Error("the bounds do not meet")
				}
				if killed == "before" && retries == 0 {
					t.Error("no statement was repeated")
				}
			})
		}
	}
}

// TestIdleSessions lets PostgreSQL end a session that does nothing in its transaction, as a search does. The fit goes on in a new snapshot
// if it has the rows of the first one, and ends with an error if it has not.
func TestIdleSessions(t *testing.T) {
	s := servers.Postgres(t, servers.PostgresOptions{Settings: []string{"idle_in_transaction_session_timeout = 1000"}})
	s.Load(t, clouds(30_000, 4, .05))
	d := database{"postgres", []*servers.Server{s}}
	want, _, err := fitClouds(t, d, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	idle := func(change string) func() {
		return func() {
			if change != "" {
				s.Run(t, change)
			}
			time.Sleep(2 * time.Second)
		}
	}
	got, rows, err := fitClouds(t, d, 1, idle(""))
	if err != nil {
		t.Fatal(err)
	}
	if rows.Traffic().Retries == 0 || !got.Converged || got.LowerBound > want.Objective || want.LowerBound > got.Objective {
		t.Errorf("%d retries, converged %v, F %v D %v, without the pause F %v D %v", rows.Traffic().Retries, got.Converged, got.Objective, got.LowerBound, want.Objective, want.LowerBound)
	}
	_, _, err = fitClouds(t, d, 1, idle("UPDATE clouds SET ca = ca + 1 WHERE k = 10"))
	if e := diag.Of(err); e == nil || e.Kind != diag.Data || e.Found != "the data changed while they were read" {
		t.Errorf("after a change: %v", err)
	}
}

// TestOddNumbers expects errors that name the column and the count.
func TestOddNumbers(t *testing.T) {
	odd := clouds(2000, 3, .2)
	for name, change := range map[string]func(of servers.Column) servers.Column{
		"missing": func(c servers.Column) servers.Column {
			c.Null = func(row int) bool { return row%100 == 7 }
			return c
		},
		"nan": func(c servers.Column) servers.Column {
			return servers.Column{Name: c.Name, Number: func(row int) float64 {
				if row%100 == 7 {
					return math.NaN()
				}
				return c.Number(row)
			}}
		},
		"infinite": func(c servers.Column) servers.Column {
			return servers.Column{Name: c.Name, Number: func(row int) float64 {
				if row%100 == 7 {
					return math.Inf(-1)
				}
				return c.Number(row)
			}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			of := odd
			of.Columns = append([]servers.Column(nil), odd.Columns...)
			of.Columns[3] = change(of.Columns[3])
			databases(t, func(t *testing.T, d database) {
				ctx := context.Background()
				e := d.open(t)
				rows, err := scan.Open(ctx, e.Dialect, e.Shards, scan.Table{Name: []string{"clouds"}, Key: "k", Label: "y"})
				if name == "infinite" {
					// Each server counts its own: all of these rows are on the second one of two.
					if e := diag.Of(err); e == nil || e.Column != "cb" || e.Found != "20 infinite numbers" {
						t.Errorf("%v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				sample, err := rows.Sample(ctx, large.All(), 10_000)
				if err != nil {
					t.Fatal(err)
				}
				m, _, err := feature.Fit(sample.Table, rows.Schema(), nil, feature.Options{Impute: "median"})
				if err != nil {
					t.Fatal(err)
				}
				m.Impute = "error"
				_, err = rows.NewSource(ctx, large.All(), m, matrix.Float32, method.Negatives)
				if e := diag.Of(err); e == nil || e.Column != "cb" || e.Found != "20 missing values" || len(e.Fixes) == 0 {
					t.Errorf("%v", err)
				}
			}, of)
		})
	}
}

// TestSecrets uses encryption, and expects no secret in errors.
func TestSecrets(t *testing.T) {
	s := servers.Postgres(t, servers.PostgresOptions{TLS: true})
	s.Load(t, clouds(100, 2, .5))
	e, err := engine.Open(context.Background(), "postgres", engine.Options{DSN: []string{s.ReadOnly}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var encrypted bool
	if err := e.Shards[0].Query(context.Background(), "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()", []any{&encrypted}, func() error { return nil }); err != nil || !encrypted {
		t.Errorf("encrypted %v, %v", encrypted, err)
	}
	wrong := strings.Replace(s.ReadOnly, "eyes", "wrong", 1)
	if wrong == s.ReadOnly {
		t.Fatal("the password is not in the connection string")
	}
	_, err = engine.Open(context.Background(), "postgres", engine.Options{DSN: []string{wrong}})
	if err == nil || strings.Contains(err.Error(), "wrong") || strings.Contains(err.Error(), "any") || strings.Contains(err.Error(), "5432") {
		t.Errorf("%v", err)
	}
}

// TestPlainConnections needs no server.
func TestPlainConnections(t *testing.T) {
	for name, dsn := range map[string]string{
		"postgres":   "postgres://reader:secret@192.0.2.1:5432/x?sslmode=disable",
		"clickhouse": "clickhouse://reader:secret@192.0.2.1:9000/x",
	} {
		_, err := engine.Open(context.Background(), name, engine.Options{DSN: []string{dsn}})
		if e := diag.Of(err); e == nil || e.Kind != diag.Usage || strings.Contains(err.Error(), "secret") || !strings.Contains(e.Found, "without encryption") {
			t.Errorf("%s: %v", name, err)
		}
		_, err = engine.Open(context.Background(), name, engine.Options{DSN: []string{"secret://%zz secret"}})
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := engine.Open(context.Background(), "oracle", engine.Options{}); diag.Of(err) == nil {
		t.Errorf("%v", err)
	}
}
