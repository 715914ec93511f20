package matrix

import (
	"errors"
	"fmt"
	"math"
	"sync"
)

// Group is one categorical column, or one column in bins, of a Coded block. Each of its levels is a column of the matrix. A
// row has
//
//	one level c: Values[c] (1 when Values is nil) in column c, 0 elsewhere;
//	a fraction f between levels c and c+1 (Between): 1-f in column c, f in column c+1, 0 elsewhere;
//	or no level (a category that training did not have): 0 in all columns.
type Group struct {
	Levels  int       // at least 1; at least 2 with Between
	Between bool      // rows may have fractions; then Values is nil
	Values  []float64 // one for each level, rounded to the storage; nil when all are 1
}

// CodedSpec returns the description of a Coded block. The block takes a byte per group and row, two or four bytes where a
// group has more than 255 or 65,535 levels, and four more with Between. Combinations may take two bytes per row.
func CodedSpec(groups []Group) BlockSpec {
	spec := BlockSpec{Kind: Coded, Groups: groups}
	for _, g := range groups {
		spec.Cols += g.Levels
	}
	return spec
}

// Fraction rounds a fraction in [0,1] to a multiple of 2^-24. Then f and 1-f are both exact in float32, so that a row
// between two levels has the same values in any storage. A Coded block accepts no other fractions.
func Fraction(f float64) float64 {
	const whole = 1 << 52 // the distance of neighbours from here on is 1, so that a sum rounds to a whole number, halves to even
	return (float64(f*(1<<24)) + whole - whole) / (1 << 24)
}

// coded is a block of groups. Neighbouring groups with the same kind of code form a run.
//
// For each group in order, a row adds w[c] to its score, or (1-f) w[c] and then f w[c+1]. It adds v to a lane of column c in
// the same way. These are the operations of the same values in panels or compressed rows.
type coded struct {
	width int
	runs  []codedRun

	once sync.Once
	few  *Combinations // see combinations
}

// codedRun is consecutive groups with codes of one size. codes[C] implements it.
type codedRun interface {
	// add appends a row and returns the number of its entries in the run. bad is the index of the first value that is not
	// finite, or -1.
	add(cols []uint32, values []float64) (taken, bad int, err error)
	// flush makes the last rows final. It must be called once after the last row.
	flush()
	// scores adds the scores of the panels from first up to end to z, or replaces z.
	scores(first, end int, w, z []float64, add bool)
	// accumulate adds a panel's part of X'v to the block's lanes; active lists the rows with a coefficient.
	accumulate(panel int, v []float64, active []uint8, lanes []float64)
	// appendRow appends the nonzero values of a row.
	appendRow(i int, e *rowEntries)
	take(rows []int) codedRun
	bytes() int64
	// appendKey appends the codes of a row.
	appendKey(i int, key []byte) []byte
	// interpolates reports whether rows may lie between two levels.
	interpolates() bool
	// values returns the largest number of nonzero values of a row.
	values() int
}

// newCoded returns an empty block, or an error for a description that is not valid.
func newCoded(spec BlockSpec, s Storage) (*coded, error) {
	b := &coded{width: spec.Cols}
	first := 0
	for k := 0; k < len(spec.Groups); {
		n := 1
		for k+n < len(spec.Groups) && sameCodes(spec.Groups[k], spec.Groups[k+n]) {
			n++
		}
		groups := spec.Groups[k : k+n]
		for _, g := range groups {
			if err := g.check(s); err != nil {
				return nil, err
			}
		}
		switch run := (runSpec{first, groups, s}); codeBytes(groups[0].Levels) {
		case 1:
			b.runs = append(b.runs, newKernelCodes[uint8](run))
		case 2:
			b.runs = append(b.runs, newKernelCodes[uint16](run))
		default:
			b.runs = append(b.runs, newCodes[uint32](run))
		}
		for _, g := range groups {
			first += g.Levels
		}
		k += n
	}
	if first != spec.Cols || first >= math.MaxInt32 {
		return nil, fmt.Errorf("a coded block of %d columns has groups with %d levels", spec.Cols, first)
	}
	return b, nil
}

// codeBytes returns the size of a group's codes. There is one code more than levels, for rows without a level.
func codeBytes(levels int) int {
	switch {
	case levels <= math.MaxUint8:
		return 1
	case levels <= math.MaxUint16:
		return 2
	}
	return 4
}

// sameCodes reports whether two groups can share a run.
func sameCodes(a, b Group) bool {
	return codeBytes(a.Levels) == codeBytes(b.Levels) && a.Between == b.Between && (a.Values == nil) == (b.Values == nil)
}

// check returns an error for a group that is not valid.
func (g *Group) check(s Storage) error {
	switch {
	case g.Levels < 1 || g.Levels >= math.MaxInt32:
		return fmt.Errorf("a coded group has %d levels", g.Levels)
	case g.Between && g.Levels < 2:
		return errors.New("a coded group of one level cannot have fractions")
	case g.Between && g.Values != nil:
		return errors.New("a coded group with fractions cannot have values")
	case g.Values != nil && len(g.Values) != g.Levels:
		return fmt.Errorf("a coded group of %d levels has %d values", g.Levels, len(g.Values))
	}
	for _, v := range g.Values {
		if x := s.round(v); x-x != 0 {
			return fmt.Errorf("a coded group has the value %v", v)
		}
	}
	return nil
}

// round rounds a value to the storage type.
func (s Storage) round(v float64) float64 {
	if s == Float32 {
		return float64(float32(v))
	}
	return v
}

// add appends a row, given by the entries that a Sparse block would have. bad is the index of the first value that is not
// finite, or -1. The error is not nil when the entries are not a row of this block.
func (b *coded) add(cols []uint32, values []float64) (bad int, err error) {
	at := 0
	for _, run := range b.runs {
		taken, bad, err := run.add(cols[at:], values[at:])
		if bad >= 0 {
			return at + bad, nil
		}
		if err != nil {
			return -1, err
		}
		at += taken
	}
	return -1, nil
}

func (b *coded) flush() {
	for _, run := range b.runs {
		run.flush()
	}
}

func (b *coded) cols() int { return b.width }

func (b *coded) bytes() int64 {
	total := int64(0)
	for _, run := range b.runs {
		total += run.bytes()
	}
	return total
}

// rowCost counts 8 bytes per value: looking up a weight takes as long as reading 4 bytes, and adding to a lane, which few
// rows do, as long as reading 40 (bench/tried.md).
func (b *coded) rowCost() float64 {
	total := 0
	for _, run := range b.runs {
		total += run.values()
	}
	return 8 * float64(total)
}

func (b *coded) row(i int, dst []float64) {
	clear(dst)
	var e rowEntries
	b.entries(i, &e)
	for k, j := range e.cols {
		dst[j] = e.values[k]
	}
}

// rowEntries holds the nonzero values of a row, columns ascending and counted from the block's first. It keeps its memory
// from row to row.
type rowEntries struct {
	cols   []uint32
	values []float64
}

func (e *rowEntries) add(col int, x float64) {
	e.cols, e.values = append(e.cols, uint32(col)), append(e.values, x)
}

// entries decodes a row.
func (b *coded) entries(i int, e *rowEntries) {
	e.cols, e.values = e.cols[:0], e.values[:0]
	b.appendEntries(i, e)
}

func (b *coded) appendEntries(i int, e *rowEntries) {
	for _, run := range b.runs {
		run.appendRow(i, e)
	}
}

func (b *coded) take(rows []int) block {
	out := &coded{width: b.width}
	for _, run := range b.runs {
		out.runs = append(out.runs, run.take(rows))
	}
	return out
}
