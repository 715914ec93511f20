package toptau

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"toptau/diag"
	"toptau/internal/feature"
	"toptau/internal/rowset"
	"toptau/internal/table"
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
	shapeCategories = 20             // most categories of a shape
	sampleSeed      = 0x73616d706c65 // "sample" in ASCII
	missingCode     = -1             // the code of a missing category
)

// Explain measures what each column of r adds to the scores. It reads r once. Its memory does not grow with
// the number of rows. Effects are measured on all rows, and shapes on a sample of at most 20,000 rows drawn
// with a fixed seed.
func Explain(ctx context.Context, m *model.Model, r io.Reader, o ExplainOptions) (*result.Columns, error) {
	options, err := rowset.TableOptions(m, o.Format)
	if err != nil {
		return nil, err
	}
	options.Unlabelled, options.Undigested, options.Context = true, true, ctx
	options.Text = o.OnReject != nil
	if err := o.OnError.Check(); err != nil {
		return nil, err
	}
	if o.OnError == schema.EmptyBadRows {
		return nil, &diag.Error{Kind: diag.Usage, Param: "on-error", Found: string(schema.EmptyBadRows), Expected: "stop or skip, for what columns add to all rows"}
	}
	if !o.OnError.Stop() {
		options.OnBadRow = table.KeepBadRow
	}
	reader, err := table.NewReader(table.NameOf(r), r, options)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	e, err := newEffects(m, o.Impute)
	if err != nil {
		return nil, err
	}
	left := leftOut{options: &o}
	for {
		t, err := reader.Next(chunkRows)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := left.addTable(ctx, e, t); err != nil {
			return nil, err
		}
		if o.Progress != nil {
			o.Progress(e.rows)
		}
	}
	if e.rows == 0 && left.rows > 0 {
		return nil, left.first
	}
	c := e.columns()
	c.Warnings = append(c.Warnings, reader.Warnings()...)
	if left.rows > 0 {
		c.Warnings = append(c.Warnings, rejectedWarning(left.rows, left.first))
	}
	return c, nil
}

// addTable adds the rows of a table to the effects, and counts those that are left out.
func (l *leftOut) addTable(ctx context.Context, e *effects, t *table.Table) error {
	for row := range t.Rows() + 1 {
		for ; len(t.Bad) > 0 && t.Bad[0].Before == row; t.Bad = t.Bad[1:] {
			if err := l.add(t.File, e.rows, t.Bad[0]); err != nil {
				return err
			}
		}
		if row == t.Rows() {
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		err := e.addRow(t, row)
		if err == nil {
			continue
		}
		if !e.checked || l.options.OnError.Stop() {
			return diag.At(err, diag.Error{File: t.File})
		}
		if err := l.add(t.File, e.rows, unscored(t, row, err)); err != nil {
			return err
		}
	}
	return nil
}

// leftOut counts the rows that Explain leaves out.
type leftOut struct {
	options *ExplainOptions
	rows    int
	first   error
}

// add counts a row that comes after some that were not left out.
func (l *leftOut) add(file string, others int, row table.BadRow) error {
	err := diag.At(atScoring(row.Err), diag.Error{File: file})
	if l.rows++; l.rows == 1 {
		l.first = err
	}
	if l.options.OnReject == nil {
		return nil
	}
	return l.options.OnReject(result.Rejected{Row: others + l.rows, Line: row.Line, Err: err, Text: row.Text})
}

// ExplainOptions are the options of Explain.
type ExplainOptions struct {
	Format   schema.Format               // differences from the format of the training file
	Impute   schema.Impute               // as ScoreOptions.Impute
	OnError  schema.BadRows              // what becomes of rows that have no score: schema.StopAtBadRows or schema.SkipBadRows
	OnReject func(result.Rejected) error // is called with each of these rows; an error ends Explain
	Progress func(rows int)              // is called with the number of rows read so far
}

// effects accumulates the effects of the columns row by row. The sampled rows are a reservoir (Vitter 1985):
// every row is in it with the same probability.
type effects struct {
	scorer   *feature.Scorer
	division *feature.Contributions // divides a score among the columns
	checked  bool                   // the columns were compared with the model's
	rows     int                    // number of rows so far
	score    float64                // sum of the scores
	sums     [][2]float64           // by column: sum of what it adds, and of its square
	adds     []float64              // by column: what it adds to the current row
	limit    int                    // most rows in the sample
	sample   []sampledRow
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
type sampledRow struct{ values, adds []float64 }

func newEffects(m *model.Model, impute schema.Impute) (*effects, error) {
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
	e := &effects{scorer: scorer, division: d, sums: make([][2]float64, len(d.Columns)), adds: make([]float64, len(d.Columns)),
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

// addRow adds a row to the sums and, with the probability of the reservoir, to the sample.
func (e *effects) addRow(t *table.Table, row int) error {
	if !e.checked {
		if err := e.scorer.Map.Check(t); err != nil {
			return err
		}
		e.checked = true
	}
	z, err := e.scorer.Score(t, row)
	if err != nil {
		return err
	}
	e.division.Row(&e.scorer.Row, e.adds)
	e.rows++
	e.score += z
	for j, a := range e.adds {
		e.sums[j][0] += a
		e.sums[j][1] += float64(a * a)
	}
	place := len(e.sample)
	if place == e.limit {
		if place = int(e.random.Uint64N(uint64(e.rows))); place >= e.limit {
			return nil
		}
	} else {
		e.sample = append(e.sample, sampledRow{make([]float64, len(e.inputs)), make([]float64, len(e.inputs))})
	}
	copy(e.sample[place].adds, e.adds)
	for j := range e.inputs {
		if t.Sparse != nil {
			e.sample[place].values[j] = e.scorer.Row.Number(j)
		} else {
			e.sample[place].values[j] = e.inputs[j].valueOf(&t.Columns[e.inputs[j].column], row)
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

// columns returns the effects, the largest first.
func (e *effects) columns() *result.Columns {
	n := float64(max(e.rows, 1))
	c := &result.Columns{Rows: e.rows, Sampled: len(e.sample), MeanScore: e.score / n,
		Columns: []result.ColumnEffect{}}
	for j, name := range e.division.Columns {
		mean := e.sums[j][0] / n
		effect := result.ColumnEffect{Column: name, Mean: mean, Effect: math.Sqrt(max(0, e.sums[j][1]/n-float64(mean*mean))),
			Shape: [][2]float64{}, Categories: []result.CategoryEffect{}}
		if j < len(e.inputs) && len(e.sample) > 0 {
			e.fillShape(j, &effect)
		}
		c.Columns = append(c.Columns, effect)
	}
	slices.SortStableFunc(c.Columns, func(a, b result.ColumnEffect) int { return cmp.Compare(b.Effect, a.Effect) })
	return c
}

// fillShape fills in what a column adds, as a function of its value.
func (e *effects) fillShape(j int, effect *result.ColumnEffect) {
	type pair struct{ value, adds float64 }
	var pairs []pair
	missing, sum := 0, 0.0
	for i := range e.sample {
		p := pair{e.sample[i].values[j], e.sample[i].adds[j] - effect.Mean}
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
	effect.Categories = effect.Categories[:min(len(effect.Categories), shapeCategories)]
}
