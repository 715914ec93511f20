//go:build unix

package serve

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// systemd hears READY=1 when requests are answered, and STOPPING=1 when the server drains. A socket that is not there stops nothing.
func TestNotify(t *testing.T) {
	dir, err := os.MkdirTemp("", "n") // the name of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "s")
	t.Setenv("NOTIFY_SOCKET", path)
	start(t, Options{}, "raw").stop() // nobody listens
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	hear := func(want string) {
		t.Helper()
		b := make([]byte, 100)
		if n, err := l.Read(b); err != nil || string(b[:n]) != want {
			t.Errorf("%q, %v, want %s", b[:n], err, want)
		}
	}
	s := start(t, Options{}, "raw")
	hear("READY=1")
	if status, _, _ := s.get(t, "/readyz"); status != http.StatusOK {
		t.Errorf("ready, and /readyz is %d", status)
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	hear("STOPPING=1")
}
