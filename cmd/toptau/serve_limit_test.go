//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// limitedServer is a server with an alert limit on a unix socket.
type limitedServer struct {
	dir    string
	args   []string
	client *http.Client
	next   atomic.Int64 // the value of the next row; the score rises with it
	alerts atomic.Int64 // that clients received, also in answers that were cut off
	held   atomic.Int64

	answered chan struct{}            // has an element if there was an answer since the last one was taken
	requests chan struct{}            // has an element for each request in the log, and is never full
	again    atomic.Pointer[chan any] // is closed when the server starts again
}

// Write appends to the file of the log what a server writes to its standard error, and notes what it reports.
func (s *limitedServer) Write(b []byte) (int, error) {
	f, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if bytes.Contains(b, []byte(`"msg":"listening"`)) {
		next := make(chan any)
		close(*s.again.Swap(&next))
	}
	for range bytes.Count(b, []byte(`"msg":"request"`)) {
		s.requests <- struct{}{}
	}
	return f.Write(b)
}

// patient is how long a test waits for a server on a busy machine before it fails.
const patient = 2 * time.Minute

// newLimitedServer trains a model whose score rises with one column. The server is not started yet.
func newLimitedServer(t *testing.T, limit string) *limitedServer {
	t.Helper()
	dir, err := os.MkdirTemp("", "limit") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	rows := "a,y\n"
	for i := range 40 {
		rows += fmt.Sprintf("%d,%d\n", i%20, i%20/15)
	}
	if err := os.WriteFile(filepath.Join(dir, "train.csv"), []byte(rows), 0o666); err != nil {
		t.Fatal(err)
	}
	mustRun(t, dir, strings.Fields("fit train.csv --label y --method topmean-np --tau 20% -o m.json")...)
	socket := filepath.Join(dir, "socket")
	s := &limitedServer{dir: dir, args: strings.Fields("serve m.json --listen unix:" + socket + " --alert-limit " + limit +
		" --expect 1000000 --state state --scored-log scored --drain 0s"), answered: make(chan struct{}, 1), requests: make(chan struct{}, 1_000_000)}
	again := make(chan any)
	s.again.Store(&again)
	s.client = &http.Client{Timeout: patient, Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	return s
}

// start starts the server and waits until it listens.
func (s *limitedServer) start(t *testing.T) *exec.Cmd {
	t.Helper()
	c, listens := exec.Command("toptau", s.args...), *s.again.Load()
	c.Dir, c.Stderr = s.dir, s
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-listens:
	case <-time.After(patient):
		c.Process.Kill()
		c.Wait()
		log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
		t.Fatalf("the server does not listen: %s", log)
	}
	return c
}

// score sends a row whose score is the highest so far, and counts the answer.
func (s *limitedServer) score() error {
	body := fmt.Sprintf(`{"rows":[{"a":%d}]}`, 100+s.next.Add(1))
	r, err := s.client.Post("http://server/v1/score", "application/json", strings.NewReader(body))
	if err != nil {
		return err
	}
	defer r.Body.Close()
	answer, err := io.ReadAll(r.Body)
	s.alerts.Add(int64(bytes.Count(answer, []byte(`"decision":true`))))
	s.held.Add(int64(bytes.Count(answer, []byte(`"held_back":"budget"`))))
	select {
	case s.answered <- struct{}{}:
	default:
	}
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", r.Status, answer)
	}
	return err
}

// load sends rows from some clients until ctx ends.
func (s *limitedServer) load(ctx context.Context, clients int) *sync.WaitGroup {
	var wait sync.WaitGroup
	for range clients {
		wait.Go(func() {
			for ctx.Err() == nil {
				if again := *s.again.Load(); s.score() != nil { // the server is gone
					select {
					case <-again:
					case <-ctx.Done():
					}
				}
			}
		})
	}
	return &wait
}

