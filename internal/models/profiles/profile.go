// Package profiles describes the columns of training rows for the model file, so that a monitor can compare later rows with them.
package profiles

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"toptau/internal/core/evidence"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/model"
	"toptau/schema"
)

const (
	profileRows   = 40_000 // largest number of rows of a profile: a fraction of 1 % is then known to 6 %
	plannedPart   = 4      // of the rows, one in four chooses the ranks and categories that are kept
	profileBytes  = 90_000 // of all columns in the model file, about; the limit of the format is 100 KB
	rankBytes     = 46     // of an order statistic, at most
	cellBytes     = 30     // of a category with its order statistic
	fewestRanks   = 3
	profileStream = 0x70726f66696c65 // separates the random numbers of a seed; "profile" in ASCII
)

// New describes the columns of some rows (ascending; nil: all). Which ranks and categories it
// keeps is chosen from a quarter of the rows, and the other rows are counted: only then are the counts those of
// exchangeable rows (see evidence.Urn). It returns nil for LIBSVM indices and if there are fewer than two rows.
func New(m *feature.Map, f *table.Frame, rows []int, seed uint64) (*model.Profile, error) {
	if m.Sparse || len(m.Inputs) == 0 {
		return nil, nil
	}
	random := rand.New(rand.NewPCG(seed, profileStream))
	rows, planned, counted := sampleRows(f.Rows(), rows, random)
	if len(planned) == 0 || len(counted) == 0 {
		return nil, nil
	}
	p := &model.Profile{Rows: len(counted)}
	columns := min(len(m.Inputs), model.ProfileColumns)
	room := max(fewestRanks*rankBytes, profileBytes/columns)
	for j := range columns {
		k := j * len(m.Inputs) / columns // evenly spaced if there are too many
		in := &m.Inputs[k]
		c := model.ProfiledColumn{Input: k}
		column, err := f.SelectColumn(in.Column, rows)
		if err != nil {
			return nil, err
		}
		var plan, keys []float64
		var ranks []int
		if in.Kind == schema.Categorical {
			levels := m.Inputs[k].Levels(column.Dictionary)
			plan, keys = categoryKeys(&column, levels, planned), categoryKeys(&column, levels, counted)
			c.Cells, ranks = chooseCells(plan, len(keys), min(model.ProfileCategories, room/cellBytes))
			toCells(keys, c.Cells)
		} else {
			plan, keys = numberKeys(&column, planned), numberKeys(&column, counted)
			slices.Sort(plan)
			ranks = numberRanks(plan, len(keys), min(model.ProfileRanks, room/rankBytes))
		}
		keepRanks(&c, keys, ranks, random)
		p.Columns = append(p.Columns, c)
	}
	return p, nil
}

// sampleRows draws at most profileRows of the rows at random, and divides their places into those that plan and those that are
// counted.
func sampleRows(n int, rows []int, random *rand.Rand) (drawn, planned, counted []int) {
	if rows != nil {
		n = len(rows)
	}
	wanted := min(n, profileRows)
	for i := range n {
		if random.IntN(n-i) >= wanted { // selection sampling (Knuth, volume 2, algorithm S)
			continue
		}
		wanted--
		row := i
		if rows != nil {
			row = rows[i]
		}
		place := len(drawn)
		drawn = append(drawn, row)
		if random.IntN(plannedPart) == 0 {
			planned = append(planned, place)
		} else {
			counted = append(counted, place)
		}
	}
	return drawn, planned, counted
}

// numberKeys returns the numbers of a column in some rows, +Inf for missing ones.
func numberKeys(c *table.Column, rows []int) []float64 {
	keys := make([]float64, len(rows))
	for i, row := range rows {
		keys[i] = NumberKey(c.Value(row))
	}
	return keys
}

// NumberKey returns the number by which a value is ordered: +Inf for a missing one.
func NumberKey(x float64) float64 {
	if math.IsNaN(x) {
		return math.Inf(1)
	}
	return x + 0 // -0 becomes 0
}

// categoryKeys returns the positions of categories in some rows, and model.OtherCell or model.MissingCell.
func categoryKeys(c *table.Column, levels []int32, rows []int) []float64 {
	keys := make([]float64, len(rows))
	for i, row := range rows {
		keys[i] = model.MissingCell
		if code := c.Code(row); code >= 0 {
			keys[i] = float64(levels[code])
		}
	}
	return keys
}

