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
	if queue, wait := s.metrics.shed[shedQueue].Load(), s.metrics.shed[shedWait].Load(); queue+wait != 12 || wait < 2 {
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
	s.admission.bytes.Store(leastInFlight - 100)
	row := []byte(jsonObject(fixtureRows(1, 3)[0]))
	for _, contentType := range []string{"application/json", "application/x-ndjson"} {
		if status, answer, header := s.post(t, "/v1/score", contentType, row); status != 429 || header.Get("Retry-After") == "" {
			t.Errorf("%d: %s", status, answer)
		}
	}
	if n := s.admission.bytes.Load(); n != leastInFlight-100 {
		t.Errorf("%d bytes are still counted", n-leastInFlight+100)
	}
}

// What clients do wrong or by intent costs the server one connection, and other clients nothing.
func TestHostileConnections(t *testing.T) {
	s := start(t, Options{Timeout: 300 * time.Millisecond}, "raw")
	row := jsonObject(fixtureRows(1, 3)[0])
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
		{"a compressed body", head + "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}", "415"},
		{"a broken id", head + "X-Request-Id: a b\x7f\r\nContent-Length: 2\r\n\r\n{}", ""},
		{"waits for leave", head + "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n", "100"},
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
			if !strings.HasPrefix(line, "HTTP/1.1 "+test.want) && !(test.want == "" && err != nil) || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%q, %v", line, err)
			}
			if status, answer, _ := s.post(t, "/v1/score", "application/json", []byte(row)); status != 200 {
				t.Errorf("another client: %d, %s", status, answer)
			}
		})
	}
	deadline := time.Now().Add(5 * time.Second)
	for s.metrics.inflight.Load() > 0 && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	if s.metrics.inflight.Load() != 0 || s.admission.bytes.Load() != 0 {
		t.Errorf("%d requests and %d bytes are still in flight", s.metrics.inflight.Load(), s.admission.bytes.Load())
	}
}

// Connections beyond the limit get an answer and are closed, and the others are served.
func TestTooManyConnections(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const most = 20
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("ok")) })}
	go server.Serve(newLimitedListener(l, most, false))
	defer server.Close()
	request := []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	ask := func(c net.Conn) (string, error) {
		c.SetDeadline(time.Now().Add(5 * time.Second))
		c.Write(request)
		return bufio.NewReader(c).ReadString('\n')
	}
	var open []net.Conn
	for range most {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if line, err := ask(c); !strings.Contains(line, "200") {
			t.Fatalf("%q, %v", line, err)
		}
		open = append(open, c)
	}
	for range 30 {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		c.SetDeadline(time.Now().Add(5 * time.Second))
		a, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || a.StatusCode != 503 || a.Header.Get("Retry-After") == "" {
			t.Fatalf("%v, %v", a, err)
		}
		if text, err := io.ReadAll(a.Body); err != nil || !strings.Contains(string(text), "too many connections") {
			t.Fatalf("%q, %v", text, err)
		}
		c.Close()
	}
	for _, c := range open {
		if line, err := ask(c); !strings.Contains(line, "200") {
			t.Errorf("an open connection: %q, %v", line, err)
		}
	}
	open[0].Close()
	for range 100 {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		line, _ := ask(c)
		c.Close()
		if strings.Contains(line, "200") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("a closed connection makes no place for another")
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
		if line := next(); !strings.Contains(line, `"score":`+want[i]+",") || !strings.HasPrefix(line, fmt.Sprintf(`{"row":%d,`, 2*i+1)) {
			t.Fatalf("line %d: %s, want %s", i+1, line, want[i])
		}
		fmt.Fprintln(out, []string{"x", "{}", "[]", `{"d1": 1`, "\xff"}[i%5])
		if line := next(); !strings.HasPrefix(line, fmt.Sprintf(`{"row":%d,"error":{`, 2*i+2)) {
			t.Fatalf("the line after %d: %s", i+1, line)
		}
	}
	if a.Header.Get("X-Toptau-Digest") != s.models[0].current().digest {
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
	go func() { ended <- s.Serve(ctx, l, nil, 300*time.Millisecond) }()
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
