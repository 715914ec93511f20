package monitor

import (
	"slices"

	"toptau/internal/core/detmath"
	"toptau/internal/core/evidence"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/internal/models/profiles"
	"toptau/model"
	"toptau/schema"
)

// The evidence on columns is smaller for more columns, so that the state stays below 64 KB: stateCells is the
// number of stored counts for all columns together.
const (
	stateCells    = 4000
	maxEvents     = 8
	fewestEvents  = 3
	columnStarts  = 10
	fewestStarts  = 3
	columnsBlocks = 2 // blocks of rows between two looks at the columns, which cost more than that at the scores
)

// columnWatch is the evidence on one column.
type columnWatch struct {
	profile *model.ProfiledColumn
	input   *feature.Input
	name    string // for people
	ladder  ladder
	events  []evidence.Event
	starts  int // most
	gaps    []int
	values  valueCounts // the last is the number of missing values
	rows    int         // of the profile
	unknown int
	urn     *evidence.Urn
	now     evidence.UrnEvidence

	places []cellPlace // categorical: of each code of the table's dictionary, which only grows
	place  func(code int32) float64
	codes  []int32
	space  []float64
}

// newColumnWatches returns the columns of a model's profile.
func newColumnWatches(m *model.Model, features *feature.Map) []columnWatch {
	p := m.Profile()
	if p == nil {
		return nil
	}
	list := make([]columnWatch, len(p.Columns))
	room := stateCells / max(1, len(list))
	events := min(maxEvents, max(fewestEvents, room/columnStarts))
	starts := min(columnStarts, max(fewestStarts, room/events))
	for i := range list {
		c := &list[i]
		c.profile = &p.Columns[i]
		c.input = &features.Inputs[c.profile.Input]
		if c.name = c.input.Name; features.Numbered {
			c.name = "column " + c.name
		}
		c.ladder = newLadder(c.profile.Keys(), c.profile.Ties)
		c.gaps = make([]int, len(c.profile.Rank)+1)
		if c.profile.Cells != nil {
			c.place = profiles.CellPlaces(c.profile.Cells)
			c.events = categoryEvents(c.profile, p.Rows, events)
			c.values = newCellCounts(c.profile, c.events)
		} else {
			c.events = numberEvents(c.profile, p.Rows, events)
			c.values = newLevelCounts(c.profile.Keys(), c.events, c.profile.Counts, func(j int) int { return p.Rows + 1 - c.profile.Rank[j] })
		}
		c.values.reference, c.values.tied = append(c.values.reference, missingRows(c.profile)), append(c.values.tied, 0)
		c.starts, c.rows = starts, p.Rows
		c.urn = evidence.NewUrn(p.Rows, c.events, starts)
		c.now = c.urn.Evidence(c.gaps)
	}
	return list
}

// missingRows returns the number of rows of the profile whose value is missing.
func missingRows(c *model.ProfiledColumn) int {
	if c.Cells != nil {
		if i := slices.Index(c.Cells, model.MissingCell); i >= 0 {
			return c.Counts[i]
		}
		return 0
	}
	if k := len(c.Values); k < len(c.Rank) && c.Counts != nil {
		return c.Counts[k]
	} else if k < len(c.Rank) {
		return 1 // the highest row alone
	}
	return 0
}

// numberEvents returns "above an order statistic" for the lowest, the highest, the one at which missing values
// start, and others that are evenly spaced.
func numberEvents(c *model.ProfiledColumn, rows, most int) []evidence.Event {
	n := len(c.Rank)
	kept := []int{n - 1, 0}
	if k := len(c.Values); k < n-1 {
		kept = append(kept, k)
	} else if k == n-1 && k > 0 {
		kept = append(kept, k-1) // only the highest is a missing value
	}
	for j := 1; len(kept) < most && j < most; j++ {
		kept = append(kept, j*n/most)
	}
	slices.Sort(kept)
	var events []evidence.Event
	for _, j := range slices.Compact(kept) {
		events = append(events, evidence.Event{First: j + 1, End: n + 1, Mass: rows + 1 - c.Rank[j]})
	}
	return events
}

