//go:build linux

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"toptau/schema"
)

// attack is what bad clients try.
type attack struct {
	name string
	// run attacks an address and returns how often it tried, and what came back by kind.
	run func(address string, c *campaign) (tries int, seen *tally)
	// expected lists the kinds that may come back, besides 429: any request may come while the server is busy.
	expected string
}

// tally counts what came back.
type tally struct {
	mutex sync.Mutex
	count map[string]int
}

func newTally() *tally { return &tally{count: map[string]int{}} }

func (t *tally) add(kind string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.count[kind]++
}

// merge adds what another one counted.
func (t *tally) merge(other *tally) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for kind, n := range other.count {
		t.count[kind] += n
	}
}

// text lists the kinds, the most frequent first.
func (t *tally) text() string {
	var kinds []string
	for k := range t.count {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b string) int { return t.count[b] - t.count[a] })
	for i, k := range kinds {
		kinds[i] = fmt.Sprintf("%s: %s", k, whole(float64(t.count[k])))
	}
	return strings.Join(kinds, ", ")
}

// unexpected returns a kind that is not among the expected ones, "" without one.
func (t *tally) unexpected(expected string) string {
	for k := range t.count {
		if k != "429" && !slices.Contains(strings.Split(expected, " "), k) {
			return k
		}
	}
	return ""
}

// outcomeOf reads the answer on a connection: its status, or how it ended.
func outcomeOf(conn net.Conn, limit time.Duration) string {
	conn.SetReadDeadline(time.Now().Add(limit))
	head := make([]byte, 12)
	n, err := io.ReadFull(conn, head)
	switch {
	case err == nil && bytes.HasPrefix(head, []byte("HTTP/1.")):
		return string(head[9:12])
	case n > 0:
		return fmt.Sprintf("%q", head[:n])
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "open"
	}
	return "closed"
}

// parallel runs f(i) for i < n, some at a time.
func parallel(n, workers int, f func(i int)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				f(i)
			}
		})
	}
	wait.Wait()
}

// send sends bytes on connections of their own and counts what comes back.
func send(address string, n int, bytesOf func(i int) []byte) (int, *tally) {
	t := newTally()
	parallel(n, 32, func(i int) {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.add(plainError(err))
			return
		}
		defer conn.Close()
		go conn.Write(bytesOf(i)) // the server may answer before it has read all
		t.add(outcomeOf(conn, 45*time.Second))
	})
	return n, t
}

// same returns a function for send that always sends these bytes.
func same(b []byte) func(int) []byte { return func(int) []byte { return b } }

// hold opens connections from an address, does something with each, and counts how the server ends them within a time.
func hold(address string, n int, limit time.Duration, begin func(conn net.Conn, ended <-chan struct{})) (int, *tally) {
	t := newTally()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 3, 1)}}
	parallel(n, n, func(int) {
		conn, err := dialer.Dial("tcp", address)
		if err != nil {
			t.add(plainError(err))
			return
		}
		defer conn.Close()
		ended := make(chan struct{})
		defer close(ended)
		go begin(conn, ended)
		t.add(outcomeOf(conn, limit))
	})
	return n, t
}

// idleConnections opens connections that each send one request and stay. Meanwhile and for two seconds afterwards new
// clients connect and send a row.
func idleConnections(address string, c *campaign) (int, *tally) {
	const n = 5000
	t := newTally()
	row := c.requests(forms[0], 1)[0]
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() {
		for ctx.Err() == nil {
			fresh := &client{address: address}
			if status, err := fresh.do(row); err != nil {
				t.add("new-" + plainError(err))
			} else {
				t.add(fmt.Sprint("new-", status))
			}
			fresh.close()
			time.Sleep(10 * time.Millisecond)
		}
	})
	var held sync.Map
	parallel(n, 32, func(i int) {
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 2, byte(1+i%6))}, Timeout: 10 * time.Second}
		conn, err := dialer.Dial("tcp", address)
		if err != nil {
			t.add(plainError(err))
			return
		}
		held.Store(i, conn)
		conn.Write([]byte("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"))
		t.add(outcomeOf(conn, 20*time.Second))
	})
	time.Sleep(2 * time.Second)
	cancel()
	wait.Wait()
	held.Range(func(_, conn any) bool { conn.(net.Conn).Close(); return true })
	return n, t
}

// trickle writes bytes one by one.
func trickle(conn net.Conn, ended <-chan struct{}, text string, between time.Duration) {
	for i := 0; ; i++ {
		select {
		case <-ended:
			return
		case <-time.After(between):
			if _, err := conn.Write([]byte{text[i%len(text)]}); err != nil {
				return
			}
		}
	}
}

