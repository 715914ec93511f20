package table

import (
	"slices"

	"toptau/internal/core/text"
	"toptau/internal/data/packed"
	"toptau/schema"
)

// Value returns a value of a numeric column: finite, or NaN for a missing value.
func (c *Column) Value(row int) float64 {
	if c.segments == nil {
		return c.Values[row]
	}
	return c.segments[row/packed.SegmentRows].Number(row % packed.SegmentRows)
}

// Code returns a value of a categorical column: the index in Dictionary, or -1 for a missing value.
func (c *Column) Code(row int) int32 {
	if c.segments == nil {
		return c.Codes[row]
	}
	return c.segments[row/packed.SegmentRows].Whole(row % packed.SegmentRows)
}

// Text returns a value as text: a number in its shortest form, a category, or nothing if the value is missing.
func (c *Column) Text(row int) string {
	if c.Kind == schema.Categorical {
		if code := c.Code(row); code >= 0 {
			return c.Dictionary[code]
		}
		return ""
	}
	if x := c.Value(row); x == x {
		return text.Decimal(x)
	}
	return ""
}

// AllValues returns the values of all rows of a numeric column. The caller must not change them.
func (c *Column) AllValues() []float64 {
	if c.segments == nil {
		return c.Values
	}
	return c.AppendValues(nil)
}

// AppendValues appends the values of all rows of a numeric column.
func (c *Column) AppendValues(to []float64) []float64 {
	if c.segments == nil {
		return append(to, c.Values...)
	}
	for i := range c.segments {
		n, rows := len(to), c.segments[i].Rows()
		to = slices.Grow(to, rows)[:n+rows]
		copy(to[n:], c.segments[i].Numbers(0, rows, to[n:]))
	}
	return to
}

// Range returns the values of a numeric column in n rows from first on, without a copy or in space, which
// must have at least n elements. The caller must not change them.
func (c *Column) Range(first, n int, space []float64) []float64 {
	if c.segments == nil {
		return c.Values[first : first+n]
	}
	i := first % packed.SegmentRows
	if i+n <= packed.SegmentRows {
		return c.segments[first/packed.SegmentRows].Numbers(i, n, space)
	}
	for to := space[:n]; len(to) > 0; i = 0 {
		k := min(len(to), packed.SegmentRows-i)
		copy(to, c.segments[first/packed.SegmentRows].Numbers(i, k, to))
		first, to = first+k, to[k:]
	}
	return space[:n]
}

// ReadCodes writes the codes of a categorical column to dst, from row first on.
func (c *Column) ReadCodes(first int, dst []int32) {
	if c.segments == nil {
		copy(dst, c.Codes[first:])
		return
	}
	for len(dst) > 0 {
		i := first % packed.SegmentRows
		n := min(len(dst), packed.SegmentRows-i)
		c.segments[first/packed.SegmentRows].Wholes(i, dst[:n])
		first, dst = first+n, dst[n:]
	}
}

// pack moves rows into packed segments: as many as fill segments, or all of them at the end of the file.
func (t *Table) pack(end bool) {
	for k := range t.Columns {
		t.Columns[k].pack(end)
	}
}

func (c *Column) pack(end bool) {
	switch {
	case c.stored != nil:
	case c.Kind == schema.Categorical:
		c.Codes = packRows(&c.segments, c.Codes, packed.NewCodes, end)
	default:
		c.Values = packRows(&c.segments, c.Values, packed.NewNumbers, end)
	}
}

// packRows appends segments of the values and returns the remaining values, moved to the start of their
// memory.
func packRows[T any](to *[]packed.Segment, values []T, seal func([]T) packed.Segment, end bool) []T {
	taken := 0
	for ; len(values)-taken >= packed.SegmentRows; taken += packed.SegmentRows {
		*to = append(*to, seal(values[taken:taken+packed.SegmentRows]))
	}
	if end {
		if taken < len(values) {
			*to = append(*to, seal(values[taken:]))
		}
		return nil
	}
	return values[:copy(values, values[taken:])]
}

// FeatureBytes returns the memory of the features.
func (t *Table) FeatureBytes() int64 {
	total := int64(0)
	for k := range t.Columns {
		c := &t.Columns[k]
		total += int64(8*len(c.Values) + 4*len(c.Codes))
		for i := range c.segments {
			total += c.segments[i].Bytes()
		}
	}
	if t.Sparse != nil {
		total += int64(12 * len(t.Sparse.Index))
	}
	return total
}

// Release releases the packed values of the features in the rows before row (see Options.Packed) and returns
// their bytes. They must not be read afterwards. Calls come with ascending rows: it stops at the segments of the call before.
func (t *Table) Release(row int) int64 {
	freed := int64(0)
	for k := range t.Columns {
		segments := t.Columns[k].segments
		for i := min(row/packed.SegmentRows, len(segments)) - 1; i >= 0 && segments[i].Bytes() > 0; i-- {
			freed += segments[i].Bytes()
			segments[i].Release()
		}
	}
	return freed
}

// packer packs the columns of a table that grows, whenever it has a segment more.
type packer struct {
	on     bool
	packed int // rows
}

func (p *packer) pack(t *Table) {
	if p.on && t.Rows() >= p.packed+packed.SegmentRows {
		t.pack(false)
		p.packed = t.Rows() / packed.SegmentRows * packed.SegmentRows
	}
}
