//go:build unix

// Command engines compares verbs of toptau-sql on a table that stays in a database with the other way: to export the table as CSV, and to
// run toptau on the file. A row is a ratio of processor seconds, those of the server and of all programs together.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"toptau/bench/machine"
	"toptau/internal/core/simulate"
	"toptau/internal/data/table"
	"toptau/schema"
	"toptau/sql/servers"
	"toptau/threshold"
)

var (
	rows    = flag.Int("rows", 1_000_000, "rows of the table")
	columns = flag.Int("columns", 20, "columns of the table")
	rounds  = flag.Int("rounds", 3, "interleaved rounds; the median counts")
	only    = flag.String("only", "", "measure the rows whose name contains this")
	program = flag.String("toptau", "../bin/toptau", "the program for files")
	inside  = flag.String("sql", "../bin/toptau-sql", "the program for databases")
	output  = flag.String("o", "", "write the table here, with the run")
)

func main() {
	log.SetFlags(0)
	flag.Parse()
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	dir, err := os.MkdirTemp("", "engines-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	of, err := simulated(filepath.Join(dir, "rows.csv"))
	if err != nil {
		return err
	}
	list := [][]string{machine.TurnsHead}
	for _, e := range engines {
		err := servers.Outside(func(t testing.TB) { list = append(list, e.compare(t, dir, of)...) })
		if errors.Is(err, servers.ErrNotInstalled) {
			fmt.Fprintf(os.Stderr, "skipped: %s (%v)\n", e.name, err)
		} else if err != nil {
			return err
		}
	}
	notes := machine.Description("") + fmt.Sprintf(`Processor seconds of server and programs together, the median of %d interleaved rounds; programs of toptau have one thread.
The ratio is the median of theirs. A simulated table (detectors) with %d rows and %d columns of doubles, with a primary key in PostgreSQL.
toptau-sql reads it in place (--in-place), or copies it (--copy). The rival is an export as CSV with the database's own program, and toptau on the file.`,
		*rounds, *rows, *columns)
	return machine.WriteRun(*output, "make measure WHAT=engines", notes, list)
}

// simulated returns a table of rows whose numbers have as many digits as in a file.
func simulated(path string) (of servers.Table, err error) {
	data, err := simulate.New(simulate.Options{Kind: "detectors", Rows: *rows, Columns: *columns, Seed: 1, Positives: threshold.MustRate("2%")})
	if err != nil {
		return of, err
	}
	f, err := os.Create(path)
	if err != nil {
		return of, err
	}
	if err := errors.Join(data.WriteCSV(context.Background(), f, func(int) {}), f.Close()); err != nil {
		return of, err
	}
	t, _, err := table.Read(path, table.Options{Format: schema.Format{Label: "last"}})
	if err != nil {
		return of, err
	}
	of = servers.FromTable("events", "k", "y", t)
	for j := range of.Columns {
		of.Columns[j].Null = nil
	}
	return of, nil
}

// database is a kind of database.
type database struct {
	name, data, version string
	start               func(t testing.TB) *servers.Server
	export              func(s *servers.Server, query string) *exec.Cmd // writes CSV with names to its output
}

var engines = []database{
	{"PostgreSQL", "postgres:", "SHOW server_version",
		func(t testing.TB) *servers.Server {
			return servers.Postgres(t, servers.PostgresOptions{Settings: []string{"shared_buffers = 1GB", "max_parallel_workers_per_gather = 0"}})
		},
		func(s *servers.Server, query string) *exec.Cmd {
			return exec.Command("psql", "-X", "-q", "-c", `\copy (`+query+`) TO STDOUT CSV HEADER`, s.ReadOnly)
		}},
	{"ClickHouse", "clickhouse:", "SELECT version()",
		func(t testing.TB) *servers.Server { return servers.ClickHouse(t, 1)[0] },
		func(s *servers.Server, query string) *exec.Cmd {
			return exec.Command("clickhouse-client", "--host", "127.0.0.1", "--port", strconv.Itoa(s.Port), "--query", query+" FORMAT CSVWithNames")
		}},
}

// verb is what is compared: the arguments of both programs, without those that name the rows.
type verb struct{ name, goal, args string }

var verbs = []verb{
	{"fit, TopMean-NP 1 %", "2.5", "fit --label y --method topmean-np --tau 1% -o MODEL"},
	{"fit, Pat&Mat-NP 1 %", "2.5", "fit --label y --method patmat-np --tau 1% --beta 1 -o OTHER"},
	{"evaluate", "1.5", "evaluate MODEL"},
	{"score", "1", "score MODEL -o SCORES"},
}

// compare measures all verbs in a database.
func (e *database) compare(t testing.TB, dir string, of servers.Table) (list [][]string) {
	s := e.start(t)
	s.Load(t, of)
	if e.data == "postgres:" {
		s.Run(t, "VACUUM ANALYZE events")
	}
	rival := e.name + " " + strings.TrimSpace(s.Run(t, e.version)) + ": export, and toptau on the file"
	if err := os.Setenv("TOPTAU_ENGINE", s.ReadOnly); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "export.csv")
	args := func(v *verb) []string {
		fill := strings.NewReplacer("MODEL", filepath.Join(dir, "m.json"), "OTHER", filepath.Join(dir, "o.json"), "SCORES", filepath.Join(dir, "scores.csv"))
		return strings.Fields(fill.Replace(v.args))
	}
	place := func(list []string, more ...string) []string { // DATA comes after the model, or first
		at := 1
		if len(list) > 1 && !strings.HasPrefix(list[1], "-") {
			at = 2
		}
		return slices.Insert(slices.Clone(list), at, more...)
	}
	for _, v := range verbs {
		if !strings.Contains(v.name, *only) && v.args != verbs[0].args { // which writes the model
			continue
		}
		first := strings.Fields(v.args)[0]
		exported := func() float64 {
			onFile := append(place(args(&v), file), map[string][]string{"fit": {"--drop", "k"}, "score": {"--id", "k"}}[first]...)
			return cost(t, s, e.export(s, "SELECT * FROM events"), file) + cost(t, s, exec.Command(*program, onFile...), "")
		}
		inPlace := func(how ...string) func() float64 {
			list := append(place(args(&v), e.data), "--dsn-env", "TOPTAU_ENGINE", "--table", "events", "--key", "k")
			return func() float64 { return cost(t, s, exec.Command(*inside, append(slices.Clone(list), how...)...), "") }
		}
		var ours []func() float64
		names, goals := []string{v.name}, []string{v.goal}
		switch first {
		case "fit", "evaluate":
			ours = append(ours, inPlace("--in-place"))
		default:
			ours = append(ours, inPlace())
		}
		if v.args == verbs[0].args {
			ours, names, goals = append(ours, inPlace("--copy")), append(names, v.name+", --copy"), append(goals, "")
		}
		list = append(list, measured(names, goals, rival, ours, exported)...)
	}
	return list
}

// measured lets contenders and the rival take turns.
func measured(names, goals []string, rival string, ours []func() float64, theirs func() float64) (list [][]string) {
	turns := make([]machine.Turns, len(ours))
	for range *rounds {
		b := theirs()
		for k, own := range ours {
			turns[k].Add(own(), b)
		}
	}
	for k := range ours {
		list = append(list, turns[k].Line(names[k], rival, goals[k], 2))
	}
	return list
}

// cost runs a program and returns its processor seconds and those of the server. Its output goes to a file.
func cost(t testing.TB, s *servers.Server, c *exec.Cmd, to string) float64 {
	before := s.CPU()
	var errors strings.Builder
	c.Env, c.Stderr = append(os.Environ(), "GOMAXPROCS=1"), &errors
	if to != "" {
		f, err := os.Create(to)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		c.Stdout = f
	}
	if err := c.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(c.Args, " "), err, errors.String())
	}
	return s.CPU() - before + (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
}
