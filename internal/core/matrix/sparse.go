package matrix

import (
	"slices"
	"unsafe"

	"toptau/internal/core/kernel"
)

// sparse is a block of compressed rows. It is stored panel by panel, so that it grows without being copied.
type sparse[T kernel.Float] struct {
	width   int
	rows    int
	entries int64
	panels  []sparsePanel[T]
	columns arena[uint32]
	values  arena[T]

	// the panel that is being filled
	lastCols   []uint32
	lastValues []T
}

// sparsePanel is 64 rows: row r has the entries from end[r-1] to end[r], columns ascending, no zeros.
type sparsePanel[T kernel.Float] struct {
	end    [kernel.PanelRows]uint32
	cols   []uint32
	values []T
}

func (p *sparsePanel[T]) entriesOf(r int) ([]uint32, []T) {
	first := uint32(0)
	if r > 0 {
		first = p.end[r-1]
	}
	return p.cols[first:p.end[r]], p.values[first:p.end[r]]
}

func (s *sparse[T]) cols() int { return s.width }

func (s *sparse[T]) bytes() int64 {
	var x T
	var p sparsePanel[T]
	return s.entries*int64(4+unsafe.Sizeof(x)) + int64(len(s.panels))*int64(unsafe.Sizeof(p))
}

// rowCost counts 40 bytes per entry, which takes about 1 ns: the time in which a dense pass reads 40 bytes.
func (s *sparse[T]) rowCost() float64 { return 40 * float64(s.entries) / float64(max(s.rows, 1)) }

// add appends a row: columns ascending, counted from the block's first. Zeros are not stored. It reports the index of the
// first value that is not finite once it is rounded, or -1.
func (s *sparse[T]) add(cols []uint32, values []float64) int {
	r := s.rows % kernel.PanelRows
	if r == 0 {
		s.panels = append(s.panels, sparsePanel[T]{})
	}
	s.rows++
	bad, n := -1, len(s.lastCols)
	toCols := slices.Grow(s.lastCols, len(values))[:n+len(values)]
	toValues := slices.Grow(s.lastValues, len(values))[:len(toCols)]
	for k, v := range values {
		x := T(v)
		if x-x != 0 {
			bad = k
			break
		}
		toCols[n], toValues[n] = cols[k], x
		if x != 0 {
			n++
		}
	}
	s.lastCols, s.lastValues = toCols[:n], toValues[:n]
	p := &s.panels[len(s.panels)-1]
	for ; r < kernel.PanelRows; r++ { // missing rows are empty
		p.end[r] = uint32(len(s.lastCols))
	}
	if s.rows%kernel.PanelRows == 0 {
		s.flush()
	}
	return bad
}

// flush packs the panel that is being filled. It must be called once after the last row, and may be called again.
func (s *sparse[T]) flush() {
	if len(s.panels) == 0 || len(s.lastCols) == 0 {
		return
	}
	p := &s.panels[len(s.panels)-1]
	p.cols = s.columns.alloc(len(s.lastCols))
	copy(p.cols, s.lastCols)
	p.values = s.values.alloc(len(s.lastValues))
	copy(p.values, s.lastValues)
	s.entries += int64(len(s.lastCols))
	s.lastCols, s.lastValues = s.lastCols[:0], s.lastValues[:0]
}

func (s *sparse[T]) scores(panel int, w, z []float64) {
	p := &s.panels[panel]
	first := uint32(0)
	for r, end := range p.end {
		values := p.values[first:end]
		cols := p.cols[first:end][:len(values)]
		sum := z[r]
		for k, x := range values {
			sum += float64(float64(x) * w[cols[k]])
		}
		z[r] = sum
		first = end
	}
}

func (s *sparse[T]) row(i int, dst []float64) {
	clear(dst)
	cols, values := s.panels[i/kernel.PanelRows].entriesOf(i % kernel.PanelRows)
	for k, j := range cols {
		dst[j] = float64(values[k])
	}
}

func (s *sparse[T]) appendEntries(i int, e *rowEntries) {
	cols, values := s.panels[i/kernel.PanelRows].entriesOf(i % kernel.PanelRows)
	e.cols = append(e.cols, cols...)
	for _, x := range values {
		e.values = append(e.values, float64(x))
	}
}

func (s *sparse[T]) take(rows []int) block {
	out := &sparse[T]{width: s.width, rows: len(rows), panels: make([]sparsePanel[T], panelsOf(len(rows)))}
	for _, i := range rows {
		cols, _ := s.panels[i/kernel.PanelRows].entriesOf(i % kernel.PanelRows)
		out.entries += int64(len(cols))
	}
	out.columns.reserve(int(out.entries))
	out.values.reserve(int(out.entries))
	for first := 0; first < len(rows); first += kernel.PanelRows {
		s.takePanel(out, first/kernel.PanelRows, rows[first:min(first+kernel.PanelRows, len(rows))])
	}
	return out
}

// takePanel copies at most 64 rows to a panel of out.
func (s *sparse[T]) takePanel(out *sparse[T], panel int, rows []int) {
	p := &out.panels[panel]
	entries := 0
	for r := range p.end {
		if r < len(rows) {
			cols, _ := s.panels[rows[r]/kernel.PanelRows].entriesOf(rows[r] % kernel.PanelRows)
			entries += len(cols)
		}
		p.end[r] = uint32(entries)
	}
	p.cols, p.values = out.columns.alloc(entries), out.values.alloc(entries)
	for r, i := range rows {
		cols, values := s.panels[i/kernel.PanelRows].entriesOf(i % kernel.PanelRows)
		toCols, toValues := p.entriesOf(r)
		copy(toCols, cols)
		copy(toValues, values)
	}
}

// wideColumns is the number of columns from which eight lanes per column no longer fit in a cache of 4 MB.
const wideColumns = 1 << 16

func (s *sparse[T]) sums() Sums {
	if s.width > wideColumns {
		return newWideSums(s.width, s.addWideRow)
	}
	return &sparseSums[T]{
		block:   s,
		lanes:   make([]float64, s.width*kernel.Lanes),
		touched: make([]bool, groupsOf(s.width)),
	}
}

func (s *sparse[T]) sumsBytes() int64 {
	if s.width > wideColumns {
		return wideSumsBytes(s.width)
	}
	return 8 * kernel.Lanes * int64(s.width)
}

// groupCols columns share one flag that a stripe sets when it touches any of them.
const groupCols = 64

func groupsOf(cols int) int { return (cols + groupCols - 1) / groupCols }

// sparseSums keeps eight lanes per column. At the end of a stripe only touched groups of columns are reduced.
type sparseSums[T kernel.Float] struct {
	block   *sparse[T]
	lanes   []float64
	touched []bool
}

func (s *sparseSums[T]) AddPanel(panel int, v []float64, _ int) {
	p := &s.block.panels[panel]
	for r, vr := range v {
		if vr == 0 {
			continue
		}
		lanes := s.lanes[r%kernel.Lanes:]
		cols, values := p.entriesOf(r)
		for k, x := range values {
			j := cols[k]
			lanes[j*kernel.Lanes] += float64(float64(x) * vr)
			s.touched[j/groupCols] = true
		}
	}
}

func (s *sparseSums[T]) Finish(g []float64) {
	for k, touched := range s.touched {
		if touched {
			first, last := k*groupCols, min((k+1)*groupCols, len(g))
			kernel.ReduceLanes(s.lanes[first*kernel.Lanes:last*kernel.Lanes], g[first:last])
		}
	}
	clear(s.touched)
}