// metric returns the value of a metric.
func (s *limitedServer) metric(t *testing.T, name string) string {
	t.Helper()
	r, err := s.client.Get("http://server/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	lines := bufio.NewScanner(r.Body)
	for lines.Scan() {
		if value, found := strings.CutPrefix(lines.Text(), name+" "); found {
			return value
		}
	}
	t.Fatalf("no metric %s", name)
	return ""
}

// checkLogs returns the number of lines of the logs, all of which must be whole.
func (s *limitedServer) checkLogs(t *testing.T) (lines int) {
	t.Helper()
	for _, name := range []string{"log", "scored"} {
		content, err := os.ReadFile(filepath.Join(s.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range bytes.Split(bytes.TrimSuffix(content, []byte("\n")), []byte("\n")) {
			// A server that takes long to end says on standard error what it waits for.
			if !json.Valid(line) && !bytes.HasPrefix(line, []byte("toptau: interrupted: ")) {
				t.Fatalf("line %d of the %s is torn: %q", i+1, name, line)
			}
			lines++
		}
	}
	return lines
}

// A server that is killed at random moments under load never has more alerts in a window than its limit, and its state
// and its logs are whole. TOPTAU_HOSTILE=long kills it two hundred times.
func TestKillServeKeepsTheAlertLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: kills processes")
	}
	kills, limit := 10, 1000
	if hostile() {
		kills, limit = 200, 60_000
	}
	s := newLimitedServer(t, fmt.Sprintf("%d/week", limit))
	ctx, stop := context.WithCancel(context.Background())
	wait := s.load(ctx, 4)
	random := rand.New(rand.NewPCG(18, 1))
	reached := 0 // kills after which no alert was left
	for range kills {
		c := s.start(t)
		if s.metric(t, "toptau_budget_remaining") == "0" {
			reached++
		}
		for end := s.alerts.Load() + s.held.Load() + random.Int64N(300); s.alerts.Load()+s.held.Load() < end; {
			<-s.answered
		}
		c.Process.Signal(syscall.SIGKILL)
		c.Wait()
		if got := s.alerts.Load(); got > int64(limit) {
			t.Fatalf("%d alerts, the limit is %d", got, limit)
		}
	}
	c := s.start(t)
	for s.metric(t, "toptau_budget_remaining") != "0" || s.held.Load() == 0 {
		<-s.answered
	}
	stop()
	wait.Wait()
	c.Process.Signal(syscall.SIGTERM)
	if err := c.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
	if s.alerts.Load() > int64(limit) || s.alerts.Load() < int64(limit)/10 || s.held.Load() == 0 {
		t.Errorf("%d alerts and %d rows held back, the limit is %d", s.alerts.Load(), s.held.Load(), limit)
	}
	t.Logf("%d kills: %d alerts received of %d, at most %d forfeited, %d rows held back by the limit; no alert was left at %d starts; %d lines of logs",
		kills, s.alerts.Load(), limit, kills*max(1, limit/100), s.held.Load(), reached, s.checkLogs(t))
}

// A reload keeps the count, and the rule starts with the scores of the new model.
func TestReloadKeepsTheAlertLimit(t *testing.T) {
	s := newLimitedServer(t, "300/week")
	c := s.start(t)
	defer c.Process.Kill()
	score := func(n int) {
		t.Helper()
		for range n {
			if err := s.score(); err != nil {
				t.Fatal(err)
			}
		}
	}
	score(10)
	before := s.digest(t)
	mustRun(t, s.dir, strings.Fields("fit train.csv --label y --method topmean-np --tau 30% --lambda 0.1 -o other.json")...)
	if err := os.Rename(filepath.Join(s.dir, "other.json"), filepath.Join(s.dir, "m.json")); err != nil {
		t.Fatal(err)
	}
	if r, err := s.client.Post("http://server/v1/reload", "", nil); err != nil || r.StatusCode != http.StatusOK || s.digest(t) == before {
		t.Fatalf("the model is not replaced: %v, %v", r, err)
	}
	score(10)
	left := s.metric(t, "toptau_budget_remaining")
	if want := fmt.Sprint(300 - s.alerts.Load()); left != want || s.alerts.Load() < 11 {
		t.Errorf("%s alerts left after %d", left, s.alerts.Load())
	}
	c.Process.Signal(syscall.SIGTERM)
	c.Wait()
	state, err := os.ReadFile(filepath.Join(s.dir, "state"))
	if err != nil || !bytes.Contains(state, []byte(`"rows":20`)) {
		t.Errorf("the state: %v\n%.300s", err, state)
	}
}

// digest returns the digest of the model that is served.
func (s *limitedServer) digest(t *testing.T) string {
	t.Helper()
	r, err := s.client.Get("http://server/v1/models/m")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var m struct {
		Digest string `json:"digest"`
	}
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil || m.Digest == "" {
		t.Fatal("no digest", err)
	}
	return m.Digest
}

// A clean end returns what was reserved, and a second server cannot have the same state.
func TestServeKeepsTheAlertLimitOverRestarts(t *testing.T) {
	s := newLimitedServer(t, "300/week")
	c := s.start(t)
	for range 10 {
		if err := s.score(); err != nil {
			t.Fatal(err)
		}
	}
	second := exec.Command("toptau", strings.Fields("serve m.json --listen unix:other --alert-limit 300/week --state state")...)
	second.Dir = s.dir
	if out, err := second.CombinedOutput(); err == nil || !strings.Contains(string(out), "state: in use by another process") {
		t.Errorf("a second server: %v\n%s", err, out)
	}
	two := exec.Command("toptau", strings.Fields("serve m.json --name b=m.json --listen unix:other --alert-limit 300/week --state state2")...)
	two.Dir = s.dir
	if out, err := two.CombinedOutput(); err == nil || !strings.Contains(string(out), "--alert-limit with 2 models, expected one model") {
		t.Errorf("two models: %v\n%s", err, out)
	}
	c.Process.Signal(syscall.SIGTERM)
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	c = s.start(t)
	if got := s.metric(t, "toptau_budget_remaining"); got != "290" || s.alerts.Load() != 10 {
		t.Errorf("%s alerts left after %d", got, s.alerts.Load())
	}
	// The file is lost: no alert is issued that was not reserved, and the log says why.
	os.Remove(filepath.Join(s.dir, "state"))
	for range 10 {
		if err := s.score(); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.alerts.Load(); got > 10+3 {
		t.Errorf("%d alerts after the state was removed", got-10)
	}
	if got := s.metric(t, `toptau_held_back_total{model="m",reason="state"}`); got == "0" {
		t.Error("no row was held back for the state")
	}
	c.Process.Signal(syscall.SIGTERM)
	c.Wait()
	log, err := os.ReadFile(filepath.Join(s.dir, "log"))
	if err != nil || !bytes.Contains(log, []byte(`"alerts cannot be counted as they should be","error":"state: removed or replaced while in use`)) {
		t.Errorf("the log: %v\n%s", err, log)
	}
}
