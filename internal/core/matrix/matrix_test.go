package matrix

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"toptau/diag"
	"toptau/internal/core/kernel"
	"toptau/internal/core/parallel"
)

// sample is rows in plain form, most values zero.
type sample struct {
	x       [][]float64
	y       []bool
	weights []float64
}

func unit(r *rand.Rand) float64 { return float64(r.Uint64()>>11) / (1 << 53) }

func newSample(seed uint64, rows, cols int, density float64) sample {
	r := rand.New(rand.NewPCG(seed, 1))
	s := sample{x: make([][]float64, rows), y: make([]bool, rows), weights: make([]float64, rows)}
	for i := range s.x {
		s.x[i] = make([]float64, cols)
		for j := range s.x[i] {
			if unit(r) < density {
				s.x[i][j] = math.Ldexp(2*unit(r)-1, int(r.Uint64()%20))
			}
		}
		s.y[i] = unit(r) < 0.5
		s.weights[i] = 1 + math.Floor(3*unit(r))
	}
	s.y[0], s.y[rows-1] = true, false
	return s
}

// build packs the sample with the given blocks.
func (s sample) build(t testing.TB, layout Layout, storage Storage) *Matrix {
	t.Helper()
	b := NewBuilder(layout, storage)
	for i, x := range s.x {
		var dense, values []float64
		var cols []uint32
		first := 0
		for _, spec := range layout {
			for j := first; j < first+spec.Cols; j++ {
				if spec.Kind == Dense {
					dense = append(dense, x[j])
				} else if x[j] != 0 {
					cols, values = append(cols, uint32(j)), append(values, x[j])
				}
			}
			first += spec.Cols
		}
		b.Add(s.y[i], dense, cols, values, s.weights[i], i)
	}
	m, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func randomVector(seed uint64, n int) []float64 {
	r := rand.New(rand.NewPCG(seed, 2))
	v := make([]float64, n)
	for i := range v {
		v[i] = 2*unit(r) - 1
	}
	return v
}

// reference computes scores and gradient from the decoded rows, in the order that the package doc specifies.
func reference(p *ClassRows, w, v []float64) (z, g []float64) {
	z, g = make([]float64, p.Rows()), make([]float64, p.Cols())
	lanes := make([]float64, kernel.Lanes*p.Cols())
	row := make([]float64, p.Cols())
	stripe := StripePanels(p.Cols()) * kernel.PanelRows
	for i := range z {
		p.Row(i, row)
		for j, x := range row {
			z[i] += float64(x * w[j])
			lanes[kernel.Lanes*j+i%kernel.PanelRows%kernel.Lanes] += float64(x * v[i])
		}
		if (i+1)%stripe == 0 || i+1 == len(z) {
			for j := range g {
				l := lanes[kernel.Lanes*j:]
				g[j] += ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]))
			}
			clear(lanes)
		}
	}
	return z, g
}

func sameBits(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d elements, want %d", what, len(got), len(want))
	}
	for i := range got {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			t.Fatalf("%s[%d] = %v, want %v", what, i, got[i], want[i])
		}
	}
}

// sparseOf lists the rows with a coefficient.
func sparseOf(v []float64) (rows []int32, values []float64) {
	for i, x := range v {
		if x != 0 {
			rows, values = append(rows, int32(i)), append(values, x)
		}
	}
	return rows, values
}

// checkPart compares all passes with the reference.
func checkPart(t *testing.T, p *ClassRows, w, v []float64) {
	t.Helper()
	wantZ, wantG := reference(p, w, v)
	z, g := make([]float64, p.Rows()), make([]float64, p.Cols())
	p.Scores(w, z)
	sameBits(t, "scores", z, wantZ)
	checkEntries(t, p)
	rows, values := sparseOf(v)
	p.AddGradient(rows, values, g)
	sameBits(t, "sparse v", g, wantG)
	checkSeveral(t, p, w, v)
	all := make([]int32, len(v))
	for i := range all {
		all[i] = int32(i)
	}
	clear(g)
	p.AddGradient(all, v, g)
	sameBits(t, "dense v", g, wantG)
	clear(g)
	clear(z)
	p.Pass(w, func(first int, pz, pv []float64) bool {
		copy(z[first:], pz)
		copy(pv, v[first:first+len(pv)])
		return slices.ContainsFunc(pv, func(x float64) bool { return x != 0 })
	}, g)
	sameBits(t, "scores of the pass", z, wantZ)
	sameBits(t, "gradient of the pass", g, wantG)
}

