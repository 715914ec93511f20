package scan

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toptau/diag"
	"toptau/internal/core/certified"
	"toptau/internal/core/matrix"
	"toptau/internal/models/dialect"
	"toptau/internal/models/feature"
	"toptau/internal/training/large"
	"toptau/schema"
)

var update = flag.Bool("update", false, "write the golden files again")

// fakeConn answers statements from a list of functions in turn, and keeps the statements.
type fakeConn struct {
	statements []string
	answers    []func(dest []any, each func() error) error
	steady     bool
	reconnects int
}

var errLost = errors.New("the server was lost")

func (c *fakeConn) Query(_ context.Context, statement string, dest []any, each func() error) error {
	c.statements = append(c.statements, statement)
	if len(c.answers) == 0 {
		return errors.New("an unexpected statement: " + statement)
	}
	answer := c.answers[0]
	c.answers = c.answers[1:]
	return answer(dest, each)
}

func (c *fakeConn) Steady() bool                    { return c.steady }
func (c *fakeConn) Lost(err error) bool             { return errors.Is(err, errLost) }
func (c *fakeConn) Reconnect(context.Context) error { c.reconnects++; return nil }

func (c *fakeConn) Compile(context.Context, bool) error { return nil }

// rowsOf answers with rows of values.
func rowsOf(rows ...[]any) func(dest []any, each func() error) error {
	return func(dest []any, each func() error) error {
		for _, row := range rows {
			for i, v := range row {
				switch to := dest[i].(type) {
				case *string:
					*to = v.(string)
				case *int64:
					*to = int64(v.(int))
				case *float64:
					*to = v.(float64)
				case *sql.NullFloat64:
					*to = sql.NullFloat64{Float64: v.(float64), Valid: true}
				case *sql.NullString:
					*to = sql.NullString{String: v.(string), Valid: true}
				}
			}
			if err := each(); err != nil {
				return err
			}
		}
		return nil
	}
}

// catalogue is the columns of the table of these tests, in the types of the database.
func catalogue(d *dialect.Dialect) func(dest []any, each func() error) error {
	types := []string{"bigint", "integer", "double precision", "integer", "text"}
	switch d.Name {
	case "clickhouse":
		types = []string{"Int64", "UInt8", "Float64", "Int32", "Nullable(String)"}
	}
	return rowsOf([]any{"id", types[0]}, []any{"it's", types[1]}, []any{`a "b"`, types[2]}, []any{"x`y", types[3]}, []any{"service", types[4]})
}

// counted answers the statistics of a table that is not read as a whole: 900,000 negatives, 100,000 positives, a largest key, a checksum.
func counted(d *dialect.Dialect, checksum string) func(dest []any, each func() error) error {
	if d.NaNLast { // no sums
		return rowsOf([]any{900_000, 100_000, 0, "100", checksum, 1_000_000, -1.5, 8.0, 1_000_000, 0.0, 3.0, 999_997, 0, 0})
	}
	return rowsOf([]any{900_000, 100_000, 0, "100", checksum, 1_000_000, -1.5, 8.0, 40.0, 1_000_000, 0.0, 3.0, 20.0, 999_997, 0, 0})
}

func openFake(t *testing.T, name string, answers ...func(dest []any, each func() error) error) (*Rows, *fakeConn) {
	t.Helper()
	d, err := dialect.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	c := &fakeConn{answers: append([]func(dest []any, each func() error) error{catalogue(d), counted(d, "77"),
		rowsOf([]any{"0", 900_000}, []any{"1", 100_000})}, answers...)}
	rows, err := Open(context.Background(), d, []Conn{c}, Table{Name: []string{"a schema", "tab'le"}, Key: "id", Label: "it's", Where: "day > 3 OR day = 1"})
	if err != nil {
		t.Fatal(err)
	}
	return rows, c
}

