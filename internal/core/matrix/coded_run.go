package matrix

import (
	"fmt"
	"unsafe"

	"toptau/internal/core/kernel"
)

// codes is a run. The code of (group g, row r) in panel p is codes.panels[p][64g+place[r]], in the order of the kernel; its
// fraction, if any, is fractions.panels[p][64g+r]. Rows that pad the last panel have level 0.
//
// The code of a row without a level is the group's number of levels, which is beyond the weights. The kernel does not handle
// such codes; gaps lists the groups and panels that contain them.
type codes[C codeType] struct {
	first     int     // first column, counted from the block's
	start     []int32 // first column of each group, counted from the run's, and the end of the last
	between   bool
	factors   []float64 // values by column; nil when all are 1
	storage   Storage
	place     [kernel.PanelRows]uint8 // position of a row's code among those of its group
	rows      int
	codes     panelList[C]
	fractions panelList[float32] // empty without fractions
	gaps      []gap              // by panel and group
	gappy     []bool             // by panel: some group has a gap
	score     codeScorer[C]      // nil: no kernel for codes of this size, or for values
	scatter   codeScatter[C]     // nil where score is nil
}

type codeType interface{ ~uint8 | ~uint16 | ~uint32 }

// panelList holds the panels of a run, in an arena.
type panelList[T codeType | float32] struct {
	panels [][]T
	memory arena[T]
}

// add appends a panel of zeros.
func (p *panelList[T]) add(size int) { p.panels = append(p.panels, p.memory.alloc(size)) }

// bytes returns the memory of the panels.
func (p *panelList[T]) bytes() int64 {
	if len(p.panels) == 0 {
		return 0
	}
	return int64(len(p.panels)) * int64(len(p.panels[0])) * int64(unsafe.Sizeof(T(0)))
}

// span returns the panels from first on that are adjacent in memory, up to end at most, and their number.
func (p *panelList[T]) span(first, end int) ([]T, int) {
	panel := p.panels[first]
	n := min(end-first, cap(panel)/len(panel))
	return panel[:n*len(panel)], n
}

// gap tells whether rows of a panel have no level in a group.
type gap uint8

const (
	noGap gap = iota
	someGaps
	allGaps
)

// codeScorer adds the scores of groups to z, or replaces z. fractions may be nil.
type codeScorer[C codeType] func(codes []C, fractions []float32, w []float64, start []int32, z []float64, add bool)

// codeScatter adds the gradient of one panel's groups to lanes.
type codeScatter[C codeType] func(codes []C, fractions []float32, v []float64, start []int32, lanes []float64)

func kernelScatter[C kernel.Code](codes []C, fractions []float32, v []float64, start []int32, lanes []float64) {
	if fractions != nil {
		kernel.AddCodesBetween(codes, fractions, v, start, lanes)
	} else {
		kernel.AddCodes(codes, v, start, lanes)
	}
}

func kernelScore[C kernel.Code](codes []C, fractions []float32, w []float64, start []int32, z []float64, add bool) {
	if fractions != nil {
		kernel.ScoreCodesBetween(codes, fractions, w, start, z, add)
	} else {
		kernel.ScoreCodes(codes, w, start, z, add)
	}
}

// runSpec describes a run: valid groups with codes of the same size.
type runSpec struct {
	first   int
	groups  []Group
	storage Storage
}

// newKernelCodes returns an empty run of codes that the kernel handles.
func newKernelCodes[C kernel.Code](s runSpec) *codes[C] {
	c := newCodes[C](s)
	if c.factors == nil { // the kernel handles values of 1 only
		c.score, c.scatter = kernelScore[C], kernelScatter[C]
	}
	for r := range c.place {
		c.place[r] = uint8(kernel.CodeIndex[C](r))
	}
	return c
}

