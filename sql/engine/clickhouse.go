package engine

import (
	"context"
	"crypto/tls"
	"database/sql"
	"net"

	"github.com/ClickHouse/clickhouse-go/v2"

	"toptau/sql/scan"
)

func init() { drivers["clickhouse"], writers["clickhouse"] = openClickHouse, writeClickHouse }

// clickHouseDB returns connections. readonly is the setting of that name: 2 refuses to write and lets other settings change.
func clickHouseDB(e *Engine, dsn string, o *Options, readonly int) (*sql.DB, error) {
	options, err := clickhouse.ParseDSN(dsn)
	if err != nil {
		return nil, badDSN("clickhouse://user@host:9440/database?secure=true")
	}
	for _, address := range options.Addr {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			host = address
		}
		if options.TLS == nil && !isLocal(host) && !o.Plain {
			return nil, plainError("secure=true in the connection string")
		}
	}
	encryption := options.TLS
	options.DialContext = func(ctx context.Context, address string) (net.Conn, error) {
		c, err := e.bytes.dial(ctx, "tcp", address)
		if err != nil || encryption == nil {
			return c, err
		}
		config := encryption.Clone()
		if host, _, err := net.SplitHostPort(address); err == nil && config.ServerName == "" {
			config.ServerName = host
		}
		return tls.Client(c, config), nil
	}
	if options.Settings == nil {
		options.Settings = clickhouse.Settings{}
	}
	for name, value := range map[string]int{
		"readonly":                  readonly,
		"max_execution_time":        int(o.timeout().Seconds()),
		"max_query_size":            64 << 20,
		"max_ast_elements":          5_000_000,
		"max_expanded_ast_elements": 10_000_000,
		"max_ast_depth":             100_000,
	} {
		if _, set := options.Settings[name]; !set {
			options.Settings[name] = value
		}
	}
	return clickhouse.OpenDB(options), nil
}

func writeClickHouse(e *Engine, dsn string, o *Options) (*sql.DB, string, error) {
	db, err := clickHouseDB(e, dsn, o, 0)
	return db, "", err
}

// openClickHouse connects with settings that refuse to write. A server has no snapshots; package scan compares counts and checksums.
func openClickHouse(ctx context.Context, e *Engine, dsn string, o *Options) (scan.Conn, func() error, error) {
	db, err := clickHouseDB(e, dsn, o, 2)
	if err != nil {
		return nil, nil, err
	}
	c := &conn{title: e.Dialect.Title, dsn: dsn, db: db, timeout: o.timeout()}
	return c.opened(ctx)
}
