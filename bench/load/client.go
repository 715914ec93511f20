//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// client is one connection. It writes finished requests and reads answers with as little work as possible, so that
// the processor is left to the server.
type client struct {
	address string
	from    net.IP // nil: any
	secret  bool   // with TLS
	conn    net.Conn
	reader  *bufio.Reader
	body    []byte // of the last answer
	retry   bool   // the last answer had Retry-After
}

// request returns the bytes of a request.
func request(method, path, contentType string, body []byte, headers ...string) []byte {
	b := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: localhost\r\n", method, path)
	if contentType != "" {
		b = fmt.Appendf(b, "Content-Type: %s\r\n", contentType)
	}
	for _, h := range headers {
		b = append(append(b, h...), "\r\n"...)
	}
	if body != nil {
		b = fmt.Appendf(b, "Content-Length: %d\r\n", len(body))
	}
	return append(append(b, "\r\n"...), body...)
}

const answerTimeout = 40 * time.Second // longer than every limit of the server

// connect opens a connection. Tests replace it.
var connect = func(d *net.Dialer, address string) (net.Conn, error) { return d.Dial("tcp", address) }

// do sends a request and returns the status of the answer. After an error the next call connects again.
func (c *client) do(request []byte) (status int, err error) {
	if c.conn == nil {
		dialer := net.Dialer{}
		if c.from != nil {
			dialer.LocalAddr = &net.TCPAddr{IP: c.from}
		}
		if c.conn, err = connect(&dialer, c.address); err != nil {
			return 0, err
		}
		if c.secret {
			c.conn = tls.Client(c.conn, &tls.Config{InsecureSkipVerify: true}) // of this machine
		}
		if c.reader == nil {
			c.reader = newReader(nil)
		}
		c.reader.Reset(c.conn)
	}
	c.conn.SetDeadline(time.Now().Add(answerTimeout))
	// The server may answer before it has read everything; the answer counts.
	_, failed := c.conn.Write(request)
	status, ends, err := c.read()
	if err != nil && failed != nil {
		err = failed
	}
	if err != nil || ends || failed != nil {
		c.close()
	}
	return status, err
}

func newReader(r io.Reader) *bufio.Reader { return bufio.NewReaderSize(r, 64<<10) }

func (c *client) close() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

// read reads an answer. ends reports whether the server closes the connection after it.
func (c *client) read() (status int, ends bool, err error) {
	line, err := c.reader.ReadSlice('\n')
	if err != nil {
		return 0, true, err
	}
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return 0, true, fmt.Errorf("an answer that begins with %q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, true, err
	}
	length, chunked := -1, false
	c.retry = false
	for {
		line, err := c.reader.ReadSlice('\n')
		if err != nil {
			return 0, true, err
		}
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch string(name) {
		case "Content-Length":
			length, err = strconv.Atoi(string(value))
			if err != nil {
				return 0, true, err
			}
		case "Transfer-Encoding":
			chunked = true
		case "Connection":
			ends = string(value) == "close"
		case "Retry-After":
			c.retry = true
		}
	}
	c.body = c.body[:0]
	switch {
	case status == 100:
		return c.read()
	case chunked:
		err = c.readChunks()
	case length >= 0:
		c.body = slices.Grow(c.body, length)[:length]
		_, err = io.ReadFull(c.reader, c.body)
	default:
		ends = true
		c.body, err = io.ReadAll(c.reader)
	}
	return status, ends, err
}

func (c *client) readChunks() error {
	for {
		line, err := c.reader.ReadSlice('\n')
		if err != nil {
			return err
		}
		size, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 32)
		if err != nil {
			return err
		}
		at := len(c.body)
		c.body = slices.Grow(c.body, int(size))[:at+int(size)]
		if _, err := io.ReadFull(c.reader, c.body[at:]); err != nil {
			return err
		}
		if _, err := c.reader.Discard(2); err != nil {
			return err
		}
		if size == 0 {
			return nil
		}
	}
}

// outcome counts the answers to many requests.
type outcome struct {
	took     time.Duration
	sent     int
	status   map[int]int
	noRetry  int             // answers with 429 or 503 and without Retry-After
	errors   map[string]int  // by text
	times    []time.Duration // of answers with 200, ascending
	service  []time.Duration // of answers with 200 in an open loop, from the moment of sending, ascending
	late     []time.Duration // how late the requests of an open loop were sent, ascending
	rejected []time.Duration // of other answers, ascending
	refusals []time.Duration // the same in an open loop, from the moment of sending, ascending
	unsent   int             // requests of an open loop that were due and could not be sent in time
}

