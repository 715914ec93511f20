package tune

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
)

// Cut divides rows into parts by these rules, in this order:
//
//  1. Rows of an unknown class are in no part.
//  2. Rows of one group are in one part. Without groups every row is a group, and copies are divided as one row.
//  3. With Time the parts are consecutive periods, the earliest first, with Shares of the rows. Rows of equal
//     time are in one part, a group counts at its earliest row, and the classes are not balanced.
//  4. Otherwise both classes are divided in the proportions of Shares: exactly up to rounding without groups,
//     greedily with groups, those with most positives first.
//  5. Every part gets rows of a class that has at least as many groups as there are parts, if rules 2 and 3
//     allow it.
//
// The result depends only on the classes in the order of the rows, the groups, Shares and Seed. Without
// groups the choice of the positives does not depend on the negatives.
type Cut struct {
	Shares []float64 // of the parts, positive; Divide normalises them to a sum of 1
	Seed   uint64
	Group  []string // one text per row; nil: no groups
	Time   []int    // one rank per row, see Timeline; nil: no order in time
	Copies []int    // one number per row, equal for copies, which have one class and one time; nil: no copies
}

// Counts is the number of rows of each class.
type Counts struct{ Positives, Negatives int }

// String returns "63 positives, 112 negatives".
func (c Counts) String() string {
	return text.Plural(c.Positives, "positive") + ", " + text.Plural(c.Negatives, "negative")
}

// Rows returns the number of rows.
func (c Counts) Rows() int { return c.Positives + c.Negatives }

// CountClasses counts labels.
func CountClasses(label []table.Class) Counts {
	var c Counts
	for _, class := range label {
		c.add(class)
	}
	return c
}

// CountRows counts the rows of each class.
func CountRows(label []table.Class, rows []int) Counts {
	var c Counts
	for _, row := range rows {
		c.add(label[row])
	}
	return c
}

func (c *Counts) add(class table.Class) {
	switch class {
	case table.Positive:
		c.Positives++
	case table.Negative:
		c.Negatives++
	}
}

// Divide returns the rows of each part in ascending order. A part may lack a class or be empty; the caller
// checks that with CountRows. Shares that are not positive, and a Group or Time of another length, are
// errors.
func (c Cut) Divide(label []table.Class) ([][]int, error) {
	if err := c.check(len(label)); err != nil {
		return nil, err
	}
	part := make([]int, len(label))
	for i := range part {
		part[i] = -1
	}
	switch {
	case c.Time != nil:
		c.byTime(label, part)
	case c.Group != nil:
		c.byGroup(label, part)
	case c.Copies != nil:
		c.byCopies(label, part)
	default:
		c.byClass(label, part)
	}
	parts := make([][]int, len(c.Shares))
	for row, p := range part {
		if p >= 0 {
			parts[p] = append(parts[p], row)
		}
	}
	return parts, nil
}

// Fold holds the rows of one fold of a cross-validation in ascending order.
type Fold struct{ Train, Validation []int }

// Folds divides the rows into k equal parts by the rules of Cut, which ignores c.Shares here, and returns k
// folds. Each has another part for validation and the others for training. With Time there are k-1 folds:
// fold i validates on period i+1 and trains on the periods before it.
func (c Cut) Folds(label []table.Class, k int) ([]Fold, error) {
	if k < 2 {
		return nil, &diag.Error{Kind: diag.Usage, Param: "folds", Found: strconv.Itoa(k), Expected: "at least 2"}
	}
	c.Shares = slices.Repeat([]float64{1}, k)
	parts, err := c.Divide(label)
	if err != nil {
		return nil, err
	}
	var folds []Fold
	for i := range parts {
		var fold Fold
		fold.Validation = parts[i]
		for j, part := range parts {
			if j < i || j > i && c.Time == nil {
				fold.Train = append(fold.Train, part...)
			}
		}
		slices.Sort(fold.Train)
		if c.Time == nil || i > 0 {
			folds = append(folds, fold)
		}
	}
	return folds, nil
}

