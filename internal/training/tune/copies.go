package tune

import (
	"fmt"
	"slices"

	"toptau/internal/core/text"
	"toptau/internal/data/sketch"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/method"
	"toptau/schema"
)

// Rows that are copies of others, as from a join, are not independent: a copy of a training row in the rows that measure a model makes every
// rate look better than it is. Independent rows may be equal, too. Two signs show which they are, each within a class.
//
//  1. More values occur k times than independent rows allow, given the values that occur k-1 and k+1 times (sketch.Copied).
//  2. Rows are equal in a numeric column that has nearly as many values as there are different rows, and some of these are much closer than
//     others: independent rows with scores of three decimals are one step apart as often as equal. Values occur as evenly as in a bootstrap: of
//     scores of discrete rows some occur far more often. The label is copied with a row; where equal rows have both labels, they are several
//     observations of one thing.
//
// Both need a sample of the values with all their rows. Equal rows of a class in which copies were found are one unit.

// Copies are the classes whose rows are copies of others. The zero value is none.
type Copies [2]bool

// Found reports whether there are copies.
func (c Copies) Found() bool { return c != Copies{} }

const (
	// copyHashes is the number of different rows in a sample, for each class. Chosen by hand for a few megabytes.
	copyHashes = 1 << 16
	// nearlyAll is the fraction of rows whose value no other row may have in a column that identifies rows, and minOneLabel the fraction of
	// repeated rows that may not occur in the other class. Chosen by hand.
	nearlyAll   = 0.95
	minOneLabel = 0.95
	// repeated is the fraction of different rows that must repeat for the second sign. Chosen by hand: 60 of 5,900 rows of a public set do.
	repeated = 0.02
	// unseen is a number of rows that chance may have left out of a sample. The probability of more is 1/1000.
	unseen = 7
)

// FindCopies looks for copies among the rows of a table.
func FindCopies(f *table.Frame) (c Copies, err error) {
	label := f.Head().Label
	every := feature.Every(f.Shape())
	sketches, err := feature.SketchRows(every, f, len(c), func() *sketch.Sketch { return sketch.Sized(copyHashes) },
		func(row int) int { return int(label[row]) })
	if err != nil {
		return c, err
	}
	all := 0
	for _, s := range sketches {
		all += s.Rows
	}
	var open Copies // classes that the second sign decides
	of := func(class int) float64 { return float64(sketches[class].Rows) / float64(max(1, all)) }
	for class, s := range sketches {
		c[class] = sketch.Copied(s.Repeats(), of(class), false)
	}
	for class, s := range sketches {
		repeats := s.Repeats()
		values, several := 0, 0
		for k, n := range repeats {
			values += n
			if k > 1 {
				several += n
			}
		}
		again := float64(several) / float64(max(1, values))
		open[class] = !c[class] && sketch.Even(repeats) && (again*of(class) > repeated || again > 2*repeated)
	}
	if open.Found() && !every.Sparse {
		if err := c.addIdentified(f, every, sketches, open); err != nil {
			return c, err
		}
	}
	for class, found := range c {
		if other := 1 - class; found && !c[other] {
			c[other] = sketch.Copied(sketches[other].Repeats(), of(other), true)
		}
	}
	return c, nil
}

// addIdentified adds open classes whose repeated rows are equal in a column that identifies rows.
func (c *Copies) addIdentified(f *table.Frame, every *feature.Map, sketches []*sketch.Sketch, open Copies) error {
	var rows [2][]int                  // a row for each value of the sample
	var several, both, compared [2]int // values that occur several times; in both classes; of those that could be looked for there
	label := f.Head().Label
	seen := [2]map[uint64]bool{{}, {}}
	err := feature.HashRows(every, f, func(row int, hash uint64) {
		class := label[row]
		if class == table.Unknown || !open[class] {
			return
		}
		n, other := sketches[class].Occurrences(hash), sketches[1-class]
		if n == 0 || seen[class][hash] {
			return
		}
		seen[class][hash] = true
		rows[class] = append(rows[class], row)
		if n > 1 {
			several[class]++
		}
		if n > 1 && other.Covers(hash) {
			compared[class]++
			both[class] += min(1, other.Occurrences(hash))
		}
	})
	if err != nil {
		return err
	}
	for class := range open {
		few := float64(several[class])*sketches[class].Fraction() < fewRepeated
		if !open[class] || few || float64(both[class]) > float64((1-minOneLabel)*float64(compared[class])) {
			continue
		}
		if c[class], err = identified(f, rows[class], several[class], sketches[class].Fraction()); err != nil {
			return err
		}
	}
	return nil
}

