package engine

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"

	"github.com/trinodb/trino-go-client/trino"

	"toptau/sql/scan"
)

func init() { drivers["trino"], writers["trino"] = openTrino, writeTrino }

// trinoClients counts the clients that are registered with the driver, so that each has a name of its own.
var trinoClients atomic.Int64

// trinoDB returns connections to a coordinator, and what closes them. What the user may do is decided by Trino's access control.
func trinoDB(e *Engine, dsn string, o *Options) (*sql.DB, func() error, error) {
	const form = "https://user@host:8443?catalog=hive&schema=default"
	server, err := url.Parse(dsn)
	if err != nil || server.Scheme != "http" && server.Scheme != "https" || server.User == nil {
		return nil, nil, badDSN(form)
	}
	if server.Scheme == "http" && !isLocal(server.Hostname()) && !o.Plain {
		return nil, nil, plainError("https:// in the connection string")
	}
	settings, err := trino.ParseDSN(dsn)
	if err != nil {
		return nil, nil, badDSN(form)
	}
	if settings.CustomClientName == "" && settings.SSLCert == "" && settings.SSLCertPath == "" {
		settings.CustomClientName = fmt.Sprintf("toptau%d", trinoClients.Add(1))
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.DialContext = e.bytes.dial
		if err := trino.RegisterCustomClient(settings.CustomClientName, &http.Client{Transport: transport}); err != nil {
			return nil, nil, err
		}
	}
	timeout := o.timeout()
	settings.QueryTimeout = &timeout
	full, err := settings.FormatDSN()
	if err != nil {
		return nil, nil, badDSN(form)
	}
	db, err := sql.Open("trino", full)
	if err != nil {
		return nil, nil, badDSN(form)
	}
	closing := func() error {
		trino.DeregisterCustomClient(settings.CustomClientName)
		return db.Close()
	}
	return db, closing, nil
}

func writeTrino(e *Engine, dsn string, o *Options) (*sql.DB, string, error) {
	db, _, err := trinoDB(e, dsn, o)
	return db, "SELECT 1", err // any statement finds out whether the coordinator answers
}

// openTrino connects to a coordinator. Trino has no snapshots; package scan compares counts and checksums. Every statement is a SELECT.
func openTrino(ctx context.Context, e *Engine, dsn string, o *Options) (scan.Conn, func() error, error) {
	db, closing, err := trinoDB(e, dsn, o)
	if err != nil {
		return nil, nil, err
	}
	c := &conn{title: e.Dialect.Title, dsn: dsn, db: db, timeout: o.timeout()}
	// The driver's ping sends nothing.
	if err := c.Query(ctx, "SELECT 1", []any{new(int)}, func() error { return nil }); err != nil {
		_ = closing()
		return nil, nil, err
	}
	return c, closing, nil
}
