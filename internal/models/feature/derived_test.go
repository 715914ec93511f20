package feature

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"toptau/internal/data/table"
)

// someDerived are derived columns of randomTable.
var someDerived = []Derivation{{Ratio, 0, 1}, {Product, 4, 3}, {Difference, 1, 6}}

func TestDerivedValuesByHand(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, test := range []struct {
		op         Op
		a, b, want float64
	}{
		{Difference, 5, 7, -2},
		{Difference, 0.3, 0.1, 0.19999999999999998},
		{Difference, 1, 0x1p-500, 1},
		{Product, 3, -4, -12},
		{Product, 0.1, 0.1, 0.010000000000000002},
		{Product, 0, 5, 0},
		{Product, 0x1p500, 0x1p500, 0x1p1000},
		{Product, 0x1p-500, 0x1p-500, 0x1p-1000},
		{Ratio, 1, 3, 1.0 / 3},
		{Ratio, 0, 3, 0},
		{Ratio, 0x1p500, -0x1p-500, -0x1p1000},
		{Ratio, 1, 0, nan},
		{Ratio, 0, 0, nan},
		{Ratio, nan, 1, nan},
		{Difference, 1, nan, nan},
		{Product, 0, inf, nan},
		{Difference, -inf, 0, nan},
		{Product, 0, math.Nextafter(0x1p500, inf), nan},
		{Difference, math.Nextafter(0x1p-500, 0), 0, nan},
		{Product, math.SmallestNonzeroFloat64, 1, nan},
	} {
		if got := test.op.Value(test.a, test.b); got != test.want && !(math.IsNaN(got) && math.IsNaN(test.want)) {
			t.Errorf("%v %s %v is %v, want %v", test.a, test.op, test.b, got, test.want)
		}
	}
}

// A border between the classes that only the ratio has is found by few trees, and the names and shares are those of the columns.
func TestTreesReadDerivedColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	data := tableOf(number("debt"), number("constant"), number("income"), symbol("s", "u", "v"))
	data.Columns[3].Codes = nil
	for i := range 3000 {
		debt, income := math.Exp(r.NormFloat64()), math.Exp(r.NormFloat64())
		if i%50 == 0 {
			income = 0
		}
		data.Columns[0].Values = append(data.Columns[0].Values, debt)
		data.Columns[1].Values = append(data.Columns[1].Values, 7)
		data.Columns[2].Values = append(data.Columns[2].Values, income)
		data.Columns[3].Codes = append(data.Columns[3].Codes, int32(i%2))
		class := table.Negative
		if debt > 1.5*income {
			class = table.Positive
		}
		data.Label, data.Line = append(data.Label, class), append(data.Line, i+1)
	}
	wrong := map[bool]int{}
	for _, derived := range []bool{false, true} {
		o := Options{Encode: EncodeBoosted, Rounds: 20}
		if derived {
			o.Derived = []Derivation{{Ratio, 0, 2}, {Product, 0, 1}} // the constant column has no input
		}
		m := reread(t, fit(t, data, o))
		grown := fit(t, data, o)
		w := grown.Boosting().Weights(20, m.Cols())
		s, err := NewScorer(m, w, grown.Boosting().Intercept)
		if err != nil {
			t.Fatal(err)
		}
		z := make([]float64, data.Rows())
		if err := s.Scores(data, z); err != nil {
			t.Fatal(err)
		}
		for row := range z {
			if (z[row] > 0) != (data.Label[row] == table.Positive) {
				wrong[derived]++
			}
		}
		if !derived {
			continue
		}
		if names := DerivedNames(m); !slices.Equal(names, []string{"debt / income"}) {
			t.Errorf("derived columns %q", names)
		}
		c, err := NewContributions(m, w)
		if err != nil {
			t.Fatal(err)
		}
		if d := Directions(m, w); d[0] != Mixed || d[1] != Mixed {
			t.Errorf("directions %v", d)
		}
		if _, _, ok := c.Steps(0); ok || PairsOf(m, w) != nil {
			t.Error("a function of one column, or of a pair, leaves the ratio out")
		}
	}
	if 3*wrong[true] > wrong[false] {
		t.Errorf("wrong classes without and with the ratio: %v", wrong)
	}
}

