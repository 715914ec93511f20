package servers

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// engines is the directory into which the scripts install what is no package of Debian.
func engines() string {
	if dir := os.Getenv("TOPTAU_ENGINES"); dir != "" {
		return dir
	}
	return filepath.Join(moduleDir(), ".engines")
}

// Trino starts a coordinator and a number of workers of Trino 435 with the catalogue memory. The coordinator is returned
// with its workers, so that a test can kill one of them: tables of the catalogue memory are then gone. Each process takes
// about 1 GB of memory.
func Trino(t testing.TB, workers int) (coordinator *Server, list []*Server) {
	t.Helper()
	home := filepath.Join(engines(), "trino")
	_, err := os.Stat(filepath.Join(home, "complete"))
	needs(t, err == nil && hasProgram("java"), "Trino", script("trino.sh"))
	ports := freePorts(t, workers+1)
	for i, port := range ports {
		s := trino(t, home, port, ports[0], i == 0)
		if i == 0 {
			coordinator = s
		} else {
			list = append(list, s)
		}
		t.Cleanup(s.Kill)
		s.Start(t)
	}
	for limit := time.Now().Add(startTime); ; time.Sleep(200 * time.Millisecond) {
		if n := coordinator.Run(t, "SELECT count(*) FROM system.runtime.nodes WHERE state = 'active'"); n == strconv.Itoa(workers+1) {
			return coordinator, list
		} else if time.Now().After(limit) {
			t.Fatalf("%s of %d nodes of Trino are active", n, workers+1)
		}
	}
}

func trino(t testing.TB, home string, port, discovery int, coordinator bool) *Server {
	t.Helper()
	dir := temporary(t, "trino")
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	config := []string{fmt.Sprintf("coordinator=%v", coordinator), fmt.Sprintf("http-server.http.port=%d", port),
		fmt.Sprintf("discovery.uri=http://127.0.0.1:%d", discovery), "node.internal-address=127.0.0.1", "node.environment=test",
		"query.max-memory=1GB", "query.max-memory-per-node=400MB", "memory.heap-headroom-per-node=200MB",
		"plugin.dir=" + filepath.Join(home, "plugin"), "catalog.config-dir=" + filepath.Join(dir, "catalog")}
	if coordinator {
		config = append(config, "node-scheduler.include-coordinator=false")
	}
	write(t, filepath.Join(dir, "config.properties"), strings.Join(config, "\n")+"\n")
	write(t, filepath.Join(dir, "catalog", "memory.properties"), "connector.name=memory\nmemory.max-data-per-node=400MB\n")
	s := &Server{Port: port, dir: dir, end: syscall.SIGKILL, DSN: fmt.Sprintf("http://toptau@127.0.0.1:%d?catalog=memory&schema=default", port)}
	s.command = func() *exec.Cmd {
		c := exec.Command("java", "-Xmx1G", "-XX:+UseG1GC", "-XX:+ExplicitGCInvokesConcurrent", "-Djdk.attach.allowAttachSelf=true",
			"-Dnode.id="+strconv.Itoa(port), "-Dnode.data-dir="+dir, "-Dconfig="+filepath.Join(dir, "config.properties"),
			"-cp", filepath.Join(home, "classes")+":"+filepath.Join(home, "lib", "*"), "Start")
		c.Dir = dir
		return c
	}
	s.query = func(_ io.Reader, statement string) (string, error) { return trinoQuery(url, statement) }
	s.ready = func() error { return trinoStarted(url) } // a statement would wait for workers
	s.load = func(t testing.TB, table Table) {
		t.Helper()
		create, names := trinoTable(table)
		s.Run(t, create)
		for row := 0; row < table.Rows; {
			var e encoder
			// Trino's longest statement has 1,000,000 characters; no row of a test has more than 50,000.
			for start := row; row < table.Rows && len(e.bytes) < 900_000; row++ {
				if row > start {
					e.bytes = append(e.bytes, ',')
				}
				jsonRow(&e, table, row)
			}
			s.Run(t, fmt.Sprintf("INSERT INTO %s SELECT * FROM UNNEST(CAST(JSON '[%s]' AS ARRAY(ROW(%s))))", trinoName(table.Name),
				strings.ReplaceAll(string(e.bytes), "'", "''"), names))
		}
	}
	return s
}

