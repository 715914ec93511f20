//go:build linux

package main

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// execStart matches the command of a unit file.
var execStart = regexp.MustCompile(`(?s)\nExecStart=(.*?[^\\])\n`)

// The unit file of docs/examples: its command starts a server that takes the token, and the tools of systemd
// find nothing wrong with it where they are installed.
func TestServiceUnit(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	unit, err := os.ReadFile("../../docs/examples/toptau.service")
	if err != nil {
		t.Fatal(err)
	}
	s := newLimitedServer(t, "1/day") // for its model
	program, err := exec.LookPath("toptau")
	if err != nil {
		t.Fatal(err)
	}
	token := filepath.Join(s.dir, "token")
	if err := os.WriteFile(token, []byte("a-secret-of-forty-characters-0123456789ab\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	text := strings.NewReplacer("/usr/local/bin/toptau", program, "/etc/toptau/model.json", filepath.Join(s.dir, "m.json"),
		"127.0.0.1:8080", address).Replace(string(unit))
	t.Run("command", func(t *testing.T) {
		m := execStart.FindStringSubmatch(text)
		if m == nil {
			t.Fatal("no ExecStart")
		}
		line := strings.NewReplacer("\\\n", " ", "${CREDENTIALS_DIRECTORY}", s.dir, "${STATE_DIRECTORY}", s.dir, "${LOGS_DIRECTORY}", s.dir).Replace(m[1])
		args := strings.Fields(line)
		c := exec.Command(args[0], args[1:]...)
		listens := *s.again.Load()
		c.Dir, c.Stderr = s.dir, s
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		defer c.Process.Kill()
		select {
		case <-listens:
		case <-time.After(patient):
			t.Fatal("the server does not listen")
		}
		ask := func(token string) int {
			r, err := http.NewRequest("POST", "http://"+address+"/v1/score", strings.NewReader(`{"rows":[{"a":1}]}`))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", "Bearer "+token)
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			return answer.StatusCode
		}
		if got := ask("a-secret-of-forty-characters-0123456789ab"); got != 200 {
			t.Errorf("status %d", got)
		}
		if got := ask("another"); got != 401 {
			t.Errorf("status %d with another token", got)
		}
		c.Process.Signal(syscall.SIGHUP) // ExecReload
		if got := ask("a-secret-of-forty-characters-0123456789ab"); got != 200 {
			t.Errorf("status %d after SIGHUP", got)
		}
		c.Process.Signal(syscall.SIGTERM)
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
		for _, name := range []string{"alerts.state", "scored.jsonl"} {
			if _, err := os.Stat(filepath.Join(s.dir, name)); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("systemd", func(t *testing.T) {
		if out, err := exec.Command("systemd-analyze", "security", "--help").CombinedOutput(); err != nil || !strings.Contains(string(out), "--offline") {
			t.Skip("systemd-analyze of systemd 250 or later is not installed (apt-get install systemd)")
		}
		path := filepath.Join(s.dir, "toptau.service")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("systemd-analyze", "verify", "--man=no", path).CombinedOutput(); err != nil || strings.Contains(string(out), path) {
			t.Errorf("%v\n%s", err, out)
		}
		// The exposure is from 0 to 100; that of a unit without hardening is 96.
		out, err := exec.Command("systemd-analyze", "security", "--offline=true", "--threshold=15", path).CombinedOutput()
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		t.Log(lines[len(lines)-1])
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
}
