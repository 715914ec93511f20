package kernel

import "unsafe"

// Scores adds the scores of one panel to z, which has PanelRows elements: z[r] += sum over j of panel[64j+r]*w[j].
func Scores[T Float](panel []T, w, z []float64) { ScorePanels(panel, w, z[:PanelRows], true) }

// ScorePanels computes the scores of consecutive panels, len(z)/PanelRows of them, in the exact arithmetic. With add
// they are added to z. Otherwise they replace it, which gives the bits of adding to zeros without reading z.
func ScorePanels[T Float](panels []T, w, z []float64, add bool) {
	count := len(z) / PanelRows
	z, panels = z[:count*PanelRows], panels[:count*PanelRows*len(w)]
	if len(panels)*int(unsafe.Sizeof(T(0))) >= streamBytes && !(oneStream && len(w) >= largePart) {
		scoreAsStreams(panels, w, z, add)
		return
	}
	scoreInOrder(panels, w, z, add)
}

// scorePanels is the plain Go of ScorePanels.
func scorePanels[T Float](panels []T, w, z []float64, add bool) {
	if !add {
		clear(z)
	}
	d := len(w)
	for len(z) > 0 {
		scorePanel(panels[:PanelRows*d], w, (*[PanelRows]float64)(z))
		panels, z = panels[PanelRows*d:], z[PanelRows:]
	}
}

// ScoreListed adds the scores of one panel under some of its features to z, which has PanelRows elements: z[r] += sum over k of
// panel[64*list[k]+r]*w[k], k ascending.
func ScoreListed[T Float](panel []T, list []int32, w, z []float64) {
	if len(list) == 0 {
		return
	}
	last := uint32(0)
	for _, j := range list {
		last = max(last, uint32(j))
	}
	panel, w, z = panel[:PanelRows*(int(last)+1)], w[:len(list)], z[:PanelRows]
	x := unsafe.Pointer(&panel[0])
	switch {
	case !uses(scoresFamily):
		scoreListed(panel, list, w, (*[PanelRows]float64)(z))
	case unsafe.Sizeof(panel[0]) == 4:
		asmScoreListedFloat32((*float32)(x), &list[0], &w[0], &z[0], len(list))
	default:
		asmScoreListedFloat64((*float64)(x), &list[0], &w[0], &z[0], len(list))
	}
}

// scoreListed is the plain Go of ScoreListed.
func scoreListed[T Float](panel []T, list []int32, w []float64, z *[PanelRows]float64) {
	for k, j := range list {
		x, wk := (*[PanelRows]T)(panel[int(j)*PanelRows:]), w[k]
		for r := range z {
			z[r] += float64(float64(x[r]) * wk)
		}
	}
}

// scorePanel handles four features at a time, so that a sum is loaded and stored once for four products.
func scorePanel[T Float](panel []T, w []float64, z *[PanelRows]float64) {
	for len(w) >= 4 {
		w0, w1, w2, w3 := w[0], w[1], w[2], w[3]
		x := (*[4 * PanelRows]T)(panel)
		for r := range z {
			s := z[r]
			s += float64(float64(x[r]) * w0)
			s += float64(float64(x[r+PanelRows]) * w1)
			s += float64(float64(x[r+2*PanelRows]) * w2)
			s += float64(float64(x[r+3*PanelRows]) * w3)
			z[r] = s
		}
		w, panel = w[4:], panel[4*PanelRows:]
	}
	for _, wj := range w {
		x := (*[PanelRows]T)(panel)
		for r := range z {
			z[r] += float64(float64(x[r]) * wj)
		}
		panel = panel[PanelRows:]
	}
}

// scoreInOrder is ScorePanels, panel after panel.
func scoreInOrder[T Float](panels []T, w, z []float64, add bool) {
	d, count := len(w), len(z)/PanelRows
	if count == 0 || d == 0 {
		if !add {
			clear(z)
		}
		return
	}
	x := unsafe.Pointer(&panels[0])
	switch {
	case !uses(scoresFamily):
		scorePanels(panels, w, z, add)
	case unsafe.Sizeof(panels[0]) == 4:
		asmScoresFloat32((*float32)(x), &w[0], &z[0], d, count, flagOf(add))
	default:
		asmScoresFloat64((*float64)(x), &w[0], &z[0], d, count, flagOf(add))
	}
}
