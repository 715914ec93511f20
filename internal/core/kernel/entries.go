package kernel

// AddEntries adds the table entries of the rows' codes to the scores of several models in consecutive panels:
//
//	z[(p*models+h)*64+r] += table[codes[p*64+r]*models+h],
//
// rounded to float32. The entries of a code are adjacent, and z has the layout of ScoreTile. codes has 64 elements per panel,
// which determines the number of panels; they are not checked. The table must have less than 1<<29 entries.
func AddEntries(codes []uint16, table []float32, models int, z []float32) {
	panels := len(codes) / PanelRows
	if models == 0 || panels == 0 {
		return
	}
	codes, z = codes[:panels*PanelRows], z[:panels*models*PanelRows]
	for ; len(codes) > 0; codes = codes[PanelRows:] {
		for h := range models {
			scores := (*[PanelRows]float32)(z[h*PanelRows:])
			for r, code := range codes[:PanelRows] {
				scores[r] += table[int(code)*models+h]
			}
		}
		z = z[models*PanelRows:]
	}
}

// EntryLanes is the number of partial sums that SumEntries keeps for each code and model.
const EntryLanes = 4

// SumEntries adds the coefficients of several models in consecutive panels to the lanes of the rows' codes:
//
//	lanes[(code*models+h)*4+r%4] += float64(v[(p*models+h)*64+r]),
//
// rows ascending, for the code codes[p*64+r]. Zeros may be skipped: a lane that starts at +0 stays the same.
func SumEntries(codes []uint16, v []float32, models int, lanes []float64) {
	panels := len(codes) / PanelRows
	if models == 0 || panels == 0 {
		return
	}
	codes, v = codes[:panels*PanelRows], v[:panels*models*PanelRows]
	for ; len(codes) > 0; codes = codes[PanelRows:] {
		for h := range models {
			values := (*[PanelRows]float32)(v[h*PanelRows:])
			for r, code := range codes[:PanelRows] {
				lanes[(int(code)*models+h)*EntryLanes+r%EntryLanes] += float64(values[r])
			}
		}
		v = v[models*PanelRows:]
	}
}