const score = "POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"

func attacks() []attack {
	body := func(text string) func(string, *campaign) (int, *tally) {
		return func(address string, _ *campaign) (int, *tally) {
			return send(address, 200, same(request("POST", "/v1/score", "application/json", []byte(text))))
		}
	}
	list := []attack{
		{"none", func(_ string, c *campaign) (int, *tally) { time.Sleep(c.time(10)); return 0, newTally() }, ""},
		{"100,000 connections, up to 6,000 at the same time, that send a row", manyConnections, "200 503 closed"},
		{"4,000 connections that send nothing", func(a string, _ *campaign) (int, *tally) {
			return hold(a, 4000, 20*time.Second, func(net.Conn, <-chan struct{}) {})
		}, "closed 408"},
		{"5,000 idle connections of 6 addresses, each after one request", idleConnections, "200 new-200 new-429"},
		{"200 senders of a header, a byte every 0.2 s", func(a string, _ *campaign) (int, *tally) {
			return hold(a, 200, 20*time.Second, func(conn net.Conn, ended <-chan struct{}) {
				trickle(conn, ended, "POST /v1/score HTTP/1.1\r\nHost: localhost\r\nX: "+strings.Repeat("x", 1000), 200*time.Millisecond)
			})
		}, "closed 400 408"},
		{"200 senders of a body, a byte every 0.2 s", func(a string, _ *campaign) (int, *tally) {
			return hold(a, 200, 20*time.Second, func(conn net.Conn, ended <-chan struct{}) {
				conn.Write([]byte(score + "Content-Length: 1000000\r\n\r\n"))
				trickle(conn, ended, " ", 200*time.Millisecond)
			})
		}, "closed 408"},
		{"20 clients that never read 40 answers of 1 MB", neverRead, "closed sent"},
		{"2,000 clients that leave in the middle of a body", leaveInBody, "left"},
		{"2,000 clients that leave before the answer, with a reset", leaveBeforeAnswer, "left"},
		{"500 clients that close their side after the request", halfClose, "200"},
		{"500 x random bytes", func(a string, _ *campaign) (int, *tally) {
			return send(a, 500, func(i int) []byte {
				random := rand.New(rand.NewPCG(uint64(i), 4))
				b := make([]byte, 300)
				for k := range b {
					b[k] = byte(random.Uint32())
				}
				return append(b, "\r\n\r\n"...)
			})
		}, "400 closed"},
		{"200 x a TLS handshake", tlsHandshake, "refused"},
		{"100 x a header of 1 MB", func(a string, _ *campaign) (int, *tally) {
			return send(a, 100, same([]byte(score+"X: "+strings.Repeat("x", 1<<20)+"\r\n\r\n")))
		}, "431 503 closed"}, // a refused connection waits for its client for half a second: repeated, they reach the limit of connections
		{"100 x 20,000 headers", func(a string, _ *campaign) (int, *tally) {
			return send(a, 100, same([]byte(score+strings.Repeat("X: y\r\n", 20_000)+"\r\n")))
		}, "431 closed"},
		{"100 x an address of 1 MB", func(a string, _ *campaign) (int, *tally) {
			return send(a, 100, same(request("GET", "/"+strings.Repeat("x", 1<<20), "", nil)))
		}, "431 414 503 closed"},
		{"wrong content types", wrongTypes, "400 415"},
		{"other methods and addresses", wrongMethods, "400 404 405"},
		{"wrong Host", func(a string, _ *campaign) (int, *tally) {
			return send(a, 100, same([]byte("GET /v1/models HTTP/1.1\r\nHost: evil.example\r\n\r\n")))
		}, "403 421 400"},
		{"Content-Length of 10^15", func(a string, _ *campaign) (int, *tally) {
			return send(a, 200, same([]byte(score+"Content-Length: 1000000000000000\r\n\r\n")))
		}, "413 503 closed"},
		{"chunks without end", func(a string, _ *campaign) (int, *tally) {
			return send(a, 20, same([]byte(score+"Transfer-Encoding: chunked\r\n\r\n"+strings.Repeat("100000\r\n"+strings.Repeat(" ", 1<<20)+"\r\n", 8))))
		}, "413"},
		{"chunks with a wrong length", func(a string, _ *campaign) (int, *tally) {
			return send(a, 200, same([]byte(score+"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nx\r\n0\r\n\r\n")))
		}, "400 499 closed"},
		{"Content-Length twice", func(a string, _ *campaign) (int, *tally) {
			return send(a, 200, same([]byte(score+"Content-Length: 3\r\nContent-Length: 5\r\n\r\n{}")))
		}, "400"},
		{"compressed body", func(a string, _ *campaign) (int, *tally) {
			return send(a, 200, same(request("POST", "/v1/score", "application/json", []byte("\x1f\x8b"), "Content-Encoding: gzip")))
		}, "400"},
		{"4 MB of zeros in 4 kB of gzip, and 1 GB", zipBombs, "400 413 422"},
		{"binary tensors without an end", func(a string, _ *campaign) (int, *tally) {
			return send(a, 200, func(i int) []byte {
				head := `{"inputs":[{"name":"detector1","shape":[1000000],"datatype":"BYTES","parameters":{"binary_data_size":4000000}}]}`
				return request("POST", "/v2/models/leaves/infer", "", append([]byte(head), bytes.Repeat([]byte{255}, 1000*(i%5))...), fmt.Sprint("Inference-Header-Content-Length: ", len(head)+i%2*1000000))
			})
		}, "400"},
		{"arrays in arrays, 4 MB deep", body(strings.Repeat("[", 4<<20-100)), "400 422"},
		{"a million empty rows", body(`{"rows":[` + strings.Repeat("{},", 1_000_000) + "{}]}"), "400 413 422"},
		{"a number of 4 MB", body(`{"rows":[{"detector1":` + strings.Repeat("9", 4<<20-100) + "}]}"), "400 422"},
		{"invalid UTF-8", body("{\"rows\":[{\"detector1\xff\":1}]}"), "400 422"},
		{"a key twice", body(`{"rows":[{"detector1":1,"detector1":2}]}`), "400 422"},
		{"half of a document", body(`{"rows":[{"detector1":`), "400 422"},
		{"an empty body", body(""), "400 422"},
		{"a row without columns", body(`{"rows":[{}]}`), "400 422"},
		{"text for a number", body(`{"rows":[{"detector1":"<script>"}]}`), "400 422"},
		{"Expect: 100-continue and no body", func(a string, _ *campaign) (int, *tally) {
			return hold(a, 100, 20*time.Second, func(conn net.Conn, _ <-chan struct{}) {
				conn.Write([]byte(score + "Content-Length: 100\r\nExpect: 100-continue\r\n\r\n"))
			})
		}, "100 408 closed"},
		{"200 pipelined requests on each of 50 connections", pipelined, "200"},
		{"14 streams with a line of 4 MB and no end", unfinished(14, 4<<20-1, "application/x-ndjson"), "408 429 closed open"},
		{"16 bodies of 4 MiB less one byte", unfinished(16, 4<<20-1, "application/json"), "408 429 503 closed open"},
		{"30 bodies of 4 MiB less one byte", unfinished(30, 4<<20-1, "application/json"), "408 429 503 closed open"},
		{"4,200 streams kept open by empty lines", emptyLines, "200 408 429 503 closed open"},
	}
	return list
}

