package campaigns_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
	"toptau/method"
	"toptau/model"
)

// classRow is a row of a class as it is packed.
type classRow struct {
	number int // 1-based
	weight float64
	x      []float64
}

// classRows returns the positives, or the population.
func classRows(t testing.TB, f *forgery, population bool) []classRow {
	t.Helper()
	o, err := bindProblem(t.Context(), f.parts.Members[0].Problem, f.c.Storage, f.of.model, f.of.data)
	if err != nil {
		t.Fatal(err)
	}
	return rowsOfClass(o, population)
}

func rowsOfClass(o *objective.Objective, population bool) (list []classRow) {
	for _, p := range []*matrix.ClassRows{o.Matrix().Positives, o.Matrix().Negatives} {
		if positive := p == o.Matrix().Positives; positive && population && o.Problem().Definition().Population == method.Negatives || !positive && !population {
			continue
		}
		for i := range p.Rows() {
			r := classRow{number: p.Source(i) + 1, weight: 1, x: make([]float64, o.Dim())}
			p.Row(i, r.x)
			if p.Weights() != nil {
				r.weight = p.Weights()[i]
			}
			list = append(list, r)
		}
	}
	return list
}

// score returns the score that describes groups.
func (r *classRow) score(w []float64) float64 {
	z := 0.0
	for j, x := range r.x {
		z += float64(x * w[j])
	}
	return z
}

// group replaces multipliers of some rows by a group. Rows of its interval with another multiplier are held.
func (f *forgery) group(t testing.TB, w *model.DualWeights, population bool) bool {
	rows := classRows(t, f, population)
	value := map[int]float64{}
	for k, row := range w.Rows {
		value[row] = w.Values[k]
	}
	point := slices.Clone(f.parts.Weights)
	if f.IntN(2) == 0 {
		for j := range point {
			point[j] = f.NormFloat64()
		}
	}
	slices.SortFunc(rows, func(a, b classRow) int {
		if a.score(point) < b.score(point) {
			return -1
		}
		return 1
	})
	first := f.IntN(len(rows))
	end := first + 1 + f.IntN(len(rows)-first)
	low, high := rows[first].score(point), math.Inf(1)
	if end < len(rows) {
		high = rows[end].score(point)
	}
	if !(low < high) {
		return false
	}
	// The members are the rows of the interval that have a multiplier in the proportion of one of them.
	var inside []classRow
	for _, r := range rows {
		if z := r.score(point); z >= low && z < high {
			inside = append(inside, r)
		}
	}
	chosen := inside[f.IntN(len(inside))]
	ratio := value[chosen.number] / chosen.weight
	if ratio == 0 {
		return false
	}
	var sum, mass float64
	var held []int
	for _, r := range inside {
		if x := value[r.number]; math.Abs(x/r.weight-ratio) <= 1e-14*ratio {
			sum, mass = sum+x, mass+r.weight
			k := slices.Index(w.Rows, r.number)
			w.Rows, w.Values = slices.Delete(w.Rows, k, k+1), slices.Delete(w.Values, k, k+1)
		} else {
			held = append(held, r.number)
		}
	}
	w.At, w.Held = point, slices.DeleteFunc(held, func(row int) bool { return slices.Contains(w.Rows, row) })
	w.Groups = append(w.Groups, model.DualGroup{Low: orNil(low), High: orNil(high), Value: sum, Rate: 1 / mass})
	return true
}

// grouped puts multipliers of p or a into a group, and returns where.
func (f *forgery) grouped(t testing.TB) *model.DualWeights {
	for range 20 {
		if f.IntN(3) == 0 && f.group(t, &f.c.P, false) {
			return &f.c.P
		}
		if f.group(t, &f.c.A, true) {
			return &f.c.A
		}
	}
	return nil
}

// inGroups makes a forgery of the group of a true certificate.
func inGroups(change func(f *forgery, w *model.DualWeights, g *model.DualGroup) bool) func(f *forgery) bool {
	return func(f *forgery) bool {
		w := f.grouped(f.t)
		return w != nil && change(f, w, &w.Groups[0])
	}
}

