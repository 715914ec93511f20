package engine_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"toptau/certify"
	"toptau/dataset"
	"toptau/diag"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/internal/training/large"
	"toptau/internal/training/rowset"
	"toptau/method"
	"toptau/schema"
	"toptau/sql/engine"
	"toptau/sql/scan"
	"toptau/sql/servers"
	"toptau/threshold"
)

var update = flag.Bool("update", false, "write testdata/types.txt again")

// typed are columns of the types that an engine has: the type, and an expression of the row number n that makes a value.
var typed = map[string][][2]string{
	"postgres": {
		{"smallint", "n % 7"}, {"integer", "n % 7"}, {"bigint", "n % 7"}, {"numeric(12,3)", "n % 7 + 0.5"}, {"real", "n % 7 + 0.5"}, {"double precision", "n % 7 + 0.5"},
		{"boolean", "n % 3 = 0"}, {"text", "'v' || n % 3"}, {"varchar(9)", "'v' || n % 3"}, {"char(3)", "'v' || n % 3"}, {"uuid", "('00000000-0000-0000-0000-00000000000' || n % 3)::uuid"},
		{"date", "date '2026-01-01' + n"}, {"timestamp", "timestamp '2026-01-01' + n * interval '1 hour'"}, {"timestamptz", "timestamptz '2026-01-01 00:00Z' + n * interval '1 hour'"}, {"time", "time '01:00'"},
		{"interval", "n * interval '1 hour'"}, {"inet", "'10.0.0.1'::inet + n"}, {"bytea", "'a'::bytea"}, {"jsonb", "'{}'::jsonb"}, {"double precision[]", "ARRAY[n, 0.5]"},
		{"real[]", "ARRAY[n, 0.5]"}, {"integer[]", "ARRAY[n, 5]"}, {"text[]", "ARRAY['a']"},
	},
	"clickhouse": {
		{"Int8", "n % 7"}, {"Int64", "n % 7"}, {"UInt8", "n % 7"}, {"UInt64", "n % 7"}, {"Float32", "n % 7 + 0.5"}, {"Float64", "n % 7 + 0.5"}, {"Nullable(Float64)", "n % 7 + 0.5"},
		{"Decimal(9, 3)", "toDecimal32(n % 7, 3)"}, {"Decimal(18, 3)", "toDecimal64(n % 7, 3)"}, {"String", "concat('v', toString(n % 3))"}, {"FixedString(2)", "toFixedString(concat('v', toString(n % 3)), 2)"},
		{"Nullable(String)", "concat('v', toString(n % 3))"}, {"Enum8('a' = 0, 'b' = 1, 'c' = 2)", "toInt8(n % 3)"}, {"UUID", "toUUID(concat('00000000-0000-0000-0000-00000000000', toString(n % 3)))"},
		{"Date", "toDate('2026-01-01') + n"}, {"DateTime", "toDateTime('2026-01-01 00:00:00') + n * 3600"}, {"Array(Float64)", "[toFloat64(n), 0.5]"}, {"Array(Nullable(Float32))", "[toFloat32(n), 0.5]"}, {"Array(String)", "['a']"}, {"Tuple(Float64, Float64)", "(toFloat64(n), 1.5)"},
	},
	"duckdb": {
		{"TINYINT", "n % 7"}, {"BIGINT", "n % 7"}, {"UBIGINT", "n % 7"}, {"HUGEINT", "n % 7"}, {"DECIMAL(12,3)", "n % 7 + 0.5"}, {"FLOAT", "n % 7 + 0.5"}, {"DOUBLE", "n % 7 + 0.5"},
		{"BOOLEAN", "n % 3 = 0"}, {"VARCHAR", "'v' || n % 3"}, {"ENUM('a', 'b')", "CASE WHEN n % 3 = 0 THEN 'a' ELSE 'b' END"}, {"UUID", "CAST('00000000-0000-0000-0000-00000000000' || n % 3 AS UUID)"},
		{"DATE", "DATE '2026-01-01' + CAST(n AS INTEGER)"}, {"TIMESTAMP", "TIMESTAMP '2026-01-01' + to_hours(n)"}, {"INTERVAL", "INTERVAL 1 HOUR"}, {"BLOB", "'a'::BLOB"}, {"DOUBLE[]", "[n, 0.5]"}, {"FLOAT[2]", "[n, 0.5]"}, {"VARCHAR[]", "['a']"},
	},
}

