package feature

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toptau/diag"
	"toptau/internal/core/matrix"
	"toptau/schema"
)

var onScorecard = Options{Encode: EncodeScorecard}

// steps is 0, 1, ..., n-1.
func steps(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = float64(i)
	}
	return list
}

// The quantiles of 0, ..., 32 at j/16 are the smallest values up to which at least j/16 of the 33 rows lie.
func TestKnotsByHand(t *testing.T) {
	c := newCard(steps(33), nil, 16, false)
	want := []float64{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32}
	if diff := cmp.Diff(want, c.Knots); diff != "" || c.Atoms != nil {
		t.Errorf("atoms %v, knots (-want +got):\n%s", c.Atoms, diff)
	}
	if c = newCard(steps(33), nil, 8, false); !slices.Equal(c.Knots, []float64{0, 4, 8, 12, 16, 20, 24, 28, 32}) {
		t.Errorf("8 bins: %v", c.Knots)
	}
	// A heavy row moves the quantiles: of the mass of 64 in all, 32 stand at 32.
	weights := slices.Repeat([]float64{1}, 32)
	if c = newCard(steps(33), append(weights, 1.6), 4, false); !slices.Equal(c.Knots, []float64{0, 8, 16, 25, 32}) {
		t.Errorf("weighted: %v", c.Knots)
	}
}

func TestAtomsByHand(t *testing.T) {
	values := append(steps(38), -1, -1) // 2 of 40 rows: one in twenty
	c := newCard(values, nil, 16, false)
	if !slices.Equal(c.Atoms, []float64{-1}) || c.Knots[0] != 0 || c.Knots[len(c.Knots)-1] != 37 {
		t.Errorf("%+v, want the atom -1 and knots from 0 to 37", c)
	}
	if c = newCard(append(steps(39), -1, -1), nil, 16, false); c.Atoms != nil || c.Knots[0] != -1 {
		t.Errorf("%+v, want no atom: 2 of 41 rows are too few", c)
	}
	few := newCard([]float64{3, 1, 3, 3, 2, math.Copysign(0, -1)}, nil, 16, true)
	if diff := cmp.Diff(Card{Atoms: []float64{0, 1, 2, 3}, Missing: true}, few); diff != "" || math.Signbit(few.Atoms[0]) {
		t.Errorf("few values are levels (-want +got):\n%s", diff)
	}
	// 18 values of which 17 are atoms: a single other value cannot carry a scale.
	var many []float64
	for i := range 17 {
		many = append(many, slices.Repeat([]float64{float64(i)}, 10)...)
	}
	if c = newCard(append(many, 99), nil, 16, false); c.Knots != nil || len(c.Atoms) != 18 {
		t.Errorf("%+v", c)
	}
}

func TestPositionsOnAScale(t *testing.T) {
	scale := Card{Knots: []float64{0, 1, 3}, Atoms: []float64{-1, 2, 5}, Missing: true}
	levels := Card{Atoms: []float64{0, 1, 3}}
	nan, inf := math.NaN(), math.Inf(1)
	wide := Card{Knots: []float64{-math.MaxFloat64, math.MaxFloat64}}
	for _, test := range []struct {
		card  Card
		x     float64
		level int
		f     float64
	}{
		{scale, 0, 0, 0}, {scale, 0.25, 0, 0.25}, {scale, 1, 1, 0}, {scale, 1.5, 1, 0.25}, {scale, 2.5, 1, 0.75},
		{scale, 3, 2, 0},
		{scale, -1, 3, 0}, {scale, 2, 4, 0}, {scale, 5, 5, 0}, {scale, nan, 6, 0}, // atoms and missing
		{scale, -7, 3, 0}, {scale, 70, 5, 0}, // beyond the range: its end is an atom
		{scale, -0.5, 0, 0}, {scale, 4, 2, 0}, // between the outer knot and an atom
		{scale, 1 - 1e-12, 1, 0}, // rounded to the knot
		{levels, 0.5, 0, 0}, {levels, 0.6, 1, 0}, {levels, 2, 1, 0}, {levels, 2.1, 2, 0}, {levels, -4, 0, 0},
		{levels, 9, 2, 0},
		{levels, nan, -1, 0},
		{wide, 0, 0, 0.5}, {wide, inf, 1, 0}, {wide, -inf, 0, 0},
	} {
		if level, f := test.card.place(test.x); level != test.level || f != test.f {
			t.Errorf("%+v at %v: level %d, fraction %v, want %d, %v", test.card, test.x, level, f, test.level, test.f)
		}
	}
}