// theMap is a map on the columns of the fake table.
func theMap(t *testing.T, encoding string) *feature.Map {
	t.Helper()
	block := map[string]feature.Block{
		"raw":       &feature.NumericBlock{Inputs: []int{0, 1}, Shift: []float64{0.25, 0}, Scale: []float64{2, 1}},
		"scorecard": &feature.ScorecardBlock{Columns: []feature.Card{{Input: 0, Knots: []float64{-1, 0, 2.5}, Atoms: []float64{0.5}}, {Input: 1, Atoms: []float64{0, 1, 3}}}},
	}[encoding]
	m := &feature.Map{Scale: schema.ScaleStandard, Impute: schema.ImputeIndicator, Inputs: []feature.Input{{Column: 0, Name: `a "b"`, Kind: schema.Numeric},
		{Column: 1, Name: "x`y", Kind: schema.Numeric}, {Column: 2, Name: "service", Kind: schema.Categorical, Categories: []string{"it's", `ftp\`, "x"}}},
		Blocks: []feature.Block{block, &feature.OneHotBlock{Columns: []feature.OneHot{{Input: 2, Missing: true}}}}}
	if err := m.Prepare(); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestStatements compares the statements with golden files: what Open asks, a scan with wanted rows, and one with groups.
func TestStatements(t *testing.T) {
	for _, name := range dialect.Readers() {
		rows, c := openFake(t, name)
		all := strings.Clone("-- the catalogue\n" + c.statements[0] + ";\n\n-- the statistics\n" + c.statements[1] + ";\n\n-- the labels\n" + c.statements[2] + ";\n")
		if rows.Schema().Columns[2].Kind != schema.Categorical || !strings.HasSuffix(rows.Name(), "checksum 77") {
			t.Errorf("%+v, %s", rows.Schema(), rows.Name())
		}
		before := len(c.statements)
		c.answers = append(c.answers, rowsOf([]any{0, 0}))
		if rows.dialect.Unique != nil {
			c.answers = append([]func([]any, func() error) error{rowsOf([]any{0})}, c.answers...)
		}
		if check, refused, err := rows.CheckKey(context.Background()); check != KeyCounted || refused != nil || err != nil {
			t.Errorf("%s: %q %v %v", name, check, refused, err)
		}
		for _, statement := range c.statements[before:] {
			all += "\n-- the key\n" + statement + ";\n"
		}
		for _, encoding := range []string{"raw", "scorecard"} {
			m := theMap(t, encoding)
			e, err := newEncoder(rows.dialect, rows.layout, m, matrix.Float32)
			if err != nil {
				t.Fatal(err)
			}
			s := &Source{rows: rows, part: rows.part(large.Part{From: 100, To: 2000}), m: m, encoder: e, population: newClass(rows.is.negative, 90, 1)}
			w := make([]float64, m.Cols())
			for j := range w {
				w[j] = float64(j) - 1.5
			}
			at := &certified.Point{W: w}
			held := certified.NewSet(8)
			held.Add(1)
			s.population.known = []knownRow{{key: "12"}, {key: "-7"}}
			for _, asked := range []struct {
				title   string
				request certified.Request
			}{
				{"intervals and the best rows", certified.Request{Sums: true, Cuts: []float64{-1, 0.5, 2}, Want: []certified.Want{{Low: math.Inf(-1), High: math.Inf(1), Limit: 5}}}},
				{"groups", certified.Request{Groups: []float64{-1, .5, math.Inf(1)}, Held: held, Moments: true, Origin: .5,
					Want: []certified.Want{{Low: -1, High: 3, Order: certified.Nearest, Centre: .5, Limit: 4}}}},
				{"groups of few rows", certified.Request{Groups: []float64{-1, .5, math.Inf(1)}, Moments: true}},
			} {
				if encoding == "scorecard" && asked.title != "groups" {
					continue
				}
				p := &plan{c: s.population, at: at, few: asked.title == "groups of few rows", parts: []planned{{request: &asked.request, wants: []look{{interval: interval{.25, math.Inf(1)}}}}}}
				statement, _, _ := s.statement(p, 0, new(cell))
				all += "\n-- " + encoding + ": " + asked.title + "\n" + statement + ";\n"
			}
		}
		golden := filepath.Join("testdata", name+".sql")
		if *update {
			if err := os.WriteFile(golden, []byte(all), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if all != string(want) {
			t.Errorf("%s: other statements than in %s:\n%s", name, golden, all)
		}
	}
}

// A statement whose server was lost is repeated, if the rows are still the same.
func TestRetries(t *testing.T) {
	if sum := sumOf(pauses); sum < 2*time.Minute {
		t.Errorf("a server that was lost has only %v to come back", sum)
	}
	pauses = []time.Duration{1, 1, 1}
	lost := func([]any, func() error) error { return errLost }
	count := rowsOf([]any{50, 5})
	part := large.Part{From: 0, To: large.Buckets / 2}
	rows, c := openFake(t, "clickhouse", lost, rowsOf([]any{"77"}), count)
	if p, n, err := rows.Count(context.Background(), part); err != nil || p.Rows != 5 || n.Rows != 50 || c.reconnects != 1 || rows.Traffic().Retries != 1 {
		t.Errorf("%+v %+v %v after %d connections", p, n, err, c.reconnects)
	}
	rows, _ = openFake(t, "clickhouse", lost, rowsOf([]any{"78"}), count)
	if _, _, err := rows.Count(context.Background(), part); diag.Of(err) == nil || !strings.Contains(err.Error(), "changed while they were read") {
		t.Errorf("other rows after the server was lost: %v", err)
	}
	rows, c = openFake(t, "clickhouse", lost, rowsOf([]any{"77"}), lost, rowsOf([]any{"77"}), lost, rowsOf([]any{"77"}), lost)
	if _, _, err := rows.Count(context.Background(), part); !errors.Is(err, errLost) || c.reconnects != 3 {
		t.Errorf("%v after %d connections", err, c.reconnects)
	}
	rows, _ = openFake(t, "postgres", rowsOf([]any{"79"}))
	if err := rows.Check(context.Background()); err == nil {
		t.Error("another checksum is no error")
	}
}

// A key is unique by an index, by counting, or not at all; a database that cannot count is no error.
func TestCheckKey(t *testing.T) {
	ctx := context.Background()
	index := rowsOf([]any{1})
	rows, c := openFake(t, "postgres", index)
	if check, refused, err := rows.CheckKey(ctx); check != KeyIndex || refused != nil || err != nil || len(c.statements) != 4 {
		t.Errorf("%q %v %v after %d statements", check, refused, err, len(c.statements))
	}
	none := rowsOf([]any{0})
	rows, _ = openFake(t, "postgres", none, rowsOf([]any{2, 5}))
	_, _, err := rows.CheckKey(ctx)
	if e := diag.Of(err); e == nil || e.Kind != diag.Data || e.Column != "id" || !strings.HasPrefix(e.Found, "5 rows with 2 repeated values") {
		t.Errorf("%v", err)
	}
	pauses = []time.Duration{1, 1, 1}
	full := errors.New("out of memory")
	refuse := func([]any, func() error) error { return full }
	rows, c = openFake(t, "postgres", none, refuse, rowsOf([]any{"77"}))
	c.steady = true
	if check, refused, err := rows.CheckKey(ctx); check != KeyUnchecked || !errors.Is(refused, full) || err != nil || c.reconnects != 1 {
		t.Errorf("%q %v %v after %d connections: the transaction ended with the error", check, refused, err, c.reconnects)
	}
	rows, _ = openFake(t, "clickhouse", refuse)
	if check, refused, err := rows.CheckKey(ctx); check != KeyUnchecked || !errors.Is(refused, full) || err != nil {
		t.Errorf("%q %v %v", check, refused, err)
	}
}

// Mistakes are named before any row is read.
func TestMistakes(t *testing.T) {
	d, _ := dialect.ByName("postgres")
	for param, of := range map[string]Table{
		"key":      {Name: []string{"t"}, Key: "no", Label: "it's"},
		"label":    {Name: []string{"t"}, Key: "id", Label: "no"},
		"weight":   {Name: []string{"t"}, Key: "id", Label: "it's", Weight: "no"},
		"drop":     {Name: []string{"t"}, Key: "id", Label: "it's", Drop: []string{"no"}},
		"positive": {Name: []string{"t"}, Key: "id", Label: "service"},
		"table":    {Key: "id"},
	} {
		c := &fakeConn{answers: []func([]any, func() error) error{catalogue(d)}}
		_, err := Open(context.Background(), d, []Conn{c}, of)
		if e := diag.Of(err); e == nil || e.Kind != diag.Usage || e.Param != param {
			t.Errorf("%s: %v", param, err)
		}
	}
	c := &fakeConn{answers: []func([]any, func() error) error{rowsOf()}}
	_, err := Open(context.Background(), d, []Conn{c}, Table{Name: []string{"t"}, Key: "id", Label: "y"})
	if e := diag.Of(err); e == nil || e.Param != "table" {
		t.Errorf("%v", err)
	}
	rows, _ := openFake(t, "postgres")
	m := theMap(t, "raw")
	m.Impute = schema.ImputeError
	if _, err := newEncoder(d, rows.layout, m, matrix.Float32); diag.Of(err) == nil || diag.Of(err).Column != "service" || diag.Of(err).Found != "3 missing values" {
		t.Errorf("%v", err)
	}
}

// Conditions for numbers that round to 0 are written only where a column may have them, and numbers beyond float32 are named.
func TestNumbersBeyondFloat32(t *testing.T) {
	rows, _ := openFake(t, "postgres")
	m := theMap(t, "raw")
	e, err := newEncoder(rows.dialect, rows.layout, m, matrix.Float32)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range e.values()[:2] { // a column less .25, and whole numbers
		if strings.Contains(v, "abs(") {
			t.Errorf("a condition that is never needed: %s", v)
		}
	}
	in := &input{name: "x", in: &m.Inputs[0], most: 1e300}
	p := &numericPiece{input: in, single: true}
	if v := p.value(rows.dialect); !strings.Contains(v, "CASE WHEN abs(x) <=") {
		t.Errorf("no condition for numbers that round to 0: %s", v)
	}
	if err := p.fits(); diag.Of(err) == nil || diag.Of(err).Kind != diag.Data || diag.Of(err).Column != m.Inputs[0].Name {
		t.Errorf("a number beyond float32: %v", err)
	}
	if p.scaled, p.scale = true, 1e280; p.fits() != nil {
		t.Error(p.fits())
	}
	card := &cardPiece{input: in, card: &feature.Card{Knots: []float64{0, 1e6}}}
	if f := card.steps(rows.dialect, 0); !strings.Contains(f, "CASE WHEN abs(x) <=") {
		t.Errorf("no condition for fractions that round to 0: %s", f)
	}
}
