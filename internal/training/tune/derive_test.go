package tune

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/method"
	"toptau/schema"
)

// ruled makes rows with numeric columns that are noise but for the rule: a row is positive with the probability that it returns.
// With categories there is a column of as many random names.
func ruled(rows, columns, categories int, seed uint64, rule func(x []float64) float64) *table.Table {
	r := rand.New(rand.NewPCG(seed, 4))
	t := &table.Table{File: "rows.csv"}
	for j := range columns {
		t.Columns = append(t.Columns, table.Column{Name: fmt.Sprintf("x%d", j+1), Number: j + 1})
	}
	if categories > 0 {
		c := table.Column{Name: "name", Number: columns + 1, Kind: schema.Categorical}
		for k := range categories {
			c.Dictionary = append(c.Dictionary, fmt.Sprintf("v%d", k))
		}
		t.Columns = append(t.Columns, c)
	}
	x := make([]float64, columns)
	for i := range rows {
		for j := range x {
			x[j] = math.Exp(r.NormFloat64())
			t.Columns[j].Values = append(t.Columns[j].Values, x[j])
		}
		if categories > 0 {
			t.Columns[columns].Codes = append(t.Columns[columns].Codes, int32(r.IntN(categories)))
		}
		class := table.Negative
		if r.Float64() < rule(x) {
			class = table.Positive
		}
		t.Label, t.Line = append(t.Label, class), append(t.Line, i+2)
	}
	return t
}

func withPairs(t *testing.T) SearchOptions {
	o := linear(t, "--max-fpr 5%", method.Boosting)
	o.Encoding, o.Feature.Rounds, o.Derive, o.Seed = []feature.Encode{feature.EncodeBoosted, feature.EncodeStochastic}, 50, schema.DerivePairs, 1
	return o
}

// Where a ratio decides, the boosters with derived columns are kept, and the same bytes come from any number of threads.
func TestDerivedColumnsAreKept(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: two searches")
	}
	data := ruled(2500, 6, 0, 1, func(x []float64) float64 {
		if r := x[2] / x[4]; 1 < r && r < 1.5 {
			return 0.8
		}
		return 0.02
	})
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := find(t, data, withPairs(t))
	if !one.Choice.Derived || one.Choice.DerivedGain.Mean < 0.02 || len(one.Members) != 2 || !one.Choice.Members[0].Derived {
		t.Errorf("%+v, derived columns %v", one.Choice, one.Choice.DerivedGain)
	}
	if names := feature.DerivedNames(one.Map); !slices.Contains(names, "column x3 / column x5") || len(names) != 45 {
		t.Errorf("derived columns %q", names)
	}
	runtime.GOMAXPROCS(8)
	if several := find(t, data, withPairs(t)); string(modelBytes(t, one)) != string(modelBytes(t, several)) {
		t.Error("several threads make another model")
	}
	o := withPairs(t)
	o.Feature.Monotone = []feature.Sign{{Column: "x3"}}
	f := find(t, data, o)
	for _, name := range feature.DerivedNames(f.Map) {
		if strings.Contains(name, "x3") {
			t.Errorf("%s is derived from a column with a direction", name)
		}
	}
	o.Derive = "some"
	if _, err := Search(t.Context(), Data{Table: data, Schema: schema.Schema{Header: true}}, o); err == nil || !strings.Contains(err.Error(), "derive") {
		t.Errorf("an unknown value of derive: %v", err)
	}
}

// Twenty columns of noise and a random category of 5,000 values gain nothing: on new rows the difference is within two standard errors.
func TestDerivedNoiseGainsNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("a search for each seed")
	}
	rule := func(x []float64) float64 { return 1 / (1 + math.Exp(2.5-x[0])) }
	var differences []float64
	for seed := range uint64(4) {
		data, fresh := ruled(2500, 21, 5000, seed, rule), ruled(10000, 21, 5000, 100+seed, rule)
		o := withPairs(t)
		derived := find(t, data, o)
		o.Derive = schema.DeriveNone
		plain := find(t, data, o)
		if !derived.Choice.Derived {
			if string(modelBytes(t, derived)) != string(modelBytes(t, plain)) {
				t.Errorf("seed %d: derived columns that are left out change the model", seed)
			}
			differences = append(differences, 0)
			continue
		}
		differences = append(differences, foundIn(t, derived, fresh)-foundIn(t, plain, fresh))
	}
	sum, squares := 0.0, 0.0
	for _, d := range differences {
		sum += d
		squares += d * d
	}
	n := float64(len(differences))
	t.Logf("differences in positives found at 5 %%: %v", differences)
	if mean := sum / n; mean > 2*math.Sqrt((squares/n-mean*mean)/(n-1))+1e-9 {
		t.Errorf("noise gains %v", differences)
	}
}

// foundIn returns the fraction of the positives of a table above the 95 % quantile of its negatives.
func foundIn(t *testing.T, f *Found, data *table.Table) float64 {
	z := scoresOf(t, f.Map, f.W, f.Offset, data)
	var positives, negatives []float64
	for row, score := range z {
		if data.Label[row] == table.Positive {
			positives = append(positives, score)
		} else {
			negatives = append(negatives, score)
		}
	}
	slices.Sort(negatives)
	at, found := negatives[len(negatives)*95/100], 0
	for _, score := range positives {
		if score > at {
			found++
		}
	}
	return float64(found) / float64(len(positives))
}
