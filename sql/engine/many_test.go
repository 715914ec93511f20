package engine_test

import (
	"context"
	"os"
	"testing"

	"toptau/internal/core/certified"
	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
	"toptau/internal/core/simulate"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/internal/training/large"
	"toptau/method"
	"toptau/schema"
	"toptau/sql/scan"
	"toptau/sql/servers"
	"toptau/threshold"
)

// TestManyRowsOnTop solves a problem in which a fifth of the negatives is on top: 392,000 of 2 million rows, far more than may be
// fetched.
func TestManyRowsOnTop(t *testing.T) {
	if os.Getenv("TOPTAU_SQL") != "results" {
		t.Skip("takes minutes: set TOPTAU_SQL=results")
	}
	data, err := simulate.New(simulate.Options{Kind: "hepmass", Rows: 2_000_000, Columns: 28, Seed: 1, Positives: threshold.MustRate("2%")})
	if err != nil {
		t.Fatal(err)
	}
	all := &table.Table{File: "simulated", Columns: make([]table.Column, len(data.Names()))}
	for j, name := range data.Names() {
		all.Columns[j] = table.Column{Name: name, Number: j + 1, Kind: schema.Numeric}
	}
	data.Each(func(i int, row *simulate.Row) bool {
		class := table.Negative
		if row.Positive {
			class = table.Positive
		}
		all.Label, all.Line = append(all.Label, class), append(all.Line, i+1)
		for j, v := range row.Values {
			all.Columns[j].Values = append(all.Columns[j].Values, v)
		}
		return true
	})
	of := servers.FromTable("simulated", "k", "y", all)
	for j := range of.Columns {
		of.Columns[j].Null = nil
	}
	p, err := method.Problem{Method: method.TopMeanNP, Lambda: 1e-3, Tau: threshold.MustRate("20%")}.Complete()
	if err != nil {
		t.Fatal(err)
	}
	databases(t, func(t *testing.T, d database) {
		ctx := context.Background()
		e := d.open(t)
		rows, err := scan.Open(ctx, e.Dialect, e.Shards, scan.Table{Name: []string{"simulated"}, Key: "k", Label: "y"})
		if err != nil {
			t.Fatal(err)
		}
		sample, err := rows.Sample(ctx, large.All(), 100_000)
		if err != nil {
			t.Fatal(err)
		}
		m, _, err := feature.Fit(sample.Table, rows.Schema(), nil, feature.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, gap := range []float64{1e-4, 1e-6} {
			got := fit(t, e, rows, m, p, gap)
			t.Logf("%s gap %g: %s", d.name, gap, got.String())
			if rows := got.after.Rows - got.before.Rows; rows > 40_000 || !got.Converged {
				t.Errorf("%d rows fetched, converged %v", rows, got.Converged)
			}
			// The scaling is that of a sample, which is another one in each database.
			x, err := m.Matrix(all, nil, matrix.Float32)
			if err != nil {
				t.Fatal(err)
			}
			o, err := objective.New(p, x)
			if err != nil {
				t.Fatal(err)
			}
			whole, err := certified.Solve(ctx, o, certified.Options{Gap: gap})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("memory: %d passes, F %.14g D %.14g", whole.Passes, whole.Objective, whole.LowerBound)
			if got.LowerBound > whole.Objective*(1+1e-12) || whole.LowerBound > got.Objective*(1+1e-12) {
				t.Error("the bounds do not meet those in memory")
			}
		}
	}, of)
}
