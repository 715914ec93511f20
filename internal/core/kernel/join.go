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
	for p := 0; len(sums) > 0; p += stride {
		panel, part := (*[PanelRows]float32)(z[p:]), (*[PanelRows]float64)(sums)
		for r := range panel {
			panel[r] += float32(part[r])
		}
		sums = sums[PanelRows:]
	}
}
