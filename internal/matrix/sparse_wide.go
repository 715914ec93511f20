package matrix

import (
	"math/bits"

	"toptau/internal/kernel"
)

// wideSums computes what sparseSums computes, with four numbers a column and not eight: it keeps the active rows of a
// stripe by lane, and at the end of the stripe forms one lane after the other in the order of the reduction,
// ((0+4)+(2+6))+((1+5)+(3+7)), on a stack. With millions of columns the lanes are what takes memory and time, not the rows.
type wideSums[T kernel.Float] struct {
	block *sparse[T]
	rows  [kernel.Lanes][]wideRow
	stack [4]laneSum
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

func newWideSums[T kernel.Float](s *sparse[T]) *wideSums[T] {
	out := &wideSums[T]{block: s}
	for k := range out.stack {
		out.stack[k] = laneSum{make([]float64, s.width), make([]bool, groupsOf(s.width))}
	}
	return out
}

func wideSumsBytes(cols int) int64 { return 4 * 8 * int64(cols) }

func (s *wideSums[T]) add(panel int, v []float64, _ int) {
	for r, vr := range v {
		if vr != 0 {
			lane := r % kernel.Lanes
			s.rows[lane] = append(s.rows[lane], wideRow{panel*kernel.PanelRows + r, vr})
		}
	}
}

func (s *wideSums[T]) finish(g []float64) {
	// Depth first: stack[k] holds a finished subtree while the next one is formed above it.
	for k, lane := range [kernel.Lanes]int{0, 4, 2, 6, 1, 5, 3, 7} {
		depth := bits.OnesCount(uint(k)) // finished subtrees below leaf k
		s.form(lane, &s.stack[depth])
		for done := k + 1; done%2 == 0; done /= 2 {
			s.stack[depth-1].absorb(&s.stack[depth])
			depth--
		}
	}
	s.stack[0].addTo(g)
}

// form adds one lane's rows to an empty sum.
func (s *wideSums[T]) form(lane int, sum *laneSum) {
	for _, active := range s.rows[lane] {
		cols, values := s.block.panels[active.row/kernel.PanelRows].entriesOf(active.row % kernel.PanelRows)
		for k, x := range values {
			j := cols[k]
			sum.x[j] += float64(float64(x) * active.v)
			sum.touched[j/groupCols] = true
		}
	}
	s.rows[lane] = s.rows[lane][:0]
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