// checkEntries compares the entries of every row with the row.
func checkEntries(t *testing.T, p *ClassRows) {
	t.Helper()
	row, sum := make([]float64, p.Cols()), make([]float64, p.Cols())
	var cols []uint32
	var values []float64
	for i := range p.Rows() {
		p.Row(i, row)
		clear(sum)
		cols, values = p.Entries(i, cols[:0], values[:0])
		for k, j := range cols {
			if values[k] == 0 || k > 0 && cols[k-1] >= j {
				t.Fatalf("row %d has the entries %v in columns %v", i, values, cols)
			}
			sum[j] = values[k]
		}
		for j := range row {
			if row[j] != sum[j] {
				t.Fatalf("row %d has the entry %v in column %d, want %v", i, sum[j], j, row[j])
			}
		}
	}
}

// checkSeveral compares readings for several vectors with readings for each.
func checkSeveral(t *testing.T, p *ClassRows, w, v []float64) {
	t.Helper()
	other, none := randomVector(8, len(w)), make([]float64, len(w))
	half := slices.Clone(v)
	clear(half[len(half)/2:])
	var ws, zs [][]float64
	var sums []Sum
	for _, x := range [][]float64{w, none, other} {
		ws, zs = append(ws, x), append(zs, slices.Repeat([]float64{7}, p.Rows()))
	}
	p.ScoresOf(ws, zs)
	for h, x := range ws {
		want := make([]float64, p.Rows())
		p.Scores(x, want)
		sameBits(t, fmt.Sprintf("scores %d of several", h), zs[h], want)
	}
	for _, x := range [][]float64{v, make([]float64, len(v)), half} {
		rows, values := sparseOf(x)
		sums = append(sums, Sum{rows, values, randomVector(9, p.Cols())})
	}
	p.AddGradients(sums)
	for h, s := range sums {
		want := randomVector(9, p.Cols())
		p.AddGradient(s.Rows, s.V, want)
		sameBits(t, fmt.Sprintf("gradient %d of several", h), s.G, want)
	}
}

func TestPassesAreTheReference(t *testing.T) {
	layouts := map[string]Layout{
		"dense":  {{Kind: Dense, Cols: 9}},
		"sparse": {{Kind: Sparse, Cols: 9}},
		"three":  {{Kind: Sparse, Cols: 3}, {Kind: Dense, Cols: 4}, {Kind: Sparse, Cols: 2}},
		"empty":  {{Kind: Dense, Cols: 0}, {Kind: Dense, Cols: 5}, {Kind: Dense, Cols: 4}},
	}
	for _, rows := range []int{2, 63, 64, 65, 128, 129, 1000} {
		s := newSample(uint64(rows), rows, 9, 0.6)
		w := randomVector(3, 9)
		for name, layout := range layouts {
			for _, storage := range []Storage{Float32, Float64} {
				m := s.build(t, layout, storage)
				for _, part := range []*ClassRows{m.Positives, m.Negatives} {
					for _, active := range []float64{1, 0.3, 0.01} {
						v := randomVector(4, part.Rows())
						for i, x := range v {
							if math.Abs(x) > active {
								v[i] = 0
							}
						}
						t.Run(fmt.Sprintf("%d/%s/%d/%g", rows, name, storage, active), func(t *testing.T) {
							checkPart(t, part, w, v)
						})
					}
				}
			}
		}
	}
}

