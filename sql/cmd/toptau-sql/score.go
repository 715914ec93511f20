package main

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"toptau/diag"
	"toptau/internal/app/cli"
	"toptau/internal/app/cli/verbs"
	"toptau/internal/core/text"
	"toptau/internal/models/dialect"
	export "toptau/internal/models/export/sql"
	"toptau/internal/models/portable"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
	"toptau/score"
	"toptau/sql/engine"
	"toptau/sql/scan"
)

// scoreCommand lets the database score the rows of a table.
type scoreCommand struct {
	Model string `file:"in" arg:"" help:"A model file."`
	Data  string `arg:"" help:"The kind of database: postgres:, clickhouse:, trino: or spark:, or duckdb:FILE."`
	tableFlags
	Keep        []string       `group:"Table" placeholder:"COLS" help:"Columns to pass through, besides the key; repeatable."`
	At          string         `placeholder:"NAME" help:"The operating point of the decision column (default: the model's first)."`
	OnError     schema.BadRows `name:"on-error" placeholder:"stop|skip|empty" help:"A row that has no score: stop, skip it, or write it without a score (default stop)."`
	Output      string         `file:"rows" xor:"write" short:"o" placeholder:"FILE" help:"Write the scored rows here instead of standard output, as a Parquet file if the name ends in .parquet."`
	Print       bool           `xor:"write" help:"Print the statement that scores the rows, and do not connect."`
	Into        string         `xor:"write" placeholder:"TABLE" help:"Let the database write the scored rows to this new table. No row leaves it, and nothing else in toptau-sql writes to a database."`
	IntoDSNEnv  []string       `group:"Connection" name:"into-dsn-env" xor:"into-dsn" needs:"into" sep:"none" placeholder:"NAME" help:"With --into: the environment variable with the connection string of a role that may create the table; repeatable (default: that of the rows)."`
	IntoDSNFile string         `group:"Connection" name:"into-dsn-file" xor:"into-dsn" needs:"into" file:"in" placeholder:"FILE" help:"With --into: a file with these connection strings, one a line."`
	connectionFlags
	verbs.VerifyFlags
}

func (c *scoreCommand) Run(s *cli.Session) error {
	kind, file, err := kindOf(c.Data)
	if err != nil {
		return err
	}
	m, err := c.Load(c.Model)
	if err != nil {
		return err
	}
	if c.At != "" {
		if m, err = m.WithDefault(c.At); err != nil {
			if e := diag.Of(err); e != nil {
				named := *e
				named.Param, named.Found = "at", diag.Quote(c.At)
				err = &named
			}
			return err
		}
	}
	d, err := dialect.ByName(kind)
	if err != nil {
		return err
	}
	scored, err := c.statement(d, m)
	if err != nil {
		return err
	}
	switch {
	case c.Print:
		return scored.print(s)
	case c.Into != "":
		return c.into(s, kind, file, d, scored)
	}
	o, err := c.options(kind, file)
	if err != nil {
		return err
	}
	s.Progress.Start()
	s.Progress.Show(-1, "connecting")
	e, err := openEngine(s, kind, o)
	if err != nil {
		return err
	}
	defer e.Close()
	if err := scored.check(s, d, e.Shards[0].Query); err != nil {
		return err
	}
	return s.WriteFile(cmp.Or(c.Output, "-"), func(out io.Writer) error { return c.stream(s, e, scored, out) })
}

// scoring is the statement that scores rows.
type scoring struct {
	statement string                                               // without a semicolon
	write     func(from string, booleans []string) (string, error) // writes it for a table with parts of times, and columns of true and false
	keys      []string                                             // names of the columns before the score
	points    []string                                             // names of the operating points, in the order of the columns after it
	path      []string                                             // of the table that is read
	where     string                                               // the condition of its rows
	columns   []string                                             // that are read
	compile   bool                                                 // compiling the statement pays for many rows
}

// asks runs a statement that only reads.
type asks func(ctx context.Context, statement string, dest []any, each func() error) error

// check fails if the table, or a column that is read, is not there. The names of both are clearer than the error of a long statement.
// The statement is written again for the types of the columns.
func (c *scoring) check(ctx context.Context, d *dialect.Dialect, ask asks) error {
	catalogue, err := scan.ReadCatalogue(ctx, d, ask, c.path, c.columns)
	there := catalogue.Names()
	switch {
	case err != nil:
		return err
	case len(there) == 0:
		return &diag.Error{Kind: diag.Usage, Param: "table", Found: diag.Quote(strings.Join(c.path, ".")), Expected: "a table that the role may read"}
	}
	for _, column := range c.columns {
		if slices.Contains(there, column) {
			continue
		}
		e := &diag.Error{Kind: diag.Usage, Param: "table", Found: diag.Quote(strings.Join(c.path, ".")) + " without a column " + diag.Quote(column),
			Expected: "the key, and the columns that the model reads"}
		if near := text.Nearest(column, there); near != "" {
			e.Hint = "the nearest name is " + diag.Quote(near)
		}
		return e
	}
	if err := scan.CheckWhere(ctx, d, ask, c.path, c.where); err != nil {
		return err
	}
	c.statement, err = c.write(catalogue.From(c.columns), catalogue.Booleans())
	return err
}

