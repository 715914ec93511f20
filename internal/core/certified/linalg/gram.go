package linalg

import (
	"math"
	"runtime"

	"toptau/internal/core/kernel"
)

// negligible is the part of the largest diagonal element, over the number of rows, below which a row is left
// out of a Gram matrix. All rows left out together add less than one part in 1e18 to D, which is below the
// rounding of a float64.
const negligible = 1e-18

// AddGram adds X'DX of the shifted rows to the lower triangle of h, whose rows are stride long. diagonal is
// D.
func (r *Rows) AddGram(diagonal []float64, h []float64, stride int) {
	r.Visits += float64(r.N)
	// Rows far from every corner have a D near 0. Most rows held are such rows after a few steps.
	var largest float64
	for _, v := range diagonal[:r.N] {
		largest = math.Max(largest, v)
	}
	least := negligible * largest / float64(1+r.N)
	if r.Sparse {
		r.addSparseGram(diagonal, least, h, stride)
		return
	}
	r.addDenseGram(diagonal, least, h, stride)
}

// gramChunk is the number of rows that are packed at a time. A packed chunk of 64 columns takes 128 KB and
// stays in the second-level cache. It is part of the order of the sums.
const gramChunk = 256

func (r *Rows) addDenseGram(diagonal []float64, least float64, h []float64, stride int) {
	d := r.D
	// Rows that matter are collected in list, with the roots of their D, and added to h a chunk at a time.
	packed := make([]float64, d*gramChunk)
	roots := make([]float64, gramChunk)
	list := make([]int, 0, gramChunk)
	flush := func() {
		m := len(list)
		// The rows of a row space are a lower triangle: they end in zeros, whose products need not be formed.
		width := 0
		for _, i := range list {
			row := r.dense[i*d : (i+1)*d]
			for j := d; j > width; j-- {
				if row[j-1] != 0 {
					width = j
				}
			}
		}
		strips := (width + panel - 1) / panel
		// Pack the chunk column-major, scaled by the root of D. An element of the Gram matrix is then the
		// inner product of two contiguous columns.
		For(strips, float64(m*width), func(s int) {
			for j := s * panel; j < min((s+1)*panel, width); j++ {
				column := packed[j*m : j*m+m]
				for k, i := range list {
					column[k] = roots[k] * r.dense[i*d+j]
				}
			}
		})
		For(strips, float64(m)*float64(width)*float64(width)/2, func(s int) {
			from := s * panel
			if width < narrowGram {
				addProducts(packed, m, h, stride, from, min(from+panel, width))
			} else {
				addPanelProducts(packed, m, h, stride, from, width)
			}
		})
		list = list[:0]
	}
	for i, v := range diagonal[:r.N] {
		if v <= least {
			continue
		}
		roots[len(list)] = math.Sqrt(v)
		list = append(list, i)
		if len(list) == gramChunk {
			flush()
		}
	}
	if len(list) > 0 {
		flush()
	}
}

// narrowGram is the number of columns below which addProducts is faster than addPanelProducts: most of a
// panel of 64 columns would be padding. Both give the same bits.
const narrowGram = 40

// addPanelProducts adds the inner products of the packed columns j of a strip with the columns i in j..width
// to h. The strip's columns are copied to a panel of package kernel. The products of a column i are then the
// panel's scores for the weights column(i). The bits are those of addProducts.
func addPanelProducts(packed []float64, m int, h []float64, stride, from, width int) {
	end := min(from+kernel.PanelRows, width)
	strip, sums := make([]float64, m*kernel.PanelRows), make([]float64, kernel.PanelRows)
	for j := from; j < end; j++ {
		for k, v := range packed[j*m : j*m+m] {
			strip[k*kernel.PanelRows+j-from] = v
		}
	}
	for i := from; i < width; i++ {
		kernel.ScorePanels(strip, packed[i*m:i*m+m], sums, false)
		row := h[i*stride+from : i*stride+min(end, i+1)]
		for j := range row {
			row[j] += sums[j]
		}
	}
}

