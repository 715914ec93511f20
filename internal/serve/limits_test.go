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
	"time"
)

// occupy takes all slots until the function it returns is called.
func (s *started) occupy() func() {
	n := cap(s.admission.slots)
	for range n {
		s.admission.slots <- struct{}{}
	}
	return func() {
		for range n {
			<-s.admission.slots
		}
	}
}

// With all processors busy, requests wait for a tenth of a second; those beyond the queue are refused at once.
func TestBusyServerRefuses(t *testing.T) {
	s := start(t, Options{Queue: 2}, "raw")
	row := []byte(jsonObject(fixtureRows(1, 3)[0]))
	free := s.occupy()
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
	if queue, wait := s.admission.shed[shedQueue].Load(), s.admission.shed[shedWait].Load(); queue+wait != 12 || wait < 2 {
		t.Errorf("%d were refused because of the queue and %d after waiting", queue, wait)
	}
	free()
	if status, answer, _ := s.post(t, "/v1/score", "application/json", row); status != 200 {
		t.Errorf("afterwards %d: %s", status, answer)
	}
	if s.admission.waiting.Load() != 0 || s.admission.bytes.Load() != 0 || len(s.admission.slots) != 0 {
		t.Errorf("%d wait, %d bytes, %d slots taken", s.admission.waiting.Load(), s.admission.bytes.Load(), len(s.admission.slots))
	}
}

// A request that waited gets the slot that becomes free.
func TestWaitingRequestIsAnswered(t *testing.T) {
	s := start(t, Options{}, "raw")
	status, answer := 0, ""
	for range 10 { // a busy machine may take longer than maxWait for anything
		free := s.occupy()
		go func() {
			for s.admission.waiting.Load() == 0 {
				time.Sleep(time.Millisecond)
			}
			free()
		}()
		if status, answer, _ = s.post(t, "/v1/score", "application/json", []byte(jsonObject(fixtureRows(1, 3)[0]))); status == 200 {
			return
		}
	}
	t.Errorf("%d: %s", status, answer)
}

// Bodies, rows and answers have one budget of bytes.
func TestBytesInFlightAreLimited(t *testing.T) {
	s := start(t, Options{}, "raw")
	s.admission.bytes.Store(minInFlight - 100)
	row := []byte(jsonObject(fixtureRows(1, 3)[0]))
	for _, contentType := range []string{"application/json", "application/x-ndjson"} {
		if status, answer, header := s.post(t, "/v1/score", contentType, row); status != 429 || header.Get("Retry-After") == "" {
			t.Errorf("%d: %s", status, answer)
		}
	}
	if n := s.admission.bytes.Load(); n != minInFlight-100 {
		t.Errorf("%d bytes are still counted", n-minInFlight+100)
	}
}

// otherClient scores a row on a connection of its own and returns how long that took.
func (s *started) otherClient(t *testing.T) time.Duration {
	t.Helper()
	s.client.CloseIdleConnections()
	begin := time.Now()
	if status, answer, _ := s.post(t, "/v1/score", "application/json", []byte(jsonObject(fixtureRows(1, 3)[0]))); status != 200 {
		t.Errorf("another client: %d, %s", status, answer)
	}
	return time.Since(begin)
}

// What clients do wrong or by intent costs the server one connection, and other clients nothing.
func TestHostileConnections(t *testing.T) {
	s := start(t, Options{Timeout: 300 * time.Millisecond}, "raw")
	head := "POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	slowest := time.Duration(0)
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
		t.Run(test.name, func(t *testing.T) {
			c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			c.SetDeadline(time.Now().Add(10 * time.Second))
			go io.WriteString(c, test.send)
			line, err := bufio.NewReader(c).ReadString('\n')
			if (!strings.HasPrefix(line, "HTTP/1.") || !strings.HasPrefix(line[len("HTTP/1.1 "):], test.want)) && !(test.want == "" && err != nil) || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%q, %v", line, err)
			}
			slowest = max(slowest, s.otherClient(t))
		})
	}
	t.Logf("the slowest answer to another client took %s", slowest)
	deadline := time.Now().Add(5 * time.Second)
	for s.metrics.inflight.Load() > 0 && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	if s.metrics.inflight.Load() != 0 || s.admission.bytes.Load() != 0 {
		t.Errorf("%d requests and %d bytes are still in flight", s.metrics.inflight.Load(), s.admission.bytes.Load())
	}
}

// limitedServer serves "ok" on a few connections, and on /wait only after release.
func limitedServer(t *testing.T, most, perAddress int) (address string, limited *connections, release func()) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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
		if open, idle, _, _ := limited.counts(); open != idle || len(limited.addresses) > open {
			t.Errorf("%d connections are open, %d idle, of %d addresses", open, idle, len(limited.addresses))
		}
	})
	return l.Addr().String(), limited, release
}

// dialFrom opens a connection from a loopback address.
func dialFrom(t *testing.T, from, to string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c, err := d.Dial("tcp", to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(10 * time.Second))
	return c
}

