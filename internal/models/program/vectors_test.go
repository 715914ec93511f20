package program_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"testing"

	"toptau/internal/tests/modeltest"
	"toptau/model"
)

var update = flag.Bool("update", false, "rewrite testdata/vectors.json")

// vector is a model with records and their scores, for readers in other languages.
type vector struct {
	Model  string     `json:"model"`  // the content of its file
	Rows   [][]string `json:"rows"`   // one text for each of schema.columns; LIBSVM: "index:value"
	Scores []*float64 `json:"scores"` // null: the row is refused
}

// newVector returns a vector of random rows, and of rows that a file may hold: negative zeros, words and blanks around values.
func newVector(t *testing.T, c *modeltest.Case, rows []modeltest.Row) vector {
	t.Helper()
	var b bytes.Buffer
	if _, err := c.Model.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	v := vector{Model: b.String()}
	for _, row := range rows {
		v.Rows = append(v.Rows, row.Fields)
		v.Scores = append(v.Scores, scoreOf(c.Model, row.Fields))
	}
	return v
}

func scoreOf(m *model.Model, fields []string) *float64 {
	z, err := m.ScoreFields(fields)
	if err != nil {
		return nil
	}
	return &z
}

// The vectors in the repository are those of random models of every kind of term, policy and schema.
func TestVectors(t *testing.T) {
	const path = "testdata/vectors.json"
	r := rand.New(rand.NewPCG(45, 7))
	var list []vector
	for i := range 24 {
		c := modeltest.NewWith(r, modeltest.Options{Sparse: i%8 == 0, Salted: i%8 == 1})
		list = append(list, newVector(t, c, c.Rows(r, 12)))
	}
	var b bytes.Buffer
	b.WriteString("[\n")
	for i, v := range list {
		if i > 0 {
			b.WriteString(",\n")
		}
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(v); err != nil {
			t.Fatal(err)
		}
		b.Truncate(b.Len() - 1)
	}
	b.WriteString("\n]\n")
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, b.Bytes()) {
		t.Errorf("%s is not that of these models; run go test ./internal/models/program -run TestVectors -update", path)
	}
}
