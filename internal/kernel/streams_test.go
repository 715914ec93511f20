package kernel

import "testing"

// Runs of different lengths, in turns, must give what each gives alone.
func TestStreamsHaveTheBitsOfEachRun(t *testing.T) {
	r := newRand(10)
	for _, d := range []int{1, 3, 10, 16, 17, 28, 40, 64, 600} {
		counts := []int{5, 0, 9, 1, 8, 9}
		if d == 600 {
			counts = []int{2, 0, 5, 1}
		}
		x := make([][]float32, len(counts))
		v, start := make([][]float64, len(counts)), make([][]float64, len(counts))
		for s, n := range counts {
			x[s], start[s], v[s] = floats32(r, n*d*PanelRows), floats64(r, n*PanelRows), floats64(r, n*PanelRows)
			sparse64(r, v[s], []float64{1, 0.02}[s%2])
		}
		w := floats64(r, d)
		everyLevel(t, func(t *testing.T) {
			z, lanes := make([][]float64, len(counts)), make([][]float64, len(counts))
			for _, add := range []bool{false, true} {
				for s := range counts {
					z[s] = append([]float64(nil), start[s]...)
				}
				ScoreStreams(x, w, z, add)
				for s := range counts {
					want := append([]float64(nil), start[s]...)
					scoreTogether(x[s], w, want, add)
					sameBits(t, shapeName(d, counts[s], s), z[s], want)
				}
			}
			for s := range counts {
				lanes[s] = make([]float64, d*Lanes)
			}
			AccumulateStreams(x, v, lanes)
			for s := range counts {
				want := make([]float64, d*Lanes)
				naiveAccumulate(x[s], v[s], want)
				sameBits(t, shapeName(d, counts[s], s), lanes[s], want)
			}
		})
	}
}

func TestStreamsOfNothing(t *testing.T) {
	z := []float64{63: 1}
	ScoreStreams([][]float32{nil}, nil, [][]float64{z}, true)
	if z[63] != 1 {
		t.Error("adding no features changed the scores")
	}
	ScoreStreams([][]float32{nil}, nil, [][]float64{z}, false)
	if z[63] != 0 {
		t.Error("setting to no features kept the scores")
	}
	ScoreStreams[float32](nil, nil, nil, true)
	AccumulateStreams[float32](nil, nil, nil)
	AccumulateStreams([][]float32{nil}, [][]float64{z}, [][]float64{nil})
}

// Many panels at once are read as several streams.
func TestLongRunsHaveTheBitsOfTheirPanels(t *testing.T) {
	r := newRand(11)
	for _, d := range []int{7, 28, 130} {
		panels := streamBytes/(4*PanelRows*d) + 3
		x, w := floats32(r, panels*d*PanelRows), floats64(r, d)
		want := make([]float64, panels*PanelRows)
		atLevel(levelGo, func() { scoreTogether(x, w, want, false) })
		everyLevel(t, func(t *testing.T) {
			z := fence(make([]float64, len(want)), 3)
			ScorePanels(x, w, z.x, false)
			sameBits(t, shapeName(d, panels, 0), z.x, want)
			z.check(t, "long run")
		})
	}
}
