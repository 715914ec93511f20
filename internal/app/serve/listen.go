package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
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

// Serve answers requests on l until ctx ends, then drains: not ready at once and the last answer on each connection,
// after grace no new connections, then until all requests are answered, at most drainTimeout. certificates may be nil.
// metrics has a listener for Options.MetricsApart, otherwise nil; it answers until the end.
func (s *Server) Serve(ctx context.Context, l net.Listener, certificates *tls.Config, grace time.Duration, metrics net.Listener) error {
	limited := newConnections(l, maxConnections, s.options.PerAddress, certificates != nil)
	s.connections.Store(limited)
	server := s.httpServer(s)
	server.ConnState = limited.track
	if metrics != nil {
		apart := s.httpServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(s.watched, w, r) }))
		defer apart.Close()
		go apart.Serve(newConnections(metrics, maxMetricsConnections, maxMetricsConnections, false))
	}
	s.log.Info("listening", "address", l.Addr().String(), "tls", certificates != nil, "models", len(s.models.list))
	s.notify("READY=1") // the listener is open, so a request waits for its answer from now on
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
	s.notify("STOPPING=1")
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

func (s *Server) httpServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: min(headerTimeout, s.options.Timeout),
		ReadTimeout: s.options.Timeout, WriteTimeout: s.options.Timeout + streamTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(&quietHandler{s.log.Handler()}, slog.LevelWarn),
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: 100}}
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
