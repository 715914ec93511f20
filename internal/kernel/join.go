package kernel

// JoinScores adds float64 parts of scores to float32 scores of consecutive panels, each rounded first:
//
//	z[p*stride+r] += float32(sums[p*64+r])
//
// for r < 64. The scores of neighbouring panels are stride elements apart, so that the models of a tile can be handled
// one by one. sums determines the number of panels.
func JoinScores(sums []float64, z []float32, stride int) {
	panels := len(sums) / PanelRows
	if panels == 0 {
		return
	}
	sums, z = sums[:panels*PanelRows], z[:(panels-1)*stride+PanelRows]
	if uses(joinFamily) {
		asmJoin(&sums[0], &z[0], 4*stride, panels)
	} else {
		joinScores(sums, z, stride)
	}
}

// joinScores is the plain Go of JoinScores.
func joinScores(sums []float64, z []float32, stride int) {
	for p := 0; len(sums) > 0; p += stride {
		panel := z[p : p+PanelRows]
		for r, s := range sums[:PanelRows] {
			panel[r] += float32(s)
		}
		sums = sums[PanelRows:]
	}
}
