package matrix

import (
	"math/bits"

	"toptau/internal/core/kernel"
)

// wideSums computes the sums of sparseSums with four numbers per column instead of eight. It keeps the active rows of a stripe
// by lane. At the end of the stripe it computes one lane after the other in the order of the reduction,
// ((0+4)+(2+6))+((1+5)+(3+7)), on a stack. With millions of columns the lanes take most of the memory and time, not the rows.
type wideSums struct {
	addRow func(row int, v float64, sum *laneSum) // adds v times a row of the block
	rows   [kernel.Lanes][]wideRow
	stack  [4]laneSum
}

// wideRow is an active row of a stripe.
type wideRow struct {
	row int
	v   float64
}

// laneSum is a sparse vector over the columns: groups without a flag are zero.
type laneSum struct {
	x       []float64
	touched []bool
}

func newWideSums(cols int, addRow func(row int, v float64, sum *laneSum)) *wideSums {
	out := &wideSums{addRow: addRow}
	for k := range out.stack {
		out.stack[k] = laneSum{make([]float64, cols), make([]bool, groupsOf(cols))}
	}
	return out
}

func wideSumsBytes(cols int) int64 { return 4 * 8 * int64(cols) }

func (s *wideSums) AddPanel(panel int, v []float64, _ int) {
	for r, vr := range v {
		if vr != 0 {
			lane := r % kernel.Lanes
			s.rows[lane] = append(s.rows[lane], wideRow{panel*kernel.PanelRows + r, vr})
		}
	}
}

func (s *wideSums) Finish(g []float64) {
	// Depth first: stack[k] holds a finished subtree while the next one is computed above it.
	for k, lane := range [kernel.Lanes]int{0, 4, 2, 6, 1, 5, 3, 7} {
		depth := bits.OnesCount(uint(k)) // finished subtrees below leaf k
		s.addLane(lane, &s.stack[depth])
		for done := k + 1; done%2 == 0; done /= 2 {
			s.stack[depth-1].absorb(&s.stack[depth])
			depth--
		}
	}
	s.stack[0].addTo(g)
}

// addLane adds one lane's rows to an empty sum.
func (s *wideSums) addLane(lane int, sum *laneSum) {
	for _, active := range s.rows[lane] {
		s.addRow(active.row, active.v, sum)
	}
	s.rows[lane] = s.rows[lane][:0]
}

func (s *sparse[T]) addWideRow(row int, v float64, sum *laneSum) {
	cols, values := s.panels[row/kernel.PanelRows].entriesOf(row % kernel.PanelRows)
	for k, x := range values {
		sum.add(cols[k], float64(float64(x)*v))
	}
}

func (s *laneSum) add(col uint32, x float64) {
	s.x[col] += x
	s.touched[col/groupCols] = true
}

// absorb adds other to s and clears it.
func (s *laneSum) absorb(other *laneSum) {
	for k, touched := range other.touched {
		if touched {
			s.touched[k] = true
		}
	}
	other.addTo(s.x)
}

// addTo adds s to x and clears it.
func (s *laneSum) addTo(x []float64) {
	for k, touched := range s.touched {
		if !touched {
			continue
		}
		first, last := k*groupCols, min((k+1)*groupCols, len(x))
		part := s.x[first:last]
		for j, v := range part {
			x[first+j] += v
		}
		clear(part)
		s.touched[k] = false
	}
}
