package trial

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"toptau"
	"toptau/dataset"
	"toptau/measure"
	"toptau/metric"
)

// DrawnRows returns rows of three numbers, a tenth of them positive.
func DrawnRows(rows int, seed uint64) dataset.Rows {
	r := rand.New(rand.NewPCG(seed, 51))
	data := dataset.Rows{Columns: []string{"a", "b", "c"}}
	for range rows {
		x := []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
		positive := r.IntN(10) == 0
		if positive {
			x[0] += 1.5
		}
		data.Numbers, data.Positive = append(data.Numbers, x), append(data.Positive, positive)
		data.Weight = append(data.Weight, 1+r.Float64())
	}
	return data
}

// Copied returns the rows with each a number of times, with and without weights.
func Copied(t testing.TB, rows dataset.Rows, weighted bool, times func(row int) int) *dataset.Data {
	t.Helper()
	out := dataset.Rows{Columns: rows.Columns}
	for i := range rows.Positive {
		for range times(i) {
			out.Numbers, out.Positive = append(out.Numbers, rows.Numbers[i]), append(out.Positive, rows.Positive[i])
			if weighted {
				out.Weight = append(out.Weight, rows.Weight[i])
			}
		}
	}
	d, err := out.Data()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func Once(int) int { return 1 }

// Overlapping returns a table with overlapping classes. Every fifth row is positive.
func Overlapping(rows int, seed uint64) string {
	random := rand.New(rand.NewPCG(seed, 0))
	number := func() float64 { return float64(random.Uint64()>>11) / (1 << 53) }
	var b strings.Builder
	b.WriteString("a,b,y\n")
	for i := range rows {
		y := 0
		if i%5 == 0 {
			y = 1
		}
		fmt.Fprintf(&b, "%v,%v,%d\n", number()+0.6*float64(y), number()*3, y)
	}
	return b.String()
}

// EvaluateEntries measures entries with a goal of 10 % false alarms.
func EvaluateEntries(t *testing.T, d *dataset.Data, o measure.Options, entries ...dataset.Entry) *measure.Evaluation {
	t.Helper()
	if o.Goal == (metric.Goal{}) {
		o.Goal = toptau.MaxFPR("10%")
	}
	e, err := measure.Evaluate(t.Context(), d, entries, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TwoColumns returns a table with a number and a category that both depend on the class. The number is missing in every 50th row.
func TwoColumns(rows int, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 0))
	number := func() float64 { return float64(r.Uint64()>>11) / (1 << 53) }
	var b strings.Builder
	b.WriteString("x,noise,kind,y\n")
	for i := range rows {
		y, kind := 0, []string{"red", "green", "green"}[r.IntN(3)]
		x := fmt.Sprint(number()*2 - 1)
		if i%10 == 0 {
			y = 1
			x = fmt.Sprint(2 * (number()*2 - 1)) // both tails
			if number() < 0.5 {
				kind = "blue"
			}
		}
		if i%50 == 7 {
			x = ""
		}
		fmt.Fprintf(&b, "%s,%v,%s,%d\n", x, number(), kind, y)
	}
	return b.String()
}

// ShiftedRows returns rows of two columns, one of which is shifted. Every tenth row is positive.
func ShiftedRows(rows int, seed uint64, by float64) string {
	random := rand.New(rand.NewPCG(seed, 0))
	number := func() float64 { return float64(random.Uint64()>>11) / (1 << 53) }
	var b strings.Builder
	b.WriteString("a,b,y\n")
	for i := range rows {
		y := 0
		if i%10 == 0 {
			y = 1
		}
		fmt.Fprintf(&b, "%v,%v,%d\n", number()+0.6*float64(y)+by, number()*3, y)
	}
	return b.String()
}

// RiskRows returns the text of labelled rows with a score: positives are two standard deviations higher.
func RiskRows(seed uint64, rows int, prevalence float64) string {
	r := rand.New(rand.NewPCG(seed, 31))
	var b strings.Builder
	b.WriteString("y,score\n")
	for range rows {
		y, z := 0, r.NormFloat64()
		if r.Float64() < prevalence {
			y, z = 1, z+2.5
		}
		fmt.Fprintf(&b, "%d,%.3f\n", y, z)
	}
	return b.String()
}

// DayRows returns 60 rows of five hosts on three days. The score is the row's place; every sixth row is positive.
func DayRows() string {
	var b strings.Builder
	b.WriteString("score,host,when,amount,kind,y\n")
	for i := range 60 {
		y, kind := 0, "benign"
		if i%6 == 5 {
			y, kind = 1, []string{"scan", "flood"}[i/6%2]
		}
		if i == 3 || i == 9 {
			kind = fmt.Sprint("rare", i)
		}
		fmt.Fprintf(&b, "%d,h%d,2026-03-0%dT12:00:%02d,%d,%s,%d\n", i, i%5, 1+i/20, i, 10*i, kind, y)
	}
	return b.String()
}