// identified reports whether a numeric column identifies rows. Of these, which all differ and are a fraction of the different rows, several
// occur more than once.
func identified(f *table.Frame, rows []int, several int, fraction float64) (bool, error) {
	columns := f.Shape().Columns
	for i := range columns {
		if columns[i].Kind == schema.Categorical {
			continue
		}
		column, err := f.SelectColumn(i, rows)
		if err != nil {
			return false, err
		}
		values := make([]float64, len(rows))
		for row := range values {
			values[row] = column.Value(row)
		}
		slices.Sort(values)
		// A row of the sample may share its value with a row outside of it, and numbers between those of the sample are outside.
		shared, close := sharedAndClose(values, fraction*float64(several)/float64(len(rows)))
		if float64(shared+unseen) <= float64((1-nearlyAll)*float64(len(rows))*fraction) && float64(close) > float64(fraction*float64(several)/4) {
			return true, nil
		}
	}
	return false, nil
}

// fewRepeated is the number of repeated rows of which fewer show nothing by their numbers. Chosen by hand.
const fewRepeated = 20

// neighbours is the number of gaps before and after a gap with which it is compared. Chosen by hand.
const neighbours = 8

// sharedAndClose returns how many of some sorted values are missing or equal to the one before, and how many gaps are smaller than a fraction
// of those around. If values are random numbers, these are that fraction of the gaps. If they are on a grid, and a fraction of its points has
// several values, no gap is that small.
func sharedAndClose(values []float64, fraction float64) (shared, close int) {
	for i := 1; i < len(values); i++ {
		gap := values[i] - values[i-1]
		if !(gap > 0) {
			shared++
			continue
		}
		low, high := max(0, i-1-neighbours), min(len(values)-1, i+neighbours)
		if gap < fraction*(values[high]-values[low])/float64(high-low) {
			close++
		}
	}
	return shared, close
}

// Units returns the rows of a table as units: equal rows of a class with copies are one. Without copies every row is a unit.
func (c Copies) Units(f *table.Frame) (*Units, error) {
	label := f.Head().Label
	u := &Units{Label: label, Copies: c}
	if !c.Found() {
		return u, nil
	}
	u.Of, u.Label = make([]int, len(label)), nil
	known := [2]map[uint64]int{{}, {}}
	err := feature.HashRows(feature.Every(f.Shape()), f, func(row int, hash uint64) {
		class := label[row]
		unit, found := len(u.Label), false
		if class != table.Unknown && c[class] {
			if unit, found = known[class][hash]; !found {
				unit = len(u.Label)
				known[class][hash] = unit
			}
		}
		if !found {
			u.Label, u.First, u.Entity = append(u.Label, class), append(u.First, row), append(u.Entity, unit)
		}
		u.Of[row] = unit
	})
	return u, err
}

// maxCopies is the fraction of copies up to which they count once in a calibration. More of them are refused, as rows of one group are.
const maxCopies = 0.05

// AgainstCopies returns why copies rule out a guarantee about a population, "" if they do not.
func (u *Units) AgainstCopies(of method.Population) string {
	if !u.Copies.Found() {
		return ""
	}
	rows, units := u.copied(of)
	if copies := rows - units; float64(copies) > float64(maxCopies*float64(rows)) {
		return fmt.Sprintf("%s of the %s %s are copies of others and are not independent", text.Count(copies),
			text.Count(rows), populationText(of))
	}
	return ""
}

// copied returns the number of rows of a population, and of its units.
func (u *Units) copied(of method.Population) (rows, units int) {
	counted := func(class table.Class) bool {
		return class != table.Unknown && (of == method.AllRows || (of == method.Positives) == (class == table.Positive))
	}
	for _, unit := range u.Of {
		if counted(u.Label[unit]) {
			rows++
		}
	}
	for _, class := range u.Label {
		if counted(class) {
			units++
		}
	}
	return rows, units
}

func populationText(of method.Population) string {
	if of == method.AllRows {
		return "rows"
	}
	return of.String()
}

// CopiesText describes the copies of a table; "" for none.
func (u *Units) CopiesText(certified bool) string {
	if !u.Copies.Found() {
		return ""
	}
	rows, units := u.copied(method.AllRows)
	words := fmt.Sprintf("%s of the %s rows are copies of others: equal rows stay in one part and count once", text.Count(rows-units), text.Count(rows))
	if certified {
		words += "; the guarantee is about different rows"
	}
	return words
}
