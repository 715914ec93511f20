package campaigns_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"toptau/certify"
	"toptau/dataset"
	"toptau/diag"
	"toptau/internal/core/certified"
	"toptau/internal/core/matrix"
	"toptau/internal/models/feature"
	"toptau/internal/training/large"
	"toptau/internal/training/rowset"
	"toptau/method"
	"toptau/model"
	"toptau/result"
)

// elsewhere is rows as a database has them: it answers questions one row after the other, and names rows by keys. It shares no code with
// the sources of the solver.
type elsewhere struct{ large.Rows }

func (e elsewhere) Source(ctx context.Context, p large.Part, m *feature.Map, s matrix.Storage, of method.Population) (certified.Source, error) {
	blocks, err := m.InBlocks(rowset.Of(e.Rows.(tabled).d).Frame, s)
	if err != nil {
		return nil, err
	}
	positives, population, err := large.Populations(ctx, e.Rows, p, of)
	if err != nil {
		return nil, err
	}
	a := &answering{shape: certified.Shape{Cols: m.Cols(), Positives: positives, Population: population, Largest: make([]float64, m.Cols())}}
	for k := range blocks.Count() {
		x, err := blocks.Read(ctx, k)
		if err != nil {
			return nil, err
		}
		a.rows[0] = append(a.rows[0], listed(x.Positives)...)
		if of == method.AllRows {
			a.rows[1] = append(a.rows[1], listed(x.Positives)...)
		}
		a.rows[1] = append(a.rows[1], listed(x.Negatives)...)
	}
	for _, r := range slices.Concat(a.rows[0], a.rows[1]) {
		for j, v := range r.x {
			a.shape.Largest[j] = max(a.shape.Largest[j], math.Abs(v))
		}
	}
	return a, nil
}

// tabled is the rows of a table with their data.
type tabled struct {
	large.Rows
	d *dataset.Data
}

// moved returns rows elsewhere, and the certificate about them: with keys instead of numbers.
func moved(t testing.TB, d *dataset.Data, c *model.Certificate) (*dataset.Data, *model.Certificate) {
	t.Helper()
	there, err := rowset.OfDatabase(t.Context(), elsewhere{tabled{rowset.Of(d).Rows(), d}})
	if err != nil {
		t.Fatal(err)
	}
	out := *c
	lists := []*model.DualWeights{&out.P, &out.A}
	if c.Norm != nil {
		norm := *c.Norm
		out.Norm = &norm
		lists = append(lists, &norm.P, &norm.A)
	}
	for _, w := range lists {
		for _, row := range w.Rows {
			w.Keys = append(slices.Clip(w.Keys), fmt.Sprint("key ", row))
		}
		for _, row := range w.Held {
			w.HeldKeys = append(slices.Clip(w.HeldKeys), fmt.Sprint("key ", row))
		}
		w.Rows, w.Held = []int{}, nil
	}
	return rowset.Wrap(there).(*dataset.Data), &out
}

// verifyElsewhere verifies a certificate about rows of a database.
func (f *forgery) verifyElsewhere(t testing.TB, c *model.Certificate) (*result.Verification, error) {
	m, err := model.New(f.parts)
	if err != nil {
		return nil, err
	}
	d, c := moved(t, f.data, c)
	return certify.Verify(context.Background(), m, d, c, f.problem)
}

func listed(class *matrix.ClassRows) (list []classRow) {
	for i := range class.Rows() {
		r := classRow{number: class.Source(i), weight: 1, x: make([]float64, class.Cols())}
		class.Row(i, r.x)
		if w := class.Weights(); w != nil {
			r.weight = w[i]
		}
		list = append(list, r)
	}
	return list
}

// answering is a source that reads its rows for every question.
type answering struct {
	shape certified.Shape
	rows  [2][]classRow // positives, population
}

func (a *answering) Shape() certified.Shape   { return a.shape }
func (a *answering) Readings() (int, float64) { return 0, 0 }
func (a *answering) Means(context.Context) (positives, population []float64, err error) {
	return nil, nil, fmt.Errorf("a proof needs no means")
}

func (a *answering) Keys(bool, []int32) ([]string, error) {
	return nil, fmt.Errorf("a proof needs no keys")
}

func (a *answering) Numbers(_ context.Context, population bool, keys []string) (list []int32, err error) {
	rows := a.rows[0]
	if population {
		rows = a.rows[1]
	}
	for _, key := range keys {
		k := slices.IndexFunc(rows, func(r classRow) bool { return key == fmt.Sprint("key ", r.number+1) })
		if k < 0 {
			return nil, &diag.Error{Kind: diag.Data, Found: "no row with the key " + key}
		}
		list = append(list, int32(rows[k].number))
	}
	return list, nil
}

