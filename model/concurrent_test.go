package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/schema"
)

// encodings are models of 34 columns (3 of them categorical) or indices, by name, for benchmarks and for
// tests of single records.
func encodings(t testing.TB, rows int) map[string]*Model {
	r := rand.New(rand.NewPCG(1, 2))
	data := &table.Table{}
	s := schema.Schema{Format: schema.CSV, Header: true, Width: 35, Missing: []string{"NA", "-1"}}
	for j := range 34 {
		c := table.Column{Name: fmt.Sprintf("c%d", j), Number: j + 1, Kind: schema.Numeric}
		if j%12 == 11 {
			c.Kind, c.Dictionary = schema.Categorical, []string{"22", "80", "443", "a", "0.5"}
		}
		for range rows {
			if c.Kind == schema.Categorical {
				c.Codes = append(c.Codes, int32(r.IntN(len(c.Dictionary))))
			} else {
				c.Values = append(c.Values, math.Round(1000*r.ExpFloat64())/8)
			}
		}
		data.Columns = append(data.Columns, c)
		s.Columns = append(s.Columns, schema.Column{Name: c.Name, Number: c.Number, Kind: c.Kind})
	}
	sparse := &table.Table{Sparse: &table.Sparse{Cols: 60, Start: []int64{0}}}
	for i := range rows {
		class := table.Class(i % 2)
		data.Label, data.Line = append(data.Label, class), append(data.Line, i+2)
		sparse.Label, sparse.Line = append(sparse.Label, class), append(sparse.Line, i+1)
		for j := range 60 {
			if r.IntN(4) == 0 {
				sparse.Sparse.Index = append(sparse.Sparse.Index, uint32(j))
				sparse.Sparse.Value = append(sparse.Sparse.Value, float64(1+r.IntN(5)))
			}
		}
		sparse.Sparse.Start = append(sparse.Sparse.Start, int64(len(sparse.Sparse.Index)))
	}
	models := map[string]*Model{}
	add := func(name string, data *table.Table, s schema.Schema, o feature.Options) {
		features, _, err := feature.Fit(data, s, nil, o)
		if err != nil {
			t.Fatal(err)
		}
		p := Parts{Schema: s, Features: features, Weights: make([]float64, features.Cols()), Offset: 0.5,
			Points: []Point{{Name: "goal", Threshold: 0.5}}}
		for j := range p.Weights {
			p.Weights[j] = r.NormFloat64()
		}
		if models[name], err = New(p); err != nil {
			t.Fatal(err)
		}
	}
	numeric := *data
	numeric.Columns = nil
	onehot, onlyCategories := *data, s
	onehot.Columns, onlyCategories.Columns = nil, nil
	for j, c := range data.Columns {
		if c.Kind == schema.Categorical {
			onehot.Columns, onlyCategories.Columns = append(onehot.Columns, c), append(onlyCategories.Columns, s.Columns[j])
		}
	}
	indices := schema.Schema{Format: schema.LIBSVM, Width: 60}
	add("raw", data, s, feature.Options{Impute: schema.ImputeIndicator})
	add("one-hot", &onehot, onlyCategories, feature.Options{Impute: schema.ImputeZero, Scale: schema.ScaleAll})
	add("scorecard", data, s, feature.Options{Impute: schema.ImputeMedian, Encode: schema.Scorecard})
	add("leaves", data, s, feature.Options{Impute: schema.ImputeIndicator, Encode: schema.Leaves})
	add("boosted", data, s, feature.Options{Impute: schema.ImputeIndicator, Encode: schema.Boosted, Rounds: 20})
	add("pairs", data, s, feature.Options{Impute: schema.ImputeZero, Encode: schema.Pairs, Rounds: 20})
	add("additive", data, s, feature.Options{Impute: schema.ImputeMedian, Encode: schema.Additive, Rounds: 20})
	add("libsvm boosted", sparse, indices, feature.Options{Encode: schema.Boosted, Rounds: 20})
	add("libsvm", sparse, indices, feature.Options{})
	add("libsvm leaves", sparse, indices, feature.Options{Encode: schema.ScorecardLeaves})
	return models
}

// numbersFor returns a record as numbers: a few are missing, zero, not known to the model or a spelling of a
// missing value.
func numbersFor(r *rand.Rand, m *Model) []float64 {
	n, isSparse := len(m.parts.Schema.Columns), m.parts.Schema.Format == schema.LIBSVM
	if isSparse {
		n = m.parts.Schema.Width + 3
	}
	values := make([]float64, n)
	for j := range values {
		values[j] = []float64{80, 443, 0.5, 7, -1, 0, math.NaN(), 1e7, 1e-7}[r.IntN(9)]
		switch {
		case isSparse && (values[j] != values[j] || r.IntN(3) > 0):
			values[j] = 0
		case r.IntN(2) == 0:
			values[j] = math.Round(1000*r.ExpFloat64()) / 8
		}
	}
	return values
}