// results are the bytes of all passes over a part.
func results(p *ClassRows, w, v []float64) [][]float64 {
	z, zp := make([]float64, p.Rows()), make([]float64, p.Rows())
	g, gp := make([]float64, p.Cols()), make([]float64, p.Cols())
	p.Scores(w, z)
	rows, values := sparseOf(v)
	p.AddGradient(rows, values, g)
	p.Pass(w, func(first int, pz, pv []float64) bool {
		copy(zp[first:], pz)
		copy(pv, v[first:])
		return true
	}, gp)
	zs := [][]float64{make([]float64, p.Rows()), make([]float64, p.Rows())}
	p.ScoresOf([][]float64{w, g}, zs)
	sums := []Sum{{rows, values, make([]float64, p.Cols())}, {rows[len(rows)/2:], values[:len(rows)-len(rows)/2], make([]float64, p.Cols())}}
	p.AddGradients(sums)
	return [][]float64{z, zp, g, gp, zs[0], zs[1], sums[0].G, sums[1].G}
}

// split lets small parts run on several goroutines for the rest of a test.
func split(t *testing.T) {
	before := parallel.InlineBytes
	parallel.InlineBytes = 0
	t.Cleanup(func() { parallel.InlineBytes = before })
}

// withThreads returns the results for every number of threads.
func withThreads(t *testing.T, p *ClassRows, w, v []float64) [][]float64 {
	t.Helper()
	if p.stripes().Count() < 3 {
		t.Fatalf("only %d stripes", p.stripes().Count())
	}
	var want [][]float64
	for _, threads := range []int{1, 2, 8} {
		before := runtime.GOMAXPROCS(threads)
		for range 3 {
			got := results(p, w, v)
			if want == nil {
				want = got
			}
			for k := range got {
				sameBits(t, fmt.Sprintf("%d threads, result %d", threads, k), got[k], want[k])
			}
		}
		runtime.GOMAXPROCS(before)
	}
	return want
}

func TestSameBitsForAnyThreadsAndBlocks(t *testing.T) {
	split(t)
	const rows, cols = 3000, 500
	s := newSample(7, rows, cols, 0.2)
	for i := range s.y {
		s.y[i] = i == 0 // one large part
	}
	w := randomVector(5, cols)
	v := randomVector(6, rows-1)
	for i := range v {
		if i > rows/3 && i%97 != 0 || i > rows/2 && i < 2*rows/3 { // stripes of very different work, or none
			v[i] = 0
		}
	}
	for _, storage := range []Storage{Float32, Float64} {
		var want [][]float64
		for _, layout := range []Layout{{{Kind: Dense, Cols: cols}}, {{Kind: Sparse, Cols: cols}}, {{Kind: Dense, Cols: 200}, {Kind: Sparse, Cols: 300}}} {
			p := s.build(t, layout, storage).Negatives
			got := withThreads(t, p, w, v)
			if want == nil {
				want = got
				z, g := reference(p, w, v)
				sameBits(t, "scores", got[0], z)
				sameBits(t, "gradient", got[2], g)
				sameBits(t, "scores of several", got[4], z)
				sameBits(t, "gradient of several", got[6], g)
			}
			for k := range got {
				sameBits(t, fmt.Sprintf("%v, result %d", layout, k), got[k], want[k])
			}
		}
	}
}

// wideSums compute one lane after the other what sparseSums compute at once.
func TestWideSumsAreTheNarrowOnes(t *testing.T) {
	const cols = 300
	for _, density := range []float64{0.002, 0.5} {
		s := newSample(8, 640, cols, density)
		block := s.build(t, Layout{{Kind: Sparse, Cols: cols}}, Float32).Negatives.blocks[0].(*sparse[float32])
		narrow, wide := block.sums(), newWideSums(block.width, block.addWideRow)
		v := randomVector(9, len(block.panels)*kernel.PanelRows)
		g1, g2 := randomVector(10, cols), randomVector(10, cols)
		for panel := range block.panels {
			for _, x := range []Sums{narrow, wide} {
				x.AddPanel(panel, v[panel*kernel.PanelRows:][:kernel.PanelRows], kernel.PanelRows)
			}
			if panel%3 == 0 {
				narrow.Finish(g1)
				wide.Finish(g2)
				sameBits(t, "g", g2, g1)
			}
		}
	}
}

