package integration

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	_ "modernc.org/sqlite"

	export_sql "toptau/internal/models/export/sql"
)

// rowColumn is a column of each table with the number of the row.
const rowColumn = "the row"

// statement exports a job. It returns the SELECT without its semicolon.
func statement(t *testing.T, dialect string, j job, a *answer) string {
	t.Helper()
	var b bytes.Buffer
	a.refused = export_sql.Write(&b, j.p, export_sql.Options{Dialect: dialect, Keep: []string{rowColumn}})
	a.bytes = b.Len()
	return strings.TrimSuffix(b.String(), ";\n")
}

// tableColumn is a column of the table of a job.
type tableColumn struct {
	name string
	text bool
	at   func(r record) (number float64, text *string) // a missing text is nil, a missing number NaN
}

// tableColumns returns the columns of a job's table: inputs and segments.
func tableColumns(j job) (list []tableColumn) {
	taken := map[string]bool{}
	for k := range j.p.Inputs {
		list = append(list, tableColumn{j.p.Inputs[k].Name, j.p.Inputs[k].Text, func(r record) (float64, *string) {
			return r.values[k].Number, r.values[k].Text
		}})
		taken[j.p.Inputs[k].Name] = true
	}
	for i, name := range j.p.Segments() {
		if !taken[name] {
			list = append(list, tableColumn{name, true, func(r record) (float64, *string) { return 0, &r.segments[i] }})
		}
	}
	return list
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// withoutNUL returns a job without the rows that have a text with U+0000, which PostgreSQL cannot store, and these rows.
func withoutNUL(j job) (job, map[int]bool) {
	var rows []record
	left := map[int]bool{}
	for i, r := range j.rows {
		for _, v := range r.values {
			if v.Text != nil && strings.Contains(*v.Text, "\x00") {
				left[i] = true
			}
		}
		if !left[i] {
			rows = append(rows, r)
		}
	}
	j.rows = rows
	return j, left
}

// withNUL adds the wanted scores of the rows that withoutNUL left out.
func withNUL(j job, a answer) answer {
	_, left := withoutNUL(j)
	full := answer{bytes: a.bytes, seconds: a.seconds}
	for i, next := 0, 0; i < len(j.rows); i++ {
		if left[i] {
			full.scores, full.decisions = append(full.scores, j.want[i]), append(full.decisions, decided(j, i))
			continue
		}
		full.scores, full.decisions = append(full.scores, a.scores[next]), append(full.decisions, a.decisions[next])
		next++
	}
	return full
}

// readLines reads lines of row, score and decisions. An empty field is NULL.
func readLines(t *testing.T, j job, a *answer, out []byte, separator string, number func(string) (float64, error)) {
	t.Helper()
	a.scores, a.decisions = make([]float64, len(j.rows)), make([][]bool, len(j.rows))
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(j.rows) {
		t.Fatalf("%s: %d lines for %d rows: %.300s", j.name, len(lines), len(j.rows), out)
	}
	for _, line := range lines {
		fields := strings.Split(line, separator)
		row, err := strconv.Atoi(fields[0])
		if err != nil || len(fields) != 2+len(j.p.Points) {
			t.Fatalf("%s: line %q", j.name, line)
		}
		a.scores[row] = math.NaN()
		if fields[1] != "" && fields[1] != `\N` && fields[1] != "ᴺᵁᴸᴸ" {
			if a.scores[row], err = number(fields[1]); err != nil {
				t.Fatalf("%s: line %q: %v", j.name, line, err)
			}
		}
		for _, field := range fields[2:] {
			a.decisions[row] = append(a.decisions[row], field == "t" || field == "1" || field == "true")
		}
	}
}

func parseFloat(s string) (float64, error) { return strconv.ParseFloat(s, 64) }

// postgresBin is the directory of the newest PostgreSQL, "" if there is none.
func postgresBin() string {
	list, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}

// postgres starts a server of its own that listens on a socket in a new directory. Root runs it as the user postgres, for the
// server refuses root.
func postgres() engine {
	return engine{name: "PostgreSQL", missing: func() string {
		if postgresBin() == "" {
			return "there is no PostgreSQL in /usr/lib/postgresql"
		}
		return ""
	}, run: func(t *testing.T, _ string, jobs []job) []answer {
		dir := startPostgres(t)
		jobs, all := slices.Clone(jobs), jobs
		answers := make([]answer, len(jobs))
		var script bytes.Buffer
		script.WriteString("\\set ON_ERROR_STOP on\n\\pset format unaligned\n\\pset tuples_only on\n\\pset fieldsep '|'\nSET jit = off;\n")
		for i := range jobs {
			jobs[i], _ = withoutNUL(jobs[i])
			select_ := statement(t, "postgres", jobs[i], &answers[i])
			if answers[i].refused != nil {
				continue
			}
			var create, data strings.Builder
			fmt.Fprintf(&create, "CREATE TABLE \"rows\" (%s int", quoted(rowColumn))
			columns := tableColumns(jobs[i])
			for _, c := range columns {
				fmt.Fprintf(&create, ", %s %s", quoted(c.name), []string{"float8", "text"}[index(c.text)])
			}
			for row, r := range jobs[i].rows {
				data.WriteString(strconv.Itoa(row))
				for _, c := range columns {
					data.WriteByte('\t')
					switch x, s := c.at(r); {
					case c.text && s == nil:
						data.WriteString(`\N`)
					case c.text:
						data.WriteString(strings.NewReplacer("\\", `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(*s))
					case math.IsNaN(x) && row%2 == 0:
						data.WriteString(`\N`)
					default:
						data.WriteString(strconv.FormatFloat(x, 'g', -1, 64)) // NaN too
					}
				}
				data.WriteByte('\n')
			}
			path := filepath.Join(dir, fmt.Sprint("data", i))
			writeFile(t, path, []byte(data.String()))
			fmt.Fprintf(&script, "DROP TABLE IF EXISTS \"rows\";\n%s);\n\\copy \"rows\" FROM '%s'\n\\o %s.out\nSET log_statement_stats = on;\n%s;\nSET log_statement_stats = off;\n\\o\n",
				create.String(), path, path, select_)
		}
		path := filepath.Join(dir, "script.sql")
		writeFile(t, path, script.Bytes())
		command(t, nil, filepath.Join(postgresBin(), "psql"), "-X", "-q", "-h", dir, "-U", "toptau", "-d", "postgres", "-f", path)
		for i := range jobs {
			if answers[i].refused == nil {
				out, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("data%d.out", i)))
				if err != nil {
					t.Fatal(err)
				}
				readLines(t, jobs[i], &answers[i], out, "|", parseFloat)
				answers[i] = withNUL(all[i], answers[i])
			}
		}
		if len(jobs) == 1 {
			answers[0].seconds = postgresSeconds(t, dir)
		}
		return answers
	}}
}

// postgresSeconds returns the processor seconds of the longest statement in the server's log.
func postgresSeconds(t *testing.T, dir string) (longest float64) {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range regexp.MustCompile(`([0-9.]+) s user, ([0-9.]+) s system`).FindAllSubmatch(log, -1) {
		user, _ := parseFloat(string(match[1]))
		system, _ := parseFloat(string(match[2]))
		longest = max(longest, user+system)
	}
	return longest
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}

func startPostgres(t *testing.T) (dir string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	var as *syscall.SysProcAttr
	if os.Geteuid() == 0 {
		owner, err := user.Lookup("postgres")
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.Atoi(owner.Uid)
		gid, _ := strconv.Atoi(owner.Gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
		as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) {
		c := exec.Command(filepath.Join(postgresBin(), name), args...)
		c.SysProcAttr, c.Dir = as, dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	data := filepath.Join(dir, "data")
	run("initdb", "-D", data, "-U", "toptau", "-A", "trust", "-E", "UTF8", "--no-sync")
	run("pg_ctl", "-D", data, "-w", "-l", filepath.Join(dir, "log"), "-o", "-k "+dir+" -c listen_addresses= -c fsync=off", "start")
	t.Cleanup(func() { run("pg_ctl", "-D", data, "-m", "immediate", "stop") })
	return dir
}

// fillSQLite writes the table of a job to a database.
func fillSQLite(t *testing.T, db *sql.DB, j job) {
	t.Helper()
	columns := tableColumns(j)
	names, marks := quoted(rowColumn)+" INTEGER", "?"
	for _, c := range columns {
		names += ", " + quoted(c.name) + []string{" REAL", " TEXT COLLATE NOCASE"}[index(c.text)]
		marks += ", ?"
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err = tx.Exec("CREATE TABLE \"rows\" (" + names + ")"); err != nil {
		t.Fatal(err)
	}
	insert, err := tx.Prepare("INSERT INTO \"rows\" VALUES (" + marks + ")")
	if err != nil {
		t.Fatal(err)
	}
	for row, r := range j.rows {
		values := []any{row}
		for _, c := range columns {
			switch x, s := c.at(r); {
			case c.text && s == nil, !c.text && math.IsNaN(x):
				values = append(values, nil)
			case c.text:
				values = append(values, *s)
			default:
				values = append(values, x)
			}
		}
		if _, err := insert.Exec(values...); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// sqlite runs a translation of SQLite to Go, or Debian's shell.
func sqlite(shell bool) engine {
	e := engine{name: "SQLite of modernc.org", missing: func() string { return "" }}
	if shell {
		e = engine{name: "SQLite, the sqlite3 shell", missing: needsCommand("sqlite3")}
	}
	e.run = func(t *testing.T, dir string, jobs []job) []answer {
		answers := make([]answer, len(jobs))
		for i, j := range jobs {
			a := &answers[i]
			select_ := statement(t, "sqlite", j, a)
			if a.refused != nil {
				continue
			}
			path := filepath.Join(dir, fmt.Sprintf("db%d", i))
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			fillSQLite(t, db, j)
			if !shell {
				a.seconds = measured(func() { querySQLite(t, db, j, a, select_) })
				db.Close()
				continue
			}
			db.Close()
			script := "SELECT " + quoted(rowColumn) + ", CASE WHEN score IS NULL THEN '' ELSE hex(ieee754_to_blob(score)) END"
			for k := range j.p.Points {
				script += ", " + quoted(pointColumn(j, k))
			}
			script += " FROM (" + select_ + "\n);\n"
			var out []byte
			a.seconds = measured(func() { out = command(t, strings.NewReader(script), "sqlite3", "-readonly", path) })
			readLines(t, j, a, out, "|", func(s string) (float64, error) {
				raw, err := hex.DecodeString(s)
				if err != nil || len(raw) != 8 {
					return 0, fmt.Errorf("%q: %v", s, err)
				}
				return math.Float64frombits(binary.BigEndian.Uint64(raw)), nil
			})
		}
		return answers
	}
	return e
}

// pointColumn is the name of a decision in the statement; the export's own test checks it.
func pointColumn(j job, point int) string {
	columns := decisionColumns(j)
	return columns[point]
}

func querySQLite(t *testing.T, db *sql.DB, j job, a *answer, query string) {
	rows, err := db.Query(query)
	if err != nil {
		t.Fatalf("%s: %.500v", j.name, err)
	}
	defer rows.Close()
	a.scores, a.decisions = make([]float64, len(j.rows)), make([][]bool, len(j.rows))
	for rows.Next() {
		var row int
		var score sql.NullFloat64
		decisions := make([]sql.NullBool, len(j.p.Points))
		into := []any{&row, &score}
		for k := range decisions {
			into = append(into, &decisions[k])
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		a.scores[row] = math.NaN()
		if score.Valid {
			a.scores[row] = score.Float64
		}
		for _, d := range decisions {
			a.decisions[row] = append(a.decisions[row], d.Bool)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// duckDB runs DuckDB in Python.
func duckDB() engine {
	return engine{name: "DuckDB", missing: needsPython("duckdb, pyarrow"), run: func(t *testing.T, dir string, jobs []job) []answer {
		dirs, answers := jobDirs(t, dir, jobs), make([]answer, len(jobs))
		for i, j := range jobs {
			select_ := statement(t, "duckdb", j, &answers[i])
			if answers[i].refused == nil {
				pythonData(t, dirs[i], j)
				writeFile(t, filepath.Join(dirs[i], "select.sql"), []byte(select_))
			}
		}
		command(t, nil, python(), append([]string{"scripts/duckdb_score.py", rowColumn}, kept(dirs, answers)...)...)
		for i, j := range jobs {
			if a := &answers[i]; a.refused == nil {
				size := a.bytes
				*a = readAnswer(t, filepath.Join(dirs[i], "answer.bin"), j)
				a.bytes = size
			}
		}
		return answers
	}}
}
