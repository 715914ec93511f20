package kernel

// AddEntries adds an entry of a table to the scores of several models in consecutive panels, the one that a row's code
// names:
//
//	z[(p*models+h)*64+r] += table[codes[p*64+r]*models+h],
//
// rounded to float32. The entries of a code lie side by side, and z as ScoreTile lays it out. codes has 64 elements a panel
// and so fixes their number; a code beyond the table is a mistake that a kernel does not see. The table must have less than
// 1<<29 entries.
func AddEntries(codes []uint16, table []float32, models int, z []float32) {
	panels := len(codes) / PanelRows
	if models == 0 || panels == 0 {
		return
	}
	codes, z = codes[:panels*PanelRows], z[:panels*models*PanelRows]
	if !vectorEntries(codes, table, z, models, panels) {
		addEntries(codes, table, models, z)
	}
}

// addEntries is the plain Go of AddEntries.
func addEntries(codes []uint16, table []float32, models int, z []float32) {
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
