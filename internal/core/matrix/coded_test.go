package matrix

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"toptau/diag"
)

// codedSample is rows that stand at random levels; gaps is the share of groups in which a row stands nowhere.
func codedSample(r *rand.Rand, rows int, groups []Group, gaps float64) sample {
	cols := CodedSpec(groups).Cols
	s := sample{x: make([][]float64, rows), y: make([]bool, rows), weights: make([]float64, rows)}
	for i := range s.x {
		s.x[i] = make([]float64, cols)
		first := 0
		for _, g := range groups {
			if unit(r) >= gaps {
				placeRow(r, g, s.x[i][first:])
			}
			first += g.Levels
		}
		s.y[i] = unit(r) < 0.5
		s.weights[i] = 1 + math.Floor(3*unit(r))
	}
	s.y[0], s.y[rows-1] = true, false
	return s
}

// placeRow puts a row at a level, often the first or the last, or between two.
func placeRow(r *rand.Rand, g Group, x []float64) {
	level := []int{0, g.Levels - 1, r.IntN(g.Levels), r.IntN(g.Levels)}[r.IntN(4)]
	switch {
	case g.Values != nil:
		x[level] = g.Values[level]
	case g.Between && level+1 < g.Levels && r.IntN(4) > 0:
		f := Fraction([]float64{unit(r), math.Ldexp(1, -24), 1 - math.Ldexp(1, -24), 1e-7}[r.IntN(4)])
		x[level], x[level+1] = 1-f, f
	default:
		x[level] = 1
	}
}

// randomGroups mixes groups of all sorts: the sizes of their codes, fractions, values.
func randomGroups(r *rand.Rand, count int, sizes []int) []Group {
	groups := make([]Group, count)
	for k := range groups {
		g := &groups[k]
		g.Levels = sizes[r.IntN(len(sizes))]
		switch r.IntN(3) {
		case 0:
			g.Between = g.Levels > 1
		case 1:
			for range g.Levels {
				g.Values = append(g.Values, math.Ldexp(2*unit(r)-1, r.IntN(20))) // rounded to the storage
			}
		}
		if k > 0 && r.IntN(2) == 0 {
			groups[k] = groups[k-1] // so that runs have several groups
		}
	}
	return groups
}

// twins are layouts that must agree with coded groups.
func twins(groups []Group) map[string]Layout {
	spec := CodedSpec(groups)
	half := len(groups) / 2
	low, high := CodedSpec(groups[:half]), CodedSpec(groups[half:])
	return map[string]Layout{
		"dense":  {{Kind: Dense, Cols: spec.Cols}},
		"sparse": {{Kind: Sparse, Cols: spec.Cols}},
		"coded":  {spec},
		"two":    {low, high},
		"mixed":  {{Kind: Dense, Cols: low.Cols}, high},
	}
}

func TestCodedRowsHaveTheBitsOfDenseOnes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		sizes := [][]int{{1, 2, 5, 16, 17, 40}, {255, 256}, {1, 3, 257}}[rapid.IntRange(0, 2).Draw(rt, "sizes")]
		groups := randomGroups(r, rapid.IntRange(1, 6).Draw(rt, "groups"), sizes)
		rows := rapid.SampledFrom([]int{2, 63, 128, 300, 600}).Draw(rt, "rows")
		gaps := rapid.SampledFrom([]float64{0, 0.001, 0.1, 1}).Draw(rt, "gaps")
		active := rapid.SampledFrom([]float64{0.01, 0.3, 1}).Draw(rt, "active")
		s := codedSample(r, rows, groups, gaps)
		w := randomVector(r.Uint64(), CodedSpec(groups).Cols)
		for _, storage := range []Storage{Float32, Float64} {
			var want [][]float64
			for _, name := range []string{"dense", "sparse", "coded", "two", "mixed"} {
				p := s.build(t, twins(groups)[name], storage).Negatives
				v := randomVector(7, p.Rows())
				for i := range v {
					if math.Abs(v[i]) > active {
						v[i] = 0
					}
				}
				got := results(p, w, v)
				if want == nil {
					want = got
				}
				for k := range got {
					sameBits(t, fmt.Sprintf("%s, storage %d, result %d", name, storage, k), got[k], want[k])
				}
				if name == "mixed" {
					checkPart(t, p, w, v)
				}
			}
		}
	})
}

