package feature

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"toptau/internal/data/table"
	"toptau/schema"
)

// The probe rows use every block, every input and every tree: some feature of each is not 0 in one of them.
func TestProbesCoverEverything(t *testing.T) {
	if testing.Short() {
		t.Skip("draws many models")
	}
	r := rand.New(rand.NewPCG(4, 4))
	const rows = 400
	mixed, sparse := &table.Table{}, &table.Table{Sparse: &table.Sparse{Cols: 300, Start: []int64{0}}}
	for j := range 40 {
		c := table.Column{Name: fmt.Sprint("c", j), Number: j + 1}
		switch j % 4 {
		case 0:
			for range rows {
				c.Values = append(c.Values, 1e3*float64(j)+r.NormFloat64())
			}
		case 1: // a rare 1
			for i := range rows {
				c.Values = append(c.Values, float64(1-min(1, (i+j)%97)))
			}
		case 2:
			for range rows {
				c.Values = append(c.Values, float64(r.IntN(3)))
			}
		default:
			c.Kind = schema.Categorical
			for k := range 2 + j {
				c.Dictionary = append(c.Dictionary, fmt.Sprint("v", k))
			}
			for range rows {
				c.Codes = append(c.Codes, int32(r.IntN(len(c.Dictionary))))
			}
		}
		mixed.Columns = append(mixed.Columns, c)
	}
	for i := range rows {
		mixed.Label = append(mixed.Label, table.Class(i%2))
		mixed.Line = append(mixed.Line, i+1)
		sparse.Label, sparse.Line = mixed.Label, mixed.Line
		for index := range uint32(300) {
			if r.IntN(20) == 0 {
				sparse.Sparse.Index, sparse.Sparse.Value = append(sparse.Sparse.Index, index), append(sparse.Sparse.Value, r.NormFloat64())
			}
		}
		sparse.Sparse.Start = append(sparse.Sparse.Start, int64(len(sparse.Sparse.Index)))
	}
	for _, data := range []*table.Table{mixed, sparse} {
		for _, encode := range []Encode{EncodeRaw, EncodeScorecard, EncodeLeaves, "scorecard+leaves"} {
			m, _, err := Fit(data, schema.Schema{Header: true}, nil, Options{Encode: encode, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			weights := m.Weights()
			touched, blocks := map[int]bool{}, map[int]bool{}
			s, err := NewScorer(m, make([]float64, m.Cols()), 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, fields := range m.Probes(len(data.Columns), func(text string) bool { return text == "" }) {
				if _, err := s.Score(probeTable(t, m, data, fields), 0); err != nil {
					t.Fatal(err)
				}
				for i, x := range s.Values() {
					if x == 0 {
						continue
					}
					touched[weights[i].Input] = true
					for b, run := range m.runs {
						if run.first <= i && i < run.end {
							blocks[b] = true
						}
					}
				}
			}
			has := map[int]bool{}
			for _, w := range weights {
				has[w.Input] = true
			}
			for k := range has {
				if !touched[k] {
					t.Errorf("sparse %v, %s: no probe has a value of input %d", m.Sparse, encode, k)
				}
			}
			for b := range m.Blocks {
				if !blocks[b] {
					t.Errorf("sparse %v, %s: no probe reaches block %d", m.Sparse, encode, b)
				}
			}
			if m.Sparse && encode == EncodeRaw && len(m.sparseBlock().Index) < 250 {
				t.Error("few indices")
			}
		}
	}
	seen := map[int]bool{}
	for p := range probeRows {
		for _, i := range spreadOver(5000, p) {
			seen[i] = true
		}
		if n := len(spreadOver(1<<24, p)); n > 8192+1 {
			t.Errorf("%d entries in a probe", n)
		}
	}
	if len(seen) != 5000 {
		t.Errorf("%d of 5,000 places", len(seen))
	}
}

// probeTable is a table of one probe row.
func probeTable(t *testing.T, m *Map, like *table.Table, fields []string) *table.Table {
	row := &table.Table{Line: []int{1}}
	number := func(text string) float64 {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	if m.Sparse {
		row.Sparse = &table.Sparse{Cols: like.Sparse.Cols, Start: []int64{0, int64(len(fields))}}
		for _, field := range fields {
			index, value, _ := strings.Cut(field, ":")
			row.Sparse.Index = append(row.Sparse.Index, uint32(number(index))-1)
			row.Sparse.Value = append(row.Sparse.Value, number(value))
		}
		return row
	}
	for j, c := range like.Columns {
		column := table.Column{Name: c.Name, Number: c.Number, Kind: c.Kind}
		if c.Kind == schema.Categorical {
			column.Codes, column.Dictionary = []int32{0}, []string{fields[j]}
		} else {
			column.Values = []float64{number(fields[j])}
		}
		row.Columns = append(row.Columns, column)
	}
	return row
}
