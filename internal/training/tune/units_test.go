package tune

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"toptau/diag"
	"toptau/internal/core/ranking"
	"toptau/internal/data/table"
	"toptau/method"
	"toptau/metric"
	"toptau/threshold"
)

// hostTable returns six rows of three hosts with amounts.
func hostTable() *table.Table {
	const p, n = table.Positive, table.Negative
	return &table.Table{Label: []table.Class{n, n, p, n, p, p}, Line: []int{2, 3, 4, 5, 6, 7},
		Kept: []table.Text{{Name: "host", Values: []string{"a", "b", "b", "c", "b", "c"}},
			{Name: "money", Values: []string{"x", "", "10", "", "5", "100"}}}}
}

func countedOf(t *testing.T, data *table.Table, o SearchOptions) *counted {
	t.Helper()
	p := &plan{options: o, counted: map[*table.Table]*counted{}}
	c, err := p.countedIn(data)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Hosts a (negative), b and c (positive) with amounts 15 and 100. Scores of the rows in their order: 1 9 2 5 3 4.
func TestUnitsByHand(t *testing.T) {
	data := hostTable()
	c := countedOf(t, data, SearchOptions{Entity: "host", Value: "money"})
	rows, z := []int{0, 1, 2, 3, 4, 5}, []float64{1, 9, 2, 5, 3, 4}
	first, top := c.collapse(data, rows, z)
	if !slices.Equal(first, []int{0, 2, 5}) || !slices.Equal(top, []float64{1, 9, 5}) {
		t.Errorf("rows %v with scores %v", first, top)
	}
	n := c.newCounting(data, rows)
	r, err := n.rank([]float64{1, 9, 5}, []float64{2, 3, 4}) // by class
	if err != nil {
		t.Fatal(err)
	}
	e, err := r.evaluate(goalOf(t, "--absolute-top"), 6, 1)
	if err != nil {
		t.Fatal(err)
	}
	if e.Goal.Numerator != 115 || e.Goal.Denominator != 115 || e.Goal.Criterion != "value@top" {
		t.Errorf("%+v", e.Goal)
	}
	if e.AtThreshold.TruePositives != 1 || e.AtThreshold.FalseNegatives != 1 || e.Value.Numerator != 15 || e.Value.Denominator != 115 {
		t.Errorf("%+v, %+v", e.AtThreshold, e.Value)
	}
	// Some rows only: host b has its second positive, host c only its negative row.
	n = c.newCounting(data, []int{0, 3, 4})
	if s := n.scores([]float64{1, 5}, []float64{3}); !slices.Equal(s.Positives, []float64{3}) || !slices.Equal(s.Negatives, []float64{1, 5}) ||
		!slices.Equal(n.amounts, []float64{15}) {
		t.Errorf("%+v, amounts %v", s, n.amounts)
	}
	// Without entities the rows themselves.
	rowsAlone := countedOf(t, data, SearchOptions{Value: "money"}).newCounting(data, rows)
	if s := rowsAlone.scores([]float64{1, 9, 5}, []float64{2, 3, 4}); len(s.Positives) != 3 || !slices.Equal(rowsAlone.amounts, []float64{10, 5, 100}) {
		t.Errorf("%+v, amounts %v", s, rowsAlone.amounts)
	}
}

func TestUnitsThatCannotBe(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*table.Table)
		o      SearchOptions
		param  string
		words  string
	}{
		"no such column":   {func(*table.Table) {}, SearchOptions{Entity: "machine"}, "entity", "kept"},
		"no such amounts":  {func(*table.Table) {}, SearchOptions{Value: "euro"}, "value", "kept"},
		"weights":          {func(d *table.Table) { d.Weight = make([]float64, 6) }, SearchOptions{Entity: "host"}, "entity", "row weights"},
		"amount is a word": {func(d *table.Table) { d.Kept[1].Values[4] = "much" }, SearchOptions{Value: "money"}, "", "much"},
		"negative amount":  {func(d *table.Table) { d.Kept[1].Values[4] = "-1" }, SearchOptions{Value: "money"}, "", "at least 0"},
		"no money at all": {func(d *table.Table) { d.Kept[1].Values = []string{"0", "0", "0", "0", "0", "0"} },
			SearchOptions{Value: "money"}, "", "no positive with an amount"},
		"numbers as days": {func(d *table.Table) {
			d.Time = &table.Text{Name: "when", Values: []string{"1", "2", "3", "4", "5", "6"}}
		},
			SearchOptions{Entity: "host"}, "", "a date"},
	} {
		data := hostTable()
		test.change(data)
		p := &plan{options: test.o, counted: map[*table.Table]*counted{}}
		_, err := p.countedIn(data)
		if d := diag.Of(err); d == nil || d.Param != test.param || !strings.Contains(err.Error(), test.words) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Amounts of 15 and 100 tell as much as 1.29 positives; equal ones as much as there are.
func TestEffectiveAmounts(t *testing.T) {
	c := countedOf(t, hostTable(), SearchOptions{Entity: "host", Value: "money"})
	if n := c.effective(); math.Abs(n-115*115/(100.0*100+15*15)) > 1e-12 {
		t.Error(n)
	}
	if n := (&counted{amounts: []float64{2, 2, 2}}).effective(); n != 3 {
		t.Error(n)
	}
}

// hosts gives each run of rows a host. With days the host returns on every one of them.
func hosts(data *table.Table, run, days int) *table.Table {
	data.Kept = []table.Text{{Name: "host"}}
	if days > 0 {
		data.Time = &table.Text{Name: "when"}
	}
	for row := range data.Rows() {
		data.Kept[0].Values = append(data.Kept[0].Values, fmt.Sprint("h", row/run))
		if days > 0 {
			data.Time.Values = append(data.Time.Values, fmt.Sprintf("2026-03-%02dT12:%02d:%02d", 1+row%days, row/60%60, row%60))
		}
	}
	data.Group = &data.Kept[0]
	return data
}

// mixed returns simulated rows in an order that mixes the classes.
func mixed(positives, negatives int, seed uint64) *table.Table {
	data := simulated(positives, negatives, seed)
	order := rand.New(rand.NewPCG(seed, 1)).Perm(data.Rows())
	return data.Select(order)
}

// All rows of an entity are on one side of every cut. The calibration rows have both classes, and its units are
// those that the budget counts.
func TestEntitiesAreKeptTogether(t *testing.T) {
	data := hosts(mixed(200, 1800, 3), 4, 0)
	o := linear(t, "--max-fpr 10%", method.Logistic)
	o.Entity, o.Delta, o.TestFraction = "host", threshold.MustRate("10%"), threshold.MustRate("20%")
	f := find(t, data, o)
	side := map[string]string{}
	for name, rows := range map[string][]int{"training": f.Rows, "test": f.TestRows, "calibration": Without(Without(data.Labelled(), f.Rows), f.TestRows)} {
		for _, row := range rows {
			host := data.Kept[0].Values[row]
			if side[host] != "" && side[host] != name {
				t.Fatalf("host %s is in %s and %s", host, side[host], name)
			}
			side[host] = name
		}
	}
	c := f.Threshold.Guarantee
	if !f.Threshold.Certified || f.Calibration.Positives == 0 || f.CalibrationUnits.Rows() >= f.Calibration.Rows() ||
		c.N() != f.CalibrationUnits.Negatives {
		t.Errorf("%+v, %v rows, %v units", f.Threshold, f.Calibration, f.CalibrationUnits)
	}
	// An entity that is a new unit on every day is not independent of itself.
	_, err := Search(t.Context(), Data{Table: hosts(mixed(200, 1800, 3), 4, 2)}, o)
	if d := diag.Of(err); d == nil || d.Kind != diag.Guarantee || !strings.Contains(err.Error(), "host") {
		t.Errorf("a guarantee for entities and days: %v", err)
	}
}

// With a time column the test part has the latest days, although every host is there on all of them.
func TestEntitiesAndDaysAreCutByTime(t *testing.T) {
	data := hosts(mixed(300, 2700, 4), 50, 10)
	o := linear(t, "--max-fpr 10%", method.Logistic)
	o.Entity, o.TestFraction = "host", threshold.MustRate("30%")
	f := find(t, data, o)
	days := map[string]int{}
	for _, row := range f.TestRows {
		days[data.Time.Values[row][:10]]++
	}
	if len(days) != 3 || days["2026-03-08"] == 0 || days["2026-03-10"] == 0 || len(f.TestRows) != 900 {
		t.Errorf("%d test rows on %v", len(f.TestRows), days)
	}
	if f.Test.Ranking.PositiveMass() >= float64(f.TestCounts.Positives) || !f.Units.Daily {
		t.Errorf("%v units of %v", f.Test.Ranking.PositiveMass(), f.TestCounts)
	}
}

// A guarantee about entities: the fraction of fresh negative hosts with an alert is above the budget in at most
// delta of the draws, plus three standard errors.
func TestGuaranteeOfEntities(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: 100 searches")
	}
	const draws, delta, alpha, run = 100, 0.1, 0.1, 4
	fresh := hosts(mixed(40, 19960, 999), run, 0)
	rows := fresh.Labelled()
	units := countedOf(t, fresh, SearchOptions{Entity: "host"})
	violations := 0
	for draw := range draws {
		o := linear(t, "--max-fpr 10%", method.Logistic)
		o.Entity, o.Delta, o.Seed, o.Folds = "host", threshold.MustRate("10%"), uint64(draw+1), 2
		f := find(t, hosts(mixed(60, 1140, uint64(draw)), run, 0), o)
		first, top := units.collapse(fresh, rows, scoresOf(t, f.Map, f.W, f.Offset, fresh))
		above, negatives := 0, 0
		for i, row := range first {
			if fresh.Label[row] == table.Negative {
				negatives++
				if top[i] > f.Threshold.Value {
					above++
				}
			}
		}
		if float64(above) > alpha*float64(negatives) {
			violations++
		}
	}
	t.Logf("%d of %d draws above the budget", violations, draws)
	if allowed := draws*delta + 3*math.Sqrt(draws*delta*(1-delta)); float64(violations) > allowed {
		t.Errorf("%d violations in %d draws, at most %.1f allowed", violations, draws, allowed)
	}
}