// statement returns the SELECT of the scores.
func (c *scoreCommand) statement(d *dialect.Dialect, m *model.Model) (*scoring, error) {
	path, err := c.path()
	if err != nil {
		return nil, err
	}
	p, err := portable.Of(m)
	if err != nil {
		return nil, err
	}
	where := ")"
	if c.WhereSQL != "" {
		where = " WHERE (" + c.WhereSQL + "\n))" // a comment in the condition ends with its line
	}
	keep := c.Keep
	if c.Key != "" {
		keep = append([]string{c.Key}, keep...)
	}
	if keep == nil {
		keep = m.Schema().ID
	}
	if keep == nil {
		return nil, &diag.Error{Kind: diag.Usage, Param: "key", Expected: "a column that says which row a score belongs to"}
	}
	out := &scoring{keys: keep, path: path, where: c.WhereSQL, compile: scan.Compiles(p)}
	out.write = func(from string, booleans []string) (string, error) {
		var b bytes.Buffer
		err := export.Write(&b, p, export.Options{Dialect: d.Name, From: "(SELECT * FROM " + from + where, Keep: keep, Booleans: booleans})
		return strings.TrimSuffix(b.String(), ";\n"), err
	}
	if out.statement, err = out.write(d.Path(path), nil); err != nil {
		return nil, err
	}
	for i := range p.Points {
		out.points = append(out.points, p.Points[i].Name)
	}
	out.columns = append(slices.Clone(keep), p.Segments()...)
	for k := range p.Inputs {
		out.columns = append(out.columns, p.Inputs[k].Name)
	}
	return out, nil
}

func (c *scoring) print(s *cli.Session) error {
	if s.JSON {
		return s.Emit(struct {
			SchemaVersion result.Version `json:"schema_version"`
			Statement     string         `json:"statement"`
		}{result.Version{}, c.statement})
	}
	s.Stdout.WriteString(c.statement + ";\n") // Printf would escape its lines
	return nil
}

// stream writes the rows that the servers score, server by server.
func (c *scoreCommand) stream(s *cli.Session, e *engine.Engine, scored *scoring, out io.Writer) error {
	w := verbs.NewRowWriter(out, c.Output, s.JSON, verbs.ExtraColumns{Errors: c.OnError == schema.EmptyBadRows})
	if err := w.Begin(&score.Stream{ID: scored.keys, Points: scored.points}); err != nil {
		return err
	}
	keys := make([]sql.NullString, len(scored.keys))
	var score sql.NullFloat64
	decisions := make([]sql.NullBool, len(scored.points))
	var dest []any
	for i := range keys {
		dest = append(dest, &keys[i])
	}
	dest = append(dest, &score)
	for i := range decisions {
		dest = append(dest, &decisions[i])
	}
	row := result.Row{ID: make([]string, len(keys)), Decisions: make([]bool, len(decisions))}
	failed := 0
	each := func() error {
		row.Number++
		for i := range keys {
			row.ID[i] = keys[i].String
		}
		for i := range decisions {
			row.Decisions[i] = decisions[i].Bool
		}
		row.Score, row.Err = score.Float64, nil
		if !score.Valid {
			row.Err = noScore(row.ID)
			failed++
			switch c.OnError {
			case schema.SkipBadRows:
				return nil
			case schema.EmptyBadRows:
			default:
				return row.Err
			}
		}
		if row.Number%1024 == 0 {
			s.Progress.Show(-1, "%s rows scored", text.Count(row.Number))
		}
		return w.Write(&row)
	}
	statement := scored.statement
	if e.Dialect.Texts != nil {
		statement = e.Dialect.Texts(statement, scored.keys)
	}
	for _, shard := range e.Shards {
		err := shard.Compile(s, scored.compile) // if the database expects many rows
		if err == nil {
			err = shard.Query(s, statement, dest, each)
		}
		if err != nil {
			w.End()
			return err
		}
	}
	s.Progress.Clear()
	if failed > 0 {
		s.PrintError("note: " + text.Plural(failed, "row") + " without a score")
	}
	return w.End()
}

// noScore is the error for a row that the model refuses.
func noScore(key []string) error {
	return &diag.Error{Kind: diag.Data, Found: fmt.Sprintf("no score for the row with the key %s", diag.Quote(strings.Join(key, ", "))),
		Expected: "a value in each column that the model reads, finite and in the range of the training rows' type",
		Fixes:    []diag.Fix{{Param: "on-error", Value: "empty"}, {Param: "on-error", Value: "skip"}}}
}

