package serve

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// occupy takes all slots until the function it returns is called.
func (s *started) occupy() func() {
	a := s.admission
	for range a.slots {
		a.wait(&account{}, short, nil)
	}
	return func() {
		for range a.slots {
			a.free()
		}
	}
}

// With all processors busy, requests wait for a tenth of a second; those beyond the queue are refused at once.
func TestBusyServerRefuses(t *testing.T) {
	row := []byte(jsonObject(fixtureRows(1, 3)[0]))
	withoutClock(t, Options{Queue: 2}, 0, "raw", func(t *testing.T, s *started) {
		free, begin := s.occupy(), time.Now()
		var wait sync.WaitGroup
		for range 12 {
			wait.Go(func() {
				status, answer, header := s.post(t, "/v1/score", "application/json", row)
				if status != 429 || header.Get("Retry-After") != "1" || !strings.Contains(answer, `"kind":"limit"`) {
					t.Errorf("%d: %s", status, answer)
				}
			})
		}
		wait.Wait()
		if took := time.Since(begin); took != maxWait {
			t.Errorf("the last was refused after %s", took)
		}
		if queue, wait := s.admission.shed[shedQueue].Load(), s.admission.shed[shedWait].Load(); queue != 10 || wait != 2 {
			t.Errorf("%d were refused because of the queue and %d after waiting", queue, wait)
		}
		free()
		if status, answer, _ := s.post(t, "/v1/score", "application/json", row); status != 200 {
			t.Errorf("afterwards %d: %s", status, answer)
		}
		s.checkIdle(t)
	})
}

// checkIdle checks that nothing of any request is left.
func (s *started) checkIdle(t *testing.T) {
	t.Helper()
	synctest.Wait()
	if a := s.admission; a.waiting() != 0 || a.inFlight() != 0 || a.taken != 0 || len(a.clients) != 0 || s.metrics.inflight.Load() != 0 {
		t.Errorf("%d wait, %d bytes, %d slots taken, %d clients, %d requests", a.waiting(), a.inFlight(), a.taken, len(a.clients), s.metrics.inflight.Load())
	}
}

// A request that waited gets the slot that becomes free.
func TestWaitingRequestIsAnswered(t *testing.T) {
	withoutClock(t, Options{}, 0, "raw", func(t *testing.T, s *started) {
		free := s.occupy()
		go func() {
			synctest.Wait()
			if n := s.admission.waiting(); n != 1 {
				t.Errorf("%d requests wait", n)
			}
			free()
		}()
		if status, answer, _ := s.post(t, "/v1/score", "application/json", []byte(jsonObject(fixtureRows(1, 3)[0]))); status != 200 {
			t.Errorf("%d: %s", status, answer)
		}
	})
}

// Bodies, rows and answers have one budget of bytes.
func TestBytesInFlightAreLimited(t *testing.T) {
	s := start(t, Options{}, "raw")
	s.admission.used = minInFlight - 100
	row := []byte(jsonObject(fixtureRows(1, 3)[0]))
	for _, contentType := range []string{"application/json", "application/x-ndjson"} {
		if status, answer, header := s.post(t, "/v1/score", contentType, row); status != 429 || header.Get("Retry-After") == "" {
			t.Errorf("%d: %s", status, answer)
		}
	}
	if n := s.admission.inFlight(); n != minInFlight-100 {
		t.Errorf("%d bytes are still counted", n-minInFlight+100)
	}
}

// otherClient scores a row on a connection of its own.
func (s *started) otherClient(t *testing.T) {
	t.Helper()
	s.client.CloseIdleConnections()
	if status, answer, _ := s.post(t, "/v1/score", "application/json", []byte(jsonObject(fixtureRows(1, 3)[0]))); status != 200 {
		t.Errorf("another client: %d, %s", status, answer)
	}
}

// What clients do wrong or by intent costs the server one connection, and other clients nothing.
func TestHostileConnections(t *testing.T) {
	withoutClock(t, Options{}, 0, "raw", testHostileConnections)
}