// addProducts adds the inner products of packed columns i in i0..i1 with columns j <= i to h.
func addProducts(packed []float64, m int, h []float64, stride, i0, i1 int) {
	column := func(j int) []float64 { return packed[j*m : j*m+m] }
	// Tiles of three by three columns. The diagonal tile is computed whole.
	i := i0
	for ; i+3 <= i1; i += 3 {
		a0, a1, a2 := column(i), column(i+1), column(i+2)
		j := 0
		for ; j+3 <= i+3; j += 3 {
			s00, s01, s02, s10, s11, s12, s20, s21, s22 := dot33(a0, a1, a2, column(j), column(j+1), column(j+2))
			t0 := h[i*stride+j : i*stride+j+3]
			t1 := h[(i+1)*stride+j : (i+1)*stride+j+3]
			t2 := h[(i+2)*stride+j : (i+2)*stride+j+3]
			t0[0] += s00
			t1[0] += s10
			t1[1] += s11
			t2[0] += s20
			t2[1] += s21
			t2[2] += s22
			if j < i { // else these are above the diagonal
				t0[1] += s01
				t0[2] += s02
				t1[2] += s12
			}
		}
	}
	for ; i < i1; i++ {
		for j := 0; j <= i; j++ {
			h[i*stride+j] += Dot(column(i), column(j))
		}
	}
}

// addSparseGram expands (x-c)(x-c)' = xx' - xc' - cx' + cc'. Summed over the rows this is X'DX - uc' - cu' +
// (sum D) cc' with u = X'D1, so that only products of stored values are formed row by row.
func (r *Rows) addSparseGram(diagonal []float64, least float64, h []float64, stride int) {
	// u, sum D, and the number of products, which decides whether goroutines pay.
	r.buildColumns()
	d := r.D
	u, counted := make([]float64, d), make([]float64, r.N)
	var total, pairs float64
	for i, v := range diagonal[:r.N] {
		if v > least {
			counted[i] = v
			total += v
			length := float64(r.start[i+1] - r.start[i])
			pairs += float64(length * length / 2)
		}
	}
	for b := range r.byColumn {
		r.byColumn[b].addTransposed(counted[b*rowBlock:min((b+1)*rowBlock, r.N)], u)
	}
	// Each strip owns every strips-th row of h, and looks at all entries for those that it owns. An element is summed over the data's rows in
	// order, so the bits do not depend on the number of strips, a power of 2.
	strips := 1
	for pairs > inlineWork && strips < min(runtime.GOMAXPROCS(0), 8) {
		strips *= 2
	}
	last := strips - 1
	For(strips, pairs, func(s int) {
		for i, v := range diagonal[:r.N] {
			if from, end := r.start[i], r.start[i+1]; v > least {
				addOuterProduct(v, r.index[from:end], r.value[from:end], h, stride, s, last)
			}
		}
		// The terms of the offset.
		for i := s; i < d; i += last + 1 {
			row := h[i*stride : i*stride+i+1]
			ci, ui, u, offset := r.offset[i], u[i], u[:len(row)], r.offset[:len(row)]
			for j := range row {
				row[j] += float64(float64(total*ci)*offset[j]) - (float64(ui*offset[j]) + float64(ci*u[j]))
			}
		}
	})
}

// addOuterProduct adds v xx' for the entries of a row x to the rows j of h with j & last = s, up to the diagonal, two rows of h at a time.
func addOuterProduct(v float64, index []int32, value, h []float64, stride, s, last int) {
	waiting := -1 // the entry of a row of h that waits for another
	for a, j := range index {
		switch {
		case int(j)&last != s:
		case waiting < 0:
			waiting = a
		default:
			both, row := waiting+1, h[int(j)*stride:][:stride]
			addTwoRows(v*value[waiting], v*value[a], index[:both], value, h[int(index[waiting])*stride:][:stride], row)
			addToRow(v*value[a], index[both:a+1], value[both:], row)
			waiting = -1
		}
	}
	if waiting >= 0 {
		addToRow(v*value[waiting], index[:waiting+1], value, h[int(index[waiting])*stride:][:stride])
	}
}

