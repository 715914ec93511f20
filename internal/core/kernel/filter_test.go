package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// checkFilterTile compares the selection of each model with a loop over its scores, behind entries that are there.
func checkFilterTile(t *testing.T, z []float32, floors []float32, panels, before, offset int) {
	t.Helper()
	models := len(floors)
	const first = 1000
	for _, l := range levels() {
		atLevel(l, func() {
			in := fence(z, offset)
			filters, values, rows := make([]TileFilter, models), make([]fenced[float32], models), make([][]int32, models)
			room := before + panels*PanelRows
			for h := range filters {
				values[h], rows[h] = fence(make([]float32, room), (offset+h)%5), make([]int32, room+1)
				rows[h][room] = -99
				filters[h] = NewTileFilter(floors[h], values[h].x, rows[h][:room], before)
			}
			FilterTile(in.x, filters, first)
			for h := range filters {
				what := fmt.Sprintf("%v, model %d of %d, %d panels", l, h, models, panels)
				wantZ, wantRows := make([]float32, before), make([]int32, before)
				for p := range panels {
					for r, s := range z[(p*models+h)*PanelRows:][:PanelRows] {
						if s > floors[h] {
							wantZ, wantRows = append(wantZ, s), append(wantRows, int32(first+p*PanelRows+r))
						}
					}
				}
				if n := filters[h].Count(); n != len(wantZ) {
					t.Fatalf("%s: %d entries, want %d", what, n, len(wantZ))
				}
				sameBits(t, what, values[h].x[:len(wantZ)], wantZ)
				if !slices.Equal(rows[h][:len(wantRows)], wantRows) {
					t.Fatalf("%s: rows %v, want %v", what, rows[h][:len(wantRows)], wantRows)
				}
				values[h].check(t, what)
				if rows[h][room] != -99 {
					t.Fatalf("%s: wrote behind the rows", what)
				}
			}
		})
	}
}

func TestFilterTileFindsEveryScoreAboveTheFloors(t *testing.T) {
	r := newRand(29)
	for _, models := range []int{1, 2, 5, 16} {
		for _, panels := range []int{0, 1, 3} {
			z, floors := floats32(r, models*panels*PanelRows), make([]float32, models)
			for h := range floors {
				floors[h] = []float32{0, 1e30, float32(math.Inf(1)), float32(math.Inf(-1)), -1, 1}[r.IntN(6)]
			}
			checkFilterTile(t, z, floors, panels, r.IntN(3), r.IntN(7))
			for i := range z { // few
				if r.IntN(40) > 0 {
					z[i] = -2e30
				}
			}
			checkFilterTile(t, z, floors, panels, r.IntN(3), r.IntN(7))
		}
	}
}

// Each of the masks of eight neighbours, at each place of a panel.
func TestFilterTileOfEveryMask(t *testing.T) {
	for mask := range 256 {
		z := make([]float32, 2*PanelRows)
		for i := range z {
			z[i] = -1
			if at := (mask + i/8) % 256; at>>(i%8)&1 == 1 {
				z[i] = float32(i)
			}
		}
		checkFilterTile(t, z, []float32{-0.5}, 2, 0, 0)
	}
}

func TestFilterTileKeepsOrderAndIgnoresTies(t *testing.T) {
	infinity, none := float32(math.Inf(1)), float32(math.NaN())
	z := make([]float32, 4*PanelRows)
	copy(z, []float32{1, 2, float32(math.Copysign(0, -1)), 0, 1e-45, 3, infinity, -infinity, none})
	checkFilterTile(t, z, []float32{0}, 4, 0, 1)
	checkFilterTile(t, z, []float32{1}, 4, 0, 1)
	for i := range z {
		z[i] = -infinity
	}
	z[63], z[64], z[255] = infinity, 1, 2
	checkFilterTile(t, z, []float32{-infinity}, 4, 0, 0)
	checkFilterTile(t, z, []float32{infinity}, 4, 0, 0)
	for i := range z {
		if i%3 > 0 {
			z[i] = none
		}
	}
	checkFilterTile(t, z, []float32{-infinity}, 4, 0, 0)
	checkFilterTile(t, z, []float32{none}, 4, 0, 0)
}

func FuzzFilterTile(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint8(2), uint8(10))
	f.Fuzz(func(t *testing.T, seed uint64, models, panels, few uint8) {
		r := newRand(seed)
		m, p := 1+int(models%40), int(panels%5)
		z, floors := floats32(r, m*p*PanelRows), make([]float32, m)
		for i := range z {
			if r.IntN(1+int(few)) > 0 {
				z[i] = -1
			}
		}
		checkFilterTile(t, z, floors, p, r.IntN(70), r.IntN(9))
	})
}
