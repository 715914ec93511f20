package engine

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"toptau/diag"
	"toptau/internal/models/dialect"
)

// Writer is a connection that may write. Nothing but the scores of a new table is written.
type Writer struct{ conn }

// writers has a function for each dialect whose databases can write: it returns connections, and a statement that lets one of them
// write ("": it may).
var writers = map[string]func(e *Engine, dsn string, o *Options) (db *sql.DB, allow string, err error){}

// OpenWriters connects to servers with the right to write.
//
// Errors are those of Open.
func OpenWriters(ctx context.Context, name string, o Options) (list []*Writer, err error) {
	open, known := writers[name]
	if !known {
		return nil, unknownDriver(name)
	}
	d, err := dialect.ByName(name)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			for _, w := range list {
				w.Close()
			}
		}
	}()
	for _, dsn := range o.DSN {
		db, allow, err := open(&Engine{Dialect: d}, dsn, &o)
		if err != nil {
			return list, withoutSecrets(d.Title, secretOf(name, dsn), err)
		}
		w := &Writer{conn{title: d.Title, dsn: secretOf(name, dsn), db: db, timeout: o.timeout()}}
		w.begin = func(ctx context.Context, one *sql.Conn) error {
			if allow == "" {
				return one.PingContext(ctx)
			}
			_, err := one.ExecContext(ctx, allow)
			return err
		}
		list = append(list, w)
		if err := w.Reconnect(ctx); err != nil {
			return list, err
		}
	}
	return list, nil
}

// Exec runs a statement.
func (w *Writer) Exec(ctx context.Context, statement string) error {
	ctx, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	_, err := w.one.ExecContext(ctx, statement)
	return orWithoutSecrets(w.title, w.dsn, err)
}

// Columns returns the names of the columns of an answer.
func (w *Writer) Columns(ctx context.Context, statement string) ([]string, error) {
	rows, err := w.one.QueryContext(ctx, statement)
	if err != nil {
		return nil, withoutSecrets(w.title, w.dsn, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	return names, orWithoutSecrets(w.title, w.dsn, err)
}

// Close ends the connection.
func (w *Writer) Close() error { return errors.Join(w.one.Close(), w.db.Close()) }

// unknownDriver is the error for a database that this program does not connect to.
func unknownDriver(name string) error {
	e := &diag.Error{Kind: diag.Usage, Param: "database", Found: diag.Quote(name), Expected: "one of " + strings.Join(Names(), ", ")}
	if name == "duckdb" {
		e.Hint = "this program was built without DuckDB; make sql-duckdb builds one that has it, and needs a C compiler"
	}
	return e
}
