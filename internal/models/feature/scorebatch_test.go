package feature

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"toptau/internal/data/table"
	"toptau/schema"
)

// A batch has the scores and the counts of the scorer, bit for bit, or leaves the rows to it.
func TestBatchScoresTheSameBits(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 22))
	for trial := range 60 {
		rows := 300 + random.IntN(400)
		draw := func(rows int) *table.Table {
			columns := []table.Column{}
			for j := range 5 {
				values := make([]float64, rows)
				for i := range values {
					switch {
					case j == 0:
						values[i] = random.NormFloat64()
					case j == 1:
						values[i] = float64(random.IntN(4)) - 1
					case j == 2:
						values[i] = math.Exp(20 * random.NormFloat64())
					case j == 3 && random.IntN(3) > 0:
						values[i] = []float64{0, math.Copysign(0, -1), 1}[random.IntN(3)]
					default:
						values[i] = math.Round(10*random.NormFloat64()) / 10
					}
				}
				columns = append(columns, number(fmt.Sprint("n", j), values...))
			}
			names := make([]string, rows)
			for i := range names {
				names[i] = fmt.Sprint("v", random.IntN(3+trial))
			}
			return tableOf(append(columns, symbol("s", names...))...)
		}
		data := draw(rows)
		o := Options{Encode: []Encode{EncodeRaw, EncodeScorecard, EncodeLeaves}[trial%3], Trees: 20, Seed: uint64(trial),
			Scale: []schema.Scale{schema.ScaleStandard, schema.ScaleAll, schema.ScaleNone}[trial/3%3]}
		m := fit(t, data, o)
		w := make([]float64, m.Cols())
		for i := range w {
			w[i] = random.NormFloat64()
		}
		later := draw(BatchRows + random.IntN(BatchRows))
		if trial%5 == 0 {
			later.Columns[0].Values[BatchRows+3] = math.NaN()
		}
		one, err := NewScorer(m, w, 0.25)
		if err != nil {
			t.Fatal(err)
		}
		many := &Scorer{Map: m, Weights: w, Offset: 0.25}
		b := NewBatch(many)
		for first := 0; first < later.Rows(); {
			z := make([]float64, min(1+random.IntN(BatchRows), later.Rows()-first))
			scored := b.Score(later, first, z)
			for i := range z {
				want, err := one.Score(later, first+i)
				if err != nil && scored {
					t.Fatalf("trial %d, row %d has no score: %v", trial, first+i, err)
				}
				if !scored {
					many.Score(later, first+i)
					continue
				}
				if math.Float64bits(z[i]) != math.Float64bits(want) {
					t.Fatalf("trial %d, row %d: %v, want %v", trial, first+i, z[i], want)
				}
			}
			missing := trial%5 == 0 && first <= BatchRows+3 && BatchRows+3 < first+len(z) || len(z) <= fewRows && o.Encode == EncodeLeaves
			first += len(z)
			if scored == missing && o.Encode != EncodeRaw {
				t.Errorf("trial %d: scored %v with a missing value %v", trial, scored, missing)
			}
		}
		if fmt.Sprint(one.Row.Counts) != fmt.Sprint(many.Row.Counts) {
			t.Errorf("trial %d: counts %+v, want %+v", trial, many.Row.Counts, one.Row.Counts)
		}
	}
}

// Trees of all kinds have the scores of the scorer, bit for bit: with categories, with a single leaf, and with more
// thresholds of an input than have codes in one group.
func TestBatchOfTreesScoresTheSameBits(t *testing.T) {
	random := rand.New(rand.NewPCG(31, 32))
	for name, o := range map[string]Options{
		"boosted": {Encode: EncodeBoosted, Rounds: 30}, "pairs": {Encode: EncodePairs, Rounds: 20}, "additive": {Encode: EncodeAdditive, Rounds: 20},
		"large": {Encode: EncodeLeaves, Trees: 21, Leaves: 100}, "many thresholds": {Encode: EncodeLeaves, Trees: 40, Leaves: 90},
		"stumps": {Encode: EncodeLeaves, Trees: 5, Leaves: 2}, "too large": {Encode: EncodeLeaves, Trees: 3, Leaves: 290},
	} {
		draw := func(rows int) *table.Table {
			values, others, names := make([]float64, rows), make([]float64, rows), make([]string, rows)
			data := &table.Table{}
			for i := range rows {
				positive := random.IntN(3) == 0
				values[i], others[i], names[i] = random.NormFloat64(), math.Exp(random.NormFloat64()), fmt.Sprint("v", random.IntN(8))
				class := table.Negative
				if positive {
					class, values[i], names[i] = table.Positive, values[i]+1, fmt.Sprint("v", random.IntN(4))
				}
				data.Label, data.Line = append(data.Label, class), append(data.Line, i+2)
			}
			if name == "boosted" {
				names[0] = "never seen again"
			}
			made := tableOf(number("a", values...), number("b", others...), symbol("c", names...))
			made.Label = data.Label
			return made
		}
		o.Seed = 3
		m := fit(t, draw(3000), o)
		w := make([]float64, m.Cols())
		for i := range w {
			w[i] = random.NormFloat64()
		}
		one, err := NewScorer(m, w, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		b := NewBatch(&Scorer{Map: m, Weights: w, Offset: 0.5})
		if (b == nil) != (name == "too large") {
			t.Fatalf("%s: batch %v", name, b)
		}
		if b == nil {
			continue
		}
		later := draw(600)
		for first, n := 0, 0; first < later.Rows(); first += n {
			n = min(1+random.IntN(BatchRows), later.Rows()-first)
			z := make([]float64, n)
			if scored := b.Score(later, first, z); scored != (n > fewRows) {
				t.Fatalf("%s: rows %d to %d are scored: %v", name, first, first+n, scored)
			} else if !scored {
				continue
			}
			for i := range z {
				if want, err := one.Score(later, first+i); err != nil || math.Float64bits(z[i]) != math.Float64bits(want) {
					t.Fatalf("%s, row %d: %v, want %v, %v", name, first+i, z[i], want, err)
				}
			}
		}
	}
}
