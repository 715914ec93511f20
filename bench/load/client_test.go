//go:build linux

package main

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
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
	defer func(before func(*net.Dialer, string) (net.Conn, error)) { connect = before }(connect)
	connect = func(*net.Dialer, string) (net.Conn, error) { // to a server that needs 20 ms for an answer
		near, far := net.Pipe()
		go func() {
			in := bufio.NewReader(far)
			for {
				if _, err := http.ReadRequest(in); err != nil {
					return
				}
				<-time.After(20 * time.Millisecond)
				io.WriteString(far, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			}
		}()
		return near, nil
	}
	row := [][]byte{request("GET", "/", "", nil)}
	synctest.Test(t, func(t *testing.T) {
		o := openLoop("", 50, 200, 500*time.Millisecond, time.Second, row)
		if o.sent < 50 || o.sent > 160 || o.unsent > 0 || o.ok() != o.sent || len(o.service) != o.ok() || quantile(o.times, 0.5) != 20*time.Millisecond {
			t.Errorf("%+v", o)
		}
		o = openLoop("", 1, 200, 2*time.Second, time.Second, row) // one connection cannot
		if o.unsent == 0 || o.sent > 160 || o.took > 4*time.Second {
			t.Errorf("%d sent and %d not in %s", o.sent, o.unsent, o.took)
		}
	})
}
