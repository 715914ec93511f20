package dataset_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"toptau/certify"
	"toptau/dataset"
	"toptau/diag"
	"toptau/internal/tests/trial"
	"toptau/measure"
	"toptau/method"
	"toptau/schema"
	"toptau/threshold"
)

func TestRowsThatDoNotFit(t *testing.T) {
	two := []string{"a", "b"}
	for name, c := range map[string]struct {
		rows  dataset.Rows
		parts []string
	}{
		"fewer labels":       {dataset.Rows{Columns: two, Numbers: [][]float64{{1, 2}, {3, 4}}, Positive: []bool{true}}, []string{"2 rows of numbers and 1 labels"}},
		"a short row":        {dataset.Rows{Columns: two, Numbers: [][]float64{{1, 2}, {3}}, Positive: []bool{true, false}}, []string{"row 2 has 1 numbers", "expected 2"}},
		"a long row":         {dataset.Rows{Columns: two, Numbers: [][]float64{{1, 2, 3}}, Positive: []bool{true}}, []string{"row 1 has 3 numbers"}},
		"infinity":           {dataset.Rows{Columns: two, Numbers: [][]float64{{math.Inf(-1), 0}}, Positive: []bool{true}}, []string{`row 1: column "a": -Inf`, "finite"}},
		"a name twice":       {dataset.Rows{Columns: []string{"a", "b", "a"}, Numbers: [][]float64{{1, 2, 3}}, Positive: []bool{true}}, []string{`"a" for column 3`}},
		"an empty name":      {dataset.Rows{Columns: []string{"a", ""}, Numbers: [][]float64{{1, 2}}, Positive: []bool{true}}, []string{`"" for column 2`}},
		"labels but no rows": {dataset.Rows{Columns: two, Positive: []bool{true}}, []string{"0 rows of numbers and 1 labels"}},
		"a name of both kinds": {dataset.Rows{Columns: two, Numbers: [][]float64{{1, 2}}, TextColumns: []string{"b"}, Texts: [][]string{{"x"}},
			Positive: []bool{true}}, []string{`"b" for column 3`}},
		"fewer texts":   {dataset.Rows{TextColumns: two, Texts: [][]string{{"x"}}, Positive: []bool{true}}, []string{"row 1 has 1 texts", "expected 2"}},
		"no rows":       {dataset.Rows{Columns: two}, []string{"0 rows, 0 of them positive", "rows of both classes"}},
		"one class":     {dataset.Rows{Columns: []string{"a"}, Numbers: [][]float64{{1}}, Positive: []bool{true}}, []string{"1 rows, 1 of them positive"}},
		"fewer weights": {dataset.Rows{Columns: []string{"a"}, Numbers: [][]float64{{1}, {2}}, Positive: []bool{true, false}, Weight: []float64{1}}, []string{"1 weights and 2 labels"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.rows.Data()
			trial.WantError(t, err, diag.Data, c.parts...)
		})
	}
}

// NaN and the empty text are missing values, as an empty field of a file is.
func TestRowsWithMissingValues(t *testing.T) {
	rows := dataset.Rows{Columns: []string{"a"}, Numbers: [][]float64{{1}, {math.NaN()}, {3}, {0}}, TextColumns: []string{"kind"},
		Texts: [][]string{{"x"}, {"y"}, {""}, {"y"}}, Positive: []bool{true, false, true, false}}
	d := trial.RowsData(t, rows)
	_, err := certify.Fit(t.Context(), d, trial.TopPush(0.1), certify.FitOptions{})
	trial.WantError(t, err, diag.Data, `column "a"`, "missing")
	inMemory := trial.FitData(t, d, trial.FitCase{Problem: trial.TopPush(0.1), FitOptions: certify.FitOptions{Impute: schema.ImputeIndicator}})
	file := trial.WriteFile(t, "d.csv", "a,kind,y\n1,x,true\n,y,false\n3,,true\n0,y,false\n")
	fromFile := trial.FitData(t, trial.ReadFile(t, file, schema.Format{Label: "y"}), trial.FitCase{Problem: trial.TopPush(0.1), FitOptions: certify.FitOptions{Impute: schema.ImputeIndicator}})
	if !slices.Equal(trial.Weights(inMemory.Model), trial.Weights(fromFile.Model)) {
		t.Errorf("weights %v, from the same rows in a file %v", trial.Weights(inMemory.Model), trial.Weights(fromFile.Model))
	}
}

func TestRowsWithoutBothClassesAreNoData(t *testing.T) {
	for name, c := range map[string]dataset.Rows{
		"no negatives": {Columns: []string{"x"}, Numbers: [][]float64{{1}, {2}}, Positive: []bool{true, true}},
		"no positives": {Columns: []string{"x"}, Numbers: [][]float64{{1}, {2}}, Positive: []bool{false, false}},
		"no rows":      {Columns: []string{"x"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.Data()
			trial.WantError(t, err, diag.Data, "rows of both classes")
		})
	}
}