var groupForges = []forge{
	{"group: value", false, inGroups(func(f *forgery, _ *model.DualWeights, g *model.DualGroup) bool { g.Value *= f.size(); return true })},
	{"group: value, honest", false, inGroups(func(f *forgery, _ *model.DualWeights, g *model.DualGroup) bool {
		g.Value /= f.size()
		return f.honest()
	})},
	{"group: negative value", false, inGroups(func(f *forgery, _ *model.DualWeights, g *model.DualGroup) bool { g.Value = -g.Value; return f.honest() })},
	{"group: rate", false, inGroups(func(f *forgery, _ *model.DualWeights, g *model.DualGroup) bool { g.Rate *= f.size(); return f.honest() })},
	{"group: slope", false, inGroups(func(f *forgery, _ *model.DualWeights, g *model.DualGroup) bool {
		g.Slope, g.Origin = g.Rate*math.Pow(10, -14+14*f.Float64())*f.NormFloat64(), f.NormFloat64()
		return f.honest()
	})},
	{"group: special number", false, inGroups(func(f *forgery, _ *model.DualWeights, g *model.DualGroup) bool {
		*pick(f.Rand, &g.Value, &g.Rate, &g.Slope, &g.Origin) = pick(f.Rand, special...)
		return true
	})},
	{"group: interval moved", false, inGroups(func(f *forgery, _ *model.DualWeights, g *model.DualGroup) bool {
		low := *g.Low + f.NormFloat64()
		g.Low = &low
		return f.honest()
	})},
	{"group: no upper end", false, inGroups(func(f *forgery, _ *model.DualWeights, g *model.DualGroup) bool { g.High = nil; return f.honest() })},
	{"group: no lower end", false, inGroups(func(f *forgery, _ *model.DualWeights, g *model.DualGroup) bool { g.Low = nil; return f.honest() })},
	{"group: interval reversed", true, inGroups(func(f *forgery, _ *model.DualWeights, g *model.DualGroup) bool {
		g.Low, g.High = g.High, g.Low
		return g.Low != nil
	})},
	{"group: no row held", false, inGroups(func(f *forgery, w *model.DualWeights, g *model.DualGroup) bool {
		some := len(w.Held) > 0
		w.Held = nil
		return some && f.honest()
	})},
	{"group: a member held", false, inGroups(func(f *forgery, w *model.DualWeights, g *model.DualGroup) bool {
		w.Held = append(w.Held, f.rowOf(f.IntN(2) == 0))
		return f.honest()
	})},
	{"group: a row held twice", false, inGroups(func(f *forgery, w *model.DualWeights, g *model.DualGroup) bool {
		row := f.rowOf(false)
		w.Held = append(w.Held, row, row)
		return f.honest()
	})},
	{"group: twice", true, inGroups(func(f *forgery, w *model.DualWeights, g *model.DualGroup) bool {
		w.Groups = append(w.Groups, *g)
		return f.honest()
	})},
	{"group: left out", false, inGroups(func(f *forgery, w *model.DualWeights, g *model.DualGroup) bool { w.Groups = nil; return f.honest() })},
	{"group: one of a part of its interval, too", true, inGroups(func(f *forgery, w *model.DualWeights, g *model.DualGroup) bool {
		part := *g
		low := *g.Low + f.Float64()
		part.Low, part.High = &low, nil
		if g.High != nil && low >= *g.High {
			return false
		}
		w.Groups = append(w.Groups, part)
		return f.honest()
	})},
	{"group: next to it", false, inGroups(func(f *forgery, w *model.DualWeights, g *model.DualGroup) bool {
		if g.High == nil {
			return false
		}
		w.Groups = append(w.Groups, model.DualGroup{Low: g.High, Value: g.Value * pick(f.Rand, 1e-12, 1e-3, 1, -1), Rate: g.Rate})
		return f.honest()
	})},
	{"group: out of order", true, inGroups(func(f *forgery, w *model.DualWeights, g *model.DualGroup) bool {
		if g.High == nil {
			return false
		}
		w.Groups = append([]model.DualGroup{{Low: g.High, Value: g.Value, Rate: g.Rate}}, w.Groups...)
		return f.honest()
	})},
	{"group: a member with a multiplier of its own", false, inGroups(func(f *forgery, w *model.DualWeights, g *model.DualGroup) bool {
		row := f.rowOf(f.IntN(2) == 0)
		if slices.Contains(w.Rows, row) {
			return false
		}
		w.Rows, w.Values = append(w.Rows, row), append(w.Values, math.Abs(g.Value*g.Rate)*pick(f.Rand, 1, 0.5, 2))
		return f.honest()
	})},
	{"group: ends of both signs", false, inGroups(func(f *forgery, w *model.DualWeights, g *model.DualGroup) bool {
		g.Value, g.Rate, g.Slope, g.Origin = -g.Value, -g.Rate, g.Rate*f.NormFloat64(), *g.Low
		return f.honest()
	})},
	{"group: all rows with a slope", false, func(f *forgery) bool {
		// a of every row is linear in its score. Changes of the numbers violate the sum, the signs or the caps.
		w, rows := &f.c.A, classRows(f.t, f, true)
		g := model.DualGroup{Rate: f.Float64(), Slope: f.Float64(), Value: 1, Origin: math.Inf(1)}
		*w = model.DualWeights{Rows: []int{}, Values: []float64{}, At: slices.Clone(f.parts.Weights)}
		for _, r := range rows {
			g.Origin = min(g.Origin, r.score(w.At))
		}
		sum := 0.0
		for _, r := range rows {
			sum += r.weight * (g.Rate + g.Slope*(r.score(w.At)-g.Origin))
		}
		g.Value /= sum
		switch f.IntN(6) {
		case 0:
			g.Value *= f.size()
		case 1:
			g.Slope, g.Rate = -g.Slope, g.Rate+g.Slope
		case 2:
			g.Value, g.Slope, g.Rate = -g.Value, -g.Slope, -g.Rate
		case 3:
			g.Slope *= 1 + 1e-9*f.NormFloat64()
		}
		w.Groups = []model.DualGroup{g}
		return f.honest()
	}},
	{"group: an origin far away", false, inGroups(func(f *forgery, w *model.DualWeights, g *model.DualGroup) bool {
		g.Origin = math.Pow(10, 30*f.Float64()) * pick(f.Rand, 1.0, -1)
		g.Slope = -g.Rate / g.Origin * pick(f.Rand, 1, 0.5, 1-1e-9)
		return f.honest()
	})},
	{"group: another point", false, inGroups(func(f *forgery, w *model.DualWeights, g *model.DualGroup) bool {
		*f.some(w.At) += f.NormFloat64()
		return f.honest()
	})},
	{"group: a point of another length", true, inGroups(func(f *forgery, w *model.DualWeights, g *model.DualGroup) bool {
		w.At = append(w.At, 1)
		return true
	})},
	{"group: keys of a database", true, inGroups(func(f *forgery, w *model.DualWeights, g *model.DualGroup) bool {
		w.HeldKeys = []string{"1"}
		return true
	})},
	{"group: null in a list", true, inGroups(func(f *forgery, w *model.DualWeights, g *model.DualGroup) bool {
		name := pick(f.Rand, `"values":[`, `"rows":[`, `"at":[`, `"groups":[`)
		return f.setText(func(text string) string { return strings.Replace(text, name, name+"null,", 1) })
	})},
	{"group: a field twice", true, inGroups(func(f *forgery, w *model.DualWeights, g *model.DualGroup) bool {
		return f.setText(func(text string) string { return strings.Replace(text, `"rate":`, `"rate":1,"rate":`, 1) })
	})},
	{"group: a field missing", true, inGroups(func(f *forgery, w *model.DualWeights, g *model.DualGroup) bool {
		return f.setText(func(text string) string { return strings.Replace(text, `"slope":0,`, ``, 1) })
	})},
	{"group: lower bound raised", false, inGroups(func(f *forgery, _ *model.DualWeights, g *model.DualGroup) bool {
		f.c.LowerBound *= f.size()
		return true
	})},
}

