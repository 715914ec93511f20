package kernel

import (
	"syscall"
	"testing"
	"unsafe"
)

// guarded returns n values behind which, or before which, lies memory that may not be touched.
func guarded[T any](t *testing.T, n int, atEnd bool) []T {
	t.Helper()
	page := syscall.Getpagesize()
	var zero T
	bytes := n * int(unsafe.Sizeof(zero))
	size := (bytes + page - 1) / page * page
	all, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skip("no memory to guard: ", err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(all) })
	for _, edge := range [][]byte{all[:page], all[page+size:]} {
		if err := syscall.Mprotect(edge, syscall.PROT_NONE); err != nil {
			t.Skip("memory cannot be guarded: ", err)
		}
	}
	first := page
	if atEnd {
		first += size - bytes
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&all[first])), n)
}

// No kernel reads or writes outside its arguments: it would end the test with a fault.
func TestNothingOutsideIsTouched(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for _, atEnd := range []bool{false, true} {
			for _, d := range []int{1, 3, 10, 67} {
				const panels, models = 3, 7
				rows := panels * PanelRows
				x, y := guarded[float32](t, d*rows, atEnd), guarded[float64](t, d*rows, atEnd)
				w, z, v := guarded[float64](t, d, atEnd), guarded[float64](t, rows, atEnd), guarded[float64](t, rows, atEnd)
				lanes, g := guarded[float64](t, d*Lanes, atEnd), guarded[float64](t, d*models, atEnd)
				ScorePanels(x, w, z, true)
				ScorePanels(y, w, z, false)
				v[70], v[len(v)-1] = 1, 1
				for i := range PanelRows {
					v[i] = 1
				}
				AccumulatePanels(x, v, lanes)
				AccumulatePanels(y, v, lanes)
				ReduceLanes(lanes, g[:d])

				wt, zt := guarded[float32](t, d*models, atEnd), guarded[float32](t, rows*models, atEnd)
				tiles := guarded[float32](t, d*models*TileLanes, atEnd)
				ScoreTile(x, wt, models, zt, true)
				for i := range zt {
					zt[i] = 1
				}
				AccumulateTile(x, zt, models, tiles)
				ReduceTile(tiles, g)
				AccumulateTileRow(x[(panels-1)*d*PanelRows:], PanelRows-1, 1, models, models-1, tiles)
				var sums [TileLanes]float64
				Hinge{1, 0, 2}.Panels(zt[(models-1)*PanelRows:], models*PanelRows, panels, &sums)

				singles := guarded[float32](t, rows, atEnd)
				for i := range singles {
					singles[i] = 1
				}
				filters := []TileFilter{NewTileFilter(0, guarded[float32](t, rows, atEnd), guarded[int32](t, rows, atEnd), 0)}
				FilterTile(singles, filters, 0)
				if n := filters[0].Count(); n != rows {
					t.Errorf("%d rows, want %d", n, rows)
				}

				table, named := guarded[float32](t, d*models, atEnd), guarded[uint16](t, rows, atEnd)
				for i := range named {
					named[i] = uint16(d - 1 - i/70*i%d)
				}
				AddEntries(named, table, models, zt)
				SumEntries(named, zt, models, guarded[float64](t, d*models*EntryLanes, atEnd))
				JoinScores(z, zt[:rows], PanelRows)
				guardedCodes[uint8](t, d, rows, atEnd)
				guardedCodes[uint16](t, d, rows, atEnd)
			}
		}
	})
}

func guardedCodes[C Code](t *testing.T, groups, rows int, atEnd bool) {
	start := guarded[int32](t, groups+1, atEnd)
	for g := range groups {
		start[g+1] = start[g] + int32([]int{2, 16, 20, 40}[g%4])
	}
	w, z := guarded[float64](t, int(start[groups]), atEnd), guarded[float64](t, rows, atEnd)
	codes, fractions := guarded[C](t, groups*rows, atEnd), guarded[float32](t, groups*rows, atEnd)
	for i := range codes {
		g := i / PanelRows % groups
		codes[i] = C(start[g+1] - start[g] - 1)
	}
	lanes := guarded[float64](t, Lanes*int(start[groups]), atEnd)
	ScoreCodes(codes, w, start, z, true)
	AddCodes(codes, z, start, lanes)
	for i := range codes {
		codes[i]--
	}
	ScoreCodesBetween(codes, fractions, w, start, z, true)
	AddCodesBetween(codes, fractions, z, start, lanes)
}

func TestSelectionTouchesNothingOutside(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for _, atEnd := range []bool{false, true} {
			for _, n := range []int{1, 15, 16, 64, 100} {
				z, values, rows := guarded[float64](t, n, atEnd), guarded[float64](t, n, atEnd), guarded[int32](t, n, atEnd)
				for i := range z {
					z[i] = 1
				}
				if inside, _ := Between(z, 0, 2, values); inside != n {
					t.Errorf("%d of %d", inside, n)
				}
				if found := RowsAbove(z, 0, 0, 0, rows); found != n {
					t.Errorf("%d of %d", found, n)
				}
				Highest(z)
				Count(z, 1)
				SumAbove(z, 0, 0)
			}
		}
	})
}

func TestChoicesTouchNothingOutside(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for _, atEnd := range []bool{false, true} {
			for _, rows := range []int{1, 32, 33, 256} {
				padded := (rows + ChoiceRows - 1) / ChoiceRows * ChoiceRows
				codes, space := guarded[uint8](t, padded, atEnd), guarded[uint8](t, ChoiceRows+padded, atEnd)
				codes[0], space[ChoiceRows] = 1, 9
				Choose([]Choice{{Left: 0, Right: ChoiceRows, To: ChoiceRows, RightStep: ChoiceRows}}, codes, space, rows)
				if space[ChoiceRows] != 9 || space[ChoiceRows+1] != 0 {
					t.Errorf("%d rows: %v", rows, space[ChoiceRows:])
				}
			}
		}
	})
}
