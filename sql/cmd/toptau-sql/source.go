package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toptau/dataset"
	"toptau/diag"
	"toptau/internal/app/cli"
	"toptau/internal/app/cli/verbs"
	"toptau/internal/core/text"
	"toptau/internal/data/memory"
	"toptau/internal/models/dialect"
	"toptau/internal/training/rowset"
	"toptau/measure"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
	"toptau/sql/engine"
	"toptau/sql/scan"
)

// connectionFlags name the servers of a database.
type connectionFlags struct {
	DSNEnv         []string      `name:"dsn-env" xor:"dsn" sep:"none" placeholder:"NAME" help:"The environment variable with the connection string of a server; repeatable: each server has a part of the rows."`
	DSNFile        string        `name:"dsn-file" xor:"dsn" file:"in" placeholder:"FILE" help:"A file with the connection strings of servers, one a line. Lines that begin with # are comments."`
	Plain          bool          `group:"Connection" help:"Accept connections without encryption to other hosts."`
	MaxConnections int           `group:"Connection" name:"max-connections" placeholder:"N" help:"Run at most N statements at the same time (default: one on each server)."`
	Timeout        time.Duration `group:"Connection" default:"1h" placeholder:"TIME" help:"Cancel a statement after this time: 90s, 10m (default 1h)."`
}

// options returns how to connect to a kind of database, or to a file.
func (f *connectionFlags) options(kind, file string) (engine.Options, error) {
	o := engine.Options{Plain: f.Plain, Timeout: f.Timeout}
	switch {
	case f.MaxConnections < 0:
		return o, &diag.Error{Kind: diag.Usage, Param: "max-connections", Found: fmt.Sprint(f.MaxConnections), Expected: "at least 1"}
	case dialect.IsFile(kind) && file == "":
		return o, &diag.Error{Kind: diag.Usage, Found: kind + ": without a file", Expected: kind + ":FILE"}
	case f.Timeout <= 0:
		return o, &diag.Error{Kind: diag.Usage, Param: "timeout", Found: f.Timeout.String(), Expected: "a time above 0"}
	}
	var err error
	o.DSN, err = connections(file, f.DSNEnv, "dsn-env", f.DSNFile, "dsn-file")
	return o, err
}

// connections returns the connection strings of servers, or the file of a database without one.
func connections(file string, names []string, env, path, param string) ([]string, error) {
	if file == "" {
		return connectionStrings(names, env, path, param)
	}
	for _, p := range []struct {
		name string
		set  bool
	}{{env, len(names) > 0}, {param, path != ""}} {
		if p.set {
			return nil, &diag.Error{Kind: diag.Usage, Param: p.name, Found: "together with a file", Expected: "only one of the two", Hint: "a file has no connection string"}
		}
	}
	return []string{file}, nil
}

// connectionStrings reads connection strings from environment variables or from a file. No error contains them.
func connectionStrings(names []string, env, path, file string) (list []string, err error) {
	switch {
	case len(names) > 0:
		for _, name := range names {
			value := strings.TrimSpace(os.Getenv(name))
			switch {
			case value != "":
				list = append(list, value)
			case strings.ContainsAny(name, ":/=@ "): // it may be the connection string itself
				return nil, &diag.Error{Kind: diag.Usage, Param: env, Found: "a text that is no name", Expected: "the name of an environment variable",
					Hint: "other users can read command lines, so a connection string must not be on one"}
			default:
				return nil, &diag.Error{Kind: diag.Usage, Param: env, Found: diag.Quote(name) + ", a variable that is not set", Expected: "a variable with the connection string"}
			}
		}
		return list, nil
	case path == "":
		return nil, &diag.Error{Kind: diag.Usage, Param: env, Expected: "the connection",
			Fixes: []diag.Fix{{Param: env, Value: "NAME"}, {Param: file, Value: "FILE"}}}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, &diag.Error{Kind: diag.IO, File: path, Err: err}
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o007 != 0 {
		return nil, &diag.Error{Kind: diag.Usage, Param: file, Found: diag.Quote(path) + ", which every user may read", Expected: "a file of your own",
			Hint: "chmod 600 " + path}
	}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, &diag.Error{Kind: diag.IO, File: path, Err: err}
	}
	if len(list) == 0 {
		return nil, &diag.Error{Kind: diag.Usage, Param: file, Found: diag.Quote(path) + ", which has none", Expected: "a connection string on each line"}
	}
	return list, nil
}

// tableFlags name the rows.
type tableFlags struct {
	Table    string `required:"" placeholder:"NAME" help:"The table or view, perhaps with its schema: public.flows. A part of the name with a dot is in double quotes."`
	Key      string `placeholder:"COL" help:"A column with a different value in each row: whole numbers or texts."`
	WhereSQL string `group:"Table" name:"where-sql" placeholder:"SQL" help:"Only rows for which this condition holds, in the database's SQL. It is put into parentheses, not checked, and recorded in the model."`
}