func TestPassesOfOneCodedPartAtTheSameTime(t *testing.T) {
	split(t)
	r := rand.New(rand.NewPCG(28, 1))
	groups := randomGroups(r, 9, []int{3, 20, 300})
	p := codedSample(r, 3000, groups, 0.1).build(t, Layout{CodedSpec(groups)}, Float32).Negatives
	w, v := randomVector(1, p.Cols()), randomVector(2, p.Rows())
	want := results(p, w, v)
	done := make(chan [][]float64)
	for range 8 {
		go func() { done <- results(p, w, v) }()
	}
	for range 8 {
		for k, got := range <-done {
			sameBits(t, "concurrent pass", got, want[k])
		}
	}
}

func TestCodedSameBitsForAnyThreads(t *testing.T) {
	if testing.Short() {
		t.Skip("packs many rows")
	}
	split(t)
	r := rand.New(rand.NewPCG(21, 1))
	for _, sizes := range [][]int{{16}, {7, 40, 200}, {300, 700}} {
		groups := randomGroups(r, 8, sizes)
		s := codedSample(r, 6000, groups, 0.01)
		for i := range s.y {
			s.y[i] = i == 0
		}
		cols := CodedSpec(groups).Cols
		w, v := randomVector(5, cols), randomVector(6, 5999)
		for i := range v {
			if i > 2000 && i%97 != 0 || i > 3000 && i < 4000 { // stripes of very different work, or none
				v[i] = 0
			}
		}
		var want [][]float64
		for _, layout := range []Layout{{{Kind: Sparse, Cols: cols}}, {CodedSpec(groups)}} {
			got := withThreads(t, s.build(t, layout, Float32).Negatives, w, v)
			if want == nil {
				want = got
			}
			for k := range got {
				sameBits(t, fmt.Sprintf("%v, result %d", sizes, k), got[k], want[k])
			}
		}
	}
}

// A group with more than 65,535 levels has codes of four bytes, and its columns are summed by wideSums.
func TestCodedGroupsOfVeryManyLevels(t *testing.T) {
	if testing.Short() {
		t.Skip("packs many rows")
	}
	split(t)
	r := rand.New(rand.NewPCG(22, 1))
	groups := []Group{{Levels: 3}, {Levels: math.MaxUint16}, {Levels: math.MaxUint16 + 1}, {Levels: 70000, Between: true}}
	spec := CodedSpec(groups)
	matrices := map[BlockKind]*Matrix{}
	for _, kind := range []BlockKind{Sparse, Coded} {
		r := rand.New(rand.NewPCG(23, 1))
		layout := Layout{{Kind: kind, Cols: spec.Cols}}
		if kind == Coded {
			layout = Layout{spec}
		}
		b := NewBuilder(layout, Float32)
		for i := range 40000 {
			cols := []uint32{uint32(r.IntN(3)), 3 + uint32(r.IntN(65535)), 65538 + uint32(r.IntN(65536)),
				131074 + uint32(r.IntN(69999))}
			f := Fraction(unit(r))
			b.Add(i == 0, nil, append(cols, cols[3]+1), []float64{1, 1, 1, 1 - f, f}, 1, i)
		}
		m, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		matrices[kind] = m
	}
	w, v := randomVector(r.Uint64(), spec.Cols), randomVector(r.Uint64(), 39999)
	want := withThreads(t, matrices[Sparse].Negatives, w, v)
	got := withThreads(t, matrices[Coded].Negatives, w, v)
	for k := range got {
		sameBits(t, fmt.Sprint("result ", k), got[k], want[k])
	}
}

func TestCodedTakeAndRow(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 1))
	groups := randomGroups(r, 12, []int{2, 9, 255, 300})
	s := codedSample(r, 10000, groups, 0.02)
	cols := CodedSpec(groups).Cols
	p := s.build(t, Layout{CodedSpec(groups)}, Float64).Negatives
	row, other := make([]float64, cols), make([]float64, cols)
	var rows []int
	for i := range p.Rows() {
		p.Row(i, row)
		sameBits(t, "row", row, s.x[p.Source(i)])
		if i%3 == 0 {
			rows = append([]int{i}, rows...)
		}
	}
	rows = append(rows, 0, 0, 1)
	q := p.Take(rows)
	for i, k := range rows {
		p.Row(k, row)
		q.Row(i, other)
		sameBits(t, "taken row", other, row)
	}
	checkPart(t, q, randomVector(1, cols), randomVector(2, q.Rows()))
	if empty := p.Take(nil); empty.Rows() != 0 {
		t.Fatal("not empty")
	} else {
		empty.Scores(make([]float64, cols), nil)
		empty.AddGradient(nil, nil, make([]float64, cols))
	}
}

