package feature

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"toptau/diag"
	"toptau/internal/data/table"
	"toptau/internal/models/feature/trees"
	"toptau/schema"
)

var boostedEncodings = []Encode{EncodeAdditive, EncodePairs, EncodeBoosted, EncodeStochastic}

// The sum that boosting itself predicts is the score of the map with the weights of Boosting, and it ranks rows
// whose classes differ.
func TestBoostingLowersTheLoss(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, e := range boostedEncodings {
		data := randomTable(r, 900, false)
		m := fit(t, data, Options{Encode: e, Impute: schema.ImputeIndicator, Rounds: 40})
		b := m.Boosting()
		if len(b.Rounds) != 40 {
			t.Fatalf("%s: %d rounds", e, len(b.Rounds))
		}
		last := math.Inf(1)
		for _, rounds := range []int{0, 5, 10, 20, 40} {
			loss := logLoss(t, data, m, b.Weights(rounds, m.Cols()), b.Intercept)
			if loss >= last {
				t.Errorf("%s: loss %v after %d rounds, %v before", e, loss, rounds, last)
			}
			last = loss
		}
	}
}

// The scores by rounds are those of the map with the weights of these rounds, to the bit, also of rows with missing values and
// of categories.
func TestBoostingScores(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, e := range boostedEncodings {
		data := randomTable(r, 700, false)
		m := fit(t, data, Options{Encode: e, Impute: schema.ImputeIndicator, Rounds: 30})
		rows, rounds := r.Perm(data.Rows())[:600], []int{1, 7, 30, 40}
		list, err := m.BoostingScores(t.Context(), data, rows, rounds)
		if err != nil {
			t.Fatal(err)
		}
		for k, n := range rounds {
			s, err := NewScorer(m, m.Boosting().Weights(n, m.Cols()), 0)
			if err != nil {
				t.Fatal(err)
			}
			for i, row := range rows {
				if z, err := s.Score(data, row); err != nil || z != list[k][i] {
					t.Fatalf("%s, %d rounds, row %d: %v, want %v (%v)", e, n, row, list[k][i], z, err)
				}
			}
		}
	}
}

func logLoss(t *testing.T, data *table.Table, m *Map, w []float64, intercept float64) float64 {
	t.Helper()
	s, err := NewScorer(m, w, intercept)
	if err != nil {
		t.Fatal(err)
	}
	total := 0.0
	for row := range data.Rows() {
		z, err := s.Score(data, row)
		if err != nil {
			t.Fatal(err)
		}
		if data.Label[row] == table.Positive {
			z = -z
		}
		total += math.Log1p(math.Exp(z))
	}
	return total
}

// The trees depend on data, options and seed, and not on the number of threads: with enough rows that columns are
// divided among processors, and with more than one tree grows on.
func TestBoostingIsDeterministic(t *testing.T) {
	some := randomTable(rand.New(rand.NewPCG(4, 4)), 6000, false)
	many := randomTable(rand.New(rand.NewPCG(4, 5)), trees.GrowRows+9999, false)
	cases := []struct {
		data   *table.Table
		e      Encode
		rounds int
	}{{some, EncodeAdditive, 8}, {some, EncodePairs, 8}, {some, EncodeBoosted, 8}, {some, EncodeStochastic, 8}, {many, EncodeBoosted, 2}, {many, EncodeStochastic, 2}, {many, EncodeLeaves, 0}}
	if testing.Short() {
		cases = cases[:4]
	}
	for _, c := range cases {
		written := func() string {
			m := fit(t, c.data, Options{Encode: c.e, Impute: schema.ImputeIndicator, Rounds: c.rounds, Trees: 2})
			text, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(string(text), m.Boosting())
		}
		want := written()
		for _, threads := range []int{1, 2, 8} {
			before := runtime.GOMAXPROCS(threads)
			got := written()
			runtime.GOMAXPROCS(before)
			if got != want {
				t.Errorf("%s on %d rows: %d threads give another model", c.e, c.data.Rows(), threads)
			}
		}
	}
}