// path returns the parts of the table's name.
func (f *tableFlags) path() ([]string, error) { return parseTable("table", f.Table) }

// parseTable divides a name at its dots. A part in double quotes may contain any character; a quote in it is doubled.
func parseTable(param, name string) (parts []string, err error) {
	wrong := func(found string) error {
		return &diag.Error{Kind: diag.Usage, Param: param, Found: diag.Quote(name) + ", " + found, Expected: `a name like flows, public.flows or public."my flows"`}
	}
	for rest := name; ; rest = rest[1:] {
		var part string
		if strings.HasPrefix(rest, `"`) {
			var b strings.Builder
			i := 1
			for ; ; i++ {
				if i >= len(rest) {
					return nil, wrong("in which a quote is not closed")
				}
				if rest[i] == '"' {
					if i+1 >= len(rest) || rest[i+1] != '"' {
						break
					}
					i++
				}
				b.WriteByte(rest[i])
			}
			part, rest = b.String(), rest[i+1:]
		} else {
			i := strings.IndexByte(rest, '.')
			if i < 0 {
				i = len(rest)
			}
			part, rest = rest[:i], rest[i:]
		}
		if part == "" {
			return nil, wrong("in which a part is empty")
		}
		parts = append(parts, part)
		if rest == "" {
			return parts, nil
		}
		if rest[0] != '.' {
			return nil, wrong("in which a quoted part does not end at a dot")
		}
	}
}

// roleFlags give columns their roles. verbs.Options describes them.
type roleFlags struct {
	Label       string
	Positive    []string
	Drop        []string
	Categorical []string
	Weight      string
	Group       string
}

// source names labelled rows in a database. It is a verbs.Source.
type source struct {
	Database string `arg:"" name:"data" help:"The kind of database: postgres:, clickhouse:, trino: or spark:, or duckdb:FILE."`
	tableFlags
	connectionFlags
	roleFlags
	Copy    bool `group:"Table" xor:"copy" help:"Read all rows into memory, also of a table with more than 200,000, so that a fit is that of a file of the same rows. Prints first how many bytes that takes."`
	InPlace bool `group:"Table" name:"in-place" xor:"copy" help:"Copy no table, not even a small one. Samples have at most a quarter of the rows, besides the positives."`
	DryRun  bool `name:"dry-run" help:"Read no rows: print the statements with the database's plan for them, and how many scans to expect."`
}

// kindOf returns the dialect of DATA, and the file if the database is one: a path is no secret. An error does not repeat what may be a connection string.
func kindOf(data string) (kind, file string, err error) {
	name, rest, found := strings.Cut(data, ":")
	list := strings.Join(engine.Names(), ":, ") + ":"
	switch {
	case dialect.IsFile(name) && slices.Contains(dialect.Readers(), name) && found:
		return name, rest, nil
	case found && rest != "" && slices.Contains(append(dialect.Readers(), "postgresql"), name):
		return "", "", &diag.Error{Kind: diag.Usage, Found: name + ": with a connection string", Expected: name + ": alone",
			Hint:  "other users can read command lines, so the connection string comes from an environment variable or a file",
			Fixes: []diag.Fix{{Param: "dsn-env", Value: "NAME"}, {Param: "dsn-file", Value: "FILE"}}}
	case !found:
		return "", "", &diag.Error{Kind: diag.Usage, Found: "DATA without a colon", Expected: "one of " + list, Hint: "toptau reads files"}
	}
	if !slices.Contains(dialect.Readers(), name) {
		return "", "", &diag.Error{Kind: diag.Usage, Found: "an unknown kind of database", Expected: "one of " + list}
	}
	return name, "", nil
}

// measured names the model and the rows of evaluate. It is a verbs.EntrySource.
type measured struct {
	Model string `file:"in" arg:"" help:"A model file."`
	source
}

// Entries loads the model.
func (f measured) Entries(_ *cli.Session, signed verbs.VerifyFlags, _ *measure.Options) ([]dataset.Entry, error) {
	m, err := signed.Load(f.Model)
	return []dataset.Entry{{Name: strings.TrimSuffix(filepath.Base(f.Model), ".json"), Model: m}}, err
}

// certified names the rows of verify and the certificate. It is a verbs.CertifiedSource.
type certified struct {
	source
	Certificate string `file:"in" arg:"" help:"The file that fit --certificate wrote."`
}

// CertificateFile returns the name of the certificate.
func (f certified) CertificateFile() (string, error) { return f.Certificate, nil }

