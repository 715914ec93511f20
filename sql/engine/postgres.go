package engine

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"toptau/diag"
	"toptau/sql/scan"
)

func init() { drivers["postgres"], writers["postgres"] = openPostgres, writePostgres }

// postgresDB returns connections that cannot write unless their settings are changed.
func postgresDB(e *Engine, dsn string, o *Options) (*sql.DB, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, badDSN("postgres://user@host/database?sslmode=verify-full")
	}
	plain := config.TLSConfig == nil && !isLocal(config.Host)
	for _, f := range config.Fallbacks {
		plain = plain || f.TLSConfig == nil && !isLocal(f.Host)
	}
	if plain && !o.Plain {
		return nil, plainError("sslmode=verify-full in the connection string")
	}
	config.DialFunc = e.bytes.dial
	// Every statement is another one, so none is kept by the server.
	config.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec
	// Compiling pays for simple expressions of many rows, and Compile turns it on there. Optimising what is compiled is most of the gain;
	// copying the operators into it takes longer than it saves below some million rows.
	config.RuntimeParams["jit"] = "off"
	config.RuntimeParams["jit_optimize_above_cost"] = "0"
	config.RuntimeParams["jit_inline_above_cost"] = "-1"
	config.RuntimeParams["synchronize_seqscans"] = "off" // rows come in the order of the table, and sums are added in it
	config.RuntimeParams["default_transaction_read_only"] = "on"
	config.RuntimeParams["extra_float_digits"] = "1" // texts of numbers give them exactly
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "toptau"
	}
	return stdlib.OpenDB(*config), nil
}

// writePostgres lets connections write.
func writePostgres(e *Engine, dsn string, o *Options) (*sql.DB, string, error) {
	db, err := postgresDB(e, dsn, o)
	return db, "SET default_transaction_read_only = off", err
}

// limitStatements sets statement_timeout, unless that of the role or of the connection string is shorter.
func limitStatements(ctx context.Context, one *sql.Conn, timeout time.Duration) error {
	most := strconv.FormatInt(timeout.Milliseconds(), 10)
	_, err := one.ExecContext(ctx, "SELECT set_config('statement_timeout', '"+most+"', false) FROM pg_settings WHERE name = 'statement_timeout' AND (setting = '0' OR setting::bigint > "+most+")")
	return err
}

// openPostgres begins a transaction that sees one snapshot and cannot write.
func openPostgres(ctx context.Context, e *Engine, dsn string, o *Options) (scan.Conn, func() error, error) {
	db, err := postgresDB(e, dsn, o)
	if err != nil {
		return nil, nil, err
	}
	c := &conn{title: e.Dialect.Title, dsn: dsn, db: db, steady: true, timeout: o.timeout()}
	c.begin = func(ctx context.Context, one *sql.Conn) error {
		if err := limitStatements(ctx, one, o.timeout()); err != nil {
			return err
		}
		_, err := one.ExecContext(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
		return err
	}
	c.explain = func(err error) error {
		var of *pgconn.PgError
		if errors.As(err, &of) && of.Code == "57014" {
			found := "a statement was cancelled after statement_timeout"
			if !strings.Contains(of.Message, "statement timeout") { // of a limit that fires between two statements, too
				found = "a statement was cancelled, by statement_timeout or another session"
			}
			return &diag.Error{Kind: diag.IO, File: c.title, Found: found, Err: errors.New(of.Message),
				Expected: "a longer statement_timeout of the role, or a longer --timeout",
				Hint:     "ALTER ROLE ... SET statement_timeout = '1h', or ?statement_timeout=3600000 in the connection string"}
		}
		return err
	}
	c.compile = func(on bool) string { return "SET jit = " + map[bool]string{true: "on", false: "off"}[on] }
	return c.opened(ctx)
}
