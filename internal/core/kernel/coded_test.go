package kernel

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// naiveCodes is the definition: every row, group after group.
func naiveCodes[C Code](codes []C, fractions []float32, w []float64, start []int32, z []float64) {
	groups := len(start) - 1
	for i := range z {
		p, r := i/PanelRows, i%PanelRows
		for g := range groups {
			at := (p*groups+g)*PanelRows + r
			column := int(start[g]) + int(codes[at-r+CodeIndex[C](r)])
			if fractions == nil {
				z[i] += w[column]
				continue
			}
			f := float64(fractions[at])
			z[i] += float64((1 - f) * w[column])
			z[i] += float64(f * w[column+1])
		}
	}
}

// naiveScatter is the definition, for one panel: every group, row after row.
func naiveScatter[C Code](codes []C, fractions []float32, v []float64, start []int32, lanes []float64) {
	for g := range len(start) - 1 {
		for r, x := range v {
			at := (int(start[g])+int(codes[g*PanelRows+CodeIndex[C](r)]))*Lanes + r%Lanes
			if fractions == nil {
				lanes[at] += x
				continue
			}
			f := float64(fractions[g*PanelRows+r])
			lanes[at] += float64((1 - f) * x)
			lanes[at+Lanes] += float64(f * x)
		}
	}
}

func checkCodes[C Code](t *testing.T, r *rand.Rand, groups, panels, most, offset int) {
	t.Helper()
	start := make([]int32, groups+1)
	for g := range groups {
		start[g+1] = start[g] + 2 + int32(r.IntN(most-1))
	}
	w := fence(floats64(r, int(start[groups])), offset)
	fractions := make([]float32, panels*groups*PanelRows)
	for i := range fractions {
		fractions[i] = float32(unit(r))
		if r.IntN(4) == 0 {
			fractions[i] = float32(r.IntN(2))
		}
	}
	plain, between := make([]C, len(fractions)), make([]C, len(fractions))
	for i := range plain {
		g := i / PanelRows % groups
		levels := int(start[g+1] - start[g])
		plain[i], between[i] = C(r.IntN(levels)), C(r.IntN(levels-1))
		if r.IntN(5) == 0 {
			plain[i], between[i] = C(levels-1), C(levels-2)
		}
	}
	before := floats64(r, panels*PanelRows)
	want := append([]float64(nil), before...)
	naiveCodes(plain, nil, w.x, start, want)
	wantBetween := append([]float64(nil), before...)
	naiveCodes(between, fractions, w.x, start, wantBetween)
	wantAlone, wantBetweenAlone := make([]float64, len(before)), make([]float64, len(before))
	naiveCodes(plain, nil, w.x, start, wantAlone)
	naiveCodes(between, fractions, w.x, start, wantBetweenAlone)
	v := fence(floats64(r, PanelRows), offset)
	for i := range v.x {
		if r.IntN(3) == 0 {
			v.x[i] = 0
		}
	}
	lanes := floats64(r, int(start[groups])*Lanes)
	wantLanes, wantLanesBetween := append([]float64(nil), lanes...), append([]float64(nil), lanes...)
	naiveScatter(plain, nil, v.x, start, wantLanes)
	naiveScatter(between, fractions, v.x, start, wantLanesBetween)
	for _, l := range levels() {
		what := l.String() + " " + shapeName(groups, panels, offset)
		atLevel(l, func() {
			z := fence(before, offset%5)
			ScoreCodes(plain, w.x, start, z.x, true)
			sameBits(t, what, z.x, want)
			z.check(t, what)
			z = fence(before, offset%5)
			ScoreCodes(plain, w.x, start, z.x, false)
			sameBits(t, what+" alone", z.x, wantAlone)
			z.check(t, what)
			z = fence(before, offset%5)
			ScoreCodesBetween(between, fractions, w.x, start, z.x, true)
			sameBits(t, what+" between", z.x, wantBetween)
			z.check(t, what)
			z = fence(before, offset%5)
			ScoreCodesBetween(between, fractions, w.x, start, z.x, false)
			sameBits(t, what+" between alone", z.x, wantBetweenAlone)
			z.check(t, what)
			l := fence(lanes, offset%5)
			AddCodes(plain, v.x, start, l.x)
			sameBits(t, what+" gradient", l.x, wantLanes)
			l.check(t, what)
			l = fence(lanes, offset%5)
			AddCodesBetween(between, fractions, v.x, start, l.x)
			sameBits(t, what+" gradient between", l.x, wantLanesBetween)
			l.check(t, what)
		})
	}
}