// makeTyped makes a table with a column x of a type: 400 rows, a fourth of them positive. Keys in ClickHouse do not fit into signed numbers.
func makeTyped(t *testing.T, s *servers.Server, engine, name string, typ [2]string) {
	columns := fmt.Sprintf("CASE WHEN n %% 4 = 0 THEN 1 ELSE 0 END, CAST(%s AS %s)", typ[1], typ[0])
	switch engine {
	case "postgres":
		s.Run(t, fmt.Sprintf("CREATE TABLE %s (k bigint, y integer, x %s)", name, typ[0]))
		s.Run(t, fmt.Sprintf("INSERT INTO %s SELECT n, %s FROM (SELECT CAST(g AS integer) AS n FROM generate_series(1, 400) g) t", name, columns))
		s.Run(t, "GRANT SELECT ON "+name+" TO PUBLIC")
	case "duckdb":
		s.Run(t, fmt.Sprintf("CREATE TABLE %s (k BIGINT, y INTEGER, x %s)", name, typ[0]))
		s.Run(t, fmt.Sprintf("INSERT INTO %s SELECT n, %s FROM (SELECT range AS n FROM range(1, 401)) t", name, columns))
	case "clickhouse":
		s.Run(t, fmt.Sprintf("CREATE TABLE %s (k UInt64, y UInt8, x %s) ENGINE = MergeTree ORDER BY k", name, typ[0]))
		s.Run(t, fmt.Sprintf("INSERT INTO %s SELECT n + 18446744073709551000, n %% 4 = 0, %s FROM (SELECT number + 1 AS n FROM system.numbers LIMIT 400)", name, typ[1]))
	}
}

// role fits a model to a table and scores it in the database. It returns what the column became.
func role(e *engine.Engine, name string) (string, error) {
	ctx := context.Background()
	rows, err := scan.Open(ctx, e.Dialect, e.Shards, scan.Table{Name: []string{name}, Key: "k", Label: "y"})
	if err != nil {
		return "", err
	}
	d, err := dataOf(ctx, rows)
	if err != nil {
		return "", err
	}
	if _, err := rows.Measure(ctx, large.All(), feature.Options{}); err != nil {
		return "", fmt.Errorf("measuring: %w", err)
	}
	fitted, err := certify.Fit(ctx, d, method.Problem{Method: method.TopMeanNP, Tau: threshold.MustRate("10%"), Lambda: 1e-2},
		certify.FitOptions{Settings: method.Settings{Solver: method.CertifiedSolver, MaxPasses: 2}})
	if err != nil {
		return "", fmt.Errorf("fitting: %w", err)
	}
	scores, err := rows.Scores(ctx, large.All(), fitted.Model)
	if err == nil {
		_, err = scores.Tally(ctx, []float64{0})
	}
	if err != nil {
		return "", fmt.Errorf("scoring: %w", err)
	}
	c := rows.Columns()[0]
	if c.Name != "x" {
		var parts []string
		for _, c := range rows.Columns() {
			parts = append(parts, strings.TrimPrefix(c.Name, "x "))
		}
		if c.Name == "x[1]" {
			return "a number for each element: " + strings.Join(parts, ", "), nil
		}
		return "its parts: " + strings.Join(parts, ", "), nil
	}
	switch {
	case c.Kind == schema.Categorical:
		return "a category", nil
	case strings.HasPrefix(strings.ToLower(c.Type), "bool"):
		return "a number, 1 for true and 0 for false", nil
	}
	return "a number", nil
}

// pageOfTypes is the part of docs/reference/sql.md on types.
const pageOfTypes = "testdata/types.txt"

