package matrix

import "toptau/internal/core/kernel"

func (b *coded) sums() Sums {
	if b.width > wideColumns {
		var e rowEntries
		return newWideSums(b.width, func(row int, v float64, sum *laneSum) {
			b.entries(row, &e)
			for k, x := range e.values {
				sum.add(e.cols[k], float64(x*v))
			}
		})
	}
	values := 0
	for _, run := range b.runs {
		values += run.values()
	}
	return &codedSums{
		block: b,
		lanes: make([]float64, b.width*kernel.Lanes),
		few:   make([]int, 0, b.width/(reduceAlone*max(values, 1))),
	}
}

func (b *coded) sumsBytes() int64 {
	if b.width > wideColumns {
		return wideSumsBytes(b.width)
	}
	return 8 * kernel.Lanes * int64(b.width)
}

// reduceAlone is the time to reduce one column by itself over the time per column when all are reduced. Chosen by hand.
const reduceAlone = 8

// codedSums keeps eight lanes per column. While a stripe has few active rows it stores their numbers, so that only their
// columns are reduced.
type codedSums struct {
	block *coded
	lanes []float64
	few   []int // the active rows of the stripe
	many  bool  // there were more than few can hold

	active  [kernel.PanelRows]uint8 // rows of a panel
	entries rowEntries              // of a row
}

func (s *codedSums) AddPanel(panel int, v []float64, _ int) {
	n := 0
	for r, vr := range v {
		s.active[n] = uint8(r)
		if vr != 0 {
			n++
		}
	}
	active := s.active[:n]
	for _, run := range s.block.runs {
		run.accumulate(panel, v, active, s.lanes)
	}
	if s.many = s.many || len(s.few)+n > cap(s.few); !s.many {
		for _, r := range active {
			s.few = append(s.few, panel*kernel.PanelRows+int(r))
		}
	}
}

func (s *codedSums) Finish(g []float64) {
	if s.many {
		kernel.ReduceLanes(s.lanes, g)
		s.few, s.many = s.few[:0], false
		return
	}
	for _, i := range s.few {
		s.block.entries(i, &s.entries)
		for _, j := range s.entries.cols { // a second reduction of a column adds +0
			kernel.ReduceLanes(s.lanes[int(j)*kernel.Lanes:][:kernel.Lanes], g[j:j+1])
		}
	}
	s.few = s.few[:0]
}

// manyRows is the number of active rows, of 64, from which the kernel adds a whole panel. Chosen by hand.
const manyRows = 16

func (c *codes[C]) accumulate(panel int, v []float64, active []uint8, lanes []float64) {
	lanes = lanes[c.first*kernel.Lanes:][:int(c.end())*kernel.Lanes]
	if len(active) < manyRows || c.scatter == nil {
		c.addRows(panel, 0, c.count(), v, active, lanes)
		return
	}
	codes, fractions := c.panel(panel)
	gaps := c.gaps[panel*c.count():][:c.count()]
	for g := 0; g < len(gaps); {
		end := g
		for end < len(gaps) && gaps[end] == noGap {
			end++
		}
		from, to := g*kernel.PanelRows, end*kernel.PanelRows
		switch {
		case end > g && c.between:
			c.scatter(codes[from:to], fractions[from:to], v, c.start[g:end+1], lanes)
		case end > g:
			c.scatter(codes[from:to], nil, v, c.start[g:end+1], lanes)
		default:
			if end++; gaps[g] != allGaps {
				c.addRows(panel, g, end, v, active, lanes)
			}
		}
		g = end
	}
}

// addRows adds the active rows to the levels of the groups from first up to end, row by row. A code without lanes adds
// nothing.
func (c *codes[C]) addRows(panel, first, end int, v []float64, active []uint8, lanes []float64) {
	codes, fractions := c.panel(panel)
	from, start := first*kernel.PanelRows, c.start[first:end+1]
	for _, r := range active {
		r %= kernel.PanelRows
		own := codes[from+int(c.place[r]):]
		switch {
		case c.between:
			addBetween(own, fractions[from+int(r):], v[r], start, lanes[r%kernel.Lanes:])
		case c.factors != nil:
			addValues(own, c.factors, v[r], start, lanes[r%kernel.Lanes:])
		default:
			addOnes(own, v[r], start, lanes[r%kernel.Lanes:])
		}
	}
}

// addOnes adds v to the levels of one row, whose codes and lanes are the first elements.
func addOnes[C codeType](codes []C, v float64, start []int32, lanes []float64) {
	first := start[0]
	for g, end := range start[1:] {
		if at := first + int32(codes[g*kernel.PanelRows]); at < end {
			lanes[int(at)*kernel.Lanes] += v
		}
		first = end
	}
}

func addValues[C codeType](codes []C, factors []float64, v float64, start []int32, lanes []float64) {
	first := start[0]
	for g, end := range start[1:] {
		if at := first + int32(codes[g*kernel.PanelRows]); at < end {
			lanes[int(at)*kernel.Lanes] += float64(factors[at] * v)
		}
		first = end
	}
}

func addBetween[C codeType](codes []C, fractions []float32, v float64, start []int32, lanes []float64) {
	first := start[0]
	for g, end := range start[1:] {
		if at := first + int32(codes[g*kernel.PanelRows]); at+1 < end {
			f := float64(fractions[g*kernel.PanelRows])
			lanes[int(at)*kernel.Lanes] += float64((1 - f) * v)
			lanes[int(at+1)*kernel.Lanes] += float64(f * v)
		}
		first = end
	}
}