func testHostileConnections(t *testing.T, s *started) {
	head := "POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	for _, test := range []struct{ name, send, want string }{
		{"a body that stops", head + "Content-Length: 500\r\n\r\n{", "408"},
		{"a head that stops", "POST /v1/score HTTP/1.1\r\nHost: lo", ""},
		{"no HTTP", "SSH-2.0-OpenSSH_9.2\r\n\r\n", "400"},
		{"TLS to a plain port", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "400"},
		{"a head of 64 KiB", head + "X-Long: " + strings.Repeat("x", 64<<10) + "\r\n\r\n", "431"},
		{"10,000 headers", head + strings.Repeat("A: b\r\n", 10000) + "\r\n", "431"},
		{"a length below 0", head + "Content-Length: -1\r\n\r\n", "400"},
		{"two lengths", head + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}", "400"},
		{"a length beyond the limit", head + "Content-Length: 99999999999\r\n\r\n{", "413"},
		{"a broken chunk", head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", "499"},
		{"two ways to end", head + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", "400"},
		{"no host", "POST /v1/score HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}", "400"},
		{"a compressed body", head + "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}", "400"},
		{"a broken id", head + "X-Request-Id: a b\x7f\r\nContent-Length: 2\r\n\r\n{}", ""},
		{"waits for leave", head + "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n", "100"},
		{"a length with a plus", head + "Content-Length: +2\r\n\r\n{}", "400"},
		{"a length in hexadecimal", head + "Content-Length: 0x2\r\n\r\n{}", "400"},
		{"two lengths in one line", head + "Content-Length: 2, 3\r\n\r\n{}", "400"},
		{"a chunk below 0", head + "Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n", "499"},
		{"a chunk that overflows", head + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", "499"},
		{"a chunk with a long extension", head + "Transfer-Encoding: chunked\r\n\r\n2;" + strings.Repeat("x", 10<<10) + "\r\n{}\r\n0\r\n\r\n", "499"},
		{"chunks twice", head + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", "501"},
		{"an unknown transfer", head + "Transfer-Encoding: gzip\r\n\r\n{}", "501"},
		{"a blank before the colon", head + "Content-Length : 2\r\n\r\n{}", "400"},
		{"a folded header", head + "A: b\r\n c\r\nContent-Length: 2\r\n\r\n{}", "422"},
		{"NUL in a header", head + "A: \x00\r\nContent-Length: 2\r\n\r\n{}", "400"},
		{"a lone CR", head + "A: b\rC: d\r\nContent-Length: 2\r\n\r\n{}", "400"},
		{"a header without a name", head + ": b\r\nContent-Length: 2\r\n\r\n{}", "400"},
		{"two hosts", head + "Host: other\r\nContent-Length: 2\r\n\r\n{}", "400"},
		{"a host of blanks", "GET /livez HTTP/1.1\r\nHost: a b\r\n\r\n", "400"},
		{"a path of 100 kB", "GET /" + strings.Repeat("a", 100<<10) + " HTTP/1.1\r\nHost: a\r\n\r\n", "431"},
		{"a broken escape", "GET /v1/models/%zz HTTP/1.1\r\nHost: a\r\n\r\n", "400"},
		{"NUL in a path", "GET /v1/models/%00 HTTP/1.1\r\nHost: a\r\n\r\n", "404"},
		{"dots in a path", "GET /v1/models/%2e%2e%2f%2e%2e%2fetc%2fpasswd HTTP/1.1\r\nHost: a\r\n\r\n", "404"},
		{"a path without a slash", "GET livez HTTP/1.1\r\nHost: a\r\n\r\n", "400"},
		{"another server's address", "GET http://example.org/livez HTTP/1.1\r\nHost: a\r\n\r\n", "200"},
		{"a tunnel", "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n", "404"},
		{"TRACE", "TRACE /livez HTTP/1.1\r\nHost: a\r\n\r\n", "405"},
		{"OPTIONS for all", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "200"},
		{"an unknown method", "G\x7fT /livez HTTP/1.1\r\nHost: a\r\n\r\n", "400"},
		{"a method of 10 kB", strings.Repeat("A", 10<<10) + " /livez HTTP/1.1\r\nHost: a\r\n\r\n", "405"},
		{"HTTP/2 in clear text", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400"},
		{"HTTP/9.9", "GET /livez HTTP/9.9\r\nHost: a\r\n\r\n", "505"},
		{"HTTP/0.9", "GET /livez\r\n\r\n", "400"},
		{"an upgrade", "GET /livez HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", "200"},
		{"a range", "GET /openapi.json HTTP/1.1\r\nHost: a\r\nRange: bytes=0-1,1-2,2-3\r\n\r\n", "200"},
		{"gzip of nothing", head + "Content-Encoding: gzip\r\nContent-Length: 0\r\n\r\n", "400"},
		{"gzip in gzip", head + "Content-Encoding: gzip, gzip\r\nContent-Length: 2\r\n\r\n{}", "415"},
		{"an unknown coding", head + "Content-Encoding: br\r\nContent-Length: 2\r\n\r\n{}", "415"},
		{"an answer in no form", head + "Accept: image/png\r\nContent-Length: 2\r\n\r\n{}", "406"},
		{"10,000 forms of answers", head + "Accept: " + strings.Repeat("a/b,", 4000) + "\r\nContent-Length: 2\r\n\r\n{}", "406"},
		{"options that are no query", "POST /v1/score?%;=&at=%gg HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}", "400"},
		{"chunks after a tab", head + "Transfer-Encoding:\tchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "422"},
		{"chunks in a list", head + "Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n", "501"},
		{"chunks in two lines", head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "501"},
		{"chunks with a control character", head + "Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n", "400"},
		{"a chunk without its end", head + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}0\r\n\r\n", "499"},
		{"a trailer of 100 kB", head + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: " + strings.Repeat("x", 100<<10) + "\r\n\r\n", "499"},
		{"a length of 30 digits", head + "Content-Length: " + strings.Repeat("9", 30) + "\r\n\r\n", "400"},
		{"an empty length", head + "Content-Length:\r\n\r\n", "400"},
		{"an expectation", head + "Expect: a-miracle\r\nContent-Length: 2\r\n\r\n{}", "417"},
		{"HTTP/1.0 with chunks", "POST /v1/score HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "400"},
		{"a name of a header in UTF-8", head + "\xc3\xa4: b\r\nContent-Length: 2\r\n\r\n{}", "400"},
		{"another answer in one connection", head + "Content-Length: 2\r\n\r\n{}GET /v1/reload HTTP/1.1\r\nHost: a\r\n\r\n", "422"},
		{"1,000 options", "POST /v1/score?" + strings.Repeat("a=b&", 1000) + " HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}", "400"},
	} {
		c := s.dial("127.0.0.2")
		c.SetDeadline(time.Now().Add(10 * time.Second))
		go io.WriteString(c, test.send)
		line, err := bufio.NewReader(c).ReadString('\n')
		if (!strings.HasPrefix(line, "HTTP/1.") || !strings.HasPrefix(line[len("HTTP/1.1 "):], test.want)) && !(test.want == "" && err != nil) || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: %q, %v", test.name, line, err)
		}
		s.otherClient(t)
		c.Close()
	}
	s.client.CloseIdleConnections()
	s.checkIdle(t)
}

// limitedServer serves "ok" on a few connections, and on /wait only after release.
func limitedServer(t *testing.T, most, perAddress int) (dial func(from string) net.Conn, limited *connections, release func()) {
	l := newPipes()
	released := make(chan struct{})
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			<-released
		}
		w.Write([]byte("ok"))
	})}
	limited = newConnections(l, most, perAddress, false)
	server.ConnState = limited.track
	go server.Serve(limited)
	release = sync.OnceFunc(func() { close(released) })
	t.Cleanup(func() {
		release()
		server.Close()
		synctest.Wait()
		if open, idle, _, _ := limited.counts(); open != idle || len(limited.addresses) > open {
			t.Errorf("%d connections are open, %d idle, of %d addresses", open, idle, len(limited.addresses))
		}
	})
	return func(from string) net.Conn {
		c := l.dial(from)
		t.Cleanup(func() { c.Close() })
		return c
	}, limited, release
}

// ask sends a request and waits until the server has noted its end.
func ask(c net.Conn, path string) (status int, text string) {
	go io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n") // the server may answer before it reads
	a, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, err.Error()
	}
	body, err := io.ReadAll(a.Body)
	synctest.Wait()
	return a.StatusCode, string(body) + a.Header.Get("Retry-After") + fmt.Sprint(err)
}

// When all connections are open, the one that has been idle longest is closed for a new one.
func TestLongestIdleConnectionGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial, _, _ := limitedServer(t, 20, 20)
		var open []net.Conn
		for range 20 {
			c := dial("127.0.0.1")
			if status, text := ask(c, "/"); status != 200 {
				t.Fatalf("%d, %s", status, text)
			}
			open = append(open, c)
		}
		if status, _ := ask(open[0], "/"); status != 200 { // now open[1] has been idle longest
			t.Fatal(status)
		}
		for range 5 {
			if status, text := ask(dial("127.0.0.2"), "/"); status != 200 {
				t.Errorf("a new connection: %d, %s", status, text)
			}
		}
		for i, c := range open {
			if status, _ := ask(c, "/"); (status == 200) != (i == 0 || i > 5) {
				t.Errorf("connection %d: %d", i, status)
			}
		}
	})
}

