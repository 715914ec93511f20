package main

import (
	"context"
	"errors"
	"strings"

	"toptau/internal/app/cli"
	"toptau/internal/models/dialect"
	"toptau/model"
	"toptau/result"
	"toptau/sql/scan"
)

// expected is about how many statements a verb needs, and how many of them read all rows, as measured with the examples of
// docs/results/sql.md. What a fit needs depends on the data. A small table is one of at most large.DefaultSample rows.
type expected struct {
	Statements, Scans string
	encodes           bool // missing values need a policy
	key               bool // the key must differ in every row, which is checked
}

// plans has what each verb needs.
var plans = map[string]expected{
	"fit":       {"12 to 25 (small table: 5)", "8 to 15 (small table: 3 or 4)", true, true},
	"train":     {"40 to 90 (small table: 4)", "30 to 80 (small table: 2 to 5)", true, true},
	"evaluate":  {"6", "5 or 6", false, false},
	"threshold": {"6", "5 or 6", false, false},
	"verify":    {"6 to 10", "4 to 8", false, true},
	"diagnose":  {"20 to 60 (small table: 5)", "15 to 50 (small table: 3 or 4)", true, false},
}

// planned is what --dry-run prints.
type planned struct {
	SchemaVersion result.Version `json:"schema_version"`
	Statements    string         `json:"statements"` // about
	Scans         string         `json:"scans"`      // about; those of the statements that read all rows
	Catalogue     string         `json:"catalogue"`  // the statement that lists the columns; it was run
	Scan          string         `json:"scan"`       // the first statement that would read the rows; it was not run
	Plan          []string       `json:"plan"`       // the database's plan for it, by lines; empty: none can be had
	NoPlan        string         `json:"no_plan,omitempty"`
	KeyCheck      scan.KeyCheck  `json:"key_check,omitempty"` // how the verb will know that the key differs in every row: index or counted
}

// plan prints what a verb would ask the first server. It reads the catalogue and no row.
func (f *source) plan(s *cli.Session, m *model.Model, e expected) error {
	kind, file, err := kindOf(f.Database)
	if err != nil {
		return err
	}
	t, err := f.scanTable(m)
	if err != nil {
		return err
	}
	o, err := f.options(kind, file)
	if err != nil {
		return err
	}
	database, err := openEngine(s, kind, o)
	if err != nil {
		return err
	}
	defer database.Close()
	d := database.Dialect
	p := &planner{Conn: database.Shards[0], catalogue: d.Columns(d, t.Name)}
	if _, err := scan.Open(s, d, []scan.Conn{p}, t); !errors.Is(err, errPlanned) {
		return err // of the catalogue: a wrong name, for example
	}
	out := planned{Statements: e.Statements, Scans: e.Scans, Catalogue: p.catalogue, Scan: p.scan, Plan: []string{}}
	if err := out.explain(s, d, database.Shards[0]); err != nil {
		out.NoPlan = err.Error()
	}
	if e.key {
		out.KeyCheck = scan.KeyCounted
		unique, err := scan.UniqueKey(s, d, database.Shards[0], t)
		if err != nil {
			return err
		}
		if unique {
			out.KeyCheck = scan.KeyIndex
		}
	}
	if s.JSON {
		return s.Emit(out)
	}
	s.Printf("-- read by this dry run: the columns\n")
	s.Stdout.WriteString(out.Catalogue + ";\n\n") // Printf would escape line breaks
	switch out.KeyCheck {
	case scan.KeyIndex:
		s.Printf("-- the key %s: a unique index keeps it different in every row\n\n", t.Key)
	case scan.KeyCounted:
		s.Printf("-- the key %s: the catalogue shows no unique index, so one more scan will group the rows by it and count repeated values\n\n", t.Key)
	}
	s.Printf("-- the first of about %s scans of all rows, among about %s statements to each server; the others read the same rows and columns\n", e.Scans, e.Statements)
	s.Stdout.WriteString(out.Scan + ";\n\n")
	if out.NoPlan != "" {
		s.Printf("-- the database has no plan for it: %s\n", out.NoPlan)
		return nil
	}
	s.Printf("-- the database's plan for it; this is the cost of one scan\n")
	for _, line := range out.Plan {
		s.Printf("%s\n", line)
	}
	return nil
}

// explain asks the database for its plan.
func (p *planned) explain(ctx context.Context, d *dialect.Dialect, conn scan.Conn) error {
	columns := make([]string, d.PlanColumn+1)
	dest := make([]any, len(columns))
	for i := range columns {
		dest[i] = &columns[i]
	}
	return conn.Query(ctx, d.Explain(p.Scan), dest, func() error {
		p.Plan = append(p.Plan, strings.Split(strings.TrimRight(columns[d.PlanColumn], "\n"), "\n")...)
		return nil
	})
}

// errPlanned ends the preparation of rows at the first statement that would read them.
var errPlanned = errors.New("a dry run reads no rows")

// planner runs the statement that lists columns, and keeps the next one.
type planner struct {
	scan.Conn
	catalogue, scan string
}

func (p *planner) Query(ctx context.Context, statement string, dest []any, each func() error) error {
	if statement == p.catalogue {
		return p.Conn.Query(ctx, statement, dest, each)
	}
	p.scan = statement
	return errPlanned
}

func (p *planner) Lost(err error) bool { return !errors.Is(err, errPlanned) && p.Conn.Lost(err) }
