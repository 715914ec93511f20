package toptau_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"toptau"
	"toptau/diag"
	"toptau/internal/tests/trial"
	"toptau/method"
	"toptau/schema"
	"toptau/threshold"
)

// With a label delay, the rows of the delay before the test part are in no part of the training.
func TestLabelDelay(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	const days, perDay = 80, 20
	for _, layout := range []string{time.DateOnly, ""} {
		var text strings.Builder
		text.WriteString("at,x,y\n")
		for i := range days * perDay {
			day := time.Unix(1.7e9, 0).UTC().Truncate(24*time.Hour).AddDate(0, 0, i/perDay)
			at := day.Format(layout)
			if layout == "" {
				at = fmt.Sprint(day.Unix() * 1000)
			}
			y := 0
			if random.IntN(8) == 0 {
				y = 1
			}
			fmt.Fprintf(&text, "%s,%.3f,%d\n", at, random.NormFloat64()+2*float64(y), y)
		}
		d := trial.ReadFile(t, trial.WriteFile(t, "f.csv", text.String()), schema.Format{Label: "y", Time: "at"})
		o := toptau.TrainOptions{Method: []method.Name{method.Logistic}, Encoding: []schema.Encoding{schema.Raw}, TestFraction: threshold.MustRate("25%")}
		rows := func() int {
			trained, err := toptau.Train(t.Context(), d, toptau.MaxFPR("10%"), o)
			if err != nil {
				t.Fatal(err)
			}
			r := &trained.Result
			if r.Test.Rows != days*perDay/4 {
				t.Errorf("%d test rows", r.Test.Rows)
			}
			if left := slices.ContainsFunc(r.Warnings, func(w diag.Warning) bool {
				return w.Code == "label-delay" && strings.HasPrefix(w.Text, "200 rows of the label delay")
			}); left != (o.LabelDelay > 0) {
				t.Errorf("delay %v: warnings %v", o.LabelDelay, r.Warnings)
			}
			n := r.Training.Rows
			if r.Calibration != nil {
				n += r.Calibration.Rows
			}
			return n
		}
		if n := rows(); n != 60*perDay {
			t.Errorf("%d rows without a delay", n)
		}
		if err := o.LabelDelay.UnmarshalText([]byte("10.5d")); err != nil {
			t.Fatal(err)
		}
		// The test part begins with day 60, so labels of day 49 are known then, and those of day 50 are not.
		if n := rows(); n != 50*perDay {
			t.Errorf("%d rows with a delay", n)
		}
		o.LabelDelay = schema.Delay(70 * 24 * time.Hour)
		if _, err := toptau.Train(t.Context(), d, toptau.MaxFPR("10%"), o); err == nil {
			t.Error("no rows are left, and it trains")
		}
	}
	var delay schema.Delay
	for _, text := range []string{"", "d", "-3d", "30", "1e9w", "30 days"} {
		if delay.UnmarshalText([]byte(text)) == nil {
			t.Errorf("%q is a delay of %v", text, time.Duration(delay))
		}
	}
	d := trial.ReadFile(t, trial.WriteFile(t, "f.csv", "n,x,y\n1,1,0\n2,2,1\n3,1,0\n4,2,1\n5,1,0\n6,2,1\n"), schema.Format{Label: "y", Time: "n"})
	_, err := toptau.Train(t.Context(), d, toptau.MaxFPR("10%"), toptau.TrainOptions{LabelDelay: schema.Delay(time.Hour)})
	if e := diag.Of(err); e == nil || e.Expected != "a date, or seconds since 1970, for the label delay" || e.Line != 2 {
		t.Errorf("numbers that are no times: %v", err)
	}
	plain := trial.ReadFile(t, trial.WriteFile(t, "f.csv", "x,y\n1,0\n2,1\n"), schema.Format{Label: "y"})
	_, err = toptau.Train(t.Context(), plain, toptau.MaxFPR("10%"), toptau.TrainOptions{LabelDelay: schema.Delay(time.Hour)})
	if e := diag.Of(err); e == nil || e.Param != "label-delay" {
		t.Errorf("without a time column: %v", err)
	}
}
