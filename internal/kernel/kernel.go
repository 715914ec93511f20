// Package kernel holds the few vector kernels of the passes.
//
// Dense data lies in panels of 64 rows, feature-major: value (row r, feature j) of a panel is panel[64*j+r]. The exact
// arithmetic is fixed here once, so that every implementation gives the same bits:
//
//   - score of a row: z = z + float64(x)*w, j ascending, product rounded, then sum rounded, never fused;
//   - gradient of a feature: eight float64 lanes, row r of a panel adds to lane r mod 8 in ascending order of rows,
//     product rounded, then sum rounded; lanes are summed at the end of a block as ((0+4)+(2+6))+((1+5)+(3+7)).
package kernel

// PanelRows is the number of rows in a panel.
const PanelRows = 64

// Lanes is the number of partial sums kept for each feature of a gradient.
const Lanes = 8

// Float is a stored value.
type Float interface{ ~float32 | ~float64 }

// Scores adds the scores of one panel to z, which has PanelRows elements: z[r] += sum over j of panel[64j+r]*w[j].
func Scores[T Float](panel []T, w, z []float64) {
	z = z[:PanelRows]
	for j, wj := range w {
		x := panel[j*PanelRows : (j+1)*PanelRows]
		for r := range z {
			z[r] += float64(float64(x[r]) * wj)
		}
	}
}

// Accumulate adds one panel's part of X'v to lanes, which has Lanes elements a feature; v has PanelRows elements.
func Accumulate[T Float](panel []T, v, lanes []float64) {
	v = v[:PanelRows]
	for j := range len(lanes) / Lanes {
		x := panel[j*PanelRows : (j+1)*PanelRows]
		l := lanes[j*Lanes : (j+1)*Lanes]
		for r := range v {
			l[r%Lanes] += float64(float64(x[r]) * v[r])
		}
	}
}

// AccumulateRow adds v times row r of a panel to lanes: what Accumulate does when only v[r] is non-zero.
func AccumulateRow[T Float](panel []T, r int, v float64, lanes []float64) {
	lane := r % Lanes
	for j := range len(lanes) / Lanes {
		lanes[j*Lanes+lane] += float64(float64(panel[j*PanelRows+r]) * v)
	}
}

// ReduceLanes adds each feature's eight lanes to g in the fixed order and clears them.
func ReduceLanes(lanes, g []float64) {
	for j := range g {
		l := lanes[j*Lanes : (j+1)*Lanes]
		g[j] += ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]))
		clear(l)
	}
}
