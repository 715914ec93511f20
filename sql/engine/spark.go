package engine

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"database/sql/driver"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"toptau/sql/scan"
)

func init() { drivers["spark"], writers["spark"] = openSpark, writeSpark }

// sparkForm is a connection string for Spark. The path is the database, tls and ca are those of the connection, sasl=false is for servers with
// NOSASL authentication, and http is the path on a server whose transport is HTTP.
const sparkForm = "spark://user:password@host:10000/database?tls=true&ca=FILE"

// sparkSettings are those of every session. Spark replaces variables in names and texts unless it is set otherwise. Java's compiler leaves
// methods of more than 8,000 bytes out, so Spark must divide larger ones. Lists of keys belong to up to some thousands of groups, which Spark
// sorts all rows for unless it may keep more than 128. A statement can be cancelled when the server has answered that it still runs.
var sparkSettings = map[string]string{
	"set:hiveconf:spark.sql.variable.substitute":                             "false",
	"set:hiveconf:spark.sql.parser.escapedStringLiterals":                    "false",
	"set:hiveconf:hive.server2.long.polling.timeout":                         "200ms",
	"set:hiveconf:spark.sql.codegen.hugeMethodLimit":                         "8000",
	"set:hiveconf:spark.sql.objectHashAggregate.sortBased.fallbackThreshold": "100000",
}

// sparkConnector opens sessions of a Thrift server.
type sparkConnector struct {
	dial                             func(ctx context.Context, network, address string) (net.Conn, error)
	address, user, password, use, at string
	sasl                             bool
	tls                              *tls.Config // nil: none
	timeout                          time.Duration
}

// newSparkConnector reads a connection string.
func newSparkConnector(e *Engine, dsn string, o *Options) (*sparkConnector, error) {
	server, err := url.Parse(dsn)
	if err != nil || server.Scheme != "spark" || server.User.Username() == "" || server.Hostname() == "" {
		return nil, badDSN(sparkForm)
	}
	c := &sparkConnector{dial: e.bytes.dial, address: server.Host, user: server.User.Username(), sasl: true, timeout: o.timeout()}
	if c.password, _ = server.User.Password(); c.password == "" {
		c.password = "none" // servers without passwords refuse an empty one
	}
	if server.Port() == "" {
		c.address = net.JoinHostPort(server.Hostname(), "10000")
	}
	if database := strings.Trim(server.Path, "/"); database != "" {
		c.use = "USE " + e.Dialect.Path(strings.Split(database, "."))
	}
	for name, list := range server.Query() {
		value := list[len(list)-1]
		switch {
		case name == "tls" && value == "true":
			if c.tls == nil {
				c.tls = &tls.Config{ServerName: server.Hostname()}
			}
		case name == "ca" && value != "":
			pool := x509.NewCertPool()
			if text, err := os.ReadFile(value); err != nil || !pool.AppendCertsFromPEM(text) {
				return nil, badDSN("a file with certificates as ca")
			}
			c.tls = &tls.Config{ServerName: server.Hostname(), RootCAs: pool}
		case name == "sasl" && value == "false":
			c.sasl = false
		case name == "http" && value != "":
			c.at = strings.Trim(value, "/")
		default:
			return nil, badDSN(sparkForm)
		}
	}
	if c.tls == nil && !isLocal(server.Hostname()) && !o.Plain {
		return nil, plainError("tls=true in the connection string")
	}
	return c, nil
}

// Connect opens a session.
func (c *sparkConnector) Connect(ctx context.Context) (driver.Conn, error) {
	s := &session{timeout: c.timeout, close: func() error { return nil }, after: func(time.Time) error { return nil }}
	transport, err := c.transport(ctx, s)
	if err == nil {
		err = openSession(ctx, s, transport, c.user, c.password, sparkSettings)
	}
	if err == nil && c.use != "" {
		_, err = s.ExecContext(ctx, c.use, nil)
	}
	if err != nil {
		_ = s.close()
		return nil, err
	}
	return s, nil
}

// transport connects.
func (c *sparkConnector) transport(ctx context.Context, s *session) (thrift.TTransport, error) {
	if c.at != "" {
		jar, err := cookiejar.New(nil)
		if err != nil {
			return nil, err
		}
		transport := &http.Transport{DialContext: c.dial, TLSClientConfig: c.tls}
		s.close = func() error { transport.CloseIdleConnections(); return nil }
		scheme := "http"
		if c.tls != nil {
			scheme = "https"
		}
		to, err := thrift.NewTHttpClientWithOptions(fmt.Sprintf("%s://%s/%s", scheme, c.address, c.at), thrift.THttpClientOptions{
			Client: &http.Client{Transport: transport, Jar: jar}})
		if err == nil {
			to.(*thrift.THttpClient).SetHeader("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(c.user+":"+c.password)))
		}
		return to, err
	}
	raw, err := c.dial(ctx, "tcp", c.address)
	if err != nil {
		return nil, err
	}
	if c.tls != nil {
		raw = tls.Client(raw, c.tls)
	}
	s.close, s.after = raw.Close, raw.SetDeadline
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	defer stop()
	if !c.sasl {
		return thrift.NewTBufferedTransport(thrift.NewStreamTransportRW(raw), 1<<16), nil
	}
	_ = raw.SetDeadline(time.Now().Add(dialTimeout)) // a server with other authentication may wait for more
	defer raw.SetDeadline(time.Time{})
	if err := saslPlain(raw, c.user, c.password); err != nil {
		return nil, err
	}
	return thrift.NewTFramedTransportConf(thrift.NewStreamTransportRW(raw), messages), nil
}

// Driver is a part of driver.Connector. Nothing opens a connection by its name.
func (c *sparkConnector) Driver() driver.Driver { return nil }

func sparkDB(e *Engine, dsn string, o *Options) (*sql.DB, error) {
	c, err := newSparkConnector(e, dsn, o)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(c), nil
}

func writeSpark(e *Engine, dsn string, o *Options) (*sql.DB, string, error) {
	db, err := sparkDB(e, dsn, o)
	return db, "", err
}

// openSpark connects to a Thrift server. Spark has no snapshots; package scan compares counts and checksums. Every statement is a SELECT.
func openSpark(ctx context.Context, e *Engine, dsn string, o *Options) (scan.Conn, func() error, error) {
	db, err := sparkDB(e, dsn, o)
	if err != nil {
		return nil, nil, err
	}
	c := &conn{title: e.Dialect.Title, dsn: dsn, db: db, timeout: o.timeout()}
	return c.opened(ctx)
}
