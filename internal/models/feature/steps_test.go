package feature

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"toptau/schema"
)

// The steps of an additive model are the contributions of its columns at every value.
func TestStepsAreTheContributions(t *testing.T) {
	data := randomTable(rand.New(rand.NewPCG(1, 6)), 600, false)
	m := fit(t, data, Options{Encode: EncodeAdditive, Impute: schema.ImputeIndicator, Rounds: 60})
	w := m.Boosting().Weights(60, m.Cols())
	c, err := NewContributions(m, w)
	if err != nil {
		t.Fatal(err)
	}
	var e Encoded
	dst := make([]float64, len(c.Columns))
	checked := 0
	for row := range data.Rows() {
		if err := m.Encode(data, row, &e); err != nil {
			t.Fatal(err)
		}
		c.Row(&e, dst)
		for input := range m.Inputs {
			edges, adds, ok := c.Steps(input)
			if !ok {
				if dst[input] != 0 {
					t.Fatalf("input %d has no steps and adds %v", input, dst[input])
				}
				continue
			}
			if x := e.numbers[input]; !math.IsNaN(x) {
				at, _ := slices.BinarySearch(edges, x)
				if adds[at] != dst[input] {
					t.Fatalf("input %d at %v adds %v, the step is %v", input, x, dst[input], adds[at])
				}
				checked++
			}
		}
	}
	if checked < 500 {
		t.Errorf("%d values were compared", checked)
	}
	scorecard := fit(t, data, Options{Encode: EncodeScorecard, Impute: schema.ImputeIndicator})
	if c, err = NewContributions(scorecard, make([]float64, scorecard.Cols())); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := c.Steps(0); ok {
		t.Error("a scale is a step function")
	}
}

// The pairs of a model of trees with two questions, together with the leaves that one input leads to, add up to
// the score, and the function of a pair has the values of the rows. Trees with more questions have no pairs.
func TestPairsAddUp(t *testing.T) {
	data := randomTable(rand.New(rand.NewPCG(2, 6)), 600, false)
	m := fit(t, data, Options{Encode: EncodePairs, Impute: schema.ImputeIndicator, Rounds: 40})
	w := m.Boosting().Weights(40, m.Cols())
	p := PairsOf(m, w)
	if p == nil || len(p.Inputs) < 3 {
		t.Fatalf("%+v", p)
	}
	var e Encoded
	dst := make([]float64, len(p.Inputs))
	for row := range data.Rows() {
		if err := m.Encode(data, row, &e); err != nil {
			t.Fatal(err)
		}
		p.Row(&e, dst)
		total := 0.0
		for _, adds := range dst {
			total += adds
		}
		for i := range p.trees {
			if leaf := p.trees[i].tree.Leaf(e.numbers); p.trees[i].pair[leaf] < 0 {
				total += p.trees[i].weights[leaf]
			}
		}
		if z := m.dot(&e, w); math.Abs(total-z) > 1e-12*(1+math.Abs(z)) {
			t.Fatalf("row %d: pairs of %v for a score of %v", row, total, z)
		}
		for k, in := range p.Inputs {
			a, b := e.numbers[in[0]], e.numbers[in[1]]
			if row%50 > 0 || math.IsNaN(a) || math.IsNaN(b) {
				continue
			}
			x, y, at := p.Function(k)
			if at(a, b) != dst[k] || at(upTo(x, a), upTo(y, b)) != dst[k] {
				t.Fatalf("row %d, pair %v: %v and %v, %v added", row, in, at(a, b), at(upTo(x, a), upTo(y, b)), dst[k])
			}
		}
	}
	deep := fit(t, data, Options{Encode: EncodeBoosted, Impute: schema.ImputeIndicator, Rounds: 10})
	if PairsOf(deep, make([]float64, deep.Cols())) != nil {
		t.Error("deep trees have pairs")
	}
}

// upTo returns the end of the interval between thresholds that a value is in.
func upTo(thresholds []float64, x float64) float64 {
	if k, _ := slices.BinarySearch(thresholds, x); k < len(thresholds) {
		return thresholds[k]
	}
	return math.MaxFloat64
}
