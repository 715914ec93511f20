package feature

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"toptau/diag"
	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
	"toptau/internal/models/feature/trees"
	"toptau/schema"
)

// goldenLeaves tests y, then x on the left side; missing values of x go left.
const goldenLeaves = `{"scale":"standard","impute":"indicator","inputs":[` +
	`{"column":0,"name":"x","kind":"numeric"},{"column":1,"name":"y","kind":"numeric"}],` +
	`"dropped":[],"blocks":[{"kind":"leaves","block":{"inputs":[0,1],"trees":[` +
	`{"ask":[1,0,-1,-1,-1],"at":[2,0.5],"missing_left":[1],"mass":[1,3,4]},{"ask":[0,-1,-1],"at":[1],"mass":[6,2]}]}}]}`

func TestLeavesByHand(t *testing.T) {
	m := new(Map)
	if err := json.Unmarshal([]byte(goldenLeaves), m); err != nil {
		t.Fatal(err)
	}
	if again, err := m.MarshalJSON(); err != nil || string(again) != goldenLeaves {
		t.Errorf("%v\n%s", err, again)
	}
	want := []string{"tree 1 leaf 1", "tree 1 leaf 2", "tree 1 leaf 3", "tree 2 leaf 1", "tree 2 leaf 2"}
	if got := m.Names(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for _, test := range []struct {
		x, y          float64
		first, second uint32
	}{
		{0, 0, 0, 3}, {0.5, 2, 0, 3}, {0.6, 2, 1, 3}, {1.5, 2, 1, 4}, {0, 2.1, 2, 3},
		{missing, 1, 0, 4}, {0, missing, 2, 3},
	} {
		var e Encoded
		if err := m.Encode(tableOf(number("x", test.x), number("y", test.y)), 0, &e); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(e.Cols, []uint32{test.first, test.second}) || !slices.Equal(e.Values, []float64{1, 1}) {
			t.Errorf("x %v, y %v: columns %v, values %v", test.x, test.y, e.Cols, e.Values)
		}
	}
}

func TestBadLeavesAreRefused(t *testing.T) {
	for _, edit := range []struct{ old, new, want string }{
		{`"inputs":[0,1],"trees"`, `"inputs":[1,0],"trees"`, "out of order"},
		{`"inputs":[0,1],"trees"`, `"inputs":[0,2],"trees"`, "no input 2"},
		{`"ask":[0,-1,-1]`, `"ask":[2,-1,-1]`, "tests input 2"},
		{`"ask":[0,-1,-1]`, `"ask":[0,-1]`, "1 leaves"},
		{`"ask":[0,-1,-1]`, `"ask":[]`, "0 leaves"},
		{`"ask":[0,-1,-1]`, `"ask":[0,-1,-1,-1]`, "after the last leaf"},
		{`"ask":[0,-1,-1]`, `"ask":[-1]`, "1 thresholds"},
		{`"at":[1]`, `"at":[]`, "0 thresholds"},
		{`"at":[1]`, `"at":[1,2]`, "2 thresholds"},
		{`"missing_left":[1]`, `"missing_left":[2]`, "missing values at node 2"},
		{`"missing_left":[1]`, `"missing_left":[1,1]`, "missing values at node 1"},
		{`"at":[1]`, `"at":[1],"surplus":1`, "unknown field"},
		{`"mass":[6,2]`, `"mass":[6]`, "1 masses for 2 leaves"},
		{`"mass":[6,2]`, `"mass":[6,0]`, "a leaf of mass 0"},
	} {
		text := strings.Replace(goldenLeaves, edit.old, edit.new, 1)
		err := json.Unmarshal([]byte(text), new(Map))
		if text == goldenLeaves || err == nil || !strings.Contains(err.Error(), edit.want) {
			t.Errorf("%s: error %v, want %q", edit.new, err, edit.want)
		}
	}
}

func leavesOf(t *testing.T, m *Map) *LeavesBlock {
	t.Helper()
	for _, b := range m.Blocks {
		if b, ok := b.(*LeavesBlock); ok {
			return b
		}
	}
	t.Fatal("no leaves")
	return nil
}

// If one column determines the class, a tree splits it between the classes.
func TestTreesFindTheBorder(t *testing.T) {
	data := tableOf(number("x", steps(40)...))
	for i := range data.Label {
		data.Label[i] = table.Negative
		if i >= 30 {
			data.Label[i] = table.Positive
		}
	}
	b := leavesOf(t, fit(t, data, Options{Encode: EncodeLeaves, Trees: 20}))
	if len(b.Trees) != 20 {
		t.Fatalf("%d trees", len(b.Trees))
	}
	for i := range b.Trees {
		held := make([]int, b.Trees[i].Leaves())
		for _, x := range data.Columns[0].Values {
			held[b.Trees[i].Leaf([]float64{x})]++
		}
		if slices.Min(held) < trees.MinLeafRows {
			t.Errorf("tree %d: a leaf of %d rows", i+1, slices.Min(held))
		}
	}
	if diff := b.Trees[0].At[0] == b.Trees[1].At[0]; diff {
		t.Error("trees 1 and 2 are alike")
	}
}

func TestTreesHaveTheRequestedLeaves(t *testing.T) {
	data := randomTable(rand.New(rand.NewPCG(9, 9)), 1200, false)
	b := leavesOf(t, fit(t, data, Options{Encode: EncodeLeaves, Impute: schema.ImputeIndicator, Trees: 7, Leaves: 33}))
	left := 0
	for i := range b.Trees {
		if b.Trees[i].Leaves() != 33 {
			t.Errorf("tree %d: %d leaves", i+1, b.Trees[i].Leaves())
		}
		left += len(b.Trees[i].MissingLeft)
	}
	if len(b.Trees) != 7 || left == 0 {
		t.Errorf("%d trees, missing values go left at %d nodes", len(b.Trees), left)
	}
}

// Missing values that determine the class are split from all others, also from values that do not occur in
// training.
func TestTreesSplitMissingValues(t *testing.T) {
	values := steps(60)
	data := tableOf(number("x", values...))
	for i := range data.Label {
		data.Label[i] = table.Negative
		if i%3 == 0 {
			data.Label[i], values[i] = table.Positive, missing
		}
	}
	b := leavesOf(t, fit(t, data, Options{Encode: EncodeLeaves, Impute: schema.ImputeIndicator, Trees: 5}))
	for i := range b.Trees {
		tree := &b.Trees[i]
		if own := tree.Leaf([]float64{missing}); own == tree.Leaf([]float64{1e9}) || own == tree.Leaf([]float64{-5}) {
			t.Errorf("tree %d: %+v", i+1, *tree)
		}
	}
}

// The trees depend on the seed and their number, not on the number of threads or of other trees.
func TestTreesAreDeterministic(t *testing.T) {
	data := randomTable(rand.New(rand.NewPCG(4, 4)), 700, false)
	o := Options{Encode: EncodeBoth, Impute: schema.ImputeIndicator, Trees: 9, Leaves: 20, Seed: 5}
	written := func(o Options) string {
		text, err := json.Marshal(fit(t, data, o))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	want := written(o)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, threads := range []int{1, 3, 8} {
		runtime.GOMAXPROCS(threads)
		if written(o) != want {
			t.Errorf("%d threads give other trees", threads)
		}
	}
	whole := leavesOf(t, fit(t, data, o))
	o.Trees = 4
	for i, tree := range leavesOf(t, fit(t, data, o)).Trees {
		if !slices.Equal(tree.At, whole.Trees[i].At) || !slices.Equal(tree.Ask, whole.Trees[i].Ask) {
			t.Errorf("tree %d depends on how many there are", i+1)
		}
	}
	o.Seed = 6
	if slices.Equal(leavesOf(t, fit(t, data, o)).Trees[0].At, whole.Trees[0].At) {
		t.Error("the seed does not matter")
	}
}

func TestLeavesNeedBothClasses(t *testing.T) {
	data := tableOf(number("x", steps(30)...))
	data.Label[3] = table.Unknown
	if _, _, err := Fit(data, named, nil, Options{Encode: EncodeLeaves}); diag.Of(err) == nil || diag.Of(err).Line != 5 {
		t.Errorf("%v", err)
	}
	for i := range data.Label {
		data.Label[i] = table.Positive
	}
	if _, _, err := Fit(data, named, nil, Options{Encode: EncodeLeaves}); diag.Of(err) == nil || diag.Of(err).Kind != diag.Data {
		t.Errorf("%v", err)
	}
	for _, o := range []Options{{Encode: "bins"}, {Encode: EncodeLeaves, Trees: -1}, {Encode: EncodeLeaves, Leaves: 1}} {
		if _, _, err := Fit(data, named, nil, o); diag.Of(err) == nil || diag.Of(err).Kind != diag.Usage {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// For every encoding the packed matrix, the scorer and a map that went through JSON give the same bits,
// without allocation, and the probes use many leaves and levels.
func TestEncodedScoresAreTheMatrixsBits(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 2))
	for trial := range 36 {
		o := Options{
			Encode: []Encode{EncodeScorecard, EncodeLeaves, EncodeBoth, EncodeBoosted, EncodePairs, EncodeAdditive}[trial%6],
			Scale:  []schema.Scale{schema.ScaleStandard, schema.ScaleAll, schema.ScaleNone}[trial/6%3],
			Impute: []schema.Impute{schema.ImputeMedian, schema.ImputeZero, schema.ImputeIndicator}[r.IntN(3)],
			Trees:  5, Leaves: 20, Rounds: 9,
		}
		if trial%6 != 0 && trial%2 == 0 {
			o.Derived = someDerived
		}
		data := randomTable(r, 130+r.IntN(300), false)
		m := fit(t, data, o)
		w := make([]float64, m.Cols())
		for j := range w {
			w[j] = r.Float64() - .5
		}
		scorer, err := NewScorer(reread(t, m), w, 0)
		if err != nil {
			t.Fatal(err)
		}
		later := randomTable(r, 200, false)
		scores := make([]float64, later.Rows())
		if err := scorer.Scores(later, scores); err != nil {
			t.Fatal(err)
		}
		for _, storage := range []matrix.Storage{matrix.Float32, matrix.Float64} {
			packed, err := m.Matrix(later, nil, storage)
			if err != nil {
				t.Fatal(err)
			}
			if storage == matrix.Float64 && o.Scale == schema.ScaleAll {
				continue // the scales of categories are rounded to the storage
			}
			for _, part := range []*matrix.ClassRows{packed.Positives, packed.Negatives} {
				z := make([]float64, part.Rows())
				part.Scores(w, z)
				for i := range z {
					if got := scores[part.Source(i)]; math.Float64bits(got) != math.Float64bits(z[i]) {
						t.Fatalf("%+v, row %d: scorer %v, matrix %v", o, part.Source(i), got, z[i])
					}
				}
			}
		}
		if n := testing.AllocsPerRun(2, func() {
			for row := range later.Rows() {
				if _, err := scorer.Score(later, row); err != nil {
					t.Fatal(err)
				}
			}
		}); n != 0 {
			t.Errorf("%+v: %v allocations", o, n)
		}
		probes := m.Probes(7, func(text string) bool { return text == "" })
		if len(probes) != probeRows || probes[0][0] == probes[1][0] {
			t.Errorf("%q", probes)
		}
	}
}

// goldenGrown fixes the draws: the same seed must give these trees on every platform and in every version.
const goldenGrown = `{"inputs":[0,1],"trees":[` +
	`{"ask":[1,0,1,-1,-1,-1,-1],"at":[30.71,15.78,6.402],"missing_left":[0,2],"mass":[5,9,17,9]},` +
	`{"ask":[0,1,-1,1,-1,-1,-1],"at":[30.35,22.67,32.36],"missing_left":[2],"mass":[17,9,5,9]}]}`

func TestGoldenTrees(t *testing.T) {
	x, y := steps(40), make([]float64, 40)
	for i := range y {
		y[i] = float64(i * 7 % 40)
	}
	y[3], y[8] = missing, missing
	m := fit(t, tableOf(number("x", x...), number("y", y...)),
		Options{Encode: EncodeLeaves, Impute: schema.ImputeIndicator, Trees: 2, Leaves: 4, Seed: 3})
	got, err := json.Marshal(m.Blocks[0])
	if err != nil || string(got) != goldenGrown {
		t.Errorf("%v\n%s\nwant\n%s", err, got, goldenGrown)
	}
}
