//go:build linux

package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// The client understands what net/http sends: short answers, chunks, refusals, and connections that end.
func TestClient(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/chunks":
			w.Write([]byte(strings.Repeat("x", 5000)))
			w.(http.Flusher).Flush()
			w.Write([]byte("end"))
		case "/busy":
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(429)
		case "/close":
			w.Header().Set("Connection", "close")
			w.Write([]byte("bye"))
		default:
			w.Write([]byte("short"))
		}
	}))
	defer s.Close()
	c := &client{address: s.Listener.Addr().String()}
	defer c.close()
	for _, want := range []struct {
		path   string
		status int
		body   string
		retry  bool
	}{{"/", 200, "short", false}, {"/chunks", 200, strings.Repeat("x", 5000) + "end", false}, {"/busy", 429, "", true}, {"/close", 200, "bye", false}, {"/", 200, "short", false}} {
		status, err := c.do(request("POST", want.path, "text/plain", []byte("row")))
		if err != nil || status != want.status || string(c.body) != want.body || c.retry != want.retry {
			t.Errorf("%s: %d %q %v %v", want.path, status, c.body, c.retry, err)
		}
	}
}

// An open loop sends at its rate although the server is slow, and counts what it could not send.
func TestOpenLoop(t *testing.T) {
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked.Add(1)
		time.Sleep(20 * time.Millisecond)
	}))
	defer s.Close()
	row := [][]byte{request("GET", "/", "", nil)}
	o := openLoop(s.Listener.Addr().String(), 50, 200, 500*time.Millisecond, time.Second, row)
	if o.sent != int(asked.Load()) || o.sent < 50 || o.sent > 160 || o.ok() != o.sent || len(o.service) != o.ok() || quantile(o.times, 0.5) < 20*time.Millisecond {
		t.Errorf("%+v", o)
	}
	o = openLoop(s.Listener.Addr().String(), 1, 200, 2*time.Second, time.Second, row) // one connection cannot
	if o.unsent == 0 || o.took > 5*time.Second {
		t.Errorf("%d not sent in %s", o.unsent, o.took)
	}
}