// The connection goes that has been idle longest at the address with the most: a client with one keeps it.
func TestAddressWithTheMostConnectionsGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial, limited, _ := limitedServer(t, 20, 20)
		healthy := dial("127.0.0.9")
		if status, text := ask(healthy, "/"); status != 200 {
			t.Fatalf("%d, %s", status, text)
		}
		for i := range 200 {
			if status, text := ask(dial(fmt.Sprintf("127.0.0.%d", 1+i%5)), "/"); status != 200 {
				t.Fatalf("%d, %s", status, text)
			}
		}
		if status, text := ask(healthy, "/"); status != 200 {
			t.Errorf("the client with one connection: %d, %s", status, text)
		}
		if open, _, evicted, refused := limited.counts(); open > 20 || evicted < 180 || refused > 0 {
			t.Errorf("%d open, %d closed, %d refused", open, evicted, refused)
		}
	})
}

// An address has a limit of its own: only its connections are closed for it.
func TestConnectionsOfAnAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial, _, release := limitedServer(t, 100, 10)
		other := dial("127.0.0.2")
		if status, _ := ask(other, "/"); status != 200 {
			t.Fatal(status)
		}
		for range 50 {
			if status, text := ask(dial("127.0.0.1"), "/"); status != 200 {
				t.Fatalf("%d, %s", status, text)
			}
		}
		if status, text := ask(other, "/"); status != 200 {
			t.Errorf("the other address: %d, %s", status, text)
		}
		var wait sync.WaitGroup
		for range 10 {
			c := dial("127.0.0.3")
			wait.Go(func() {
				io.WriteString(c, "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
				if a, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || a.StatusCode != 200 {
					t.Errorf("a slow request: %v, %v", a, err)
				}
			})
		}
		synctest.Wait() // until all ten are in a request
		if status, text := ask(dial("127.0.0.3"), "/"); status != 503 || !strings.Contains(text, "too many connections") {
			t.Errorf("%d, %s", status, text)
		}
		if status, text := ask(dial("127.0.0.4"), "/"); status != 200 {
			t.Errorf("another address: %d, %s", status, text)
		}
		release()
		wait.Wait()
	})
}