// unfinished sends all bytes of bodies but the last one, and waits. Connections that the server ends come again.
func unfinished(n, length int, contentType string) func(string, *campaign) (int, *tally) {
	body := fmt.Appendf(nil, "POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", contentType, length+1, bytes.Repeat([]byte(" "), length))
	return func(address string, c *campaign) (int, *tally) {
		t, end, tries := newTally(), time.Now().Add(c.time(20)), atomic.Int64{}
		parallel(n, n, func(int) {
			for time.Now().Before(end) {
				_, again := hold(address, 1, time.Until(end), func(conn net.Conn, _ <-chan struct{}) { conn.Write(body) })
				t.merge(again)
				tries.Add(1)
			}
		})
		return int(tries.Load()), t
	}
}

// emptyLines keeps streams open from several addresses, whose connections are limited.
func emptyLines(address string, c *campaign) (int, *tally) {
	const n = 4200
	t, end := newTally(), time.Now().Add(c.time(20))
	parallel(n, n, func(i int) {
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 4, byte(1+i%6))}, Timeout: 10 * time.Second}
		conn, err := dialer.Dial("tcp", address)
		if err != nil {
			t.add("closed")
			return
		}
		defer conn.Close()
		go func() {
			io.WriteString(conn, "POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n")
			for pause := time.NewTicker(3 * time.Second); ; <-pause.C {
				if _, err := io.WriteString(conn, "1\r\n\n\r\n"); err != nil {
					return
				}
			}
		}()
		t.add(outcomeOf(conn, time.Until(end)))
	})
	return n, t
}

