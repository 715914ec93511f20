//go:build unix

package serve

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A pipe in the place of a model's file is refused at once, the model before stays, and the server ends in time.
func TestReloadOfAPipe(t *testing.T) {
	dir := t.TempDir()
	o := Options{Token: filepath.Join(dir, "token")}
	if err := os.WriteFile(o.Token, []byte("the-token-of-the-operator"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, o, "raw")
	path := s.models.list[0].path
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	status, answer, _ := s.post(t, "/v1/reload", "", nil, "Authorization", "Bearer the-token-of-the-operator")
	if status != 409 || !strings.Contains(answer, "a pipe, expected a file") {
		t.Errorf("%d, %s", status, answer)
	}
	s.Look()
	s.Look()
	if status, answer, _ := s.post(t, "/v1/score", "application/json", []byte(jsonObject(fixtureRows(1, 3)[0])), "Authorization", "Bearer the-token-of-the-operator"); status != 200 {
		t.Errorf("%d, %s", status, answer)
	}
	s.stop()
	if took := time.Since(begin); took > 10*time.Second { // it waited 26 s for a writer of the pipe
		t.Errorf("it took %s", took)
	}
}
