package matrix

import "toptau/internal/kernel"

func (b *coded) sums() sums {
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

// reduceAlone is how many times as long it takes to reduce a column alone as among all of the block.
const reduceAlone = 8

// codedSums keeps eight lanes a column. While a stripe has few active rows it remembers them, so that only their columns
// are reduced.
type codedSums struct {
	block *coded
	lanes []float64
	few   []int // the active rows of the stripe
	many  bool  // few has not had space for all

	active  [kernel.PanelRows]uint8 // rows of a panel
	entries rowEntries              // of a row
}

func (s *codedSums) add(panel int, v []float64, _ int) {
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

func (s *codedSums) finish(g []float64) {
	if s.many {
		kernel.ReduceLanes(s.lanes, g)
		s.few, s.many = s.few[:0], false
		return
	}
	for _, i := range s.few {
		s.block.entries(i, &s.entries)
		for _, j := range s.entries.cols { // a column that has been reduced before adds +0
			kernel.ReduceLanes(s.lanes[int(j)*kernel.Lanes:][:kernel.Lanes], g[j:j+1])
		}
	}
	s.few = s.few[:0]
}

// manyRows is the number of active rows from which a panel of ones is read as a whole.
const manyRows = 24

func (c *codes[C]) accumulate(panel int, v []float64, active []uint8, lanes []float64) {
	codes, fractions := c.panel(panel)
	lanes = lanes[c.first*kernel.Lanes:][:int(c.end())*kernel.Lanes]
	if len(active) >= manyRows && !c.between && c.factors == nil {
		c.addPanel(panel, codes, (*[kernel.PanelRows]float64)(v), lanes)
		return
	}
	for _, r := range active {
		r %= kernel.PanelRows
		own := codes[c.place[r]:]
		switch {
		case c.between:
			c.addBetween(own, fractions[r:], v[r], lanes[r%kernel.Lanes:])
		case c.factors != nil:
			c.addValues(own, v[r], lanes[r%kernel.Lanes:])
		default:
			c.addOnes(own, v[r], lanes[r%kernel.Lanes:])
		}
	}
}

// addOnes adds v to the levels of one row; codes and lanes begin with the row's own. A code without lanes adds nothing.
func (c *codes[C]) addOnes(codes []C, v float64, lanes []float64) {
	first := c.start[0]
	for g, end := range c.start[1:] {
		if at := first + int32(codes[g*kernel.PanelRows]); at < end {
			lanes[int(at)*kernel.Lanes] += v
		}
		first = end
	}
}

func (c *codes[C]) addValues(codes []C, v float64, lanes []float64) {
	first := c.start[0]
	for g, end := range c.start[1:] {
		if at := first + int32(codes[g*kernel.PanelRows]); at < end {
			lanes[int(at)*kernel.Lanes] += float64(c.factors[at] * v)
		}
		first = end
	}
}

func (c *codes[C]) addBetween(codes []C, fractions []float32, v float64, lanes []float64) {
	first := c.start[0]
	for g, end := range c.start[1:] {
		if at := first + int32(codes[g*kernel.PanelRows]); at+1 < end {
			f := float64(fractions[g*kernel.PanelRows])
			lanes[int(at)*kernel.Lanes] += float64((1 - f) * v)
			lanes[int(at+1)*kernel.Lanes] += float64(f * v)
		}
		first = end
	}
}

// addPanel adds all rows to the levels of one group after the other, eight rows at a time. Zeros add nothing.
func (c *codes[C]) addPanel(panel int, codes []C, v *[kernel.PanelRows]float64, lanes []float64) {
	octet, lane := int(c.place[kernel.Lanes]), int(c.place[1]) // from a row to the one eight further, and to the next
	for g, gap := range c.gaps[panel*c.count():][:c.count()] {
		if gap != allGaps {
			own := (*[kernel.PanelRows]C)(codes[g*kernel.PanelRows:])
			addGroup(own, octet, lane, v, lanes[c.start[g]*kernel.Lanes:c.start[g+1]*kernel.Lanes])
		}
	}
}

func addGroup[C codeType](codes *[kernel.PanelRows]C, octet, lane int, v *[kernel.PanelRows]float64, lanes []float64) {
	const mask = kernel.PanelRows - 1 // lets the compiler see that no index is out of range
	for k := range kernel.PanelRows / kernel.Lanes {
		own, at := v[k*kernel.Lanes:][:kernel.Lanes], k*octet
		l0 := int(codes[at&mask]) * kernel.Lanes
		l1 := int(codes[(at+lane)&mask])*kernel.Lanes + 1
		l2 := int(codes[(at+2*lane)&mask])*kernel.Lanes + 2
		l3 := int(codes[(at+3*lane)&mask])*kernel.Lanes + 3
		l4 := int(codes[(at+4*lane)&mask])*kernel.Lanes + 4
		l5 := int(codes[(at+5*lane)&mask])*kernel.Lanes + 5
		l6 := int(codes[(at+6*lane)&mask])*kernel.Lanes + 6
		l7 := int(codes[(at+7*lane)&mask])*kernel.Lanes + 7
		if l0 < len(lanes) {
			lanes[l0] += own[0]
		}
		if l1 < len(lanes) {
			lanes[l1] += own[1]
		}
		if l2 < len(lanes) {
			lanes[l2] += own[2]
		}
		if l3 < len(lanes) {
			lanes[l3] += own[3]
		}
		if l4 < len(lanes) {
			lanes[l4] += own[4]
		}
		if l5 < len(lanes) {
			lanes[l5] += own[5]
		}
		if l6 < len(lanes) {
			lanes[l6] += own[6]
		}
		if l7 < len(lanes) {
			lanes[l7] += own[7]
		}
	}
}