func (c Cut) check(rows int) error {
	if len(c.Shares) == 0 {
		return &diag.Error{Kind: diag.Usage, Found: "no shares", Expected: "a share for each part"}
	}
	for _, share := range c.Shares {
		if !(share > 0) || math.IsInf(share, 0) {
			return &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("a share of %v", share), Expected: "a number above 0"}
		}
	}
	if c.Group != nil && len(c.Group) != rows {
		return &diag.Error{Kind: diag.Data, Found: fmt.Sprintf("%d groups for %d rows", len(c.Group), rows)}
	}
	if c.Time != nil && len(c.Time) != rows {
		return &diag.Error{Kind: diag.Data, Found: fmt.Sprintf("%d times for %d rows", len(c.Time), rows)}
	}
	if c.Copies != nil && len(c.Copies) != rows {
		return &diag.Error{Kind: diag.Data, Found: fmt.Sprintf("%d numbers of copies for %d rows", len(c.Copies), rows)}
	}
	return nil
}

// fractions returns the shares divided by their sum.
func (c Cut) fractions() []float64 {
	var sum float64
	for _, share := range c.Shares {
		sum += share
	}
	fractions := make([]float64, len(c.Shares))
	for i, share := range c.Shares {
		fractions[i] = share / sum
	}
	return fractions
}

// byClass shuffles each class and cuts it into runs of the apportioned lengths. It apportions the sizes of
// the parts first and the positives second, so both are as close to the shares as whole numbers can be.
func (c Cut) byClass(label []table.Class, part []int) {
	var rows [2][]int // negatives, positives
	for row, class := range label {
		if class == table.Negative || class == table.Positive {
			rows[class] = append(rows[class], row)
		}
	}
	fractions := c.fractions()
	positives := apportion(len(rows[table.Positive]), fractions)
	negatives := apportion(len(rows[table.Positive])+len(rows[table.Negative]), fractions)
	for i := range negatives {
		negatives[i] -= positives[i]
	}
	fillEmpty(negatives)
	for class, counts := range [2][]int{negatives, positives} {
		random := rand.New(rand.NewPCG(c.Seed, uint64(class)))
		shuffle(rows[class], random)
		at := 0
		for p, count := range counts {
			for _, row := range rows[class][at : at+count] {
				part[row] = p
			}
			at += count
		}
	}
}

// byCopies divides the rows of known class as if each were there once.
func (c Cut) byCopies(label []table.Class, part []int) {
	places := map[int]int{}
	var once []table.Class
	for row, class := range label {
		if _, known := places[c.Copies[row]]; !known && class != table.Unknown {
			places[c.Copies[row]] = len(once)
			once = append(once, class)
		}
	}
	divided := make([]int, len(once))
	c.byClass(once, divided)
	for row, class := range label {
		if class != table.Unknown {
			part[row] = divided[places[c.Copies[row]]]
		}
	}
}

// apportion divides n by largest remainders. Earlier parts win ties. No part stays empty if n suffices.
func apportion(n int, fractions []float64) []int {
	counts := make([]int, len(fractions))
	rest := make([]float64, len(fractions))
	left := n
	for i, f := range fractions {
		exact := float64(n) * f
		counts[i] = min(int(math.Floor(exact)), left)
		rest[i] = float64(exact) - float64(counts[i])
		left -= counts[i]
	}
	order := make([]int, len(fractions))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case rest[a] > rest[b]:
			return -1
		case rest[a] < rest[b]:
			return 1
		}
		return 0
	})
	for i := 0; left > 0; i++ {
		counts[order[i%len(order)]]++
		left--
	}
	fillEmpty(counts)
	return counts
}

// fillEmpty moves one from the largest part to each part that has none, as long as the largest has more than
// one. It corrects negative counts in the same way.
func fillEmpty(counts []int) {
	for {
		largest, smallest := 0, 0
		for i, n := range counts {
			if n > counts[largest] {
				largest = i
			}
			if n < counts[smallest] {
				smallest = i
			}
		}
		if counts[smallest] > 0 || counts[largest] < 2 && counts[smallest] == 0 || counts[largest] <= 0 {
			return
		}
		counts[largest]--
		counts[smallest]++
	}
}

