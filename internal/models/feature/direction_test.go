package feature

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"toptau/schema"
)

// A direction that is found holds for every row and every pair of values, for all encodings; and the columns that
// boosting keeps monotone are found.
func TestDirectionsHold(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 8))
	found := map[Direction]int{}
	for trial := range 40 {
		data := randomTable(r, 300, false)
		o := Options{Impute: schema.ImputeIndicator, Rounds: 5}
		o.Encode = []Encode{EncodeRaw, EncodeScorecard, EncodeAdditive, EncodeBoosted}[trial%4]
		if trial%4 > 1 {
			o.Monotone = []Sign{{Column: "x1", Falling: trial%8 > 3}}
			o.Derived = []Derivation{{Ratio, 0, 6}}
		}
		m := fit(t, data, o)
		var w []float64
		if o.Monotone != nil {
			w = m.Boosting().Weights(5, m.Cols())
		} else {
			for range m.Cols() {
				w = append(w, math.Round(3*r.NormFloat64()))
			}
			if trial%8 < 4 { // scales that rise
				slices.Sort(w)
			}
		}
		directions := Directions(m, w)
		if o.Monotone != nil {
			want := Rising
			if o.Monotone[0].Falling {
				want = Falling
			}
			at := slices.IndexFunc(m.Inputs, func(in Input) bool { return in.Name == "x1" })
			if at >= 0 && directions[at] != want && directions[at] != Flat {
				t.Errorf("trial %d: direction %v of a monotone column, want %v", trial, directions[at], want)
			}
		}
		s, err := NewScorer(m, w, 0)
		if err != nil {
			t.Fatal(err)
		}
		for k, d := range directions {
			found[d]++
			if d == Mixed {
				continue
			}
			column := &data.Columns[m.Inputs[k].Column]
			values := slices.DeleteFunc(slices.Clone(column.Values), math.IsNaN)
			slices.Sort(values)
			row, last := r.IntN(300), 0.0
			for i, v := range values {
				column.Values[row] = v
				z, err := s.Score(data, row)
				if err != nil {
					t.Fatal(err)
				}
				step := z - last
				if last = z; i > 0 && (d == Rising && step < -1e-9 || d == Falling && step > 1e-9 || d == Flat &&
					step != 0) {
					t.Fatalf("trial %d: input %d with direction %v moves by %v at %v", trial, k, d, step, v)
				}
			}
		}
	}
	if found[Rising] < 10 || found[Falling] < 10 || found[Mixed] < 10 {
		t.Errorf("directions found: %v", found)
	}
}

func TestDirectionOfAScaleByHand(t *testing.T) {
	card := Card{Knots: []float64{0, 10, 20}, Atoms: []float64{5, 30}, Missing: true}
	for _, c := range []struct {
		w        []float64
		up, down bool
	}{
		{[]float64{0, 2, 2, 1, 4, -7}, true, false}, // the atom at 5 lies on the curve; the missing value does not count
		{[]float64{0, 2, 2, 1.5, 4, 0}, true, true}, // it does not
		{[]float64{0, 2, 2, 1, 1, 0}, true, true},   // the last atom is below the last knot
		{[]float64{3, 3, 3, 3, 3, 0}, false, false},
		{[]float64{4, 2, 0, 3, -1, 9}, false, true},
	} {
		var m moves
		m.addCard(&card, c.w)
		if m.up != c.up || m.down != c.down {
			t.Errorf("weights %v: up %v, down %v", c.w, m.up, m.down)
		}
	}
}