func (a *answering) Scan(_ context.Context, queries []certified.Query) ([]certified.Answer, error) {
	out := make([]certified.Answer, len(queries))
	for k, q := range queries {
		out[k].Positives = a.answer(a.rows[0], q.At.W, &q.Positives)
		out[k].Population = a.answer(a.rows[1], q.At.W, &q.Population)
	}
	return out, nil
}

func (a *answering) answer(rows []classRow, w []float64, q *certified.Request) (out certified.ClassAnswer) {
	out.Bins = make([]certified.Bin, len(q.Cuts)+1)
	for k := range out.Bins {
		out.Bins[k].Low, out.Bins[k].High = math.Inf(1), math.Inf(-1)
	}
	for range max(0, len(q.Groups)-1) {
		out.Groups = append(out.Groups, certified.Sum{Features: make([]float64, len(w)), Moment: make([]float64, len(w))})
	}
	place := func(list []float64, z float64) int {
		k, found := slices.BinarySearch(list, z)
		if found {
			k++
		}
		return k
	}
	for i := range rows {
		r := &rows[i]
		if slices.Contains(q.Numbers, r.number) {
			out.ByNumber = append(out.ByNumber, certified.Row{ID: r.number, Weight: r.weight, Features: func(dst []float64) { copy(dst, r.x) }})
		}
		z := r.score(w)
		if math.IsNaN(z) || math.IsInf(z, 0) {
			out.Bins[0].Bad++
			continue
		}
		b, y := &out.Bins[place(q.Cuts, z)], z-q.Origin
		b.Rows++
		b.Mass += r.weight
		b.Score += float64(r.weight * y)
		b.Square += float64(float64(r.weight*y) * y)
		b.Low, b.High = min(b.Low, z), max(b.High, z)
		g := place(q.Groups, z) - 1
		if g < 0 || g >= len(out.Groups) || q.Held.Has(r.number) {
			continue
		}
		s := &out.Groups[g]
		s.Rows++
		s.Mass += r.weight
		s.Score += float64(r.weight * y)
		for j, x := range r.x {
			s.Features[j] += float64(r.weight * x)
			s.Moment[j] += float64(float64(r.weight*y) * x)
		}
	}
	slices.SortFunc(out.ByNumber, func(x, y certified.Row) int { return x.ID - y.ID })
	return out
}

// Certificates hold about the same rows in a database, with groups and without.
func TestTrueCertificatesHoldElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("fits many models")
	}
	worst := 0.0
	for i, c := range trueCases(t, ifHostile(1, 20), 24) {
		f := newForgery(t, i, c)
		if i%2 == 0 {
			f.grouped(t)
		}
		v, err := f.verifyElsewhere(t, f.c)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !v.Holds {
			t.Errorf("%s: %s", c.name, strings.Join(v.Reasons, "; "))
		}
		if defect := exactDefect(f.model(), f.data, f.c, v); defect != "" {
			t.Errorf("%s: %s", c.name, defect)
		}
		worst = max(worst, max(v.ObjectiveError, v.LowerBoundError)/max(v.AtZero, v.Objective))
	}
	t.Logf("errors of at most %.2g of F(0)", worst)
}

// A certificate about a database that names a row twice, or by its number, or a row that is not there, is refused.
func TestNamesOfRowsElsewhere(t *testing.T) {
	cases := trueCases(t, 1, 24)
	c := cases[slices.IndexFunc(cases, func(c *trueCase) bool { return len(c.certificate.A.Rows) > 1 })]
	for name, change := range map[string]func(w *model.DualWeights){
		"numbers next to keys": func(w *model.DualWeights) { w.Rows = []int{1} },
		"held numbers":         func(w *model.DualWeights) { w.Held = []int{1} },
		"a key twice": func(w *model.DualWeights) {
			w.Keys, w.Values = append(w.Keys, w.Keys[0]), append(w.Values, w.Values[0])
		},
		"no such key":          func(w *model.DualWeights) { w.Keys[0] = "key 1000" },
		"fewer values":         func(w *model.DualWeights) { w.Values = w.Values[1:] },
		"an infinite a":        func(w *model.DualWeights) { w.Values[0] = math.Inf(1) },
		"an a of NaN":          func(w *model.DualWeights) { w.Values[0] = math.NaN() },
		"a held row not there": func(w *model.DualWeights) { w.HeldKeys = []string{"key 0"} },
	} {
		d, moved := moved(t, c.data, reread(t, c.certificate))
		change(&moved.A)
		if v, err := certify.Verify(t.Context(), c.model, d, moved, nil); err == nil {
			t.Errorf("%s: holds %v", name, v.Holds)
		} else {
			t.Log(name, ": ", err)
		}
	}
}