func TestWideParts(t *testing.T) {
	split(t)
	const rows, cols, entries = 10000, wideColumns + 5000, 12
	r := rand.New(rand.NewPCG(8, 8))
	b := NewBuilder(Layout{{Kind: Sparse, Cols: cols}}, Float32)
	row := make([]float64, entries)
	for i := range rows {
		used := map[uint32]bool{0: true, cols - 1: true}
		for len(used) < entries {
			used[uint32(float64(cols)*unit(r)*unit(r)*unit(r))] = true
		}
		var at []uint32
		for j := range used {
			at = append(at, j)
		}
		slices.Sort(at)
		for k := range row {
			row[k] = 2*unit(r) - 1
		}
		b.Add(i == 0, nil, at, row, 1, i)
	}
	m, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	p := m.Negatives
	w, v := randomVector(9, cols), randomVector(10, rows-1)
	got := withThreads(t, p, w, v)
	block := p.blocks[0].(*sparse[float32])
	g := make([]float64, cols)
	narrow := &sparseSums[float32]{block, make([]float64, cols*kernel.Lanes), make([]bool, groupsOf(cols))}
	padded := append(v, make([]float64, kernel.PanelRows)...)
	for stripe := range p.stripes().Count() {
		first, end := p.stripes().Of(stripe)
		for panel := first; panel < end; panel++ {
			narrow.AddPanel(panel, padded[panel*kernel.PanelRows:][:kernel.PanelRows], kernel.PanelRows)
		}
		narrow.Finish(g)
	}
	sameBits(t, "gradient", got[2], g)
}

