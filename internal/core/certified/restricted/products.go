package restricted

import (
	"slices"

	"toptau/internal/core/certified/linalg"
	"toptau/internal/core/kernel"
)

// products has the inner products of the rows of two classes, positives first. They are kept as rows come, so that each is formed once, and
// as float32, because a product with all of them waits for memory. The scores that they give are corrected by exact ones.
type products struct {
	rows   [2]int
	panels [2][]productPanel // of kernel.PanelRows rows of a class
	space  []float64
}

// productPanel has the products of the rows of a panel with those of both classes, as a panel of package kernel: the product of row i with
// row j of class b is in [b][j*kernel.PanelRows+i].
type productPanel [2][]float32

// grow adds the rows that came since the last call.
func (g *products) grow(pos, row *linalg.Rows) {
	classes, old := [2]*linalg.Rows{pos, row}, g.rows
	g.rows = [2]int{pos.N, row.N}
	if old == g.rows {
		return
	}
	var whole [2]int // rows in panels that were full
	for a, rows := range classes {
		whole[a] = old[a] / kernel.PanelRows * kernel.PanelRows
		g.panels[a] = slices.Grow(g.panels[a], (rows.N+kernel.PanelRows-1)/kernel.PanelRows)
		g.panels[a] = g.panels[a][:(rows.N+kernel.PanelRows-1)/kernel.PanelRows]
		for p := range g.panels[a] {
			for b := range classes {
				g.panels[a][p][b] = resized(g.panels[a][p][b], g.rows[b]*kernel.PanelRows)
			}
		}
	}
	for a, rows := range classes {
		for from := whole[a]; from < rows.N; from += kernel.PanelRows {
			end := min(from+kernel.PanelRows, rows.N)
			panel := &g.panels[a][from/kernel.PanelRows]
			known := [2]int{pos.N, end}
			if a == 0 {
				known = [2]int{end, whole[1]}
			}
			for b, other := range classes {
				g.space = resized(g.space, known[b]*kernel.PanelRows)
				rows.Products(from, end, other, known[b], g.space)
				for k, v := range g.space {
					panel[b][k] = float32(v)
				}
			}
			g.mirror(a, from, end, known)
		}
	}
}

// mirror copies the products of a new panel with the rows before it to the panels of those rows.
func (g *products) mirror(a, from, end int, known [2]int) {
	for b := range g.panels {
		panel := g.panels[a][from/kernel.PanelRows][b]
		linalg.For((known[b]+kernel.PanelRows-1)/kernel.PanelRows, float64(known[b])*kernel.PanelRows, func(p int) {
			to := g.panels[b][p][a]
			for j := p * kernel.PanelRows; j < min((p+1)*kernel.PanelRows, known[b]); j++ {
				if a == b && j >= from {
					break
				}
				for i := from; i < end; i++ {
					to[i*kernel.PanelRows+j%kernel.PanelRows] = panel[j*kernel.PanelRows+i-from]
				}
			}
		})
	}
}

// resized returns x with n elements. The first ones are kept. It gets memory for a quarter more, because the last rows come in small numbers.
func resized[T any](x []T, n int) []T {
	if n > cap(x) {
		x = append(make([]T, 0, n+n/4), x...)
	}
	return x[:n]
}

// times sets the scores of a dual point: z = K c for c = (p, -q), those of the positives first. It is fast where c has zeros.
func (g *products) times(p, q, z []float64) {
	var list [2][]int32
	var values [2][]float64
	for b, c := range [2][]float64{p, q} {
		sign := float64(1 - 2*b)
		for j, v := range c {
			if v != 0 {
				list[b], values[b] = append(list[b], int32(j)), append(values[b], sign*v)
			}
		}
	}
	work := float64(len(z)) * float64(len(list[0])+len(list[1]))
	for a, out := range [2][]float64{z[:len(p)], z[len(p):]} {
		linalg.For(len(g.panels[a]), work, func(i int) {
			var sums [kernel.PanelRows]float64
			for b, x := range g.panels[a][i] {
				kernel.ScoreListed(x, list[b], values[b], sums[:])
			}
			copy(out[i*kernel.PanelRows:], sums[:])
		})
	}
}
