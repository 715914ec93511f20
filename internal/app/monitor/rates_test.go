package monitor

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"toptau/internal/core/heldout"
	"toptau/internal/data/table"
	"toptau/metric"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
)

// tiedTable has columns with many equal values: 0 or 1, whole numbers, mostly missing, mostly zero, categories with missing ones, and a
// continuous one. later rows have other fractions of each.
func tiedTable(rows int, seed uint64, later func(row int) bool) *table.Table {
	random := rand.New(rand.NewPCG(seed, 9))
	t := &table.Table{Columns: make([]table.Column, 6)}
	for j := range t.Columns {
		t.Columns[j].Name, t.Columns[j].Number = fmt.Sprint("column ", j), j+1
	}
	c := &t.Columns[5]
	c.Kind, c.Dictionary = schema.Categorical, []string{"a", "b", "c"}
	pick := func(p float64, yes, no float64) float64 {
		if random.Float64() < p {
			return yes
		}
		return no
	}
	for row := range rows {
		t.Line, t.Label = append(t.Line, row+2), append(t.Label, table.Class(row%2))
		p := [6]float64{0.3, 0, 0.97, 0.9, 0.2, 0.3}
		if later(row) {
			p = [6]float64{0.5, 0.7, 0.02, 0.6, 0.6, 0.6}
		}
		x := []float64{pick(p[0], 1, 0), math.Round(random.NormFloat64() + p[1]), pick(p[2], math.NaN(), 1), pick(p[3], 0, math.Ceil(random.ExpFloat64())),
			random.NormFloat64() + p[4]}
		for j, v := range x {
			t.Columns[j].Values = append(t.Columns[j].Values, v)
		}
		c.Codes = append(c.Codes, int32(pick(p[5], 2, pick(0.1, -1, pick(0.5, 0, 1)))))
	}
	return t
}

// rowIn reports whether a row of a column is one that x counts.
func rowIn(c *table.Column, row int, x *result.MonitorColumn) bool {
	if c.Kind == schema.Categorical {
		code := c.Code(row)
		return code < 0 && x.Kind == result.MissingValue || code >= 0 && x.Kind == result.InCategory && c.Dictionary[code] == x.Category
	}
	v := c.Value(row)
	switch x.Kind {
	case result.MissingValue:
		return v != v
	case result.AtLeastValue, result.AtLeastMissing:
		return v >= *x.AtLeast || v != v && x.Kind == result.AtLeastMissing
	case result.MoreThanValue, result.MoreThanMissing:
		return v > *x.AtLeast || v != v && x.Kind == result.MoreThanMissing
	}
	return false
}

// The printed fractions are those of the rows, whatever the tie-breakers: exactly for rows that arrived, up to the sample of the
// profile for those before.
func TestFractionsAreThoseOfTheRows(t *testing.T) {
	const change, rows = 4000, 8000
	never := func(int) bool { return false }
	baseline := tiedTable(6000, 2, never)
	for seed := range uint64(8) {
		m := modelOf(t, tiedTable(1000, 1, never), baseline, "5%")
		data := tiedTable(rows, 3+seed, func(row int) bool { return row >= change && seed < 6 || seed == 7 })
		w, err := New(m, Options{Seed: seed + 1})
		if err != nil {
			t.Fatal(err)
		}
		b := batchOf(t, m, data)
		w.Add(b.part(0, 5500), nil)
		if w, err = Restore(m, Options{Seed: seed + 1}, bytes.NewReader(stateOf(t, w))); err != nil {
			t.Fatal(err)
		}
		w.Add(b.part(5500, rows), nil)
		r := w.Result()
		for i := range r.Columns.List {
			x := &r.Columns.List[i]
			c, old := &data.Columns[x.Column[len(x.Column)-1]-'0'], &baseline.Columns[x.Column[len(x.Column)-1]-'0']
			since, before, reference := 0, 0, 0
			for row := range rows {
				if in := rowIn(c, row, x); in && row >= x.Since {
					since++
				} else if in {
					before++
				}
			}
			for row := range baseline.Rows() {
				if rowIn(old, row, x) {
					reference++
				}
			}
			expected := (float64(reference)*float64(r.Columns.Rows)/float64(baseline.Rows()) + float64(before)) / float64(r.Columns.Rows+x.Since)
			if seen := fraction(since, rows-x.Since); x.Seen != seen || math.Abs(x.Expected-expected) > 0.015 {
				t.Errorf("seed %d, %s, %s since row %d: %.4f, before %.4f, of the rows %.4f and %.4f", seed, x.Column, x.Kind, x.Since, x.Seen, x.Expected, seen, expected)
			}
			if seed != 6 && (!x.Alarm || math.Abs(x.Seen-x.Expected) < 0.05) {
				t.Errorf("seed %d, %s, %s: alarm %v, %.4f, before %.4f; want a change that shows", seed, x.Column, x.Kind, x.Alarm, x.Seen, x.Expected)
			}
		}
	}
}