// Trees that grow on samples of very many rows are about those of all rows: they lower the loss as much on others.
func TestSamplesGrowGoodTrees(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: 200,000 rows")
	}
	r := rand.New(rand.NewPCG(4, 6))
	many, others := randomTable(r, 3*trees.GrowRows/2, false), randomTable(r, 20_000, false)
	few := make([]int, trees.GrowRows) // grow trees together
	for i := range few {
		few[i] = i
	}
	o := Options{Encode: EncodeBoosted, Impute: schema.ImputeIndicator, Rounds: 20}
	loss := func(rows []int) float64 {
		m, _, err := Fit(many, schema.Schema{}, rows, o)
		if err != nil {
			t.Fatal(err)
		}
		b := m.Boosting()
		mass := 0.0
		for _, x := range m.Blocks[0].(*LeavesBlock).Trees[0].Mass {
			mass += x
		}
		if want := float64(rowCount(many, rows)); math.Abs(mass-want) > 1e-6*want {
			t.Errorf("the leaves have %v rows of %v", mass, want)
		}
		return logLoss(t, others, m, b.Weights(20, m.Cols()), b.Intercept) / 20_000
	}
	if sampled, whole := loss(nil), loss(few); sampled > 1.01*whole {
		t.Errorf("loss %v with trees on samples, %v with trees on as many rows", sampled, whole)
	}
}

// Where a column must only raise or lower the score, the sum of trees does so at every value of the others.
func TestMonotoneColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 8))
	for _, e := range boostedEncodings {
		for _, falling := range []bool{false, true} {
			data := randomTable(r, 500, false)
			m := fit(t, data, Options{Encode: e, Impute: schema.ImputeIndicator, Rounds: 30, Monotone: []Sign{{Column: "x1", Falling: falling}}})
			s, err := NewScorer(m, m.Boosting().Weights(30, m.Cols()), 0)
			if err != nil {
				t.Fatal(err)
			}
			values := slices.Clone(data.Columns[1].Values)
			values = slices.DeleteFunc(values, math.IsNaN)
			slices.Sort(values)
			for row := range 40 {
				last := math.Inf(-1)
				for _, v := range values {
					data.Columns[1].Values[row] = v
					z, err := s.Score(data, row)
					if err != nil {
						t.Fatal(err)
					}
					if falling {
						z = -z
					}
					if z < last {
						t.Fatalf("%s, falling %v, row %d: the score moves to the wrong side at %v", e, falling, row, v)
					}
					last = z
				}
			}
		}
	}
	data := randomTable(r, 300, false)
	for _, column := range []string{"none", "x2"} {
		_, _, err := Fit(data, named, nil, Options{Encode: EncodeBoosted, Impute: schema.ImputeIndicator, Monotone: []Sign{{Column: column}}})
		if diag.Of(err) == nil || diag.Of(err).Param != "monotone" {
			t.Errorf("%s: %v", column, err)
		}
	}
}

// An additive model has one tree for each column, and what a column adds does not depend on the others.
func TestAdditiveModelsAddCurves(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 2))
	data := randomTable(r, 800, false)
	m := fit(t, data, Options{Encode: EncodeAdditive, Impute: schema.ImputeIndicator, Rounds: 60})
	b := leavesOf(t, m)
	seen := map[int]bool{}
	for i := range b.Trees {
		for _, ask := range b.Trees[i].Ask {
			if ask >= 0 && ask != b.Trees[i].Ask[0] {
				t.Errorf("tree %d reads several columns", i+1)
			}
		}
		if seen[b.Trees[i].Ask[0]] {
			t.Errorf("a column has several trees")
		}
		seen[b.Trees[i].Ask[0]] = true
	}
}

// A pair of questions reads at most two columns on the way to a leaf.
func TestPairsReadTwoColumns(t *testing.T) {
	data := randomTable(rand.New(rand.NewPCG(3, 2)), 800, false)
	for _, tree := range leavesOf(t, fit(t, data, Options{Encode: EncodePairs, Impute: schema.ImputeIndicator, Rounds: 30})).Trees {
		if tree.Leaves() > 4 || len(tree.Ask) > 7 {
			t.Errorf("a tree of %d leaves", tree.Leaves())
		}
	}
}

