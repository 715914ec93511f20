package feature

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
	"toptau/schema"
)

// The matrix has the rows that Encode returns, also unknown and missing values, and takes a byte per row for
// a categorical column.
func TestOneHotInTheMatrix(t *testing.T) {
	training := tableOf(symbol("s", "a", "b", "a", "c", ""), number("x", 1, missing, 3, 4, 5),
		symbol("u", "p", "q", "q", "p", "p"))
	later := tableOf(symbol("s", "c", "new", "", "a", "b"), number("x", missing, 2, missing, 4, 5),
		symbol("u", "q", "p", "new", "new", ""))
	for _, scale := range []schema.Scale{schema.ScaleStandard, schema.ScaleAll, schema.ScaleNone} {
		m := fit(t, training, Options{Scale: scale, Impute: schema.ImputeIndicator})
		if spec := m.Layout()[1]; spec.Kind != matrix.Coded || len(spec.Groups) != 3 || spec.Cols != 7 {
			t.Fatalf("layout %+v", m.Layout())
		}
		want := encoded(t, m, later)
		for _, storage := range []matrix.Storage{matrix.Float32, matrix.Float64} {
			x, err := m.Matrix(later, nil, storage)
			if err != nil {
				t.Fatal(err)
			}
			got := make([][]float64, len(want))
			for _, p := range []*matrix.ClassRows{x.Positives, x.Negatives} {
				for i := range p.Rows() {
					row := make([]float64, m.Cols())
					p.Row(i, row)
					for j := range row {
						row[j] = float64(float32(row[j]))
					}
					got[p.Source(i)] = row
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("scale %s, storage %d (-want +got):\n%s", scale, storage, diff)
			}
		}
	}
}

// The names of fewer than ten rows share a level, which a name that training did not have gets, too.
func TestRareNames(t *testing.T) {
	n := 6000
	data := &table.Table{Columns: []table.Column{{Name: "agent", Kind: schema.Categorical}, {Name: "id", Kind: schema.Categorical}, {Name: "x", Kind: schema.Numeric}},
		Label: make([]table.Class, n), Line: make([]int, n)}
	agent, id := &data.Columns[0], &data.Columns[1]
	for i := range n {
		code := int32(i % 20) // 20 names of about 200 rows, 2,000 of one
		if i%3 == 0 {
			code = 20 + int32(i/3)
		}
		agent.Codes = append(agent.Codes, code)
		id.Codes = append(id.Codes, int32(i))
		data.Columns[2].Values = append(data.Columns[2].Values, float64(i%7))
		id.Dictionary = append(id.Dictionary, fmt.Sprint("id", i))
		data.Label[i] = table.Class(i % 2)
	}
	for c := range 2020 {
		agent.Dictionary = append(agent.Dictionary, fmt.Sprint("a", c))
	}
	m, warnings, err := Fit(data, schema.Schema{Header: true}, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Inputs) != 2 || len(m.Inputs[0].Categories) != 20 || !m.Inputs[0].Rare || m.Cols() != 22 || m.Names()[21] != "agent rare" {
		t.Fatalf("%d inputs, %v", len(m.Inputs), m.Names())
	}
	if len(m.Dropped) != 1 || m.Dropped[0].Reason != "rare values" || len(warnings) != 2 ||
		warnings[0].Text != `column "agent" has 2,020 different values: the 2,000 of fewer than 10 rows share one feature` ||
		warnings[1].Text != `column "id" has 6,000 different values, none in 10 rows: left out; it may be an identifier` {
		t.Errorf("dropped %+v, warnings %+v", m.Dropped, warnings)
	}
	x, err := m.Matrix(data, nil, matrix.Float32)
	if err != nil {
		t.Fatal(err)
	}
	w := make([]float64, m.Cols())
	for i := range w {
		w[i] = 1 / float64(3+i)
	}
	z := make([]float64, x.Positives.Rows())
	x.Positives.Scores(w, z)
	s, err := NewScorer(m, w, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range z {
		if got, err := s.Score(data, x.Positives.Source(i)); err != nil || got != want {
			t.Fatalf("row %d: %v (%v), packed %v", i, got, err, want)
		}
	}
	agent.Dictionary[1], agent.Dictionary[2] = "never seen", "a20" // one of training and a new one
	known, err := s.Score(data, 2)
	if err != nil {
		t.Fatal(err)
	}
	data.Columns[2].Values[1] = data.Columns[2].Values[2]
	if unknown, err := s.Score(data, 1); err != nil || unknown != known {
		t.Errorf("a new name scores %v (%v), a rare one %v", unknown, err, known)
	}
	if s.Row.Counts.Unknown[0] != 0 {
		t.Error("a rare name counts as unknown")
	}
}
