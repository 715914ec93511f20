//go:build linux

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Types and flags of HTTP/2's frames (RFC 9113, section 6).
const (
	frameData         = 0
	frameHeaders      = 1
	frameReset        = 3
	frameSettings     = 4
	framePing         = 6
	frameGoAway       = 7
	frameContinuation = 9
	flagEndStream     = 1
	flagEndHeaders    = 4
)

// frame returns a frame of HTTP/2.
func frame(kind, flags byte, stream uint32, payload []byte) []byte {
	b := []byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags}
	return append(binary.BigEndian.AppendUint32(b, stream), payload...)
}

// postHeaders are the compressed headers of a request for scores: indices of HPACK's static table, and plain texts.
func postHeaders(contentType string) []byte {
	text := func(b []byte, s string) []byte { return append(append(b, byte(len(s))), s...) }
	b := text([]byte{0x83, 0x87, 0x04}, "/v1/score")
	b = text(append(b, 0x01), "localhost")
	b = text(append(b, 0x0f, 0x10), contentType)
	return text(append(b, 0x0f, 0x04), "application/json") // accept
}

// flood opens connections of HTTP/2, each from the same address. next returns what to send next, until a time is over, and
// nil to wait.
func flood(n int, next func(connection, i int) []byte) func(string, *campaign) (int, *tally) {
	return func(address string, c *campaign) (int, *tally) {
		t := newTally()
		parallel(n, n, func(k int) {
			dialer := tls.Dialer{NetDialer: &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 3, 1)}, Timeout: 10 * time.Second},
				Config: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}}
			conn, err := dialer.Dial("tcp", address)
			if err != nil {
				t.add("closed")
				return
			}
			defer conn.Close()
			end := time.Now().Add(c.time(10))
			conn.SetDeadline(end)
			ended := make(chan string, 1)
			go func() { ended <- readFrames(conn) }()
			conn.Write([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
			for i := 0; ; i++ {
				b := next(k, i)
				if b == nil {
					break
				}
				if _, err := conn.Write(b); err != nil {
					break
				}
			}
			t.add(<-ended)
		})
		return n, t
	}
}

// readFrames reads frames until the connection ends, and returns how it did.
func readFrames(r io.Reader) string {
	last, head := "closed", make([]byte, 9)
	for {
		_, err := io.ReadFull(r, head)
		if err == nil {
			if head[3] == frameGoAway {
				last = "goaway"
			}
			_, err = io.CopyN(io.Discard, r, int64(head[0])<<16|int64(head[1])<<8|int64(head[2]))
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return "open"
		}
		if err != nil {
			return last
		}
	}
}

// floods are attacks on a server with TLS.
func floods(c *campaign) []attack {
	settings := frame(frameSettings, 0, 0, nil)
	first := func(rest []byte) func(int, int) []byte { // settings, then the same again and again
		return func(_, i int) []byte {
			if i == 0 {
				return settings
			}
			return rest
		}
	}
	times := func(b []byte, n int) (all []byte) {
		for range n {
			all = append(all, b...)
		}
		return all
	}
	headers := postHeaders("text/csv")
	body := bodyOfCSV(c.data.columns, c.data.rows[:30])
	return []attack{
		{"HTTP/2: streams that are reset at once", flood(8, func(_, i int) []byte {
			if i == 0 {
				return settings
			}
			stream := uint32(2*i - 1)
			return append(frame(frameHeaders, flagEndHeaders, stream, headers), frame(frameReset, 0, stream, []byte{0, 0, 0, 8})...)
		}), "goaway closed open"},
		{"HTTP/2: PING", flood(8, first(times(frame(framePing, 0, 0, make([]byte, 8)), 100))), "goaway closed open"},
		{"HTTP/2: SETTINGS", flood(8, first(times(settings, 100))), "goaway closed open"},
		{"HTTP/2: CONTINUATION without an end", flood(8, func(_, i int) []byte {
			if i == 0 {
				return append(settings, frame(frameHeaders, 0, 1, headers)...)
			}
			return frame(frameContinuation, 0, 1, times([]byte{0x00, 1, 'x', 1, 'y'}, 1000))
		}), "goaway closed"},
		{"HTTP/2: 20 x 50 answers that the window of 0 bytes holds back", flood(20, func(_, i int) []byte {
			switch {
			case i == 0:
				return frame(frameSettings, 0, 0, []byte{0, 4, 0, 0, 0, 0}) // INITIAL_WINDOW_SIZE
			case i == 1:
				time.Sleep(300 * time.Millisecond) // until the server has enlarged its window
			case i > 50:
				return nil
			}
			stream := uint32(2*i - 1)
			b := frame(frameHeaders, flagEndHeaders, stream, headers)
			for rest := body; ; {
				part := rest[:min(len(rest), 16<<10)]
				if rest = rest[len(part):]; len(rest) == 0 {
					return append(b, frame(frameData, flagEndStream, stream, part)...)
				}
				b = append(b, frame(frameData, 0, stream, part)...)
			}
		}), "goaway closed open"},
	}
}

// certificate writes a certificate of its own and its key for localhost.
func (c *campaign) certificate() (cert, key string, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		return "", "", err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return "", "", err
	}
	cert, key = filepath.Join(c.dir, "cert.pem"), filepath.Join(c.dir, "key.pem")
	if err := os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		return "", "", err
	}
	return cert, key, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600)
}
