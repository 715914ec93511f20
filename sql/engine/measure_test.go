package engine_test

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/internal/training/large"
	"toptau/schema"
	"toptau/sql/scan"
	"toptau/sql/servers"
)

// manyRows is a table with more rows than samples have. A tenth of its rows are positive, and their values differ from those of others.
func manyRows(n int) *table.Table {
	random := rand.New(rand.NewPCG(3, 4))
	t := &table.Table{File: "many", Label: make([]table.Class, n), Line: make([]int, n)}
	number := func(name string, value func(positive bool) float64) {
		c := table.Column{Name: name, Number: len(t.Columns) + 3, Kind: schema.Numeric, Values: make([]float64, n)}
		for row := range n {
			c.Values[row] = value(t.Label[row] == table.Positive)
		}
		t.Columns = append(t.Columns, c)
	}
	for row := range n {
		t.Line[row] = row + 1
		if random.IntN(10) == 0 {
			t.Label[row] = table.Positive
		}
	}
	shifted := func(positive bool) float64 {
		if positive {
			return 3
		}
		return 0
	}
	number("near", func(p bool) float64 { return random.NormFloat64() + shifted(p) })
	number("far", func(p bool) float64 { return 1.7e9 + 1000*random.Float64() + 500*shifted(p) })
	number("skewed", func(p bool) float64 { return math.Exp(2 * random.NormFloat64()) })
	number("whole", func(p bool) float64 { return float64(random.IntN(100)) + 10*shifted(p) })
	number("gaps", func(p bool) float64 {
		if random.IntN(9) == 0 {
			return math.NaN()
		}
		return random.ExpFloat64() * (1 + shifted(p))
	})
	colors := table.Column{Name: "color", Number: len(t.Columns) + 3, Kind: schema.Categorical, Dictionary: []string{"red", "green", "blue", "rare"}, Codes: make([]int32, n)}
	for row := range n {
		colors.Codes[row] = int32(random.IntN(4)) - 1
	}
	colors.Codes[n/2] = 3
	t.Columns = append(t.Columns, colors)
	return t
}

// relative is the difference of two numbers, relative to the larger one.
func relative(a, b float64) float64 {
	if a == b {
		return 0
	}
	return math.Abs(a-b) / max(math.Abs(a), math.Abs(b))
}

// TestMeasureAllRows compares the means, deviations and categories of all rows of a table that is larger than every sample
// with those in memory.
func TestMeasureAllRows(t *testing.T) {
	ctx := context.Background()
	data := manyRows(120_000)
	whole := slices.IndexFunc(data.Columns, func(c table.Column) bool { return c.Name == "whole" })
	of := servers.FromTable("many", "k", "y", data)
	values := data.Columns[whole].Values
	of.Columns[whole+2] = servers.Column{Name: "whole", Integer: func(row int) int64 { return int64(values[row]) }}
	databases(t, func(t *testing.T, d database) {
		e := d.open(t)
		open := func() *scan.Rows {
			rows, err := scan.Open(ctx, e.Dialect, e.Shards, scan.Table{Name: []string{"many"}, Key: "k", Label: "y"})
			if err != nil {
				t.Fatal(d.name, err)
			}
			return rows
		}
		for _, impute := range []schema.Impute{schema.ImputeIndicator, schema.ImputeMedian, schema.ImputeZero} {
			o := feature.Options{Impute: impute}
			want, err := feature.Measure(ctx, data.Frame(), func(int) bool { return true }, o)
			if err != nil {
				t.Fatal(err)
			}
			rows := open()
			before := rows.Traffic()
			got, err := rows.Measure(ctx, large.All(), o)
			if err != nil {
				t.Fatal(d.name, err)
			}
			after := rows.Traffic()
			t.Logf("%s %s: %d scans, %v", d.name, impute, after.Scans-before.Scans, after.Waiting-before.Waiting)
			again, err := open().Measure(ctx, large.All(), o)
			if a, b := asJSON(t, got), asJSON(t, again); err != nil || a != b {
				t.Errorf("%s %s: another time %s, first %s, %v", d.name, impute, b, a, err)
			}
			for i, c := range want.Columns {
				g := got.Columns[i]
				if g.Missing != c.Missing || g.Fill != c.Fill || g.Constant != c.Constant || relative(g.Mean, c.Mean) > 3e-16 || relative(g.SD, c.SD) > 3e-16 {
					t.Errorf("%s %s %s: %+v, in memory %+v", d.name, impute, data.Columns[i].Name, g, c)
				}
				for k, name := range c.Categories {
					if at := slices.Index(g.Categories, name); at < 0 || g.Masses[at] != c.Masses[k] {
						t.Errorf("%s %s: categories %v %v, in memory %v %v", d.name, impute, g.Categories, g.Masses, c.Categories, c.Masses)
					}
				}
			}
		}
	}, of)
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
