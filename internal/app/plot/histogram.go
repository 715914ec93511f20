package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"toptau/internal/core/ranking"
	"toptau/internal/core/text"
)

// Histogram shows the distribution of the scores in each class, and the threshold. Bars are fractions of a
// class: with counts, a rare class would be invisible next to a frequent one.
type Histogram struct {
	Text      Caption
	X         Axis      // its ends are replaced by those of Edges
	Edges     []float64 // ends of the bins, ascending; one more than the Counts of a class
	Classes   []Class
	Threshold *float64 // nil if there is none
	Rule      string   // the threshold's name in the legend (default "threshold")
}

// Class contains the counts of one class in each bin, or their sums of weights.
type Class struct {
	Name   string
	Counts []float64
}

// beyond is the fraction of a class that may be outside the bins on each side. Without it a few distant rows
// could push all others into one bin. 0.5 % was chosen by hand.
const beyond = 0.005

// HistogramOf counts scores in about bins bins of round width (default 40). The bins cover the threshold and
// all but a few scores. The first and the last bin also count the scores outside, and the note gives their
// numbers.
func HistogramOf(s ranking.Scores, threshold *float64, bins int) *Histogram {
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
		h.Text.Note = fmt.Sprintf("%s and %s are outside the bins and counted in the outermost ones.",
			text.Plural(outside[0], "negative"), text.Plural(outside[1], "positive"))
	}
	return h
}

// binRange returns the range of the threshold and of each class's scores without its outermost ones.
func binRange(s ranking.Scores, threshold *float64) (low, high float64, ok bool) {
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
		e.include(scores[cut])
		e.include(scores[len(scores)-1-cut])
	}
	if !e.any {
		return 0, 0, false
	}
	if threshold != nil {
		e.include(*threshold)
	}
	if e.low == e.high {
		margin := max(math.Abs(e.low)/10, 0.5)
		return e.low - margin, e.high + margin, true
	}
	return e.low, e.high, true
}

// Caption returns h.Text.
func (h *Histogram) Caption() Caption { return h.Text }

// fractions returns a class's counts divided by their sum, and nil if they do not fit the edges.
func (h *Histogram) fractions(class Class) []float64 {
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
	fractions := make([]float64, len(class.Counts))
	for i, n := range class.Counts {
		fractions[i] = n / sum
	}
	return fractions
}

// Draw implements Figure.
func (h *Histogram) Draw(c *Canvas) {
	h.defineHatch(c)
	DrawLegend(c, h.legendEntries())
	var ex, ey extent
	ey.include(0)
	for _, class := range h.Classes {
		for i, fraction := range h.fractions(class) {
			ex.include(h.Edges[i])
			ex.include(h.Edges[i+1])
			ey.include(fraction)
		}
	}
	x := h.X
	if ex.any {
		x.Scale, x.Min, x.Max = Linear, ex.low, ex.high
	}
	f := newFrame(c, x, Axis{Label: "fraction of the class per bin", Unit: Percent}, ex, ey, c.scaled(220))
	for i, class := range h.Classes {
		h.drawBars(c, &f, h.fractions(class), i)
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

// defineHatch defines the fill of the second class, which is also visible in grey print.
func (h *Histogram) defineHatch(c *Canvas) {
	c.printf(`<pattern id="%s-h" class="c2" width="5" height="5" patternUnits="userSpaceOnUse" `+
		`patternTransform="rotate(45)"><path class="thin" d="M0 0V5"/></pattern>`+"\n", c.id)
}

// drawBars draws a class as one outline. The first class is shaded, the second hatched.
func (h *Histogram) drawBars(c *Canvas, f *Frame, fractions []float64, i int) {
	if fractions == nil {
		return
	}
	var run []Point
	for bin, fraction := range fractions {
		left, _ := f.x.at(h.Edges[bin])
		right, _ := f.x.at(h.Edges[bin+1])
		y, _ := f.y.at(fraction)
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
	h.drawFilled(c, i, func(class, extra string) {
		c.printf("<path class=\"%s\"%s d=\"%s\"/>\n", class, extra, d.String())
	})
}

// drawFilled draws the area and the outline of class i.
func (h *Histogram) drawFilled(c *Canvas, i int, shape func(class, extra string)) {
	l := lookOf(i + 1)
	if i == 1 {
		shape("", fmt.Sprintf(` fill="url(#%s-h)"`, c.id))
	} else {
		shape("wash "+l.colour(), "")
	}
	shape("line "+l.colour(), "")
}

func (h *Histogram) legendEntries() []LegendEntry {
	var entries []LegendEntry
	for i, class := range h.Classes {
		entries = append(entries, LegendEntry{class.Name, SwatchWidth, func(c *Canvas, x, y float64) {
			h.drawFilled(c, i, func(class, extra string) {
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
