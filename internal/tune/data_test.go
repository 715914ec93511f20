package tune

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"toptau/internal/table"
)

// dataFile returns a file of the benchmark data, or skips.
func dataFile(t *testing.T, elements ...string) string {
	dir := os.Getenv("TOPTAU_DATA")
	if dir == "" {
		t.Skip("TOPTAU_DATA is not set")
	}
	return filepath.Join(append([]string{dir}, elements...)...)
}

// The paper's protocol in full on ionosphere: the sizes of its Table "counts", and a model that finds most positives.
func TestIonosphere(t *testing.T) {
	if testing.Short() {
		t.Skip("1,000 iterations for each of 18 points")
	}
	path := dataFile(t, "ionosphere", "ionosphere.data")
	data, info, err := table.Read(path, table.Options{Label: "last", Positive: []string{"b"}})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Goal: goalOf(t, "--max-fpr 5%"), Seed: 1}
	r, err := Train(context.Background(), Data{Table: data, Schema: info.Schema}, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Training.Rows() != 175 || r.Validation.Rows() != 88 || r.TestCounts.Rows() != 88 {
		t.Errorf("%v, %v, %v", r.Training, r.Validation, r.TestCounts)
	}
	best := r.Best()
	if best.NoBetterThanZero || best.Goal.Rate < 0.6 || r.Test.Goal.Rate < 0.5 {
		t.Errorf("%s; test %+v", r.Why, r.Test.Goal)
	}
	t.Log(r.Why)
	at := r.Test.AtThreshold
	t.Logf("test part: %s; at the threshold TPR %.3f, FPR %.3f; %v",
		share(r.Test.Goal), at.TruePositiveRate.Rate, at.FalsePositiveRate.Rate, r.Warnings)
}
