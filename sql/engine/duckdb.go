//go:build duckdb && cgo

package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	_ "github.com/duckdb/duckdb-go/v2" // the driver "duckdb", with DuckDB itself

	"toptau/diag"
	"toptau/sql/scan"
)

func init() { drivers["duckdb"], writers["duckdb"] = openDuckDB, writeDuckDB }

// duckDB opens a file in this process. access is DuckDB's setting access_mode.
func duckDB(file, access string) (*sql.DB, error) {
	bad := func(found, expected string) (*sql.DB, error) {
		return nil, &diag.Error{Kind: diag.Usage, Found: diag.Quote(file) + ", " + found, Expected: expected}
	}
	// The driver reads settings from the path, and would ignore those that come after such a character.
	if strings.ContainsAny(file, "?#%") {
		return bad("a path with ?, # or %", "a path without these characters")
	}
	path, err := filepath.Abs(file) // a relative one with a colon would be the name of a protocol
	if err != nil {
		return nil, err
	}
	// DuckDB makes a new database of a file that is not there, and opens files of rows as something else.
	switch isDatabase, err := hasMagic(path); {
	case errors.Is(err, fs.ErrNotExist):
		return bad("a file that does not exist", "a database of DuckDB")
	case err != nil:
		return nil, &diag.Error{Kind: diag.IO, File: file, Err: err}
	case !isDatabase:
		return bad("which is not a database", "a database of DuckDB; a view in it can read Parquet files")
	}
	return sql.Open("duckdb", fmt.Sprintf("%s?access_mode=%s&threads=%d", path, access, runtime.GOMAXPROCS(0)))
}

// hasMagic reports whether a file begins as all databases of DuckDB do: with a checksum of 8 bytes and the word DUCK.
func hasMagic(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	var head [12]byte
	if _, err := io.ReadFull(f, head[:]); err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return false, err
	}
	return string(head[8:]) == "DUCK", nil
}

func writeDuckDB(_ *Engine, file string, _ *Options) (*sql.DB, string, error) {
	db, err := duckDB(file, "READ_WRITE")
	return db, "", err
}

// openDuckDB opens a file for reading. As long as it is open no process can write to it, so its tables stay the same. The files that a
// view reads may change, however; package scan compares counts and checksums.
func openDuckDB(ctx context.Context, e *Engine, file string, o *Options) (scan.Conn, func() error, error) {
	db, err := duckDB(file, "READ_ONLY")
	if err != nil {
		return nil, nil, err
	}
	c := &conn{title: e.Dialect.Title, db: db, timeout: o.timeout()}
	_, closing, err := c.opened(ctx)
	if err != nil && strings.Contains(err.Error(), "version") {
		err = &diag.Error{Kind: diag.Data, File: file, Err: err, Expected: "a file of DuckDB 1.5 or older",
			Hint: "in the newer DuckDB: ATTACH 'old.duckdb' (STORAGE_VERSION 'v1.4.0'); COPY FROM DATABASE rows TO old; or write Parquet"}
	}
	return readingConn{c, &e.bytes}, closing, err
}

// readingConn counts the bytes that its statements read from files. DuckDB keeps what it read of its own file, and counts neither that nor
// Parquet files well itself.
type readingConn struct {
	*conn
	bytes *counter
}

func (c readingConn) Query(ctx context.Context, statement string, dest []any, each func() error) error {
	before := bytesRead()
	err := c.conn.Query(ctx, statement, dest, each)
	c.bytes.read.Add(bytesRead() - before)
	return err
}

// bytesRead returns the bytes that this process has read so far; 0 on systems without proc(5).
func bytesRead() (n int64) {
	text, err := os.ReadFile("/proc/self/io")
	if err == nil {
		fmt.Sscanf(string(text), "rchar: %d", &n)
	}
	return n
}