// manyConnections opens a hundred thousand connections and keeps each for as long as there are fewer than 6,000. They
// come from several loopback addresses, because one has too few ports.
func manyConnections(address string, c *campaign) (int, *tally) {
	const workers = 6000
	n := max(workers, int(100_000*c.short))
	t := newTally()
	row := c.requests(forms[0], 1)[0]
	held := make(chan net.Conn, workers-500)
	parallel(n, 500, func(i int) {
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+i%200))}, Timeout: 10 * time.Second}
		conn, err := dialer.Dial("tcp", address)
		if err != nil {
			t.add(plainError(err))
			return
		}
		conn.Write(row)
		t.add(outcomeOf(conn, 30*time.Second))
		for {
			select {
			case held <- conn:
				return
			default:
			}
			select {
			case oldest := <-held:
				oldest.Close()
			default:
			}
		}
	})
	close(held)
	for conn := range held {
		conn.Close()
	}
	return n, t
}

func neverRead(address string, c *campaign) (int, *tally) {
	large := request("POST", "/v1/score", "application/json", columnTable(`{"columns":`, c.data.columns, `,"data":`, c.data.rows[:5000], "}"))
	t := newTally()
	parallel(20, 20, func(int) {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.add(plainError(err))
			return
		}
		defer conn.Close()
		conn.(*net.TCPConn).SetReadBuffer(4096)
		conn.SetWriteDeadline(time.Now().Add(75 * time.Second))
		for range 40 {
			if _, err := conn.Write(large); err != nil {
				t.add(ended(err))
				return
			}
		}
		t.add("sent") // refusals are short, so that some connections hold all of them
	})
	return 20, t
}

// ended returns how a connection ended.
func ended(err error) string {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return "open"
	}
	return "closed"
}

func leaveInBody(address string, _ *campaign) (int, *tally) {
	return leave(address, []byte(score+"Content-Length: 100000\r\n\r\n{\"rows\":[{\"detector1\":1"), 5*time.Millisecond)
}

func leaveBeforeAnswer(address string, c *campaign) (int, *tally) {
	return leave(address, c.requests(forms[0], 100)[0], 0)
}

// leave sends bytes and resets the connection.
func leave(address string, b []byte, after time.Duration) (int, *tally) {
	t := newTally()
	parallel(2000, 64, func(int) {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.add(plainError(err))
			return
		}
		conn.Write(b)
		time.Sleep(after)
		conn.(*net.TCPConn).SetLinger(0)
		conn.Close()
		t.add("left")
	})
	return 2000, t
}

func halfClose(address string, c *campaign) (int, *tally) {
	t := newTally()
	row := c.requests(forms[0], 1)[0]
	parallel(500, 16, func(int) {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.add(plainError(err))
			return
		}
		defer conn.Close()
		conn.Write(row)
		conn.(*net.TCPConn).CloseWrite()
		t.add(outcomeOf(conn, 20*time.Second))
	})
	return 500, t
}

func zipBombs(address string, _ *campaign) (int, *tally) {
	var bodies [2][]byte
	for i, size := range []int{4<<20 - 1, 1 << 30} {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		for blank := bytes.Repeat([]byte(" "), 1<<20); size > 0; size -= len(blank) {
			z.Write(blank[:min(size, len(blank))])
		}
		z.Close()
		bodies[i] = request("POST", "/v1/score", "application/json", b.Bytes(), "Content-Encoding: gzip")
	}
	return send(address, 100, func(i int) []byte { return bodies[i%2] })
}

func tlsHandshake(address string, _ *campaign) (int, *tally) {
	t := newTally()
	parallel(200, 16, func(int) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		dialer := tls.Dialer{Config: &tls.Config{ServerName: "localhost"}}
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			conn.Close()
			t.add("accepted")
			return
		}
		t.add("refused")
	})
	return 200, t
}

func wrongTypes(address string, _ *campaign) (int, *tally) {
	types := []string{"", "text/html", "application/xml", "application/json; charset=utf-16", "multipart/form-data", "application/x-www-form-urlencoded", "*/*", "\x01", "json"}
	return send(address, 50*len(types), func(i int) []byte {
		return request("POST", "/v1/score", types[i%len(types)], []byte(`{"rows":[]}`))
	})
}

func wrongMethods(address string, _ *campaign) (int, *tally) {
	list := [][]byte{request("GET", "/v1/score", "", nil), request("DELETE", "/v1/models", "", nil), request("BREW", "/livez", "", nil),
		request("GET", "/../../etc/passwd", "", nil), request("GET", "/v1/models/..%2f..%2fetc%2fpasswd", "", nil), request("POST", "/v1/models/none/score", "application/json", []byte("{}")),
		request("GET", "/", "", nil), request("PUT", "/metrics", "", []byte("x"))}
	return send(address, 50*len(list), func(i int) []byte { return list[i%len(list)] })
}

