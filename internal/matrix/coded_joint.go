package matrix

import "toptau/internal/kernel"

// joint numbers the combinations of levels at which the rows of a coded block stand, where they are few: the symbolic
// columns of a table depend on each other. Then the fast arithmetic looks a row up once, and not once a group.
//
// The entries of combination c are values[start[c]:start[c+1]] in the columns cols[start[c]:start[c+1]].
type joint struct {
	codes  []uint16 // combination of each row; rows that pad the last panel have the first
	start  []int32
	cols   []uint32
	values []float64
}

// A combination pays off when it is that of some rows: otherwise its table takes as long as the rows.
const (
	jointMost = 4096 // combinations
	jointRows = 16   // rows for each of them, on average
)

// joint returns nil where the combinations are too many, or have fractions. It is formed by the first fast pass, since
// exact ones have no use for it: their sums begin with other blocks.
func (b *coded) joint(rows int) *joint {
	b.once.Do(func() { b.few = b.newJoint(rows) })
	return b.few
}

func (b *coded) newJoint(rows int) *joint {
	for _, run := range b.runs {
		if run.interpolates() {
			return nil
		}
	}
	most := min(jointMost, rows/jointRows)
	out := &joint{codes: make([]uint16, panelsOf(rows)*kernel.PanelRows), start: []int32{0}}
	number := make(map[string]uint16)
	var key []byte
	var e rowEntries
	for i := range rows {
		key = key[:0]
		for _, run := range b.runs {
			key = run.appendKey(i, key)
		}
		c, known := number[string(key)]
		if !known {
			if len(number) == most {
				return nil
			}
			c = uint16(len(number))
			number[string(key)] = c
			b.entries(i, &e)
			out.cols, out.values = append(out.cols, e.cols...), append(out.values, e.values...)
			out.start = append(out.start, int32(len(out.cols)))
		}
		out.codes[i] = c
	}
	return out
}

func (t *joint) count() int { return len(t.start) - 1 }

// table writes the score of each combination under each model, those of a combination side by side: the bits of the block's
// exact score, rounded to float32.
func (t *joint) table(readings []Reading, first int, dst []float32) []float32 {
	dst = resize(dst, t.count()*len(readings))
	for h := range readings {
		w := readings[h].W[first:]
		for c := range t.count() {
			sum := 0.0
			for k := t.start[c]; k < t.start[c+1]; k++ {
				sum += float64(t.values[k] * w[t.cols[k]])
			}
			dst[c*len(readings)+h] = float32(sum)
		}
	}
	return dst
}

// jointSums is a worker's sums of the coefficients of a stripe by combination, for all models, in the lanes of
// kernel.SumEntries. They are float64: a fast gradient of a coded block is as exact as one that is not fast.
type jointSums struct {
	lanes   []float64 // zero between stripes
	touched []bool    // by combination: lanes may not be zero
}

// prepare makes room.
func (s *jointSums) prepare(t *joint, models int) {
	if n := t.count() * models * kernel.EntryLanes; len(s.lanes) < n {
		s.lanes = make([]float64, n)
	}
	if len(s.touched) < t.count() {
		s.touched = make([]bool, t.count())
	}
}

// addPanels adds the coefficients v of consecutive panels, laid out as scores are.
func (s *jointSums) addPanels(t *joint, codes []uint16, v []float32, models int) {
	s.prepare(t, models)
	last := codes[0]
	s.touched[last] = true
	for _, code := range codes {
		if code != last {
			s.touched[code], last = true, code
		}
	}
	kernel.SumEntries(codes, v, models, s.lanes)
}

// add adds the coefficients of model h in the rows below end, from element at on.
func (s *jointSums) add(t *joint, c *Coefficients, at, end, h, models int) {
	s.prepare(t, models)
	for ; at < len(c.Rows) && int(c.Rows[at]) < end; at++ {
		row := c.Rows[at]
		code := t.codes[row]
		s.touched[code] = true
		s.lanes[(int(code)*models+h)*kernel.EntryLanes+int(row)%kernel.EntryLanes] += float64(c.V[at])
	}
}

// finish adds the sums to the block's columns, those of the models side by side, and clears them.
func (s *jointSums) finish(t *joint, g []float64, models int) {
	for code := range s.touched {
		if !s.touched[code] {
			continue
		}
		s.touched[code] = false
		lanes := s.lanes[code*models*kernel.EntryLanes:][:models*kernel.EntryLanes]
		for h := range models {
			l := (*[kernel.EntryLanes]float64)(lanes[h*kernel.EntryLanes:])
			if *l == [kernel.EntryLanes]float64{} {
				continue
			}
			sum := (l[0] + l[2]) + (l[1] + l[3])
			for k := t.start[code]; k < t.start[code+1]; k++ {
				g[int(t.cols[k])*models+h] += float64(t.values[k] * sum)
			}
		}
		clear(lanes)
	}
}
