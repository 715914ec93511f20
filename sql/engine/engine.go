// Package engine opens connections to databases. Connections only read.
package engine

import (
	"context"
	"errors"
	"time"

	"toptau/sql/dialect"
	"toptau/sql/scan"
)

// Options describe how to connect.
type Options struct {
	// DSN are the connection strings, one for each server that has a part of the rows. They contain secrets: no error, log or
	// model repeats them.
	DSN         []string
	Plain       bool          // connections without encryption to other hosts are accepted
	Connections int           // at most, to each server; 0: 1
	Timeout     time.Duration // of a statement; 0: one hour
}

// Engine is an open database.
type Engine struct {
	Dialect *dialect.Dialect
	Shards  []scan.Conn
	close   []func() error
}

// Open connects to a database by the name of its dialect.
func Open(ctx context.Context, name string, o Options) (*Engine, error) {
	open, known := drivers[name]
	if !known {
		return nil, errors.New("no driver for " + name)
	}
	return open(ctx, o)
}

// drivers has a function for each dialect with a driver.
var drivers = map[string]func(ctx context.Context, o Options) (*Engine, error){}

// Bytes returns the bytes received and sent over all connections.
func (e *Engine) Bytes() (received, sent int64) { return 0, 0 }

// Close closes all connections.
func (e *Engine) Close() (err error) {
	for _, c := range e.close {
		err = errors.Join(err, c())
	}
	return err
}