// into lets each server write the scores of its rows to a new table. All servers get it, or none.
func (c *scoreCommand) into(s *cli.Session, kind, file string, d *dialect.Dialect, scored *scoring) error {
	started := time.Now()
	path, err := parseTable("into", c.Into)
	if err != nil {
		return err
	}
	o, err := c.options(kind, file)
	if len(c.IntoDSNEnv) > 0 || c.IntoDSNFile != "" {
		var list []string
		if list, err = connections(file, c.IntoDSNEnv, "into-dsn-env", c.IntoDSNFile, "into-dsn-file"); err == nil {
			o.DSN = list
		}
	}
	if err != nil {
		return err
	}
	s.Progress.Start()
	s.Progress.Show(-1, "the database scores the rows and writes them")
	servers, err := openWriters(s, kind, o)
	if err != nil {
		return err
	}
	defer func() {
		for _, server := range servers {
			server.Close()
		}
	}()
	t := &intoTable{dialect: d, path: path, servers: servers, onError: c.OnError, away: noteLost(s)}
	if err := t.again(s, servers[0], func(bool) error { return scored.check(s, d, servers[0].Query) }); err != nil {
		return err
	}
	r, err := t.write(s, scored)
	s.Progress.Clear()
	if err != nil {
		return err
	}
	r.Database = &result.Database{Engine: kind, Table: c.Table, Servers: len(servers), Statements: t.statements, Scans: len(servers),
		SecondsWaiting: time.Since(started).Seconds()}
	if s.JSON {
		return s.Emit(r)
	}
	s.Printf("%s: %s with scores\n", c.Into, text.Plural(r.Rows, "row"))
	for i, name := range r.Points {
		s.Printf("  %s at operating point %q\n", text.Plural(r.Positives[i], "alert"), name)
	}
	if r.Failed > 0 {
		s.Printf("  %s without a score\n", text.Plural(r.Failed, "row"))
	}
	s.Printf("  %.2f s; no row left the database\n", r.Database.SecondsWaiting)
	return nil
}

// openWriters connects with the right to write. Tests replace it.
var openWriters = engine.OpenWriters

// intoTable is a table that servers write.
type intoTable struct {
	dialect    *dialect.Dialect
	path       []string
	servers    []*engine.Writer
	onError    schema.BadRows
	away       func(pause time.Duration)
	statements int
}

// run runs a statement on a server.
func (t *intoTable) run(ctx context.Context, server *engine.Writer, statement string) error {
	t.statements++
	return server.Exec(ctx, statement)
}

// again does some work on a server, and again if the server was lost and is back.
func (t *intoTable) again(ctx context.Context, server *engine.Writer, work func(repeated bool) error) error {
	return scan.Again(ctx, t.dialect.Title, server.Lost, t.away, func(attempt int) error {
		if attempt > 0 {
			if err := server.Reconnect(ctx); err != nil {
				return err
			}
		}
		return work(attempt > 0)
	})
}

