package linalg

// columnBlock has the entries of up to rowBlock sparse rows column after column, those of a column in the order of the rows. Products add
// the terms of many rows in turn, or those of a column in a register, where row after row each addition waits for the one before.
// The order of every sum is that of the rows or columns.
type columnBlock struct {
	rows   int       // of the block
	column []int32   // those with entries, ascending
	start  []int32   // entries of column[k]: start[k] to start[k+1]-1 of the lists below
	row    []uint16  // within the block
	value  []float64 // x - Common
}

// buildColumns makes the blocks of sparse rows that have changed.
func (r *Rows) buildColumns() {
	var next []int32 // by column: the number of its entries, then where its next entry belongs
	for b := range r.blocks() {
		first, end := b*rowBlock, min((b+1)*rowBlock, r.N)
		if b < len(r.byColumn) && r.byColumn[b].rows == end-first {
			continue
		}
		if next == nil {
			next = make([]int32, r.D)
		}
		r.byColumn = append(r.byColumn[:b], r.columnBlock(first, end, next))
	}
}

// columnBlock returns the block of the rows first to end-1. next is scratch of zeros, which it clears again.
func (r *Rows) columnBlock(first, end int, next []int32) columnBlock {
	from, to := r.start[first], r.start[end]
	for _, j := range r.index[from:to] {
		next[j]++
	}
	b := columnBlock{rows: end - first, start: []int32{0}, row: make([]uint16, to-from), value: make([]float64, to-from)}
	used := int32(0)
	for j, count := range next {
		if count > 0 {
			next[j], used = used, used+count
			b.column, b.start = append(b.column, int32(j)), append(b.start, used)
		}
	}
	for i := first; i < end; i++ {
		for k := r.start[i]; k < r.start[i+1]; k++ {
			e := next[r.index[k]]
			next[r.index[k]]++
			b.row[e], b.value[e] = uint16(i-first), r.value[k]
		}
	}
	for _, j := range b.column {
		next[j] = 0
	}
	return b
}

// times sets z to the products of the block's rows with w, less offset.
func (b *columnBlock) times(w []float64, offset float64, z []float64) {
	var sums [rowBlock]float64
	for k, j := range b.column {
		wj, rows := w[j], b.row[b.start[k]:b.start[k+1]]
		for e, x := range b.value[b.start[k]:b.start[k+1]] {
			sums[rows[e]%rowBlock] += float64(x * wj)
		}
	}
	for i := range z {
		z[i] = sums[i] - offset
	}
}

// addTransposed adds the products of the block's columns with v to g. Without -0 in g, a v of 0 adds nothing.
func (b *columnBlock) addTransposed(v, g []float64) {
	var all [rowBlock]float64
	copy(all[:], v)
	for k, j := range b.column {
		rows := b.row[b.start[k]:b.start[k+1]]
		sum := g[j]
		for e, x := range b.value[b.start[k]:b.start[k+1]] {
			sum += float64(all[rows[e]%rowBlock] * x)
		}
		g[j] = sum
	}
}