// unit is a group of rows that stay in one part.
type unit struct {
	rows    []int
	classes [2]int // negatives, positives
	time    int    // of the earliest row
}

// units returns the groups of the rows of known class, in the order of their first rows.
func (c Cut) units(label []table.Class) []unit {
	var units []unit
	number := make(map[string]int)
	for row, class := range label {
		if class != table.Negative && class != table.Positive {
			continue
		}
		at := len(units)
		if c.Group != nil {
			if known, ok := number[c.Group[row]]; ok {
				at = known
			} else {
				number[c.Group[row]] = at
			}
		}
		if at == len(units) {
			u := unit{}
			if c.Time != nil {
				u.time = c.Time[row]
			}
			units = append(units, u)
		}
		u := &units[at]
		u.rows = append(u.rows, row)
		u.classes[class]++
		if c.Time != nil {
			u.time = min(u.time, c.Time[row])
		}
	}
	return units
}

// byGroup assigns groups one by one, those with most positives first and equal ones in random order. Each
// goes to the part whose class shares it brings closest to the wanted ones.
func (c Cut) byGroup(label []table.Class, part []int) {
	units := c.units(label)
	shuffle(units, rand.New(rand.NewPCG(c.Seed, 2)))
	slices.SortStableFunc(units, func(a, b unit) int {
		if a.classes[1] != b.classes[1] {
			return b.classes[1] - a.classes[1]
		}
		return b.classes[0] - a.classes[0]
	})
	var total [2]float64
	for _, u := range units {
		total[0] += float64(u.classes[0])
		total[1] += float64(u.classes[1])
	}
	fractions := c.fractions()
	have := make([][2]float64, len(fractions))
	for _, u := range units {
		best, least := 0, math.Inf(1)
		for p, want := range fractions {
			var cost float64
			for class, all := range total {
				if all == 0 {
					continue
				}
				// The change of (have - want)^2 if the group joins this part.
				add := float64(u.classes[class]) / all
				cost += float64(add * (add + float64(2*(have[p][class]-want))))
			}
			if cost < least {
				best, least = p, cost
			}
		}
		for class, all := range total {
			if all > 0 {
				have[best][class] += float64(u.classes[class]) / all
			}
		}
		for _, row := range u.rows {
			part[row] = best
		}
	}
}

// byTime orders the groups by time and cuts where the wanted numbers of rows are reached.
func (c Cut) byTime(label []table.Class, part []int) {
	units := c.units(label)
	slices.SortStableFunc(units, func(a, b unit) int { return a.time - b.time })
	rows := 0
	for _, u := range units {
		rows += len(u.rows)
	}
	counts := apportion(rows, c.fractions())
	p, end, done := 0, counts[0], 0
	for i := 0; i < len(units); {
		// Units of equal time go to the part that contains their middle row.
		next, size := i, 0
		for ; next < len(units) && units[next].time == units[i].time; next++ {
			size += len(units[next].rows)
		}
		for p < len(counts)-1 && 2*done+size > 2*end {
			p++
			end += counts[p]
		}
		for ; i < next; i++ {
			for _, row := range units[i].rows {
				part[row] = p
			}
		}
		done += size
	}
}

// shuffle is the Fisher-Yates shuffle. It does not use math/rand's, so that the order for a seed cannot
// change with Go.
func shuffle[T any](items []T, random *rand.Rand) {
	for i := len(items) - 1; i > 0; i-- {
		j := below(uint64(i+1), random)
		items[i], items[j] = items[j], items[i]
	}
}

// below returns a uniform whole number in [0, n) by multiplication and rejection (Lemire 2019).
func below(n uint64, random *rand.Rand) uint64 {
	for {
		high, low := bits.Mul64(random.Uint64(), n)
		if low >= -n%n {
			return high
		}
	}
}