// Scores in steps have the fractions of their rows, also at levels that mean more than a score.
func TestScoreLevelsAreThoseOfTheRows(t *testing.T) {
	draw := func(n int, seed uint64, by float64) []float64 {
		random := rand.New(rand.NewPCG(seed, 4))
		z := make([]float64, n)
		for i := range z {
			z[i] = math.Round(2*(random.NormFloat64()+by)) / 2
		}
		return z
	}
	reference := draw(3000, 1, 0)
	m := with(t, bare(t), nil, heldout.NewReference(reference, 1, "test"), metric.RateGoal(metric.GoalMaxFPR, "1%"))
	for _, o := range []Options{{}, {BlockRows: 200}} {
		w, err := New(m, o)
		if err != nil {
			t.Fatal(err)
		}
		z := slices.Concat(draw(5000, 2, 0), draw(5000, 3, 0.6))
		w.Add(&Batch{Scores: z, Alerts: make([]bool, len(z))}, nil)
		s, more := w.Result().Scores, false
		old := slices.Concat(reference, z[:s.Since])
		if o.BlockRows > 0 {
			old = z[:s.Since]
		}
		for _, l := range s.Levels {
			rate := func(z []float64) float64 {
				n := 0
				for _, x := range z {
					if x > l.Score || x == l.Score && !l.MoreThan {
						n++
					}
				}
				return fraction(n, len(z))
			}
			more = more || l.MoreThan
			if l.Expected != rate(old) || l.Seen != rate(z[s.Since:]) || l.All != rate(z) {
				t.Errorf("%+v: %+v, of the rows %v, %v and %v", o, l, rate(old), rate(z[s.Since:]), rate(z))
			}
		}
		if !s.Alarm || !more {
			t.Errorf("alarm %v, a level of more than a score: %v", s.Alarm, more)
		}
	}
}

// Counts by value in a model file that no rows can have are refused.
func TestForgedCountsAreRefused(t *testing.T) {
	never := func(int) bool { return false }
	m := modelOf(t, tiedTable(500, 1, never), tiedTable(2000, 2, never), "5%")
	var file bytes.Buffer
	if _, err := m.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	if _, err := model.Read(strings.NewReader(file.String()), "m.json"); err != nil {
		t.Fatal(err)
	}
	for i := range m.Profile().Columns {
		c := &m.Profile().Columns[i]
		if c.Counts == nil {
			continue
		}
		for _, forged := range [][]int{append(slices.Clone(c.Counts), 1), replaced(c.Counts, m.Profile().Rows+1), replaced(c.Counts, -1)} {
			p := *m.Profile()
			p.Columns = slices.Clone(p.Columns)
			p.Columns[i].Counts = forged
			if _, err := m.WithBaseline(&p, m.Reference()); err == nil {
				t.Errorf("column %d with the counts %v", i, forged)
			}
		}
	}
}

func replaced(list []int, last int) []int {
	list = slices.Clone(list)
	list[len(list)-1] = last
	return list
}
