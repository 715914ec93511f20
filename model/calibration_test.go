package model

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"toptau/calibrate"
	"toptau/internal/core/heldout"
	"toptau/metric"
	"toptau/threshold"
)

// A guarantee keeps its calibration through a file; one that cannot have been a calibration is refused. The
// order of a share of all rows may lie above the number of negatives, and that of a false positive rate may
// not.
func TestGuaranteeKeepsItsCalibration(t *testing.T) {
	z := make([]float64, 400)
	for i := range z {
		z[i] = float64(i) / 7
	}
	goal := metric.RateGoal(metric.GoalTop, "5%")
	sorted, err := heldout.Sort(z, nil, goal.Population())
	if err != nil {
		t.Fatal(err)
	}
	at, err := heldout.For(goal, threshold.MustRate("5%"), sorted)
	if err != nil {
		t.Fatal(err)
	}
	with := func(change func(*calibrate.Guarantee)) (*Model, error) {
		parts := trained(t).Parts()
		g := *at.Guarantee
		g.Negatives = 300
		change(&g)
		p := &parts.Points[0]
		p.Goal, p.Threshold, p.Guarantee = goal, at.Value, &g
		return New(parts)
	}
	m, err := with(func(*calibrate.Guarantee) {})
	if err != nil {
		t.Fatal(err)
	}
	again, err := Read(bytes.NewReader(encoded(t, m)), "m.json")
	if err != nil || !reflect.DeepEqual(again.Points()[0].Guarantee, m.Points()[0].Guarantee) {
		t.Errorf("%+v, %v", again, err)
	}
	for want, change := range map[string]func(*calibrate.Guarantee){
		`kind "max-fpr"`:                      func(g *calibrate.Guarantee) { g.Kind = "max-fpr" },
		"401 negatives among 400":             func(g *calibrate.Guarantee) { g.Negatives = 401 },
		"not the one of the guarantee (order": func(g *calibrate.Guarantee) { g.Calibration = shifted(g.Calibration) },
		"out of order": func(g *calibrate.Guarantee) {
			g.Calibration = &calibrate.Sample{Rows: 3, Above: []int{1, 0}, Scores: []float64{2, 1}}
		},
	} {
		if _, err := with(change); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// shifted returns a sample with other scores.
func shifted(s *calibrate.Sample) *calibrate.Sample {
	other := *s
	other.Scores = nil
	for _, z := range s.Scores {
		other.Scores = append(other.Scores, z+1)
	}
	return &other
}
