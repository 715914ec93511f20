package table

import (
	"fmt"
	"slices"
	"time"

	"toptau/diag"
	"toptau/internal/data/packed"
	"toptau/schema"
)

// MaxColumns is the largest number of columns of delimited text. A column has a
// name, a kind and slices, which take far more memory than its field in a row. LIBSVM files do not have such
// columns.
const MaxColumns = 25_000

// Table holds rows of a file, column by column. Every slice that is not nil has Rows elements.
type Table struct {
	File    string     // as the user wrote it; "-" is standard input
	Parts   []FilePart // if several files make the table: where the rows of each begin
	Columns []Column   // the features in the order of the file, or of the Schema; none if Sparse is set
	Sparse  *Sparse    // the features of a LIBSVM file, otherwise nil
	Label   []Class
	Weight  []float64 // greater than 0; nil: no weight column, all weights are 1
	ID      []Text    // the columns of Options.ID in the order given
	Group   *Text     // nil if the option is not set; Segment and Time likewise
	Segment *Text
	Time    *Text
	Zone    *time.Location // of the days of times with a zone; nil: UTC
	Kept    []Text         // the columns of Options.Kept in the order given
	Line    []int          // the line on which the row begins; 1-based
	Raw     [][]string     // all fields of the row in the order of the file; nil unless Options.Raw
	Text    []string       // the text of the row, without the end of its line; nil unless Options.Text
	Bad     []BadRow       // with KeepBadRow: rows that could not be read, in their order; not counted by Rows

	respelled []string // the names of columns in Kept with numbers whose texts a packed file does not have

	first, adjacent int // if Line is nil: the line of the first row, and the number of rows
}

// Rows returns the number of rows.
func (t *Table) Rows() int {
	if t.Line == nil {
		return t.adjacent
	}
	return len(t.Line)
}

// LineOf returns the line on which a row begins. A packed table has no Line if its rows are on consecutive
// lines.
func (t *Table) LineOf(row int) int {
	if t.Line == nil {
		return t.first + row
	}
	return t.Line[row]
}

// dropLines releases Line if the rows are on consecutive lines.
func (t *Table) dropLines() {
	for row, line := range t.Line {
		if line != t.Line[0]+row {
			return
		}
	}
	if len(t.Line) > 0 {
		t.first, t.adjacent, t.Line = t.Line[0], len(t.Line), nil
	}
}

// Column is a feature. Its values are slices, or packed (Options.Packed); its methods read both forms.
type Column struct {
	Name       string      // from the header, otherwise the number in decimal; with Part followed by its name
	Part       schema.Part // what is taken from a time or an address
	Source     string      // with Part: the name of the file's column
	Origin     float64     // as in schema.Column
	Salt       string      // as in schema.Column: the dictionary has hashes
	Unit       string      // as in schema.Column
	Number     int         // 1-based in the file that was read
	Kind       schema.Kind
	Values     []float64 // numeric: finite, or NaN for a missing value
	Codes      []int32   // categorical: the index in Dictionary, or -1 for a missing value
	Dictionary []string  // categorical: the values, those of the Schema first, then in order of first appearance

	segments []packed.Segment // instead of Values and Codes
	stored   *storedColumn    // of a Frame: the values stay in a file
}

// Text is a column that is kept as text and is not a feature.
type Text struct {
	Name   string
	Number int // 1-based in the file; fileColumn: the name of the file
	Values []string
}

// fileColumn is the number of the column of file names.
const fileColumn = -1

// Sparse holds the features of LIBSVM rows. Row i has the entries Start[i] to Start[i+1]-1. Entries of value
// 0 are left out.
type Sparse struct {
	Cols  int      // the number of features; without a Schema or Options.Width, the largest index so far
	Start []int64  // Rows + 1 elements, Start[0] = 0
	Index []uint32 // 0-based, ascending in a row, below Cols
	Value []float64
}

// At returns the value of an index (0-based) in a row, 0 if the row does not have it.
func (s *Sparse) At(row int, index uint32) float64 {
	first, last := s.Start[row], s.Start[row+1]
	if i, found := slices.BinarySearch(s.Index[first:last], index); found {
		return s.Value[first+int64(i)]
	}
	return 0
}

// Class is the class of a row's label by the rule of Options.Positive.
type Class int8

const (
	Unknown  Class = -1 // without a label that the rule knows; only with Options.Unlabelled
	Negative Class = 0
	Positive Class = 1
)