// The criterion follows the money: of two columns, each of which finds other positives, it prefers the one that
// finds the large amounts. Without amounts it prefers the one that finds more positives.
func TestCriterionFollowsTheMoney(t *testing.T) {
	z := [2][]float64{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {1, 1, 1, -1}} // finds three small positives
	rich := [2][]float64{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {-1, -1, -1, 1}}
	list := []level{ranking.NP(threshold.MustRate("10%"))}
	for _, amounts := range [][]float64{nil, {1, 1, 1, 100}} {
		n := &counting{amounts: amounts}
		var values []float64
		for _, scores := range [][2][]float64{z, rich} {
			r, err := n.rank(scores[0], scores[1])
			if err != nil {
				t.Fatal(err)
			}
			v, err := meanCriterion(metric.Goal{}, r, list)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, v)
		}
		if (values[1] > values[0]) != (amounts != nil) {
			t.Errorf("amounts %v: %v", amounts, values)
		}
	}
}

// A positive weighs its amount over the mean of the positives, but something; row weights multiply.
func TestWeightsByValue(t *testing.T) {
	data := hostTable()
	data.Kept[1].Values[4] = "0"
	w, err := weightedByValue(data, "money") // positives 10, 0 and 100: mean 110/3
	if err != nil || data.Weight != nil {
		t.Fatal(err, data.Weight)
	}
	mean := 110.0 / 3
	if want := []float64{1, 1, 10 / mean, 1, minValueWeight, 100 / mean}; !slices.Equal(w.Weight, want) {
		t.Errorf("%v, want %v", w.Weight, want)
	}
	data.Weight = []float64{2, 1, 3, 1, 1, 1}
	if w, _ = weightedByValue(data, "money"); w.Weight[0] != 2 || w.Weight[2] != 3*(10/mean) {
		t.Error(w.Weight)
	}
}
