package monitor

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"toptau/internal/core/detmath"
	"toptau/internal/core/evidence"
	"toptau/internal/core/heldout"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/metric"
	"toptau/model"
	"toptau/schema"
	"toptau/threshold"
)

// modelOf returns a model of a table whose scores and profile are those of a baseline of the same columns.
func modelOf(t testing.TB, training, baseline *table.Table, budget string) *model.Model {
	features := fitted(t, training)
	s := schema.Schema{Format: schema.CSV, Header: true, Width: len(training.Columns) + 1, Label: &schema.Name{Name: "y", Number: len(training.Columns) + 1}}
	for _, c := range training.Columns {
		kind := schema.Numeric
		if c.Kind == schema.Categorical {
			kind = schema.Categorical
		}
		s.Columns = append(s.Columns, schema.Column{Name: c.Name, Number: c.Number, Kind: kind})
	}
	weights := make([]float64, features.Cols())
	for i := range weights {
		weights[i] = 1 / math.Sqrt(float64(len(weights)))
	}
	p := model.Parts{Schema: s, Features: features, Weights: weights, Training: model.Training{Rows: training.Rows()},
		Profile: profileOf(t, features, baseline, 1)}
	scorer := feature.Scorer{Map: features, Weights: weights}
	z := make([]float64, baseline.Rows())
	if err := scorer.Scores(baseline, z); err != nil {
		t.Fatal(err)
	}
	p.Reference = heldout.NewReference(z, 1, "test")
	p.Points = []model.Point{{Name: "goal", Goal: metric.RateGoal(metric.GoalMaxFPR, budget), Threshold: p.Reference.Scores[len(p.Reference.Scores)-8]}}
	m, err := model.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// batchOf returns the rows of a table as they arrive.
func batchOf(t testing.TB, m *model.Model, data *table.Table) *Batch {
	b := &Batch{Table: data, Scores: make([]float64, data.Rows()), Alerts: make([]bool, data.Rows())}
	if err := feature.ScorerOf(m).Scores(data, b.Scores); err != nil {
		t.Fatal(err)
	}
	point, _ := m.Point("")
	for i, z := range b.Scores {
		b.Alerts[i] = point.Decide(z, "")
	}
	b.ID = idAt
	b.Time = func(i int) string { return fmt.Sprintf("2026-11-%02d", 1+i*28/len(b.Scores)) }
	return b
}

func idAt(i int) string { return fmt.Sprint("id ", i) }

// part returns rows of a batch.
func (b *Batch) part(first, end int) *Batch {
	p := &Batch{Scores: b.Scores[first:end], Alerts: b.Alerts[first:end], ID: func(i int) string { return b.ID(first + i) },
		Time: func(i int) string { return b.Time(first + i) }}
	rows := make([]int, end-first)
	for i := range rows {
		rows[i] = first + i
	}
	p.Table = b.Table.Select(rows)
	return p
}

func stateOf(t testing.TB, w *Watch) []byte {
	var b bytes.Buffer
	if _, err := w.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestStateGoesOnWithTheSameBits stops a monitor at random rows, in the middle of blocks, and looks at its result
// each time.
func TestStateGoesOnWithTheSameBits(t *testing.T) {
	for _, o := range []Options{{Audit: threshold.MustRate("5%")}, {BlockRows: 300}, {BlockSpan: 24 * time.Hour}} {
		testSameBits(t, o)
	}
}

func testSameBits(t *testing.T, o Options) {
	training := mixedTable(2000, 7, 1)
	m := modelOf(t, training, mixedTable(3000, 7, 2), "1%")
	b := batchOf(t, m, mixedTable(9700, 7, 3))
	whole, err := New(m, o)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(5, 5))
	label := func(w *Watch, first, end int) {
		for i := first; i < end; i += 7 {
			w.AddLabel(idAt(i), i%3 == 0)
		}
	}
	parts, _ := New(m, o)
	for first := 0; first < len(b.Scores); {
		end := min(len(b.Scores), first+1+random.IntN(1500))
		whole.Add(b.part(first, end), nil)
		label(whole, first, end)
		parts.Add(b.part(first, end), nil)
		label(parts, first, end)
		parts.Result()
		state := stateOf(t, parts)
		if parts, err = Restore(m, o, bytes.NewReader(state)); err != nil {
			t.Fatal(err)
		}
		if again := stateOf(t, parts); !bytes.Equal(again, state) {
			t.Fatalf("after %d rows, a state that was read is written in other bytes", end)
		}
		first = end
	}
	if a, b := stateOf(t, whole), stateOf(t, parts); !bytes.Equal(a, b) {
		t.Errorf("one run and many end with different states, of %d and %d bytes", len(a), len(b))
	}
}

// TestStateOf200Columns has all that a state can hold.
func TestStateOf200Columns(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: 240,000 rows")
	}
	m := modelOf(t, mixedTable(1000, 200, 1), mixedTable(4000, 200, 2), "1%")
	w, err := New(m, Options{Audit: threshold.MustRate("50%")})
	if err != nil {
		t.Fatal(err)
	}
	b := batchOf(t, m, mixedTable(4000, 200, 3))
	for range 60 {
		w.Add(b, nil)
	}
	if n := len(stateOf(t, w)); n > StateBytes {
		t.Errorf("the state has %d bytes, want at most %d", n, StateBytes)
	} else {
		t.Logf("%d bytes after %d rows", n, w.rows)
	}
	// After a thousand million rows all counts are longer.
	const more = 4321
	w.rows *= more
	for i := range w.columns {
		c := &w.columns[i]
		for j := range c.gaps {
			c.gaps[j] *= more
		}
		for j := range c.urn.Starts {
			start := &c.urn.Starts[j]
			start.Row *= more
			for e := range start.Counts {
				start.Counts[e] *= more
				start.Capital[e] *= 7
			}
		}
	}
	if n := len(stateOf(t, w)); n > StateBytes {
		t.Errorf("the state has %d bytes after %d rows, want at most %d", n, w.rows, StateBytes)
	} else {
		t.Logf("%d bytes after %d rows", n, w.rows)
	}
}

