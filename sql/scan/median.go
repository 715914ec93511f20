package scan

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"strings"
)

// medianCuts is the number of cuts of a statement that looks for a median, and medianTries the number of such statements. The
// first one cuts at values of a sample, whose median is about 8 standard errors of ranks wide; a thousandth of these rows is left after
// two. Both are chosen by hand.
const (
	medianCuts  = 60
	medianTries = 64
)

// valueCell is the values of a column between two cuts.
type valueCell struct {
	mass      float64
	low, high float64
}

// median returns the median of a column on the rows of a part, as feature.Fit defines it: the smallest value up to which half of the mass
// lies, or the mean of it and the next value if exactly half does. near are values of a sample, and guess is their median.
func (o *measuring) median(ctx context.Context, c *tableColumn, near []float64, guess float64) (float64, error) {
	d := o.rows.dialect
	value := d.Cast(c.expr(d))
	if c.missing > 0 {
		value = d.Double(c.expr(d))
	}
	near = slices.DeleteFunc(slices.Clone(near), math.IsNaN)
	slices.Sort(near)
	cuts := around(near, guess)
	if len(cuts) == 0 {
		cuts = []float64{c.least}
	}
	low, high := math.Inf(-1), math.Inf(1)
	below, half := 0.0, math.NaN()
	for range medianTries {
		cells, err := o.countValues(ctx, value, cuts, low, high)
		if err != nil {
			return 0, err
		}
		if math.IsNaN(half) {
			half = 0
			for _, c := range cells {
				half += c.mass / 2
			}
		}
		cells = slices.DeleteFunc(cells, func(c valueCell) bool { return c.mass == 0 })
		at := 0
		for at+1 < len(cells) && below+cells[at].mass < half {
			below += cells[at].mass
			at++
		}
		if len(cells) == 0 {
			return 0, o.rows.changed()
		}
		found := cells[at]
		if found.low == found.high {
			if below+found.mass != half || found.high >= c.most {
				return found.low, nil
			}
			if at+1 == len(cells) {
				next, err := o.countValues(ctx, value, nil, math.Nextafter(found.high, math.Inf(1)), math.Inf(1))
				if err != nil || next[0].mass == 0 {
					return found.low, err
				}
				cells = append(cells, next[0])
			}
			return float64(found.low/2) + float64(cells[at+1].low/2), nil
		}
		low, high = found.low, found.high
		cuts = between(low, high)
	}
	return low, nil
}

// around returns values around the median of sorted values, as far apart as its standard error by ranks allows.
func around(sorted []float64, median float64) []float64 {
	middle, _ := slices.BinarySearch(sorted, median)
	step := max(1, int(8*0.5*math.Sqrt(float64(len(sorted)))/medianCuts))
	var cuts []float64
	for k := -medianCuts / 2; k <= medianCuts/2; k++ {
		if at := middle + k*step; at >= 0 && at < len(sorted) {
			cuts = append(cuts, sorted[at])
		}
	}
	return slices.Compact(cuts)
}

// between returns cuts that divide an interval of different ends, so that both have cells of their own.
func between(low, high float64) []float64 {
	cuts := []float64{math.Nextafter(low, high)}
	for k := 1; k < medianCuts; k++ {
		f := float64(k) / medianCuts
		cuts = append(cuts, float64(low*(1-f))+float64(high*f))
	}
	cuts = append(cuts, high)
	slices.Sort(cuts)
	return slices.Compact(cuts)
}

// countValues counts the values of an interval between cuts: a cell below the first one, and one from each on.
func (o *measuring) countValues(ctx context.Context, value string, cuts []float64, low, high float64) ([]valueCell, error) {
	r, d := o.rows, o.rows.dialect
	whole := make([]valueCell, len(cuts)+1)
	for i := range whole {
		whole[i] = valueCell{low: math.Inf(1), high: math.Inf(-1)}
	}
	err := r.everywhere(ctx, func(ctx context.Context, shard int) error {
		inner := value + " AS toptau_x"
		if w := r.layout.weight; w != nil {
			inner += ", " + d.Cast(w.expr(d)) + " AS toptau_m"
		}
		from := "(SELECT " + inner + " FROM " + r.from(r.is.all, r.part(o.part), r.upTo(shard)) + d.Fence + ") toptau_a"
		where := []string{"toptau_x IS NOT NULL"}
		if !math.IsInf(low, 0) {
			where = append(where, "toptau_x >= "+d.Num(low))
		}
		if !math.IsInf(high, 0) {
			where = append(where, "toptau_x <= "+d.Num(high))
		}
		bin := "0"
		if len(cuts) > 0 {
			bin = d.Bin(d, "toptau_x", cuts)
		}
		from = "(SELECT toptau_a.*, " + d.Int(bin) + " AS toptau_i FROM " + from + " WHERE " + strings.Join(where, " AND ") + ") toptau_b"
		var q query
		var i, rows int64
		var mass sql.NullFloat64
		var c valueCell
		q.add("toptau_i", &i)
		q.add(d.Int("count(*)"), &rows)
		q.add("min(toptau_x)", &c.low)
		q.add("max(toptau_x)", &c.high)
		if r.layout.weight != nil {
			q.add("sum(toptau_m)", &mass)
		}
		found := map[int]valueCell{}
		err := r.query(ctx, shard, "SELECT "+strings.Join(q.columns, ", ")+" FROM "+from+" GROUP BY toptau_i", q.dest, func() { clear(found) }, func() error {
			if c.mass = float64(rows); mass.Valid {
				c.mass = mass.Float64
			}
			found[int(i)] = c
			return nil
		})
		if err != nil {
			return err
		}
		r.lock.Lock()
		defer r.lock.Unlock()
		for i, c := range found {
			to := &whole[i]
			to.mass, to.low, to.high = to.mass+c.mass, min(to.low, c.low), max(to.high, c.high)
		}
		return nil
	})
	r.count(func(t *Traffic) { t.Scans++ })
	return whole, err
}
