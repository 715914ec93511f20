package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"toptau/internal/text"
	"toptau/metric"
)

// Histogram shows how the scores of each class are spread, and where the threshold cuts. Every class is drawn as shares
// of itself, because a rare class would not be seen beside a frequent one.
type Histogram struct {
	Text      Caption
	X         Axis      // its Label is the score's; its ends are those of Edges
	Edges     []float64 // ends of the bins, ascending; one more than Counts of each class
	Classes   []Class
	Threshold *float64 // nil: none
	Rule      string   // the threshold's name in the legend; "": "threshold"
}

// Class is the content of the bins of one class, as counts or masses.
type Class struct {
	Name   string
	Counts []float64
}

// beyond is the share of a class that may lie outside the bins on each side, so that a few rows far away do not press
// the others into one bin.
const beyond = 0.005

// HistogramOf counts scores into about bins bins of round width (0: 40), ready to draw. The bins cover the threshold and
// all but a few of the scores; what lies outside is counted in the first and the last, and the note says so.
func HistogramOf(s metric.Scores, threshold *float64, bins int) *Histogram {
	if bins <= 0 {
		bins = 40
	}
	h := &Histogram{X: Axis{Label: "score"}, Threshold: threshold, Classes: []Class{{Name: "negatives"}, {Name: "positives"}}}
	low, high, ok := binRange(s, threshold)
	if !ok {
		return h
	}
	width := nearStep((high - low) / float64(bins))
	first, last := math.Floor(low/width.size()), math.Floor(high/width.size())+1
	for i := first; i <= last; i++ {
		h.Edges = append(h.Edges, width.times(i))
	}
	outside := [2]int{}
	for i, class := range []struct{ scores, weights []float64 }{
		{s.Negatives, s.NegativeWeights}, {s.Positives, s.PositiveWeights},
	} {
		counts := make([]float64, len(h.Edges)-1)
		for j, z := range class.scores {
			if math.IsNaN(z) {
				continue
			}
			if z < h.Edges[0] || z > h.Edges[len(h.Edges)-1] {
				outside[i]++
			}
			bin, exact := slices.BinarySearch(h.Edges, z)
			if !exact {
				bin--
			}
			weight := 1.0
			if j < len(class.weights) {
				weight = class.weights[j]
			}
			counts[min(max(bin, 0), len(counts)-1)] += weight
		}
		h.Classes[i].Counts = counts
	}
	if outside[0]+outside[1] > 0 {
		h.Text.Note = fmt.Sprintf("%s and %s lie beyond the ends and are counted in the outermost bins.",
			text.Plural(outside[0], "negative"), text.Plural(outside[1], "positive"))
	}
	return h
}

// binRange is the range of the threshold and of each class's scores but the outermost ones.
func binRange(s metric.Scores, threshold *float64) (low, high float64, ok bool) {
	var e extent
	for _, class := range [][]float64{s.Negatives, s.Positives} {
		var scores []float64
		for _, z := range class {
			if Drawable(z) {
				scores = append(scores, z)
			}
		}
		if len(scores) == 0 {
			continue
		}
		slices.Sort(scores)
		cut := int(beyond * float64(len(scores)))
		e.add(scores[cut])
		e.add(scores[len(scores)-1-cut])
	}
	if !e.any {
		return 0, 0, false
	}
	if threshold != nil {
		e.add(*threshold)
	}
	if e.low == e.high {
		apart := max(math.Abs(e.low)/10, 0.5)
		return e.low - apart, e.high + apart, true
	}
	return e.low, e.high, true
}

// Caption returns h.Text.
func (h *Histogram) Caption() Caption { return h.Text }

// shares are a class's counts over their sum; nil where they do not fit the edges.
func (h *Histogram) shares(class Class) []float64 {
	sum := 0.0
	for _, n := range class.Counts {
		if !(n >= 0) || !Drawable(n) {
			return nil
		}
		sum += n
	}
	if len(class.Counts) != len(h.Edges)-1 || sum == 0 || !Drawable(sum) || !slices.IsSorted(h.Edges) {
		return nil
	}
	shares := make([]float64, len(class.Counts))
	for i, n := range class.Counts {
		shares[i] = n / sum
	}
	return shares
}

