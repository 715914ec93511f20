package toptau_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"toptau"
)

// twoColumns is a table with a number and a category that both carry the class; the number is missing in every 50th row.
func twoColumns(rows int, seed uint64) string {
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

// What the columns add, on average, and the offset add up to the mean score; the strongest column comes first; a scorecard's
// shape has the two tails; each category and the missing value have their own.
func TestExplainColumns(t *testing.T) {
	path := write(t, "rows.csv", twoColumns(3000, 1))
	d := read(t, path, toptau.Format{Label: "y"})
	for _, features := range []string{"raw", "scorecard", "leaves", "scorecard+leaves"} {
		o := toptau.FitOptions{Method: "topmean-np", Tau: "10%", Lambda: 0.001, Features: features, Impute: "indicator"}
		o.Solver, o.Iterations = "adam", 100
		fitted, err := toptau.Fit(context.Background(), d, o)
		if err != nil {
			t.Fatal(err)
		}
		calls := 0
		c, err := toptau.ExplainColumns(context.Background(), fitted.Model, path, toptau.Format{}, func(int) { calls++ })
		if err != nil {
			t.Fatal(err)
		}
		if c.Rows != 3000 || c.Sampled != 3000 || len(c.Columns) != 3 || calls == 0 {
			t.Fatalf("%+v", c)
		}
		sum, rows := 0.0, 0
		_, err = toptau.Score(context.Background(), fitted.Model, path, toptau.ScoreOptions{Explain: true},
			func(*toptau.Scoring) error { return nil }, func(r *toptau.Scored) error {
				sum += r.Offset
				rows++
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
		mean := sum / float64(rows)
		by := map[string]*toptau.ColumnEffect{}
		for i := range c.Columns {
			e := &c.Columns[i]
			by[e.Column] = e
			mean += e.Mean
			if i > 0 && e.Effect > c.Columns[i-1].Effect {
				t.Errorf("%s: %s is stronger than %s", features, e.Column, c.Columns[i-1].Column)
			}
		}
		if math.Abs(mean-c.MeanScore) > 1e-9*math.Abs(c.MeanScore)+1e-9 {
			t.Errorf("%s: the means add up to %v, the mean score is %v", features, mean, c.MeanScore)
		}
		x, kind := by["x"], by["kind"]
		if x.Missing == nil || len(x.Shape) < 20 || len(x.Shape) > 45 || len(kind.Categories) != 3 || kind.Missing != nil {
			t.Fatalf("%s: %+v, %+v", features, x, kind)
		}
		blue, total := 0.0, 0
		for _, v := range kind.Categories {
			total += v.Rows
			if v.Value == "blue" {
				blue = v.Adds
			}
		}
		if total != 3000 || blue <= 0 || !strings.Contains(kind.Words(), `for "blue"`) {
			t.Errorf("%s: %+v", features, kind)
		}
		low, middle, high := x.Shape[0], x.Shape[len(x.Shape)/2], x.Shape[len(x.Shape)-1]
		if tails := low[1] > middle[1] && high[1] > middle[1]; tails != (features != "raw") || low[0] >= high[0] {
			t.Errorf("%s: %v, %v, %v", features, low, middle, high)
		}
		if features == "raw" { // a line: the weight over the scale
			slope := (high[1] - low[1]) / (high[0] - low[0])
			for _, p := range x.Shape {
				if math.Abs(p[1]-low[1]-slope*(p[0]-low[0])) > 1e-6 {
					t.Fatalf("%v is not on the line", p)
				}
			}
		}
	}
}

// Values that many rows share have a point of their own; LIBSVM has effects without shapes.
func TestExplainColumnsOfTiesAndIndices(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range 400 {
		x := 0.0
		if i%2 == 1 {
			x = float64(i)
		}
		fmt.Fprintf(&b, "%v,%d\n", x, (i/2)%2)
	}
	path := write(t, "rows.csv", b.String())
	o := toptau.FitOptions{Method: "toppush", Lambda: 0.1}
	fitted, err := toptau.Fit(context.Background(), read(t, path, toptau.Format{Label: "y"}), o)
	if err != nil {
		t.Fatal(err)
	}
	c, err := toptau.ExplainColumns(context.Background(), fitted.Model, path, toptau.Format{}, nil)
	if err != nil || c.Columns[0].Shape[0][0] != 0 || c.Columns[0].Shape[1][0] <= 1 || len(c.Columns[0].Shape) < 15 {
		t.Errorf("%+v, %v", c, err)
	}
	path = write(t, "rows.svm", "1 1:1 3:2\n-1 1:0.5\n-1 2:1 3:1\n1 1:2\n")
	fitted, err = toptau.Fit(context.Background(), read(t, path, toptau.Format{}), o)
	if err != nil {
		t.Fatal(err)
	}
	c, err = toptau.ExplainColumns(context.Background(), fitted.Model, path, toptau.Format{}, nil)
	if err != nil || len(c.Columns) != 3 || c.Columns[0].Column != "index 1" || len(c.Columns[0].Shape) != 0 ||
		c.Columns[0].Words() != "" {
		t.Errorf("%+v, %v", c, err)
	}
}
