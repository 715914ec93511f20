package feature

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"toptau/diag"
	"toptau/internal/core/matrix"
	"toptau/schema"
)

// Indices are encoded like columns: the same blocks, rows and bits, from packed rows and from a scorer.
func TestIndicesAreEncodedLikeColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for trial := range 12 {
		o := Options{Encode: []Encode{EncodeScorecard, EncodeLeaves, EncodeBoth}[trial%3], Trees: 4, Leaves: 12}
		data := randomTable(r, 150+r.IntN(200), true)
		columns, err := indexColumns(data, o.Encode)
		if err != nil {
			t.Fatal(err)
		}
		m, want := reread(t, fit(t, data, o)), fit(t, columns, o)
		written, err := marshal(m.Blocks)
		if err != nil {
			t.Fatal(err)
		}
		if wanted, _ := marshal(want.Blocks); !bytes.Equal(written, wanted) {
			t.Fatalf("blocks %s\nof columns %s", written, wanted)
		}
		if !slices.Equal(m.Names(), want.Names()) {
			t.Errorf("names %q, of columns %q", m.Names(), want.Names())
		}
		rows := encoded(t, want, columns)
		for i, row := range encoded(t, m, data) {
			if !slices.Equal(row, rows[i]) {
				t.Fatalf("row %d: %v, of columns %v", i, row, rows[i])
			}
		}
		w := make([]float64, m.Cols())
		for j := range w {
			w[j] = r.Float64() - .5
		}
		scorer, err := NewScorer(m, w, 0)
		if err != nil {
			t.Fatal(err)
		}
		scores := make([]float64, data.Rows())
		if err := scorer.Scores(data, scores); err != nil {
			t.Fatal(err)
		}
		x, err := m.Matrix(data, nil, matrix.Float32)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []*matrix.ClassRows{x.Positives, x.Negatives} {
			z := make([]float64, part.Rows())
			part.Scores(w, z)
			for i := range z {
				if got := scores[part.Source(i)]; math.Float64bits(got) != math.Float64bits(z[i]) {
					t.Fatalf("%+v, row %d: scorer %v, matrix %v", o, part.Source(i), got, z[i])
				}
			}
		}
		if n := testing.AllocsPerRun(2, func() { _ = scorer.Scores(data, scores) }); n != 0 {
			t.Errorf("%+v: %v allocations", o, n)
		}
		for _, probe := range m.Probes(40, func(text string) bool { return text == "" }) {
			if len(probe) == 0 {
				t.Error("a probe without an index")
			}
		}
		c, err := NewContributions(m, w)
		if err != nil {
			t.Fatal(err)
		}
		adds := make([]float64, len(c.Columns))
		for i := range 20 {
			z, err := scorer.Score(data, i)
			if err != nil {
				t.Fatal(err)
			}
			sum := c.Row(&scorer.Row, adds)
			for _, a := range adds {
				sum += a
			}
			if math.Abs(sum-z) > 1e-12*(1+math.Abs(z)) {
				t.Errorf("row %d: contributions add up to %v, not %v", i, sum, z)
			}
		}
	}
}

// An index that does not occur in training is counted once, with or without raw indices in the map. A
// constant one is known.
func TestUnknownIndicesOfEncodedMaps(t *testing.T) {
	data := sparseTable(
		map[int]float64{1: 1, 2: 7, 4: 4}, map[int]float64{1: 2, 4: 4}, map[int]float64{1: 3, 2: 5, 4: 4},
		map[int]float64{1: 4, 4: 4}, map[int]float64{1: 5, 2: 1, 4: 4}, map[int]float64{1: 6, 2: 2, 4: 4})
	later := sparseTable(map[int]float64{1: 1, 3: 9, 4: 4, 6: 1, 10: 1})
	o := Options{Encode: EncodeScorecard}
	curves, raw := fit(t, data, o), fit(t, data, Options{})
	union, _, err := Union([]*Map{raw, curves})
	if err != nil {
		t.Fatal(err)
	}
	for what, m := range map[string]*Map{"raw": raw, "scorecard": curves, "both": reread(t, union)} {
		var e Encoded
		if err := m.Encode(later, 0, &e); err != nil {
			t.Fatal(err)
		}
		known := 2 // of raw indices; a column that is 0 in every row is one that was constant
		want := 5 - known
		if what == "scorecard" {
			want = 1 // index 10
		}
		if e.Counts.UnknownIndices != want {
			t.Errorf("%s: %d unknown indices, want %d", what, e.Counts.UnknownIndices, want)
		}
	}
}

func TestUnionOfRawAndEncodedIndices(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	data := randomTable(r, 300, true)
	var maps []*Map
	for _, e := range []Encode{EncodeRaw, EncodeLeaves, EncodeScorecard} {
		maps = append(maps, fit(t, data, Options{Encode: e, Trees: 3, Leaves: 8}))
	}
	union, places, err := Union(maps)
	if err != nil {
		t.Fatal(err)
	}
	rows := encoded(t, reread(t, union), data)
	for i, m := range maps {
		for row, want := range encoded(t, m, data) {
			at := 0
			for _, place := range places[i] {
				first, end := union.Columns(place)
				if !slices.Equal(rows[row][first:end], want[at:at+end-first]) {
					t.Fatalf("map %d, row %d", i, row)
				}
				at += end - first
			}
		}
	}
	for k, w := range union.Weights() {
		if w.Name[:5] == "index" && w.Input < 0 {
			t.Errorf("weight %d, %s, belongs to no input", k, w.Name)
		}
	}
}

func TestTooManyIndicesAreNotEncoded(t *testing.T) {
	data := sparseTable(map[int]float64{1: 1}, map[int]float64{2: 1})
	if !Encodable(data) {
		t.Error("six indices cannot be encoded")
	}
	data.Sparse.Cols = maxIndexColumns + 1
	if Encodable(data) {
		t.Error("any number of indices can be encoded")
	}
	_, _, err := Fit(data, schema.Schema{Format: "libsvm"}, nil, Options{Encode: EncodeLeaves})
	if e := diag.Of(err); e == nil || e.Kind != diag.Usage || e.Param != "encoding" || e.Found != "leaves for 2 rows with 131,073 indices" {
		t.Errorf("%v", err)
	}
}
