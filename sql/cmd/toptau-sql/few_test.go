package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toptau/certify"
	"toptau/dataset"
	"toptau/method"
	"toptau/model"
	"toptau/schema"
	"toptau/sql/servers"
	"toptau/threshold"
)

// smallTables runs a test in the databases that are installed, each with the table of flows. DATA and the flags name it.
func smallTables(t *testing.T, of servers.Table, test func(t *testing.T, list []*servers.Server, data string, flags []string)) {
	for kind, start := range map[string]func(t testing.TB) []*servers.Server{
		"postgres": func(t testing.TB) []*servers.Server {
			return []*servers.Server{servers.Postgres(t, servers.PostgresOptions{})}
		},
		"clickhouse": func(t testing.TB) []*servers.Server { return servers.ClickHouse(t, 2) },
		"duckdb":     func(t testing.TB) []*servers.Server { return []*servers.Server{servers.DuckDBFile(t)} },
	} {
		t.Run(kind, func(t *testing.T) {
			list := start(t)
			data, flags := kind+":", []string{"--table", "flows", "--key", "id"}
			for i, s := range list {
				s.Load(t, of.Part(i, len(list)))
				if kind == "duckdb" {
					data += s.DSN
					continue
				}
				name := fmt.Sprint("SERVER", i)
				t.Setenv(name, s.ReadOnly)
				flags = append(flags, "--dsn-env", name)
			}
			test(t, list, data, flags)
		})
	}
}

// otherSource matches what names the rows in a model, and its labels: those of a column of numbers in a database are not kept.
var otherSource = regexp.MustCompile(`"(digest|source|checksum)": ?"[^"]*",?|"labels":\[[^\]]*\],`)

