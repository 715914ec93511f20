package tune

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"toptau/schema"

	"toptau/internal/data/table"
)

// dataFile returns a file of the benchmark data, or skips.
func dataFile(t *testing.T, elements ...string) string {
	dir := os.Getenv("TOPTAU_DATA")
	if dir == "" {
		t.Skip("TOPTAU_DATA is not set")
	}
	return filepath.Join(append([]string{dir}, elements...)...)
}

// The default on ionosphere: every row fits, and the guard is not needed to find most positives.
func TestIonosphere(t *testing.T) {
	path := dataFile(t, "ionosphere", "ionosphere.data")
	data, info, err := table.Read(path, table.Options{Format: schema.Format{Label: "last", Positive: []string{"b"}}})
	if err != nil {
		t.Fatal(err)
	}
	o := SearchOptions{Goal: goalOf(t, "--max-fpr 5%"), Seed: 1}
	f, err := Search(context.Background(), Data{Table: data, Schema: info.Schema}, o)
	if err != nil {
		t.Fatal(err)
	}
	if f.Training.Rows() != 351 || f.Folds != 5 || f.Choice.Score.Mean < 0.7 || f.Test != nil {
		t.Errorf("%v in %d folds, %+v, %v", f.Training, f.Folds, f.Choice.Score, f.Test)
	}
	t.Log(f.Choice)
}

func TestEncodingsThatAreTried(t *testing.T) {
	number := table.Column{Name: "x", Values: []float64{1, 2}}
	category := table.Column{Name: "c", Kind: schema.Categorical, Codes: []int32{0, 1}, Dictionary: []string{"a", "b"}}
	for _, test := range []struct {
		t    *table.Table
		want string
	}{
		{&table.Table{Columns: []table.Column{number, category}, Line: []int{1, 2}}, "[raw boosted stochastic]"},
		{&table.Table{Columns: []table.Column{category}, Line: []int{1, 2}}, "[raw boosted stochastic]"},
		{&table.Table{Sparse: &table.Sparse{Cols: 300, Start: []int64{0, 0}}, Line: []int{1}}, "[raw boosted stochastic]"},
		{&table.Table{Sparse: &table.Sparse{Cols: 3000, Start: []int64{0, 0}}, Line: []int{1}}, "[raw]"},
	} {
		if got := fmt.Sprint(encodingsFor(test.t)); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}