func (h *Histogram) Draw(c *Canvas) {
	h.hatch(c)
	DrawLegend(c, h.legend())
	var ex, ey extent
	ey.add(0)
	for _, class := range h.Classes {
		for i, share := range h.shares(class) {
			ex.add(h.Edges[i])
			ex.add(h.Edges[i+1])
			ey.add(share)
		}
	}
	x := h.X
	if ex.any {
		x.Scale, x.Min, x.Max = Linear, ex.low, ex.high
	}
	f := newFrame(c, x, Axis{Label: "share of the class in the bin", Unit: Percent}, ex, ey, 220)
	for i, class := range h.Classes {
		h.bars(c, &f, h.shares(class), i)
	}
	if h.Threshold != nil && ex.any {
		if at, ok := f.x.at(*h.Threshold); ok && at >= f.Left && at <= f.Right {
			c.Line("rule d2", at, f.Top, at, f.Bottom)
		}
	}
	if !ex.any {
		c.Text("axis mid", (f.Left+f.Right)/2, (f.Top+f.Bottom)/2, "no data")
	}
}

// hatch defines the fill of the second class, which is seen in grey print as well.
func (h *Histogram) hatch(c *Canvas) {
	c.printf(`<pattern id="%s-h" class="c2" width="5" height="5" patternUnits="userSpaceOnUse" `+
		`patternTransform="rotate(45)"><path class="thin" d="M0 0V5"/></pattern>`+"\n", c.id)
}

// bars draws a class as one outline: the first is washed, the second hatched.
func (h *Histogram) bars(c *Canvas, f *Frame, shares []float64, i int) {
	if shares == nil {
		return
	}
	var run []Point
	for bin, share := range shares {
		left, _ := f.x.at(h.Edges[bin])
		right, _ := f.x.at(h.Edges[bin+1])
		y, _ := f.y.at(share)
		run = append(run, Point{left, y}, Point{right, y})
	}
	var d strings.Builder
	d.WriteString("M" + Pair(run[0].X, f.Bottom))
	last := Point{run[0].X, f.Bottom}
	for _, p := range append(run, Point{run[len(run)-1].X, f.Bottom}) {
		if p != last {
			d.WriteString(lineTo(last, p))
		}
		last = p
	}
	h.fill(c, i, func(class, extra string) {
		c.printf("<path class=\"%s\"%s d=\"%s\"/>\n", class, extra, d.String())
	})
}

// fill draws the area and the outline of class i.
func (h *Histogram) fill(c *Canvas, i int, shape func(class, extra string)) {
	l := lookOf(i + 1)
	if i == 1 {
		shape("", fmt.Sprintf(` fill="url(#%s-h)"`, c.id))
	} else {
		shape("wash "+l.colour(), "")
	}
	shape("line "+l.colour(), "")
}

func (h *Histogram) legend() []LegendEntry {
	var entries []LegendEntry
	for i, class := range h.Classes {
		entries = append(entries, LegendEntry{class.Name, SwatchWidth, func(c *Canvas, x, y float64) {
			h.fill(c, i, func(class, extra string) {
				c.printf("<rect class=\"%s\"%s x=\"%s\" y=\"%s\" width=\"%s\" height=\"11\"/>\n", class, extra,
					position(x+2), position(y-5.5), position(SwatchWidth-4))
			})
		}})
	}
	if h.Threshold == nil {
		return entries
	}
	name := h.Rule
	if name == "" {
		name = "threshold"
	}
	return append(entries, LegendEntry{name, smallSwatch, func(c *Canvas, x, y float64) {
		c.Line("rule d2", x+smallSwatch/2, y-9, x+smallSwatch/2, y+7)
	}})
}