func TestPassesOfOnePartAtTheSameTime(t *testing.T) {
	s := newSample(11, 3000, 12, 0.7)
	p := s.build(t, Layout{{Kind: Dense, Cols: 6}, {Kind: Sparse, Cols: 6}}, Float32).Negatives
	w, v := randomVector(1, 12), randomVector(2, p.Rows())
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

func TestNegativeZeroIsNoDifference(t *testing.T) {
	s := newSample(12, 100, 4, 0.5)
	for _, layout := range []Layout{{{Kind: Dense, Cols: 4}}, {{Kind: Sparse, Cols: 4}}} {
		p := s.build(t, layout, Float32).Positives
		g := []float64{math.Copysign(0, -1), 1, 2, 3}
		p.AddGradient([]int32{0}, []float64{0}, g)
		sameBits(t, "g", g, []float64{0, 1, 2, 3})
	}
}

func TestRowsWeightsAndSources(t *testing.T) {
	s := newSample(13, 200, 7, 0.5)
	for _, layout := range []Layout{{{Kind: Dense, Cols: 7}}, {{Kind: Sparse, Cols: 4}, {Kind: Dense, Cols: 3}}} {
		m := s.build(t, layout, Float64)
		if m.Rows() != 200 || m.Cols() != 7 {
			t.Fatalf("%d x %d", m.Rows(), m.Cols())
		}
		for _, p := range []*ClassRows{m.Positives, m.Negatives} {
			row := make([]float64, 7)
			for i := range p.Rows() {
				p.Row(i, row)
				sameBits(t, "row", row, s.x[p.Source(i)])
				if s.y[p.Source(i)] != (p == m.Positives) || s.weights[p.Source(i)] != p.Weights()[i] {
					t.Fatalf("row %d: wrong class or weight", i)
				}
				if i > 0 && p.Source(i) <= p.Source(i-1) {
					t.Fatal("rows are not in the order of the input")
				}
			}
		}
	}
}

func TestTake(t *testing.T) {
	s := newSample(14, 400, 5, 0.5)
	for _, layout := range []Layout{{{Kind: Dense, Cols: 5}}, {{Kind: Sparse, Cols: 5}}, {{Kind: Dense, Cols: 2}, {Kind: Sparse, Cols: 3}}} {
		p := s.build(t, layout, Float32).Negatives
		var rows []int
		for i := p.Rows() - 1; i >= 0; i -= 2 {
			rows = append(rows, i)
		}
		rows = append(rows, 0, 0, 1)
		q := p.Take(rows)
		from, to := make([]float64, 5), make([]float64, 5)
		for i, k := range rows {
			p.Row(k, from)
			q.Row(i, to)
			sameBits(t, "taken row", to, from)
			if q.Source(i) != p.Source(k) || q.Weights()[i] != p.Weights()[k] {
				t.Fatal("weight or source was not taken along")
			}
		}
		checkPart(t, q, randomVector(1, 5), randomVector(2, len(rows)))
		if empty := p.Take(nil); empty.Rows() != 0 {
			t.Fatal("not empty")
		} else {
			empty.Scores(make([]float64, 5), nil)
			empty.AddGradient(nil, nil, make([]float64, 5))
		}
	}
}

func TestUnweightedHasNoWeights(t *testing.T) {
	m, err := FromDense([][]float64{{1}, {2}, {3}}, []bool{true, false, false}, nil, Float32)
	if err != nil || m.Positives.Weights() != nil || m.Negatives.Weights() != nil {
		t.Fatal(err, "weights are kept although all are 1")
	}
	m, err = FromDense([][]float64{{1}, {2}, {3}}, []bool{true, false, false}, []float64{1, 1, 3}, Float32)
	if err != nil || m.Positives.Weights() != nil || !slices.Equal(m.Negatives.Weights(), []float64{1, 3}) {
		t.Fatal(err, m.Negatives.Weights())
	}
}

func TestValuesThatCannotBeStored(t *testing.T) {
	for _, c := range []struct {
		name    string
		value   float64
		storage Storage
		text    string // "" when it can be stored
	}{
		{"largest float32", math.MaxFloat32, Float32, ""},
		{"overflow", 1e39, Float32, `column "2": row 8, feature 2: 1e+39 is too large for float32 (scale the column)`},
		{"rounds up to infinity", 3.4028235677973366e38, Float32, "too large for float32"},
		{"no overflow in float64", 1e39, Float64, ""},
		{"underflow", 1e-60, Float32, ""},
		{"infinity", math.Inf(-1), Float64, "row 8, feature 2: -Inf is not a finite number"},
		{"not a number", math.NaN(), Float64, "row 8, feature 2: NaN is not a finite number"},
	} {
		for _, kind := range []BlockKind{Dense, Sparse} {
			b := NewBuilder(Layout{{Kind: Dense, Cols: 1}, {Kind: kind, Cols: 2}}, c.storage)
			add := func(positive bool, x float64, source int) {
				if kind == Dense {
					b.Add(positive, []float64{1, x, 2}, nil, nil, 1, source)
				} else {
					b.Add(positive, []float64{1}, []uint32{1, 2}, []float64{x, 2}, 1, source)
				}
			}
			add(true, 1, 6)
			add(false, c.value, 7)
			add(false, 1, 8)
			_, err := b.Build()
			if c.text == "" {
				if err != nil {
					t.Errorf("%s: %v", c.name, err)
				}
				continue
			}
			var bad *ValueError
			if f := diag.Of(err); f == nil || f.Kind != diag.Data || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%s: %v", c.name, err)
			} else if !errors.As(err, &bad) || bad.Source != 7 || bad.Col != 1 {
				t.Errorf("%s: %v does not name row and column", c.name, err)
			}
		}
	}
}

