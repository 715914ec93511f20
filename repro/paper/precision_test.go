package paper

import (
	"math"
	"strings"
	"testing"

	"toptau/internal/core/ranking"
)

func ptauOf(name string, xy ...float64) NamedCurve {
	var c ranking.Curve
	for i := 0; i < len(xy); i += 2 {
		c.Points = append(c.Points, ranking.Point{X: xy[i], Y: xy[i+1]})
	}
	return NamedCurve{name, c}
}

func TestPrecisionAt(t *testing.T) {
	c := ptauOf("x", 0.005, 1, 0.01, 0.5, 0.2, 0.25, 1, 0.1).Curve
	for tau, want := range map[float64]float64{0.005: 1, 0.007: 1, 0.01: 0.5, 0.19: 0.5, 0.5: 0.25, 1: 0.1} {
		if y := precisionAt(c, tau); y != want {
			t.Errorf("at %g: %g, want %g", tau, y, want)
		}
	}
	if y := precisionAt(c, 0.001); !math.IsNaN(y) {
		t.Errorf("less than a row on top: %g", y)
	}
}

// Each observation is counted, and ties do not make Pat&Mat the best.
func TestPTauObservations(t *testing.T) {
	d := drawnSet{set: &Set{Name: "a set"}, ptau: []NamedCurve{
		ptauOf("Pat&Mat", 0.001, 0.5, 0.1, 0.6, 0.3, 0.4, 0.5, 0.2),
		ptauOf("TopPushK", 0.001, 1, 0.1, 0.5, 0.3, 0.4, 0.5, 0.3),
		ptauOf("Pat&Mat-NP", 0.001, 1, 0.1, 0.6, 0.3, 0.3, 0.5, 0.2)}}
	list := ptauObservations([]drawnSet{d})
	for i, want := range []string{"alone has the highest precision in 0 of 3, and both share it in 1 (", "on 1 of 1 sets", "for 2 of 3 curves"} {
		if !strings.Contains(list[i].result, want) {
			t.Errorf("%q does not contain %q", list[i].result, want)
		}
	}
	d.ptau[1] = ptauOf("TopPushK", 0.001, 0.1, 0.1, 0.5)
	if got := ptauObservations([]drawnSet{d})[1].result; !strings.Contains(got, "on 0 of 1 sets") {
		t.Errorf("%q", got)
	}
}
