package campaigns_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toptau"
	"toptau/certify"
	"toptau/dataset"
	"toptau/decide"
	"toptau/diag"
	"toptau/internal/data/parquet"
	"toptau/internal/data/table"
	"toptau/measure"
	"toptau/method"
	"toptau/model"
	"toptau/monitoring"
	"toptau/schema"
	"toptau/score"
	"toptau/threshold"
)

// randomParquet returns a Parquet file with random rows: two columns of numbers with missing values, one of text, and a label. It writes
// the same rows as CSV.
func randomParquet(t *testing.T, random *rand.Rand, rows int, text *strings.Builder) []byte {
	t.Helper()
	var content bytes.Buffer
	w, err := parquet.NewWriter(&content, []parquet.WriteColumn{{Name: "x"}, {Name: "z"}, {Name: "kind", Type: parquet.Text},
		{Name: "label", Type: parquet.Whole}})
	if err != nil {
		t.Fatal(err)
	}
	if text == nil {
		text = &strings.Builder{}
	}
	text.WriteString("x,z,kind,label\n")
	for i := range rows {
		label := int64(i % 10 / 9)
		x, z, kind := random.NormFloat64()+float64(label), random.ExpFloat64()*1e-5, []string{"tcp", "a \"b\", c", "ß"}[random.IntN(3)]
		w.SetNumber(0, x)
		w.SetNumber(1, z)
		w.SetText(2, kind)
		w.SetWhole(3, label)
		if err := w.EndRow(); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(text, "%v,%v,\"%s\",%d\n", x, z, strings.ReplaceAll(kind, `"`, `""`), label)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return content.Bytes()
}

// A Parquet file and a CSV file with its rows give the same bytes of a model, apart from the digest of the file that it was trained on.
func TestParquetGivesTheModelOfTheCSV(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	dir := t.TempDir()
	var text strings.Builder
	content := randomParquet(t, rand.New(rand.NewPCG(3, 4)), 2000, &text)
	files := map[string]string{"rows.csv": text.String(), "rows.parquet": string(content)}
	for _, c := range []struct {
		name  string
		train func(d *dataset.Data) (*model.Model, error)
	}{
		{"train", func(d *dataset.Data) (*model.Model, error) {
			trained, err := toptau.Train(t.Context(), d, toptau.MaxFPR("5%"), toptau.TrainOptions{Method: []method.Name{method.Logistic, method.PatMatNP},
				Encoding: []schema.Encoding{schema.Raw, schema.Scorecard}})
			if err != nil {
				return nil, err
			}
			return trained.Model, nil
		}},
		{"fit", func(d *dataset.Data) (*model.Model, error) {
			fitted, err := certify.Fit(t.Context(), d, method.Problem{Method: method.TopMeanNP, Tau: threshold.MustRate("10%")}, certify.FitOptions{})
			if err != nil {
				return nil, err
			}
			return fitted.Model, nil
		}},
	} {
		models := map[string]string{}
		for name, content := range files {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
			d, err := dataset.Read(t.Context(), path, schema.Format{Label: "label"})
			if err != nil {
				t.Fatal(err)
			}
			m, err := c.train(d)
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if _, err := m.WriteTo(&b); err != nil {
				t.Fatal(err)
			}
			models[name] = digests.ReplaceAllString(b.String(), "")
		}
		if a, b := models["rows.parquet"], models["rows.csv"]; a != b {
			i := 0
			for i < min(len(a), len(b)) && a[i] == b[i] {
				i++
			}
			t.Errorf("%s: the models differ at byte %d: %.100q from Parquet, %.100q from CSV", c.name, i, a[max(0, i-50):], b[max(0, i-50):])
		}
	}
}

// digests matches the digest of the training file and that of the model itself.
var digests = regexp.MustCompile(`sha256:[0-9a-f]{64}`)

// A directory with partitions is data for every verb. The monitor explains why its keys alarm.
func TestPartitionedDirectoryInEveryVerb(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every verb")
	}
	lake := t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	for day := range 3 {
		folder := filepath.Join(lake, fmt.Sprintf("day=%d", day))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		content := randomParquet(t, random, 3000, nil)
		for _, name := range []string{"part-0.parquet", ".part-0.parquet.crc", "_SUCCESS"} {
			if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	open := func() *table.Files {
		files, err := table.OpenFiles(lake)
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	d, err := dataset.ReadFrom(t.Context(), open(), schema.Format{Label: "label"})
	if err != nil {
		t.Fatal(err)
	}
	trained, err := toptau.Train(t.Context(), d, toptau.MaxFPR("5%"), toptau.TrainOptions{Method: []method.Name{method.Logistic}, Encoding: []schema.Encoding{schema.Raw}})
	if err != nil {
		t.Fatal(err)
	}
	m := trained.Model
	if _, err := measure.Evaluate(t.Context(), d, []dataset.Entry{{Model: m}}, measure.Options{}); err != nil {
		t.Errorf("evaluate: %v", err)
	}
	if _, err := decide.Threshold(t.Context(), d, dataset.Entry{Model: m}, toptau.MaxFPR("5%"), decide.Options{}); err != nil {
		t.Errorf("threshold: %v", err)
	}
	if _, err := certify.Diagnose(t.Context(), d, certify.DiagnoseOptions{}); err != nil {
		t.Errorf("diagnose: %v", err)
	}
	stream, err := score.Open(t.Context(), m, open(), score.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, err := range stream.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		rows++
	}
	w, err := monitoring.Run(t.Context(), m, open(), monitoring.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if rows != 9000 || w.Result.Rows != rows {
		t.Errorf("%d rows scored, %d watched", rows, w.Result.Rows)
	}
	explained := slices.ContainsFunc(w.Result.Warnings, func(w diag.Warning) bool { return w.Code == "folders-in-turn" })
	if !w.Result.Alarm() || !explained {
		t.Errorf("alarms %+v, warnings %+v", w.Result.Alarms, w.Result.Warnings)
	}
}
