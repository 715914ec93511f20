package kernel

import "unsafe"

// AddCodes adds a panel's part of X'v to the lanes of coded groups in the exact arithmetic:
//
//	lanes[(start[g]+code)*8+r%8] += v[r],
//
// r ascending. This is the result of a column of ones and zeros for each level. Codes are those of ScoreCodes; lanes holds the
// lanes of all columns of the groups.
func AddCodes[C Code](codes []C, v []float64, start []int32, lanes []float64) {
	groups := len(start) - 1
	if groups <= 0 {
		return
	}
	codes, v, lanes = codes[:groups*PanelRows], v[:PanelRows], lanes[:int(start[groups])*Lanes]
	x := unsafe.Pointer(&codes[0])
	switch {
	case !uses(scatterFamily):
		addCodes(codes, v, start, lanes)
	case unsafe.Sizeof(codes[0]) == 1:
		asmScatter8((*uint8)(x), &v[0], &start[0], &lanes[0], groups)
	default:
		asmScatter16((*uint16)(x), &v[0], &start[0], &lanes[0], groups)
	}
}

// addCodes is the plain Go of AddCodes.
func addCodes[C Code](codes []C, v []float64, start []int32, lanes []float64) {
	for g := range len(start) - 1 {
		own, code := lanes[start[g]*Lanes:start[g+1]*Lanes], (*[PanelRows]C)(codes[g*PanelRows:])
		for r, x := range v {
			own[int(code[CodeIndex[C](r)])*Lanes+r%Lanes] += x
		}
	}
}

// AddCodesBetween is AddCodes for rows between two levels, as in ScoreCodesBetween:
//
//	lanes[(start[g]+code)*8+r%8] += (1-f)*v[r], then lanes[(start[g]+code+1)*8+r%8] += f*v[r],
//
// every operation rounded to float64.
func AddCodesBetween[C Code](codes []C, fractions []float32, v []float64, start []int32, lanes []float64) {
	groups := len(start) - 1
	if groups <= 0 {
		return
	}
	codes, fractions = codes[:groups*PanelRows], fractions[:groups*PanelRows]
	v, lanes = v[:PanelRows], lanes[:int(start[groups])*Lanes]
	x, f := unsafe.Pointer(&codes[0]), &fractions[0]
	switch {
	case !uses(scatterFamily):
		addCodesBetween(codes, fractions, v, start, lanes)
	case unsafe.Sizeof(codes[0]) == 1:
		asmScatterBetween8((*uint8)(x), f, &v[0], &start[0], &lanes[0], groups)
	default:
		asmScatterBetween16((*uint16)(x), f, &v[0], &start[0], &lanes[0], groups)
	}
}

// addCodesBetween is the plain Go of AddCodesBetween.
func addCodesBetween[C Code](codes []C, fractions []float32, v []float64, start []int32, lanes []float64) {
	for g := range len(start) - 1 {
		own, code := lanes[start[g]*Lanes:start[g+1]*Lanes], (*[PanelRows]C)(codes[g*PanelRows:])
		fraction := (*[PanelRows]float32)(fractions[g*PanelRows:])
		for r, x := range v {
			f, at := float64(fraction[r]), int(code[CodeIndex[C](r)])*Lanes+r%Lanes
			own[at] += float64((1 - f) * x)
			own[at+Lanes] += float64(f * x)
		}
	}
}
