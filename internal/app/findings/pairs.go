package findings

import (
	"cmp"
	"math"
	"slices"

	"toptau/internal/app/report"
	"toptau/internal/models/feature"
	"toptau/internal/training/effect"
)

// mainPairs is the number of pairs of columns that a report shows, and pairCells the number of cells of their
// figures in each direction, at most. Chosen by hand.
const (
	mainPairs = 6
	pairCells = 40
)

// drawSteps replaces the sampled shape of a numeric column by the exact step function, if it is one, over the
// range of the rows.
func drawSteps(e *effect.Sums, shape *report.Shape, mean float64) {
	if len(shape.X) == 0 {
		return
	}
	input := slices.Index(e.Division.Columns, shape.Column)
	edges, adds, ok := e.Division.Steps(input)
	if !ok {
		return
	}
	low, high := math.Inf(1), math.Inf(-1)
	for i := range e.Sample {
		if x := e.Sample[i].Values[input]; !math.IsNaN(x) {
			low, high = min(low, x), max(high, x)
		}
	}
	shape.X, shape.Y, shape.Steps = []float64{low}, nil, true
	for k, edge := range edges {
		if edge > low && edge < high {
			shape.X, shape.Y = append(shape.X, edge), append(shape.Y, adds[k]-mean)
		}
	}
	first, _ := slices.BinarySearch(edges, high)
	last := adds[first] - mean
	shape.X, shape.Y = append(shape.X, high), append(shape.Y, last, last)
}

// pairEffects accumulates what the pairs of columns add to the scores of rows.
type pairEffects struct {
	pairs  *feature.Pairs // nil: the model has none
	m      *feature.Map
	rows   float64
	sums   [][2]float64 // by pair: sum of what it adds, and of its square
	adds   []float64
	ranges [][2]float64 // by input: the least and the largest number
}

func newPairEffects(s *feature.Scorer) *pairEffects {
	p := &pairEffects{pairs: feature.PairsOf(s.Map, s.Weights), m: s.Map}
	if p.pairs != nil {
		p.sums, p.adds = make([][2]float64, len(p.pairs.Inputs)), make([]float64, len(p.pairs.Inputs))
		p.ranges = slices.Repeat([][2]float64{{math.Inf(1), math.Inf(-1)}}, len(s.Map.Inputs))
	}
	return p
}

// addRow adds what each pair adds to the score of a row to the sums, with its square, and extends the ranges of the inputs by the row's
// values.
func (p *pairEffects) addRow(e *feature.Encoded) {
	if p.pairs == nil {
		return
	}
	p.rows++
	p.pairs.Row(e, p.adds)
	for k, a := range p.adds {
		p.sums[k][0] += a
		p.sums[k][1] += float64(a * a)
	}
	for k := range p.ranges {
		if x := e.Number(k); !math.IsNaN(x) {
			p.ranges[k] = [2]float64{min(p.ranges[k][0], x), max(p.ranges[k][1], x)}
		}
	}
}

// shapes returns the pairs with the largest effects.
func (p *pairEffects) shapes() []report.PairShape {
	if p.pairs == nil || p.rows == 0 {
		return nil
	}
	effect := make([]float64, len(p.sums))
	order := make([]int, len(p.sums))
	for k, sum := range p.sums {
		mean := sum[0] / p.rows
		effect[k], order[k] = math.Sqrt(max(0, sum[1]/p.rows-float64(mean*mean))), k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(effect[b], effect[a]) })
	var list []report.PairShape
	for _, k := range order[:min(len(order), mainPairs)] {
		if effect[k] == 0 {
			break
		}
		list = append(list, p.shape(k, effect[k]))
	}
	return list
}

// shape returns the figure's data of a pair.
func (p *pairEffects) shape(k int, effect float64) report.PairShape {
	in := p.pairs.Inputs[k]
	x, y, at := p.pairs.Function(k)
	s := report.PairShape{X: p.within(in[0], x), Y: p.within(in[1], y), Effect: effect}
	for i := range s.Columns {
		s.Columns[i] = p.m.Inputs[in[i]].Name
		if p.m.Inputs[in[i]].Kind == "categorical" {
			s.Columns[i] += " (by fraction of positives)"
		}
	}
	mean := p.sums[k][0] / p.rows
	for _, y := range s.Y[1:] { // an edge belongs to the cell below it
		var line []float64
		for _, x := range s.X[1:] {
			line = append(line, at(x, y)-mean)
		}
		s.Values = append(s.Values, line)
	}
	return s
}

// within returns the edges of at most pairCells intervals of an input: thresholds in the range of the rows, and the
// ends of the range.
func (p *pairEffects) within(input int, thresholds []float64) []float64 {
	low, high := p.ranges[input][0], p.ranges[input][1]
	edges := []float64{low}
	first, found := slices.BinarySearch(thresholds, low)
	if found {
		first++
	}
	last, _ := slices.BinarySearch(thresholds, high)
	stride := (last-first)/pairCells + 1
	for k := first + stride - 1; k < last; k += stride {
		edges = append(edges, thresholds[k])
	}
	return append(edges, high)
}
