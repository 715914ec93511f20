package toptau_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"toptau"
	"toptau/metric"
	"toptau/model"
	"toptau/threshold"
)

// moved are rows of two columns, positives every tenth, with everything that a later file may have changed.
func moved(rows int, seed uint64, by float64) string {
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

// A saved point with a guarantee is compared with the rows that the model meets: nothing is said of rows like those that
// calibrated it, and other rows are told of by evaluate and, without labels, by score.
func TestLaterRowsAreComparedWithTheCalibration(t *testing.T) {
	d := read(t, write(t, "train.csv", moved(1000, 1, 0)), toptau.Format{Label: "y"})
	fitted, err := toptau.Fit(context.Background(), d, toptau.FitOptions{Method: "topmean-np", Tau: "10%", Lambda: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	held, err := toptau.ReadFor(fitted.Model, write(t, "held.csv", moved(1000, 2, 0)), toptau.Format{})
	if err != nil {
		t.Fatal(err)
	}
	for goal, kind := range map[metric.GoalKind]string{metric.GoalMaxFPR: "max-fpr", metric.GoalTop: "top"} {
		m, _, err := toptau.AddPoint(fitted.Model, held, kind, toptau.ThresholdOptions{
			Goal: metric.Goal{Kind: goal, Rate: threshold.MustRate("5%")}, Delta: threshold.MustRate("5%")})
		if err != nil {
			t.Fatal(err)
		}
		path := t.TempDir() + "/m.json"
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		if m, err = toptau.Load(path); err != nil {
			t.Fatal(err)
		}
		for by, warned := range map[float64]bool{0: false, 0.3: true, -0.3: true} {
			later := write(t, "later.csv", moved(2000, 5, by))
			rows, err := toptau.ReadFor(m, later, toptau.Format{})
			if err != nil {
				t.Fatal(err)
			}
			e, err := toptau.Evaluate(context.Background(), rows, []toptau.Entry{{Model: m}}, toptau.EvaluateOptions{Replicates: 20})
			if err != nil {
				t.Fatal(err)
			}
			point := e.Points[len(e.Points)-1]
			if told := tells(e.Warnings); told != warned || len(point.Shift) != 1 || (point.Shift[0].P < 0.01) != warned {
				t.Errorf("%s moved by %v: %v, %+v", kind, by, e.Warnings, point.Shift)
			}
			s, err := toptau.Score(context.Background(), m, later, toptau.ScoreOptions{At: kind},
				func(*toptau.Scoring) error { return nil }, func(*toptau.Scored) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			if told := tells(s.Warnings); told != warned {
				t.Errorf("%s moved by %v, scored: %v", kind, by, s.Warnings)
			}
		}
	}
	if err := writeReportOf(fitted.Model, held); err != nil { // a point without a guarantee has nothing to compare
		t.Error(err)
	}
}

func tells(warnings []toptau.Warning) bool {
	for _, w := range warnings {
		if w.Code == "calibration-shift" {
			return true
		}
	}
	return false
}

func writeReportOf(m *model.Model, d *toptau.Data) error {
	e, err := toptau.Evaluate(context.Background(), d, []toptau.Entry{{Model: m}}, toptau.EvaluateOptions{Replicates: 20})
	if err != nil {
		return err
	}
	if len(e.Points[0].Shift) != 0 {
		return fmt.Errorf("%+v", e.Points[0].Shift)
	}
	return e.WriteReport(io.Discard)
}
