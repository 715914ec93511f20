package matrix

import "toptau/internal/core/kernel"

// Combinations lists the distinct combinations of levels in the rows of a coded block. They are few where the categorical
// columns of a table depend on each other: the three of kddcup99 have 203. Several models can then look up a whole
// combination instead of one level per group.
//
// The entries of combination c are Values[Start[c]:Start[c+1]] in the columns Cols[Start[c]:Start[c+1]] of the block.
type Combinations struct {
	Codes  []uint16 // combination of each row; rows that pad the last panel have combination 0
	Start  []int32
	Cols   []uint32
	Values []float64
}

// A combination pays off when several rows share it: otherwise computing its scores takes as long as the rows do. Both limits
// were chosen by hand.
const (
	maxCombinations = 4096 // scores of 24 models then fit in the second cache
	combinationRows = 16   // rows per combination, on average
)

// Count returns the number of combinations.
func (c *Combinations) Count() int { return len(c.Start) - 1 }

// combinations returns nil where the combinations are too many or have fractions. The first call finds them: exact passes do
// not use them, since their sums must add group by group.
func (b *coded) combinations(rows int) *Combinations {
	b.once.Do(func() { b.few = b.findCombinations(rows) })
	return b.few
}

func (b *coded) findCombinations(rows int) *Combinations {
	for _, run := range b.runs {
		if run.interpolates() {
			return nil
		}
	}
	most := min(maxCombinations, rows/combinationRows)
	out := &Combinations{Codes: make([]uint16, panelsOf(rows)*kernel.PanelRows), Start: []int32{0}}
	number := make(map[string]uint16)
	var key []byte
	var e rowEntries
	for i := range rows {
		key = key[:0]
		for _, run := range b.runs {
			key = run.appendKey(i, key)
		}
		c, known := number[string(key)]
		if !known {
			if len(number) == most {
				return nil
			}
			c = uint16(len(number))
			number[string(key)] = c
			b.entries(i, &e)
			out.Cols, out.Values = append(out.Cols, e.cols...), append(out.Values, e.values...)
			out.Start = append(out.Start, int32(len(out.Cols)))
		}
		out.Codes[i] = c
	}
	return out
}