// Five thousand connections that each sent a request and are idle keep nobody out.
func TestIdleConnectionsLockNobodyOut(t *testing.T) {
	if testing.Short() {
		t.Skip("opens 5,000 connections")
	}
	withoutClock(t, Options{}, 0, "raw", func(t *testing.T, s *started) {
		for i := range 5000 {
			c := s.dial(fmt.Sprintf("127.0.1.%d", 1+i%6))
			t.Cleanup(func() { c.Close() })
			if status, text := ask(c, "/livez"); status != 200 {
				t.Fatalf("connection %d: %d, %s", i, status, text)
			}
			if i%100 == 99 {
				s.otherClient(t)
			}
		}
		if open, _, evicted, refused := s.connections.Load().counts(); open > maxConnections || evicted < 800 || refused > 0 {
			t.Errorf("%d connections, %d were closed, %d refused", open, evicted, refused)
		}
	})
}

// A stream answers each line as it comes, keeps its order, and goes on after errors.
func TestStreamAnswersAtOnce(t *testing.T) {
	s := start(t, Options{}, "raw")
	rows := fixtureRows(40, 17)
	want, _ := scoredByLibrary(t, fixtureModel(t, "raw"), fixtureCSV(rows))
	in, out := io.Pipe()
	r, err := http.NewRequest("POST", s.url+"/v1/score", in)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-ndjson")
	go fmt.Fprintln(out, jsonObject(rows[0]))
	a, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	answers := bufio.NewReader(a.Body)
	next := func() string {
		line, err := answers.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return line
	}
	for i := range rows {
		if i > 0 {
			fmt.Fprintln(out, jsonObject(rows[i]))
		}
		if line := next(); !strings.Contains(line, `"score":`+want[i]+",") || !strings.HasPrefix(line, fmt.Sprintf(`{"schema_version":2,"row":%d,`, 2*i+1)) {
			t.Fatalf("line %d: %s, want %s", i+1, line, want[i])
		}
		fmt.Fprintln(out, []string{"x", "{}", "[]", `{"d1": 1`, "\xff"}[i%5])
		if line := next(); !strings.HasPrefix(line, fmt.Sprintf(`{"schema_version":2,"row":%d,"error":{`, 2*i+2)) {
			t.Fatalf("the line after %d: %s", i+1, line)
		}
	}
	if a.Header.Get("X-Toptau-Digest") != s.models.list[0].current().digest {
		t.Errorf("headers %v", a.Header)
	}
	if n, rejected := s.models.list[0].counts.rows.Load(), s.models.list[0].counts.rejected.Load(); int(n) != len(rows) || int(rejected) != len(rows) {
		t.Errorf("%d rows were counted, and %d without a score, want %d of each", n, rejected, len(rows))
	}
	out.Close()
	if rest, err := io.ReadAll(answers); err != nil || len(rest) > 0 {
		t.Errorf("%q, %v", rest, err)
	}
}

