package main

import (
	"context"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"toptau"
	"toptau/internal/cli/clitest"
	"toptau/internal/simulate"
	"toptau/internal/table"
	"toptau/schema"
	"toptau/sql/servers"
	"toptau/threshold"
)

// TestMain lets the transcripts run this program as "toptau-sql".
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"toptau-sql": main})
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return app().Run(ctx, args, stdin, stdout, stderr)
}

// TestTranscripts runs what a user types without a server.
func TestTranscripts(t *testing.T) {
	model := filepath.Join(t.TempDir(), "m.json")
	trainModel(t, model, flows(t))
	clitest.RunTranscriptsIn(t, "testdata/script", map[string]string{"MODEL": model}, nil)
}

// protocols are texts that would break a statement which is put together carelessly. The last one is missing.
var protocols = []string{"tcp", `it's`, `back\slash`, `"; DROP TABLE flows; --`, "ß→", ""}

// flows returns a table with 20,000 rows: 8 columns of numbers, one of them with NULL, and one of texts, whose name is hostile too.
func flows(t testing.TB) servers.Table { return flowsFrom(t, 20_000, 1) }

func flowsFrom(t testing.TB, n int, seed uint64) servers.Table {
	t.Helper()
	o := simulate.Options{Kind: "detectors", Rows: n, Seed: seed, Columns: 8, Positives: threshold.MustRate("3%")}
	data, err := simulate.New(o)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := data.WriteCSV(context.Background(), &b, func(int) {}); err != nil {
		t.Fatal(err)
	}
	rows, _, err := table.ReadFrom("flows", strings.NewReader(b.String()), table.Options{Format: schema.Format{Label: "last"}})
	if err != nil {
		t.Fatal(err)
	}
	list := servers.FromTable("flows", "id", "attack", rows)
	gaps := &list.Columns[2]
	gaps.Null = func(row int) bool { return row%50 == 7 }
	list.Columns = append(list.Columns, servers.Column{Name: `proto "x'y` + "`", Text: func(row int) string { return protocols[(row*7+row/13)%len(protocols)] },
		Null: func(row int) bool { return (row*7+row/13)%len(protocols) == len(protocols)-1 }})
	return list
}

// writeCSV writes the rows of a table to a file.
func writeCSV(t testing.TB, path string, of servers.Table) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := csv.NewWriter(f)
	fields := make([]string, len(of.Columns))
	for i := range of.Columns {
		fields[i] = of.Columns[i].Name
	}
	w.Write(fields)
	for row := range of.Rows {
		for i := range of.Columns {
			c := &of.Columns[i]
			switch {
			case c.Null != nil && c.Null(row):
				fields[i] = ""
			case c.Integer != nil:
				fields[i] = strconv.FormatInt(c.Integer(row), 10)
			case c.Text != nil:
				fields[i] = c.Text(row)
			default:
				fields[i] = strconv.FormatFloat(c.Number(row), 'g', -1, 64)
			}
		}
		w.Write(fields)
	}
	w.Flush()
	if err := w.Error(); err != nil {
		t.Fatal(err)
	}
}

// trainModel writes a model of all kinds of columns, trained on a file.
func trainModel(t testing.TB, path string, of servers.Table) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "flows.csv")
	writeCSV(t, file, of)
	data, err := toptau.Read(context.Background(), file, toptau.Format{Label: "attack", ID: []string{"id"}})
	if err != nil {
		t.Fatal(err)
	}
	fitted, err := toptau.Fit(context.Background(), data, toptau.Problem{Method: "topmean-np", Lambda: 1e-3, Tau: threshold.MustRate("1%")},
		toptau.FitOptions{Encoding: "scorecard", Impute: "indicator"})
	if err != nil {
		t.Fatal(err)
	}
	if err := fitted.Model.Save(path); err != nil {
		t.Fatal(err)
	}
}