// categoryEvents returns "in a cell" for the cells with the most rows and for those after the last order statistic, which had no planned
// rows. If there are none, only the rows of the last cell with high tie-breakers are there, which mean nothing.
func categoryEvents(c *model.ProfiledColumn, rows, most int) []evidence.Event {
	n := len(c.Rank)
	var events []evidence.Event
	if len(c.Cells) > n {
		events = append(events, evidence.Event{First: n, End: n + 1, Mass: rows + 1 - c.Rank[n-1]})
	}
	fixed := len(events)
	last := 0
	for j, rank := range c.Rank {
		events = append(events, evidence.Event{First: j, End: j + 1, Mass: rank - last})
		last = rank
	}
	slices.SortStableFunc(events[fixed:], func(a, b evidence.Event) int { return b.Mass - a.Mass })
	return events[:min(len(events), most)]
}

// count adds rows of a table from first to end. number is the number of row 0 of the table.
func (c *columnWatch) count(t *table.Table, m *feature.Map, first, end, number int, seed uint64) {
	column := &t.Columns[c.input.Column]
	n, stream := end-first, c.profile.Input
	if c.input.Kind != schema.Categorical {
		c.space = slices.Grow(c.space[:0], n)[:n]
		for i, x := range column.Range(first, n, c.space) {
			if x != x {
				c.values.tied[len(c.events)]++
			}
			c.gaps[c.ladder.gap(detmath.OrderKey(profiles.NumberKey(x)), seed, number+first+i, stream, &c.values)]++
		}
		return
	}
	for _, level := range m.Inputs[c.profile.Input].Levels(column.Dictionary[len(c.places):]) {
		c.places = append(c.places, c.placeOf(level))
	}
	c.codes = slices.Grow(c.codes[:0], n)[:n]
	column.ReadCodes(first, c.codes)
	missing := c.placeOf(model.MissingCell)
	for i, code := range c.codes {
		p := &missing
		if code < 0 {
			c.values.tied[len(c.events)]++
		} else if p = &c.places[code]; p.unknown {
			c.unknown++
		}
		gap := c.ladder.pastTies(p.low, p.key, seed, number+first+i, stream)
		c.gaps[gap]++
		c.values.countCell(p.cell, gap)
	}
}

// cellPlace is the place of a category among the order statistics.
type cellPlace struct {
	key     uint64
	cell    int
	low     int  // keys below it
	unknown bool // training did not have it
}

func (c *columnWatch) placeOf(level int32) cellPlace {
	cell := c.place(level)
	key := detmath.OrderKey(cell)
	return cellPlace{key: key, cell: int(cell), low: c.ladder.lowest(key), unknown: level == model.OtherCell}
}

// index returns the population stability index of the column's cells, and what it would be by chance:
// (cells - 1)(1/n + 1/m).
func (c *columnWatch) index(rows int) (psi, chance float64) {
	m := 0
	for _, n := range c.gaps {
		m += n
	}
	if m == 0 {
		return 0, 0
	}
	last := 0
	for j, seen := range c.gaps {
		mass := rows + 1 - last
		if j < len(c.profile.Rank) {
			mass, last = c.profile.Rank[j]-last, c.profile.Rank[j]
		}
		// Half a row in each cell keeps empty ones finite.
		half := float64(float64(len(c.gaps)) / 2) // rounded: no fused multiply-add
		p := (float64(mass) + 0.5) / (float64(rows+1) + half)
		q := (float64(seen) + 0.5) / (float64(m) + half)
		psi += float64((q - p) * detmath.Log(q/p))
	}
	return psi, float64(len(c.gaps)-1) * (1/float64(rows) + 1/float64(m))
}
