package large

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"toptau/internal/core/binomial"
	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/internal/training/tune"
	"toptau/method"
	"toptau/metric"
	"toptau/model"
	"toptau/schema"
	"toptau/threshold"
)

// uniformRows returns rows with one column, uniform in (0, 1), and a model whose score is this column.
func uniformRows(t *testing.T, r *rand.Rand, n int, groups int) (*table.Table, schema.Schema, *model.Model) {
	t.Helper()
	x := &table.Table{Columns: []table.Column{{Name: "x", Number: 1, Kind: schema.Numeric}}, Line: make([]int, n)}
	if groups > 0 {
		x.Group = &table.Text{Name: "g"}
	}
	for i := range n {
		x.Columns[0].Values = append(x.Columns[0].Values, r.Float64())
		x.Label = append(x.Label, table.Class(min(1, r.IntN(20)/19)))
		x.Line[i] = i + 1
		if groups > 0 {
			x.Group.Values = append(x.Group.Values, string(rune('a'+r.IntN(groups))))
		}
	}
	x.Label[0], x.Label[1] = table.Negative, table.Positive
	s := schema.Schema{Format: schema.CSV, Width: 1, Columns: []schema.Column{{Name: "x", Number: 1, Kind: schema.Numeric}}}
	features, _, err := feature.Fit(x, s, nil, feature.Options{Scale: schema.ScaleNone})
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.New(model.Parts{Schema: s, Features: features, Weights: []float64{1}})
	if err != nil {
		t.Fatal(err)
	}
	return x, s, m
}

// Among many draws of the rows, the guarantee fails no more often than delta, as chance allows.
func TestGuaranteeHoldsOnPartsByHash(t *testing.T) {
	const draws = 400
	alpha, delta := threshold.MustRate("5%"), threshold.MustRate("10%")
	violations := 0
	for draw := range draws {
		x, s, m := uniformRows(t, rand.New(rand.NewPCG(uint64(draw), 7)), 1500, 0)
		c, err := Threshold(context.Background(), OfTable(x.Frame(), s, "rows"), Part{From: Buckets / 4, To: Buckets / 2}, m, metric.Goal{Kind: metric.GoalMaxFPR, Rate: alpha}, delta)
		if err != nil {
			t.Fatal(err)
		}
		if 1-c.Value > alpha.Float64() {
			violations++
		}
	}
	allowed := 0
	for binomial.AtMost(draws, allowed, delta.Float64()) < 1-1e-4 {
		allowed++
	}
	t.Logf("%d violations of %d, at most %d", violations, draws, allowed)
	if violations > allowed {
		t.Errorf("%d violations of %d, more than %d", violations, draws, allowed)
	}
}

// Parts divide the rows: every row is in one, and so is every group.
func TestPartsAndSamples(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(3, 4))
	for _, groups := range []int{0, 20} {
		x, s, _ := uniformRows(t, r, 20_000, groups)
		rows := OfTable(x.Frame(), s, "rows").(*tableRows)
		parts := []Part{{To: Buckets / 10}, {From: Buckets / 10, To: Buckets / 2}, {From: Buckets / 2, To: Buckets}}
		total, seen := 0, map[string]int{}
		for k, p := range parts {
			positives, negatives, err := rows.Count(ctx, p)
			if err != nil {
				t.Fatal(err)
			}
			total += positives.Rows + negatives.Rows
			in := rows.in(p)
			for row := range x.Label {
				if groups > 0 && in(row) {
					if other, found := seen[x.Group.Values[row]]; found && other != k {
						t.Fatalf("group %s is in two parts", x.Group.Values[row])
					}
					seen[x.Group.Values[row]] = k
				}
			}
			sample, err := rows.Sample(ctx, p, 1000)
			if err != nil {
				t.Fatal(err)
			}
			n := sample.Table.Rows()
			if all := positives.Rows + negatives.Rows; n > 1000 || n < min(all, 1000)-100 {
				t.Errorf("a sample of %d of %d rows", n, all)
			}
			again, err := rows.Sample(ctx, p, 1000)
			if err != nil || !slices.Equal(again.Table.Line, sample.Table.Line) {
				t.Errorf("another sample from the same rows: %v", err)
			}
		}
		if total != 20_000 {
			t.Errorf("%d rows in all parts", total)
		}
	}
}

// The threshold of a rate of the negatives is taken from negatives, so training keeps all positives outside the test part. That of a rate of
// all rows is taken from both.
func TestTrainingKeepsPositives(t *testing.T) {
	ctx := context.Background()
	for kind, groups := range map[metric.GoalKind]int{metric.GoalMaxFPR: 0, metric.GoalTop: 0, "grouped": 50} {
		x, s, _ := uniformRows(t, rand.New(rand.NewPCG(8, 9)), 20_000, groups)
		if groups > 0 {
			s.Group, kind = "g", metric.GoalMaxFPR
		}
		o := tune.SearchOptions{Goal: metric.Goal{Kind: kind, Rate: threshold.MustRate("5%")}, TestFraction: threshold.MustRate("20%")}
		of := &training{rows: OfTable(x.Frame(), s, "rows"), options: o, size: 1000}
		if err := of.divide(ctx); err != nil {
			t.Fatal(err)
		}
		var positives, negatives [3]int
		for k, p := range []Part{of.out.Test, of.out.Calibration, of.out.Training} {
			a, b, err := of.rows.Count(ctx, p)
			if err != nil {
				t.Fatal(err)
			}
			positives[k], negatives[k] = a.Rows, b.Rows
		}
		all := x.OfClass(table.Positive).Rows()
		if n := negatives[0] + negatives[1] + negatives[2]; n != 20_000-all {
			t.Errorf("%s: %d negatives in the parts, want %d", kind, n, 20_000-all)
		}
		shared := positives[0] + positives[1] + positives[2] - all
		if want := map[bool]int{true: positives[1]}[kind == metric.GoalMaxFPR && groups == 0]; shared != want {
			t.Errorf("%s, %d groups: %d positives in two parts, want %d", kind, groups, shared, want)
		}
	}
}

// A source over a part has its rows alone, with their numbers in the table.
func TestSourceOfAPart(t *testing.T) {
	ctx := context.Background()
	x, s, m := uniformRows(t, rand.New(rand.NewPCG(5, 5)), 70_000, 0)
	rows := OfTable(x.Frame(), s, "rows").(*tableRows)
	p := Part{From: Buckets / 3, To: Buckets / 2}
	source, err := rows.Source(ctx, p, feature.MapOf(m.Features()), matrix.Float64, method.Negatives)
	if err != nil {
		t.Fatal(err)
	}
	_, mean, err := source.Means(ctx)
	if err != nil {
		t.Fatal(err)
	}
	sum, n := 0.0, 0
	in := rows.in(p)
	for row, class := range x.Label {
		if class == table.Negative && in(row) {
			sum += x.Columns[0].Values[row]
			n++
		}
	}
	if d := mean[0] - sum/float64(n); n != source.Shape().Population.Rows || d > 1e-12 || d < -1e-12 {
		t.Errorf("%d rows with the mean %v, want %d with %v", source.Shape().Population.Rows, mean[0], n, sum/float64(n))
	}
}