// Named returns that rows were named: the flag parser requires it.
func (f source) Named() verbs.Named { return verbs.Named{Given: true} }

// rows is an open table.
type rows struct {
	data    *dataset.Data
	scanned *scan.Rows
	engine  *engine.Engine
	watcher *watcher
	table   string
	key     string
	started time.Time
	asked   *result.Database // set by Finish

	keyCheck scan.KeyCheck
	refused  error // why the key was not checked
}

// openEngine connects. Tests replace it.
var openEngine = engine.Open

// errPlanShown ends a dry run.
var errPlanShown = &cli.Exit{Reason: "the plan was printed"}

// Open connects to the database and reads what its catalogue and the statistics of the columns say. With --dry-run it prints the plan.
func (f source) Open(s *cli.Session, use verbs.Use) (verbs.Rows, error) {
	var m *model.Model
	if len(use.Models) > 0 {
		m = use.Models[0]
	}
	e := plans[use.Verb]
	if f.DryRun {
		if err := f.plan(s, m, e); err != nil {
			return nil, err
		}
		return nil, errPlanShown
	}
	r, err := f.open(s, m)
	if err != nil {
		return nil, err
	}
	if e.encodes {
		err = r.refuseMissing(use.Impute)
	}
	if err == nil && e.key {
		err = r.checkKey(s)
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (f *source) open(s *cli.Session, m *model.Model) (*rows, error) {
	started := time.Now()
	kind, file, err := kindOf(f.Database)
	if err != nil {
		return nil, err
	}
	t, err := f.scanTable(m)
	if err != nil {
		return nil, err
	}
	o, err := f.options(kind, file)
	if err != nil {
		return nil, err
	}
	s.Progress.Start()
	s.Progress.Show(-1, "connecting")
	e, err := openEngine(s, kind, o)
	if err != nil {
		return nil, err
	}
	w := watch(s, e, f.MaxConnections)
	t.Away = noteLost(s)
	r, err := scan.Open(s, e.Dialect, e.Shards, t)
	if err != nil {
		e.Close()
		return nil, err
	}
	for _, w := range r.Notes() {
		s.PrintError("note: " + w.Text)
	}
	d, err := rowset.OfDatabase(s, r)
	if err == nil && f.Copy {
		err = announceCopy(s, r)
	}
	if err != nil {
		e.Close()
		return nil, err
	}
	return &rows{data: rowset.Wrap(d).(*dataset.Data), scanned: r, engine: e, watcher: w, table: f.Table, key: f.Key, started: started}, nil
}

// announceCopy prints what copying the rows takes, and fails if that is more than half of the free memory.
func announceCopy(s *cli.Session, r *scan.Rows) error {
	bytes, most := r.Bytes(), memory.ForRows(0)
	if bytes > most {
		return &diag.Error{Kind: diag.Usage, Param: "copy", Found: "rows that take about " + byteText(bytes), Expected: "at most half of the free memory, " + byteText(most),
			Hint: "without copy the rows stay in the database"}
	}
	s.PrintError("note: copies all rows into memory, about " + byteText(bytes))
	return nil
}

// noteLost prints that a server was lost, and when it is asked again.
func noteLost(s *cli.Session) func(pause time.Duration) {
	return func(pause time.Duration) {
		s.PrintError("note: the connection to the server was lost; the next attempt is in " + pause.String())
	}
}

// scanTable returns the table with the roles of its columns. A model provides the label that it was trained with.
func (f *source) scanTable(m *model.Model) (scan.Table, error) {
	path, err := f.path()
	if err != nil {
		return scan.Table{}, err
	}
	t := scan.Table{Name: path, Key: f.Key, Label: f.Label, Positive: f.Positive, Weight: f.Weight, Group: f.Group, Drop: f.Drop, Categorical: f.Categorical,
		Where: f.WhereSQL}
	switch {
	case f.Copy:
		t.Copy = scan.CopyAll
	case f.InPlace:
		t.Copy = scan.CopyNone
	}
	if m != nil {
		trained := m.Schema()
		t.Trained, t.Again = &trained, t.Positive != nil
		if trained.Label != nil {
			t.Label = cmp.Or(t.Label, trained.Label.Name)
		}
		if t.Positive == nil {
			t.Positive = trained.Positive
		}
		t.Columns = []string{}
		for _, c := range trained.Columns {
			t.Columns = append(t.Columns, c.Name)
			if c.Kind == schema.Categorical {
				t.Categorical = append(t.Categorical, c.Name)
			}
		}
	}
	missing := func(param, expected string) error {
		return &diag.Error{Kind: diag.Usage, Param: param, Expected: expected}
	}
	switch {
	case t.Label == "":
		return t, missing("label", "the column of the label")
	case t.Key == "":
		return t, missing("key", "a column with a different value in each row")
	}
	return t, nil
}

// checkKey fails if several rows have the same key. Models that are made or verified row by row need it.
func (c *rows) checkKey(s *cli.Session) (err error) {
	c.watcher.at("checking the key", 0)
	c.keyCheck, c.refused, err = c.scanned.CheckKey(s)
	return err
}

// printKey prints how it is known that the key differs in every row.
func (c *rows) printKey(s *cli.Session) {
	each := ""
	if len(c.engine.Shards) > 1 {
		each = " on each server"
	}
	switch c.keyCheck {
	case scan.KeyIndex:
		s.Printf("  key %s: a unique index keeps it different in every row%s\n", c.key, each)
	case scan.KeyCounted:
		s.Printf("  key %s: counted, it differs in every row%s\n", c.key, each)
	case scan.KeyUnchecked:
		s.Printf("  key %s: not checked for repeated values: %v\n", c.key, c.refused)
	}
}

// refuseMissing fails if a column has missing values and there is no policy for them.
func (c *rows) refuseMissing(policy schema.Impute) error {
	if policy != "" && policy != schema.ImputeError {
		return nil
	}
	for _, column := range c.scanned.Columns() {
		if column.Missing > 0 {
			return &diag.Error{Kind: diag.Data, File: c.table, Column: column.Name, Found: text.Plural(column.Missing, "missing value"), Expected: "a value in every row",
				Fixes: []diag.Fix{{Param: "impute", Value: string(schema.ImputeMedian)}, {Param: "impute", Value: string(schema.ImputeIndicator)}}}
		}
	}
	return nil
}

// lastCheck is the time that the last statement may take after an interruption.
const lastCheck = time.Minute

// Data returns the rows for the library.
func (c *rows) Data() *dataset.Data { return c.data }

// Part refuses a file: all rows are in the table.
func (c *rows) Part(_ *cli.Session, path string) (*dataset.Data, error) {
	if path == "" {
		return nil, nil
	}
	return nil, &diag.Error{Kind: diag.Usage, Found: diag.Quote(path) + " with a table", Expected: "all rows in the table"}
}

// Show shows the progress of the library next to that of the statements.
func (c *rows) Show(now result.Progress) { c.watcher.at(now.Stage, now.Fraction) }

// Close closes the connections.
func (c *rows) Close() { c.engine.Close() }

// Finish checks that the rows are still those of the beginning, ends the display of progress, and returns what was asked of
// the database.
func (c *rows) Finish(s *cli.Session) (*result.Database, error) {
	var ctx context.Context = s
	if ctx.Err() != nil { // a result of an interrupted run is about the same rows, too
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastCheck)
		defer cancel()
		ctx = last
	}
	if err := c.scanned.Check(ctx); err != nil {
		return nil, err
	}
	s.Progress.Clear()
	t := c.scanned.Traffic()
	received, sent := c.engine.Bytes()
	r := &result.Database{Engine: c.engine.Dialect.Name, Table: c.table, Servers: len(c.engine.Shards), Statements: t.Statements, Scans: t.Scans,
		Lookups: t.Lookups, Rows: t.Rows, Scores: t.Scores, Received: received, Sent: sent, Read: c.engine.BytesRead(), SecondsWaiting: t.Waiting.Seconds(), KeyCheck: string(c.keyCheck)}
	r.SecondsOwn = max(0, time.Since(c.started).Seconds()-r.SecondsWaiting)
	c.asked = r
	return r, nil
}

// Print prints what was asked of the database.
func (c *rows) Print(s *cli.Session) {
	r, servers := c.asked, ""
	if r.Servers > 1 {
		servers = fmt.Sprintf(" on %d servers", r.Servers)
	}
	s.Printf("database: %s%s, %s: %s of all rows, %s of single rows\n", r.Engine, servers, text.Plural(r.Statements, "statement"),
		text.Plural(r.Scans, "scan"), text.Plural(r.Lookups, "lookup"))
	bytes := ", " + byteText(r.Received) + " received, " + byteText(r.Sent) + " sent"
	if c.engine.Dialect.File {
		bytes = "" // it reads files in this process
		if r.Read > 0 {
			bytes = ", it read " + byteText(r.Read) + " from files"
		}
	}
	left := text.Plural(r.Rows, "row")
	if r.Scores > 0 {
		left += " and " + text.Plural(r.Scores, "score")
	}
	s.Printf("  %.2f s in the database, %.2f s here; %s left it%s\n", r.SecondsWaiting, r.SecondsOwn, left, bytes)
	c.printKey(s)
}

// byteText returns a number of bytes with its unit: "0.31 MB".
func byteText(n int64) string { return text.Number(float64(n)/1e6) + " MB" }