// Many lines that arrive together, in pieces of any size, give the same answers.
func TestStreamInPieces(t *testing.T) {
	s := start(t, Options{MaxBody: 100 << 10}, "raw")
	rows := fixtureRows(3000, 23)
	want, _ := scoredByLibrary(t, fixtureModel(t, "raw"), fixtureCSV(rows))
	var body bytes.Buffer
	for _, row := range rows {
		fmt.Fprintf(&body, "%s\r\n\n", jsonObject(row))
	}
	r, err := http.NewRequest("POST", s.url+"/v1/score", struct{ io.Reader }{&body}) // chunked
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-ndjson")
	status, answer, _ := s.do(t, r)
	lines := strings.Split(strings.TrimSpace(answer), "\n")
	if status != 200 || len(lines) != len(want) {
		t.Fatalf("%d, %d lines", status, len(lines))
	}
	for i, line := range lines {
		if !strings.Contains(line, `"score":`+want[i]+",") {
			t.Fatalf("line %d: %s, want %s", i+1, line, want[i])
		}
	}
	status, answer, _ = s.post(t, "/v1/score", "application/x-ndjson", bytes.Repeat([]byte("x"), 200<<10))
	if status != 413 {
		t.Errorf("a line without an end: %d, %s", status, answer)
	}
}

// After the signal the server is not ready, answers open requests, and ends.
func TestDrain(t *testing.T) {
	row := jsonObject(fixtureRows(1, 3)[0])
	withoutClock(t, Options{}, 300*time.Millisecond, "raw", func(t *testing.T, s *started) {
		in, out := io.Pipe()
		stream, _ := http.NewRequest("POST", s.url+"/v1/score", in)
		stream.Header.Set("Content-Type", "application/x-ndjson")
		go fmt.Fprintln(out, row)
		a, err := s.client.Do(stream)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		answers := bufio.NewReader(a.Body)
		if _, err := answers.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- s.stop() }()
		synctest.Wait()
		for path, want := range map[string]int{"/readyz": 503, "/v2/health/ready": 503, "/livez": 200, "/v1/models": 200} {
			if status, answer, _ := s.get(t, path); status != want {
				t.Errorf("%s: %d, %s", path, status, answer)
			}
		}
		select {
		case err := <-ended:
			t.Fatalf("the server ended with an open request: %v", err)
		case <-time.After(400 * time.Millisecond):
		}
		fmt.Fprintln(out, row)
		if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, "score") {
			t.Errorf("%s, %v", line, err)
		}
		out.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	path := filepath.Join(t.TempDir(), "socket")
	l, err := Listen("unix:" + path)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := os.Stat(path); err == nil {
		t.Error("the socket is still there")
	}
}

// A refusal is the answer to a client that waits for leave to send its body, and keeps the connection of one that sent
// it.
func TestRefusalsAndBodies(t *testing.T) {
	s := start(t, Options{}, "raw")
	s.admission.queue = 0
	c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	in := bufio.NewReader(c)
	body := strings.Repeat("x", 20000)
	head := "POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 20000\r\n"
	for range 3 {
		io.WriteString(c, head+"\r\n"+body)
		a, err := http.ReadResponse(in, nil)
		if err != nil || a.StatusCode != 429 || a.Header.Get("Retry-After") != "1" {
			t.Fatalf("%v, %v", a, err)
		}
		io.Copy(io.Discard, a.Body)
	}
	io.WriteString(c, head+"Expect: 100-continue\r\n\r\n")
	if a, err := http.ReadResponse(in, nil); err != nil || a.StatusCode != 429 {
		t.Errorf("%v, %v", a, err)
	}
}

