package main

import (
	"context"
	"encoding/csv"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"toptau/certify"
	"toptau/dataset"
	"toptau/internal/app/cli/clitest"
	"toptau/internal/core/simulate"
	"toptau/internal/data/table"
	"toptau/method"
	"toptau/model"
	"toptau/schema"
	"toptau/score"
	"toptau/sql/servers"
	"toptau/threshold"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the transcripts run this program as "toptau-sql".
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"toptau-sql": main})
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return app().Run(ctx, args, stdin, stdout, stderr)
}

// TestTranscripts runs what a user types without a server.
func TestTranscripts(t *testing.T) {
	model := filepath.Join(t.TempDir(), "m.json")
	trainModel(t, model, flows(t))
	clitest.RunTranscriptsIn(t, "testdata/script", map[string]string{"MODEL": model}, nil)
}

// protocols are texts that would break a statement which is put together carelessly. The last one is missing.
var protocols = []string{"tcp", `it's`, `back\slash`, `"; DROP TABLE flows; --`, "ß→", ""}

// flows returns a table with 20,000 rows: 8 columns of numbers, one of them with NULL, and one of texts, whose name is hostile too.
func flows(t testing.TB) servers.Table { return flowsFrom(t, 20_000, 1) }

func flowsFrom(t testing.TB, n int, seed uint64) servers.Table {
	t.Helper()
	o := simulate.Options{Kind: "detectors", Rows: n, Seed: seed, Columns: 8, Positives: threshold.MustRate("3%")}
	data, err := simulate.New(o)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := data.WriteCSV(context.Background(), &b, func(int) {}); err != nil {
		t.Fatal(err)
	}
	rows, err := readTable(b.String())
	if err != nil {
		t.Fatal(err)
	}
	list := servers.FromTable("flows", "id", "attack", rows)
	gaps := &list.Columns[2]
	gaps.Null = func(row int) bool { return row%50 == 7 }
	list.Columns = append(list.Columns, servers.Column{Name: `proto "x'y` + "`", Text: func(row int) string { return protocols[(row*7+row/13)%len(protocols)] },
		Null: func(row int) bool { return (row*7+row/13)%len(protocols) == len(protocols)-1 }})
	return list
}

// writeCSV writes the rows of a table to a file.
func writeCSV(t testing.TB, path string, of servers.Table) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := csv.NewWriter(f)
	fields := make([]string, len(of.Columns))
	for i := range of.Columns {
		fields[i] = of.Columns[i].Name
	}
	w.Write(fields)
	for row := range of.Rows {
		for i := range of.Columns {
			c := &of.Columns[i]
			switch {
			case c.Null != nil && c.Null(row):
				fields[i] = ""
			case c.Integer != nil:
				fields[i] = strconv.FormatInt(c.Integer(row), 10)
			case c.Text != nil:
				fields[i] = c.Text(row)
			default:
				fields[i] = strconv.FormatFloat(c.Number(row), 'g', -1, 64)
			}
		}
		w.Write(fields)
	}
	w.Flush()
	if err := w.Error(); err != nil {
		t.Fatal(err)
	}
}

// trainModel writes a model of all kinds of columns, trained on a file.
func trainModel(t testing.TB, path string, of servers.Table) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "flows.csv")
	writeCSV(t, file, of)
	data, err := dataset.Read(context.Background(), file, schema.Format{Label: "attack", ID: []string{"id"}})
	if err != nil {
		t.Fatal(err)
	}
	fitted, err := certify.Fit(context.Background(), data, method.Problem{Method: "topmean-np", Lambda: 1e-3, Tau: threshold.MustRate("1%")},
		certify.FitOptions{Encoding: "scorecard", Impute: "indicator"})
	if err != nil {
		t.Fatal(err)
	}
	if err := fitted.Model.Save(path); err != nil {
		t.Fatal(err)
	}
}

func readTable(text string) (*table.Table, error) {
	r, err := table.NewReader("flows", strings.NewReader(text), table.Options{Format: schema.Format{Label: "last"}})
	if err != nil {
		return nil, err
	}
	t, _, err := r.ReadAll()
	return t, err
}

// same SCORES DATA checks that scores of a database are those of toptau score, to the bit.
func same(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: same SCORES MODEL DATA")
	}
	m, err := model.Load(ts.MkAbs(args[1]))
	ts.Check(err)
	f, err := os.Open(ts.MkAbs(args[2]))
	ts.Check(err)
	defer f.Close()
	stream, err := score.Open(context.Background(), m, f, score.Options{Format: schema.Format{ID: []string{"id"}}})
	ts.Check(err)
	want := map[string]string{}
	for row, err := range stream.Rows() {
		ts.Check(err)
		decision := "0"
		if row.Decisions[0] {
			decision = "1"
		}
		want[row.ID[0]] = strconv.FormatFloat(row.Score, 'g', -1, 64) + "," + decision
	}
	lines := strings.Split(strings.TrimSpace(ts.ReadFile(args[0])), "\n")
	if lines[0] != "id,score,decision" || len(lines) != 1+len(want) {
		ts.Fatalf("%s: %d rows, want %d", lines[0], len(lines)-1, len(want))
	}
	for _, line := range lines[1:] {
		key, rest, _ := strings.Cut(line, ",")
		if want[key] != rest {
			ts.Fatalf("row %s: %s, want %s", key, rest, want[key])
		}
	}
}

