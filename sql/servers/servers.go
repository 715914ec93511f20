// Package servers starts real databases for tests: PostgreSQL, ClickHouse, Trino and Spark. Each server listens on a free
// port of the loopback interface, keeps its data in a temporary directory, and ends with the test. A test whose server is
// not installed is skipped with the command that installs it.
//
// The package uses the programs of each database and no driver, so that a fault of a driver cannot hide in the tests of
// that driver.
package servers

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Server is a running database.
type Server struct {
	DSN      string // connects with all rights
	ReadOnly string // connects with a role that may read all tables and write nothing
	Port     int

	dir     string
	command func() *exec.Cmd                                                // a new process of the server
	query   func(stdin io.Reader, statement string) (out string, err error) // runs a statement, in a form for people
	rows    func(statement string) ([][]*string, error)                     // of embedded databases
	load    func(t testing.TB, table Table)
	ready   func() error   // an error as long as the server starts
	end     syscall.Signal // ends the server at once

	mutex   sync.Mutex
	process *exec.Cmd
	ended   chan struct{}
}

// startTime is the most time that a server may need until it answers. Trino needs half a minute on two processors, and some
// minutes if many programs share them.
const startTime = 8 * time.Minute

// needs skips a test if a program is missing.
func needs(t testing.TB, found bool, program, install string) {
	t.Helper()
	if !found {
		t.Skipf("%s is not installed: run %s", program, install)
	}
	if testing.Testing() && testing.Short() {
		t.Skipf("%s is not started with -short", program)
	}
}

// hasProgram reports whether a command is on the search path.
func hasProgram(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}

// answers reports an error until the server runs statements.
func (s *Server) answers() error {
	_, err := s.query(nil, "SELECT 1")
	return err
}

// script is the path of a script of this module, for messages: from the directory of the module, wherever the test runs.
func script(name string) string { return "sql/scripts/" + name }

// moduleDir is the directory of this module.
func moduleDir() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(file))
}

// freePorts returns ports on which nobody listens at the moment.
func freePorts(t testing.TB, n int) []int {
	t.Helper()
	ports := make([]int, n)
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() // after the last one is open, so that no port is returned twice
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports
}

// temporary returns a directory that goes with the test and that another user may enter. t.TempDir is closed to others,
// and PostgreSQL refuses to run as root.
func temporary(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "toptau-"+name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// output runs a command to its end and returns what it printed, or an error with its messages.
func output(c *exec.Cmd) (string, error) {
	var out, messages bytes.Buffer
	c.Stdout, c.Stderr = &out, &messages
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%.2000s", filepath.Base(c.Path), err, messages.String())
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

func run(t testing.TB, c *exec.Cmd) {
	t.Helper()
	if _, err := output(c); err != nil {
		t.Fatal(err)
	}
}

// Start starts the server on its port and with its data, and returns when it answers. The functions that create a server
// start it, too.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	c := s.command()
	log, err := os.OpenFile(filepath.Join(s.dir, "output"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if c.Stderr = log; c.Stdout == nil {
		c.Stdout = log
	}
	endWithParent(c, s.end)
	err = c.Start()
	log.Close()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		c.Wait()
		close(ended)
	}()
	s.process, s.ended = c, ended
	for limit := time.Now().Add(startTime); ; time.Sleep(50 * time.Millisecond) {
		if s.ready() == nil {
			return
		}
		select {
		case <-ended:
			t.Fatalf("the server ended while it started:\n%s", s.Log())
		default:
		}
		if time.Now().After(limit) {
			t.Fatalf("the server does not answer after %v:\n%s", startTime, s.Log())
		}
	}
}

// Kill ends the server at once, as a power cut would: connections break, nothing is written down. Start starts it again.
func (s *Server) Kill() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.process != nil {
		s.process.Process.Signal(s.end)
		select {
		case <-s.ended:
		case <-time.After(20 * time.Second):
			s.process.Process.Kill()
			<-s.ended
		}
		s.process = nil
	}
}

// Process returns the number of the server's process, 0 if it does not run.
func (s *Server) Process() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.process == nil {
		return 0
	}
	return s.process.Process.Pid
}

// Log returns the end of what the server printed.
func (s *Server) Log() string {
	b, _ := os.ReadFile(filepath.Join(s.dir, "output"))
	return string(b[max(0, len(b)-4000):])
}

// Run runs a statement with all rights and returns the rows that it prints: lines of fields that are separated by tabs.
func (s *Server) Run(t testing.TB, statement string) string {
	t.Helper()
	out, err := s.query(nil, statement)
	if err != nil {
		t.Fatalf("%v\n%.500s", err, statement)
	}
	return out
}

// Rows runs a statement in an embedded database and returns its cells as texts, nil for NULL.
func (s *Server) Rows(statement string) ([][]*string, error) { return s.rows(statement) }

// Refuses runs a statement that the server must refuse, and returns the server's error.
func (s *Server) Refuses(t testing.TB, statement string) string {
	t.Helper()
	if _, err := s.query(nil, statement); err != nil {
		return err.Error()
	}
	t.Fatalf("the server ran a statement that it must refuse: %.200s", statement)
	return ""
}

// Load creates a table and fills it as fast as the server can: PostgreSQL by COPY, ClickHouse by an INSERT of rows in
// binary form, Trino by an INSERT of rows in JSON, Spark from a Parquet file.
func (s *Server) Load(t testing.TB, table Table) {
	t.Helper()
	s.load(t, table)
}

// stream runs a statement that reads rows, and sends it those of a table, with what comes before and after them.
func (s *Server) stream(t testing.TB, insert string, table Table, row func(*encoder, Table, int), before, after string) {
	t.Helper()
	reader, writer := io.Pipe()
	go func() {
		w := &encoder{to: writer, bytes: []byte(before)}
		for i := range table.Rows {
			row(w, table, i)
			w.flush(1 << 16)
		}
		w.bytes = append(w.bytes, after...)
		w.flush(0)
		writer.CloseWithError(w.err)
	}()
	_, err := s.query(reader, insert)
	reader.Close()
	if err != nil {
		t.Fatal(err)
	}
}

// dsn joins the parts of a DSN in the form of a URL.
func dsn(scheme, user string, port int, rest string) string {
	return fmt.Sprintf("%s://%s@127.0.0.1:%d/%s", scheme, user, port, rest)
}
