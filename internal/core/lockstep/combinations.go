package lockstep

import (
	"toptau/internal/core/kernel"
	"toptau/internal/core/matrix"
)

// scoreTable writes the score of each combination under each model, those of a combination adjacent: the block's exact score,
// rounded to float32. first is the block's first column.
func scoreTable(c *matrix.Combinations, requests []Request, first int, dst []float32) []float32 {
	dst = resize(dst, c.Count()*len(requests))
	for h := range requests {
		w := requests[h].W[first:]
		for i := range c.Count() {
			sum := 0.0
			for k := c.Start[i]; k < c.Start[i+1]; k++ {
				sum += float64(c.Values[k] * w[c.Cols[k]])
			}
			dst[i*len(requests)+h] = float32(sum)
		}
	}
	return dst
}

// combinationSums sums the coefficients of a stripe by combination, for all models, in the lanes of kernel.SumEntries. They
// are float64: a fast gradient of a coded block is as exact as one in the exact arithmetic.
type combinationSums struct {
	lanes   []float64 // zero between stripes
	touched []bool    // by combination: its lanes may not be zero
}

func (s *combinationSums) grow(c *matrix.Combinations, models int) {
	if n := c.Count() * models * kernel.EntryLanes; len(s.lanes) < n {
		s.lanes = make([]float64, n)
	}
	if len(s.touched) < c.Count() {
		s.touched = make([]bool, c.Count())
	}
}

// addPanels adds the coefficients v of consecutive panels, with the layout of scores.
func (s *combinationSums) addPanels(c *matrix.Combinations, codes []uint16, v []float32, models int) {
	s.grow(c, models)
	last := codes[0]
	s.touched[last] = true
	for _, code := range codes {
		if code != last {
			s.touched[code], last = true, code
		}
	}
	kernel.SumEntries(codes, v, models, s.lanes)
}

// addRows adds the coefficients of model h in the rows below end, from element at on.
func (s *combinationSums) addRows(c *matrix.Combinations, v *Coefficients, at, end, h, models int) {
	s.grow(c, models)
	for ; at < len(v.Rows) && int(v.Rows[at]) < end; at++ {
		row := v.Rows[at]
		code := c.Codes[row]
		s.touched[code] = true
		s.lanes[(int(code)*models+h)*kernel.EntryLanes+int(row)%kernel.EntryLanes] += float64(v.V[at])
	}
}

// addTo adds the sums to the block's columns in g and clears them.
func (s *combinationSums) addTo(c *matrix.Combinations, g []float64, models int) {
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
			for k := c.Start[code]; k < c.Start[code+1]; k++ {
				g[int(c.Cols[k])*models+h] += float64(c.Values[k] * sum)
			}
		}
		clear(lanes)
	}
}