func init() { forges = append(forges, groupForges...) }

// Certificates whose multipliers are put into groups hold, and both bounds agree with rational numbers.
func TestTrueGroupsHold(t *testing.T) {
	if testing.Short() {
		t.Skip("fits many models")
	}
	made := 0
	for i, c := range trueCases(t, ifHostile(1, 10), 24) {
		f := &forgery{Rand: rand.New(rand.NewPCG(uint64(i), 9)), t: t, of: c}
		f.copyCase(t)
		if f.grouped(t) == nil {
			continue
		}
		made++
		read, v, err := f.verify(t)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !v.Holds {
			t.Errorf("%s: %s", c.name, strings.Join(v.Reasons, "; "))
		}
		if defect := exactDefect(f.model(), f.data, read, v); defect != "" {
			t.Errorf("%s: %s", c.name, defect)
		}
	}
	if made == 0 {
		t.Error("no groups")
	}
	t.Logf("%d true certificates with groups", made)
}

// addGroups adds the multipliers of the members of groups, which are defined in float64.
func addGroups(to []*big.Rat, rows []classRow, w *model.DualWeights) {
	for i := range rows {
		r := &rows[i]
		for k := range w.Groups {
			g := &w.Groups[k]
			z := r.score(w.At)
			low, high := math.Inf(-1), math.Inf(1)
			if g.Low != nil {
				low = *g.Low
			}
			if g.High != nil {
				high = *g.High
			}
			if z < low || z >= high || slices.Contains(w.Held, r.number) || slices.Contains(w.Rows, r.number) {
				continue
			}
			own := float64(r.weight * float64(g.Value*(g.Rate+float64(g.Slope*(z-g.Origin)))))
			to[i] = ratOf(max(0, own))
		}
	}
}

// orNil returns nil for an infinite end of a group.
func orNil(x float64) *float64 {
	if math.IsInf(x, 0) {
		return nil
	}
	return &x
}
