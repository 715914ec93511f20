package certified

import (
	"math"

	"toptau/internal/kernel"
)

// frame is the column values that all rows of a problem are measured from. A shift of all rows moves every score and
// the threshold alike and changes nothing else.
type frame struct {
	centre []float64 // subtracted from every row: products see x - centre
	common []float64 // of sparse rows: the values that most rows have; only differences from them are stored
	sparse bool
	work   float64 // multiplications that a row costs in a Gram matrix, about
	visits float64 // rows read by products so far
}

// rows is a growing set of weighted rows in float64, seen as x - centre. Dense rows are shifted when they are added;
// sparse rows are stored as x - common, and the shift centre - common is applied to every product.
type rows struct {
	*frame
	d      int
	n      int
	shift  []float64
	weight []float64
	dense  []float64 // n x d, shifted
	start  []int
	index  []int32
	value  []float64
}

func newRows(f *frame) *rows {
	r := &rows{frame: f, d: len(f.centre), start: []int{0}}
	if f.sparse {
		r.shift = make([]float64, r.d)
		for j, c := range f.centre {
			r.shift[j] = c - f.common[j]
		}
	}
	return r
}

// add appends a row, which is copied.
func (r *rows) add(x []float64, weight float64) {
	if r.sparse {
		for j, v := range x {
			if v != r.common[j] {
				r.index = append(r.index, int32(j))
				r.value = append(r.value, v-r.common[j])
			}
		}
		r.start = append(r.start, len(r.index))
	} else {
		for j, v := range x {
			r.dense = append(r.dense, v-r.centre[j])
		}
	}
	r.weight = append(r.weight, weight)
	r.n++
}

// truncate drops all rows from n on.
func (r *rows) truncate(n int) {
	r.n, r.weight = n, r.weight[:n]
	if r.sparse {
		r.start = r.start[:n+1]
		r.index, r.value = r.index[:r.start[n]], r.value[:r.start[n]]
	} else {
		r.dense = r.dense[:n*r.d]
	}
}

// same reports whether row i is x.
func (r *rows) same(i int, x []float64) bool {
	if !r.sparse {
		for j, v := range r.dense[i*r.d : (i+1)*r.d] {
			if v != x[j]-r.centre[j] {
				return false
			}
		}
		return true
	}
	k, end := r.start[i], r.start[i+1]
	for j, v := range x {
		if v == r.common[j] {
			continue
		}
		if k == end || r.index[k] != int32(j) || r.value[k] != v-r.common[j] {
			return false
		}
		k++
	}
	return k == end
}

// rowBlock is the number of rows that one task of a product handles. It depends on nothing, so neither does the sum.
const rowBlock = 512

func (r *rows) blocks() int { return (r.n + rowBlock - 1) / rowBlock }

func (r *rows) products() float64 {
	if r.sparse {
		return float64(len(r.index))
	}
	return float64(len(r.dense))
}

// times sets z = X w - (c'w).
func (r *rows) times(w, z []float64) {
	r.visits += float64(r.n)
	parallel(r.blocks(), r.products(), func(b int) {
		r.timesRange(w, z, b*rowBlock, min((b+1)*rowBlock, r.n))
	})
}

// timesRange is times for the rows from to end.
func (r *rows) timesRange(w, z []float64, from, end int) {
	if !r.sparse {
		i, d := from, r.d
		for ; i+4 <= end; i += 4 {
			x := r.dense[i*d : (i+4)*d]
			z[i], z[i+1], z[i+2], z[i+3] = dot4(x[:d], x[d:2*d], x[2*d:3*d], x[3*d:], w[:d])
		}
		for ; i < end; i++ {
			z[i] = dot(r.dense[i*d:(i+1)*d], w)
		}
		return
	}
	offset := dot(r.shift, w)
	for i := from; i < end; i++ {
		var s float64
		for k := r.start[i]; k < r.start[i+1]; k++ {
			s += float64(r.value[k] * w[r.index[k]])
		}
		z[i] = s - offset
	}
}

// row writes row i, shifted, to dst.
func (r *rows) row(i int, dst []float64) {
	if !r.sparse {
		copy(dst, r.dense[i*r.d:(i+1)*r.d])
		return
	}
	for j, c := range r.shift {
		dst[j] = -c
	}
	for k := r.start[i]; k < r.start[i+1]; k++ {
		dst[r.index[k]] += r.value[k]
	}
}

// addTransposed adds scale * (X'v - c sum v) to g. Blocks of rows are summed apart and added in their order.
func (r *rows) addTransposed(v []float64, scale float64, g []float64) {
	r.visits += float64(r.n)
	blocks := r.blocks()
	parts := make([]float64, blocks*r.d)
	parallel(blocks, r.products(), func(b int) {
		part := parts[b*r.d : (b+1)*r.d]
		for i := b * rowBlock; i < min((b+1)*rowBlock, r.n); i++ {
			if v[i] == 0 {
				continue
			}
			if !r.sparse {
				axpy(v[i], r.dense[i*r.d:(i+1)*r.d], part)
				continue
			}
			for k := r.start[i]; k < r.start[i+1]; k++ {
				part[r.index[k]] += float64(v[i] * r.value[k])
			}
		}
	})
	for b := range blocks {
		axpy(scale, parts[b*r.d:(b+1)*r.d], g)
	}
	if r.sparse {
		axpy(-scale*sum(v[:r.n]), r.shift, g)
	}
}