func TestScorecardByHand(t *testing.T) {
	data := tableOf(
		number("few", append(slices.Repeat([]float64{1, 2}, 19), 1, 3)...),
		symbol("s", slices.Repeat([]string{"a", "b"}, 20)...),
		number("load", append(steps(38), 99, 99)...),
		number("same", slices.Repeat([]float64{7}, 40)...),
	)
	m, warnings, err := Fit(data, named, nil, onScorecard)
	if err != nil || len(warnings) != 1 || warnings[0].Text != "dropped 1 constant column: same" {
		t.Fatalf("%v, %v", warnings, err)
	}
	names := m.Names()
	if names[0] != "load at 0" || names[1] != "load at 2" || !slices.Contains(names, "load = 99") {
		t.Errorf("%q", names)
	}
	if got, want := names[len(names)-5:], []string{"few = 1", "few = 2", "few = 3", "s=a", "s=b"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for i, w := range m.Weights() {
		if !strings.HasPrefix(w.Name, m.Inputs[w.Input].Name) {
			t.Errorf("weight %d, %q, belongs to %q", i, w.Name, m.Inputs[w.Input].Name)
		}
	}
	spec := m.Layout()[0]
	if len(m.Layout()) != 2 || spec.Kind != matrix.Coded || len(spec.Groups) != 2 ||
		!spec.Groups[0].Between || spec.Groups[1].Between {
		t.Errorf("layout %+v", m.Layout())
	}
	row := encoded(t, m, data)[1] // load 1 is half way from 0 to 2
	if row[0] != 0.5 || row[1] != 0.5 || row[len(row)-4] != 1 {
		t.Errorf("%v", row)
	}
	sums := func(row []float64) (total float64) {
		for _, x := range row {
			total += x
		}
		return total
	}
	for i, row := range encoded(t, m, data) {
		if sums(row) != 3 {
			t.Errorf("row %d: %v does not sum to 1 for each column", i, row)
		}
	}
}

// The score of a column is continuous and linear between knots, and constant beyond the range.
func TestCurveIsPiecewiseLinear(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	values := make([]float64, 500)
	for i := range values {
		values[i] = math.Ldexp(r.Float64()-.3, r.IntN(8))
	}
	m := fit(t, tableOf(number("x", values...)), onScorecard)
	c := m.Blocks[0].(*ScorecardBlock).Columns[0]
	w := make([]float64, m.Cols())
	for j := range w {
		w[j] = r.Float64() - .5
	}
	at := func(xs ...float64) []float64 {
		s, err := NewScorer(m, w, 0)
		if err != nil {
			t.Fatal(err)
		}
		z := make([]float64, len(xs))
		if err := s.Scores(tableOf(number("x", xs...)), z); err != nil {
			t.Fatal(err)
		}
		return z
	}
	for i := 1; i < len(c.Knots); i++ {
		a, b := c.Knots[i-1], c.Knots[i]
		for f := 0.0; f <= 1; f += 1. / 64 {
			if got, want := at(a + f*(b-a))[0], (1-f)*w[i-1]+f*w[i]; math.Abs(got-want) > 1e-6 {
				t.Fatalf("%v between knots %v and %v: %v, want %v", f, a, b, got, want)
			}
		}
	}
	last := len(c.Knots) - 1
	if got := at(-1e300, c.Knots[last]*2, 1e300); !slices.Equal(got, []float64{w[0], w[last], w[last]}) {
		t.Errorf("beyond the range: %v, want %v and %v", got, w[0], w[last])
	}
}

func TestScorecardMissingValues(t *testing.T) {
	values := append(steps(39), missing)
	data := tableOf(number("x", values...), number("y", append(slices.Repeat([]float64{1, 2}, 19), 1, missing)...),
		number("z", append(slices.Repeat([]float64{5}, 39), missing)...))
	for _, test := range []struct {
		impute schema.Impute
		last   []string // the weights that the last row, all missing, has
	}{
		{schema.ImputeIndicator, []string{"x missing", "y missing", "z missing"}},
		{schema.ImputeMedian, []string{"x = 19", "y = 1"}}, // with the row of 19 itself it is one in twenty
		{schema.ImputeZero, []string{"x = 0", "y = 0", "z = 0"}},
	} {
		for _, scale := range []schema.Scale{schema.ScaleStandard, schema.ScaleAll, schema.ScaleNone} {
			m := fit(t, data, Options{Encode: EncodeScorecard, Impute: test.impute, Scale: scale})
			var got []string
			for j, x := range encoded(t, m, data)[39] {
				if x != 0 {
					got = append(got, m.Names()[j])
				}
			}
			if !slices.Equal(got, test.last) {
				t.Errorf("%s, %s: %q, want %q", test.impute, scale, got, test.last)
			}
		}
	}
	if _, _, err := Fit(data, named, nil, onScorecard); diag.Of(err) == nil || diag.Of(err).Line != 41 {
		t.Errorf("%v", err)
	}
	// Training had no missing value: nothing is known of one.
	m := fit(t, tableOf(number("x", steps(39)...)), Options{Encode: EncodeScorecard, Impute: schema.ImputeIndicator})
	if row := encoded(t, m, tableOf(number("x", missing)))[0]; slices.Max(row) != 0 || slices.Min(row) != 0 {
		t.Errorf("%v", row)
	}
}

func TestScorecardWeightsAsRepeatedRows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	var values, weights, repeated []float64
	for range 300 {
		x, w := math.Floor(100*r.Float64()*r.Float64()), float64(1+r.IntN(3))
		values, weights = append(values, x), append(weights, w)
		repeated = append(repeated, slices.Repeat([]float64{x}, int(w))...)
	}
	if diff := cmp.Diff(newCard(values, weights, 16, false), newCard(repeated, nil, 16, false)); diff != "" {
		t.Errorf("(-weighted +repeated):\n%s", diff)
	}
	base := newCard(repeated, nil, 16, false)
	r.Shuffle(len(repeated), func(i, j int) { repeated[i], repeated[j] = repeated[j], repeated[i] })
	if diff := cmp.Diff(base, newCard(repeated, nil, 16, false)); diff != "" {
		t.Errorf("the order of the rows matters:\n%s", diff)
	}
}

