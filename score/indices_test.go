package score_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"toptau"
	"toptau/internal/tests/trial"
	"toptau/method"
	"toptau/model"
	"toptau/schema"
	"toptau/score"
)

// The positives are in opposite quadrants of two indices. No weighted sum of the indices separates the classes, but trees do. Train
// chooses leaves, and the saved model scores files and single records of index:value alike.
func TestTrainOnIndices(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: a search")
	}
	var b strings.Builder
	var lines []string
	r := rand.New(rand.NewPCG(3, 1))
	for range 3000 {
		x, y := float64(r.IntN(41)-20)/10, float64(r.IntN(41)-20)/10
		var fields []string
		for i, v := range []float64{x, float64(r.IntN(3)), y, float64(r.IntN(2))} {
			if v != 0 {
				fields = append(fields, fmt.Sprintf("%d:%g", i+1, v))
			}
		}
		label := "-1"
		if x*y > 0.4 {
			label = "+1"
		}
		lines = append(lines, strings.Join(fields, " "))
		b.WriteString(label + " " + lines[len(lines)-1] + "\n")
	}
	path := trial.WriteFile(t, "quadrants.svm", b.String())
	goal := toptau.MaxFPR("2%")
	o := toptau.TrainOptions{Method: []method.Name{method.Logistic}, Encoding: []schema.Encoding{schema.Raw, schema.Leaves}, Seed: 1}
	trained, err := toptau.Train(t.Context(), trial.ReadFile(t, path, schema.Format{}), goal, o)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(trained.Result.Why, "leaves") {
		t.Errorf("chosen: %s", trained.Result.Why)
	}
	saved := filepath.Join(t.TempDir(), "m.json")
	if err := trained.Model.Save(saved); err != nil {
		t.Fatal(err)
	}
	m, err := model.Load(saved)
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := trial.ScoreAll(t, m, path, score.Options{})
	s := m.NewScorer()
	for i, line := range lines[:200] {
		z, err := s.ScoreFields(strings.Fields(line))
		if err != nil || math.Float64bits(z) != math.Float64bits(rows[i].Score) {
			t.Fatalf("record %q: score %v, %v; in the file %v", line, z, err, rows[i].Score)
		}
	}
	c := explainFile(t, m, path, score.ExplainOptions{})
	for i, name := range []string{"index 1", "index 3"} {
		if got := c.Columns[i]; got.Column != name && c.Columns[1-i].Column != name || len(got.Shape) < 5 {
			t.Errorf("column %d: %+v, want %s with a shape", i, got, name)
		}
	}
}