// chooseCells returns the most frequent categories of the planned rows, the cells of other and of missing values,
// and the ranks among n rows that end the cells. Other and missing values without a rank come last: their rows
// are then above all order statistics, and are not mistaken for those of another cell.
func chooseCells(plan []float64, n, most int) (cells, ranks []int) {
	counts := map[int]int{}
	for _, key := range plan {
		counts[int(key)]++
	}
	for cell := range counts {
		if cell >= 0 {
			cells = append(cells, cell)
		}
	}
	slices.SortFunc(cells, func(a, b int) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	for len(cells) > most || len(cells) > 0 && scaleRank(counts[cells[len(cells)-1]], len(plan), n) == 0 {
		last := cells[len(cells)-1]
		counts[model.OtherCell] += counts[last]
		cells = cells[:len(cells)-1]
	}
	if scaleRank(counts[model.OtherCell], len(plan), n) == 0 {
		cells = append(cells, model.MissingCell, model.OtherCell)
	} else {
		cells = append(cells, model.OtherCell, model.MissingCell)
	}
	end := 0
	for _, cell := range cells {
		end += counts[cell]
		ranks = append(ranks, scaleRank(end, len(plan), n))
	}
	return cells, append(ranks, n)
}

// toCells replaces positions of categories by positions in cells.
func toCells(keys []float64, cells []int) {
	places := CellPlaces(cells)
	for i, key := range keys {
		keys[i] = places(int32(key))
	}
}

// CellPlaces returns the function from the position of a category to its cell.
func CellPlaces(cells []int) func(code int32) float64 {
	at := make(map[int32]float64, len(cells))
	for i, cell := range cells {
		at[int32(cell)] = float64(i)
	}
	return func(code int32) float64 {
		if place, found := at[code]; found {
			return place
		}
		return at[model.OtherCell]
	}
}

// numberRanks returns at most limit ranks among n rows: the lowest, the highest, where missing values start, and
// equal steps between them. A step within equal values of the planned rows moves to the end of these.
func numberRanks(plan []float64, n, limit int) []int {
	finite, _ := slices.BinarySearch(plan, math.Inf(1))
	var ends []int
	if finite < len(plan) {
		ends = append(ends, finite)
	}
	steps := limit - 2
	for j := 1; j < steps && finite > 0; j++ {
		p := j * finite / steps
		first, _ := slices.BinarySearch(plan, plan[p])
		end, _ := slices.BinarySearch(plan, math.Nextafter(plan[p], math.Inf(1)))
		if first > 0 && (p-first <= end-p || end == finite) {
			ends = append(ends, first)
		} else {
			ends = append(ends, end)
		}
	}
	ranks := []int{1, n}
	for _, end := range ends {
		ranks = append(ranks, scaleRank(end, len(plan), n))
	}
	return ranks
}

// scaleRank returns the rank among n rows in the place of a rank among m rows.
func scaleRank(rank, m, n int) int { return int(math.Round(float64(rank) / float64(m) * float64(n))) }

// keepRanks fills a column with the order statistics of some ranks.
func keepRanks(c *model.ProfiledColumn, keys []float64, ranks []int, random *rand.Rand) {
	sorted, ties := evidence.OrderWithTies(keys, random)
	slices.Sort(ranks)
	var above []int
	for _, rank := range slices.Compact(ranks) {
		if rank < 1 || rank > len(sorted) {
			continue
		}
		above = append(above, len(sorted)-rank)
		key := sorted[rank-1]
		c.Rank, c.Ties = append(c.Rank, rank), append(c.Ties, ties[rank-1])
		switch {
		case c.Cells != nil:
			c.At = append(c.At, int(key))
		case !math.IsInf(key, 1):
			c.Values = append(c.Values, key)
		}
	}
	if c.Cells == nil {
		c.Counts = evidence.LevelCounts(sorted, above)
		return
	}
	c.Counts = make([]int, len(c.Cells))
	for _, cell := range sorted {
		c.Counts[int(cell)]++
	}
}
