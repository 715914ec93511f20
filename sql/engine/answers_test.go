package engine_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"toptau/internal/core/certified"
	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/internal/training/large"
	"toptau/method"
	"toptau/schema"
	"toptau/sql/scan"
	"toptau/sql/servers"
)

// hostile are names and levels that break statements which do not quote them.
var hostile = []string{`a"b`, `it's`, `back\slash`, "semi;colon -- drop", "toptau_s", "äöü ☃", "`tick`", strings.Repeat("n", 63), "?x $1", "select"}

// hostileTable has columns and levels with such names.
func hostileTable(r *rand.Rand, rows int, missing bool) servers.Table {
	label := make([]int64, rows)
	numbers, texts := make([][]float64, 5), make([][]string, 2)
	for i := range rows {
		label[i] = int64(r.IntN(4) / 3)
		for j := range numbers {
			x := r.NormFloat64() + float64(label[i])*.5
			switch j {
			case 1:
				x = math.Round(2 * x)
			case 2:
				x = math.Ldexp(x, 40)
			case 3:
				x = math.Max(0, x)
			case 4:
				x = float64(float32(x)) // stored in 32 bits
			}
			numbers[j] = append(numbers[j], x)
		}
		for j := range texts {
			texts[j] = append(texts[j], hostile[r.IntN(len(hostile)-3*j)])
		}
	}
	null := func(seed uint64) func(int) bool {
		if !missing {
			return nil
		}
		return func(row int) bool { return (uint64(row)*2654435761+seed*97)>>5%13 == 0 }
	}
	t := servers.Table{Name: `hostile "table'; --`, Key: hostile[0], Rows: rows, Columns: []servers.Column{
		{Name: hostile[0], Integer: func(row int) int64 { return int64(row)*3 - 50 }},
		{Name: hostile[1], Integer: func(row int) int64 { return label[row] }}}}
	for j := range numbers {
		t.Columns = append(t.Columns, servers.Column{Name: hostile[2+j], Single: j == 4, Number: func(row int) float64 { return numbers[j][row] },
			Null: null(uint64(j))})
	}
	for j := range texts {
		t.Columns = append(t.Columns, servers.Column{Name: hostile[7+j], Text: func(row int) string { return texts[j][row] }, Null: null(uint64(10 + j))})
	}
	return t
}

// TestAnswers compares the answers of databases with those of the same rows in memory: every score, sums of intervals and groups,
// wanted rows; with hostile names and levels, missing values under every policy, and all encodings that databases compute.
func TestAnswers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 9))
	complete, holes := hostileTable(r, 3000, false), hostileTable(r, 3000, true)
	holes.Name = "holes"
	nullable := hostileTable(r, 3000, false) // columns that might have NULL and do not
	nullable.Name = "nullable"
	for j := range nullable.Columns[2:] {
		nullable.Columns[2+j].Null = func(int) bool { return false }
	}
	databases(t, func(t *testing.T, d database) {
		e := d.open(t)
		for _, name := range []string{nullable.Name, complete.Name, holes.Name} {
			rows, err := scan.Open(context.Background(), e.Dialect, e.Shards, scan.Table{Name: []string{name}, Key: complete.Key, Label: hostile[1]})
			if err != nil {
				t.Fatal(d.name, err)
			}
			sample, err := rows.Sample(context.Background(), large.All(), 100_000)
			if err != nil {
				t.Fatal(d.name, err)
			}
			if sample.Table.Rows() != complete.Rows {
				t.Fatalf("%s: a sample of %d rows, want all %d", d.name, sample.Table.Rows(), complete.Rows)
			}
			policies := []schema.Impute{schema.ImputeError}
			if name == holes.Name {
				policies = []schema.Impute{schema.ImputeMedian, schema.ImputeZero, schema.ImputeIndicator}
			}
			for _, policy := range policies {
				for _, encoding := range []schema.Encoding{schema.Raw, schema.Scorecard} {
					for _, storage := range []matrix.Storage{matrix.Float32, matrix.Float64} {
						title := fmt.Sprintf("%s %q %s %s %v", d.name, name, policy, encoding, storage)
						m, _, err := feature.Fit(sample.Table, rows.Schema(), nil, feature.Options{Impute: policy, Encode: encoding})
						if err != nil {
							t.Fatal(title, err)
						}
						compareAnswers(t, title, rows, sample.Table, m, storage, r)
					}
				}
			}
		}
	}, complete, holes, nullable)
}

