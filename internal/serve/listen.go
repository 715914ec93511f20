package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"toptau/diag"
)

// Listen opens the listener of an address: HOST:PORT, or unix:PATH. A unix socket that nobody listens on is
// replaced. Only its owner and group may connect.
func Listen(address string) (net.Listener, error) {
	path, isUnix := strings.CutPrefix(address, "unix:")
	if !isUnix {
		l, err := net.Listen("tcp", address)
		if err != nil {
			return nil, &diag.Error{Kind: diag.IO, Param: "listen", Found: diag.Quote(address), Err: err}
		}
		return l, nil
	}
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
		if c, err := net.Dial("unix", path); err == nil {
			c.Close()
			return nil, &diag.Error{Kind: diag.IO, Param: "listen",
				Found: diag.Quote(address) + ", where another process listens", Expected: "another path"}
		}
		os.Remove(path)
	}
	l, err := net.Listen("unix", path)
	if err == nil {
		err = os.Chmod(path, 0o660)
	}
	if err != nil {
		return nil, &diag.Error{Kind: diag.IO, Param: "listen", Found: diag.Quote(address), Err: err}
	}
	return l, nil
}

// IsLocal reports whether only programs of this machine can reach an address.
func IsLocal(address string) bool {
	if strings.HasPrefix(address, "unix:") {
		return true
	}
	host, _, err := net.SplitHostPort(address)
	return err == nil && isLoopbackName(host)
}

// Serve answers requests on l until ctx ends, then drains: not ready at once, after grace no new connections,
// then until all requests are answered, at most drainTimeout. tls may be nil.
func (s *Server) Serve(ctx context.Context, l net.Listener, certificates *tls.Config, grace time.Duration) error {
	server := &http.Server{Handler: s, ReadHeaderTimeout: min(headerTimeout, s.options.Timeout),
		ReadTimeout: s.options.Timeout, WriteTimeout: s.options.Timeout + streamTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(&quietHandler{s.log.Handler()}, slog.LevelWarn),
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: 100}}
	limited := newLimitedListener(l, maxConnections, certificates != nil)
	s.log.Info("listening", "address", l.Addr().String(), "tls", certificates != nil, "models", len(s.models))
	ended := make(chan error, 1)
	go func() {
		if certificates == nil {
			ended <- server.Serve(limited)
			return
		}
		server.TLSConfig = certificates
		ended <- server.ServeTLS(limited, "", "")
	}()
	select {
	case err := <-ended:
		return &diag.Error{Kind: diag.IO, Param: "listen", Found: l.Addr().String(), Err: err}
	case <-ctx.Done():
	}
	s.Drain()
	s.log.Info("draining", "seconds", grace.Seconds())
	time.Sleep(grace)
	limit, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	err := server.Shutdown(limit)
	if errors.Is(err, context.DeadlineExceeded) {
		s.log.Warn("requests were cut off", "seconds", drainTimeout.Seconds())
		server.Close()
		err = nil
	}
	if closed := s.Close(limit); err == nil {
		err = closed
	}
	s.log.Info("stopped")
	return err
}

// quietHandler leaves out what clients cause in the log of net/http: every scan of ports would be a line.
type quietHandler struct{ slog.Handler }

// Handle implements slog.Handler.
func (h *quietHandler) Handle(ctx context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, "http: TLS handshake error") {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// limitedListener refuses connections beyond a limit politely: with an answer, and without a goroutine for
// each.
type limitedListener struct {
	net.Listener
	free   chan struct{}
	refuse chan struct{}
	silent bool // TLS: no answer can be given
}

// maxRefusals is the number of connections that are refused at the same time; further ones are closed at
// once.
const maxRefusals = 64

func newLimitedListener(l net.Listener, most int, silent bool) *limitedListener {
	return &limitedListener{Listener: l, free: make(chan struct{}, most),
		refuse: make(chan struct{}, maxRefusals), silent: silent}
}

// Accept implements net.Listener.
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.free <- struct{}{}:
			return &limitedConn{Conn: c, free: l.free}, nil
		default:
		}
		select {
		case l.refuse <- struct{}{}:
			go l.refuseOne(c)
		default:
			c.Close()
		}
	}
}

const (
	refusalBody = `{"schema_version":2,"error":{"kind":"limit","found":"too many connections","message":"too many connections"}}` + "\n"
	refusalHead = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: "
)

var refusal = []byte(refusalHead + strconv.Itoa(len(refusalBody)) + "\r\n\r\n" + refusalBody)

// refuseOne answers a connection and reads what it sends, so that the answer is not lost with a reset.
func (l *limitedListener) refuseOne(c net.Conn) {
	defer func() { <-l.refuse }()
	defer c.Close()
	if l.silent {
		return
	}
	c.SetDeadline(time.Now().Add(500 * time.Millisecond))
	c.Write(refusal)
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
	io.CopyN(io.Discard, c, 64<<10)
}

type limitedConn struct {
	net.Conn
	free chan struct{}
	once sync.Once
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() { <-c.free })
	return err
}
