// Package engine opens connections to databases. Connections only read.
package engine

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"toptau/diag"
	"toptau/internal/models/dialect"
	"toptau/sql/scan"
)

// Options describe how to connect.
type Options struct {
	// DSN are the connection strings, one for each server that has a part of the rows. They contain secrets: no error, log or
	// model repeats them.
	DSN     []string
	Plain   bool          // connections without encryption to other hosts are accepted
	Timeout time.Duration // of a statement; 0: one hour
}

// timeout returns the time-out of a statement.
func (o *Options) timeout() time.Duration {
	if o.Timeout > 0 {
		return o.Timeout
	}
	return time.Hour
}

// Engine is an open database.
type Engine struct {
	Dialect *dialect.Dialect
	Shards  []scan.Conn

	bytes counter
	close []func() error
}

// drivers has a function for each dialect with a driver.
var drivers = map[string]func(ctx context.Context, e *Engine, dsn string, o *Options) (scan.Conn, func() error, error){}

// Names returns the names of the databases that this program connects to, in alphabetical order.
func Names() (names []string) {
	for name := range drivers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Open connects to a database by the name of its dialect.
//
// Errors: diag.Usage for a name without a driver, a connection string that is not valid, and a plain connection to another host;
// diag.IO for a server that does not answer. None contains a connection string.
func Open(ctx context.Context, name string, o Options) (*Engine, error) {
	open, known := drivers[name]
	if !known {
		return nil, unknownDriver(name)
	}
	d, err := dialect.ByName(name)
	if err != nil {
		return nil, err
	}
	if len(o.DSN) == 0 {
		return nil, &diag.Error{Kind: diag.Usage, Param: "dsn-env", Expected: "a connection string for each server"}
	}
	e := &Engine{Dialect: d}
	for _, dsn := range o.DSN {
		conn, closing, err := open(ctx, e, dsn, &o)
		if err != nil {
			return nil, errors.Join(withoutSecrets(d.Title, secretOf(name, dsn), err), e.Close())
		}
		e.Shards, e.close = append(e.Shards, conn), append(e.close, closing)
	}
	return e, nil
}

// Bytes returns the bytes received and sent over all connections.
func (e *Engine) Bytes() (received, sent int64) { return e.bytes.received.Load(), e.bytes.sent.Load() }

// BytesRead returns the bytes that an embedded database read from files, as the system counts them; 0 where it does not.
func (e *Engine) BytesRead() int64 { return e.bytes.read.Load() }

// Close closes all connections.
func (e *Engine) Close() (err error) {
	for _, c := range e.close {
		err = errors.Join(err, c())
	}
	e.close = nil
	return err
}

// badDSN is the error for a connection string that is not valid. What is wrong with it is not repeated, for it may be a password.
func badDSN(expected string) error {
	return &diag.Error{Kind: diag.Usage, Param: "dsn-env", Found: "a connection string that cannot be read", Expected: expected}
}

// plainError is the error for a connection that anyone on the way could read.
func plainError(fix string) error {
	return &diag.Error{Kind: diag.Usage, Param: "dsn-env", Found: "a connection without encryption to another host", Expected: fix,
		Fixes: []diag.Fix{{Param: "plain"}}}
}

// isLocal reports whether a host is this one: a socket in the file system, or the loopback interface.
func isLocal(host string) bool {
	if strings.HasPrefix(host, "/") || host == "localhost" || host == "" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// withoutSecrets wraps an error of a driver. A text that contains the connection string, or a password of it, is replaced.
func withoutSecrets(title, dsn string, err error) error {
	var known *diag.Error
	if errors.As(err, &known) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	said := err.Error()
	for _, secret := range secretsOf(dsn) {
		said = strings.ReplaceAll(said, secret, "***")
	}
	if errors.Is(err, syscall.EPIPE) { // of standard output it would end the command without an error
		return &diag.Error{Kind: diag.IO, File: title, Err: errors.New(said)}
	}
	return &diag.Error{Kind: diag.IO, File: title, Err: reworded{said, err}}
}

// reworded is an error with another text.
type reworded struct {
	text string
	err  error
}

func (r reworded) Error() string { return r.text }
func (r reworded) Unwrap() error { return r.err }

// secretOf returns a connection string if it is a secret. That of an embedded database is the path of a file.
func secretOf(name, dsn string) string {
	if dialect.IsFile(name) {
		return ""
	}
	return dsn
}

// secretsOf returns the parts of a connection string that errors must not have: all of it, and every value that may be a password.
func secretsOf(dsn string) []string {
	if dsn == "" {
		return nil
	}
	secrets := []string{dsn}
	if _, rest, found := strings.Cut(dsn, "://"); found {
		if at := strings.LastIndex(rest, "@"); at >= 0 {
			if _, password, found := strings.Cut(rest[:at], ":"); found && password != "" {
				secrets = append(secrets, password)
			}
		}
	}
	for _, field := range strings.FieldsFunc(dsn, func(r rune) bool { return r == ' ' || r == '?' || r == '&' || r == ';' }) {
		name, value, found := strings.Cut(field, "=")
		if found && value != "" && (strings.Contains(strings.ToLower(name), "pass") || strings.EqualFold(name, "pwd")) {
			secrets = append(secrets, strings.Trim(value, "'"))
		}
	}
	return secrets
}

// conn is a connection through database/sql.
type conn struct {
	title, dsn string
	db         *sql.DB
	one        *sql.Conn                                      // all statements run here; nil: any connection will do
	begin      func(ctx context.Context, one *sql.Conn) error // begins what one is for
	compile    func(on bool) string                           // the statement for Compile; nil: there is none
	explain    func(err error) error                          // an error of a statement in other words; nil: as it is
	steady     bool
	timeout    time.Duration
}

// Query runs a statement and scans its rows.
func (c *conn) Query(ctx context.Context, statement string, dest []any, each func() error) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	return c.reworded(c.run(ctx, statement, dest, each))
}

// orWithoutSecrets is withoutSecrets, and nil for nil.
func orWithoutSecrets(title, dsn string, err error) error {
	if err == nil {
		return nil
	}
	return withoutSecrets(title, dsn, err)
}

// reworded returns an error of the driver for people, without secrets. nil stays nil.
func (c *conn) reworded(err error) error {
	if err != nil && c.explain != nil {
		err = c.explain(err)
	}
	return orWithoutSecrets(c.title, c.dsn, err)
}

func (c *conn) run(ctx context.Context, statement string, dest []any, each func() error) error {
	var rows *sql.Rows
	var err error
	if c.one != nil {
		rows, err = c.one.QueryContext(ctx, statement)
	} else {
		rows, err = c.db.QueryContext(ctx, statement)
	}
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		if err := each(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Steady reports whether statements run in one snapshot.
func (c *conn) Steady() bool { return c.steady }

// Lost reports whether a connection was lost, so that another attempt may succeed. A statement that failed is not repeated.
func (c *conn) Lost(err error) bool {
	var network net.Error
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return false
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, sql.ErrConnDone), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.EPIPE), errors.Is(err, net.ErrClosed):
		return true
	}
	return errors.As(err, &network) || lostText(err.Error())
}

