package monitor

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/internal/models/profiles"
	"toptau/model"
	"toptau/schema"
)

// mixedTable has numeric columns (normal, with ties and missing values) and categorical ones, in turn.
func mixedTable(rows, columns int, seed uint64) *table.Table {
	random := rand.New(rand.NewPCG(seed, 1))
	t := &table.Table{}
	for i := range rows {
		t.Line = append(t.Line, i+2)
		t.Label = append(t.Label, table.Class(i%2))
	}
	for j := range columns {
		c := table.Column{Name: fmt.Sprint("column ", j), Number: j + 1}
		if j%3 == 2 {
			c.Kind = schema.Categorical
			for k := range 40 {
				c.Dictionary = append(c.Dictionary, fmt.Sprint("category ", k))
			}
		}
		for range rows {
			x := random.NormFloat64()
			switch {
			case j%3 == 2:
				code := int32(math.Min(39, math.Floor(10*math.Abs(x))))
				if random.IntN(20) == 0 {
					code = -1
				}
				c.Codes = append(c.Codes, code)
			case j%3 == 1 && random.IntN(10) == 0:
				c.Values = append(c.Values, math.NaN())
			case j%3 == 1:
				c.Values = append(c.Values, math.Round(x))
			default:
				c.Values = append(c.Values, x)
			}
		}
		t.Columns = append(t.Columns, c)
	}
	return t
}

func fitted(t testing.TB, data *table.Table) *feature.Map {
	s := schema.Schema{Header: true}
	m, _, err := feature.Fit(data, s, nil, feature.Options{Impute: schema.ImputeIndicator})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestProfileOf200ColumnsHasAtMost100KB(t *testing.T) {
	data := mixedTable(3000, 200, 1)
	p := profileOf(t, fitted(t, data), data, 1)
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Columns) != 200 || len(text) > 100_000 {
		t.Errorf("%d columns in %d bytes, want 200 in at most 100,000", len(p.Columns), len(text))
	}
}

// TestProfileRanks counts the rows of each cell of a profile in a table of its own distribution: the ranks of
// planned rows must end the cells of counted ones up to chance.
func TestProfileRanks(t *testing.T) {
	data := mixedTable(20_000, 3, 1)
	p := profileOf(t, fitted(t, data), data, 1)
	again := profileOf(t, fitted(t, data), data, 1)
	a, _ := json.Marshal(p)
	if b, _ := json.Marshal(again); string(a) != string(b) {
		t.Error("two profiles of the same rows differ")
	}
	for _, c := range p.Columns {
		if last := c.Rank[len(c.Rank)-1]; last != p.Rows {
			t.Errorf("input %d: the highest rank is %d, want all %d rows", c.Input, last, p.Rows)
		}
	}
	ties := p.Columns[1]
	if n := len(ties.Values); n >= model.ProfileRanks || n == len(ties.Rank) {
		t.Errorf("%d numbers in %d ranks of a column with 9 values and missing ones, want few, and missing ones", n, len(ties.Rank))
	}
	if c := p.Columns[2]; c.Cells[0] > 2 || c.Cells[len(c.Cells)-1] != model.MissingCell {
		t.Errorf("cells %v, want one of the most frequent categories first, missing values last", c.Cells)
	}
}

func profileOf(t testing.TB, m *feature.Map, data *table.Table, seed uint64) *model.Profile {
	t.Helper()
	p, err := profiles.New(m, data.Frame(), nil, seed)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
