package portable_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"toptau/internal/models/feature"
	"toptau/internal/models/portable"
	"toptau/internal/tests/modeltest"
)

// score runs a program. It returns NaN for a record without a score.
func score(p *portable.Program, values []portable.Value) float64 {
	numbers, levels := make([]float64, len(p.Inputs)+len(p.Derived)), make([]int, len(p.Inputs))
	for k, in := range p.Inputs {
		v := values[k]
		missing := v.Text == nil
		if !in.Text {
			missing = math.IsNaN(v.Number) || slices.Contains(p.MissingNumbers, v.Number)
		}
		switch {
		case missing && in.Missing == portable.Refused:
			return math.NaN()
		case missing && in.Missing == portable.Filled:
			numbers[k] = in.Fill
		case missing:
			numbers[k], levels[k] = math.NaN(), len(in.Categories)
		case in.Text:
			if levels[k] = slices.Index(in.Categories, strings.Trim(*v.Text, " \t")); levels[k] < 0 {
				levels[k] = len(in.Categories) + 1
			}
		case in.Low <= v.Number && v.Number <= in.High:
			numbers[k] = v.Number
		default:
			return math.NaN()
		}
	}
	for i, d := range p.Derived {
		numbers[len(p.Inputs)+i] = derived(d, numbers)
	}
	z := 0.0
	for _, t := range p.Terms {
		switch t := t.(type) {
		case *portable.Number:
			if x := numbers[t.Input]; !math.IsNaN(x) {
				z += float64(float64(float32(t.Value(x))) * t.Weight)
			}
		case *portable.Level:
			z += t.Terms[levels[t.Input]]
		case *portable.Absent:
			if math.IsNaN(numbers[t.Input]) {
				z += t.Term
			}
		case *portable.Steps:
			x := numbers[t.Input]
			if math.IsNaN(x) {
				z += t.Missing
				continue
			}
			i := 0
			for i < len(t.Cuts) && t.Cuts[i] <= x {
				i++
			}
			z += t.Terms[i]
			checkCells(x, i, t.Place, t.Cells())
		case *portable.Card:
			z = addCard(z, t, numbers[t.Input])
		case *portable.Trees:
			for _, c := range t.Codes {
				numbers[c.Input] = c.Values[levels[c.Input]]
			}
			for _, tree := range t.Trees {
				i := 0
				for tree.Nodes[i].Input >= 0 {
					n := tree.Nodes[i]
					if x := numbers[n.Input]; x <= n.At || n.MissingLeft && math.IsNaN(x) {
						i++
					} else {
						i = n.Right
					}
				}
				z += tree.Nodes[i].Term
			}
		}
	}
	return z + p.Offset
}

func derived(d portable.Derived, numbers []float64) float64 {
	a, b := numbers[d.A], numbers[d.B]
	for _, x := range []float64{a, b} {
		if !(x == 0 || math.Abs(x) >= feature.MinPart && math.Abs(x) <= feature.MaxPart) {
			return math.NaN()
		}
	}
	switch {
	case d.Op == feature.Difference:
		return a - b
	case d.Op == feature.Product:
		return a * b
	case b == 0:
		return math.NaN()
	}
	return a / b
}

func addCard(z float64, t *portable.Card, x float64) float64 {
	if math.IsNaN(x) {
		return z + t.Missing
	}
	given := x
	x = min(max(x, t.Low), t.High)
	if j := slices.Index(t.Atoms, x); j >= 0 {
		checkCells(given, len(t.Knots)+j, t.Place, t.Cells())
		return z + t.Weights[len(t.Knots)+j]
	}
	place := 0
	for place+1 < len(t.Knots) && t.Knots[place+1] <= x {
		place++
	}
	checkCells(given, place, t.Place, t.Cells())
	f := t.Fraction(x, place)
	z += float64((1 - f) * t.Weights[place])
	if place < len(t.Knots)-1 {
		z += float64(f * t.Weights[place+1])
	}
	return z
}

// A program has the bits of the model for random models of every kind of block and policy, and for odd values.
func TestProgramsHaveTheBitsOfTheModel(t *testing.T) {
	scored := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		c := modeltest.New(r)
		p, err := portable.Of(c.Model)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, row := range c.Rows(r, 50) {
			want, err := c.Model.ScoreFields(row.Fields)
			if err != nil {
				want = math.NaN()
			} else {
				scored++
			}
			values, err := p.Values(row.Fields)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if got := score(p, values); math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Fatalf("seed %d: %v, the model has %v for %q", seed, got, want, row.Fields)
			}
		}
		for _, probe := range p.Probes {
			if got := score(p, probe.Values); got != probe.Score {
				t.Errorf("seed %d: a probe scores %v instead of %v", seed, got, probe.Score)
			}
		}
	}
	if scored < 10000 {
		t.Errorf("only %d rows have a score", scored)
	}
}

// checkCells panics unless a place is that of Place and of the cells.
func checkCells(x float64, want int, place func(float64) int, cells []portable.Cell) {
	i := 0
	for x > cells[i].Upto {
		i++
	}
	if place(x) != want || cells[i].Place != want {
		panic(fmt.Sprintf("%v has the place %d, not %d or %d", x, want, place(x), cells[i].Place))
	}
}