// addToRow adds c x to a row for a sparse x.
func addToRow(c float64, index []int32, value, row []float64) {
	for b, j := range index {
		row[j] += float64(c * value[b])
	}
}

// addTwoRows adds c0 x and c1 x to two rows of the same length for a sparse x. It is not inlined, so that its loop stays in registers.
//
//go:noinline
func addTwoRows(c0, c1 float64, index []int32, value, row0, row1 []float64) {
	value, row1 = value[:len(index)], row1[:len(row0)]
	for b, j := range index {
		x := value[b]
		row0[j] += float64(c0 * x)
		row1[j] += float64(c1 * x)
	}
}

// Products sets the inner products of the rows from to end-1 of r, at most kernel.PanelRows of them, with the first n rows of other. The
// product with row j is out[j*kernel.PanelRows+k] for row from+k. Both sets have the same shift.
func (r *Rows) Products(from, end int, other *Rows, n int, out []float64) {
	if n == 0 {
		return
	}
	d := r.D
	columns, eight := make([]float64, d*kernel.PanelRows), make([]float64, 8*d)
	for i := from; i < end; i += 8 { // eight values fill a cache line of a column
		rows := min(8, end-i)
		for k := range rows {
			r.Row(i+k, eight[k*d:(k+1)*d])
		}
		for j := range d {
			column := columns[j*kernel.PanelRows+i-from:][:rows]
			for k := range column {
				column[k] = eight[k*d+j]
			}
		}
	}
	if other.Sparse {
		other.sparseProducts(columns, n, out)
		return
	}
	strips := (n + panel - 1) / panel
	For(strips, float64(n)*float64(d)*kernel.PanelRows, func(s int) {
		first, last := s*panel, min((s+1)*panel, n)
		for k0 := 0; k0 < d; k0 += productChunk {
			k1 := min(k0+productChunk, d)
			for j := first; j < last; j++ {
				kernel.ScorePanels(columns[k0*kernel.PanelRows:k1*kernel.PanelRows], other.dense[j*d+k0:j*d+k1],
					out[j*kernel.PanelRows:(j+1)*kernel.PanelRows], k0 > 0)
			}
		}
	})
}

// sparseChunk is the number of stored values of a row that are multiplied with a part of a panel at a time, so that the part stays in the
// second-level cache.
const sparseChunk = 64

// sparseProducts sets the inner products of the first n rows with the 64 rows of a panel, as Products does.
func (r *Rows) sparseProducts(columns []float64, n int, out []float64) {
	shifts := make([]float64, kernel.PanelRows)
	kernel.ScorePanels(columns, r.offset, shifts, false)
	chunk := max(productChunk, r.D*sparseChunk*n/max(1, r.start[n])) // columns

	strips := (n + panel - 1) / panel
	For(strips, float64(r.start[n])*kernel.PanelRows, func(s int) {
		first, last := s*panel, min((s+1)*panel, n)
		next := make([]int, last-first) // entry of each row
		for j := first; j < last; j++ {
			next[j-first] = r.start[j]
			for k, v := range shifts {
				out[j*kernel.PanelRows+k] = -v
			}
		}
		for k0 := 0; k0 < r.D; k0 += chunk {
			for j := first; j < last; j++ {
				e := next[j-first]
				end := e
				for end+16 <= r.start[j+1] && int(r.index[end+15]) < k0+chunk {
					end += 16
				}
				for end < r.start[j+1] && int(r.index[end]) < k0+chunk {
					end++
				}
				kernel.ScoreListed(columns, r.index[e:end], r.value[e:end], out[j*kernel.PanelRows:(j+1)*kernel.PanelRows])
				next[j-first] = end
			}
		}
	})
}
