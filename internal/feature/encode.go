package feature

import (
	"iter"

	"toptau/internal/table"
)

// Encoded is one encoded row, in float64 before rounding. It keeps its memory, so that the next row is
// encoded without allocation. The zero value is ready to use.
type Encoded struct {
	Dense  []float64 // the values of all dense blocks in order
	Cols   []uint32  // of the sparse and coded blocks: matrix columns, ascending
	Values []float64 // by position in Cols; never 0
	Counts Counts    // over all rows encoded so far

	absent  []int     // inputs whose value is missing in the row
	numbers []float64 // the row's numeric inputs; NaN is a missing value that no policy replaced
	codes   []int32   // the row's categorical inputs
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
func (m *Map) Tallies(c Counts) []Tally {
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
	if err := m.resolve(t, row, dst); err != nil {
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
	if len(e.numbers) != len(m.Inputs) || e.Counts.Missing == nil {
		e.numbers, e.codes = make([]float64, len(m.Inputs)), make([]int32, len(m.Inputs))
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

// values yields every value of an encoded row in the order of the weights, rounded to float32 as a matrix
// stores it. Zeros of sparse and coded blocks are left out: they change no sum.
func (m *Map) values(e *Encoded) iter.Seq2[int, float64] {
	return func(yield func(col int, x float64) bool) {
		dense, sparse := 0, 0
		for _, run := range m.runs {
			if run.dense {
				for col := run.first; col < run.end; col++ {
					if !yield(col, float64(float32(e.Dense[dense]))) {
						return
					}
					dense++
				}
				continue
			}
			for ; sparse < len(e.Cols) && int(e.Cols[sparse]) < run.end; sparse++ {
				if !yield(int(e.Cols[sparse]), float64(float32(e.Values[sparse]))) {
					return
				}
			}
		}
	}
}