// replica is one of two servers, which are restarted in turns.
type replica struct {
	pipes *pipes
	*started
	ready atomic.Bool
}

// Twenty rolling restarts of two servers under load: every answer after the signal ends its connection, and no client
// loses a request. Clients send to the servers that are ready, as a balancer does, on connections that they keep.
func TestRollingRestarts(t *testing.T) {
	const grace, restarts, clients = 50 * time.Millisecond, 20, 6
	row := jsonObject(fixtureRows(1, 3)[0])
	request := fmt.Sprintf("POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(row), row)
	o := withModels(t, Options{}, []string{"raw"})
	synctest.Test(t, func(t *testing.T) {
		start := func() *replica {
			l := newPipes()
			r := &replica{pipes: l, started: startOn(t, l, l.transport(), grace, o)}
			r.ready.Store(true)
			return r
		}
		var replicas [2]atomic.Pointer[replica]
		for i := range replicas {
			replicas[i].Store(start())
		}
		ctx, stop := context.WithCancel(t.Context())
		var answers, closed atomic.Int64
		var wait sync.WaitGroup
		for k := range clients {
			wait.Go(func() {
				open := map[*replica]net.Conn{}
				for i := k; ctx.Err() == nil; i++ {
					r := replicas[i%2].Load()
					if <-time.After(time.Duration(1+k) * time.Millisecond); !r.ready.Load() {
						continue
					}
					c := open[r]
					if c == nil {
						c = r.pipes.dial("127.0.0.1")
						open[r] = c
					}
					_, err := io.WriteString(c, request)
					a, failed := http.ReadResponse(bufio.NewReader(c), nil)
					if failed == nil {
						_, failed = io.Copy(io.Discard, a.Body)
					}
					if failed != nil || a.StatusCode != 200 && a.StatusCode != 429 {
						t.Errorf("%v, %v, %v", a, failed, err)
						return
					}
					if answers.Add(1); a.Close {
						closed.Add(1)
						c.Close()
						delete(open, r)
					}
				}
				for _, c := range open {
					c.Close()
				}
			})
		}
		for i := range restarts {
			<-time.After(20 * time.Millisecond) // all clients are connected
			old := replicas[i%2].Load()
			ended := make(chan error, 1)
			go func() { ended <- old.stop() }()
			<-time.After(10 * time.Millisecond) // a balancer looks now and then
			if !old.draining.Load() {
				t.Error("it is ready after the signal")
			}
			old.ready.Store(false)
			if err := <-ended; err != nil {
				t.Error(err)
			}
			replicas[i%2].Store(start())
		}
		stop()
		wait.Wait()
		t.Logf("%d answers, %d ended their connection", answers.Load(), closed.Load())
		if closed.Load() < restarts {
			t.Error("too few answers ended their connection")
		}
	})
}

// The queue is short if requests take long: by the time that they would wait, but a few may always wait.
func TestQueueByTime(t *testing.T) {
	for _, test := range []struct {
		work time.Duration
		most func(slots int) int // requests that may wait, of 64, or compute
	}{{20 * time.Microsecond, func(int) int { return quickSlots + 64 }}, {time.Millisecond, func(slots int) int { return min(64, 15*slots+1) }},
		{100 * time.Millisecond, func(slots int) int { return 3*slots + 1 }}} {
		synctest.Test(t, func(t *testing.T) {
			s := &started{Server: &Server{env: &env{admission: newAdmission(Options{Queue: 64})}}}
			a := s.admission
			defer s.occupy()()
			for range 200 {
				a.worked(short, test.work)
			}
			n, done := 0, make(chan struct{})
			for ; n <= 100 && !a.full(&account{}, 0); n++ {
				go a.take(&account{}, short, done)
				synctest.Wait()
			}
			close(done)
			if n != test.most(a.slots) {
				t.Errorf("%d requests of %s may wait, want %d", n, test.work, test.most(a.slots))
			}
		})
	}
}