func (o *outcome) ok() int { return o.status[200] }

// rate returns the answers with 200 in a second.
func (o *outcome) rate() float64 { return float64(o.ok()) / o.took.Seconds() }

// quantile returns a quantile of ascending times.
func quantile(times []time.Duration, q float64) time.Duration {
	if len(times) == 0 {
		return 0
	}
	return times[min(int(q*float64(len(times))), len(times)-1)]
}

// merge adds the answers of a connection.
func (o *outcome) merge(p *outcome) {
	o.sent += p.sent
	o.unsent += p.unsent
	o.noRetry += p.noRetry
	for s, n := range p.status {
		o.status[s] += n
	}
	for e, n := range p.errors {
		o.errors[e] += n
	}
	for _, l := range []struct{ to, from *[]time.Duration }{{&o.times, &p.times}, {&o.service, &p.service}, {&o.late, &p.late}, {&o.rejected, &p.rejected}, {&o.refusals, &p.refusals}} {
		*l.to = append(*l.to, *l.from...)
	}
}

func newOutcome() *outcome { return &outcome{status: map[int]int{}, errors: map[string]int{}} }

// answered counts an answer.
func (o *outcome) answered(c *client, status int, err error, took time.Duration) {
	switch {
	case err != nil:
		o.errors[plainError(err)]++
	case status == 200:
		o.status[status]++
		o.times = append(o.times, took)
	default:
		o.status[status]++
		o.rejected = append(o.rejected, took)
		if (status == 429 || status == 503) && !c.retry {
			o.noRetry++
		}
	}
}

// plainError returns the text of an error without addresses.
func plainError(err error) string {
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	return err.Error()
}

// closedLoop sends requests on some connections, each as soon as the one before is answered.
func closedLoop(address string, connections int, length time.Duration, requests [][]byte) *outcome {
	ctx, cancel := context.WithTimeout(context.Background(), length)
	defer cancel()
	return each(connections, func(k int, o *outcome) {
		c := &client{address: address}
		defer c.close()
		for i := k; ctx.Err() == nil; i += connections {
			begin := time.Now()
			status, err := c.do(requests[i%len(requests)])
			o.sent++
			o.answered(c, status, err, time.Since(begin))
			if err != nil {
				time.Sleep(time.Millisecond)
			}
		}
	})
}

// openLoop sends requests at a rate, at random times (a Poisson process), whether or not the ones before are answered.
// Times count from the moment when a request was due, so that a slow server cannot slow its clients down; those of
// outcome.service count from the moment when it was sent, so that a generator that is late is no fault of the server. A
// request that cannot be sent within patience of its time is left out and counted. The loop ends soon after its length.
func openLoop(address string, connections int, rate float64, length, patience time.Duration, requests [][]byte) *outcome {
	random := rand.New(rand.NewPCG(9, 9))
	var due []time.Duration
	for at := 0.0; at < length.Seconds(); at += random.ExpFloat64() / rate {
		due = append(due, time.Duration(at*float64(time.Second)))
	}
	var next atomic.Int64
	begin := time.Now().Add(20 * time.Millisecond)
	return each(connections, func(_ int, o *outcome) {
		c := &client{address: address}
		defer c.close()
		for {
			i := int(next.Add(1)) - 1
			if i >= len(due) {
				return
			}
			time.Sleep(time.Until(begin.Add(due[i])))
			sent := time.Now()
			late := sent.Sub(begin) - due[i]
			if late > patience {
				o.unsent++
				continue
			}
			status, err := c.do(requests[i%len(requests)])
			took := time.Since(sent)
			o.sent++
			o.late = append(o.late, late)
			o.answered(c, status, err, late+took)
			if err == nil && status == 200 {
				o.service = append(o.service, took)
			} else if err == nil {
				o.refusals = append(o.refusals, took)
			}
		}
	})
}

// each runs connections at the same time and adds up what they count.
func each(connections int, run func(k int, o *outcome)) *outcome {
	all := newOutcome()
	var wait sync.WaitGroup
	var mutex sync.Mutex
	begin := time.Now()
	for k := range connections {
		wait.Go(func() {
			o := newOutcome()
			run(k, o)
			mutex.Lock()
			defer mutex.Unlock()
			all.merge(o)
		})
	}
	wait.Wait()
	all.took = time.Since(begin)
	for _, times := range [][]time.Duration{all.times, all.service, all.late, all.rejected, all.refusals} {
		slices.Sort(times)
	}
	return all
}
