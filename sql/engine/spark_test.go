package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"toptau/diag"
	"toptau/internal/training/large"
	"toptau/sql/engine"
	"toptau/sql/scan"
	"toptau/sql/servers"
)

// spark starts Spark, whose sessions see the same views.
func spark(t testing.TB, settings ...string) *servers.Server {
	if os.Getenv("TOPTAU_SPARK") == "" {
		t.Skip("starts a Java program: make spark")
	}
	return servers.Spark(t, append(settings, "spark.sql.hive.thriftServer.singleSession=true")...)
}

// TestSparkSession connects in all ways that need no second program, asks for every type, and ends a statement.
func TestSparkSession(t *testing.T) {
	s := spark(t)
	ctx := context.Background()
	e := (&database{"spark", []*servers.Server{s}}).open(t)
	s.Run(t, "CREATE TABLE p USING parquet PARTITIONED BY (day) AS SELECT id, CAST(id AS FLOAT) AS f, CAST(id % 3 AS INT) AS day FROM range(20000)")
	ask := func(ctx context.Context, statement string, columns int) (rows []string, err error) {
		cells, dest := make([]any, columns), make([]any, columns)
		for i := range cells {
			dest[i] = &cells[i]
		}
		err = e.Shards[0].Query(ctx, statement, dest, func() error {
			rows = append(rows, fmt.Sprintf("%v", cells))
			return nil
		})
		return rows, err
	}
	for _, c := range []struct {
		statement string
		columns   int
		want      string
	}{
		{"SELECT CAST(1 AS TINYINT), CAST(2 AS SMALLINT), 3, 4L, CAST(0.1 AS FLOAT), 0.1D, DOUBLE('NaN'), -0e0D", 8, "[1 2 3 4 0.1 0.1 NaN -0]"}, // a FLOAT has its shortest digits
		{"SELECT true, 'a${env:HOME}', DATE'2026-01-02', 1.50, X'4142'", 5, "[true a${env:HOME} 2026-01-02 1.50 [65 66]]"},
		{"SELECT CAST(NULL AS BIGINT), CAST(NULL AS DOUBLE), CAST(NULL AS STRING), CAST(NULL AS BOOLEAN), CAST(NULL AS INT)", 5, "[<nil> <nil> <nil> <nil> <nil>]"},
		{"DESCRIBE TABLE p", 2, "[id bigint][f float][day int]"}, // and not what it says about partitions
		{"DESCRIBE TABLE missing", 2, ""},
		{"DESCRIBE TABLE nowhere.missing", 2, ""},
		{"SELECT count(*) FROM p", 1, "[20000]"},
	} {
		rows, err := ask(ctx, c.statement, c.columns)
		if got := strings.Join(rows, ""); err != nil || got != c.want {
			t.Errorf("%s: %s, %v", c.statement, got, err)
		}
	}
	if rows, err := ask(ctx, "SELECT id FROM p", 1); err != nil || len(rows) != 20000 { // several blocks
		t.Errorf("%d rows, %v", len(rows), err)
	}
	for statement, want := range map[string]string{
		"SELECT x FROM missing":         "Spark SQL: [TABLE_OR_VIEW_NOT_FOUND] The table or view `missing` cannot be found.",
		"SELECT nothing FROM p":         "Spark SQL: [UNRESOLVED_COLUMN.WITH_SUGGESTION] A column or function parameter with name `nothing` cannot be resolved.",
		"SELECT raise_error('own') + 1": "own",
	} {
		if _, err := ask(ctx, statement, 1); diag.Of(err) == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "org.apache") {
			t.Errorf("%s: %v", statement, err)
		}
	}

	// A statement that is cancelled does not go on: it would keep both processors, and the next one would wait.
	short, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	begin := time.Now()
	if _, err := ask(short, "SELECT count(*) FROM range(1000000000000) WHERE hash(id) = 1", 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if rows, err := ask(ctx, "SELECT max(f) FROM p", 1); err != nil || len(rows) != 1 || time.Since(begin) > 30*time.Second {
		t.Errorf("%v, %v after %v", rows, err, time.Since(begin))
	}

	for dsn, want := range map[string]string{
		strings.Replace(s.DSN, "/default", "/nowhere", 1): "[SCHEMA_NOT_FOUND] The schema `nowhere` cannot be found",
		s.DSN + "?sasl=false":                             "EOF",
		s.DSN + "?tls=true":                               "tls: first record does not look like a TLS handshake",
		s.DSN + "?tsl=true":                               "a connection string that cannot be read",
		s.DSN + "?ca=/none":                               "a file with certificates as ca",
		"spark://a:secret word@127.0.0.1":                 "a connection string that cannot be read",
		"spark://a:secret@spark.example.org":              "a connection without encryption to another host, expected tls=true",
		"spark://a:secret@127.0.0.1:1":                    "connection refused",
	} {
		_, err := engine.Open(ctx, "spark", engine.Options{DSN: []string{dsn}})
		if diag.Of(err) == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", dsn, err)
		}
	}

	// The server is lost, and there again.
	if received, sent := e.Bytes(); received < 20000*8 || sent < 1000 {
		t.Errorf("%d bytes received, %d sent", received, sent)
	}
	s.Kill()
	if _, err := ask(ctx, "SELECT 1", 1); err == nil || !e.Shards[0].Lost(err) {
		t.Errorf("a killed server: %v", err)
	}
	for limit := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) { // Java ends after Python
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.Port))
		if err != nil {
			break
		}
		if c.Close(); time.Now().After(limit) {
			t.Fatal("the server does not end")
		}
	}
	s.Start(t)
	if e.Shards[0].Reconnect(ctx) != nil { // the connection that is left from before
		if err := e.Shards[0].Reconnect(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if rows, err := ask(ctx, "SELECT 1", 1); err != nil || len(rows) != 1 {
		t.Error(rows, err)
	}
}

// TestSparkRefuses connects to a server that refuses every user.
func TestSparkRefuses(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	got := make(chan string, 1)
	go func() {
		c, err := server.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		b := make([]byte, 26)
		n, _ := io.ReadFull(c, b)
		got <- string(b[:n])
		c.Write([]byte("\x03\x00\x00\x00\x10no such password"))
	}()
	_, err = engine.Open(context.Background(), "spark", engine.Options{DSN: []string{fmt.Sprintf("spark://ann:secret@%s", server.Addr())}})
	if diag.Of(err) == nil || !strings.Contains(err.Error(), "the server refuses the user: no such password") || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	want := "\x01\x00\x00\x00\x05PLAIN\x02\x00\x00\x00\x0b\x00ann\x00secret"
	if sent := <-got; sent != want {
		t.Errorf("%q instead of %q", sent, want)
	}
}

// TestSparkServers connects to servers with TLS, with HTTP, and without SASL.
func TestSparkServers(t *testing.T) {
	if os.Getenv("TOPTAU_SPARK") == "" {
		t.Skip("starts a Java program: make spark")
	}
	store, ca := servers.JavaKey(t)
	for name, c := range map[string]struct {
		settings []string
		dsn      string
	}{
		"TLS":    {[]string{"use.SSL=true", "keystore.path=" + store, "keystore.password=" + servers.KeyPassword}, "?tls=true&ca=" + ca},
		"HTTP":   {[]string{"transport.mode=http"}, "?http=cliservice"},
		"NOSASL": {[]string{"authentication=NOSASL"}, "?sasl=false"},
	} {
		t.Run(name, func(t *testing.T) {
			var settings []string
			for _, setting := range c.settings {
				settings = append(settings, "spark.hadoop.hive.server2."+setting)
			}
			s := servers.Spark(t, settings...)
			e, err := engine.Open(context.Background(), "spark", engine.Options{DSN: []string{s.DSN + c.dsn}})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			var n int64
			if err := e.Shards[0].Query(context.Background(), "SELECT count(*) FROM range(1000)", []any{&n}, func() error { return nil }); err != nil || n != 1000 {
				t.Errorf("%d rows, %v", n, err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			begin := time.Now()
			if err := e.Shards[0].Query(ctx, "SELECT count(*) FROM range(1000000000000) WHERE hash(id) = 1", []any{&n}, func() error { return nil }); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 20*time.Second {
				t.Errorf("%v after %v", err, time.Since(begin))
			}
			if name == "TLS" {
				if _, err := engine.Open(context.Background(), "spark", engine.Options{DSN: []string{s.DSN + "?tls=true"}}); err == nil || !strings.Contains(err.Error(), "certificate") {
					t.Errorf("a certificate that nobody signed: %v", err)
				}
			}
		})
	}
}

// TestSparkLake changes the files of a table while it is read. Spark keeps a list of them for each session, so a file that is added is not read.
func TestSparkLake(t *testing.T) {
	if os.Getenv("TOPTAU_SPARK") == "" {
		t.Skip("starts a Java program: make spark")
	}
	s := servers.Spark(t)
	s.Load(t, clouds(3000, 3, .2))
	lake := filepath.Join(t.TempDir(), "lake")
	write := func(part, add int) {
		s.Run(t, fmt.Sprintf("INSERT OVERWRITE DIRECTORY '%s' USING parquet SELECT k, y, ca + %d AS ca FROM clouds WHERE k %% 20 = %d", filepath.Join(lake, fmt.Sprint("day=", part)), add, 10*part))
	}
	write(0, 0)
	write(1, 0)
	s.Run(t, "CREATE TABLE flows USING parquet LOCATION '"+lake+"'")
	s.Run(t, "MSCK REPAIR TABLE flows")
	e := (&database{"spark", []*servers.Server{s}}).open(t)
	ctx := context.Background()
	rows, err := scan.Open(ctx, e.Dialect, e.Shards, scan.Table{Name: []string{"flows"}, Key: "k", Label: "y", Drop: []string{"day"}})
	if err != nil {
		t.Fatal(err)
	}
	positives, negatives, err := rows.Count(ctx, large.All())
	if err != nil || positives.Rows+negatives.Rows != 3000 {
		t.Fatal(positives, negatives, err)
	}
	if err := rows.Check(ctx); err != nil {
		t.Error(err)
	}
	file := func(part int) string {
		t.Helper()
		list, err := filepath.Glob(filepath.Join(lake, fmt.Sprint("day=", part), "part-*.parquet"))
		if err != nil || len(list) == 0 {
			t.Fatal(list, err)
		}
		return list[0]
	}
	put := func(from, to string) {
		t.Helper()
		text, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(to, text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		os.Remove(filepath.Join(filepath.Dir(to), "."+filepath.Base(to)+".crc"))
	}
	put(file(0), filepath.Join(lake, "day=1", "part-more.parquet"))
	if err := rows.Check(ctx); err != nil {
		t.Errorf("a file was added: %v", err)
	}
	put(file(0), file(1))
	if err := rows.Check(ctx); diag.Of(err) == nil || !strings.Contains(err.Error(), "changed while they were read") && !strings.Contains(err.Error(), "not a Parquet file") {
		t.Errorf("a file was written again: %v", err)
	}
	write(1, 1)
	if err := rows.Check(ctx); diag.Of(err) == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("a file was replaced: %v", err)
	}
}

// TestSparkWorkers fits on two workers of Spark, processes of their own, and kills one in the middle. The bounds are those of one process.
func TestSparkWorkers(t *testing.T) {
	of := clouds(30_000, 4, .05)
	one := database{"spark", []*servers.Server{spark(t)}}
	one.servers[0].Load(t, of)
	want, _, err := fitClouds(t, one, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	one.servers[0].Kill()
	two := database{"spark", []*servers.Server{spark(t, "spark.master=local-cluster[2,1,700]", "spark.executor.memory=600m")}}
	two.servers[0].Load(t, of)
	for _, at := range []int{0, 2} {
		begin := time.Now()
		got, rows, err := fitClouds(t, two, at, func() {
			workers := executors(two.servers[0].Process())
			if len(workers) != 2 {
				t.Fatalf("%d workers", len(workers))
			}
			time.AfterFunc(50*time.Millisecond, func() { syscall.Kill(workers[0], syscall.SIGKILL) })
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("killed at %d, %.0f s: F %.12g D %.12g, in one process F %.12g D %.12g, %d statements, %d repeated", at, time.Since(begin).Seconds(), got.Objective, got.LowerBound, want.Objective, want.LowerBound,
			rows.Traffic().Statements, rows.Traffic().Retries)
		if !got.Converged || got.LowerBound > want.Objective || want.LowerBound > got.Objective {
			t.Error("the bounds do not meet")
		}
	}
}

// executors returns the processes of Spark's executors that a process has started, through others.
func executors(root int) (list []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	parent := map[int]int{}
	for _, path := range stats {
		text, _ := os.ReadFile(path)
		var pid, of int
		var state string
		fmt.Sscanf(string(text), "%d", &pid)
		fmt.Sscan(string(text[bytes.LastIndexByte(text, ')')+1:]), &state, &of)
		parent[pid] = of
	}
	for pid := range parent {
		command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		above := pid
		for above > 1 && above != root {
			above = parent[above]
		}
		if above == root && bytes.HasPrefix(command, []byte("/")) && bytes.Contains(command, []byte("CoarseGrainedExecutorBackend")) {
			list = append(list, pid)
		}
	}
	return list
}
