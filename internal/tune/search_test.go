package tune

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"toptau/internal/feature"
	"toptau/internal/table"
	"toptau/metric"
)

// bell is a sum of four uniforms, centred: bell-shaped on [-2, 2].
func bell(random *rand.Rand) float64 {
	x := -2.0
	for range 4 {
		x += float64(random.Uint64()>>11) / (1 << 53)
	}
	return x
}

// simulated makes overlapping classes: four columns, of which the first carries the class in a straight line and the
// second in a curve that only an encoding can follow.
func simulated(positives, negatives int, seed uint64) *table.Table {
	random := rand.New(rand.NewPCG(seed, 0))
	t := &table.Table{File: "rows.csv"}
	columns := make([][]float64, 4)
	for i := range positives + negatives {
		class := table.Negative
		if (i+1)*positives/(positives+negatives) > i*positives/(positives+negatives) {
			class = table.Positive
		}
		t.Label, t.Line = append(t.Label, class), append(t.Line, i+2)
		for j := range columns {
			x := bell(random)
			switch {
			case class == table.Positive && j == 0:
				x += 0.8
			case class == table.Positive && j == 1:
				x *= 0.3
			}
			columns[j] = append(columns[j], x*float64(j+1))
		}
	}
	for j, values := range columns {
		t.Columns = append(t.Columns, table.Column{Name: fmt.Sprintf("x%d", j+1), Number: j + 1, Values: values})
	}
	return t
}

func goalOf(t testing.TB, text string) metric.Goal {
	t.Helper()
	g, err := metric.ParseGoal(text)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func find(t testing.TB, data *table.Table, o SearchOptions) *Found {
	t.Helper()
	f, err := Search(context.Background(), Data{Table: data}, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// quick are options that take little time: few small trees.
func quick(t testing.TB, goal string) SearchOptions {
	return SearchOptions{Goal: goalOf(t, goal), Seed: 3, Feature: feature.Options{Trees: 8, Leaves: 12}}
}

func warned(f *Found) string {
	var list []string
	for _, w := range f.Warnings {
		list = append(list, w.Code)
	}
	return strings.Join(list, " ")
}