func compareAnswers(t *testing.T, title string, rows *scan.Rows, data *table.Table, m *feature.Map, storage matrix.Storage, r *rand.Rand) {
	t.Helper()
	ctx := context.Background()
	source, err := rows.NewSource(ctx, large.All(), m, storage, method.Negatives)
	if err != nil {
		t.Fatal(title, err)
	}
	x, err := m.Matrix(data, nil, storage)
	if err != nil {
		t.Fatal(title, err)
	}
	memory := certified.NewMemory(x, method.Negatives)
	if source.Shape().Population != memory.Shape().Population || source.Shape().Positives != memory.Shape().Positives {
		t.Fatalf("%s: shape %+v, want %+v", title, source.Shape(), memory.Shape())
	}
	w := make([]float64, m.Cols())
	for j := range w {
		w[j] = r.NormFloat64()
	}
	n := x.Negatives.Rows()
	all := certified.Request{Want: []certified.Want{{Low: math.Inf(-1), High: math.Inf(1), Limit: n}}, Sums: true}
	of := func(s certified.Source, request certified.Request) certified.ClassAnswer {
		answers, err := s.Scan(ctx, []certified.Query{{At: &certified.Point{W: w}, Population: request}})
		if err != nil {
			t.Fatal(title, err)
		}
		return answers[0].Population
	}
	got, want := of(source, all), of(memory, all)
	if len(got.Rows[0]) != n {
		t.Fatalf("%s: %d rows, want %d", title, len(got.Rows[0]), n)
	}
	row := make([]float64, m.Cols())
	for _, g := range got.Rows[0] {
		g.Features(row)
		z := 0.0
		for j, v := range row {
			z += v * w[j]
		}
		if !(math.Abs(z-g.Score) <= 2*got.Rounding) {
			t.Fatalf("%s: the database's score is %v, that of the row %v, bound of the difference %g", title, g.Score, z, got.Rounding)
		}
	}
	near := func(a, b, scale float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(1, scale) }
	if g, w := got.Bins[0], want.Bins[0]; g.Rows != w.Rows || !near(g.Score, w.Score, math.Abs(w.Score)) || !near(g.Low, w.Low, math.Abs(w.Low)) {
		t.Errorf("%s: bin %+v, want %+v", title, g, w)
	}
	// Cuts between scores, so that rounding moves no row.
	var z []float64
	for _, row := range want.Rows[0] {
		z = append(z, row.Score)
	}
	slices.Sort(z)
	cut := func(part float64) float64 {
		k := int(part * float64(n))
		for z[k+1]-z[k] < 1e-6*math.Abs(z[k]) {
			k++
		}
		return (z[k] + z[k+1]) / 2
	}
	// Many cuts: runs at equal distances and single ones.
	var cuts []float64
	for k := range 300 {
		cuts = append(cuts, z[n/4]+(z[n/2]-z[n/4])*float64(k)/300)
	}
	cuts = append(cuts, z[n/2]+1e-3*math.Abs(z[n/2]), z[n-2], z[n-1])
	for k := range 100 {
		cuts = append(cuts, z[n-1]+(1+float64(k))*math.Abs(z[n-1]))
	}
	slices.Sort(cuts)
	many, exact := of(source, certified.Request{Cuts: cuts}).Bins, of(memory, certified.Request{Cuts: cuts}).Bins
	off := 0
	for k := range exact {
		off += int(math.Abs(float64(many[k].Rows - exact[k].Rows)))
	}
	if off > 20 { // at a cut that is a score, rounding decides
		t.Errorf("%s: %d rows in other bins", title, off)
	}
	held := func(numbers []certified.Row) *certified.Set {
		set := certified.NewSet(0)
		for k := 0; k < len(numbers); k += 3 {
			set.Add(numbers[k].ID)
		}
		return set
	}
	ends := []float64{cut(.3), cut(.5), cut(.8), math.Inf(1)}
	request := func(set *certified.Set) certified.Request {
		return certified.Request{Cuts: []float64{cut(.1), cut(.5), cut(.9)}, Groups: ends, Moments: true, Origin: cut(.5), Held: set,
			Want: []certified.Want{{Low: math.Inf(-1), High: math.Inf(1), Order: certified.Nearest, Centre: z[n*3/5], Limit: 50},
				{Low: cut(.2), High: cut(.4), Limit: 20}}}
	}
	a, b := of(source, request(held(got.Rows[0]))), of(memory, request(held(want.Rows[0])))
	scale := math.Abs(z[0]) + math.Abs(z[n-1])
	for k := range b.Bins {
		g, w := a.Bins[k], b.Bins[k]
		if g.Rows != w.Rows || !near(g.Mass, w.Mass, w.Mass) || !near(g.Score, w.Score, scale*w.Mass) || !near(g.Square, w.Square, scale*scale*w.Mass) {
			t.Errorf("%s: bin %d is %+v, want %+v", title, k, g, w)
		}
	}
	for k := range b.Groups {
		g, w := a.Groups[k], b.Groups[k]
		if g.Rows != w.Rows || !near(g.Score, w.Score, scale*w.Mass) {
			t.Errorf("%s: group %d has %d rows and score %v, want %d and %v", title, k, g.Rows, g.Score, w.Rows, w.Score)
		}
		for j := range w.Features {
			if !near(g.Features[j], w.Features[j], w.Mass*10) || !near(g.Moment[j], w.Moment[j], w.Mass*scale*10) {
				t.Errorf("%s: group %d, feature %d: %v and %v, want %v and %v", title, k, j, g.Features[j], g.Moment[j], w.Features[j], w.Moment[j])
			}
		}
	}
	for k := range b.Rows {
		if len(a.Rows[k]) != len(b.Rows[k]) {
			t.Errorf("%s: %d rows, want %d", title, len(a.Rows[k]), len(b.Rows[k]))
			continue
		}
		for i := range b.Rows[k] {
			if !near(a.Rows[k][i].Score, b.Rows[k][i].Score, scale) {
				t.Errorf("%s: row %d has score %v, want %v", title, i, a.Rows[k][i].Score, b.Rows[k][i].Score)
			}
		}
	}
}