func TestCodedByHand(t *testing.T) {
	spec := CodedSpec([]Group{{Levels: 3}, {Levels: 3, Between: true}, {Levels: 2, Values: []float64{4, 0.5}}})
	b := NewBuilder(Layout{spec}, Float32)
	b.Add(true, nil, []uint32{1, 4, 5, 6}, []float64{1, 0.75, 0.25, 4}, 1, 0)
	b.Add(false, nil, []uint32{5, 7}, []float64{1, 0.5}, 1, 1)
	m, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	z, w := make([]float64, 1), []float64{1, 2, 4, 8, 16, 32, 64, 128}
	if m.Positives.Scores(w, z); z[0] != 2+12+8+256 {
		t.Errorf("score %v, want 278", z[0])
	}
	if m.Negatives.Scores(w, z); z[0] != 32+64 {
		t.Errorf("score %v, want 96: nothing for a group without an entry", z[0])
	}
	g := make([]float64, 8)
	m.Positives.AddGradient([]int32{0}, []float64{2}, g)
	m.Negatives.AddGradient([]int32{0}, []float64{1}, g)
	if want := []float64{0, 2, 0, 0, 1.5, 1.5, 8, 0.5}; !slices.Equal(g, want) {
		t.Errorf("gradient %v, want %v", g, want)
	}
}

func TestCodedRefuses(t *testing.T) {
	groups := []Group{{Levels: 3}, {Levels: 3, Between: true}, {Levels: 2, Values: []float64{4, 0.1}}}
	for _, c := range []struct {
		cols   []uint32
		values []float64
		text   string // "" when the row is one of the block
	}{
		{nil, nil, ""},
		{[]uint32{0, 1}, []float64{1, 0}, ""}, // a zero is no entry
		{[]uint32{2, 3, 4, 7}, []float64{1, 0.5, 0.5, 0.1}, ""},
		{[]uint32{0}, []float64{2}, "row 6: a row has [2] in columns [0] of a coded block: columns 0 to 2 hold one level's value"},
		{[]uint32{0, 1}, []float64{1, 1}, "one level's value"},
		{[]uint32{0, 1, 2}, []float64{1, 1, 1}, "one level's value"},
		{[]uint32{6}, []float64{1}, "columns 6 to 7 hold one level's value"},
		{[]uint32{3}, []float64{0.5}, "columns 3 to 5 hold 1, or 1-f and f in neighbouring columns, in multiples of 2^-24"},
		{[]uint32{5}, []float64{0.5}, "1-f and f"},
		{[]uint32{3, 5}, []float64{0.5, 0.5}, "1-f and f"},
		{[]uint32{3, 4}, []float64{0.5, 0.25}, "1-f and f"},
		{[]uint32{3, 4}, []float64{1.5, -0.5}, "1-f and f"},
		{[]uint32{4, 5}, []float64{0.9, 0.1}, "1-f and f"}, // 0.1 has not been rounded by Fraction
		{[]uint32{3, 4, 5}, []float64{0.25, 0.5, 0.25}, "1-f and f"},
		{[]uint32{9}, []float64{1}, "column 9 is not in a sparse or coded block"},
		{[]uint32{1, 0}, []float64{1, 1}, "does not ascend"},
		{[]uint32{1}, []float64{math.Inf(1)}, "feature 2: +Inf is not a finite number"},
		{[]uint32{0, 3}, []float64{1, math.NaN()}, "feature 4: NaN is not a finite number"},
	} {
		for _, storage := range []Storage{Float32, Float64} {
			b := NewBuilder(Layout{CodedSpec(groups)}, storage)
			b.Add(true, nil, nil, nil, 1, 0)
			b.Add(false, nil, nil, nil, 1, 1)
			b.Add(true, nil, c.cols, c.values, 1, 5)
			_, err := b.Build()
			switch {
			case c.text == "" && err != nil:
				t.Errorf("%v %v: %v", c.cols, c.values, err)
			case c.text != "" && (err == nil || !strings.Contains(err.Error(), c.text)):
				t.Errorf("%v %v: %v, want %q", c.cols, c.values, err, c.text)
			case strings.Contains(c.text, "finite") && diag.Of(err) == nil:
				t.Errorf("%v is not a fault", err)
			}
		}
	}
	for text, spec := range map[string]BlockSpec{
		"4 columns has groups with 3 levels": {Kind: Coded, Cols: 4, Groups: []Group{{Levels: 3}}},
		"has 0 levels":                       CodedSpec([]Group{{Levels: 2}, {}}),
		"one level cannot have fractions":    CodedSpec([]Group{{Levels: 1, Between: true}}),
		"cannot have values":                 CodedSpec([]Group{{Levels: 2, Between: true, Values: []float64{1, 2}}}),
		"2 levels has 1 values":              CodedSpec([]Group{{Levels: 2, Values: []float64{1}}}),
		"has the value +Inf":                 CodedSpec([]Group{{Levels: 1, Values: []float64{math.Inf(1)}}}),
		"has the value 1e+39":                CodedSpec([]Group{{Levels: 1, Values: []float64{1e39}}}),
	} {
		b := NewBuilder(Layout{spec}, Float32)
		b.Add(true, nil, nil, nil, 1, 0)
		b.Add(false, nil, nil, nil, 1, 0)
		if _, err := b.Build(); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want %q", err, text)
		}
	}
}