// fieldsOf writes numbers as text.
func fieldsOf(m *Model, values []float64) []string {
	var fields []string
	for j, x := range values {
		text := strconv.FormatFloat(x, 'f', -1, 64)
		switch {
		case m.parts.Schema.Format == schema.LIBSVM && x != 0:
			fields = append(fields, strconv.Itoa(j+1)+":"+text)
		case m.parts.Schema.Format != schema.LIBSVM && x != x:
			fields = append(fields, "")
		case m.parts.Schema.Format != schema.LIBSVM:
			fields = append(fields, text)
		}
	}
	return fields
}

func recordOf(m *Model, fields []string) map[string]string {
	record := map[string]string{}
	for j, field := range fields {
		if index, value, found := strings.Cut(field, ":"); found {
			record[index] = value
		} else {
			record[m.parts.Schema.Columns[j].Name] = field
		}
	}
	return record
}

// Text, numbers and maps score the same bits, from any goroutine.
func TestModelsAreSafeForConcurrentUse(t *testing.T) {
	for name, m := range encodings(t, 200) {
		r := rand.New(rand.NewPCG(3, 4))
		const records = 200
		values, fields, want := make([][]float64, records), make([][]string, records), make([]float64, records)
		alone := m.NewScorer()
		for i := range records {
			values[i] = numbersFor(r, m)
			fields[i] = fieldsOf(m, values[i])
			var err error
			if want[i], err = alone.ScoreFields(fields[i]); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		var all sync.WaitGroup
		for g := range 8 {
			all.Go(func() {
				for i := range records {
					i = (i + 17*g) % records
					a, err1 := m.ScoreFields(fields[i])
					b, err2 := m.ScoreNumbers(values[i])
					c, err3 := m.Score(recordOf(m, fields[i]))
					e, err4 := m.Explain(recordOf(m, fields[i]))
					if err1 != nil || err2 != nil || err3 != nil || err4 != nil {
						t.Errorf("%s: %v, %v, %v, %v", name, err1, err2, err3, err4)
						return
					}
					if a != want[i] || b != want[i] || c != want[i] || e.Score != want[i] {
						t.Errorf("%s, record %d: fields %v, numbers %v, map %v, explained %v, alone %v", name, i, a, b, c, e.Score, want[i])
						return
					}
				}
			})
		}
		all.Wait()
	}
}

func TestScoreNumbersRefuses(t *testing.T) {
	models := encodings(t, 200)
	for _, test := range []struct {
		model  string
		values []float64
		want   string
	}{
		{"raw", []float64{1}, "1 numbers, expected 34"},
		{"raw", append(make([]float64, 33), math.Inf(1)), `column "c33": +Inf, expected a finite number`},
		{"libsvm", []float64{0, math.NaN()}, `column "index 2": NaN, expected a finite number`},
	} {
		if _, err := models[test.model].ScoreNumbers(test.values); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.model, err, test.want)
		}
	}
}

// A record is scored without allocation.
func TestScoringDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector drops objects of a sync.Pool")
	}
	for name, m := range encodings(t, 200) {
		values := numbersFor(rand.New(rand.NewPCG(5, 6)), m)
		fields := fieldsOf(m, values)
		record := recordOf(m, fields)
		for what, score := range map[string]func() (float64, error){
			"ScoreFields":  func() (float64, error) { return m.ScoreFields(fields) },
			"ScoreNumbers": func() (float64, error) { return m.ScoreNumbers(values) },
			"Score":        func() (float64, error) { return m.Score(record) },
		} {
			if n := testing.AllocsPerRun(200, func() {
				if _, err := score(); err != nil {
					t.Fatal(err)
				}
			}); n != 0 {
				t.Errorf("%s of a %s model: %v allocations", what, name, n)
			}
		}
	}
}

func BenchmarkScore(b *testing.B) {
	models := encodings(b, 2000)
	for _, name := range []string{"raw", "one-hot", "scorecard", "leaves", "boosted", "additive", "libsvm"} {
		m := models[name]
		values := numbersFor(rand.New(rand.NewPCG(5, 6)), m)
		fields := fieldsOf(m, values)
		record := recordOf(m, fields)
		for _, way := range []struct {
			name  string
			score func() (float64, error)
		}{
			{"numbers", func() (float64, error) { return m.ScoreNumbers(values) }},
			{"fields", func() (float64, error) { return m.ScoreFields(fields) }},
			{"map", func() (float64, error) { return m.Score(record) }},
		} {
			b.Run(name+"/"+way.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := way.score(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
