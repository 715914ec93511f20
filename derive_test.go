package toptau_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"toptau"
	"toptau/dataset"
	"toptau/metric"
	"toptau/model"
	"toptau/schema"
)

// Train finds a ratio, the model comes back from its file, explanations name the two columns alone, and every export takes it.
func TestTrainWithDerivedColumns(t *testing.T) {
	if testing.Short() {
		t.Skip("trains a model")
	}
	r := rand.New(rand.NewPCG(5, 6))
	var file strings.Builder
	file.WriteString("debt,income,age,y\n")
	for range 2500 {
		debt, income, class := math.Exp(r.NormFloat64()), math.Exp(r.NormFloat64()), 0
		if ratio := debt / income; 1 < ratio && ratio < 1.5 && r.IntN(5) > 0 || r.IntN(50) == 0 {
			class = 1
		}
		fmt.Fprintf(&file, "%.4g,%.4g,%d,%d\n", debt, income, r.IntN(60), class)
	}
	d, err := dataset.ReadFrom(t.Context(), strings.NewReader(file.String()), schema.Format{Label: "y"})
	if err != nil {
		t.Fatal(err)
	}
	trained, err := toptau.Train(t.Context(), d, metric.RateGoal(metric.GoalMaxFPR, "5%"), toptau.TrainOptions{Derive: schema.DerivePairs})
	if err != nil {
		t.Fatal(err)
	}
	if why := trained.Result.Why; !trained.Result.Choice.Derived || !strings.Contains(why, "derived columns bring +") {
		t.Fatalf("derived columns are left out: %s", why)
	}
	var content bytes.Buffer
	if _, err := trained.Model.WriteTo(&content); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(content.String(), `"derived":[{"op":"-","a":0,"b":1}`) {
		t.Error("the model file has no derived columns")
	}
	m, err := model.Read(&content, "model")
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Explain(map[string]string{"debt": "1.2", "income": "1", "age": "30"})
	if err != nil {
		t.Fatal(err)
	}
	sum := e.Offset
	for _, reason := range e.Reasons {
		sum += reason.Adds
		if reason.Column != "debt" && reason.Column != "income" && reason.Column != "age" {
			t.Errorf("a reason of the column %q", reason.Column)
		}
	}
	if sum+e.Rounding != e.Score {
		t.Errorf("reasons add up to %v, and the score is %v", sum+e.Rounding, e.Score)
	}
	for _, target := range []string{"onnx", "sql", "c", "go"} {
		if _, err := toptau.Export(&bytes.Buffer{}, m, target, toptau.ExportOptions{}); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
}
