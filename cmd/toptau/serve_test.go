//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// serveProcess is `toptau serve` in a process of its own.
type serveProcess struct {
	*exec.Cmd
	client *http.Client
	url    string

	mu    sync.Mutex
	lines []string      // of the log
	more  chan struct{} // is closed when there is a further line
	ended chan struct{}
}

// startServe starts a server in a directory and waits until it listens.
func startServe(t *testing.T, dir string, args ...string) *serveProcess {
	t.Helper()
	p := &serveProcess{Cmd: exec.Command("toptau", append([]string{"serve", "--drain", "50ms"}, args...)...), more: make(chan struct{}), ended: make(chan struct{}), client: &http.Client{}}
	p.Dir = dir
	log, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Process.Kill()
		p.Wait()
	})
	address := make(chan string, 1)
	go func() {
		defer close(p.ended)
		for s := bufio.NewScanner(log); s.Scan(); {
			var event struct{ Msg, Address string }
			if json.Unmarshal(s.Bytes(), &event) == nil && event.Msg == "listening" {
				address <- event.Address
			}
			p.mu.Lock()
			p.lines = append(p.lines, s.Text())
			close(p.more)
			p.more = make(chan struct{})
			p.mu.Unlock()
		}
	}()
	select {
	case a := <-address:
		p.url = "http://" + a
		if strings.HasPrefix(a, "/") {
			p.url = "http://localhost"
			p.client.Transport = &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", a) }}
		}
	case <-p.ended:
		t.Fatalf("the server ended: %s", p.log())
	case <-time.After(patient):
		t.Fatal("the server does not listen")
	}
	return p
}

func (p *serveProcess) log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "\n")
}

// waitLog waits until a text is in n lines of the log.
func (p *serveProcess) waitLog(t *testing.T, n int, text string) {
	t.Helper()
	for late := time.After(patient); ; {
		p.mu.Lock()
		more := p.more
		p.mu.Unlock()
		if strings.Count(p.log(), text) >= n {
			return
		}
		select {
		case <-more:
		case <-late:
			t.Fatalf("not %d x %q in the log:\n%s", n, text, p.log())
		}
	}
}

func (p *serveProcess) post(t *testing.T, path, contentType string, body []byte) (int, string) {
	t.Helper()
	a, err := p.client.Post(p.url+path, contentType, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, string(text)
}

// end sends a signal and returns the exit code.
func (p *serveProcess) end(t *testing.T, s syscall.Signal) int {
	t.Helper()
	p.Process.Signal(s)
	select {
	case <-p.ended:
	case <-time.After(patient):
		t.Fatalf("the server goes on:\n%s", p.log())
	}
	p.Wait()
	return p.ProcessState.ExitCode()
}

// toptauIn runs a verb in a directory and returns what it prints.
func toptauIn(t *testing.T, dir string, args ...string) []byte {
	t.Helper()
	c := exec.Command("toptau", args...)
	c.Dir = dir
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return out
}

// serveModels writes flows.csv and models of it into a directory.
func serveModels(t *testing.T) (dir string, data []byte) {
	t.Helper()
	dir = t.TempDir()
	mustRun(t, dir, "generate", "detectors", "--rows", "2000", "-o", "flows.csv", "-q")
	for encoding, name := range map[string]string{"raw": "m", "scorecard": "card", "leaves": "leaves"} {
		mustRun(t, dir, "fit", "flows.csv", "--label", "label", "--method", "topmean", "--tau", "5%", "--encoding", encoding, "--solver", "adam",
			"--iterations", "30", "-o", name+".json", "-q")
	}
	data, err := os.ReadFile(filepath.Join(dir, "flows.csv"))
	if err != nil {
		t.Fatal(err)
	}
	return dir, data
}

// The answer to CSV is the output of score, byte by byte, and the lines of JSON have its scores.
func TestServeAnswersWhatScorePrints(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	dir, data := serveModels(t)
	p := startServe(t, dir, "m.json", "card.json", "--name", "trees=leaves.json", "--listen", "127.0.0.1:0", "--scored-log", "scored.jsonl")
	for name, file := range map[string]string{"m": "m.json", "card": "card.json", "trees": "leaves.json"} {
		want := string(toptauIn(t, dir, "score", file, "flows.csv"))
		if status, got := p.post(t, "/v1/models/"+name+"/score", "text/csv", data); status != 200 || got != want {
			t.Errorf("%s: status %d, %d bytes differ from the %d of score", name, status, len(got), len(want))
		}
		var lines bytes.Buffer
		rows := strings.Split(strings.TrimSpace(string(data)), "\n")
		columns := strings.Split(rows[0], ",")
		for _, row := range rows[1:] {
			for j, value := range strings.Split(row, ",") {
				fmt.Fprintf(&lines, "%c%q:%s", "{,"[min(j, 1)], columns[j], value)
			}
			lines.WriteString("}\n")
		}
		for query, verb := range map[string]string{"": "score", "?explain=1000": "explain"} {
			want := string(toptauIn(t, dir, verb, file, "flows.csv", "--json"))
			if status, got := p.post(t, "/v1/models/"+name+"/score"+query, "application/x-ndjson", lines.Bytes()); status != 200 || got != want {
				t.Errorf("%s: status %d, %d bytes differ from the %d of %s: %.500s, want %.500s", name, status, len(got), len(want), verb, got, want)
			}
		}
	}
	if code := p.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d:\n%s", code, p.log())
	}
	scored, err := os.ReadFile(filepath.Join(dir, "scored.jsonl"))
	if n := bytes.Count(scored, []byte("\n")); err != nil || n != 3*3*2000 {
		t.Errorf("%d lines in the scored log, %v", n, err)
	}
}

// A model is replaced after SIGHUP and when its file changes, and a damaged file is refused.
func TestServeReloads(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	dir, _ := serveModels(t)
	p := startServe(t, dir, "m.json", "--listen", "unix:"+filepath.Join(dir, "s"), "--watch", "30ms")
	replace := func(content []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "new"), content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "m.json")); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) []byte {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	raw := read("m.json")
	replace(read("card.json"))
	p.waitLog(t, 1, "the model was replaced")
	replace(raw[:len(raw)-9])
	p.waitLog(t, 1, "the model was not replaced")
	if status, answer := p.post(t, "/v1/reload", "", nil); status != 409 || !strings.Contains(answer, `"result":"failed"`) {
		t.Errorf("%d: %s", status, answer)
	}
	replace(raw)
	p.Process.Signal(syscall.SIGHUP)
	p.waitLog(t, 2, "the model was replaced")
	// A killed server leaves its socket, and the next one takes it.
	p.end(t, syscall.SIGKILL)
	next := startServe(t, dir, "m.json", "--listen", "unix:"+filepath.Join(dir, "s"))
	if a, err := next.client.Get(next.url + "/readyz"); err != nil || a.StatusCode != 200 {
		t.Errorf("%v, %v", a, err)
	}
	if code := next.end(t, syscall.SIGINT); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// A second signal ends the server although a request is open.
func TestServeSecondSignal(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	dir, _ := serveModels(t)
	p := startServe(t, dir, "m.json", "--listen", "127.0.0.1:0", "--drain", "1m")
	p.Process.Signal(syscall.SIGTERM)
	p.waitLog(t, 1, "a second signal")
	if code := p.end(t, syscall.SIGTERM); code != 130 {
		t.Errorf("exit code %d", code)
	}
}
