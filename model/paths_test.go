package model

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toptau/schema"

	"github.com/google/go-cmp/cmp"

	"toptau/diag"
	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
)

// fitted reads data, fits a map and gives it random weights: a model as a solver would leave it.
func fitted(t testing.TB, name, text string, o table.Options, f feature.Options) (*Model, *table.Table, *feature.Map) {
	r, err := table.NewReader(name, strings.NewReader(text), o)
	if err != nil {
		t.Fatal(err)
	}
	data, err := r.Next(math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(1); err != io.EOF {
		t.Fatal(err)
	}
	return modelOf(t, data, r.Schema(), f)
}

func modelOf(t testing.TB, data *table.Table, s schema.Schema, f feature.Options) (*Model, *table.Table, *feature.Map) {
	fitted, _, err := feature.Fit(data, s, nil, f)
	if err != nil {
		t.Fatal(err)
	}
	weights := make([]float64, fitted.Cols())
	r := rand.New(rand.NewPCG(5, 6))
	for j := range weights {
		weights[j] = r.Float64() - 0.5
	}
	m, err := New(Parts{Schema: s, Features: fitted, Weights: weights})
	if err != nil {
		t.Fatal(err)
	}
	return m, data, fitted
}

// reloaded saves and loads a model.
func reloaded(t testing.TB, m *Model) *Model {
	path := filepath.Join(t.TempDir(), "m.json")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	again, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// streamed scores text in chunks by a model.
func streamed(t testing.TB, m *Model, name, text string, chunk int) ([]float64, *feature.Scorer) {
	trained := m.Schema()
	scorer := feature.ScorerOf(m)
	r, err := table.NewReader(name, strings.NewReader(text), table.Options{Schema: &trained, Unlabelled: true})
	if err != nil {
		t.Fatal(err)
	}
	var all []float64
	for {
		part, err := r.Next(chunk)
		if err == io.EOF {
			return all, scorer
		}
		if err != nil {
			t.Fatal(err)
		}
		z := make([]float64, part.Rows())
		if err := scorer.Scores(part, z); err != nil {
			t.Fatal(err)
		}
		all = append(all, z...)
	}
}

// flows is a CSV of every kind of field.
func flows(rows int) string {
	r := rand.New(rand.NewPCG(7, 8))
	var b strings.Builder
	b.WriteString("id,bytes,service,rate,note,label\n")
	for i := range rows {
		bytes := fmt.Sprint(r.IntN(100000))
		if r.IntN(20) == 0 {
			bytes = []string{"", "NA", " +1e3 ", ".5", "5."}[r.IntN(5)]
		}
		service := []string{"http", "ftp", `"a ""b"", c"`, "", "NA", " dns "}[r.IntN(6)]
		fmt.Fprintf(&b, "%d,%s,%s,%v,x,%d\n", i, bytes, service, r.Float64(), i%2)
	}
	return b.String()
}

// packedScores returns the scores of the packed matrix, row by row of the data.
func packedScores(t *testing.T, m *Model, data *table.Table, fitted *feature.Map) []float64 {
	t.Helper()
	packed, err := fitted.Matrix(data, nil, matrix.Float32)
	if err != nil {
		t.Fatal(err)
	}
	scores := make([]float64, data.Rows())
	for _, part := range []*matrix.ClassRows{packed.Positives, packed.Negatives} {
		z := make([]float64, part.Rows())
		part.Scores(m.parts.Weights, z)
		for i := range z {
			scores[part.Source(i)] = z[i]
		}
	}
	return scores
}

// One record, a stream of any chunks, and the packed matrix give the same bits.
func TestAllPathsScoreTheSameBits(t *testing.T) {
	text := flows(150)
	m, data, fitted := fitted(t, "flows.csv", text, table.Options{Format: schema.Format{Label: "label", Drop: []string{"id"}, Missing: []string{"NA"}}},
		feature.Options{Impute: schema.ImputeIndicator})
	again := reloaded(t, m)

	want := packedScores(t, m, data, fitted)
	for _, chunk := range []int{1, 7, 1000} {
		if got, _ := streamed(t, again, "flows.csv", text, chunk); !slices.Equal(got, want) {
			t.Errorf("chunks of %d rows: other scores than the matrix", chunk)
		}
	}

	r, err := table.NewReader("flows.csv", strings.NewReader(text), table.Options{Format: schema.Format{Label: "label"}, Raw: true})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := r.Next(math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	scorer := again.NewScorer()
	for i, fields := range raw.Raw {
		record := map[string]string{}
		for j, name := range r.Names() {
			record[name] = fields[j]
		}
		if got, err := scorer.Score(record); err != nil || got != want[i] {
			t.Fatalf("row %d: record %v scores %v, %v; matrix %v", i, record, got, err, want[i])
		}
	}
}

func TestSparsePathsScoreTheSameBits(t *testing.T) {
	text := "+1 1:3 4:0.25 9:7\n-1 2:1 4:-2\n-1\n+1 1:1 2:1e3 9:0\n"
	m, data, fitted := fitted(t, "a.svm", text, table.Options{}, feature.Options{})
	again := reloaded(t, m)
	packed, err := fitted.Matrix(data, nil, matrix.Float32)
	if err != nil {
		t.Fatal(err)
	}
	z := make([]float64, packed.Positives.Rows())
	packed.Positives.Scores(m.parts.Weights, z)
	got, _ := streamed(t, again, "a.svm", text, 2)
	if got[0] != z[0] || got[3] != z[1] {
		t.Errorf("streamed %v, matrix %v", got, z)
	}
	one, err := again.ScoreFields([]string{"1:3", "4:0.25", "9:7"})
	if err != nil || one != z[0] {
		t.Errorf("fields: %v, %v; matrix %v", one, err, z[0])
	}
}

// Unknown and missing values in a later file follow the policy and are counted; a known category is known
// however many unknown ones came before it.
func TestCountsInALaterFile(t *testing.T) {
	m, _, _ := fitted(t, "train.csv", "x,s,label\n1,a,1\n2,b,0\n3,a,1\n5,b,0\n",
		table.Options{Format: schema.Format{Label: "label"}}, feature.Options{Impute: schema.ImputeMedian})
	var later strings.Builder
	later.WriteString("s,x,extra\n")
	for i := range 70_000 {
		fmt.Fprintf(&later, "new %d,1,0\n", i)
	}
	later.WriteString("b,,0\n")
	scores, scorer := streamed(t, m, "later.csv", later.String(), 4096)
	want := []feature.Tally{{Column: "x", Missing: 1}, {Column: "s", Unknown: 70_000}}
	if got := scorer.Row.Counts.Tallies(scorer.Map); !slices.Equal(got, want) {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	known, err := m.Score(map[string]string{"x": "", "s": "b"})
	if err != nil || scores[70_000] != known {
		t.Errorf("the last row scores %v, the record %v, %v", scores[70_000], known, err)
	}
}

// Fields that one reader refuses the other refuses too.
func TestNumbersAreReadAlike(t *testing.T) {
	m, _, _ := fitted(t, "train.csv", "x,label\n1,1\n2,0\n3,1\n", table.Options{Format: schema.Format{Label: "label"}},
		feature.Options{Impute: schema.ImputeZero, Scale: schema.ScaleNone})
	m = changed(t, m, func(p *Parts) { p.Weights[0] = 1 })
	trained := m.Schema()
	for _, field := range []string{"1", "+1", "-1.5e3", ".5", "5.", " 7 ", "\t7", "1e22", "1e-300", "123456789012345678", "0.1",
		"", " ", "x", "1x", "0x10", "1_000", "inf", "-Infinity", "NaN", "1e999", "1,5", "--1", "1e", "e5", ".", "+", "1 2", "\u0661"} {
		one, recordError := m.Score(map[string]string{"x": field})
		r, err := table.NewReader("f.csv", strings.NewReader("x,y\n\""+field+"\",0\n"), table.Options{Schema: &trained, Unlabelled: true})
		if err != nil {
			t.Fatal(err)
		}
		part, fileError := r.Next(10)
		if (recordError == nil) != (fileError == nil) {
			t.Errorf("%q: record %v, file %v", field, recordError, fileError)
			continue
		}
		if fileError != nil {
			continue
		}
		scorer := feature.ScorerOf(m)
		z := make([]float64, 1)
		if err := scorer.Scores(part, z); err != nil || z[0] != one {
			t.Errorf("%q: record %v, file %v, %v", field, one, z[0], err)
		}
	}
}

// A model has the schema of its training file, with the categories that have weights.
func TestSchemaIsThatOfTheTrainingFile(t *testing.T) {
	o := table.Options{Format: schema.Format{Label: "label", Drop: []string{"id"}, Missing: []string{"NA"}}}
	r, err := table.NewReader("flows.csv", strings.NewReader(flows(20)), o)
	if err != nil {
		t.Fatal(err)
	}
	data, err := r.Next(math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	m, _, _ := modelOf(t, data, r.Schema(), feature.Options{Impute: schema.ImputeZero})
	s := m.Schema()
	if len(s.Columns) != 4 || !slices.Contains(s.Columns[1].Dictionary, `a "b", c`) {
		t.Errorf("columns %+v", s.Columns)
	}
	if diff := cmp.Diff(cloneSchema(r.Schema()), cloneSchema(s)); diff != "" {
		t.Errorf("(-training +model):\n%s", diff)
	}
	if s.Label == nil || len(s.Missing) != 1 || len(s.Others) != 1 {
		t.Errorf("schema %+v", s)
	}
}

// kddcup99 as a whole, on TOPTAU_DATA: 494,021 rows fit, pack and score; files end in the same bits as the
// matrix.
func TestKddcup99(t *testing.T) {
	root := os.Getenv("TOPTAU_DATA")
	if root == "" || testing.Short() {
		t.Skip("needs TOPTAU_DATA, a directory of data sets, and no -short")
	}
	path := filepath.Join(root, "kddcup99", "kddcup.data_10_percent.gz")
	data, info, err := table.Read(path, table.Options{Format: schema.Format{Label: "42", Positive: []string{"!normal."}}})
	if err != nil {
		t.Fatal(err)
	}
	m, _, fitted := modelOf(t, data, info.Schema, feature.Options{})
	want := packedScores(t, m, data, fitted)
	scorer := feature.ScorerOf(reloaded(t, m))
	got := make([]float64, data.Rows())
	if err := scorer.Scores(data, got); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Error("other scores than the matrix")
	}
	if data.Rows() != 494_021 || !slices.Contains(fitted.Names(), "column 3=http") {
		t.Errorf("%d rows, names %q", data.Rows(), fitted.Names()[:10])
	}
}

func TestMismatchNamesTheColumns(t *testing.T) {
	m, _, _ := fitted(t, "train.csv", "x,s,label\n1,a,1\n2,b,0\n3,a,1\n5,b,0\n", table.Options{Format: schema.Format{Label: "label"}}, feature.Options{})
	trained := m.Schema()
	later := strings.NewReader("s,y\na,1\nb,2\n")
	_, err := table.NewReader("later.csv", later, table.Options{Schema: &trained, Unlabelled: true})
	want := `missing columns: "x"; extra columns: "y"`
	if e := diag.Of(err); e == nil || e.Kind != diag.Model || !strings.Contains(err.Error(), want) {
		t.Errorf("%v", err)
	}
}