func TestFraction(t *testing.T) {
	for _, f := range []float64{0, 1, 0.5, 0.1, 1e-9, 1 - 1e-9, math.Ldexp(3, -25)} {
		g := Fraction(f)
		if math.Abs(g-f) > math.Ldexp(1, -25) || float64(float32(g)) != g || float64(float32(1-g)) != 1-g || (1-g)+g != 1 {
			t.Errorf("Fraction(%v) = %v", f, g)
		}
	}
}

func TestCodedBytes(t *testing.T) {
	const rows = 20000
	r := rand.New(rand.NewPCG(25, 1))
	groups := []Group{{Levels: 255}, {Levels: 2}, {Levels: 256}, {Levels: 16, Between: true}}
	m := codedSample(r, rows, groups, 0).build(t, Layout{CodedSpec(groups)}, Float32)
	sources, weights := int64(4*rows), int64(8*rows)
	if got, atMost := m.Bytes()-sources-weights, int64((1+1+2+5)*rows*103/100); got > atMost || got < 9*rows {
		t.Errorf("%d bytes, want %d or hardly more", got, 9*rows)
	}
}

func TestNoAllocationInACodedPass(t *testing.T) {
	split(t)
	r := rand.New(rand.NewPCG(26, 1))
	for _, sizes := range [][]int{{9, 16, 30}, {300}, {70000}} {
		groups := randomGroups(r, 10, sizes)
		rows := 3000
		if sizes[0] == 70000 {
			groups, rows = []Group{{Levels: 70000}}, 20000
		}
		spec := CodedSpec(groups)
		b := NewBuilder(Layout{spec}, Float32)
		for i := range rows {
			var cols []uint32
			var values []float64
			first := 0
			for _, g := range groups {
				level, x := r.IntN(g.Levels), 1.0
				if g.Values != nil {
					x = g.Values[level]
				}
				if r.IntN(50) > 0 {
					cols, values = append(cols, uint32(first+level)), append(values, x)
				}
				first += g.Levels
			}
			b.Add(i == 0, nil, cols, values, 1, i)
		}
		m, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		p := m.Negatives
		if p.stripes().Count() < 3 {
			t.Fatal("the part is too small to be split")
		}
		w, v := randomVector(1, spec.Cols), randomVector(2, p.Rows())
		for i := range v {
			if i%500 > 10 && i > 1000 {
				v[i] = 0
			}
		}
		z, g := make([]float64, p.Rows()), make([]float64, spec.Cols)
		active, values := sparseOf(v)
		visit := func(first int, pz, pv []float64) bool {
			copy(pv, v[first:])
			return true
		}
		for name, pass := range map[string]func(){
			"scores":   func() { p.Scores(w, z) },
			"gradient": func() { p.AddGradient(active, values, g) },
			"pass":     func() { p.Pass(w, visit, g) },
		} {
			if n := testing.AllocsPerRun(5, pass); n != 0 {
				t.Errorf("%v: %s allocates %v times on one thread", sizes, name, n)
			}
			if n := allocationsOnTwoThreads(pass); n >= 10 {
				t.Errorf("%v: ten times %s allocate %v times on two threads", sizes, name, n)
			}
		}
	}
}
