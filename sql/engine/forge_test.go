package engine_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"toptau/certify"
	"toptau/internal/core/simulate"
	"toptau/internal/data/table"
	"toptau/method"
	"toptau/model"
	"toptau/schema"
	"toptau/sql/scan"
	"toptau/sql/servers"
	"toptau/surrogate"
	"toptau/threshold"
)

// TestForgedCertificates verifies true certificates and forged ones in databases. Whatever bound a forged one proves, it must not be above the
// optimum. Forgeries of all kinds run against an imitated database, in the library.
func TestForgedCertificates(t *testing.T) {
	data, err := simulate.New(simulate.Options{Kind: "hepmass", Rows: 600, Seed: 1, Positives: threshold.MustRate("20%")})
	if err != nil {
		t.Fatal(err)
	}
	all := &table.Table{File: "simulated", Columns: make([]table.Column, len(data.Names()))}
	for j, name := range data.Names() {
		all.Columns[j] = table.Column{Name: name, Number: j + 1, Kind: schema.Numeric}
	}
	data.Each(func(i int, row *simulate.Row) bool {
		class := table.Negative
		if row.Positive {
			class = table.Positive
		}
		all.Label, all.Line = append(all.Label, class), append(all.Line, i+1)
		for j, v := range row.Values {
			all.Columns[j].Values = append(all.Columns[j].Values, v)
		}
		return true
	})
	databases(t, func(t *testing.T, d database) {
		e := d.open(t)
		rows, err := scan.Open(t.Context(), e.Dialect, e.Shards, scan.Table{Name: []string{"simulated"}, Key: "k", Label: "y"})
		if err != nil {
			t.Fatal(err)
		}
		there, err := dataOf(t.Context(), rows)
		if err != nil {
			t.Fatal(err)
		}
		r, accepted, forged := rand.New(rand.NewPCG(1, 1)), 0, 0
		for _, p := range []method.Problem{
			{Method: method.PatMatNP, Tau: threshold.MustRate("30%"), Beta: 1, Lambda: 1e-3, Surrogate: surrogate.Hinge.Name()},
			{Method: method.PatMat, Tau: threshold.MustRate("20%"), Beta: 1, Lambda: 1e-3, Surrogate: surrogate.SquaredHinge.Name()},
			{Method: method.TopMeanNP, Tau: threshold.MustRate("30%"), Lambda: 1e-3, Surrogate: surrogate.Hinge.Name()},
		} {
			fitted, err := certify.Fit(t.Context(), there, p, certify.FitOptions{})
			if err != nil {
				t.Fatal(err)
			}
			verify := func(c *model.Certificate) (lower float64, holds bool) {
				v, err := certify.Verify(t.Context(), fitted.Model, there, c, nil)
				if err != nil {
					return 0, false
				}
				return *v.Lower, v.Holds
			}
			if _, holds := verify(fitted.Certificate); !holds {
				t.Errorf("%s: a true certificate does not hold", p.Method)
			}
			for range 30 {
				c := *fitted.Certificate
				forge(r, &c, len(data.Names()))
				forged++
				lower, _ := verify(&c)
				c.LowerBound = lower // what it proves, if it is no more than F
				if _, holds := verify(&c); !holds {
					continue
				}
				accepted++
				if lower > fitted.Certificate.Objective*(1+1e-9) {
					t.Errorf("%s: the bound %v is above the optimum %v", p.Method, lower, fitted.Certificate.Objective)
				}
			}
		}
		t.Logf("%s: %d forged certificates, %d accepted with a true bound", d.name, forged, accepted)
		if accepted == 0 || accepted == forged {
			t.Error("the forgeries show nothing")
		}
	}, servers.FromTable("simulated", "k", "y", all))
}

// forge replaces p or a of a certificate by groups, or adds some.
func forge(r *rand.Rand, c *model.Certificate, cols int) {
	w := &c.A
	mass := 480.0 // negatives, about
	if r.IntN(2) == 0 {
		w, mass = &c.P, 120
	}
	number := func(x float64) *float64 { return &x }
	point := make([]float64, cols)
	for j := range point {
		point[j] = r.NormFloat64()
	}
	value := math.Exp(r.NormFloat64())
	if r.IntN(3) > 0 {
		value = 1
	}
	group := model.DualGroup{Value: value, Rate: 1 / mass}
	f := model.DualWeights{Rows: []int{}, Values: []float64{}, At: point}
	if r.IntN(3) == 0 { // some rows keep their own
		f.Keys, f.Values = w.Keys, w.Values
	}
	switch r.IntN(7) {
	case 0: // the ends exchanged
		group.Value, group.Rate = -group.Value, group.Rate*float64(r.IntN(3)-1)
		group.Slope = -math.Exp(5*r.NormFloat64()) / mass
	case 1: // linear, perhaps of both signs
		group.Slope, group.Origin = r.NormFloat64()/mass, 4*r.NormFloat64()
	case 2: // an origin that cancels
		group.Origin = math.Pow(10, 25*r.Float64())
		group.Slope = -group.Rate / group.Origin
	case 3: // twice
		f.Groups = append(f.Groups, group)
	case 4: // two parts, the higher one with another value
		group.High = number(r.NormFloat64())
		f.Groups = append(f.Groups, group)
		group.Low, group.High, group.Value = group.High, nil, group.Value*r.NormFloat64()
	case 5: // the best rows alone
		group.Low, group.Value = number(2*r.NormFloat64()), value*4*r.Float64()
	}
	f.Groups = append(f.Groups, group)
	if r.IntN(4) == 0 && len(w.Keys) > 0 {
		f.HeldKeys = slices.Clone(w.Keys[:1+r.IntN(len(w.Keys))])
	}
	*w = f
}
