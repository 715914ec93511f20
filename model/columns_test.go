package model

import (
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/schema"
)

// columns is a model with every field of columns: parts of times and addresses, medians, rare
// names, and salts.
func columns(t testing.TB) *Model {
	const rows = 2100
	data := &table.Table{Columns: []table.Column{
		{Name: "at hour", Number: 1, Part: schema.Hour, Source: "at"},
		{Name: "at seconds", Number: 1, Part: schema.Seconds, Source: "at", Origin: 946684800},
		{Name: "src /8", Number: 2, Kind: schema.Categorical, Part: schema.Net8, Source: "src", Dictionary: []string{"10.0.0.0/8", "192.0.0.0/8"}},
		{Name: "agent", Number: 3, Kind: schema.Categorical},
	}}
	for i := range rows {
		data.Line = append(data.Line, i+2)
		for j, v := range []float64{float64(i % 24), float64(1000 * i)} {
			data.Columns[j].Values = append(data.Columns[j].Values, v)
		}
		agent := int32(0)
		if i%2 == 0 {
			agent = 1 + int32(i/2)
		}
		data.Columns[2].Codes = append(data.Columns[2].Codes, int32(i%2))
		data.Columns[3].Codes = append(data.Columns[3].Codes, agent)
	}
	for i := range rows/2 + 1 {
		data.Columns[3].Dictionary = append(data.Columns[3].Dictionary, fmt.Sprint("agent ", i))
	}
	s := schema.Schema{Format: schema.CSV, Header: true, Width: 4, Label: &schema.Name{Name: "y", Number: 4}}
	for _, c := range data.Columns {
		s.Columns = append(s.Columns, schema.Column{Name: c.Name, Number: c.Number, Kind: schema.Numeric, Part: c.Part, Source: c.Source, Origin: c.Origin})
		if c.Kind == schema.Categorical {
			s.Columns[len(s.Columns)-1].Kind = c.Kind
		}
	}
	m, err := New(Parts{Schema: s, Features: features(t, data, schema.Schema{Header: true}, feature.Options{}),
		Weights: []float64{0.5, -1, 2, 0.25, 1, -0.125}, Training: Training{Rows: rows, Positives: 100}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestGoldenColumns(t *testing.T) {
	m := columns(t)
	redacted, err := m.Redacted()
	if err != nil {
		t.Fatal(err)
	}
	for path, m := range map[string]*Model{"testdata/columns.json": m, "testdata/redacted.json": redacted} {
		got := encoded(t, m)
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
		if m, err = Load(path); err != nil {
			t.Fatal(err)
		}
		z, err := m.Score(map[string]string{"at": "2024-05-31 13:00:00", "src": "10.1.2.3", "agent": "agent 0"})
		same, errFields := m.ScoreFields([]string{"13", "770475600", "10.0.0.0/8", "agent 0"})
		other, errOther := m.Score(map[string]string{"at": "2024-05-31 13:00:00", "src": "10.1.2.3", "agent": "agent 9"})
		if err != nil || errFields != nil || errOther != nil || z != same || z-other != 1.125 {
			t.Errorf("%s: %v, %v, %v (%v, %v, %v)", path, z, same, other, err, errFields, errOther)
		}
	}
}