// addGram adds X'DX of the shifted rows to the lower triangle of h, whose rows are stride long. Rows whose share of
// the diagonal cannot reach the last bits are left out.
func (r *rows) addGram(diagonal []float64, h []float64, stride int) {
	r.visits += float64(r.n)
	var largest float64
	for _, v := range diagonal[:r.n] {
		largest = math.Max(largest, v)
	}
	least := 1e-18 * largest / float64(1+r.n)
	if r.sparse {
		r.addSparseGram(diagonal, least, h, stride)
		return
	}
	r.addDenseGram(diagonal, least, h, stride)
}

// gramChunk is the number of rows that are packed at a time.
const gramChunk = 256

func (r *rows) addDenseGram(diagonal []float64, least float64, h []float64, stride int) {
	d := r.d
	packed := make([]float64, d*gramChunk)
	roots := make([]float64, gramChunk)
	list := make([]int, 0, gramChunk)
	flush := func() {
		m := len(list)
		// The rows of a row space end in zeros: their products beyond that are left out.
		width := 0
		for _, i := range list {
			row := r.dense[i*d : (i+1)*d]
			for j := d; j > width; j-- {
				if row[j-1] != 0 {
					width = j
				}
			}
		}
		strips := (width + choleskyBlock - 1) / choleskyBlock
		// Column-major, scaled by the root of D: the Gram matrix is then a product of columns with columns.
		parallel(strips, float64(m*width), func(s int) {
			for j := s * choleskyBlock; j < min((s+1)*choleskyBlock, width); j++ {
				column := packed[j*m : j*m+m]
				for k, i := range list {
					column[k] = roots[k] * r.dense[i*d+j]
				}
			}
		})
		parallel(strips, float64(m)*float64(width)*float64(width)/2, func(s int) {
			from := s * choleskyBlock
			if width < narrowGram {
				addProducts(packed, m, h, stride, from, min(from+choleskyBlock, width))
			} else {
				addPanelProducts(packed, m, h, stride, from, width)
			}
		})
		list = list[:0]
	}
	for i, v := range diagonal[:r.n] {
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

// narrowGram is the number of columns below which most of a panel would be padding.
const narrowGram = 40

// addPanelProducts adds the inner products of packed columns j in a strip with columns i in j..width to h. The strip's columns
// lie in a panel, so that the products of a column i are scores with it for weights. The bits are those of addProducts.
func addPanelProducts(packed []float64, m int, h []float64, stride, from, width int) {
	end := min(from+kernel.PanelRows, width)
	panel, sums := make([]float64, m*kernel.PanelRows), make([]float64, kernel.PanelRows)
	for j := from; j < end; j++ {
		for k, v := range packed[j*m : j*m+m] {
			panel[k*kernel.PanelRows+j-from] = v
		}
	}
	for i := from; i < width; i++ {
		kernel.ScorePanels(panel, packed[i*m:i*m+m], sums, false)
		row := h[i*stride+from : i*stride+min(end, i+1)]
		for j := range row {
			row[j] += sums[j]
		}
	}
}

// addProducts adds the inner products of packed columns i in i0..i1 with columns j <= i to h.
func addProducts(packed []float64, m int, h []float64, stride, i0, i1 int) {
	column := func(j int) []float64 { return packed[j*m : j*m+m] }
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
			if j < i { // above the diagonal nothing is kept
				t0[1] += s01
				t0[2] += s02
				t1[2] += s12
			}
		}
	}
	for ; i < i1; i++ {
		for j := 0; j <= i; j++ {
			h[i*stride+j] += dot(column(i), column(j))
		}
	}
}

// addSparseGram uses (x-c)(x-c)' = xx' - xc' - cx' + cc', summed over the rows: X'DX - uc' - cu' + (sum D) cc', u = X'D1.
func (r *rows) addSparseGram(diagonal []float64, least float64, h []float64, stride int) {
	d := r.d
	u := make([]float64, d)
	var total, pairs float64
	for i, v := range diagonal[:r.n] {
		if v <= least {
			continue
		}
		total += v
		length := float64(r.start[i+1] - r.start[i])
		pairs += float64(length * length / 2)
		for k := r.start[i]; k < r.start[i+1]; k++ {
			u[r.index[k]] += float64(v * r.value[k])
		}
	}
	// Every task owns some rows of h; an entry is summed over the data's rows in their order, whoever does it.
	strips := 1
	if pairs > 1e5 {
		strips = 8
	}
	parallel(strips, pairs, func(s int) {
		for i, v := range diagonal[:r.n] {
			if v <= least {
				continue
			}
			index, value := r.index[r.start[i]:r.start[i+1]], r.value[r.start[i]:r.start[i+1]]
			for a, ja := range index {
				if int(ja)%strips != s {
					continue
				}
				row := h[int(ja)*stride : int(ja)*stride+int(ja)+1]
				c := v * value[a]
				for b, jb := range index[:a+1] {
					row[jb] += float64(c * value[b])
				}
			}
		}
		for i := range d {
			if i%strips != s {
				continue
			}
			row := h[i*stride : i*stride+i+1]
			ci, ui := r.shift[i], u[i]
			for j := range row {
				row[j] += float64(float64(total*ci)*r.shift[j]) - (float64(ui*r.shift[j]) + float64(ci*u[j]))
			}
		}
	})
}
