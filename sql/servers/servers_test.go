package servers

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// hostile is a table whose names and texts would break a statement that is put together carelessly.
func hostile() Table {
	texts := []string{"", `'`, `\`, "a\tb\nc", `"; DROP TABLE x; --`, "ß→", "NULL"}
	return Table{Name: "a\"b`c'd\\e -- ;", Key: "the key", Rows: 700, Columns: []Column{
		{Name: "the key", Integer: func(row int) int64 { return int64(row) - 3 }},
		{Name: `x"y'`, Number: func(row int) float64 { return math.Ldexp(1.0/3, row-350) }},
		{Name: "f", Single: true, Number: func(row int) float64 { return 0.1 }, Null: func(row int) bool { return row%5 == 0 }},
		{Name: "s", Text: func(row int) string { return texts[row%7] }, Null: func(row int) bool { return row == 1 }},
	}}
}

func TestPostgres(t *testing.T) {
	s := Postgres(t, PostgresOptions{})
	table := hostile()
	s.Load(t, table)
	name := `"a""b` + "`" + `c'd\e -- ;"`
	if got := s.Run(t, "SELECT count(*), min(\"the key\"), max(\"the key\"), count(f), count(s), count(DISTINCT s) FROM "+name); got != "700\t-3\t696\t560\t699\t7" {
		t.Error(got)
	}
	if got := s.Run(t, `SELECT count(*) FROM `+name+` WHERE "x""y'" = '`+fmt.Sprint(math.Ldexp(1.0/3, 3))+`'::float8`); got != "1" {
		t.Error(got)
	}
	s.Kill()
	if _, err := s.query(nil, "SELECT 1"); err == nil {
		t.Error("a killed server answers")
	}
	s.Start(t)
	if got := s.Run(t, "SELECT count(*) FROM "+name); got != "700" {
		t.Error("after a restart: " + got)
	}
	s.Refuses(t, "SELECT nothing")
	reader := func(statement string) string {
		out, _ := exec.Command(filepath.Join(postgresBin(), "psql"), "-X", "-q", "-A", "-t", s.ReadOnly, "-c", statement).CombinedOutput()
		return strings.TrimSpace(string(out))
	}
	if got := reader("SELECT count(*) FROM " + name); got != "700" {
		t.Error(got)
	}
	for _, statement := range []string{"CREATE TABLE x (a int)", "CREATE TEMP TABLE x (a int)", "DELETE FROM " + name} {
		if got := reader(statement); !strings.Contains(got, "permission denied") {
			t.Error(statement, got)
		}
	}
}

func TestPostgresTLS(t *testing.T) {
	s := Postgres(t, PostgresOptions{TLS: true})
	ask := func(dsn string) (string, error) {
		out, err := exec.Command(filepath.Join(postgresBin(), "psql"), "-X", "-q", "-A", "-t", dsn, "-c",
			"SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	for _, dsn := range []string{s.DSN, s.ReadOnly} {
		if got, err := ask(dsn); err != nil || got != "t" {
			t.Error(got, err)
		}
	}
	plain, _, _ := strings.Cut(s.DSN, "?")
	if got, err := ask(plain + "?sslmode=disable"); err == nil {
		t.Error("connected without TLS: ", got)
	}
}

func TestClickHouse(t *testing.T) {
	list := ClickHouse(t, 2)
	table := hostile()
	name := "`a\"b\\`c'd\\\\e -- ;`"
	for i, s := range list {
		s.Load(t, table.Part(i, 2))
		if got := s.Run(t, "SELECT count(*) FROM "+name); got != "350" {
			t.Error(i, got)
		}
	}
	// The old server cannot have such a name in a Distributed table, so the two shards have one with a plain name.
	for _, s := range list {
		s.Run(t, "CREATE TABLE part ENGINE = MergeTree ORDER BY k AS SELECT `the key` AS k, f, s FROM "+name)
		s.Run(t, "CREATE TABLE whole AS part ENGINE = Distributed(all, default, part)")
	}
	if got := list[1].Run(t, "SELECT count(*), min(k), max(k), count(f), count(s), uniq(s) FROM whole"); got != "700\t-3\t696\t560\t699\t7" {
		t.Error(got)
	}
	list[0].Kill()
	list[0].Start(t)
	if got := list[0].Run(t, "SELECT count(*) FROM whole"); got != "700" {
		t.Error("after a restart: " + got)
	}
	reader := func(statement string) string {
		out, _ := exec.Command("clickhouse-client", "--host", "127.0.0.1", "--port", fmt.Sprint(list[0].Port), "--user", "reader",
			"--max_query_size", "1000000", "--query", statement).CombinedOutput()
		return strings.TrimSpace(string(out))
	}
	if got := reader("SELECT count(*) FROM whole"); got != "700" {
		t.Error(got)
	}
	if got := reader("CREATE TABLE x (a Int8) ENGINE = Memory"); !strings.Contains(got, "readonly mode") {
		t.Error(got)
	}
}

func TestTrino(t *testing.T) {
	s, workers := Trino(t, 2)
	table := hostile()
	s.Load(t, table)
	name := `"` + strings.ReplaceAll(table.Name, `"`, `""`) + `"`
	if got := s.Run(t, "SELECT count(*), min(\"the key\"), max(\"the key\"), count(f), count(s), count(DISTINCT s) FROM "+name); got != "700\t-3\t696\t560\t699\t7" {
		t.Error(got)
	}
	if got := s.Run(t, `SELECT count(*) FROM `+name+` WHERE "x""y'" = `+fmt.Sprintf("%e", math.Ldexp(1.0/3, 3))); got != "0" {
		t.Error(got) // rounded to six digits
	}
	if got := s.Run(t, `SELECT count(*) FROM `+name+` WHERE "x""y'" = DOUBLE '`+fmt.Sprint(math.Ldexp(1.0/3, 3))+`'`); got != "1" {
		t.Error(got)
	}
	if s.Refuses(t, "SELECT nothing") == "" || len(workers) != 2 {
		t.Error("no error")
	}
}

func TestSpark(t *testing.T) {
	if os.Getenv("TOPTAU_SPARK") == "" {
		t.Skip("starts a Java program: make spark")
	}
	s := Spark(t)
	table := hostile()
	s.Load(t, table)
	name := sparkName(table.Name)
	if got := s.Run(t, "SELECT count(*), min(`the key`), max(`the key`), count(f), count(s), count(DISTINCT s) FROM "+name); got != "700\t-3\t696\t560\t699\t7" {
		t.Error(got)
	}
	if got := s.Run(t, "SELECT count(*) FROM "+name+" WHERE `x\"y'` = "+fmt.Sprint(math.Ldexp(1.0/3, 3))+"D"); got != "1" {
		t.Error(got)
	}
	if s.Refuses(t, "SELECT nothing") == "" {
		t.Error("no error")
	}
}