func ask(c net.Conn, path string) (status int, text string) {
	io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n")
	a, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, err.Error()
	}
	body, err := io.ReadAll(a.Body)
	return a.StatusCode, string(body) + a.Header.Get("Retry-After") + fmt.Sprint(err)
}

// When all connections are open, the one that has been idle longest is closed for a new one.
func TestLongestIdleConnectionGoes(t *testing.T) {
	address, limited, _ := limitedServer(t, 20, 20)
	allIdle := func() { // the server notes it after the answer
		for open, idle := 1, 0; open != idle; open, idle, _, _ = limited.counts() {
			time.Sleep(time.Millisecond)
		}
	}
	var open []net.Conn
	for range 20 {
		c := dialFrom(t, "127.0.0.1", address)
		if status, text := ask(c, "/"); status != 200 {
			t.Fatalf("%d, %s", status, text)
		}
		allIdle()
		open = append(open, c)
	}
	if status, _ := ask(open[0], "/"); status != 200 { // now open[1] has been idle longest
		t.Fatal(status)
	}
	allIdle()
	for range 5 {
		if status, text := ask(dialFrom(t, "127.0.0.2", address), "/"); status != 200 {
			t.Errorf("a new connection: %d, %s", status, text)
		}
		allIdle()
	}
	for i, c := range open {
		if status, _ := ask(c, "/"); (status == 200) != (i == 0 || i > 5) {
			t.Errorf("connection %d: %d", i, status)
		}
	}
}

// The connection goes that has been idle longest at the address with the most: a client with one keeps it.
func TestAddressWithTheMostConnectionsGivesWay(t *testing.T) {
	address, limited, _ := limitedServer(t, 20, 20)
	healthy := dialFrom(t, "127.0.0.9", address)
	if status, text := ask(healthy, "/"); status != 200 {
		t.Fatalf("%d, %s", status, text)
	}
	for i := range 200 {
		if status, text := ask(dialFrom(t, fmt.Sprintf("127.0.0.%d", 1+i%5), address), "/"); status != 200 {
			t.Fatalf("%d, %s", status, text)
		}
	}
	if status, text := ask(healthy, "/"); status != 200 {
		t.Errorf("the client with one connection: %d, %s", status, text)
	}
	if open, _, evicted, refused := limited.counts(); open > 20 || evicted < 180 || refused > 0 {
		t.Errorf("%d open, %d closed, %d refused", open, evicted, refused)
	}
}

// An address has a limit of its own: only its connections are closed for it.
func TestConnectionsOfAnAddress(t *testing.T) {
	address, limited, release := limitedServer(t, 100, 10)
	other := dialFrom(t, "127.0.0.2", address)
	if status, _ := ask(other, "/"); status != 200 {
		t.Fatal(status)
	}
	for range 50 {
		if status, text := ask(dialFrom(t, "127.0.0.1", address), "/"); status != 200 {
			t.Fatalf("%d, %s", status, text)
		}
	}
	if status, text := ask(other, "/"); status != 200 {
		t.Errorf("the other address: %d, %s", status, text)
	}
	var wait sync.WaitGroup
	for range 10 {
		c := dialFrom(t, "127.0.0.3", address)
		wait.Go(func() {
			if status, text := ask(c, "/wait"); status != 200 {
				t.Errorf("a slow request: %d, %s", status, text)
			}
		})
	}
	for open, idle := 0, 0; open-idle < 10; open, idle, _, _ = limited.counts() { // until all ten are in a request
		time.Sleep(time.Millisecond)
	}
	if status, text := ask(dialFrom(t, "127.0.0.3", address), "/"); status != 503 || !strings.Contains(text, "too many connections") {
		t.Errorf("%d, %s", status, text)
	}
	if status, text := ask(dialFrom(t, "127.0.0.4", address), "/"); status != 200 {
		t.Errorf("another address: %d, %s", status, text)
	}
	release()
	wait.Wait()
}

