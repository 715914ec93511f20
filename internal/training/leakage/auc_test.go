package leakage

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"toptau/internal/data/table"
	"toptau/schema"
)

// plainAUC is transferredAUC by its definition, on values by class.
func plainAUC(from, to [2][]float64, names bool) float64 {
	distinct := func(lists ...[]float64) []float64 {
		all := slices.DeleteFunc(slices.Concat(lists...), math.IsNaN)
		slices.Sort(all)
		return slices.Compact(all)
	}
	edges := distinct(from[0], from[1])
	if !names && len(edges) > 2*leakQuantum {
		var ends []float64
		for _, v := range from {
			if d := distinct(v); len(d) > 0 {
				for k := range leakQuantum {
					ends = append(ends, d[k*(len(d)-1)/(leakQuantum-1)])
				}
			}
		}
		edges = distinct(ends)
	}
	bin := func(v float64) int {
		if math.IsNaN(v) {
			return len(edges) + 1
		}
		k, found := slices.BinarySearch(edges, v)
		if names && !found {
			return len(edges)
		}
		return k
	}
	type bins [2][]float64
	var learnt, seen bins
	for class := range learnt {
		learnt[class], seen[class] = make([]float64, len(edges)+2), make([]float64, len(edges)+2)
		for _, v := range from[class] {
			learnt[class][bin(v)] += 1 / float64(len(from[class]))
		}
		for _, v := range to[class] {
			seen[class][bin(v)]++
		}
	}
	little := 1 / float64(len(from[0])+len(from[1]))
	score := func(k int) float64 {
		p, n := learnt[1][k]+little, learnt[0][k]+little
		return p / (p + n)
	}
	order := make([]int, len(edges)+2)
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(score(a), score(b)) })
	var below, area float64
	for i := 0; i < len(order); {
		var n, p float64
		for s := score(order[i]); i < len(order) && score(order[i]) == s; i++ {
			n, p = n+seen[0][order[i]], p+seen[1][order[i]]
		}
		area += float64(p * (below + float64(n/2)))
		below += n
	}
	return area / float64(len(to[0])) / float64(len(to[1]))
}

// The AUC of every column has the bits of its definition: numbers with few and many values, missing ones, both zeros, and categories.
func TestAUCIsThatOfItsDefinition(t *testing.T) {
	const rows = 900
	r := rand.New(rand.NewPCG(11, 12))
	d := &table.Table{Label: make([]table.Class, rows), Line: make([]int, rows)}
	for i := range d.Label {
		d.Label[i] = table.Class(r.IntN(4) / 3)
	}
	for j := range 60 {
		c := table.Column{Name: fmt.Sprint("x", j), Number: j + 1}
		if j%4 == 3 {
			c.Kind, c.Dictionary = schema.Categorical, make([]string, 1+r.IntN(400))
		}
		levels := 1 + r.IntN(1+j*j)
		for i := range rows {
			v := float64(r.IntN(levels)-levels/2) * math.Copysign(1, r.NormFloat64())
			switch {
			case c.Kind == schema.Categorical:
				c.Codes = append(c.Codes, int32(r.IntN(len(c.Dictionary)+1)-1))
				continue
			case j%4 == 1:
				v = r.NormFloat64() + float64(d.Label[i])
			case j%4 == 2 && r.IntN(3) == 0:
				v = math.NaN()
			}
			c.Values = append(c.Values, v)
		}
		d.Columns = append(d.Columns, c)
	}
	s := newSearch(d)
	for _, most := range []int{20, 150, rows} { // rows that are decoded one by one, and together
		h := s.halve(most)
		got := s.measure(indices(len(d.Columns)), &h)
		for j := range d.Columns {
			var x [2][2][]float64
			for half := range h {
				for class, list := range h[half] {
					for _, row := range list {
						x[half][class] = append(x[half][class], valueIn(&d.Columns[j], row))
					}
				}
			}
			names := d.Columns[j].Kind == schema.Categorical
			want := (plainAUC(x[0], x[1], names) + plainAUC(x[1], x[0], names)) / 2
			if math.Float64bits(got[j]) != math.Float64bits(want) {
				t.Errorf("column %d, %d rows of a class: %v instead of %v", j, most, got[j], want)
			}
		}
	}
}

// BenchmarkFind measures wide tables of whole numbers, most of them 0, and of measurements.
func BenchmarkFind(b *testing.B) {
	r := rand.New(rand.NewPCG(13, 14))
	for name, value := range map[string]func() float64{"counts": func() float64 { return float64(max(0, r.IntN(2000)-1700)) }, "measurements": r.NormFloat64} {
		d := leakTable(6000, .5, func(int, bool, *rand.Rand) any { return value() })
		for j := range 99 {
			c := table.Column{Name: fmt.Sprint("y", j), Number: j + 2}
			for range d.Label {
				c.Values = append(c.Values, value())
			}
			d.Columns = append(d.Columns, c)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Find(d)
			}
		})
	}
}