func newCodes[C codeType](s runSpec) *codes[C] {
	c := &codes[C]{first: s.first, start: []int32{0}, between: s.groups[0].Between, storage: s.storage}
	for _, g := range s.groups {
		c.start = append(c.start, c.end()+int32(g.Levels))
		for _, v := range g.Values {
			c.factors = append(c.factors, s.storage.round(v))
		}
	}
	for r := range c.place {
		c.place[r] = uint8(r)
	}
	return c
}

func (c *codes[C]) count() int { return len(c.start) - 1 }

// end returns the number of columns.
func (c *codes[C]) end() int32 { return c.start[len(c.start)-1] }

func (c *codes[C]) values() int {
	if c.between {
		return 2 * c.count()
	}
	return c.count()
}

func (c *codes[C]) bytes() int64 {
	return int64(len(c.gaps)+len(c.gappy)) + c.codes.bytes() + c.fractions.bytes()
}

func (c *codes[C]) interpolates() bool { return c.between }

func (c *codes[C]) appendKey(i int, key []byte) []byte {
	all, _ := c.panel(i / kernel.PanelRows)
	for at := int(c.place[i%kernel.PanelRows]); at < len(all); at += kernel.PanelRows {
		code := uint32(all[at])
		for range unsafe.Sizeof(all[at]) {
			key = append(key, byte(code))
			code >>= 8
		}
	}
	return key
}

// panel returns the codes of a panel and its fractions, which may be nil.
func (c *codes[C]) panel(panel int) ([]C, []float32) {
	if !c.between {
		return c.codes.panels[panel], nil
	}
	return c.codes.panels[panel], c.fractions.panels[panel]
}

// size returns the number of codes of a panel.
func (c *codes[C]) size() int { return c.count() * kernel.PanelRows }

// grow appends a panel.
func (c *codes[C]) grow() {
	c.codes.add(c.size())
	if c.between {
		c.fractions.add(c.size())
	}
}

func (c *codes[C]) add(cols []uint32, values []float64) (taken, bad int, err error) {
	panel, r := c.rows/kernel.PanelRows, c.rows%kernel.PanelRows
	if r == 0 {
		c.grow()
	}
	c.rows++
	to, fractions := c.panel(panel)
	for g := range c.count() {
		var e groupEntries
		n, bad := c.entries(g, cols[taken:], values[taken:], &e)
		if bad >= 0 {
			return taken, taken + bad, nil
		}
		code, f, ok := c.find(g, &e)
		if !ok {
			return taken, -1, c.shapeError(g, cols[taken:taken+n], values[taken:taken+n])
		}
		to[g*kernel.PanelRows+int(c.place[r])] = C(code)
		if c.between {
			fractions[g*kernel.PanelRows+r] = float32(f)
		}
		taken += n
	}
	if r == kernel.PanelRows-1 {
		c.seal(panel)
	}
	return taken, -1, nil
}

// groupEntries holds the nonzero entries of a row in one group, as stored. At most two are kept.
type groupEntries struct {
	n      int
	level  [2]int
	values [2]float64
}

// entries reads a row's entries up to the end of a group and returns their number. bad is the index of the first value that
// is not finite, or -1.
func (c *codes[C]) entries(g int, cols []uint32, values []float64, e *groupEntries) (taken, bad int) {
	first, end := c.first+int(c.start[g]), c.first+int(c.start[g+1])
	for ; taken < len(cols) && int(cols[taken]) < end; taken++ {
		x := c.storage.round(values[taken])
		switch {
		case x-x != 0:
			return taken, taken
		case x == 0:
			continue
		case e.n < len(e.level):
			e.level[e.n], e.values[e.n] = int(cols[taken])-first, x
		}
		e.n++
	}
	return taken, -1
}

