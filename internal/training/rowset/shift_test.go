package rowset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"toptau/calibrate"
	"toptau/internal/data/table"
	"toptau/internal/tests/modeltest"
	"toptau/method"
	"toptau/metric"
	"toptau/model"
	"toptau/result"
)

// calibratedPoint returns a point with a guarantee of 5 % from n uniform scores.
func calibratedPoint(t testing.TB, r *rand.Rand, n int, kind string) *model.Point {
	t.Helper()
	z := make([]float64, n)
	for i := range z {
		z[i] = modeltest.Uniform(r)
	}
	at := modeltest.ThresholdOfScores(t, z, "5%", "5%")
	return &model.Point{Name: "goal", Threshold: at.Value, Guarantee: &calibrate.Guarantee{Certified: true, Kind: metric.GoalKind(kind),
		Calibration: at.Guarantee.Calibration}}
}

// The comparison raises a false alarm in at most 1 % of the runs, plus three standard errors. Positives score high and are as
// frequent as in training, and the rows have labels or not.
func TestShiftRaisesFewFalseAlarms(t *testing.T) {
	const runs = 400
	training := model.Training{Rows: 1000, Positives: 50}
	for _, labelled := range []bool{false, true} {
		r := rand.New(rand.NewPCG(2, 13))
		alarms := 0
		for range runs {
			watch := NewShiftWatch(calibratedPoint(t, r, 300, "max-fpr"), labelled)
			rows := &table.Table{}
			for row := range 1000 {
				class, z := table.Negative, modeltest.Uniform(r)
				if modeltest.Uniform(r) < 0.05 {
					class, z = table.Positive, 1+modeltest.Uniform(r)
				}
				rows.Label = append(rows.Label, class)
				watch.AddRow(rows, row, z)
			}
			if _, warnings := watch.Reports(training); len(warnings) > 0 {
				alarms++
			}
		}
		most := int(runs*result.ShiftLevel + 3*math.Sqrt(runs*result.ShiftLevel))
		t.Logf("labelled %v: %d of %d runs raise a false alarm, at most %d may", labelled, alarms, runs, most)
		if alarms > most {
			t.Errorf("labelled %v: %d of %d runs raise a false alarm", labelled, alarms, runs)
		}
	}
}

func TestShiftWarnings(t *testing.T) {
	training := model.Training{Rows: 1000, Positives: 50}
	for name, c := range map[string]struct {
		kind     string
		labelled bool
		score    func(r *rand.Rand) float64
		want     []string
	}{
		"negatives score higher": {"max-fpr", true, func(r *rand.Rand) float64 { return modeltest.Uniform(r) + 0.05 },
			[]string{"the guarantee of goal may not hold here", "of the 2,000 rows score above", "of the 1,000 calibration negatives"}},
		"more alerts": {"max-fpr", false, func(r *rand.Rand) float64 { return math.Sqrt(modeltest.Uniform(r)) },
			[]string{"even with 1", "positives are more frequent than in training"}},
		"fewer alerts": {"max-fpr", false, func(r *rand.Rand) float64 { return 0.9 * modeltest.Uniform(r) }, []string{"score above"}},
		"rows":         {"top", false, func(r *rand.Rand) float64 { return modeltest.Uniform(r) + 0.05 }, []string{"calibration rows"}},
	} {
		r := rand.New(rand.NewPCG(3, 13))
		watch := NewShiftWatch(calibratedPoint(t, r, 1000, c.kind), c.labelled)
		rows := &table.Table{Label: make([]table.Class, 2000)}
		for row := range rows.Label {
			rows.Label[row] = table.Negative
			watch.AddRow(rows, row, c.score(r))
		}
		reports, warnings := watch.Reports(training)
		if len(warnings) != 1 || len(reports) != 1 || reports[0].P > result.ShiftLevel {
			t.Errorf("%s: %+v, %+v", name, reports, warnings)
			continue
		}
		for _, want := range c.want {
			if text := warnings[0].Text; !strings.Contains(text, want) {
				t.Errorf("%s: %s", name, text)
			}
		}
		t.Log(warnings[0].Text)
	}
	// Without a guarantee, or with one that keeps no calibration, there is nothing to compare.
	watch := NewShiftWatch(&model.Point{Guarantee: &calibrate.Guarantee{}}, true)
	if reports, warnings := watch.Reports(training); len(reports)+len(warnings) > 0 {
		t.Errorf("%+v, %+v", reports, warnings)
	}
}

// Each segment is compared with its own calibration.
func TestShiftBySegment(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 13))
	p := calibratedPoint(t, r, 1000, "max-fpr")
	p.Guarantee, p.Segment = nil, "site"
	p.Segments = []model.Segment{{Value: "a", Guarantee: calibratedPoint(t, r, 500, "max-fpr").Guarantee},
		{Value: "b", Guarantee: calibratedPoint(t, r, 500, "max-fpr").Guarantee}}
	watch := NewShiftWatch(p, true)
	rows := &table.Table{Segment: &table.Text{Name: "site"}}
	for row := range 3000 {
		site := []string{"a", "b", "c"}[row%3]
		rows.Label = append(rows.Label, table.Negative)
		rows.Segment.Values = append(rows.Segment.Values, site)
		z := modeltest.Uniform(r)
		if site != "a" {
			z += 0.1
		}
		watch.AddRow(rows, row, z)
	}
	reports, warnings := watch.Reports(model.Training{})
	if len(reports) != 2 || len(warnings) != 1 || *reports[1].Segment != "b" || !strings.Contains(warnings[0].Text, `segment "b"`) {
		t.Errorf("%+v, %+v", reports, warnings)
	}
}

func TestMaxPositives(t *testing.T) {
	for _, c := range []struct {
		training model.Training
		want     int
	}{
		{model.Training{}, 100}, {model.Training{Rows: 10}, 0}, {model.Training{Rows: 10, Positives: 10}, 100},
		{model.Training{Rows: 2, Positives: 1}, 63}, // P(Bin(100, 1/2) >= 64) = 0.0033, of 63: 0.006
	} {
		if got := maxPositives(100, c.training, 0.005); got != c.want {
			t.Errorf("%+v: %d, want %d", c.training, got, c.want)
		}
	}
}

// A warning reports calibration scores that change over time. It needs times.
func TestCalibrationOverTime(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 13))
	for _, drift := range []float64{0, 0.4} {
		rows := &table.Table{Time: &table.Text{Name: "day"}}
		var z []float64
		for row := range 600 {
			rows.Line = append(rows.Line, row+2)
			class, score := table.Negative, modeltest.Uniform(r)+drift*float64(row)/600
			if row%4 == 0 {
				class, score = table.Positive, float64(row) // changes of the positives do not matter
			}
			rows.Label = append(rows.Label, class)
			rows.Time.Values = append(rows.Time.Values, fmt.Sprint(row))
			z = append(z, score)
		}
		report, warning, err := CalibrationOverTime(rows, z, method.Negatives)
		if err != nil || len(report.Blocks) != 5 || report.Blocks[0].Rows != 90 || (warning != nil) != (drift > 0) {
			t.Errorf("drift %v: %+v, %+v, %v", drift, report, warning, err)
		}
		if warning != nil {
			t.Log(warning.Text)
		}
		if report, warning, err := CalibrationOverTime(rows, z, method.AllRows); err != nil || report.P > result.ShiftLevel || warning == nil {
			t.Errorf("all rows: %+v, %+v, %v", report, warning, err)
		}
		rows.Time = nil
		if report, _, _ := CalibrationOverTime(rows, z, method.Negatives); report != nil {
			t.Error("a trend without times")
		}
	}
}