func TestBuilderRefuses(t *testing.T) {
	for name, add := range map[string]func(b *Builder){
		"no negative":        func(b *Builder) { b.Add(true, []float64{1}, nil, nil, 1, 0) },
		"no positive":        func(b *Builder) { b.Add(false, []float64{1}, nil, nil, 1, 0) },
		"1 dense values":     func(b *Builder) { b.Add(true, []float64{1, 2, 3}[:1], nil, nil, 1, 0) },
		"not in a sparse":    func(b *Builder) { b.Add(true, []float64{1}, []uint32{9}, []float64{1}, 1, 0) },
		"does not ascend":    func(b *Builder) { b.Add(true, []float64{1}, []uint32{2, 1}, []float64{1, 1}, 1, 0) },
		"weight 0":           func(b *Builder) { b.Add(true, []float64{1}, nil, nil, 0, 0) },
		"weight NaN":         func(b *Builder) { b.Add(true, []float64{1}, nil, nil, math.NaN(), 0) },
		"1 columns for 0":    func(b *Builder) { b.Add(true, []float64{1}, []uint32{2}, nil, 1, 0) },
		"weight +Inf":        func(b *Builder) { b.Add(true, []float64{1}, nil, nil, math.Inf(1), 0) },
		"row number 0":       func(b *Builder) { b.Add(true, []float64{1}, nil, nil, 1, -1) },
		"column 2 does not":  func(b *Builder) { b.Add(true, []float64{1}, []uint32{2, 2}, []float64{1, 1}, 1, 0) },
		"column 0 does not ": func(b *Builder) { b.Add(true, []float64{1}, []uint32{0}, []float64{1}, 1, 0) },
	} {
		layout := Layout{{Kind: Dense, Cols: 1}, {Kind: Sparse, Cols: 4}}
		if name == "1 dense values" {
			layout[0].Cols = 2
		}
		b := NewBuilder(layout, Float32)
		add(b)
		if _, err := b.Build(); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(name)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewBuilder(nil, Float32).Build(); err == nil {
		t.Error("an empty matrix was built")
	}
}

// The blocks themselves are never copied while they grow.
func TestBytesAndGrowth(t *testing.T) {
	const rows, cols = 20000, 50
	b := NewBuilder(Layout{{Kind: Dense, Cols: cols}}, Float32)
	x := make([]float64, cols)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range rows {
		x[i%cols] = float64(i)
		b.Add(i%2 == 0, x, nil, nil, 1, i)
	}
	runtime.ReadMemStats(&after)
	m, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	packed := m.Bytes()
	if want := int64(2*157*64*cols*4 + rows*4); packed != want {
		t.Errorf("%d bytes, want %d", packed, want)
	}
	// All allocations, garbage included: arenas whose allocations double up to 4 MB, for two classes.
	if total := int64(after.TotalAlloc - before.TotalAlloc); total > packed+10<<20 {
		t.Errorf("%d bytes were allocated for a matrix of %d", total, packed)
	}
}

func TestNoAllocationInAPass(t *testing.T) {
	split(t)
	s := newSample(15, 2000, 500, 0.1)
	for i := range s.y {
		s.y[i] = i == 0
	}
	for _, layout := range []Layout{{{Kind: Dense, Cols: 500}}, {{Kind: Sparse, Cols: 500}}} {
		p := s.build(t, layout, Float32).Negatives
		if p.stripes().Count() < 3 {
			t.Fatal("the part is too small to be split")
		}
		w, v := randomVector(1, 500), randomVector(2, p.Rows())
		rows, values := sparseOf(v)
		z, g := make([]float64, p.Rows()), make([]float64, 500)
		visit := func(first int, pz, pv []float64) bool {
			copy(pv, v[first:])
			return true
		}
		passes := map[string]func(){
			"scores":   func() { p.Scores(w, z) },
			"gradient": func() { p.AddGradient(rows, values, g) },
			"pass":     func() { p.Pass(w, visit, g) },
		}
		for name, pass := range passes {
			if n := testing.AllocsPerRun(5, pass); n != 0 {
				t.Errorf("%v: %s allocates %v times on one thread", layout, name, n)
			}
			if n := allocationsOnTwoThreads(pass); n >= 10 {
				t.Errorf("%v: ten times %s allocate %v times on two threads", layout, name, n)
			}
		}
	}
}

// allocationsOnTwoThreads is the smallest number of allocations of ten passes, over a few tries: the runtime itself may
// allocate at any time.
func allocationsOnTwoThreads(pass func()) uint64 {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	pass()
	least := uint64(math.MaxUint64)
	for round := 0; round < 50 && least >= 10; round++ { // on a busy machine starting a goroutine allocates, too
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 10 {
			pass()
		}
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	return least
}
