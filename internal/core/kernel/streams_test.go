package kernel

import (
	"math/rand/v2"
	"testing"
)

// checkStreams computes runs of different lengths in turns: each must have the bits it has alone.
func checkStreams(t *testing.T, r *rand.Rand, d int, counts []int) {
	t.Helper()
	x := make([][]float32, len(counts))
	start := make([][]float64, len(counts))
	for s, n := range counts {
		x[s], start[s] = floats32(r, n*d*PanelRows), floats64(r, n*PanelRows)
	}
	w := floats64(r, d)
	for _, l := range levels() {
		atLevel(l, func() {
			z := make([][]float64, len(counts))
			for _, add := range []bool{false, true} {
				for s := range counts {
					z[s] = append([]float64(nil), start[s]...)
				}
				ScoreStreams(x, w, z, add)
				for s := range counts {
					want := append([]float64(nil), start[s]...)
					if !add {
						clear(want)
					}
					naiveScores(x[s], w, want)
					sameBits(t, l.String()+" "+shapeName(d, counts[s], s), z[s], want)
				}
			}
		})
	}
}

func TestStreamsHaveTheBitsOfEachRun(t *testing.T) {
	r := newRand(10)
	for _, d := range []int{1, 3, 10, 16, 17, 28, 40, 64} {
		checkStreams(t, r, d, []int{5, 0, 9, 1, 8, 9, 2})
	}
	checkStreams(t, r, 600, []int{2, 0, 5, 1})
	checkStreams(t, r, 20, []int{3})
}

func FuzzStreams(f *testing.F) {
	f.Add(uint64(1), uint16(10), uint8(3), uint8(0), uint8(7))
	f.Add(uint64(2), uint16(600), uint8(1), uint8(5), uint8(2))
	f.Fuzz(func(t *testing.T, seed uint64, d uint16, first, second, third uint8) {
		counts := []int{int(first) % 9, int(second) % 9, int(third) % 9, int(first^third) % 9}
		checkStreams(t, newRand(seed), 1+int(d)%700, counts)
	})
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
}

// Many panels at once are read as several streams.
func TestLongRunsHaveTheBitsOfTheirPanels(t *testing.T) {
	r := newRand(11)
	for _, d := range []int{7, 28, 130} {
		panels := streamBytes/(4*PanelRows*d) + 3
		x, w := floats32(r, panels*d*PanelRows), floats64(r, d)
		want := make([]float64, panels*PanelRows)
		atLevel(levelGo, func() { scoreInOrder(x, w, want, false) })
		everyLevel(t, func(t *testing.T) {
			z := fence(make([]float64, len(want)), 3)
			ScorePanels(x, w, z.x, false)
			sameBits(t, shapeName(d, panels, 0), z.x, want)
			z.check(t, "long run")
		})
	}
}