func modelBytes(t *testing.T, m *model.Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := m.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestSmallTables checks that the rows of a small table leave the database once, and that fit's model is toptau's of a file of the same
// rows: it has the same bytes but for the name of the rows and its checksums.
func TestSmallTables(t *testing.T) {
	of := flows(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "flows.csv")
	writeCSV(t, file, of)
	problems := map[schema.Encoding]method.Problem{
		"raw":       {Method: "topmean-np", Lambda: 1e-3, Tau: threshold.MustRate("1%")},
		"scorecard": {Method: "topmean", Lambda: 1e-3, Tau: threshold.MustRate("1%")}, // of all rows
	}
	want := map[schema.Encoding][]byte{}
	for encoding, p := range problems {
		data, err := dataset.Read(context.Background(), file, schema.Format{Label: "attack", ID: []string{"id"}})
		if err != nil {
			t.Fatal(err)
		}
		fitted, err := certify.Fit(context.Background(), data, p, certify.FitOptions{Encoding: encoding, Impute: "indicator"})
		if err != nil {
			t.Fatal(err)
		}
		want[encoding] = modelBytes(t, fitted.Model)
	}
	smallTables(t, of, func(t *testing.T, _ []*servers.Server, data string, flags []string) {
		file, certificate := filepath.Join(t.TempDir(), "m.json"), filepath.Join(t.TempDir(), "c.json")
		once := func(args ...string) {
			t.Helper()
			var stdout, stderr strings.Builder
			if code := run(context.Background(), slices.Concat(args, flags, []string{"--json"}), strings.NewReader(""), &stdout, &stderr); code != 0 {
				t.Fatalf("%v: exit code %d: %s%s", args, code, stdout.String(), stderr.String())
			}
			var r struct {
				Database struct {
					Rows       int `json:"rows_fetched"`
					Lookups    int `json:"lookups"`
					Statements int `json:"statements"`
					Scans      int `json:"scans"`
				} `json:"database"`
			}
			if err := json.Unmarshal([]byte(stdout.String()), &r); err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: %d statements, %d scans", args[0], r.Database.Statements, r.Database.Scans)
			if r.Database.Rows != of.Rows || r.Database.Lookups != 0 {
				t.Errorf("%s: %d rows left the database, %d lookups", args[0], r.Database.Rows, r.Database.Lookups)
			}
		}
		for encoding, p := range problems {
			once("fit", data, "--label", "attack", "--method", string(p.Method), "--lambda", fmt.Sprint(p.Lambda), "--tau", "1%",
				"--encoding", string(encoding), "--impute", "indicator", "-o", file, "--certificate", certificate)
			saved, err := model.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := otherSource.ReplaceAll(modelBytes(t, saved), nil), otherSource.ReplaceAll(want[encoding], nil); !bytes.Equal(got, want) {
				t.Errorf("%s: the model is not that of the file:\n%s\n%s", encoding, got, want)
			}
			once("verify", file, data, certificate)
		}
		once("diagnose", data, "--label", "attack", "--impute", "indicator")
		once("train", data, "--label", "attack", "--max-fpr", "2%", "--method", "logistic,topmean-np", "--encoding", "raw", "--impute", "indicator", "-o", file)
	})
}

// TestCopy checks that --copy reads a table that is too large for a sample once, and that fit's model is then that of a file of the same
// rows; that the bytes are announced; and that --in-place does not copy a small table.
func TestCopy(t *testing.T) {
	of := gaussians("flows", 202_000, 3)
	of.Columns = of.Columns[:5]
	for j := range of.Columns {
		of.Columns[j].Single = false
	}
	s := servers.Postgres(t, servers.PostgresOptions{})
	s.Load(t, of)
	t.Setenv("FLOWS", s.ReadOnly)
	dir := t.TempDir()
	file, output := filepath.Join(dir, "flows.csv"), filepath.Join(dir, "m.json")
	writeCSV(t, file, of)
	data, err := dataset.Read(context.Background(), file, schema.Format{Label: "label", ID: []string{"id"}})
	if err != nil {
		t.Fatal(err)
	}
	want, err := certify.Fit(context.Background(), data, method.Problem{Method: "topmean-np", Lambda: 1e-3, Tau: threshold.MustRate("10%")}, certify.FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	fit := func(more ...string) (fetched, lookups int, notes string, m *model.Model) {
		t.Helper()
		args := append([]string{"fit", "postgres:", "--dsn-env", "FLOWS", "--table", "flows", "--key", "id", "--label", "label", "--method", "topmean-np",
			"--lambda", "1e-3", "--tau", "10%", "-o", output, "--json"}, more...)
		var stdout, stderr strings.Builder
		if code := run(context.Background(), args, strings.NewReader(""), &stdout, &stderr); code != 0 {
			t.Fatalf("%v: exit code %d: %s%s", more, code, stdout.String(), stderr.String())
		}
		var r struct {
			Database struct {
				Rows    int `json:"rows_fetched"`
				Lookups int `json:"lookups"`
			} `json:"database"`
		}
		if err := json.Unmarshal([]byte(stdout.String()), &r); err != nil {
			t.Fatal(err)
		}
		if m, err = model.Load(output); err != nil {
			t.Fatal(err)
		}
		return r.Database.Rows, r.Database.Lookups, stderr.String(), m
	}
	fetched, lookups, notes, got := fit("--copy")
	if fetched != of.Rows || lookups != 0 || !strings.Contains(notes, "copies all rows into memory, about 6.46 MB") {
		t.Errorf("--copy: %d rows left the database: %s", fetched, notes)
	}
	if got, want := otherSource.ReplaceAll(modelBytes(t, got), nil), otherSource.ReplaceAll(modelBytes(t, want.Model), nil); !bytes.Equal(got, want) {
		t.Errorf("--copy: the model is not that of the file:\n%s\n%s", got, want)
	}
	if fetched, lookups, notes, _ := fit("--in-place", "--where-sql", "id < 20000"); lookups == 0 || notes != "" {
		t.Errorf("--in-place: %d of 20,000 rows left the database, with %d lookups: %s", fetched, lookups, notes)
	}
}

// TestCostOfSmallTables measures fit, verify and train on 20,000 rows with the programs of TOPTAU_SQL_PROGRAMS, whose paths have commas
// between them, in turns. docs/results/sql.md has its output.
func TestCostOfSmallTables(t *testing.T) {
	programs := os.Getenv("TOPTAU_SQL_PROGRAMS")
	if programs == "" {
		t.Skip("TOPTAU_SQL_PROGRAMS is not set: nothing to measure")
	}
	const turns = 5
	smallTables(t, flows(t), func(t *testing.T, list []*servers.Server, data string, flags []string) {
		dir := t.TempDir()
		verbs := [][]string{
			{"fit", data, "--label", "attack", "--method", "topmean-np", "--lambda", "1e-3", "--tau", "1%", "--impute", "indicator", "-o", "m.json", "--certificate", "c.json"},
			{"verify", "m.json", data, "c.json"},
			{"train", data, "--label", "attack", "--max-fpr", "2%", "--method", "logistic,topmean-np", "--encoding", "raw", "--impute", "indicator", "-o", "t.json"},
		}
		type cost struct{ server, program float64 }
		least := map[string]cost{}
		for range turns {
			for _, verb := range verbs {
				for _, program := range strings.Split(programs, ",") {
					before := 0.0
					for _, s := range list {
						before += s.CPU()
					}
					c := exec.Command(program, slices.Concat(verb, flags, []string{"--json"})...)
					c.Dir = dir
					out, err := c.Output()
					if err != nil {
						t.Fatalf("%v: %s", err, out)
					}
					now := cost{program: (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()}
					for _, s := range list {
						now.server += s.CPU()
					}
					now.server -= before
					var r struct {
						Database struct {
							Statements int   `json:"statements"`
							Scans      int   `json:"scans"`
							Rows       int   `json:"rows_fetched"`
							Received   int64 `json:"bytes_received"`
							Sent       int64 `json:"bytes_sent"`
						} `json:"database"`
					}
					if err := json.Unmarshal(out, &r); err != nil {
						t.Fatal(err)
					}
					id := fmt.Sprintf("%s %s: %d statements, %d scans, %d rows, %.2f MB in, %.2f MB out", program, verb[0], r.Database.Statements, r.Database.Scans,
						r.Database.Rows, float64(r.Database.Received)/1e6, float64(r.Database.Sent)/1e6)
					if old, there := least[id]; !there || now.server+now.program < old.server+old.program {
						least[id] = now
					}
				}
			}
		}
		for _, id := range slices.Sorted(maps.Keys(least)) {
			t.Logf("%s; least of %d: %.2f s of the servers, %.2f s of the program", id, turns, least[id].server, least[id].program)
		}
	})
}