// secretless FILE... checks that no file contains the password of a connection string.
func secretless(ts *testscript.TestScript, neg bool, args []string) {
	for _, path := range args {
		if text := ts.ReadFile(path); strings.Contains(text, servers.Password) || strings.Contains(text, strings.ReplaceAll(servers.Password, " ", "%20")) {
			ts.Fatalf("%s contains the password:\n%s", path, text)
		}
	}
}

// database runs the transcripts of a directory with servers that have the same table.
func database(t *testing.T, dir string, list []*servers.Server, variables map[string]string) {
	t.Helper()
	of := flows(t)
	for i, s := range list {
		s.Load(t, of.Part(i, len(list)))
	}
	path := t.TempDir()
	writeCSV(t, filepath.Join(path, "flows.csv"), of)
	trainModel(t, filepath.Join(path, "m.json"), of)
	variables["DATA"], variables["MODEL"] = filepath.Join(path, "flows.csv"), filepath.Join(path, "m.json")
	clitest.RunTranscriptsIn(t, dir, variables, map[string]func(*testscript.TestScript, bool, []string){"same": same, "secretless": secretless,
		"sql": func(ts *testscript.TestScript, neg bool, args []string) {
			for _, s := range list {
				if neg {
					ts.Logf("%s", s.Refuses(t, args[0]))
					continue
				}
				ts.Logf("%s", s.Run(t, args[0]))
			}
		}})
}

// TestPostgres runs transcripts with a server that asks for TLS and a password.
func TestPostgres(t *testing.T) {
	s := servers.Postgres(t, servers.PostgresOptions{TLS: true})
	plain := strings.Replace(s.ReadOnly, "sslmode=verify-full", "sslmode=disable", 1)
	database(t, "testdata/postgres", []*servers.Server{s}, map[string]string{"READER": s.ReadOnly, "WRITER": s.DSN, "PLAIN": plain, "HURRIED": s.ReadOnly + "&statement_timeout=1",
		"WRONG": strings.Replace(s.ReadOnly, "reader:", "reader:x", 1)})
}

// TestClickHouse runs transcripts with two servers, each with half of the rows.
func TestClickHouse(t *testing.T) {
	list := servers.ClickHouse(t, 2)
	database(t, "testdata/clickhouse", list, map[string]string{"READER1": list[0].ReadOnly, "READER2": list[1].ReadOnly, "WRITER1": list[0].DSN, "WRITER2": list[1].DSN})
}

// TestSpark runs transcripts with a Thrift server.
func TestSpark(t *testing.T) {
	if os.Getenv("TOPTAU_SPARK") == "" {
		t.Skip("starts a Java program: make spark")
	}
	s := servers.Spark(t)
	database(t, "testdata/spark", []*servers.Server{s}, map[string]string{"LAKE": s.DSN, "WRONG": strings.Replace(s.DSN, "toptau@", "toptau:secret@", 1) + "?tsl=true"})
}

// TestDuckDB runs transcripts with a file, which gets a view of Parquet files and columns of more types.
func TestDuckDB(t *testing.T) {
	s := servers.DuckDBFile(t)
	database(t, "testdata/duckdb", []*servers.Server{s}, map[string]string{"FILE": s.DSN, "LAKE": filepath.Join(t.TempDir(), "lake")})
}

// TestDuckDBGuide runs the guide's section on DuckDB: it makes the view, and then runs all commands on a lake of two files.
func TestDuckDBGuide(t *testing.T) {
	page, err := os.ReadFile("../../../docs/guide/sql.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n## DuckDB\n")
	if !found {
		t.Fatal("the page has no section on DuckDB")
	}
	dir := t.TempDir()
	s := servers.DuckDBFile(t)
	s.Load(t, flowsFrom(t, 6000, 1))
	s.Run(t, "COPY (SELECT * EXCLUDE (id), id % 2 AS day FROM flows) TO '"+dir+"/flows' (FORMAT parquet, PARTITION_BY (day))")
	s.Run(t, "DROP TABLE flows")
	ran := 0
	for _, block := range strings.Split(section, "```")[1:] {
		language, text, _ := strings.Cut(block, "\n")
		switch {
		case language == "sql":
			s.Run(t, strings.ReplaceAll(text, "/data/flows", dir+"/flows"))
			ran++
		case language == "sh" && strings.HasPrefix(text, "toptau-sql"):
			c := exec.Command("sh", "-e", "-c", strings.ReplaceAll(text, "lake.duckdb", s.DSN))
			c.Dir = dir
			out, err := c.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			t.Logf("%s", out)
			ran++
		}
	}
	if ran != 2 {
		t.Errorf("%d blocks of the page were run", ran)
	}
}
