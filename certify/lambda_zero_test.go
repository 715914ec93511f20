package certify_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"toptau/certify"
	"toptau/dataset"
	"toptau/internal/tests/modeltest"
	"toptau/method"
	"toptau/schema"
	"toptau/surrogate"
	"toptau/threshold"
)

// smallTables are tables on which w = 0 is an optimum of many methods without regularisation, or almost.
var smallTables = []string{
	"x,y\n-4,1\n-4,0\n-1,0\n2,0\n-4,0\n",
	"x,y\n" + strings.Repeat("0,0\n1,0\n2,0\n3,0\n4,0\n", 39) + "0,0\n1,0\n2,0\n3,0\n5,0\n" + strings.Repeat("5,1\n", 20), // all positives equal the highest negative
}

// randomTable writes a table with few rows, ties, constant columns, duplicates, separable classes, or positives that all equal
// the most extreme negative.
func randomTable(r *rand.Rand) string {
	rows, columns := 3+r.IntN(30), 1+r.IntN(4)
	values := 2 + r.IntN(7) // distinct values of a column
	constant := r.IntN(6) == 0
	x, positive := make([][]float64, rows), make([]bool, rows)
	for i := range x {
		x[i] = make([]float64, columns)
		positive[i] = i == 0 || i > 2 && r.IntN(4) == 0
		for j := range x[i] {
			x[i][j] = float64(r.IntN(values)) - 4
			if r.IntN(3) == 0 && values > 6 {
				x[i][j] = r.NormFloat64()
			}
			if constant && j == 0 && columns > 1 {
				x[i][j] = 7
			}
		}
	}
	kind := r.IntN(5)
	for i := range x {
		switch {
		case kind == 1 && positive[i]: // separable
			x[i][columns-1] += 100
		case kind == 2 && positive[i]: // equal to a negative
			copy(x[i], x[1])
		case kind == 3 && i > 2: // duplicates of the first three
			copy(x[i], x[i%3])
			positive[i] = i%3 == 0
		}
	}
	if kind == 2 { // the negative is the most extreme one
		for i := range x {
			x[1][0] = max(x[1][0], x[i][0])
		}
		for i := range x {
			if positive[i] {
				copy(x[i], x[1])
			}
		}
	}
	x[2][columns-1] = x[1][columns-1] - 1 // no table is all constant
	var b strings.Builder
	for j := range columns {
		fmt.Fprintf(&b, "x%d,", j)
	}
	b.WriteString("y\n")
	for i := range x {
		for _, v := range x[i] {
			fmt.Fprintf(&b, "%g,", v)
		}
		label := 0
		if positive[i] {
			label = 1
		}
		fmt.Fprintf(&b, "%d\n", label)
	}
	return b.String()
}

// TestWithoutRegularisation diagnoses small tables and fits them at lambda = 0. No call fails, all certificates hold, and where the
// positives equal the highest negative w = 0 is the answer.
func TestWithoutRegularisation(t *testing.T) {
	r := rand.New(rand.NewPCG(29, 2))
	tables, count := smallTables, modeltest.IfLong(60, 200)
	if testing.Short() {
		count = 20
	}
	for range count {
		tables = append(tables, randomTable(r))
	}
	tau := threshold.MustRate("0.2")
	problems := []method.Problem{{Method: method.TopPush}, {Method: method.TopPushK, K: 2}, {Method: method.TopMean, Tau: tau},
		{Method: method.TopMeanNP, Tau: tau}, {Method: method.PatMat, Tau: tau, Beta: 1}, {Method: method.PatMatNP, Tau: tau, Beta: .3}}
	for k, table := range tables {
		d, err := dataset.ReadFrom(t.Context(), strings.NewReader(table), schema.Format{Label: "y", Positive: []string{"1"}})
		if err != nil {
			t.Fatalf("%v\n%s", err, table)
		}
		if _, err := certify.Diagnose(t.Context(), d, certify.DiagnoseOptions{}); err != nil {
			t.Errorf("diagnose: %v\n%s", err, table)
		}
		for _, p := range problems {
			for _, s := range []surrogate.Surrogate{surrogate.Hinge, surrogate.SquaredHinge} {
				p.Surrogate = s.Name()
				f, err := certify.Fit(t.Context(), d, p, certify.FitOptions{})
				if err != nil {
					t.Errorf("%s, %s: %v\n%s", p.Method, p.Surrogate, err, table)
					continue
				}
				v, err := certify.Verify(t.Context(), f.Model, d, f.Certificate, nil)
				if err != nil {
					t.Errorf("%s, %s: %v\n%s", p.Method, p.Surrogate, err, table)
				} else if !v.Holds {
					t.Errorf("%s, %s: |w| %g, %v\n%s", p.Method, p.Surrogate, f.Result.NormW, v.Reasons, table)
				}
				if zero := f.Result.ZeroIsOptimal; k < len(smallTables) && p.Method == method.TopPush && (zero == nil || !*zero || f.Result.NormW != 0) {
					t.Errorf("%s, %s: |w| %g, w = 0 is optimal: %v\n%s", p.Method, p.Surrogate, f.Result.NormW, zero, table)
				}
			}
		}
	}
}