func trinoName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// trinoTable writes the statement that creates a table, and its columns with their types.
func trinoTable(t Table) (create, columns string) {
	var names []string
	for i := range t.Columns {
		c := &t.Columns[i]
		names = append(names, trinoName(c.Name)+" "+[]string{"bigint", "double", "real", "varchar"}[c.kind()])
	}
	columns = strings.Join(names, ", ")
	return "CREATE TABLE " + trinoName(t.Name) + " (" + columns + ")", columns
}

// jsonRow writes a row as an array of JSON. Numbers that are not finite are texts, which Trino casts, too.
func jsonRow(e *encoder, t Table, row int) {
	e.bytes = append(e.bytes, '[')
	for i := range t.Columns {
		c := &t.Columns[i]
		if i > 0 {
			e.bytes = append(e.bytes, ',')
		}
		switch x := 0.0; {
		case c.Null != nil && c.Null(row):
			e.bytes = append(e.bytes, "null"...)
		case c.Integer != nil:
			e.bytes = strconv.AppendInt(e.bytes, c.Integer(row), 10)
		case c.Text != nil:
			text, _ := json.Marshal(c.Text(row))
			e.bytes = append(e.bytes, text...)
		default:
			if x = c.Number(row); math.IsNaN(x) || math.IsInf(x, 0) {
				e.bytes = fmt.Appendf(e.bytes, `"%s"`, strings.NewReplacer("+", "", "Inf", "Infinity").Replace(strconv.FormatFloat(x, 'g', -1, 64)))
			} else {
				e.bytes = strconv.AppendFloat(e.bytes, x, 'e', -1, 64)
			}
		}
	}
	e.bytes = append(e.bytes, ']')
}

// trinoStarted returns an error as long as a process starts.
func trinoStarted(url string) error {
	response, err := http.Get(url + "/v1/info")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var info struct{ Starting bool }
	if err := json.NewDecoder(response.Body).Decode(&info); err != nil {
		return err
	}
	if info.Starting {
		return fmt.Errorf("%s is starting", url)
	}
	return nil
}

// trinoQuery runs a statement over HTTP: a first request, and then those that each answer names.
func trinoQuery(url, statement string) (string, error) {
	var out strings.Builder
	request, err := http.NewRequest("POST", url+"/v1/statement", strings.NewReader(statement))
	if err != nil {
		return "", err
	}
	for {
		for name, value := range map[string]string{"User": "toptau", "Catalog": "memory", "Schema": "default"} {
			request.Header.Set("X-Trino-"+name, value)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return "", err
		}
		var answer struct {
			NextUri string
			Data    [][]any
			Error   *struct{ Message string }
		}
		body := json.NewDecoder(response.Body)
		body.UseNumber()
		err = body.Decode(&answer)
		response.Body.Close()
		if err != nil {
			return "", fmt.Errorf("status %s: %w", response.Status, err)
		}
		if answer.Error != nil {
			return "", fmt.Errorf("Trino: %s", answer.Error.Message)
		}
		for _, row := range answer.Data {
			for i, value := range row {
				if i > 0 {
					out.WriteByte('\t')
				}
				if value != nil {
					fmt.Fprint(&out, value)
				}
			}
			out.WriteByte('\n')
		}
		if answer.NextUri == "" {
			return strings.TrimSuffix(out.String(), "\n"), nil
		}
		if request, err = http.NewRequest("GET", answer.NextUri, nil); err != nil {
			return "", err
		}
	}
}