// Labelled returns the rows of known class in ascending order.
func (t *Table) Labelled() []int {
	rows := make([]int, 0, t.Rows())
	for row, class := range t.Label {
		if class != Unknown {
			rows = append(rows, row)
		}
	}
	return rows
}

// OfClass returns the rows of a class.
func (t *Table) OfClass(class Class) *Table {
	var rows []int
	for row, c := range t.Label {
		if c == class {
			rows = append(rows, row)
		}
	}
	return t.Select(rows)
}

// maxMass bounds the sum of the row weights: products of such sums stay within the range of float64.
const maxMass = 1e150

// checkWeights refuses weights whose sum overflows, and weights so small that products of their sums are 0.
func (t *Table) checkWeights(column string) error {
	sum := 0.0
	for row, w := range t.Weight {
		if sum += w; sum <= maxMass && w >= 1/maxMass {
			continue
		}
		e := &diag.Error{Kind: diag.Data, File: t.File, Line: t.LineOf(row), Column: column,
			Found:    fmt.Sprintf("a sum of weights of %g up to this row", sum),
			Expected: fmt.Sprintf("at most %g", maxMass),
			Hint:     "divide all weights by one number: only their ratios count"}
		if w < 1/maxMass {
			e.Found, e.Expected = fmt.Sprintf("the weight %g", w), fmt.Sprintf("0, or at least %g", 1/maxMass)
			e.Hint = "multiply all weights by one number: only their ratios count"
		}
		return e
	}
	return nil
}

// reset empties the table for the next chunk and keeps its memory.
func (t *Table) reset() {
	for i := range t.Columns {
		c := &t.Columns[i]
		c.Values, c.Codes = c.Values[:0], c.Codes[:0]
	}
	if s := t.Sparse; s != nil {
		s.Start, s.Index, s.Value = s.Start[:1], s.Index[:0], s.Value[:0]
	}
	for _, c := range append(t.texts(), t.fileTexts()...) {
		c.Values = c.Values[:0]
	}
	t.Parts = t.Parts[:0]
	t.Label, t.Line, t.Weight, t.Raw = t.Label[:0], t.Line[:0], t.Weight[:0], t.Raw[:0]
	t.Text, t.Bad = t.Text[:0], t.Bad[:0]
}

// texts returns the text columns of the file.
func (t *Table) texts() []*Text {
	return t.textsWhere(func(c *Text) bool { return c.Number != fileColumn })
}

// fileTexts returns the text columns that hold the name of the file.
func (t *Table) fileTexts() []*Text {
	return t.textsWhere(func(c *Text) bool { return c.Number == fileColumn })
}

func (t *Table) textsWhere(which func(*Text) bool) []*Text {
	var all []*Text
	for i := range t.ID {
		if which(&t.ID[i]) {
			all = append(all, &t.ID[i])
		}
	}
	for _, c := range []*Text{t.Group, t.Segment, t.Time} {
		if c != nil && which(c) {
			all = append(all, c)
		}
	}
	for i := range t.Kept {
		all = append(all, &t.Kept[i])
	}
	return all
}

// FilePart is the rows of a table from one of several files.
type FilePart struct {
	First int // the first of the rows
	File  string
}

// FileOf returns the file of a row.
func (t *Table) FileOf(row int) string {
	name := t.File
	for _, p := range t.Parts {
		if p.First > row {
			break
		}
		name = p.File
	}
	return name
}

// truncate removes the values after a number of rows.
func (t *Table) truncate(rows int) {
	for i := range t.Columns {
		c := &t.Columns[i]
		c.Values, c.Codes = c.Values[:min(rows, len(c.Values))], c.Codes[:min(rows, len(c.Codes))]
	}
	if s := t.Sparse; s != nil {
		s.Start = s.Start[:rows+1]
		s.Index, s.Value = s.Index[:s.Start[rows]], s.Value[:s.Start[rows]]
	}
	for _, c := range t.texts() {
		c.Values = c.Values[:min(rows, len(c.Values))]
	}
	t.Label = t.Label[:min(rows, len(t.Label))]
	t.Weight, t.Raw, t.Text = t.Weight[:min(rows, len(t.Weight))], t.Raw[:min(rows, len(t.Raw))], t.Text[:min(rows, len(t.Text))]
}

// storedColumn is a column whose values stay in a packed file. The file keeps the chunks that were read last, so that
// reading rows in their order is fast, and reading others is slow.
type storedColumn struct {
	column int
	codes  [][]int32 // of a categorical column, by block: the codes in the table of the block's texts
}
