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
		return (&prober{m, func(text string) bool { return text == "" }}).sparse()
	}
	p := prober{m, missing}
	centre, step := p.spread()
	rows := make([][]string, probeRows)
	for i := range rows {
		row := make([]string, columns)
		for j := range row {
			row[j] = "0" // columns without a weight
		}
		for k := range m.Inputs {
			row[m.Inputs[k].Column] = p.probe(i, k, centre[k], step[k])
		}
		rows[i] = row
	}
	return rows
}

// prober makes the records of a map.
type prober struct {
	m       *Map
	missing func(text string) bool
}

// probe returns the text of input k in record i.
func (p *prober) probe(i, k int, centre, step float64) string {
	m, missing := p.m, p.missing
	in := &m.Inputs[k]
	if i == probeRows-1 && m.Impute != schema.ImputeError {
		return "" // missing
	}
	if list := p.values(k); len(list) > 0 {
		for j := range list {
			text := strconv.FormatFloat(list[(i*(len(list)/probeRows+1)+k+j)%len(list)], 'g', -1, 64)
			if !missing(text) {
				return text
			}
		}
	}
	if in.Kind == schema.Numeric {
		text := probeNumber(centre, step, i, k)
		for more := 1; missing(text) && more < 100; more++ {
			text = probeNumber(centre+float64(step*float64(more)/128), step, i, k)
		}
		return text
	}
	if i == probeRows-2 {
		return in.unknownText(missing)
	}
	last := len(in.Categories) - 1
	return in.Categories[(i*last+k)/(probeRows-3)%(last+1)]
}

// values returns values of an input that exercise its blocks; nil if the blocks ask for none.
func (p *prober) values(k int) []float64 {
	var list []float64
	for _, b := range p.m.Blocks {
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
func (p *prober) spread() (centre, step []float64) {
	m := p.m
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

// sparse returns records with entries at indices far apart: multiples of their scale, and values that
// exercise the inputs' blocks.
func (p *prober) sparse() [][]string {
	m, rows := p.m, make([][]string, probeRows)
	for row := range rows {
		values := map[uint32]string{}
		for _, k := range spreadOver(len(m.Inputs), row) {
			values[uint32(m.Inputs[k].Column+1)] = p.probe(row, k, 0, 1)
		}
		if block := m.sparseBlock(); block != nil {
			for _, i := range spreadOver(len(block.Index), row) {
				step := 1.0
				if block.Scale != nil {
					step = block.Scale[i]
				}
				values[block.Index[i]] = probeNumber(0, step, row+1, i)
			}
		}
		rows[row] = []string{}
		for _, index := range slices.Sorted(maps.Keys(values)) {
			if text := values[index]; text != "" {
				rows[row] = append(rows[row], strconv.FormatUint(uint64(index), 10)+":"+text)
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