// The columns share what a derived one adds: the tree asks whether x / y is at most 2, and a missing ratio goes right.
func TestDerivedByHand(t *testing.T) {
	m := &Map{}
	if err := json.Unmarshal([]byte(`{"scale":"standard","impute":"error","inputs":[{"column":0,"name":"x","kind":"numeric"},`+
		`{"column":1,"name":"y","kind":"numeric"}],"derived":[{"op":"/","a":0,"b":1}],"dropped":[],"blocks":[{"kind":"numeric","block":{"inputs":[0]}},`+
		`{"kind":"leaves","block":{"inputs":[2],"trees":[{"ask":[0,-1,-1],"at":[2],"mass":[3,1]}]}}]}`), m); err != nil {
		t.Fatal(err)
	}
	s, err := NewScorer(m, []float64{10, 1, 5}, 0)
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewContributions(m, s.Weights)
	if err != nil {
		t.Fatal(err)
	}
	data, adds := tableOf(number("x", 4, 5, 0, 1), number("y", 2, 2, 0, 0)), make([]float64, 2)
	for row, want := range [][4]float64{{41, 2, 39.5, -0.5}, {55, 2, 51.5, 1.5}, {5, 2, 1.5, 1.5}, {15, 2, 11.5, 1.5}} {
		z, err := s.Score(data, row)
		if err != nil {
			t.Fatal(err)
		}
		if got := [4]float64{z, c.Row(&s.Row, adds), adds[0], adds[1]}; got != want {
			t.Errorf("row %d: %v, want %v", row, got, want)
		}
	}
}

func TestUnionOfDerivedColumns(t *testing.T) {
	data := unionTable()
	fitted := func(e Encode, list ...Derivation) *Map {
		return fit(t, data, Options{Encode: e, Rounds: 5, Derived: list})
	}
	derived := fitted(EncodeBoosted, Derivation{Difference, 0, 1})
	for _, maps := range [][]*Map{{fitted(EncodeRaw), derived}, {derived, fitted(EncodeBoosted)}} {
		union, _, err := Union(maps)
		if err != nil || !slices.Equal(union.Derived, derived.Derived) {
			t.Errorf("%v, derived columns %v", err, union.Derived)
		}
	}
	if _, _, err := Union([]*Map{derived, fitted(EncodeBoosted, Derivation{Product, 0, 1})}); err == nil {
		t.Error("maps of different derived columns are joined")
	}
}

func TestBadDerivedColumnsAreRefused(t *testing.T) {
	data := unionTable()
	written, err := fit(t, data, Options{Encode: EncodeBoosted, Rounds: 1, Derived: []Derivation{{Ratio, 1, 0}}}).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, edit := range []struct{ old, new, want string }{
		{`"op":"/"`, `"op":"+"`, `operation "+"`},
		{`"a":1`, `"a":0`, "alone"},
		{`"a":1`, `"a":2`, "not a numeric input"},
		{`"a":1`, `"a":3`, "not a numeric input"},
		{`"b":0`, `"b":-1`, "not a numeric input"},
		{`"b":0`, `"b":0,"c":1`, "unknown field"},
		{`"derived":[{"op":"/","a":1,"b":0}],`, ``, "no input 3"},
	} {
		text := strings.Replace(string(written), edit.old, edit.new, 1)
		err := json.Unmarshal([]byte(text), new(Map))
		if text == string(written) || err == nil || !strings.Contains(err.Error(), edit.want) {
			t.Errorf("%s: error %v, want %q", edit.new, err, edit.want)
		}
	}
}
