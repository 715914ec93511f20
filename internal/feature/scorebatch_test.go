package feature

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"toptau/internal/table"
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
			missing := trial%5 == 0 && first <= BatchRows+3 && BatchRows+3 < first+len(z)
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
