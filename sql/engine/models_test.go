package engine_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"toptau/diag"
	"toptau/internal/models/dialect"
	export "toptau/internal/models/export/sql"
	"toptau/internal/models/portable"
	"toptau/internal/tests/modeltest"
	"toptau/sql/servers"
)

// Random models of every kind of block and policy, with odd names, categories and values, have the same bits in Trino and in Spark as in
// toptau. The other databases are tested in the module integration.
func TestRandomModelsInTrino(t *testing.T) {
	if os.Getenv("TOPTAU_TRINO") == "" {
		t.Skip("starts three Java programs: make trino")
	}
	s, _ := servers.Trino(t, 1)
	randomModels(t, "trino", s)
}

func TestRandomModelsInSpark(t *testing.T) { randomModels(t, "spark", spark(t)) }

func randomModels(t *testing.T, name string, s *servers.Server) {
	d, err := dialect.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	models, err := strconv.Atoi(os.Getenv("TOPTAU_MODELS"))
	if err != nil {
		models = 12
	}
	compared, refused := 0, 0
	for seed := range uint64(models) {
		r := rand.New(rand.NewPCG(seed+1, 7))
		c := modeltest.NewWith(r, modeltest.Options{})
		p, err := portable.Of(c.Model)
		if err != nil {
			t.Fatal(err)
		}
		var statement strings.Builder
		o := export.Options{Dialect: d.Name, From: d.Path([]string{"rows"}), Keep: []string{"the row"}}
		var usage *diag.Error
		if err := export.Write(&statement, p, o); errors.As(err, &usage) {
			refused++
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		if statement.Len() > 150_000 {
			refused++ // takes minutes to plan
			continue
		}
		rows := c.Rows(r, 60)
		of := servers.Table{Name: "rows", Rows: len(rows), Columns: []servers.Column{{Name: "the row", Integer: func(row int) int64 { return int64(row) }}}}
		taken := map[string]bool{}
		values := make([][]portable.Value, len(rows))
		want := make([]float64, len(rows))
		for i, row := range rows {
			if values[i], err = p.Values(row.Fields); err != nil {
				t.Fatal(err)
			}
			if want[i], err = c.Model.ScoreFields(row.Fields); err != nil {
				want[i] = math.NaN()
			}
		}
		for k := range p.Inputs {
			taken[p.Inputs[k].Name] = true
			column := servers.Column{Name: p.Inputs[k].Name}
			if p.Inputs[k].Text {
				column.Text = func(row int) string { return *values[row][k].Text }
				column.Null = func(row int) bool { return values[row][k].Text == nil }
			} else {
				column.Number = func(row int) float64 { return values[row][k].Number }
				column.Null = func(row int) bool { return math.IsNaN(values[row][k].Number) && row%2 == 0 } // the others are NaN
			}
			of.Columns = append(of.Columns, column)
		}
		for _, name := range p.Segments() {
			if !taken[name] {
				of.Columns = append(of.Columns, servers.Column{Name: name, Text: func(row int) string { return rows[row].Record[name] }})
			}
		}
		s.Load(t, of)
		for _, line := range strings.Split(s.Run(t, strings.TrimSuffix(statement.String(), ";\n")), "\n") {
			cells := strings.Split(line, "\t")
			row, err := strconv.Atoi(cells[0])
			if err != nil {
				t.Fatal(err)
			}
			got := math.NaN()
			if cells[1] != "" {
				if got, err = strconv.ParseFloat(cells[1], 64); err != nil {
					t.Fatal(err)
				}
			}
			if math.Float64bits(got) != math.Float64bits(want[row]) && !(math.IsNaN(got) && math.IsNaN(want[row])) {
				t.Errorf("model %d, row %d: %v instead of %v", seed+1, row, got, want[row])
				break
			}
			compared++
		}
		s.Run(t, fmt.Sprintf("DROP TABLE %s", d.Path([]string{"rows"})))
	}
	t.Logf("%d scores of %d models; %d models are refused or too long", compared, models-refused, refused)
	if compared < 100 {
		t.Error("too few scores")
	}
}
