package linalg

// Rows is a growing set of weighted rows in float64. All products see the rows as x - Centre. Dense rows are
// stored shifted. Sparse rows are stored as x - Common, and the remaining offset Centre - Common is applied
// to every product.
type Rows struct {
	*Shift
	D      int       // columns
	N      int       // rows
	Weight []float64 // of the rows
	offset []float64 // Centre - Common; sparse rows only
	dense  []float64 // N x D, shifted; dense rows only
	start  []int     // row i has the entries start[i] to start[i+1]-1 of index and value; sparse rows only
	index  []int32   // columns, ascending within a row
	value  []float64 // x - Common

	byColumn []columnBlock // sparse rows again, by columns
}

// NewRows returns an empty set.
func NewRows(f *Shift) *Rows {
	r := &Rows{Shift: f, D: len(f.Centre), start: []int{0}}
	if f.Sparse {
		r.offset = make([]float64, r.D)
		for j, c := range f.Centre {
			r.offset[j] = c - f.Common[j]
		}
	}
	return r
}

// RowsOf returns dense rows without a shift that are in x, row-major, with d columns. x is not copied.
func RowsOf(x []float64, d int, weight []float64) *Rows {
	return &Rows{Shift: NewShift(d), D: d, N: len(weight), Weight: weight, dense: x[: len(weight)*d : len(weight)*d]}
}

// Add appends a copy of a row.
func (r *Rows) Add(x []float64, weight float64) {
	if r.Sparse {
		for j, v := range x {
			if v != r.Common[j] {
				r.index = append(r.index, int32(j))
				r.value = append(r.value, v-r.Common[j])
			}
		}
		r.start = append(r.start, len(r.index))
	} else {
		for j, v := range x {
			r.dense = append(r.dense, v-r.Centre[j])
		}
	}
	r.Weight = append(r.Weight, weight)
	r.N++
}

// Truncate keeps the first n rows.
func (r *Rows) Truncate(n int) {
	r.N, r.Weight = n, r.Weight[:n]
	if r.Sparse {
		r.start, r.byColumn = r.start[:n+1], r.byColumn[:min(len(r.byColumn), n/rowBlock)]
		r.index, r.value = r.index[:r.start[n]], r.value[:r.start[n]]
	} else {
		r.dense = r.dense[:n*r.D]
	}
}

// Equal reports whether row i equals x.
func (r *Rows) Equal(i int, x []float64) bool {
	if !r.Sparse {
		for j, v := range r.dense[i*r.D : (i+1)*r.D] {
			if v != x[j]-r.Centre[j] {
				return false
			}
		}
		return true
	}
	k, end := r.start[i], r.start[i+1]
	for j, v := range x {
		if v == r.Common[j] {
			continue
		}
		if k == end || r.index[k] != int32(j) || r.value[k] != v-r.Common[j] {
			return false
		}
		k++
	}
	return k == end
}

// rowBlock is the number of rows per block of a product. Blocks are summed on their own and added in order,
// so changing it changes results in the last bits.
const rowBlock = 512

func (r *Rows) blocks() int { return (r.N + rowBlock - 1) / rowBlock }

// Stored is the number of stored values: the multiplications of one product with all rows.
func (r *Rows) Stored() float64 {
	if r.Sparse {
		return float64(len(r.index))
	}
	return float64(len(r.dense))
}

// Times sets z = (X - c) w, one element for each row.
func (r *Rows) Times(w, z []float64) {
	r.Visits += float64(r.N)
	var offset float64
	if r.Sparse {
		r.buildColumns()
		offset = Dot(r.offset, w)
	}
	For(r.blocks(), r.Stored(), func(b int) {
		from, end := b*rowBlock, min((b+1)*rowBlock, r.N)
		if r.Sparse {
			r.byColumn[b].times(w, offset, z[from:end])
			return
		}
		r.TimesRange(w, z, from, end)
	})
}

// TimesRange is Times for the rows from to end-1.
func (r *Rows) TimesRange(w, z []float64, from, end int) {
	if !r.Sparse {
		i, d := from, r.D
		for ; i+8 <= end; i += 8 {
			x := r.dense[i*d : (i+8)*d]
			dot8(x, w[:d], (*[8]float64)(z[i:]))
		}
		for ; i+4 <= end; i += 4 {
			x := r.dense[i*d : (i+4)*d]
			z[i], z[i+1], z[i+2], z[i+3] = Dot4(x[:d], x[d:2*d], x[2*d:3*d], x[3*d:], w[:d])
		}
		for ; i < end; i++ {
			z[i] = Dot(r.dense[i*d:(i+1)*d], w)
		}
		return
	}
	// (x - Centre)'w = (x - Common)'w - (Centre - Common)'w
	offset := Dot(r.offset, w)
	for i := from; i < end; i++ {
		var s float64
		for k := r.start[i]; k < r.start[i+1]; k++ {
			s += float64(r.value[k] * w[r.index[k]])
		}
		z[i] = s - offset
	}
}

// Row writes row i, shifted, to dst.
func (r *Rows) Row(i int, dst []float64) {
	if !r.Sparse {
		copy(dst, r.dense[i*r.D:(i+1)*r.D])
		return
	}
	for j, c := range r.offset {
		dst[j] = -c
	}
	for k := r.start[i]; k < r.start[i+1]; k++ {
		dst[r.index[k]] += r.value[k]
	}
}

// addDenseRows adds v_i times row i to part for the rows from to end-1, in ascending order. Rows with v_i = 0 are left out.
func (r *Rows) addDenseRows(v []float64, from, end int, part []float64) {
	row := func(i int) []float64 { return r.dense[i*r.D : (i+1)*r.D] }
	var four [4]int
	n := 0
	for i := from; i < end; i++ {
		if v[i] == 0 {
			continue
		}
		four[n] = i
		if n++; n == len(four) {
			a, b, c, d := four[0], four[1], four[2], four[3]
			Axpy4(v[a], v[b], v[c], v[d], row(a), row(b), row(c), row(d), part)
			n = 0
		}
	}
	for _, i := range four[:n] {
		Axpy(v[i], row(i), part)
	}
}

// AddTransposed adds scale (X - c)'v to g. Blocks of rows are summed on their own and added in order.
func (r *Rows) AddTransposed(v []float64, scale float64, g []float64) {
	r.Visits += float64(r.N)
	if r.Sparse {
		r.buildColumns()
	}
	blocks := r.blocks()
	parts := make([]float64, blocks*r.D)
	For(blocks, r.Stored(), func(b int) {
		part, from, end := parts[b*r.D:(b+1)*r.D], b*rowBlock, min((b+1)*rowBlock, r.N)
		if r.Sparse {
			r.byColumn[b].addTransposed(v[from:end], part)
			return
		}
		r.addDenseRows(v, from, end, part)
	})
	for b := range blocks {
		Axpy(scale, parts[b*r.D:(b+1)*r.D], g)
	}
	if r.Sparse {
		Axpy(-scale*Sum(v[:r.N]), r.offset, g)
	}
}
