package feature

import (
	"maps"
	"slices"
	"strconv"

	"toptau/schema"
)

// probeRows is the number of synthetic records.
const probeRows = 8

// Probes returns a few synthetic records as text, in the order of the table's columns (LIBSVM:
// "index:value"). They use every block: numbers around the shift in steps of the scale, categories from the
// first to the last, unknown categories, and missing values if the policy allows them. Nothing in them comes
// from a row. missing reports whether a text is read as a missing value.
func (m *Map) Probes(columns int, missing func(text string) bool) [][]string {
	if m.Sparse {
		return m.sparseProbes()
	}
	centre, step := m.spread()
	rows := make([][]string, probeRows)
	for p := range rows {
		row := make([]string, columns)
		for j := range row {
			row[j] = "0" // columns without a weight
		}
		for k := range m.Inputs {
			row[m.Inputs[k].Column] = m.probe(p, k, centre[k], step[k], missing)
		}
		rows[p] = row
	}
	return rows
}

// probe returns the text of input k in probe p.
func (m *Map) probe(p, k int, centre, step float64, missing func(string) bool) string {
	in := &m.Inputs[k]
	if p == probeRows-1 && m.Impute != schema.ImputeError {
		return "" // missing
	}
	if list := m.probeValues(k); len(list) > 0 {
		for i := range list {
			text := strconv.FormatFloat(list[(p*(len(list)/probeRows+1)+k+i)%len(list)], 'g', -1, 64)
			if !missing(text) {
				return text
			}
		}
	}
	if in.Kind == schema.Numeric {
		text := probeNumber(centre, step, p, k)
		for i := 1; missing(text) && i < 100; i++ {
			text = probeNumber(centre+float64(step*float64(i)/128), step, p, k)
		}
		return text
	}
	if p == probeRows-2 {
		return in.unknownText(missing)
	}
	last := len(in.Categories) - 1
	return in.Categories[(p*last+k)/(probeRows-3)%(last+1)]
}

// probeValues returns values of an input that exercise its blocks; nil if the blocks ask for none.
func (m *Map) probeValues(k int) []float64 {
	var list []float64
	for _, b := range m.Blocks {
		if b, ok := b.(interface{ probeValues(input int) []float64 }); ok {
			list = append(list, b.probeValues(k)...)
		}
	}
	return list
}

// probeNumber returns centre plus a multiple of step that differs from probe to probe and from column to
// column.
func probeNumber(centre, step float64, p, k int) string {
	multiples := [...]float64{0, 1, -0.75, 2.5, 0.25}
	x := centre + float64(step*multiples[(p*(1+k%3)+k)%len(multiples)])
	return strconv.FormatFloat(x, 'g', 6, 64)
}

// unknownText returns a text that is neither a category nor missing.
func (in *Input) unknownText(missing func(string) bool) string {
	text := "?unknown"
	for {
		if _, known := in.codes[text]; !known && !missing(text) {
			return text
		}
		text += "?"
	}
}

// spread returns where the values of each input lie, as far as the blocks know: shift and scale, otherwise 0
// and 1.
func (m *Map) spread() (centre, step []float64) {
	centre, step = make([]float64, len(m.Inputs)), make([]float64, len(m.Inputs))
	for k := range step {
		step[k] = 1
	}
	for _, b := range m.Blocks {
		if numeric, ok := b.(*NumericBlock); ok && numeric.Scale != nil {
			for i, k := range numeric.Inputs {
				centre[k], step[k] = numeric.Shift[i], numeric.Scale[i]
			}
		}
	}
	return centre, step
}

// sparseProbes returns records with entries at indices far apart: multiples of their scale, and values that
// exercise the inputs' blocks.
func (m *Map) sparseProbes() [][]string {
	rows := make([][]string, probeRows)
	for p := range rows {
		values := map[uint32]string{}
		for _, k := range spreadOver(len(m.Inputs), p) {
			values[uint32(m.Inputs[k].Column+1)] = m.probe(p, k, 0, 1, func(text string) bool { return text == "" })
		}
		if block := m.sparseBlock(); block != nil {
			for _, i := range spreadOver(len(block.Index), p) {
				step := 1.0
				if block.Scale != nil {
					step = block.Scale[i]
				}
				values[block.Index[i]] = probeNumber(0, step, p+1, i)
			}
		}
		rows[p] = []string{}
		for _, index := range slices.Sorted(maps.Keys(values)) {
			if text := values[index]; text != "" {
				rows[p] = append(rows[p], strconv.FormatUint(uint64(index), 10)+":"+text)
			}
		}
	}
	return rows
}

// spreadOver returns positions among n at equal distances, different ones for each probe: at least eight, and
// enough that all probes together have every position, up to 65,536 of them.
func spreadOver(n, p int) (list []int) {
	const fewest, most = 8, 8192
	stride := max(1, min(n/fewest, probeRows), n/most)
	for i := p % stride; i < n; i += stride {
		list = append(list, i)
	}
	return list
}
