package measure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"toptau/internal/data/table"
	"toptau/internal/training/rowset"
	"toptau/internal/training/tune"
	"toptau/result"
)

// Chosen by hand: rates of fewer rows have intervals that show nothing, and longer tables are not read.
const (
	breakdownRows   = 10 // a value with fewer rows is counted with other rare values
	breakdownValues = 30 // most values that are shown
	breakdownRanges = 10 // ranges of about equal numbers of rows for columns of many numbers
)

// dividedColumn is a column with the units that have each of its values.
type dividedColumn struct {
	name  string
	parts []valuePart
}

// divideUnits divides the units by the values of columns. A column of more than breakdownValues numbers is divided into
// ranges, and one of as many dates into days.
func divideUnits(u *rowset.Units, d *rowset.Set, columns []string) ([]dividedColumn, error) {
	var list []dividedColumn
	for _, column := range columns {
		c, err := tune.FindColumn(d.Table, "by", column)
		if err != nil {
			return nil, err
		}
		list = append(list, dividedColumn{c.Name, partsOf(u, c)})
	}
	return list, nil
}

// rates returns the number of rates of a breakdown: of positives found and of false alarms, where a value has rows of
// the class.
func (c *dividedColumn) rates(u *rowset.Units) int {
	n := 0
	for i := range c.parts {
		p := &c.parts[i]
		positives := p.positives(u)
		n += min(1, positives) + min(1, len(p.units)-positives)
	}
	return n
}

// breakdownOf counts decisions by the values of a column.
func breakdownOf(u *rowset.Units, c *dividedColumn, alarms []bool, confidence float64) (result.Breakdown, error) {
	b := result.Breakdown{Column: c.name, Values: []result.BreakdownValue{}}
	parts := c.parts
	for _, p := range parts {
		v := result.BreakdownValue{Value: p.name, Others: p.others}
		v.Rows, v.Positives = len(p.units), p.positives(u)
		decided, err := rowset.CountDecisions(u.Label, u.Weights(u.Table), p.units, alarms, confidence)
		if err != nil {
			return b, err
		}
		v.Found, v.FalseAlarms = decided.TruePositiveRate, decided.FalsePositiveRate
		b.Values = append(b.Values, v)
	}
	if len(parts) > 0 && !parts[0].ordered {
		slices.SortStableFunc(b.Values, func(x, y result.BreakdownValue) int {
			missed := func(v *result.BreakdownValue) float64 { return v.Found.Denominator - v.Found.Numerator }
			return cmp.Or(cmp.Compare(min(x.Others, 1), min(y.Others, 1)), cmp.Compare(missed(&y), missed(&x)),
				cmp.Compare(y.Rows, x.Rows), cmp.Compare(x.Value, y.Value))
		})
	}
	return b, nil
}

// valuePart is a value of a column, or several, with the units that have it.
type valuePart struct {
	name    string
	others  int // number of values if there are several
	units   []int
	ordered bool // the parts are ordered: days or ranges
}

// positives counts the positive units.
func (p *valuePart) positives(u *rowset.Units) int {
	n := 0
	for _, unit := range p.units {
		if u.Label[unit] == table.Positive {
			n++
		}
	}
	return n
}

// partsOf divides the units by the values of a column.
func partsOf(u *rowset.Units, c *table.Found) []valuePart {
	values := map[string][]int{}
	for unit := range u.Label {
		text := c.Text(u.RowOf(unit))
		values[text] = append(values[text], unit)
	}
	if len(values) > breakdownValues {
		if parts := daysOfUnits(u, c); parts != nil {
			return parts
		}
		if parts := rangesOf(u, c); parts != nil {
			return parts
		}
	}
	var parts []valuePart
	for name, list := range values {
		parts = append(parts, valuePart{name: name, units: list})
	}
	slices.SortFunc(parts, func(a, b valuePart) int {
		return cmp.Or(cmp.Compare(len(b.units), len(a.units)), cmp.Compare(a.name, b.name))
	})
	rare := slices.IndexFunc(parts, func(p valuePart) bool { return len(p.units) < breakdownRows })
	if rare < 0 {
		rare = len(parts)
	}
	if rare = min(rare, breakdownValues); len(parts)-rare < 2 {
		return parts
	}
	last := valuePart{others: len(parts) - rare}
	for _, p := range parts[rare:] {
		last.units = append(last.units, p.units...)
	}
	slices.Sort(last.units)
	return append(parts[:rare:rare], last)
}

// daysOfUnits divides the units by day, or returns nil if a value is not a date.
func daysOfUnits(u *rowset.Units, c *table.Found) []valuePart {
	days := map[string][]int{}
	for unit := range u.Label {
		day, ok := u.Table.DayOf(c.Text(u.RowOf(unit)))
		if !ok {
			return nil
		}
		days[day] = append(days[day], unit)
	}
	var parts []valuePart
	for day, list := range days {
		parts = append(parts, valuePart{name: day, units: list, ordered: true})
	}
	slices.SortFunc(parts, func(a, b valuePart) int { return cmp.Compare(a.name, b.name) })
	return mergeDays(parts)
}

// mergeDays joins neighbouring days until at most breakdownValues parts are left.
func mergeDays(days []valuePart) []valuePart {
	if len(days) <= breakdownValues {
		return days
	}
	size := (len(days) + breakdownValues - 1) / breakdownValues
	var parts []valuePart
	for chunk := range slices.Chunk(days, size) {
		p := valuePart{name: chunk[0].name, ordered: true}
		if len(chunk) > 1 {
			p.name += " to " + chunk[len(chunk)-1].name
		}
		for _, day := range chunk {
			p.units = append(p.units, day.units...)
		}
		parts = append(parts, p)
	}
	return parts
}

// rangesOf divides the units into ranges of numbers of about equal size, or returns nil if a value is neither a
// number nor missing. Equal numbers stay together.
func rangesOf(u *rowset.Units, c *table.Found) []valuePart {
	type value struct {
		x    float64
		unit int
	}
	var list []value
	missing := valuePart{ordered: true}
	for unit := range u.Label {
		row := u.RowOf(unit)
		x, ok := c.Number(row)
		switch {
		case ok:
			list = append(list, value{x, unit})
		case c.Text(row) == "":
			missing.units = append(missing.units, unit)
		default:
			return nil
		}
	}
	slices.SortStableFunc(list, func(a, b value) int { return cmp.Compare(a.x, b.x) })
	var parts []valuePart
	size := int(math.Ceil(float64(len(list)) / breakdownRanges))
	for first := 0; first < len(list); {
		end := min(first+size, len(list))
		for end < len(list) && list[end].x == list[end-1].x {
			end++
		}
		p := valuePart{name: rangeText(list[first].x, list[end-1].x), ordered: true}
		for _, v := range list[first:end] {
			p.units = append(p.units, v.unit)
		}
		parts = append(parts, p)
		first = end
	}
	if missing.units != nil {
		parts = append(parts, missing)
	}
	return parts
}

// rangeText returns "12" or "12 to 40".
func rangeText(low, high float64) string {
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
	if low == high {
		return number(low)
	}
	return fmt.Sprintf("%s to %s", number(low), number(high))
}