// write creates the table on all servers, and removes it from all if one of them fails.
func (t *intoTable) write(ctx context.Context, scored *scoring) (r *result.Scoring, err error) {
	made := t.path
	if t.renames() {
		made = append(append([]string{}, t.path[:len(t.path)-1]...), t.path[len(t.path)-1]+"_toptau_"+strconv.FormatInt(time.Now().UnixNano(), 36))
	}
	defer func() {
		if err != nil {
			t.undo(made)
		}
	}()
	counts := make([][]int64, len(t.servers))
	for k, server := range t.servers {
		err := t.again(ctx, server, func(repeated bool) (err error) {
			if repeated && t.renames() { // what the lost connection left
				if err := t.run(ctx, server, "DROP TABLE IF EXISTS "+t.dialect.Path(made)); err != nil {
					return err
				}
			}
			counts[k], err = t.create(ctx, server, made, scored)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if r = t.sum(scored, counts); r.Failed > 0 && t.onError != schema.EmptyBadRows {
		return nil, &diag.Error{Kind: diag.Data, Found: text.Plural(r.Failed, "row") + " without a score",
			Expected: "a value in each column that the model reads, finite and in the range of the training rows' type", Hint: "no table was written",
			Fixes: []diag.Fix{{Param: "on-error", Value: "empty"}, {Param: "on-error", Value: "skip"}}}
	}
	for k, server := range t.servers {
		err := t.again(ctx, server, func(repeated bool) error {
			if repeated {
				if done, err := t.exists(ctx, server); done || err != nil { // the answer was lost, not the work
					return err
				}
				if !t.renames() { // the transaction ended with its connection
					var err error
					if counts[k], err = t.create(ctx, server, made, scored); err != nil {
						return err
					}
				}
			}
			return t.complete(ctx, server, made)
		})
		if err != nil {
			return nil, err
		}
	}
	return t.sum(scored, counts), nil
}

// renames reports whether the table gets its name when it is complete. Elsewhere it appears with the end of a transaction.
func (t *intoTable) renames() bool { return t.dialect.Creates.Rename != "" }

// create creates the table on a server, and counts its rows.
func (t *intoTable) create(ctx context.Context, server *engine.Writer, made []string, scored *scoring) ([]int64, error) {
	if begin := t.dialect.Creates.Begin; begin != "" {
		if err := t.run(ctx, server, begin); err != nil {
			return nil, err
		}
	}
	if t.renames() { // a name that is taken is found before the work
		if taken, err := t.exists(ctx, server); err != nil {
			return nil, err
		} else if taken {
			return nil, &diag.Error{Kind: diag.Usage, Param: "into", Found: diag.Quote(strings.Join(t.path, ".")) + ", a table that exists", Expected: "a new name", Hint: "nothing was changed"}
		}
	}
	statement := scored.statement
	if t.onError == schema.SkipBadRows {
		statement = "SELECT * FROM (" + statement + "\n) AS toptau_scored WHERE " + t.dialect.Quote("score") + " IS NOT NULL"
	}
	if err := t.run(ctx, server, fmt.Sprintf(t.dialect.Creates.Table, t.dialect.Path(made), statement)); err != nil {
		return nil, err
	}
	return t.count(ctx, server, made, scored)
}

// complete gives the table of a server its name.
func (t *intoTable) complete(ctx context.Context, server *engine.Writer, made []string) error {
	last := t.dialect.Creates.End
	if t.renames() {
		path := t.path
		if n := t.dialect.Creates.Parts; n > 0 {
			path = path[max(0, len(path)-n):]
		}
		last = fmt.Sprintf(t.dialect.Creates.Rename, t.dialect.Path(made), t.dialect.Path(path))
	}
	return t.run(ctx, server, last)
}

// sum adds the counts of the servers.
func (t *intoTable) sum(scored *scoring, counts [][]int64) *result.Scoring {
	r := &result.Scoring{Points: scored.points, Positives: make([]int, len(scored.points))}
	for _, n := range counts {
		r.Rows += int(n[0])
		r.Failed += int(n[0] - n[1])
		for i := range r.Positives {
			r.Positives[i] += int(n[2+i])
		}
	}
	return r
}

// count counts the rows of a server's new table, those with a score, and those of each decision. Its columns are keys, score, decisions.
func (t *intoTable) count(ctx context.Context, server *engine.Writer, made []string, scored *scoring) ([]int64, error) {
	d := t.dialect
	columns, err := server.Columns(ctx, "SELECT * FROM "+d.Path(made)+" WHERE 1 = 0")
	if err != nil {
		return nil, err
	}
	if len(columns) != len(scored.keys)+1+len(scored.points) {
		return nil, &diag.Error{Kind: diag.IO, Found: fmt.Sprintf("a new table of %d columns", len(columns)), Expected: fmt.Sprint(len(scored.keys) + 1 + len(scored.points))}
	}
	score, decisions := columns[len(scored.keys)], columns[len(scored.keys)+1:]
	counts := make([]int64, 2+len(decisions))
	list := []string{"count(*)", "count(" + d.Quote(score) + ")"}
	for _, name := range decisions {
		list = append(list, "count(CASE WHEN "+d.Quote(name)+" THEN 1 END)")
	}
	dest := make([]any, len(counts))
	for i := range counts {
		dest[i] = &counts[i]
	}
	t.statements++
	err = server.Query(ctx, "SELECT "+strings.Join(list, ", ")+" FROM "+d.Path(made), dest, func() error { return nil })
	return counts, err
}

// exists reports whether there is a table of the name.
func (t *intoTable) exists(ctx context.Context, server *engine.Writer) (bool, error) {
	var name, kind string
	found := errors.New("found")
	err := server.Query(ctx, t.dialect.Columns(t.dialect, t.path), []any{&name, &kind}, func() error { return found })
	if errors.Is(err, found) {
		return true, nil
	}
	return false, err
}

// undoTime is the time that removing an unfinished table may take.
const undoTime = 20 * time.Second

// undo removes what is there of a table, on all servers. It also works after an interruption.
func (t *intoTable) undo(made []string) {
	ctx, cancel := context.WithTimeout(context.Background(), undoTime)
	defer cancel()
	statement := t.dialect.Creates.Undo
	if t.dialect.Creates.Rename != "" {
		statement = "DROP TABLE IF EXISTS " + t.dialect.Path(made)
	}
	for _, server := range t.servers {
		server.Exec(ctx, statement) // the error of the work is reported, not this one
	}
}