// find returns the code of a row and its fraction. ok is false when no code gives the row's values.
func (c *codes[C]) find(g int, e *groupEntries) (code int, f float64, ok bool) {
	levels, low, high := c.levels(g), e.values[0], e.values[1]
	switch {
	case e.n == 0:
		return levels, 0, true
	case e.n == 1 && c.between && e.level[0] == levels-1:
		return levels - 2, 1, low == 1 // the code above exists, so that the kernel can read it
	case e.n == 1:
		return e.level[0], 0, low == c.valueAt(g, e.level[0])
	case e.n == 2 && c.between && e.level[1] == e.level[0]+1:
		exact := float64(float32(low)) == low && float64(float32(high)) == high && low+high == 1
		return e.level[0], high, exact && low > 0 && high > 0
	}
	return 0, 0, false
}

func (c *codes[C]) levels(g int) int { return int(c.start[g+1] - c.start[g]) }

// valueAt returns the value of a level.
func (c *codes[C]) valueAt(g, level int) float64 {
	if c.factors == nil {
		return 1
	}
	return c.factors[int(c.start[g])+level]
}

func (c *codes[C]) shapeError(g int, cols []uint32, values []float64) error {
	want := "one level's value"
	if c.between {
		want = "1, or 1-f and f in neighbouring columns, in multiples of 2^-24"
	}
	return fmt.Errorf("a row has %v in columns %v of a coded block: columns %d to %d hold %s", values, cols,
		c.first+int(c.start[g]), c.first+int(c.start[g+1])-1, want)
}

// flush makes the last panel final.
func (c *codes[C]) flush() {
	if c.rows%kernel.PanelRows != 0 {
		c.seal(c.rows / kernel.PanelRows)
	}
}

// seal finds the gaps of a panel that has all its rows.
func (c *codes[C]) seal(panel int) {
	rows := min(kernel.PanelRows, c.rows-panel*kernel.PanelRows)
	all, _ := c.panel(panel)
	any := false
	for g := range c.count() {
		none, n := C(c.levels(g)), 0
		for _, at := range c.place[:rows] {
			if all[g*kernel.PanelRows+int(at)] == none {
				n++
			}
		}
		state := noGap
		if n > 0 {
			state, any = someGaps, true
		}
		if n == rows {
			state = allGaps
		}
		c.gaps = append(c.gaps, state)
	}
	c.gappy = append(c.gappy, any)
}

func (c *codes[C]) take(rows []int) codedRun {
	out := *c
	out.rows, out.codes, out.fractions, out.gaps, out.gappy = 0, panelList[C]{}, panelList[float32]{}, nil, nil
	out.codes.memory.reserve(panelsOf(len(rows)) * out.size())
	if out.between {
		out.fractions.memory.reserve(panelsOf(len(rows)) * out.size())
	}
	for range panelsOf(len(rows)) {
		out.grow()
	}
	for _, i := range rows {
		from, fromFractions := c.panel(i / kernel.PanelRows)
		panel := out.rows / kernel.PanelRows
		to, toFractions := out.panel(panel)
		i, r := i%kernel.PanelRows, out.rows%kernel.PanelRows
		for at := 0; at < len(to); at += kernel.PanelRows {
			to[at+int(c.place[r])] = from[at+int(c.place[i])]
			if c.between {
				toFractions[at+r] = fromFractions[at+i]
			}
		}
		if out.rows++; r == kernel.PanelRows-1 || out.rows == len(rows) {
			out.seal(panel)
		}
	}
	return &out
}

func (c *codes[C]) appendRow(i int, e *rowEntries) {
	all, fractions := c.panel(i / kernel.PanelRows)
	for g := range c.count() {
		from, r := g*kernel.PanelRows, i%kernel.PanelRows
		code, first := int(all[from+int(c.place[r])]), c.first+int(c.start[g])
		switch {
		case code == c.levels(g): // no level
		case !c.between:
			if x := c.valueAt(g, code); x != 0 {
				e.add(first+code, x)
			}
		default:
			f := float64(fractions[from+r])
			if f < 1 {
				e.add(first+code, 1-f)
			}
			if f > 0 {
				e.add(first+code+1, f)
			}
		}
	}
}
