package paper

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"toptau/internal/data/atomicfile"
)

// The results of all cells in two small files next to the pages, so that a test can compute a sample of them
// again:
//
//	cells.csv  a row for each cell
//	zeros.csv  a row for each answer whether w = 0 is optimal for a rule
//
// A run of "only" some tables writes only the cells of these tables.
const (
	cellsFile = "cells.csv"
	zerosFile = "zeros.csv"
)

// cellsHeader has the columns of cells.csv. The points are numbered from 1 in the order of the grid; 0 is
// none. better has a digit for each point: 1 if it is better than w = 0, 0 if not, x if it has no result.
// Criteria are fractions of the test part with eight digits, first by the paper's count, then by the strict
// count; "-" is undefined. digest is that of all results of the cell in full precision.
func cellsHeader() []string {
	header := []string{"cell", "chosen", "chosen strict", "better"}
	for _, suffix := range []string{"", " strict"} {
		for _, title := range criterionTitles {
			header = append(header, title+suffix)
		}
	}
	return append(header, "digest")
}

// cellRow returns the row of a cell.
func cellRow(name string, c *Cell) []string {
	row := []string{name, strconv.Itoa(c.Chosen[0] + 1), strconv.Itoa(c.Chosen[1] + 1), c.better()}
	for rule := range c.Test {
		for k := range criterionCount {
			row = append(row, fraction(c.value(count(rule), k)))
		}
	}
	return append(row, c.digest()[:16])
}

// better returns a digit for each point: is it better than w = 0?
func (c *Cell) better() string {
	digits := make([]byte, len(c.Points))
	for i := range c.Points {
		switch p := &c.Points[i]; {
		case p.Failed != "":
			digits[i] = 'x'
		case p.Beats():
			digits[i] = '1'
		default:
			digits[i] = '0'
		}
	}
	return string(digits)
}

func fraction(value *float64) string {
	if value == nil {
		return "-"
	}
	return fmt.Sprintf("%.8f", *value)
}

// eachCell calls f for every cell of the run, in the order of sets, splits, variants and entries.
func (st *study) eachCell(f func(s *Set, v variant, e entry, c *Cell)) {
	for _, s := range st.present() {
		for _, seed := range st.seeds(s) {
			for _, v := range st.variants(s, seed) {
				for _, e := range tableEntries() {
					if c := st.findCell(s, v, e); c != nil {
						f(s, v, e, c)
					}
				}
			}
		}
	}
}

// writeCells writes both files and returns their names. Without cells or answers it does not write the file.
func (st *study) writeCells() ([]string, error) {
	cells := [][]string{cellsHeader()}
	st.eachCell(func(s *Set, v variant, e entry, c *Cell) { cells = append(cells, cellRow(cellName(s, v, e), c)) })
	zeros := [][]string{{"rule", "w = 0 is optimal"}}
	for _, name := range slices.Sorted(maps.Keys(st.zeros)) {
		zeros = append(zeros, []string{name, st.zeros[name].Verdict})
	}
	var files []string
	for _, f := range []struct {
		name string
		rows [][]string
	}{{cellsFile, cells}, {zerosFile, zeros}} {
		if len(f.rows) == 1 {
			continue
		}
		if err := atomicfile.Write(filepath.Join(st.o.Out, f.name), csvText(f.rows)); err != nil {
			return files, err
		}
		files = append(files, f.name)
	}
	return files, nil
}

// csvText returns rows as CSV.
func csvText(rows [][]string) []byte {
	var b bytes.Buffer
	_ = csv.NewWriter(&b).WriteAll(rows) // a buffer does not fail
	return b.Bytes()
}
