// Package trial has the rows, models and shortcuts that tests of the public packages share.
package trial

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toptau/certify"
	"toptau/dataset"
	"toptau/diag"
	"toptau/measure"
	"toptau/method"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
	"toptau/score"
)

// WriteFile makes a file in a temporary directory.
func WriteFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func ReadFile(t *testing.T, path string, f schema.Format) *dataset.Data {
	t.Helper()
	d, err := dataset.Read(t.Context(), path, f)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func FitData(t *testing.T, d *dataset.Data, c FitCase) *certify.Fitted {
	t.Helper()
	fitted, err := certify.Fit(t.Context(), d, c.Problem, c.FitOptions)
	if err != nil {
		t.Fatal(err)
	}
	return fitted
}

// Evaluate measures one model.
func Evaluate(t *testing.T, d *dataset.Data, m *model.Model, o measure.Options) *measure.Evaluation {
	t.Helper()
	e, err := measure.Evaluate(t.Context(), d, []dataset.Entry{{Model: m}}, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// ShortAdam fits a problem with few steps of ADAM.
func ShortAdam(p method.Problem, steps int) FitCase {
	return FitCase{p, certify.FitOptions{Settings: method.Settings{Solver: method.Adam, Iterations: steps}}}
}

// ReadLike reads a file as the training file of m was read, except for what f sets.
func ReadLike(t *testing.T, m *model.Model, path string, f schema.Format) (*dataset.Data, error) {
	t.Helper()
	like := m.Format()
	if f.Segment == "" {
		f.Segment = like.Segment
	}
	return dataset.Read(t.Context(), path, f.Like(*like.Schema()))
}

// WantError fails unless err has an Error of the kind and its text contains every part.
func WantError(t *testing.T, err error, kind diag.Kind, parts ...string) {
	t.Helper()
	if e := diag.Of(err); e == nil || e.Kind != kind {
		t.Errorf("got the error %v, want one of kind %s", err, kind)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error %q lacks %q", err, part)
		}
	}
}

// SmallTable has two numeric columns that separate the classes, a categorical column, a name and a site.
const SmallTable = `name,size,speed,kind,site,attack
a,4,2.5,red,north,yes
b,3,0.5,red,south,yes
c,2,1.5,blue,north,yes
d,2.5,-1,blue,south,no
e,1,1,red,north,no
f,0,2,blue,south,no
g,-1,-2,green,north,no
h,-2,0,green,south,no
`

var SmallFormat = schema.Format{Label: "attack", Positive: []string{"yes"}, ID: []string{"name"}, Drop: []string{"site"}}

func TopPush(lambda float64) method.Problem {
	return method.Problem{Method: method.TopPush, Lambda: lambda}
}

func SmallModel(t *testing.T) *model.Model {
	t.Helper()
	d := ReadFile(t, WriteFile(t, "small.csv", SmallTable), SmallFormat)
	return FitData(t, d, ShortAdam(TopPush(0.01), 100)).Model
}

func RowsData(t *testing.T, rows dataset.Rows) *dataset.Data {
	t.Helper()
	d, err := rows.Data()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// OpenStream opens a file and returns the stream of its scored rows.
func OpenStream(t *testing.T, ctx context.Context, m *model.Model, path string, o score.Options) (*score.Stream, error) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return score.Open(ctx, m, f, o)
}

// ScoreAll returns copies of all scored rows, and the stream.
func ScoreAll(t *testing.T, m *model.Model, path string, o score.Options) ([]result.Row, *score.Stream) {
	t.Helper()
	s, err := OpenStream(t, t.Context(), m, path, o)
	if err != nil {
		t.Fatal(err)
	}
	var rows []result.Row
	for row, err := range s.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row.Clone())
	}
	return rows, s
}

// SeparableData has one positive row in ten. Positives stand out in the first of three columns.
func SeparableData(t *testing.T, n int) *dataset.Data {
	t.Helper()
	r := rand.New(rand.NewPCG(5, uint64(n)))
	rows, positive := make([][]float64, n), make([]bool, n)
	for i := range rows {
		rows[i] = []float64{r.Float64(), r.Float64(), r.Float64()}
		if positive[i] = i%10 == 0; positive[i] {
			rows[i][0] += 0.8
		}
	}
	return RowsData(t, dataset.Rows{Columns: []string{"a", "b", "c"}, Numbers: rows, Positive: positive})
}

// Weights returns a model's weights.
func Weights(m *model.Model) []float64 {
	var list []float64
	for _, w := range m.Weights() {
		list = append(list, w)
	}
	return list
}

// FitCase is what a test fits.
type FitCase struct {
	method.Problem
	certify.FitOptions
}

// The same data, options and seed give the same bytes of the model file and of every result, for any number of threads and any
// build. Only fields that begin with seconds_ differ.

// Marshal returns a result as --json prints it.
func Marshal(t *testing.T, document any) []byte {
	t.Helper()
	text, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
