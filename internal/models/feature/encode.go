package feature

import (
	"math"
	"slices"

	"toptau/internal/data/table"
	"toptau/schema"
)

// Encoded is one encoded row, in float64 before rounding. It keeps its memory, so that the next row is
// encoded without allocation. The zero value is ready to use.
type Encoded struct {
	Dense  []float64 // the values of all dense blocks in order
	Cols   []uint32  // of the sparse and coded blocks: matrix columns, ascending
	Values []float64 // by position in Cols; never 0
	Counts Counts    // over all rows encoded so far

	absent  []int     // inputs whose value is missing in the row
	numbers []float64 // the row's numeric inputs and derived columns; NaN is a missing value that no policy replaced
	codes   []int32   // the row's categorical inputs
	walked  []float64 // scratch of a LeavesBlock: the numbers as trees.Walk reads them
	adds    []float64 // what inputs and derived columns add; see Contributions.Row
}

// addOnes adds entries of value 1.
func (e *Encoded) addOnes(cols []uint32) {
	e.Cols = append(e.Cols, cols...)
	for range cols {
		e.Values = append(e.Values, 1)
	}
}

// Counts are the numbers of missing values and unknown categories in some rows.
type Counts struct {
	Rows           int
	Missing        []int // by input
	Unknown        []int // by input: values that training did not have
	UnknownIndices int   // LIBSVM: entries at indices that training did not have
}

// Add adds the counts of other rows that were encoded by the same map.
func (c *Counts) Add(other Counts) {
	if c.Missing == nil {
		c.Missing, c.Unknown = make([]int, len(other.Missing)), make([]int, len(other.Unknown))
	}
	c.Rows += other.Rows
	c.UnknownIndices += other.UnknownIndices
	for k := range other.Missing {
		c.Missing[k] += other.Missing[k]
		c.Unknown[k] += other.Unknown[k]
	}
}

// Reset forgets the counts.
func (c *Counts) Reset() {
	clear(c.Missing)
	clear(c.Unknown)
	c.Rows, c.UnknownIndices = 0, 0
}

// Tally counts the missing and unknown values of one column.
type Tally struct {
	Column           string // Input.Name; "index" for all indices of LIBSVM
	Missing, Unknown int
}

// Tallies lists the columns with missing or unknown values in the order of the table.
func (c Counts) Tallies(m *Map) []Tally {
	var list []Tally
	for k := range c.Missing {
		if c.Missing[k]+c.Unknown[k] > 0 {
			list = append(list, Tally{m.Inputs[k].Name, c.Missing[k], c.Unknown[k]})
		}
	}
	if c.UnknownIndices > 0 {
		list = append(list, Tally{Column: "index", Unknown: c.UnknownIndices})
	}
	return list
}

// Encode overwrites dst with a row of a table that has passed Check.
//
// Errors (diag.Data) name line and column: a missing value under schema.ImputeError, a value beyond float32
// after scaling.
func (m *Map) Encode(t *table.Table, row int, dst *Encoded) error {
	dst.reset(m)
	if err := dst.resolve(m, t, row); err != nil {
		return err
	}
	for i, b := range m.Blocks {
		if err := b.encode(m, t, row, uint32(m.runs[i].first), dst); err != nil {
			return err
		}
	}
	return nil
}

func (e *Encoded) reset(m *Map) {
	if len(e.numbers) != numberCount(m) || e.Counts.Missing == nil {
		e.numbers, e.codes = make([]float64, numberCount(m)), make([]int32, len(m.Inputs))
		e.Counts = Counts{Missing: make([]int, len(m.Inputs)), Unknown: make([]int, len(m.Inputs))}
		e.Dense = make([]float64, 0, m.dense)
	}
	e.Dense, e.Cols, e.Values = e.Dense[:0], e.Cols[:0], e.Values[:0]
	e.absent = e.absent[:0]
	e.Counts.Rows++
}

// Absent returns the positions in Map.Inputs of the values that are missing in the last row. It is valid
// until the next row.
func (e *Encoded) Absent() []int { return e.absent }

// Number returns the value of a numeric input, by its position in Map.Inputs, in the last row.
func (e *Encoded) Number(input int) float64 { return e.numbers[input] }

func (e *Encoded) countMissing(input int) {
	e.Counts.Missing[input]++
	e.absent = append(e.absent, input)
}
func (e *Encoded) countUnknown(input int) { e.Counts.Unknown[input]++ }
func (e *Encoded) countUnknownIndex()     { e.Counts.UnknownIndices++ }

// resolve reads the row's value of every input into dst.numbers and dst.codes and applies the policy for
// missing values. A missing number stays NaN under schema.ImputeIndicator.
func (dst *Encoded) resolve(m *Map, t *table.Table, row int) error {
	if m.Sparse {
		dst.resolveIndices(m, t.Sparse, row)
		derive(m, dst.numbers)
		return nil
	}
	for k := range m.Inputs {
		in := &m.Inputs[k]
		column := &t.Columns[in.Column]
		if in.Kind == schema.Numeric {
			x := column.Value(row)
			if math.IsNaN(x) {
				if m.Impute == schema.ImputeError {
					return missingError(t, row, column)
				}
				dst.countMissing(k)
				if m.Impute != schema.ImputeIndicator {
					x = in.Fill
				}
			}
			dst.numbers[k] = x
			continue
		}
		code := codeMissing
		if c := column.Code(row); c >= 0 {
			known := false
			if code, known = in.codes[column.Dictionary[c]]; !known {
				code = codeUnknown
				if !in.Rare {
					dst.countUnknown(k)
				}
			}
		} else {
			if m.Impute == schema.ImputeError {
				return missingError(t, row, column)
			}
			dst.countMissing(k)
			if m.Impute == schema.ImputeMedian {
				code = 0 // the most frequent category
			}
		}
		dst.codes[k] = code
	}
	derive(m, dst.numbers)
	return nil
}

// resolveIndices writes the inputs' values of a row of indices to numbers. It counts indices that do not
// occur in the training data unless a sparse block counts them.
func (dst *Encoded) resolveIndices(m *Map, s *table.Sparse, row int) {
	clear(dst.numbers)
	k := 0
	for e := s.Start[row]; e < s.Start[row+1]; e++ {
		column := int(s.Index[e])
		for k < len(m.Inputs) && m.Inputs[k].Column < column {
			k++
		}
		switch {
		case k < len(m.Inputs) && m.Inputs[k].Column == column:
			dst.numbers[k] = s.Value[e]
		case len(m.Inputs) > 0 && m.sparseBlock() == nil && s.Value[e] != 0 && !isDropped(m, column):
			dst.countUnknownIndex()
		}
	}
}

// isDropped reports whether a column of the training data is not in use.
func isDropped(m *Map, column int) bool {
	_, found := slices.BinarySearchFunc(m.Dropped, column, func(d Dropped, column int) int { return d.Column - column })
	return found
}
