package servers

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// DuckDB starts DuckDB in Python. It has no DSN: statements run through Run and Rows.
func DuckDB(t testing.TB) *Server {
	t.Helper()
	s := embedded(t, "duckdb")
	s.load = s.loadDuckDB
	return s
}

// DuckDBFile returns a database in a file, which is its DSN. The test's program must have linked the driver "duckdb", or else the test is
// skipped. The file is open only while a statement of Run or Load runs.
func DuckDBFile(t testing.TB) *Server {
	t.Helper()
	if !slices.Contains(sql.Drivers(), "duckdb") {
		t.Skip("DuckDB is not linked: make duckdb, which needs gcc (apt-get install -y gcc g++)")
	}
	s := &Server{dir: temporary(t, "duckdb")}
	s.DSN = filepath.Join(s.dir, "rows.duckdb")
	s.ReadOnly = s.DSN
	s.query = func(_ io.Reader, statement string) (string, error) {
		db, err := sql.Open("duckdb", s.DSN)
		if err != nil {
			return "", err
		}
		defer db.Close()
		rows, err := db.Query(statement)
		if err != nil {
			return "", err
		}
		defer rows.Close()
		columns, err := rows.Columns()
		if err != nil {
			return "", err
		}
		cells, dest := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range cells {
			dest[i] = &cells[i]
		}
		var lines []string
		for rows.Next() {
			if err := rows.Scan(dest...); err != nil {
				return "", err
			}
			line := make([]string, len(cells))
			for i := range cells {
				line[i] = cells[i].String
			}
			lines = append(lines, strings.Join(line, "\t"))
		}
		return strings.Join(lines, "\n"), rows.Err()
	}
	s.load = s.loadDuckDB
	s.Run(t, "SELECT 1") // makes the file
	return s
}

func (s *Server) loadDuckDB(t testing.TB, table Table) {
	t.Helper()
	quote := func(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
	var names []string
	for i := range table.Columns {
		c := &table.Columns[i]
		names = append(names, quote(c.Name)+" "+[]string{"BIGINT", "DOUBLE", "FLOAT", "VARCHAR"}[c.kind()])
	}
	s.Run(t, "CREATE TABLE "+quote(table.Name)+" ("+strings.Join(names, ", ")+")")
	s.fromFile(t, table, csvRow, "COPY "+quote(table.Name)+" FROM '%s' (FORMAT csv, HEADER false, NULL '"+csvNull+"', QUOTE '\"', ESCAPE '\"')")
}

// CHDB starts the newest ClickHouse, which chdb runs in Python. It has no DSN: statements run
// through Run and Rows.
func CHDB(t testing.TB) *Server {
	t.Helper()
	s := embedded(t, "chdb")
	s.load = func(t testing.TB, table Table) {
		t.Helper()
		create, insert := clickHouseTable(table)
		s.Run(t, create)
		s.fromFile(t, table, rowBinary, strings.Replace(insert, " FORMAT", " FROM INFILE '%s' FORMAT", 1))
	}
	return s
}

// fromFile writes the rows of a table to a file and runs the statement that reads it.
func (s *Server) fromFile(t testing.TB, table Table, row func(*encoder, Table, int), statement string) {
	t.Helper()
	path := filepath.Join(s.dir, "rows")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	e := &encoder{to: file}
	for i := range table.Rows {
		row(e, table, i)
		e.flush(1 << 16)
	}
	e.flush(0)
	if err := errors.Join(e.err, file.Close()); err != nil {
		t.Fatal(err)
	}
	s.Run(t, strings.Replace(statement, "%s", path, 1))
	os.Remove(path)
}

// csvNull is a missing value in CSV. No text of a test is equal to it: quotes do not make a difference there.
const csvNull = "(no value)"

// csvRow writes a row as CSV.
func csvRow(e *encoder, t Table, row int) {
	for i := range t.Columns {
		c := &t.Columns[i]
		if i > 0 {
			e.bytes = append(e.bytes, ',')
		}
		switch {
		case c.Null != nil && c.Null(row):
			e.bytes = append(e.bytes, csvNull...)
		case c.Integer != nil:
			e.bytes = fmt.Append(e.bytes, c.Integer(row))
		case c.Text != nil:
			e.bytes = append(e.bytes, `"`+strings.ReplaceAll(c.Text(row), `"`, `""`)+`"`...)
		default:
			e.bytes = fmt.Append(e.bytes, c.Number(row))
		}
	}
	e.bytes = append(e.bytes, '\n')
}

// python is the interpreter with the engines, "" if there is none.
func python(modules string) string {
	for _, dir := range []string{engines(), filepath.Join(moduleDir(), "..", "integration", ".engines")} {
		path := filepath.Join(dir, "venv", "bin", "python")
		if exec.Command(path, "-c", "import "+modules).Run() == nil {
			return path
		}
	}
	return ""
}

func embedded(t testing.TB, module string) *Server {
	t.Helper()
	interpreter := python(module)
	needs(t, interpreter != "", module, "integration/scripts/install.sh")
	return inPython(t, interpreter, module)
}

// inPython starts a program of Python that runs statements in an embedded database, with arguments for it.
func inPython(t testing.TB, interpreter, module string, args ...string) *Server {
	t.Helper()
	s := &Server{dir: temporary(t, module), end: syscall.SIGKILL}
	var mutex sync.Mutex
	var to io.Writer
	var from *bufio.Reader
	s.command = func() *exec.Cmd {
		c := exec.Command(interpreter, append([]string{filepath.Join(moduleDir(), "scripts", "run_statements.py"), module}, args...)...)
		c.Dir = s.dir
		in, writer, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		reader, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		c.Stdin, c.Stdout, to, from = in, out, writer, bufio.NewReader(reader)
		t.Cleanup(func() { in.Close(); out.Close(); writer.Close(); reader.Close() })
		return c
	}
	s.rows = func(statement string) ([][]*string, error) {
		mutex.Lock()
		defer mutex.Unlock()
		line, _ := json.Marshal(statement)
		if _, err := to.Write(append(line, '\n')); err != nil {
			return nil, err
		}
		line, err := from.ReadBytes('\n')
		if err != nil {
			return nil, err
		}
		var answer struct {
			Rows  [][]*string
			Error string
		}
		if err := json.Unmarshal(line, &answer); err != nil {
			return nil, err
		}
		if answer.Error != "" {
			return nil, errors.New(answer.Error)
		}
		return answer.Rows, nil
	}
	s.query = func(_ io.Reader, statement string) (string, error) {
		rows, err := s.rows(statement)
		lines := make([]string, len(rows))
		for i, row := range rows {
			cells := make([]string, len(row))
			for k, cell := range row {
				if cell != nil {
					cells[k] = *cell
				}
			}
			lines[i] = strings.Join(cells, "\t")
		}
		return strings.Join(lines, "\n"), err
	}
	s.ready = s.answers
	t.Cleanup(s.Kill)
	s.Start(t)
	return s
}
