package kernel

import "unsafe"

// CodeIndex returns the position of row r's code among the PanelRows codes of a group in a panel. Codes of two bytes are in
// the order of rows. Codes of one byte are stored as an 8 x 8 square, transposed, so that a vector of eight of them is loaded
// without moving bytes.
func CodeIndex[C Code](r int) int {
	if unsafe.Sizeof(C(0)) == 2 {
		return r
	}
	return r%8*8 + r/8
}

// ScoreCodes adds the scores of coded groups to z in the exact arithmetic, for len(z)/PanelRows consecutive panels:
// z[r] = z[r] + w[start[g]+code], groups ascending. This is the result of a column of ones and zeros for each level. Without
// add z starts with zeros.
//
// Group g has the weights w[start[g]:start[g+1]], so start has one element more than there are groups. Its code for
// row r of panel p is codes[(p*groups+g)*64+CodeIndex(r)] and must be less than start[g+1]-start[g]: the kernel does
// not check codes. Rows that pad the last panel need valid codes, too.
func ScoreCodes[C Code](codes []C, w []float64, start []int32, z []float64, add bool) {
	groups, count := len(start)-1, len(z)/PanelRows
	if groups <= 0 || count == 0 {
		if !add {
			clear(z)
		}
		return
	}
	codes, w, z = codes[:count*groups*PanelRows], w[:start[groups]], z[:count*PanelRows]
	x := unsafe.Pointer(&codes[0])
	switch {
	case !uses(codedFamily):
		if !add {
			clear(z)
		}
		scoreCodes(codes, w, start, z)
	case unsafe.Sizeof(codes[0]) == 1:
		asmCodes8((*uint8)(x), &w[0], &start[0], &z[0], groups, count, flagOf(add))
	default:
		asmCodes16((*uint16)(x), &w[0], &start[0], &z[0], groups, count, flagOf(add))
	}
}

// scoreCodes is the plain Go of ScoreCodes.
func scoreCodes[C Code](codes []C, w []float64, start []int32, z []float64) {
	for ; len(z) > 0; z = z[PanelRows:] {
		sums := (*[PanelRows]float64)(z)
		for g := range len(start) - 1 {
			table, code := w[start[g]:start[g+1]], (*[PanelRows]C)(codes)
			for r := range sums {
				sums[r] += table[code[CodeIndex[C](r)]]
			}
			codes = codes[PanelRows:]
		}
	}
}

// ScoreCodesBetween is ScoreCodes with a fraction f in [0,1] for each row and group, fractions[(p*groups+g)*64+r]: the row is
// between two neighbouring levels,
//
//	z[r] = (z[r] + (1-f)*w[start[g]+code]) + f*w[start[g]+code+1],
//
// every operation rounded to float64, like two columns with the values 1-f and f. A code must be less than
// start[g+1]-start[g]-1.
func ScoreCodesBetween[C Code](codes []C, fractions []float32, w []float64, start []int32, z []float64, add bool) {
	groups, count := len(start)-1, len(z)/PanelRows
	if groups <= 0 || count == 0 {
		if !add {
			clear(z)
		}
		return
	}
	codes, fractions = codes[:count*groups*PanelRows], fractions[:count*groups*PanelRows]
	w, z = w[:start[groups]], z[:count*PanelRows]
	x, f := unsafe.Pointer(&codes[0]), &fractions[0]
	switch {
	case !uses(codedFamily):
		if !add {
			clear(z)
		}
		scoreCodesBetween(codes, fractions, w, start, z)
	case unsafe.Sizeof(codes[0]) == 1:
		asmBetween8((*uint8)(x), f, &w[0], &start[0], &z[0], groups, count, flagOf(add))
	default:
		asmBetween16((*uint16)(x), f, &w[0], &start[0], &z[0], groups, count, flagOf(add))
	}
}

// scoreCodesBetween is the plain Go of ScoreCodesBetween.
func scoreCodesBetween[C Code](codes []C, fractions []float32, w []float64, start []int32, z []float64) {
	for ; len(z) > 0; z = z[PanelRows:] {
		sums := (*[PanelRows]float64)(z)
		for g := range len(start) - 1 {
			table, code, fraction := w[start[g]:start[g+1]], (*[PanelRows]C)(codes), (*[PanelRows]float32)(fractions)
			for r := range sums {
				f, c := float64(fraction[r]), int(code[CodeIndex[C](r)])
				s := sums[r] + float64((1-f)*table[c])
				sums[r] = s + float64(f*table[c+1])
			}
			codes, fractions = codes[PanelRows:], fractions[PanelRows:]
		}
	}
}