func TestCodesHaveTheBitsOfTheDefinition(t *testing.T) {
	if testing.Short() {
		t.Skip("draws many rows")
	}
	r := newRand(8)
	for groups := 1; groups <= 40; groups++ {
		for i, most := range []int{2, 9, 16, 17, 32, 33, 255} {
			checkCodes[uint8](t, r, groups, 1+groups%3, most, i)
			checkCodes[uint16](t, r, groups, 1+groups%3, most, i)
		}
	}
	checkCodes[uint16](t, r, 3, 2, 5000, 1)
	checkCodes[uint16](t, r, 2, 2, 65535, 1)
}

// Whole tables of 256 and 65,536 levels use every code.
func TestCodesOfFullTables(t *testing.T) {
	r := newRand(9)
	for _, n := range []int{256, 65536} {
		w, start := floats64(r, n), []int32{0, int32(n)}
		codes := make([]uint16, 1024*PanelRows)
		for i := range codes {
			codes[i] = uint16(i % n)
		}
		want := make([]float64, len(codes))
		naiveCodes(codes, nil, w, start, want)
		everyLevel(t, func(t *testing.T) {
			z := make([]float64, len(codes))
			ScoreCodes(codes, w, start, z, true)
			sameBits(t, "two bytes", z, want)
			if n == 256 {
				narrow, z := make([]uint8, len(codes)), make([]float64, len(codes))
				for i := range narrow {
					narrow[i-i%PanelRows+CodeIndex[uint8](i%PanelRows)] = uint8(codes[i])
				}
				ScoreCodes(narrow, w, start, z, true)
				sameBits(t, "one byte", z, want)
			}
		})
	}
}

func TestCodesByHand(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		w, start := []float64{1, 2, 4, 10, 30}, []int32{0, 3, 5}
		codes, z := make([]uint8, 2*PanelRows), make([]float64, PanelRows)
		seventh := CodeIndex[uint8](7)
		codes[seventh], codes[PanelRows+seventh] = 2, 1
		ScoreCodes(codes, w, start, z, true)
		if z[7] != 34 || z[8] != 11 {
			t.Errorf("scores %v and %v, want 34 and 11", z[7], z[8])
		}
		codes[seventh], codes[PanelRows+seventh] = 1, 0
		fractions := make([]float32, 2*PanelRows)
		fractions[7], fractions[PanelRows+7] = 0.5, 0.25
		clear(z)
		ScoreCodesBetween(codes, fractions, w, start, z, true)
		if z[7] != 3+15 || z[8] != 11 {
			t.Errorf("scores %v and %v, want 18 and 11", z[7], z[8])
		}
	})
}

func TestCodesOfNothing(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		ScoreCodes([]uint8{}, nil, []int32{0}, make([]float64, 64), true)
		ScoreCodes([]uint8{}, nil, nil, nil, true)
		ScoreCodesBetween([]uint8{}, nil, nil, []int32{0}, make([]float64, 64), true)
		AddCodes([]uint8{}, nil, []int32{0}, nil)
		AddCodesBetween([]uint8{}, nil, nil, nil, nil)
	})
}

func TestCodesOfRandomShapes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newRand(rapid.Uint64().Draw(rt, "seed"))
		groups, panels := rapid.IntRange(1, 50).Draw(rt, "groups"), rapid.IntRange(1, 4).Draw(rt, "panels")
		most, offset := rapid.IntRange(2, 255).Draw(rt, "levels"), rapid.IntRange(0, 9).Draw(rt, "offset")
		checkCodes[uint8](t, r, groups, panels, most, offset)
		checkCodes[uint16](t, r, groups, panels, most*8, offset)
	})
}

func FuzzCodes(f *testing.F) {
	f.Add(uint64(1), uint8(1), uint8(1), uint16(2), uint8(0))
	f.Add(uint64(2), uint8(30), uint8(3), uint16(16), uint8(1))
	f.Add(uint64(3), uint8(7), uint8(2), uint16(300), uint8(2))
	f.Fuzz(func(t *testing.T, seed uint64, groups, panels uint8, most uint16, offset uint8) {
		r := newRand(seed)
		checkCodes[uint8](t, r, 1+int(groups)%64, 1+int(panels)%5, 2+int(most)%254, int(offset)%9)
		checkCodes[uint16](t, r, 1+int(groups)%8, 1+int(panels)%5, 2+int(most)%60000, int(offset)%9)
	})
}

func TestEveryRowOfAGroupHasAPlace(t *testing.T) {
	var narrow, wide [PanelRows]int
	for r := range PanelRows {
		narrow[CodeIndex[uint8](r)]++
		wide[CodeIndex[uint16](r)]++
	}
	for r := range PanelRows {
		if narrow[r] != 1 || wide[r] != 1 {
			t.Errorf("place %d is taken %d and %d times", r, narrow[r], wide[r])
		}
	}
}
