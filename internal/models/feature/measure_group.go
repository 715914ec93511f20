package feature

import (
	"math"

	"toptau/internal/core/detmath"
	"toptau/internal/core/kernel"
	"toptau/internal/data/table"
)

// columnGroup is columns whose moments one kernel computes together, a few rows at a time.
type columnGroup struct {
	columns []*table.Column // at most kernel.MomentColumns
	rows    int
	space   [kernel.MomentColumns][1 << 10]float64
	part    [kernel.MomentColumns][]float64 // of each column; if there are fewer, the last one is repeated
}

// eachPart calls visit for all rows in order, with some rows in part.
func (c *columnGroup) eachPart(visit func()) {
	for first := 0; first < c.rows; first += len(c.space[0]) {
		n := min(len(c.space[0]), c.rows-first)
		for k := range c.part {
			if k < len(c.columns) {
				c.part[k] = c.columns[k].Range(first, n, c.space[k][:])
			} else {
				c.part[k] = c.part[k-1]
			}
		}
		visit()
	}
}

// measureGroup computes the moments of numeric columns on all rows, without weights. It returns the columns
// in which a value is missing; these are measured one by one.
func (f *fitter) measureGroup(columns []int, all []measured) (alone []int) {
	c := &columnGroup{rows: f.t.Rows()}
	for _, j := range columns {
		c.columns = append(c.columns, &f.t.Columns[j])
	}
	var low, high [kernel.MomentColumns]float64
	var missing [kernel.MomentColumns]bool
	for k := range low {
		low[k], high[k] = math.Inf(1), math.Inf(-1)
	}
	c.eachPart(func() {
		for k := range c.columns {
			least, greatest, ordered := kernel.Extent(c.part[k])
			low[k], high[k], missing[k] = min(low[k], least), max(high[k], greatest), missing[k] || !ordered
		}
	})
	var vary []int // of columns
	var s kernel.Moments
	c.columns = c.columns[:0]
	for k, j := range columns {
		switch {
		case missing[k]:
			alone = append(alone, j)
		case low[k] >= high[k]:
			all[j].setMoments(moments{mean: low[k], constant: true})
		default:
			s.Unit[len(vary)] = unit(max(math.Abs(low[k]), math.Abs(high[k])))
			vary, c.columns = append(vary, j), append(c.columns, &f.t.Columns[j])
		}
	}
	if len(vary) == 0 {
		return alone
	}
	mass := float64(c.rows)
	c.eachPart(func() { s.AddFirst(&c.part) })
	for k := range s.Mean {
		s.Mean[k] = detmath.SumOf(s.Total[k], s.Lost[k]).Value() / mass
	}
	s.Total, s.Lost = [kernel.MomentColumns]float64{}, [kernel.MomentColumns]float64{}
	c.eachPart(func() { s.AddSecond(&c.part) })
	for k, j := range vary {
		sd := math.Sqrt(detmath.SumOf(s.Total[k], s.Lost[k]).Value()/mass) / s.Unit[k]
		all[j].setMoments(moments{mean: s.Mean[k] / s.Unit[k], sd: sd, constant: sd == 0})
	}
	return alone
}
