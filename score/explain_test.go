package score_test

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"toptau/internal/models/feature"
	"toptau/internal/tests/trial"
	"toptau/method"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
	"toptau/score"
	"toptau/threshold"
)

// explainFile opens a file and explains its columns.
func explainFile(t *testing.T, m *model.Model, path string, o score.ExplainOptions) *result.Columns {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c, err := score.Explain(t.Context(), m, f, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The mean contributions of the columns and the offset add up to the mean score. The strongest column comes first. A scorecard
// shows both tails. Categories and the missing value have contributions of their own.
func TestExplain(t *testing.T) {
	if testing.Short() {
		t.Skip("trains several models")
	}
	path := trial.WriteFile(t, "rows.csv", trial.TwoColumns(3000, 1))
	d := trial.ReadFile(t, path, schema.Format{Label: "y"})
	for _, encoding := range feature.Encodings() {
		problem := trial.ShortAdam(method.Problem{Method: method.TopMeanNP, Tau: threshold.MustRate("10%"), Lambda: 0.001}, 100)
		problem.Encoding, problem.Impute = encoding, schema.ImputeIndicator
		m := trial.FitData(t, d, problem).Model
		calls := 0
		c := explainFile(t, m, path, score.ExplainOptions{Progress: func(int) { calls++ }})
		if c.Rows != 3000 || c.Sampled != 3000 || len(c.Columns) != 3 || calls == 0 {
			t.Fatalf("%+v", c)
		}
		rows, _ := trial.ScoreAll(t, m, path, score.Options{Explain: true})
		sum := 0.0
		for i := range rows {
			e := rows[i].Explanation
			sum += e.Offset
			total, magnitude := e.Offset, math.Abs(e.Offset)
			for _, r := range e.Reasons {
				total += r.Adds
				magnitude += math.Abs(r.Adds)
			}
			if total+e.Rounding != rows[i].Score || e.Score != rows[i].Score || math.Abs(e.Rounding) >= 1e-12*magnitude {
				t.Fatalf("%s, row %d: reasons of %v and rounding of %v for a score of %v", encoding, i+1, total, e.Rounding, rows[i].Score)
			}
		}
		mean := sum / float64(len(rows))
		by := map[string]*result.ColumnEffect{}
		for i := range c.Columns {
			e := &c.Columns[i]
			by[e.Column] = e
			mean += e.Mean
			if i > 0 && e.Effect > c.Columns[i-1].Effect {
				t.Errorf("%s: %s is stronger than %s", encoding, e.Column, c.Columns[i-1].Column)
			}
		}
		if math.Abs(mean-c.MeanScore) > 1e-9*math.Abs(c.MeanScore)+1e-9 {
			t.Errorf("%s: the means add up to %v, the mean score is %v", encoding, mean, c.MeanScore)
		}
		x, kind := by["x"], by["kind"]
		if x.Missing == nil || len(x.Shape) < 20 || len(x.Shape) > 45 || len(kind.Categories) != 3 || kind.Missing != nil {
			t.Fatalf("%s: %+v, %+v", encoding, x, kind)
		}
		blue, total := 0.0, 0
		for _, v := range kind.Categories {
			total += v.Rows
			if v.Value == "blue" {
				blue = v.Adds
			}
		}
		if total != 3000 || blue <= 0 || !strings.Contains(kind.String(), `for "blue"`) {
			t.Errorf("%s: %+v", encoding, kind)
		}
		low, middle, high := x.Shape[0], x.Shape[len(x.Shape)/2], x.Shape[len(x.Shape)-1]
		if tails := low[1] > middle[1] && high[1] > middle[1]; tails != (encoding != schema.Raw) || low[0] >= high[0] {
			t.Errorf("%s: %v, %v, %v", encoding, low, middle, high)
		}
		if encoding == schema.Raw { // a line, whose slope is the weight over the scale
			slope := (high[1] - low[1]) / (high[0] - low[0])
			for _, p := range x.Shape {
				if math.Abs(p[1]-low[1]-slope*(p[0]-low[0])) > 1e-6 {
					t.Fatalf("%v is not on the line", p)
				}
			}
		}
	}
}

// Values that many rows share are points of their own. Indices of LIBSVM have effects without shapes.
func TestExplainTiesAndIndices(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range 400 {
		x := 0.0
		if i%2 == 1 {
			x = float64(i)
		}
		fmt.Fprintf(&b, "%v,%d\n", x, (i/2)%2)
	}
	path := trial.WriteFile(t, "rows.csv", b.String())
	fitted := trial.FitData(t, trial.ReadFile(t, path, schema.Format{Label: "y"}), trial.FitCase{Problem: trial.TopPush(0.1)})
	c := explainFile(t, fitted.Model, path, score.ExplainOptions{})
	if c.Columns[0].Shape[0][0] != 0 || c.Columns[0].Shape[1][0] <= 1 || len(c.Columns[0].Shape) < 15 {
		t.Errorf("%+v", c)
	}
	path = trial.WriteFile(t, "rows.svm", "1 1:1 3:2\n-1 1:0.5\n-1 2:1 3:1\n1 1:2\n")
	fitted = trial.FitData(t, trial.ReadFile(t, path, schema.Format{}), trial.FitCase{Problem: trial.TopPush(0.1)})
	c = explainFile(t, fitted.Model, path, score.ExplainOptions{})
	if len(c.Columns) != 3 || c.Columns[0].Column != "index 1" || len(c.Columns[0].Shape) != 0 ||
		c.Columns[0].String() != "" {
		t.Errorf("%+v", c)
	}
}