func TestQuietRowsRaiseNoAlarm(t *testing.T) {
	m := modelOf(t, mixedTable(1000, 30, 1), mixedTable(8000, 30, 2), "1%")
	w, _ := New(m, Options{})
	w.Add(batchOf(t, m, mixedTable(20_000, 30, 3)), nil)
	r := w.Result()
	if r.Alarm() {
		t.Errorf("alarms %+v", r.Alarms)
	}
	if s := r.Scores; s.MeanRank < 0.48 || s.MeanRank > 0.52 {
		t.Errorf("the mean rank of scores is %v, want 0.5", s.MeanRank)
	}
	for _, c := range r.Columns.List {
		if c.PSI > 3*c.Chance {
			t.Errorf("%s: PSI %.4f of unchanged rows, by chance %.4f", c.Column, c.PSI, c.Chance)
		}
	}
}

// TestChangedColumnIsNamed changes one column of thirty after 10,000 rows.
func TestChangedColumnIsNamed(t *testing.T) {
	m := modelOf(t, mixedTable(1000, 30, 1), mixedTable(8000, 30, 2), "1%")
	w, _ := New(m, Options{})
	data := mixedTable(20_000, 30, 3)
	for row := 10_000; row < 20_000; row += 2 {
		data.Columns[4].Values[row] = math.NaN()
		data.Columns[6].Values[row] += 0.7
	}
	w.Add(batchOf(t, m, data), nil)
	r := w.Result()
	named := map[string]bool{}
	for _, c := range r.Columns.List {
		if c.Alarm {
			named[c.Column] = true
			if c.Since < 9000 || c.Since > 11_000 {
				t.Errorf("%s changed after %d rows, want 10,000", c.Column, c.Since)
			}
		}
	}
	if len(named) != 2 || !named["column 4"] || !named["column 6"] {
		t.Errorf("named %v, want columns 4 and 6", named)
	}
	if c := r.Columns.List[0]; c.Column != "column 4" || c.Kind != "missing" || c.Seen < 0.4 || c.Expected > 0.15 {
		t.Errorf("%+v, want missing values from 10 %% to 55 %%", c)
	}
}

func BenchmarkAdd(b *testing.B) {
	m := modelOf(b, mixedTable(1000, 30, 1), mixedTable(8000, 30, 2), "1%")
	batch := batchOf(b, m, mixedTable(4000, 30, 3))
	for _, columns := range []bool{false, true} {
		b.Run(fmt.Sprintf("columns=%v", columns), func(b *testing.B) {
			w, _ := New(m, Options{})
			use := *batch
			if !columns {
				use.Table = nil
			}
			for range 25 { // 100,000 rows: all starts are there
				w.Add(&use, nil)
			}
			for b.Loop() {
				w.Add(&use, nil)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4000, "ns/row")
		})
	}
}

// TestLadder compares gaps with those of the definition.
func TestLadder(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for n := range 60 {
		var keys []float64
		for range n {
			keys = append(keys, []float64{math.Inf(-1), -1.5, 0, 1e-300, 2, math.Inf(1)}[random.IntN(6)])
		}
		keys, ties := evidence.OrderWithTies(keys, random)
		l := newLadder(keys, ties)
		for row := range 200 {
			key := []float64{math.Inf(-1), -1.5, 0, 1e-300, 2, math.Inf(1), -7, 1, 5}[random.IntN(9)]
			if got, want := l.gap(detmath.OrderKey(key), 9, row, 4, nil), evidence.Gap(keys, ties, key, tieOf(9, row, 4)); got != want {
				t.Fatalf("%v in %v: gap %d, want %d", key, keys, got, want)
			}
		}
	}
}
