package certified

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"toptau/internal/core/certified/linalg"
	"toptau/internal/core/matrix"
	"toptau/method"
	"toptau/threshold"
)

// shards is a source over several files, each with some of the rows. It asks each of them and merges the answers.
type shards struct {
	parts  []*BlockSource
	first  []int // number of the first row of each
	shape  Shape
	passes int
}

// newShards divides rows at random ends. One shard at least is empty.
func newShards(t testing.TB, r *rand.Rand, d weightedRows, count int, population method.Population) *shards {
	t.Helper()
	ends := []int{len(d.x), len(d.x)}
	for range count - 1 {
		ends = append(ends, r.IntN(len(d.x)+1))
	}
	slices.Sort(ends)
	s, first := &shards{shape: newFileSource(t, d, population).shape}, 0
	for _, end := range ends {
		s.parts, s.first = append(s.parts, newFileSource(t, d.slice(first, end), population)), append(s.first, first)
		first = end
	}
	return s
}

// weightedRows is a data set with row weights.
type weightedRows struct {
	x [][]float64
	y []bool
	m []float64
}

func (d weightedRows) slice(first, end int) weightedRows {
	return weightedRows{d.x[first:end], d.y[first:end], d.m[first:end]}
}

func (d weightedRows) matrix(t testing.TB) *matrix.Matrix {
	t.Helper()
	b := matrix.NewBuilder(matrix.Layout{{Kind: matrix.Dense, Cols: 4}}, matrix.Float64)
	for i, x := range d.x {
		b.Add(d.y[i], x, nil, nil, d.m[i], i)
	}
	x, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// randomRows returns rows with ties: features are whole numbers now and then, and rows repeat.
func randomRows(r *rand.Rand, positives, negatives int, weighted bool) (d weightedRows) {
	base := clouds(r.Uint64(), positives, negatives, 4, .7)
	order := r.Perm(len(base.x))
	for k, i := range order {
		x := base.x[i]
		if k%3 == 0 {
			for j := range x {
				x[j] = math.Round(2*x[j]) / 2
			}
		}
		m := 1.0
		if weighted {
			m = []float64{.25, .5, 1, 3}[r.IntN(4)]
		}
		d.x, d.y, d.m = append(d.x, x), append(d.y, base.y[i]), append(d.m, m)
	}
	return d
}

func (s *shards) Shape() Shape { return s.shape }

func (s *shards) Readings() (int, float64) { return s.passes, float64(s.passes) }

func (s *shards) Means(ctx context.Context) (positives, population []float64, err error) {
	s.passes++
	positives, population = make([]float64, s.shape.Cols), make([]float64, s.shape.Cols)
	for _, p := range s.parts {
		a, b, err := p.Means(ctx)
		if err != nil {
			return nil, nil, err
		}
		if m := p.shape.Positives.Mass; m > 0 {
			linalg.Axpy(m/s.shape.Positives.Mass, a, positives)
		}
		if m := p.shape.Population.Mass; m > 0 {
			linalg.Axpy(m/s.shape.Population.Mass, b, population)
		}
	}
	return positives, population, nil
}

// Scan asks each shard, which numbers its rows from 0.
func (s *shards) Scan(ctx context.Context, queries []Query) ([]Answer, error) {
	s.passes++
	parts := make([][]Answer, len(queries))
	for k, p := range s.parts {
		inner := slices.Clone(queries)
		for i := range inner {
			inner[i].Positives.Held = s.within(k, queries[i].Positives.Held)
			inner[i].Population.Held = s.within(k, queries[i].Population.Held)
			for _, r := range []*Request{&inner[i].Positives, &inner[i].Population} {
				r.Numbers = slices.Clone(r.Numbers)
				for j := range r.Numbers {
					r.Numbers[j] -= s.first[k]
				}
			}
		}
		answers, err := p.Scan(ctx, inner)
		if err != nil {
			return nil, err
		}
		for i, a := range answers {
			for _, rows := range append(slices.Concat(a.Positives.Rows, a.Population.Rows), a.Positives.ByNumber, a.Population.ByNumber) {
				for j := range rows {
					rows[j].ID += s.first[k]
				}
			}
			parts[i] = append(parts[i], a)
		}
	}
	out := make([]Answer, len(queries))
	for i := range queries {
		out[i] = Merge(&queries[i], parts[i])
	}
	return out, nil
}

// within returns the rows of a set that belong to a shard, with the shard's numbers.
func (s *shards) within(k int, held *Set) *Set {
	out := NewSet(0)
	for i := range s.parts[k].blocks.(*fileBlocks).rows {
		if held.Has(s.first[k] + i) {
			out.Add(i)
		}
	}
	return out
}

// fileBlocks are rows in a file, of which it keeps nothing but the place. It reads a block of rows at a time.
type fileBlocks struct {
	t    testing.TB
	name string
	rows int
	size int // of a block
}

const (
	fileCols = 4
	rowBytes = 8 * (2 + fileCols) // label, weight, features
)

// newFileSource writes rows to a file and returns a source over it.
func newFileSource(t testing.TB, d weightedRows, population method.Population) *BlockSource {
	t.Helper()
	b := &fileBlocks{t: t, name: filepath.Join(t.TempDir(), "rows"), rows: len(d.x), size: 20}
	if b.rows > 20_000 {
		b.size = 20_000
	}
	file, err := os.Create(b.name)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(file)
	var weights [2][]float64
	for i, x := range d.x {
		label := 0.0
		if d.y[i] {
			label = 1
			weights[0] = append(weights[0], d.m[i])
		}
		if !d.y[i] || population == method.AllRows {
			weights[1] = append(weights[1], d.m[i])
		}
		if err := binary.Write(w, binary.LittleEndian, append([]float64{label, d.m[i]}, x...)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return NewBlockSource(b, fileCols, population, threshold.NewPopulation(len(weights[0]), weights[0]),
		threshold.NewPopulation(len(weights[1]), weights[1]))
}

func (b *fileBlocks) Count() int { return (b.rows + b.size - 1) / b.size }

func (b *fileBlocks) Read(_ context.Context, block int) (*matrix.Matrix, error) {
	file, err := os.Open(b.name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	first := block * b.size
	buffer := make([]byte, rowBytes*min(b.size, b.rows-first))
	if _, err := file.ReadAt(buffer, int64(first*rowBytes)); err != nil {
		return nil, err
	}
	to := matrix.NewBuilder(matrix.Layout{{Kind: matrix.Dense, Cols: fileCols}}, matrix.Float64)
	to.Part()
	row := make([]float64, 2+fileCols)
	for i := 0; len(buffer) > 0; i++ {
		for j := range row {
			row[j] = math.Float64frombits(binary.LittleEndian.Uint64(buffer[8*j:]))
		}
		to.Add(row[0] == 1, row[2:], nil, nil, row[1], first+i)
		buffer = buffer[rowBytes:]
	}
	return to.Build()
}

func (b *fileBlocks) Done(*matrix.Matrix) {}

// TestMergedAnswers compares the answers of shards, and of a file read in blocks, with those of all rows in memory:
// the same rows and counts, and the same sums up to rounding; with ties, weights, held rows and empty shards.
func TestMergedAnswers(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 7))
	for trial := range 40 {
		d := randomRows(r, 30+r.IntN(40), 200+r.IntN(300), trial%2 == 1)
		for _, population := range []method.Population{method.Negatives, method.AllRows} {
			whole := NewMemory(d.matrix(t), population)
			var q Query
			for q.At = newPoint(make([]float64, 4)); isZero(q.At.W); {
				for j := range q.At.W {
					q.At.W[j] = float64(r.IntN(5)-2) / 2
				}
			}
			request := func(rows int) Request {
				held := NewSet(rows)
				for i := range rows {
					if r.IntN(5) == 0 {
						held.Add(i)
					}
				}
				return Request{Cuts: []float64{-1, -.5, 0, .25, 1}, Groups: []float64{math.Inf(-1), -.5, 0, .5, math.Inf(1)},
					Moments: true, Origin: .25, Held: held, Want: []Want{
						{Low: -1, High: 2, Order: Highest, Limit: 5 + r.IntN(20)},
						{Low: math.Inf(-1), High: -1.25, Order: Nearest, Centre: -1.5, Limit: 1 + r.IntN(20)}}}
			}
			q.Positives = request(whole.Shape().Positives.Rows)
			q.Population = request(whole.Shape().Population.Rows)
			want, err := whole.Scan(context.Background(), []Query{q})
			if err != nil {
				t.Fatal(err)
			}
			numbers := fileNumbers(d, population)
			q.Positives.Held, q.Population.Held = translated(q.Positives.Held, numbers[0]), translated(q.Population.Held, numbers[1])
			for name, source := range map[string]Source{"file": newFileSource(t, d, population), "shards": newShards(t, r, d, 1+r.IntN(5), population)} {
				got, err := source.Scan(context.Background(), []Query{q})
				if err != nil {
					t.Fatal(err)
				}
				// A population of all rows lists the positives first in memory, so ties have another order there.
				compareAnswers(t, fmt.Sprintf("trial %d, %s", trial, name), got[0], want[0], &numbers, population == method.AllRows)
			}
		}
	}
}

// fileNumbers returns the numbers in a file of the rows of both classes, in their order in memory.
func fileNumbers(d weightedRows, population method.Population) (out [2][]int) {
	for i, y := range d.y {
		if y {
			out[0] = append(out[0], i)
		}
	}
	if population == method.AllRows {
		out[1] = slices.Clone(out[0])
	}
	for i, y := range d.y {
		if !y {
			out[1] = append(out[1], i)
		}
	}
	return out
}

// translated returns a set with other numbers.
func translated(held *Set, numbers []int) *Set {
	out := NewSet(0)
	for i, number := range numbers {
		if held.Has(i) {
			out.Add(number)
		}
	}
	return out
}

func compareAnswers(t *testing.T, name string, got, want Answer, numbers *[2][]int, otherTies bool) {
	t.Helper()
	near := func(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-12*(1+math.Abs(b)) }
	nearAll := func(a, b []float64) bool {
		return slices.EqualFunc(a, b, near)
	}
	for class, pair := range [][2]ClassAnswer{{got.Positives, want.Positives}, {got.Population, want.Population}} {
		g, w := pair[0], pair[1]
		if !slices.Equal(g.Count, w.Count) {
			t.Errorf("%s: counts %v, want %v", name, g.Count, w.Count)
		}
		for k := range w.Bins {
			a, b := g.Bins[k], w.Bins[k]
			if a.Rows != b.Rows || a.Low != b.Low || a.High != b.High || !near(a.Mass, b.Mass) || !near(a.Score, b.Score) || !near(a.Square, b.Square) {
				t.Errorf("%s: bin %d is %+v, want %+v", name, k, a, b)
			}
		}
		if otherTies && class == 1 {
			continue
		}
		for k := range w.Groups {
			a, b := g.Groups[k], w.Groups[k]
			if a.Rows != b.Rows || !near(a.Mass, b.Mass) || !near(a.Score, b.Score) || !nearAll(a.Features, b.Features) || !nearAll(a.Moment, b.Moment) {
				t.Errorf("%s: group %d is %+v, want %+v", name, k, a, b)
			}
		}
		for k := range w.Rows {
			if len(g.Rows[k]) != len(w.Rows[k]) {
				t.Errorf("%s: %d rows, want %d", name, len(g.Rows[k]), len(w.Rows[k]))
				continue
			}
			for i, b := range w.Rows[k] {
				a, id := g.Rows[k][i], numbers[class][b.ID]
				if a.ID != id || a.Score != b.Score || a.Weight != b.Weight {
					t.Errorf("%s: row %d of %d is %d with score %g, want %d with %g", name, i, k, a.ID, a.Score, id, b.Score)
				}
			}
		}
	}
}

// TestSources solves problems on shards and on a file through Scan alone, and compares with memory.
func TestSources(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: every method is solved in shards and in files")
	}
	r := rand.New(rand.NewPCG(33, 7))
	for _, weighted := range []bool{false, true} {
		d := randomRows(r, 60, 700, weighted)
		x := d.matrix(t)
		for _, n := range everyMethod(1e-3) {
			p := newProblem(t, n.name, n.h)
			population := p.Definition().Population
			o := bind(t, p, x)
			whole, err := Solve(context.Background(), o, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for name, source := range map[string]Source{"shards": newShards(t, r, d, 3, population), "file": newFileSource(t, d, population)} {
				got, err := SolveSource(context.Background(), source, p, Options{})
				if err != nil {
					t.Fatal(err)
				}
				if !got.Converged || math.Abs(got.Objective-whole.Objective) > 2e-6*got.AtZero ||
					got.LowerBound > whole.Objective*(1+1e-12) || got.Objective < whole.LowerBound*(1-1e-12) {
					t.Errorf("%s, %s:\n  source %s\n  whole  %s", label(n), name, describe(got), describe(whole))
				}
				b, err := VerifySource(context.Background(), source, p, &got)
				if err != nil {
					t.Fatalf("%s, %s: %v", label(n), name, err)
				}
				if math.Abs(b.Lower-got.LowerBound) > 1e-10*got.AtZero || math.Abs(b.Upper-got.Objective) > 1e-6*got.AtZero || b.Lower > whole.Objective*(1+1e-12) {
					t.Errorf("%s, %s: verified %+v, the solver's bounds are %.15g and %.15g", label(n), name, b, got.Objective, got.LowerBound)
				}
				if f := o.At(got.W, nil).F; f > got.Objective*(1+1e-12) || f < got.Objective-1e-6*got.AtZero {
					t.Errorf("%s, %s: F = %.15g, the source's bound is %.15g", label(n), name, f, got.Objective)
				}
				t.Logf("%s, %s: %d passes, memory %d", label(n), name, got.Passes, whole.Passes)
			}
		}
	}
}

// TestLargeSource solves problems with very many rows on top on a file, through the smoothed problem. It compares with
// memory, and starts from a sample's solution too.
func TestLargeSource(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	d := randomRows(rand.New(rand.NewPCG(35, 7)), 30_000, 210_000, false)
	x, sample := d.matrix(t), d.slice(0, 24_000).matrix(t)
	list := []named{{"topmean-np", hyper(1e-3, "0.05", 0, 0, false)}, {"patmat-np", hyper(1e-3, "0.01", 1, 0, false)}}
	if os.Getenv("TOPTAU_LONG") == "" {
		list = list[:1]
	}
	for _, n := range list {
		p := newProblem(t, n.name, n.h)
		whole, err := Solve(context.Background(), bind(t, p, x), Options{Gap: 1e-4})
		if err != nil {
			t.Fatal(err)
		}
		small, err := Solve(context.Background(), bind(t, p, sample), Options{Gap: 1e-2})
		if err != nil {
			t.Fatal(err)
		}
		for name, options := range map[string]Options{"means": {}, "a solution": {Start: small.W}, "a sample": {Sample: sample}} {
			options.Gap, options.MaxPasses = 1e-4, 200
			source := newFileSource(t, d, method.Negatives)
			got, err := SolveSource(context.Background(), source, p, options)
			if err != nil {
				t.Fatal(err)
			}
			checkVerified(t, label(n)+" from "+name, source, p, &got, whole.Objective)
			if !got.Converged || got.LowerBound > whole.Objective || got.Objective < whole.LowerBound {
				t.Errorf("%s from %s:\n  file  %s\n  whole %s", label(n), name, describe(got), describe(whole))
			}
			t.Logf("%s from %s: %d passes, memory %d", label(n), name, got.Passes, whole.Passes)
		}
	}
}

// checkVerified compares the bounds of a result with those that further questions give.
func checkVerified(t *testing.T, name string, source Source, p method.Problem, got *Result, f float64) {
	t.Helper()
	b, err := VerifySource(context.Background(), source, p, got)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if math.Abs(b.Lower-got.LowerBound) > 1e-9*got.AtZero || math.Abs(b.Upper-got.Objective) > 1e-6*got.AtZero || b.Lower > f*(1+1e-12) {
		t.Errorf("%s: verified %+v, the solver's bounds are %.15g and %.15g", name, b, got.Objective, got.LowerBound)
	}
}

// remote is a source that has the positives, and asks a statement for each question about the population.
type remote struct {
	*Memory
	asked int
}

func (r *remote) Shape() Shape {
	s := r.Memory.Shape()
	s.KeepsScores = false
	return s
}

func (r *remote) Readings() (int, float64) { return r.asked, float64(r.asked) }

func (r *remote) Scan(ctx context.Context, queries []Query) ([]Answer, error) {
	points := map[*Point]bool{}
	for k := range queries {
		if !queries[k].Population.empty() {
			points[queries[k].At] = true
		}
	}
	r.asked += len(points)
	return r.Memory.Scan(ctx, queries)
}

// TestQuestionsAboutManyRows counts the questions about problems with very many rows on top, for a source that keeps no scores.
func TestQuestionsAboutManyRows(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	d := randomRows(rand.New(rand.NewPCG(35, 7)), 30_000, 210_000, false)
	x, sample := d.matrix(t), d.slice(0, 48_000).matrix(t)
	list := []named{{"topmean-np", hyper(1e-3, "0.05", 0, 0, false)}, {"topmean-np", hyper(1e-3, "0.2", 0, 0, false)},
		{"patmat-np", hyper(1e-3, "0.01", 1, 0, false)}, {"patmat-np", hyper(1e-3, "0.05", .1, 0, false)}}
	if os.Getenv("TOPTAU_LONG") == "" {
		list = list[1:3]
	}
	for _, n := range list {
		p := newProblem(t, n.name, n.h)
		for _, gap := range []float64{1e-4, 1e-6} {
			whole, err := Solve(context.Background(), bind(t, p, x), Options{Gap: gap})
			if err != nil {
				t.Fatal(err)
			}
			source := &remote{Memory: NewMemory(x, method.Negatives)}
			got, err := SolveSource(context.Background(), source, p, Options{Gap: gap, Sample: sample, MaxPasses: 200})
			if err != nil {
				t.Fatal(err)
			}
			if !got.Converged || got.LowerBound > whole.Objective || got.Objective < whole.LowerBound {
				t.Errorf("%s:\n  source %s\n  whole  %s", label(n), describe(got), describe(whole))
			}
			checkVerified(t, label(n), source, p, &got, whole.Objective)
			if got.Passes > 2*got.Rounds { // 7 to 9 without what the sample tells, 2 to 3 with a question for each part of an evaluation
				t.Errorf("%s: %d questions in %d rounds", label(n), got.Passes, got.Rounds)
			}
			t.Logf("%s gap %g: %d questions, %d rounds, memory %d passes, %d rounds", label(n), gap, got.Passes, got.Rounds, whole.Passes, whole.Rounds)
		}
	}
}

// TestNonFiniteRows solves on a source with a row that is not finite: an error names it.
func TestNonFiniteRows(t *testing.T) {
	d := randomRows(rand.New(rand.NewPCG(3, 3)), 30, 200, false)
	d.x[17] = []float64{1, math.Inf(1), 0, 0}
	p := newProblem(t, "topmean-np", hyper(1e-3, "0.05", 0, 0, false))
	if _, err := SolveSource(context.Background(), newFileSource(t, d, method.Negatives), p, Options{}); err == nil {
		t.Error("no error for an infinite feature")
	} else {
		t.Log(err)
	}
}
