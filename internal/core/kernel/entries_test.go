package kernel

import "testing"

// checkEntries compares every level with the formula, for codes that repeat as often as runs says.
func checkEntries(t *testing.T, seed uint64, models, panels, count, runs, offset int) {
	t.Helper()
	r := newRand(seed)
	table := make([]float32, count*models)
	for i := range table {
		table[i] = anyFloat32(r)
	}
	codes := make([]uint16, panels*PanelRows)
	for i := range codes {
		if codes[i] = uint16(r.IntN(count)); i > 0 && r.IntN(runs) > 0 {
			codes[i] = codes[i-1]
		}
	}
	before := make([]float32, panels*models*PanelRows)
	for i := range before {
		before[i] = anyFloat32(r)
	}
	want := append([]float32(nil), before...)
	for i := range want {
		p, h, row := i/PanelRows/models, i/PanelRows%models, i%PanelRows
		want[i] += table[int(codes[p*PanelRows+row])*models+h]
	}
	tables := fence(table, offset)
	v, lanes := append([]float32(nil), before...), make([]float64, count*models*EntryLanes)
	for i := range v {
		if r.IntN(3) == 0 || i/PanelRows%3 == 0 {
			v[i] = 0
		}
	}
	for i := range lanes {
		lanes[i] = float64(r.IntN(3)) // sums of +0 and others
	}
	wantLanes := append([]float64(nil), lanes...)
	for i, x := range v {
		p, h, row := i/PanelRows/models, i/PanelRows%models, i%PanelRows
		wantLanes[(int(codes[p*PanelRows+row])*models+h)*EntryLanes+row%EntryLanes] += float64(x)
	}
	everyLevel(t, func(t *testing.T) {
		sums := fence(lanes, offset)
		SumEntries(codes, v, models, sums.x)
		sameBits(t, "sums "+shapeName(models, panels, count), sums.x, wantLanes)
		sums.check(t, "sums "+shapeName(models, panels, count))
		z := fence(before, offset)
		AddEntries(codes, tables.x, models, z.x)
		sameBits(t, shapeName(models, panels, count), z.x, want)
		z.check(t, shapeName(models, panels, count))
	})
}

func TestEntriesHaveTheBitsOfTheDefinition(t *testing.T) {
	for models := 1; models <= 33; models++ {
		checkEntries(t, uint64(models), models, 1+models%3, 1+models*5, 1+models%7*5, models%6)
	}
	checkEntries(t, 40, 3, 4, 65536, 1, 1)
}

func FuzzEntries(f *testing.F) {
	f.Add(uint64(1), uint8(1), uint8(1), uint16(1), uint8(1), uint8(0))
	f.Add(uint64(2), uint8(24), uint8(3), uint16(203), uint8(40), uint8(1))
	f.Fuzz(func(t *testing.T, seed uint64, models, panels uint8, count uint16, runs, offset uint8) {
		checkEntries(t, seed, 1+int(models)%40, 1+int(panels)%5, 1+int(count), 1+int(runs), int(offset)%9)
	})
}

func TestEntriesOfNothing(t *testing.T) {
	everyLevel(t, func(*testing.T) {
		AddEntries(nil, nil, 3, nil)
		AddEntries(make([]uint16, PanelRows), nil, 0, nil)
		SumEntries(nil, nil, 3, nil)
		SumEntries(make([]uint16, PanelRows), nil, 0, nil)
	})
}