// Five thousand connections that each sent a request and are idle keep nobody out.
func TestIdleConnectionsLockNobodyOut(t *testing.T) {
	if testing.Short() {
		t.Skip("opens 5,000 connections")
	}
	s := start(t, Options{}, "raw")
	address := strings.TrimPrefix(s.url, "http://")
	slowest := time.Duration(0)
	for i := range 5000 {
		c := dialFrom(t, fmt.Sprintf("127.0.1.%d", 1+i%6), address)
		if status, text := ask(c, "/livez"); status != 200 {
			t.Fatalf("connection %d: %d, %s", i, status, text)
		}
		if i%100 == 99 {
			slowest = max(slowest, s.otherClient(t))
		}
	}
	t.Logf("the slowest answer to another client took %s", slowest)
	if open, _, evicted, refused := s.connections.Load().counts(); open > maxConnections || evicted < 800 || refused > 0 {
		t.Errorf("%d connections, %d were closed, %d refused", open, evicted, refused)
	}
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
	s, err := New(Options{Models: []ModelFile{{"raw", saved(t, "raw")}}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "socket")
	l, err := Listen("unix:" + path)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", path) }}}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l, nil, 300*time.Millisecond, nil) }()
	in, out := io.Pipe()
	stream, _ := http.NewRequest("POST", "http://x/v1/score", in)
	stream.Header.Set("Content-Type", "application/x-ndjson")
	row := jsonObject(fixtureRows(1, 3)[0])
	go fmt.Fprintln(out, row)
	a, err := client.Do(stream)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	answers := bufio.NewReader(a.Body)
	if _, err := answers.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	cancel()
	for !s.draining.Load() {
		time.Sleep(time.Millisecond)
	}
	for path, want := range map[string]int{"/readyz": 503, "/v2/health/ready": 503, "/livez": 200, "/v1/models": 200} {
		a, err := client.Get("http://x" + path)
		if err != nil || a.StatusCode != want {
			t.Errorf("%s: %v, %v", path, a, err)
		}
	}
	time.Sleep(400 * time.Millisecond)
	select {
	case err := <-ended:
		t.Fatalf("the server ended with an open request: %v", err)
	default:
	}
	fmt.Fprintln(out, row)
	if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, "score") {
		t.Errorf("%s, %v", line, err)
	}
	out.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the socket is still there")
	}
}

// A refusal is the answer to a client that waits for leave to send its body, and keeps the connection of one that sent
// it.
func TestRefusalsAndBodies(t *testing.T) {
	s := start(t, Options{Queue: 1}, "raw")
	s.admission.waiting.Store(1)
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
	s.admission.waiting.Store(0)
}

// Twenty rolling restarts of two servers under load: every answer after the signal ends its connection, and no client
// sees a reset or a refused connection. Clients send to the servers that are ready, as a balancer does, on connections
// that they keep.
func TestRollingRestarts(t *testing.T) {
	const grace = 500 * time.Millisecond // clients on a busy machine send late
	restarts := 20
	if testing.Short() {
		restarts = 4
	}
	path := saved(t, "raw")
	type replica struct {
		address string
		ready   atomic.Bool
		end     func()
	}
	start := func(address string) *replica {
		s, err := New(Options{Models: []ModelFile{{"raw", path}}})
		if err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- s.Serve(ctx, l, nil, grace, nil) }()
		r := &replica{address: l.Addr().String()}
		r.ready.Store(true)
		r.end = func() {
			cancel()
			for !s.draining.Load() {
				time.Sleep(time.Millisecond)
			}
			r.ready.Store(false) // what a balancer sees at /readyz
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		return r
	}
	var replicas [2]atomic.Pointer[replica]
	for i := range replicas {
		replicas[i].Store(start("127.0.0.1:0"))
	}
	row := jsonObject(fixtureRows(1, 3)[0])
	request := fmt.Sprintf("POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(row), row)
	ctx, stop := context.WithCancel(context.Background())
	var answers, closed, failed atomic.Int64
	var wait sync.WaitGroup
	for k := range 6 {
		wait.Go(func() {
			open := map[*replica]net.Conn{}
			for i := k; ctx.Err() == nil; i++ {
				r := replicas[i%2].Load()
				if !r.ready.Load() {
					continue
				}
				c := open[r]
				if c == nil {
					var err error
					if c, err = net.Dial("tcp", r.address); err != nil {
						failed.Add(1)
						t.Error(err)
						continue
					}
					open[r] = c
				}
				c.SetDeadline(time.Now().Add(20 * time.Second))
				io.WriteString(c, request)
				a, err := http.ReadResponse(bufio.NewReader(c), nil)
				if err == nil {
					_, err = io.Copy(io.Discard, a.Body)
				}
				if err != nil || a.StatusCode != 200 && a.StatusCode != 429 {
					failed.Add(1)
					t.Errorf("%v, %v", a, err)
				}
				answers.Add(1)
				if err != nil || a.Close {
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
		old := replicas[i%2].Load()
		old.end()
		replicas[i%2].Store(start(old.address))
	}
	stop()
	wait.Wait()
	t.Logf("%d answers, %d ended their connection, %d failed", answers.Load(), closed.Load(), failed.Load())
	if closed.Load() == 0 {
		t.Error("no answer ended its connection")
	}
	for i := range replicas {
		replicas[i].Load().end()
	}
}

// The queue is short if requests take long: by the time that they would wait, but a few may always wait.
func TestQueueByTime(t *testing.T) {
	a := newAdmission(Options{Queue: 64})
	slots := int64(cap(a.slots))
	for _, test := range []struct {
		work time.Duration
		most int64 // requests that may wait, of 64
	}{{20 * time.Microsecond, 64}, {time.Millisecond, min(64, 15*slots+1)}, {100 * time.Millisecond, 3*slots + 1}} {
		for range 200 {
			a.worked(test.work)
		}
		n := int64(0)
		for ; n <= 100 && !a.full(); n++ {
			a.waiting.Add(1)
		}
		a.waiting.Store(0)
		if n != test.most {
			t.Errorf("%d requests of %s may wait, want %d", n, test.work, test.most)
		}
	}
}