func pipelined(address string, c *campaign) (int, *tally) {
	const each = 200
	t := newTally()
	row := c.requests(forms[0], 1)[0]
	parallel(50, 50, func(int) {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.add(plainError(err))
			return
		}
		defer conn.Close()
		go conn.Write(bytes.Repeat(row, each))
		reader := &client{address: address, conn: conn}
		reader.reader = newReader(conn)
		conn.SetDeadline(time.Now().Add(30 * time.Second))
		for range each {
			status, _, err := reader.read()
			if err != nil {
				t.add("closed")
				return
			}
			t.add(fmt.Sprint(status))
		}
	})
	return 50 * each, t
}

// healthy is a client that sends a row ten times a second while an attack runs.
type healthy struct {
	stop context.CancelFunc
	done chan struct{}
	sent int
	bad  int
	shed int
	slow time.Duration
}

func newHealthy(c *client, row []byte) *healthy {
	ctx, cancel := context.WithCancel(context.Background())
	h := &healthy{stop: cancel, done: make(chan struct{})}
	c.from = net.IPv4(127, 0, 9, 1) // it has its connection before the attack, from an address of its own
	c.do(row)
	go func() {
		defer close(h.done)
		defer c.close()
		for next := (time.Time{}); ctx.Err() == nil; time.Sleep(time.Until(next)) {
			begin := time.Now()
			status, err := c.do(row)
			h.sent++
			if err != nil || status != 200 {
				log.Printf("the healthy client: %d %v %.90s", status, err, c.body)
				if status == 429 && c.retry {
					h.shed++
				} else {
					h.bad++
				}
			}
			h.slow = max(h.slow, time.Since(begin))
			next = begin.Add(100 * time.Millisecond)
		}
	}()
	return h
}

func (h *healthy) end() {
	h.stop()
	<-h.done
}

// lostTooMany reports whether more than 1 % of the rows have no score.
func (h *healthy) lostTooMany() bool { return 100*(h.bad+h.shed) > h.sent }

// measureAttacks runs all attacks against one server, and those of HTTP/2 against one with TLS. A short attack is
// repeated, so that the healthy client sends enough rows.
func (c *campaign) measureAttacks() error {
	plain, err := c.startServer(c.data.models[schema.Leaves])
	if err != nil {
		return err
	}
	cert, key, err := c.certificate()
	if err != nil {
		return err
	}
	secret, err := c.startServer(c.data.models[schema.Leaves], "--tls-cert", cert, "--tls-key", key)
	if err != nil {
		return err
	}
	row := c.requests(forms[0], 1)[0]
	t := c.page.table("attacks", "attack", "tries", "came back", "healthy client: failed, refused with 429, slowest, ms", "memory, MB", "as expected")
	var wrong, locked []string
	list := attacks()
	for i, a := range append(list, floods(c)...) {
		if !strings.Contains(a.name, c.attack) {
			continue
		}
		s := plain
		if i >= len(list) {
			s = secret
		}
		h, begin := newHealthy(&client{address: s.address, secret: s.secret}, row), time.Now()
		tries, seen := a.run(s.address, c)
		for time.Since(begin) < c.time(10) {
			more, again := a.run(s.address, c)
			tries += more
			seen.merge(again)
		}
		h.end()
		if !s.alive() {
			return fmt.Errorf("the server has ended after %q: %s", a.name, s.text.String())
		}
		verdict := "yes"
		if u := seen.unexpected(a.expected); u != "" {
			verdict = "no: " + u
			wrong = append(wrong, a.name)
		}
		if h.lostTooMany() {
			locked = append(locked, a.name)
		}
		t.row(a.name, whole(float64(tries)), seen.text(), fmt.Sprintf("%d of %d, %d, %s", h.bad, h.sent, h.shed, milli(h.slow)), mega(s.memory("VmRSS")), verdict)
	}
	summary := "all answered or closed as expected"
	if len(wrong) > 0 {
		summary = "unexpected: " + strings.Join(wrong, "; ")
	}
	if len(locked) > 0 {
		summary += "; more than 1 % lost: " + strings.Join(locked, "; ")
	}
	c.page.goal(len(locked) == 0 && len(wrong) == 0, "slow, broken and hostile clients", "no crash, a healthy client loses at most 1 % of its rows", fmt.Sprintf("%d kinds of attacks, no crash; %s; at most %s MB",
		len(t.rows), summary, mega(max(plain.memory("VmHWM"), secret.memory("VmHWM")))), "attacks")
	return nil
}
