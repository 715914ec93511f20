// Package effect measures what each column adds to the scores of rows: on all rows, and its shape on a sample of them.
package effect

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
)

// All but the seed and the code were chosen by hand: the sample is large enough for a smooth shape and small
// in memory.
const (
	effectRows      = 20000          // most sampled rows
	effectCells     = 4000000        // most sampled rows times columns: 64 MB
	shapePoints     = 40             // most points of a shape, unless values repeat
	ShapeCategories = 20             // most categories of a shape
	sampleSeed      = 0x73616d706c65 // "sample" in ASCII
	missingCode     = -1             // the code of a missing category
)

// effects accumulates the effects of the columns row by row. The sampled rows are a reservoir (Vitter 1985):
// every row is in it with the same probability.
type Sums struct {
	Scorer   *feature.Scorer
	Division *feature.Contributions // divides a score among the columns
	Checked  bool                   // the columns were compared with the model's
	Rows     int                    // number of rows so far
	score    float64                // sum of the scores
	sums     [][2]float64           // by column: sum of what it adds, and of its square
	adds     []float64              // by column: what it adds to the current row
	limit    int                    // most rows in the sample
	Sample   []sampledRow
	random   *rand.Rand
	inputs   []effectInput
}

// effectInput is an input column of the model.
type effectInput struct {
	column      int            // its position in the table
	categorical bool           // its values are categories
	codes       map[string]int // the code of each category so far
	texts       []string       // the category of each code
}

// sampledRow holds for each input its number or category code, and what it adds.
type sampledRow struct{ Values, adds []float64 }

func NewEffects(m *model.Model, impute schema.Impute) (*Sums, error) {
	scorer := feature.ScorerOf(m)
	if impute != "" {
		var err error
		if scorer.Map, err = scorer.Map.Imputing(impute); err != nil {
			return nil, err
		}
	}
	d, err := feature.NewContributions(scorer.Map, scorer.Weights)
	if err != nil {
		return nil, err
	}
	e := &Sums{Scorer: scorer, Division: d, sums: make([][2]float64, len(d.Columns)), adds: make([]float64, len(d.Columns)),
		random: rand.New(rand.NewPCG(sampleSeed, 0))}
	if len(scorer.Map.Inputs) > 0 { // raw LIBSVM indices need no sample: what they add is linear
		e.limit = min(effectRows, max(1, effectCells/max(1, len(d.Columns))))
	}
	for _, input := range scorer.Map.Inputs {
		e.inputs = append(e.inputs, effectInput{column: input.Column, categorical: input.Kind == schema.Categorical,
			codes: map[string]int{}})
	}
	return e, nil
}

// AddRow adds a row to the sums and, with the probability of the reservoir, to the sample.
func (e *Sums) AddRow(t *table.Table, row int) error {
	if !e.Checked {
		if err := e.Scorer.Map.Check(t); err != nil {
			return err
		}
		e.Checked = true
	}
	z, err := e.Scorer.Score(t, row)
	if err != nil {
		return err
	}
	e.Division.Row(&e.Scorer.Row, e.adds)
	e.Rows++
	e.score += z
	for j, a := range e.adds {
		e.sums[j][0] += a
		e.sums[j][1] += float64(a * a)
	}
	place := len(e.Sample)
	if place == e.limit {
		if place = int(e.random.Uint64N(uint64(e.Rows))); place >= e.limit {
			return nil
		}
	} else {
		e.Sample = append(e.Sample, sampledRow{make([]float64, len(e.inputs)), make([]float64, len(e.inputs))})
	}
	copy(e.Sample[place].adds, e.adds)
	for j := range e.inputs {
		if t.Sparse != nil {
			e.Sample[place].Values[j] = e.Scorer.Row.Number(j)
		} else {
			e.Sample[place].Values[j] = e.inputs[j].valueOf(&t.Columns[e.inputs[j].column], row)
		}
	}
	return nil
}

// valueOf returns the number of a row, or the code of its category.
func (in *effectInput) valueOf(c *table.Column, row int) float64 {
	if !in.categorical {
		return c.Value(row)
	}
	code := c.Code(row)
	if code < 0 {
		return missingCode
	}
	text := c.Dictionary[code]
	known, ok := in.codes[text]
	if !ok {
		known = len(in.texts)
		in.codes[text] = known
		in.texts = append(in.texts, text)
	}
	return float64(known)
}

// Columns returns the effects, the largest first.
func (e *Sums) Columns() *result.Columns {
	n := float64(max(e.Rows, 1))
	c := &result.Columns{Rows: e.Rows, Sampled: len(e.Sample), MeanScore: e.score / n,
		Columns: []result.ColumnEffect{}}
	for j, name := range e.Division.Columns {
		mean := e.sums[j][0] / n
		effect := result.ColumnEffect{Column: name, Mean: mean, Effect: math.Sqrt(max(0, e.sums[j][1]/n-float64(mean*mean))),
			Shape: [][2]float64{}, Categories: []result.CategoryEffect{}}
		if j < len(e.inputs) && len(e.Sample) > 0 {
			e.fillShape(j, &effect)
		}
		c.Columns = append(c.Columns, effect)
	}
	slices.SortStableFunc(c.Columns, func(a, b result.ColumnEffect) int { return cmp.Compare(b.Effect, a.Effect) })
	return c
}

// fillShape fills in what a column adds, as a function of its value.
func (e *Sums) fillShape(j int, effect *result.ColumnEffect) {
	type pair struct{ value, adds float64 }
	var pairs []pair
	missing, sum := 0, 0.0
	for i := range e.Sample {
		p := pair{e.Sample[i].Values[j], e.Sample[i].adds[j] - effect.Mean}
		if math.IsNaN(p.value) || e.inputs[j].categorical && p.value == missingCode {
			missing++
			sum += p.adds
			continue
		}
		pairs = append(pairs, p)
	}
	if missing > 0 {
		adds := sum / float64(missing)
		effect.Missing = &adds
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(a.value, b.value) })
	most := 1 // rows per point; a value with more rows gets a separate point
	if !e.inputs[j].categorical {
		most = max(1, (len(pairs)+shapePoints-1)/shapePoints)
	}
	for first := 0; first < len(pairs); {
		end := first
		for end < len(pairs) {
			next := end + 1 // the rows that share the next value
			for next < len(pairs) && pairs[next].value == pairs[end].value {
				next++
			}
			if end > first && next-first > most {
				break
			}
			end = next
		}
		value, adds := 0.0, 0.0
		for _, p := range pairs[first:end] {
			value += p.value
			adds += p.adds
		}
		count := float64(end - first)
		if e.inputs[j].categorical {
			text := e.inputs[j].texts[int(pairs[first].value)]
			effect.Categories = append(effect.Categories, result.CategoryEffect{Value: text, Rows: end - first, Adds: adds / count})
		} else if pairs[first].value == pairs[end-1].value {
			effect.Shape = append(effect.Shape, [2]float64{pairs[first].value, adds / count})
		} else {
			effect.Shape = append(effect.Shape, [2]float64{value / count, adds / count})
		}
		first = end
	}
	slices.SortStableFunc(effect.Categories, func(a, b result.CategoryEffect) int {
		return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Value, b.Value))
	})
	effect.Categories = effect.Categories[:min(len(effect.Categories), ShapeCategories)]
}