// lostText recognises errors of servers that end.
func lostText(said string) bool {
	for _, part := range []string{"conn closed", "terminating connection", "the database system is", "unexpected packet", "connection reset", "broken pipe", "stopped SparkContext",
		"All connection tries failed", "Connection refused", "Attempt to read after eof", "Connection reset by peer"} { // between servers of ClickHouse
		if strings.Contains(said, part) {
			return true
		}
	}
	return false
}

// opened connects, and returns the connection with what closes it.
func (c *conn) opened(ctx context.Context) (scan.Conn, func() error, error) {
	if err := c.Reconnect(ctx); err != nil {
		_ = c.db.Close()
		return nil, nil, err
	}
	return c, c.db.Close, nil
}

// Reconnect connects again.
func (c *conn) Reconnect(ctx context.Context) error {
	if c.begin == nil {
		return c.reworded(c.db.PingContext(ctx))
	}
	if c.one != nil {
		_ = c.one.Close() // it is lost
	}
	one, err := c.db.Conn(ctx)
	if err == nil {
		err = c.begin(ctx, one)
	}
	if err != nil {
		return c.reworded(err)
	}
	c.one = one
	return nil
}

// Compile lets the database compile expressions, or not. A new connection does not compile.
func (c *conn) Compile(ctx context.Context, on bool) error {
	if c.compile == nil || c.one == nil {
		return nil
	}
	_, err := c.one.ExecContext(ctx, c.compile(on))
	if c.Lost(err) {
		return nil // the next statement connects again
	}
	return c.reworded(err)
}

// counter counts the bytes of connections, and those of files.
type counter struct{ received, sent, read atomic.Int64 }

// dial connects and counts.
func (c *counter) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialTimeout}
	to, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return countedConn{to, c}, nil
}

// dialTimeout is the time that a server has to accept a connection.
const dialTimeout = 20 * time.Second

type countedConn struct {
	net.Conn
	*counter
}

// SyscallConn lets a driver see that its connection is lost. Without it ClickHouse's keeps those of a server that was killed.
func (c countedConn) SyscallConn() (syscall.RawConn, error) {
	raw, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return raw.SyscallConn()
}

func (c countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.received.Add(int64(n))
	return n, err
}

func (c countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.sent.Add(int64(n))
	return n, err
}