func TestRowsAgreeWithTheSameFile(t *testing.T) {
	rows := [][]float64{{4, 2.5}, {3, 0.5}, {2, 1.5}, {2.5, -1}, {1, 1}, {0, 2}}
	positive := []bool{true, true, true, false, false, false}
	file := "size,speed,y\n"
	for i, row := range rows {
		file += fmt.Sprintf("%v,%v,%t\n", row[0], row[1], positive[i])
	}
	inMemory := trial.RowsData(t, dataset.Rows{Columns: []string{"size", "speed"}, Numbers: rows, Positive: positive})
	if inMemory.Len() != 6 || inMemory.Positives() != 3 {
		t.Errorf("%d rows, %d positive", inMemory.Len(), inMemory.Positives())
	}
	path := trial.WriteFile(t, "d.csv", file)
	c := trial.ShortAdam(method.Problem{Method: method.PatMatNP, Tau: threshold.MustRate("1/3"), Beta: 1, Lambda: 0.1}, 50)
	a, b := trial.FitData(t, inMemory, c), trial.FitData(t, trial.ReadFile(t, path, schema.Format{Label: "y"}), c)
	if !slices.Equal(trial.Weights(a.Model), trial.Weights(b.Model)) || a.Result.Threshold != b.Result.Threshold {
		t.Errorf("in memory %v above %v, from a file %v above %v", trial.Weights(a.Model), a.Result.Threshold, trial.Weights(b.Model),
			b.Result.Threshold)
	}
	// A model of rows in memory has no label column, so reading a file needs one.
	_, err := trial.ReadLike(t, a.Model, path, schema.Format{})
	trial.WantError(t, err, diag.Usage, "label")
	d, err := trial.ReadLike(t, a.Model, path, schema.Format{Label: "y"})
	if err != nil {
		t.Fatal(err)
	}
	if d.Positives() != 3 {
		t.Errorf("%d positives", d.Positives())
	}
}

func TestFilesAreReadAsInTraining(t *testing.T) {
	m := trial.SmallModel(t)
	reordered := "attack,extra,kind,speed,size\nyes,7,red,2.5,4\nno,8,violet,-1,2.5\n"
	d, err := trial.ReadLike(t, m, trial.WriteFile(t, "reordered.csv", reordered), schema.Format{})
	if err != nil {
		t.Fatal(err)
	}
	if d.Len() != 2 || d.Positives() != 1 {
		t.Errorf("%d rows, %d positive, want 2 and 1", d.Len(), d.Positives())
	}
	e := trial.Evaluate(t, d, m, measure.Options{Replicates: 10})
	if e.Unknown == nil || *e.Unknown != 1 {
		t.Errorf("%s unknown values, want 1: violet", trial.AsJSON(t, e.Unknown))
	}
	for _, code := range []string{"extra-columns", "reordered-columns"} {
		if !slices.ContainsFunc(e.Warnings, func(w diag.Warning) bool { return w.Code == code }) {
			t.Errorf("no warning %s among %v", code, e.Warnings)
		}
	}

	_, err = trial.ReadLike(t, m, trial.WriteFile(t, "missing.csv", "attack,size,kind\nyes,1,red\n"), schema.Format{})
	trial.WantError(t, err, diag.Model, `missing columns: "speed"`)
	_, err = trial.ReadLike(t, m, trial.WriteFile(t, "unlabelled.csv", "size,kind,speed\n1,red,2\n"), schema.Format{})
	trial.WantError(t, err, diag.Data, `"attack"`)

	// A format replaces what the model recorded.
	other := "size,speed,kind,verdict\n1,2,red,bad\n2,1,red,good\n"
	d, err = trial.ReadLike(t, m, trial.WriteFile(t, "other.csv", other), schema.Format{Label: "verdict", Positive: []string{"bad"}})
	if err != nil {
		t.Fatal(err)
	}
	if d.Positives() != 1 {
		t.Errorf("%d positives", d.Positives())
	}
}

func TestColumnsAreMatchedByNumberWithoutAHeader(t *testing.T) {
	_, rows, _ := strings.Cut(trial.SmallTable, "\n")
	format := schema.Format{Header: "no", Label: "6", Positive: []string{"yes"}, Drop: []string{"1,5"}}
	d := trial.ReadFile(t, trial.WriteFile(t, "train.csv", rows), format)
	m := trial.FitData(t, d, trial.ShortAdam(trial.TopPush(0.01), 20)).Model
	again, err := trial.ReadLike(t, m, trial.WriteFile(t, "again.csv", rows), schema.Format{})
	if err != nil {
		t.Fatal(err)
	}
	if again.Len() != 8 || again.Positives() != 3 {
		t.Errorf("%d rows, %d positive", again.Len(), again.Positives())
	}
}