// TestTypesOfColumns reads, fits and scores a column of every type, and compares what it became with the page of reference.
func TestTypesOfColumns(t *testing.T) {
	page, err := os.ReadFile(pageOfTypes)
	if err != nil && !*update {
		t.Fatal(err)
	}
	lines := map[string][]string{}
	for line := range strings.Lines(string(page)) {
		if name, _, found := strings.Cut(strings.TrimPrefix(line, "| "), " | "); found {
			lines[name] = append(lines[name], strings.TrimSuffix(line, "\n"))
		}
	}
	databases(t, func(t *testing.T, d database) {
		if typed[d.name] == nil {
			t.Skip("no list of types")
		}
		var roles []string           // what columns become, in the order of their first types
		types := map[string]string{} // the types of each role, as text
		for i, typ := range typed[d.name] {
			makeTyped(t, d.servers[0], d.name, fmt.Sprintf("typed%d", i), typ)
		}
		e := d.open(t) // PostgreSQL sees the tables that are there now
		e.Shards = e.Shards[:1]
		for i, typ := range typed[d.name] {
			became, err := role(e, fmt.Sprintf("typed%d", i))
			if of := diag.Of(err); of != nil && of.Kind == diag.Usage {
				became = "refused"
				if !strings.Contains(of.Found, typ[0]) || of.Expected != "numbers, booleans or texts" {
					t.Errorf("%s: %v", typ[0], err)
				}
			} else if err != nil {
				t.Errorf("%s: %v", typ[0], err)
				continue
			}
			if types[became] == "" {
				roles = append(roles, became)
				types[became] = "`" + typ[0] + "`"
			} else {
				types[became] += ", `" + typ[0] + "`"
			}
		}
		title := e.Dialect.Title
		var list []string
		for _, became := range roles {
			list = append(list, fmt.Sprintf("| %s | %s | %s |", title, types[became], became))
		}
		if got, want := strings.Join(list, "\n"), strings.Join(lines[title], "\n"); got != want && !*update {
			t.Errorf("the page has\n%s\nthe types are\n%s", want, got)
		}
		lines[title] = list
	})
	if !*update {
		return
	}
	text := "| database | types | the column is |\n| --- | --- | --- |\n"
	for _, title := range []string{"PostgreSQL", "ClickHouse", "DuckDB"} {
		for _, line := range lines[title] {
			text += line + "\n"
		}
	}
	if err := os.WriteFile(pageOfTypes, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestPartsAreThoseOfFiles compares the parts of times and addresses with those of a file.
func TestPartsAreThoseOfFiles(t *testing.T) {
	ctx := context.Background()
	const n = 300
	var file strings.Builder
	file.WriteString("k,y,seen,day,ip,v[1],v[2],v[3]\n")
	addresses := []string{"10.1.2.%d", "192.168.7.%d", "8.8.%d.8", "127.0.0.1", "224.0.0.%d", "2001:db8::%d", "fe80::%d", "169.254.1.%d", "::1"}
	statements := map[string]string{"clickhouse": "INSERT INTO parts VALUES ", "postgres": "INSERT INTO parts VALUES ", "duckdb": "INSERT INTO parts VALUES "}
	for i := range n {
		at := time.Unix(int64(i)*100_003*60, 0).UTC()
		seen, day := at.Format(time.DateTime), at.AddDate(0, 0, i).Format(time.DateOnly)
		ip := addresses[i%len(addresses)]
		if strings.Contains(ip, "%") {
			ip = fmt.Sprintf(ip, i%250)
		}
		// Arrays of different lengths: an element that an array does not have is missing.
		elements := []string{fmt.Sprint(i % 7), fmt.Sprint(float64(i) / 8), fmt.Sprint(-i)}[:1+i%3]
		fmt.Fprintf(&file, "%d,%d,%s,%s,%s,%s%s\n", i+1, i%2, seen, day, ip, strings.Join(elements, ","), strings.Repeat(",", 3-len(elements)))
		for name := range statements {
			array := "[" + strings.Join(elements, ",") + "]"
			if name == "postgres" {
				array = "'{" + strings.Join(elements, ",") + "}'"
			}
			statements[name] += fmt.Sprintf("%s(%d, %d, '%s', '%s', '%s', %s)", []string{"", ", "}[min(i, 1)], i+1, i%2, seen, day, ip, array)
		}
	}
	path := filepath.Join(t.TempDir(), "parts.csv")
	if err := os.WriteFile(path, []byte(file.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	want, info, err := table.Read(path, table.Options{Format: schema.Format{Label: "y", ID: []string{"k"}}})
	if err != nil {
		t.Fatal(err)
	}
	databases(t, func(t *testing.T, d database) {
		types := map[string]string{"postgres": "k bigint, y integer, seen timestamp, day date, ip inet, v float8[]",
			"duckdb":     "k BIGINT, y INTEGER, seen TIMESTAMP, day DATE, ip VARCHAR, v DOUBLE[]",
			"clickhouse": "k Int64, y UInt8, seen DateTime, day Date, ip String, v Array(Float64)) ENGINE = MergeTree ORDER BY (k"}[d.name]
		if types == "" {
			t.Skip("no types of times")
		}
		d.servers[0].Run(t, "CREATE TABLE parts ("+types+")")
		d.servers[0].Run(t, statements[d.name])
		e := d.open(t)
		of := scan.Table{Name: []string{"parts"}, Key: "k", Label: "y"}
		if d.name != "postgres" {
			of.Drop = []string{"ip"}
		}
		rows, err := scan.Open(ctx, e.Dialect, e.Shards[:1], of)
		if err != nil {
			t.Fatal(err)
		}
		sample, err := rows.Sample(ctx, large.All(), n)
		if err != nil {
			t.Fatal(err)
		}
		got := sample.Table
		if d.name == "postgres" && len(got.Columns) != len(want.Columns) {
			t.Errorf("%d columns, of a file %d", len(got.Columns), len(want.Columns))
		}
		if len(got.Columns) < 7 {
			t.Errorf("%s: %d columns, want at least 7: four parts of times, and three elements", d.name, len(got.Columns))
		}
		for j := range got.Columns {
			c := &got.Columns[j]
			at := slices.IndexFunc(want.Columns, func(file table.Column) bool { return file.Name == c.Name })
			if at < 0 {
				t.Fatalf("%s: no column %q in the file", d.name, c.Name)
			}
			file := &want.Columns[at]
			if s := rows.Schema().Columns[j]; s.Name != file.Name || s.Kind != file.Kind || s.Part != info.Schema.Columns[at].Part || s.Source != info.Schema.Columns[at].Source {
				t.Errorf("%s: column %+v, of a file %+v", d.name, s, info.Schema.Columns[at])
			}
			for i := range got.Rows() {
				key, _ := strconv.Atoi(got.ID[0].Values[i])
				if a, b := c.Text(i), file.Text(key-1); a != b {
					t.Errorf("%s: %s of row %d is %q, of a file %q", d.name, c.Name, key, a, b)
				}
			}
		}
	})
}

// TestWideRowsAsLIBSVM runs the statements of the guide on rows with indices up to 100,000, and fits a model to what they write.
func TestWideRowsAsLIBSVM(t *testing.T) {
	guide, err := os.ReadFile("../../docs/guide/sql.md")
	if err != nil {
		t.Fatal(err)
	}
	const rows, columns = 300, 100_000
	values := map[string]string{}
	for i := range rows {
		index := []int{1 + i%2, 3 + i*331%90_000, columns - i%5}
		value := []string{"1", fmt.Sprint(float64(i) / 3), fmt.Sprint(-i)}
		for name, form := range map[string]string{"postgres": "(%d, %d, '{%d,%d,%d}', '{%s}')", "clickhouse": "(%d, %d, [%d,%d,%d], [%s])"} {
			values[name] += fmt.Sprintf(form, i, (i+1)%2, index[0], index[1], index[2], strings.Join(value, ",")) + []string{", ", ""}[i/(rows-1)]
		}
	}
	databases(t, func(t *testing.T, d database) {
		start := map[string]string{"postgres": "SELECT label ||", "clickhouse": "SELECT concat("}[d.name]
		if start == "" {
			t.Skip("the guide has no statement")
		}
		_, rest, found := strings.Cut(string(guide), start)
		statement, _, ended := strings.Cut(start+rest, `"`)
		if !found || !ended {
			t.Fatal("the guide has no statement")
		}
		d.servers[0].Run(t, "CREATE TABLE wide "+map[string]string{"postgres": "(id integer, label integer, idx integer[], val float8[])",
			"clickhouse": "(id Int32, label UInt8, idx Array(Int32), val Array(Float64)) ENGINE = MergeTree ORDER BY id"}[d.name])
		d.servers[0].Run(t, "INSERT INTO wide VALUES "+values[d.name])
		e := d.open(t)
		var file strings.Builder
		var line string
		if err := e.Shards[0].Query(t.Context(), statement, []any{&line}, func() error {
			file.WriteString(line + "\n")
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		data, err := dataset.ReadFrom(t.Context(), strings.NewReader(file.String()), schema.Format{})
		if err != nil {
			t.Fatalf("%v\n%.300s", err, file.String())
		}
		fitted, err := certify.Fit(t.Context(), data, method.Problem{Method: method.TopMeanNP, Tau: threshold.MustRate("10%"), Lambda: 1e-2}, certify.FitOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if n := fitted.Model.Len(); n < rows {
			t.Errorf("%d weights, want at least one for each of %d rows", n, rows)
		}
		// The rows in place: the error names the way out.
		wide := scan.Table{Name: []string{"long"}, Key: "id", Label: "label"}
		d.servers[0].Run(t, map[string]string{"postgres": "CREATE TABLE long AS SELECT id, label, array_fill(1.5, ARRAY[501]) AS x FROM wide",
			"clickhouse": "CREATE TABLE long ENGINE = Memory AS SELECT id, label, arrayMap(i -> 1.5, range(501)) AS x FROM wide"}[d.name])
		again := d.open(t) // PostgreSQL sees the tables that are there now
		_, err = scan.Open(t.Context(), again.Dialect, again.Shards[:1], wide)
		if of := diag.Of(err); of == nil || of.Kind != diag.Usage || !strings.Contains(err.Error(), "501 numbers, expected at most 500") || !strings.Contains(of.Hint, "LIBSVM") {
			t.Errorf("%v", err)
		}
	})
}

// dataOf returns the rows of a table as data of the verbs.
func dataOf(ctx context.Context, rows large.Rows) (*dataset.Data, error) {
	d, err := rowset.OfDatabase(ctx, rows)
	if err != nil {
		return nil, err
	}
	return rowset.Wrap(d).(*dataset.Data), nil
}
