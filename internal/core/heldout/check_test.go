package heldout

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"toptau/calibrate"
	"toptau/metric"
	"toptau/threshold"
)

// Every threshold that the rules give passes, and each of its numbers, when changed, does not.
func TestClaims(t *testing.T) {
	for _, alpha := range []string{"1/3", "10%", "5%", "1%", "0.25%"} {
		for _, delta := range []string{"1/2", "5%", "1%", "1e-6"} {
			for _, n := range []int{1, 2, 58, 59, 299, 300, 1000, 4567} {
				z := make([]float64, n)
				for i := range z {
					z[i] = float64(i/3) - 7
				}
				for _, absolute := range []bool{false, true} {
					name := fmt.Sprintf("alpha %s, delta %s, n %d, absolute %v", alpha, delta, n, absolute)
					goal := maxFPR(alpha)
					if absolute {
						goal = metric.Goal{Kind: metric.GoalAbsoluteTop}
					}
					at, err := thresholdOf(z, goal, delta)
					if at.Guarantee == nil {
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					c := *at.Guarantee
					if value, kept, err := Check(&c); err != nil || !kept || value != at.Value {
						t.Fatalf("%s: %v, %v, %v; the threshold is %v", name, value, kept, err, at.Value)
					}
					for what, edit := range map[string]func(*calibrate.Guarantee){
						"order + 1":      func(c *calibrate.Guarantee) { c.Order++ },
						"order - 1":      func(c *calibrate.Guarantee) { c.Order-- },
						"n + 1":          func(c *calibrate.Guarantee) { c.Negatives++ },
						"n / 2":          func(c *calibrate.Guarantee) { c.Negatives /= 2 },
						"bound":          func(c *calibrate.Guarantee) { c.Bound *= 1 - 1e-6 },
						"bound NaN":      func(c *calibrate.Guarantee) { c.Bound = math.NaN() },
						"delta / 1000":   func(c *calibrate.Guarantee) { c.Delta = threshold.MustRate("5e-9") },
						"no delta":       func(c *calibrate.Guarantee) { c.Delta = threshold.Rate{} },
						"alpha":          func(c *calibrate.Guarantee) { c.Rate = threshold.MustRate("0.1%") },
						"rows of sample": func(c *calibrate.Guarantee) { s := *c.Calibration; s.Rows++; c.Calibration = &s },
						"other sample": func(c *calibrate.Guarantee) {
							c.Calibration = &calibrate.Sample{Rows: n, Above: []int{n}, Scores: []float64{1}}
						},
					} {
						edited := c
						edit(&edited)
						if _, _, err := Check(&edited); err == nil && !reflect.DeepEqual(edited, c) {
							t.Errorf("%s: %s passes", name, what)
						}
					}
					// Without the number of scores, the order and the bound give it.
					if !absolute {
						c.Kind, c.Negatives, c.Calibration = metric.GoalTop, 0, nil
						if _, _, err := Check(&c); err != nil {
							t.Errorf("%s, without n: %v", name, err)
						}
						if c.Bound /= 1.5; c.Bound > 0 {
							if _, _, err := Check(&c); err == nil {
								t.Errorf("%s, without n: another bound passes", name)
							}
						}
					}
				}
			}
		}
	}
}

// A few bytes do not ask for hours of work. The limit is generous: this is no benchmark, it ends a test that
// would hang.
func TestClaimsOfManyRows(t *testing.T) {
	done := make(chan string)
	go func() {
		var errs []string
		for _, n := range []int{maxClaimed, maxClaimed + 1, math.MaxInt64} {
			c := calibrate.Guarantee{Kind: metric.GoalMaxFPR, Rate: threshold.MustRate("1/2"), Delta: threshold.MustRate("1/2"), Negatives: n, Order: n / 2, Bound: 0.5}
			_, _, err := Check(&c)
			errs = append(errs, fmt.Sprint(err))
		}
		done <- strings.Join(errs, "; ")
	}()
	select {
	case text := <-done:
		if strings.Contains(text, "<nil>") {
			t.Error(text)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("no answer")
	}
}