// Ten rows of "a", eight of them positive, and ninety of "b", twelve of them positive, and three of "c". The
// prior is 0.2, ten rows of it are added, and "c" has too few rows for a code.
func TestCodesByHand(t *testing.T) {
	var texts []string
	var labels []table.Class
	add := func(text string, positives, negatives int) {
		for i := range positives + negatives {
			texts = append(texts, text)
			class := table.Negative
			if i < positives {
				class = table.Positive
			}
			labels = append(labels, class)
		}
	}
	add("a", 8, 2)
	add("b", 11, 79)
	add("c", 2, 3)
	data := tableOf(symbol("s", texts...))
	data.Label = labels
	m := fit(t, data, Options{Encode: EncodeBoosted, Rounds: 1})
	b := leavesOf(t, m)
	prior := 21. / 105
	want := map[string]float64{"a": (8 + 10*prior) / 20, "b": (11 + 10*prior) / 100, "c": prior}
	for i, category := range m.Inputs[0].Categories {
		if got := b.Codes[0].Values[i]; math.Abs(got-want[category]) > 1e-6 {
			t.Errorf("%s: %v, want %v", category, got, want[category])
		}
	}
	if math.Abs(b.Codes[0].Unknown-prior) > 1e-6 {
		t.Errorf("unknown: %v", b.Codes[0].Unknown)
	}
}

// The code of a row in growing does not depend on its own label.
func TestOrderedCodesIgnoreTheOwnLabel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	data := randomTable(r, 300, false)
	ordered := func() []float64 {
		f := newFitter(data, nil, Options{Impute: schema.ImputeIndicator, Seed: 3})
		f.m.Inputs = []Input{{Column: 2, Kind: schema.Categorical, Categories: data.Columns[2].Dictionary}}
		positive, err := f.labels()
		if err != nil {
			t.Fatal(err)
		}
		_, x := f.codes(0, positive)
		return x
	}
	before := ordered()
	codes := data.Columns[2].Codes
	for row := 1; row < 299; row += 7 {
		// Two labels of different categories are exchanged, so that the prior stays.
		other := slices.IndexFunc(data.Label, func(c table.Class) bool { return c != data.Label[row] })
		for codes[other] == codes[row] || data.Label[other] == data.Label[row] || data.Weight[other] != data.Weight[row] {
			other = (other + 1) % len(codes)
		}
		data.Label[row], data.Label[other] = data.Label[other], data.Label[row]
		if after := ordered(); after[row] != before[row] && before[row] == before[row] {
			t.Errorf("row %d: the code is %v, and %v with the other label", row, before[row], after[row])
		} else if slices.Equal(after, before) {
			t.Errorf("row %d: no code depends on the label", row)
		}
		data.Label[row], data.Label[other] = data.Label[other], data.Label[row]
	}
}

// A model file with bad codes is refused.
func TestBadCodesAreRefused(t *testing.T) {
	golden := `{"scale":"standard","impute":"error","inputs":[{"column":0,"name":"s","kind":"categorical","categories":["a","b"]}],` +
		`"dropped":[],"blocks":[{"kind":"leaves","block":{"inputs":[0],"codes":[{"input":0,"values":[0.5,0.25],"unknown":0.3}],` +
		`"trees":[{"ask":[0,-1,-1],"at":[0.4],"mass":[6,2]}]}}]}`
	if err := json.Unmarshal([]byte(golden), new(Map)); err != nil {
		t.Fatal(err)
	}
	for _, edit := range [][2]string{
		{`"values":[0.5,0.25]`, `"values":[0.5]`}, {`"values":[0.5,0.25]`, `"values":[0.5,1e999]`},
		{`"unknown":0.3`, `"unknown":1e999`}, {`"codes":[{"input":0`, `"codes":[{"input":1`},
		{`"codes":[{"input":0,"values":[0.5,0.25],"unknown":0.3}],`, ``},
		{`"unknown":0.3}]`, `"unknown":0.3},{"input":0,"values":[0.5,0.25],"unknown":0.3}]`},
	} {
		if err := json.Unmarshal([]byte(strings.Replace(golden, edit[0], edit[1], 1)), new(Map)); err == nil {
			t.Errorf("%s was taken", edit[1])
		}
	}
}

// Trees that are added in steps are those that are grown at once.
func TestGrowAddsTheSameTrees(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 7))
	for _, e := range boostedEncodings {
		data := randomTable(r, 500, false)
		o := Options{Encode: e, Impute: schema.ImputeIndicator, Rounds: 25}
		want := fit(t, data, o)
		o.Rounds, o.Growing = 4, true
		m := fit(t, data, o)
		for _, rounds := range []int{5, 5, 25} {
			var err error
			if m, err = Grow(t.Context(), m, rounds); err != nil {
				t.Fatal(err)
			}
		}
		same, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if once, _ := json.Marshal(want); string(same) != string(once) || m.Cols() != want.Cols() || !reflect.DeepEqual(m.Boosting().Rounds, want.Boosting().Rounds) {
			t.Errorf("%s: other trees", e)
		}
	}
}