const goldenScorecard = `{"scale":"standard","impute":"indicator","inputs":[` +
	`{"column":0,"name":"x","kind":"numeric"},{"column":1,"name":"y","kind":"numeric"}],` +
	`"dropped":[],"blocks":[{"kind":"scorecard","block":{"columns":[` +
	`{"input":1,"knots":[0,2,4,6,8,10,12,14,16,19,21,23,25,27,29,31,33],"atoms":[-1],"missing":true},` +
	`{"input":0,"atoms":[0.5,2]}]}}]}`

func TestGoldenScorecard(t *testing.T) {
	y := append(steps(34), -1, -1, missing)
	x := append(slices.Repeat([]float64{.5}, 36), 2)
	data := tableOf(number("x", x...), number("y", y...))
	got, err := fit(t, data, Options{Encode: EncodeScorecard, Impute: schema.ImputeIndicator}).MarshalJSON()
	if err != nil || string(got) != goldenScorecard {
		t.Errorf("%v\n%s\nwant\n%s", err, got, goldenScorecard)
	}
	for _, edit := range []struct{ old, new, want string }{
		{`"input":0,"atoms"`, `"input":7,"atoms"`, "not a numeric input"},
		{`"knots":[0,2,4`, `"knots":[0,4,2`, "not ascending"},
		{`"atoms":[0.5,2]`, `"atoms":[2,2]`, "not ascending"},
		{`"atoms":[0.5,2]`, `"atoms":[]`, "neither knots nor atoms"},
		{`"atoms":[0.5,2]`, `"knots":[2]`, "single knot"},
		{`"atoms":[0.5,2]`, `"atoms":[2],"surplus":1`, "unknown field"},
		{`"knots":[0,2,4,6,8,10,12,14,16,19,21,23,25,27,29,31,33],"atoms":[-1]`,
			`"atoms":[1]},{"input":1,"knots":[1,2]`, "comes after"},
	} {
		text := strings.Replace(goldenScorecard, edit.old, edit.new, 1)
		err := json.Unmarshal([]byte(text), new(Map))
		if text == goldenScorecard || err == nil || !strings.Contains(err.Error(), edit.want) {
			t.Errorf("%s: error %v, want %q", edit.new, err, edit.want)
		}
	}
}

// The probes have values at atoms, between knots and beyond both ends, and never a spelling of a missing
// value.
func TestScorecardProbes(t *testing.T) {
	m := fit(t, tableOf(number("x", append(steps(38), -1, -1)...)), onScorecard)
	var texts []string
	for _, fields := range m.Probes(1, func(text string) bool { return text == "-1" }) {
		texts = append(texts, fields[0])
	}
	if slices.Contains(texts, "-1") || len(slices.Compact(slices.Sorted(slices.Values(texts)))) < 5 {
		t.Errorf("%q", texts)
	}
	if got := fmt.Sprint((&prober{m: m}).values(0)); !strings.HasPrefix(got, "[-1 0 ") || !strings.HasSuffix(got, " 75 -3]") {
		t.Errorf("%s", got)
	}
}
