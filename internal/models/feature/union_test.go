package feature

import (
	"math/rand/v2"
	"slices"
	"testing"

	"toptau/internal/data/table"
	"toptau/schema"
)

// unionTable has two numeric columns and a categorical one.
func unionTable() *table.Table {
	random := rand.New(rand.NewPCG(1, 2))
	t := &table.Table{File: "rows.csv", Columns: []table.Column{{Name: "x", Number: 1}, {Name: "y", Number: 2},
		{Name: "kind", Number: 3, Kind: schema.Categorical, Dictionary: []string{"a", "b", "c"}}}}
	for i := range 300 {
		class := table.Negative
		x := random.Float64()
		if i%3 == 0 {
			class = table.Positive
			x += 0.3
		}
		t.Label, t.Line = append(t.Label, class), append(t.Line, i+2)
		t.Columns[0].Values = append(t.Columns[0].Values, x)
		t.Columns[1].Values = append(t.Columns[1].Values, random.Float64())
		t.Columns[2].Codes = append(t.Columns[2].Codes, int32(i%7%3))
	}
	return t
}

// A model on the union scores like the sum of models on the maps. Equal blocks occur once, in the order of a
// single map.
func TestUnionScoresAsItsMaps(t *testing.T) {
	data := unionTable()
	var maps []*Map
	for _, e := range []Encode{EncodeLeaves, EncodeRaw, EncodeScorecard} {
		m, _, err := Fit(data, schema.Schema{Header: true}, nil, Options{Encode: e, Trees: 3, Leaves: 5})
		if err != nil {
			t.Fatal(err)
		}
		maps = append(maps, m)
	}
	union, places, err := Union(maps)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, b := range union.Blocks {
		kinds = append(kinds, b.Kind())
	}
	if !slices.Equal(kinds, []string{"numeric", "scorecard", "leaves", "onehot"}) {
		t.Errorf("blocks %v", kinds)
	}
	random := rand.New(rand.NewPCG(3, 4))
	whole, want := make([]float64, union.Cols()), make([]float64, data.Rows())
	for i, m := range maps {
		w := make([]float64, m.Cols())
		for j := range w {
			w[j] = random.Float64() - 0.5
		}
		if !slices.IsSorted(places[i]) || len(places[i]) != len(m.Blocks) {
			t.Errorf("places %v of %d blocks", places[i], len(m.Blocks))
		}
		for b, place := range places[i] {
			first, end := m.Columns(b)
			to, _ := union.Columns(place)
			for k := range end - first {
				whole[to+k] += w[first+k]
			}
		}
		for row, z := range unionScores(t, m, w, data) {
			want[row] += z
		}
	}
	for row, z := range unionScores(t, union, whole, data) {
		if d := z - want[row]; d > 1e-12 || d < -1e-12 {
			t.Fatalf("row %d: %v, want %v", row, z, want[row])
		}
	}
}

func unionScores(t *testing.T, m *Map, w []float64, data *table.Table) []float64 {
	t.Helper()
	s, err := NewScorer(m, w, 0)
	if err != nil {
		t.Fatal(err)
	}
	z := make([]float64, data.Rows())
	if err := s.Scores(data, z); err != nil {
		t.Fatal(err)
	}
	return z
}

func TestUnionRefusesOtherInputs(t *testing.T) {
	data := unionTable()
	a, _, err := Fit(data, schema.Schema{Header: true}, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	data.Columns = data.Columns[:1]
	b, _, err := Fit(data, schema.Schema{Header: true}, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Union([]*Map{a, b}); err == nil {
		t.Error("maps of different inputs are joined")
	}
}
