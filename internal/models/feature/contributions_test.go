package feature

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"toptau/schema"
)

// Tree 1 of goldenLeaves tests y, then x: leaves of mass 1, 3 and 4. With the weights 8, 0, 4 the means are 2
// on the left side and 3 at the root. Tree 2 tests x: masses 6 and 2, weights 0 and 4, mean 1.
func TestContributionsByHand(t *testing.T) {
	m := new(Map)
	if err := json.Unmarshal([]byte(goldenLeaves), m); err != nil {
		t.Fatal(err)
	}
	c, err := NewContributions(m, []float64{8, 0, 4, 0, 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ x, y, ofX, ofY float64 }{
		{0, 0, (8 - 2) + (0 - 1), 2 - 3},
		{2, 0, (0 - 2) + (4 - 1), 2 - 3},
		{2, 5, 4 - 1, 4 - 3},
		{missing, 0, (8 - 2) + (4 - 1), 2 - 3},
	} {
		var e Encoded
		if err := m.Encode(tableOf(number("x", test.x), number("y", test.y)), 0, &e); err != nil {
			t.Fatal(err)
		}
		dst := []float64{99, 99}
		if rest := c.Row(&e, dst); rest != 4 || dst[0] != test.ofX || dst[1] != test.ofY {
			t.Errorf("x %v, y %v: %v, rest %v, want %v, %v and 4", test.x, test.y, dst, rest, test.ofX, test.ofY)
		}
	}
}

func TestContributionsAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 9))
	for trial, encode := range []Encode{EncodeRaw, EncodeScorecard, EncodeLeaves, EncodeBoth, EncodeRaw, EncodeBoosted, EncodePairs, EncodeAdditive} {
		sparse := trial == 4
		data := randomTable(r, 300, sparse)
		o := Options{Encode: encode, Impute: schema.ImputeIndicator, Trees: 6, Leaves: 25}
		if trial%2 == 1 {
			o.Derived = someDerived
		}
		m := fit(t, data, o)
		w := make([]float64, m.Cols())
		for j := range w {
			w[j] = r.Float64() - .5
		}
		c, err := NewContributions(m, w)
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewScorer(m, w, 0)
		if err != nil {
			t.Fatal(err)
		}
		dst := make([]float64, len(c.Columns))
		for row := range data.Rows() {
			z, err := s.Score(data, row)
			if err != nil {
				t.Fatal(err)
			}
			total := c.Row(&s.Row, dst)
			if rest := total; (encode == EncodeRaw || sparse) && rest != 0 {
				t.Fatalf("row %d: rest %v", row, rest)
			}
			for _, x := range dst {
				total += x
			}
			if math.Abs(total-z) > 1e-9*(1+math.Abs(z)) {
				t.Fatalf("%s, row %d: contributions of %v for a score of %v", encode, row, total, z)
			}
		}
	}
	if _, err := NewContributions(fit(t, randomTable(r, 50, false), Options{Impute: schema.ImputeIndicator}), nil); err == nil {
		t.Error("no weights were taken")
	}
}
