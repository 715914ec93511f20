package restricted

import (
	"toptau/internal/certified/linalg"
	"toptau/internal/kernel"
)

// products has the inner products of the rows of two classes. They are kept as rows come, so that each is formed once.
type products struct {
	positives, population int       // rows
	matrix                []float64 // all products, row-major, positives first
}

func (g *products) rows() int { return g.positives + g.population }

// grow adds the rows that came since the last call.
func (g *products) grow(pos, row *linalg.Rows) {
	if g.positives == pos.N && g.population == row.N {
		return
	}
	old := *g
	g.positives, g.population = pos.N, row.N
	n, before := g.rows(), old.rows()
	g.matrix = make([]float64, n*n)
	for i := range before {
		to, from := i, old.matrix[i*before:(i+1)*before]
		if i >= old.positives {
			to += pos.N - old.positives
		}
		copy(g.matrix[to*n:], from[:old.positives])
		copy(g.matrix[to*n+pos.N:], from[old.positives:])
	}
	out := make([]float64, n*kernel.PanelRows)
	add := func(rows *linalg.Rows, from, offset int) {
		for ; from < rows.N; from += kernel.PanelRows {
			end := min(from+kernel.PanelRows, rows.N)
			// Rows that come later compute their products with these.
			p, r := pos.N, end
			if rows == pos {
				p, r = end, old.population
			}
			rows.Products(from, end, pos, p, out)
			rows.Products(from, end, row, r, out[pos.N*kernel.PanelRows:])
			for j := range n {
				if j >= p && j < pos.N || j >= pos.N+r {
					continue
				}
				for k := from; k < end; k++ {
					v := out[j*kernel.PanelRows+k-from]
					g.matrix[j*n+offset+k], g.matrix[(offset+k)*n+j] = v, v
				}
			}
		}
	}
	add(pos, old.positives, 0)
	add(row, old.population, pos.N)
}
