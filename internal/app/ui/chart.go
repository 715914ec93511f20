package ui

import (
	"math"
	"slices"
	"strconv"

	"toptau/internal/app/plot"
)

// chart is a figure of lines as numbers, which the page draws with hover and zoom.
type chart struct {
	Description string    `json:"description"`
	X           axis      `json:"x"`
	Y           axis      `json:"y"`
	At          []plotted `json:"at"` // of all series, ascending
	Series      []series  `json:"series"`
	Rules       []rule    `json:"rules"`
	High        bool      `json:"high"` // not one of many small figures
}

type axis struct {
	Label   string      `json:"label"`
	Percent bool        `json:"percent,omitempty"`
	Log     bool        `json:"log,omitempty"`
	Ends    *[2]plotted `json:"ends,omitempty"` // fixed ends
	Marks   [][2]any    `json:"marks,omitempty"`
	Values  []plotted   `json:"values,omitempty"` // what the positions of At stand for
}

type series struct {
	Name  string    `json:"name"`
	Style int       `json:"style"`
	Draw  string    `json:"draw"`          // line, step or points
	Y     []plotted `json:"y"`             // null where there is no value
	Low   []plotted `json:"low,omitempty"` // a band
	High  []plotted `json:"high,omitempty"`
}

type rule struct {
	Name       string  `json:"name"`
	At         plotted `json:"at"`
	Horizontal bool    `json:"horizontal"`
}

// plotted is a number with six digits in JSON, which is far below a pixel, also after zooming, and null if it cannot be drawn.
type plotted float64

// MarshalJSON implements json.Marshaler.
func (x plotted) MarshalJSON() ([]byte, error) {
	if !plot.Drawable(float64(x)) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(x), 'g', 6, 64), nil
}

func numbers(list []float64) []plotted {
	var out []plotted
	for _, x := range list {
		out = append(out, plotted(x))
	}
	return out
}

// chartOf returns a figure as numbers, nil if the page shows its drawing instead.
func chartOf(f plot.Figure) *chart {
	switch f := f.(type) {
	case *plot.Plot:
		return linesOf(f)
	case *plot.Histogram:
		return linesOf(stepsOf(f))
	}
	return nil
}

// stepsOf returns a histogram as lines of fractions.
func stepsOf(h *plot.Histogram) *plot.Plot {
	p := &plot.Plot{Text: h.Text, X: h.X, Y: plot.Axis{Label: "fraction of the class per bin", Unit: plot.Percent}}
	for _, c := range h.Classes {
		sum, s := 0.0, plot.Series{Name: c.Name, Draw: plot.Step, X: h.Edges}
		for _, n := range c.Counts {
			sum += n
		}
		for _, n := range c.Counts {
			s.Y = append(s.Y, n/sum)
		}
		if sum > 0 {
			s.Y = append(s.Y, s.Y[len(s.Y)-1])
			p.Series = append(p.Series, s)
		}
	}
	return p
}

func linesOf(p *plot.Plot) *chart {
	if len(p.Series) == 0 || p.Layer != nil || p.Square {
		return nil
	}
	x := p.Series[0].X
	if len(x) < 2 || !slices.IsSorted(x) {
		return nil
	}
	c := &chart{Description: p.Text.Description, X: axisOf(p.X), Y: axisOf(p.Y), At: numbers(x), Rules: []rule{},
		High: p.Height == 0}
	c.X.Values = numbers(p.Series[0].Values)
	for i := range p.Series {
		s := &p.Series[i]
		y, ok := onto(x, s)
		if !ok {
			return nil
		}
		v := series{Name: s.Name, Style: s.Style, Draw: []string{"line", "step", "points", "line"}[s.Draw], Y: numbers(y)}
		if v.Style == 0 {
			v.Style = i + 1
		}
		if len(s.Low) == len(x) && len(s.High) == len(x) {
			v.Low, v.High = numbers(s.Low), numbers(s.High)
		}
		c.Series = append(c.Series, v)
	}
	for _, r := range p.Rules {
		c.Rules = append(c.Rules, rule{r.Name, plotted(r.At), r.Horizontal})
	}
	return c
}

// onto returns the values of a series at the places of the first one, NaN where it has none, and false if its line turns between them.
func onto(x []float64, s *plot.Series) ([]float64, bool) {
	if slices.Equal(x, s.X) {
		return s.Y, true
	}
	ownX, ownY := s.X, s.Y
	if len(ownX) > 1 && ownX[0] > ownX[1] {
		ownX, ownY = slices.Clone(ownX), slices.Clone(ownY)
		slices.Reverse(ownX)
		slices.Reverse(ownY)
	}
	y := make([]float64, len(x))
	for i, at := range x {
		j, exact := slices.BinarySearch(ownX, at)
		switch {
		case exact:
			y[i] = ownY[j]
		case s.Style == plot.Reference && j > 0 && j < len(ownX):
			part := (at - ownX[j-1]) / (ownX[j] - ownX[j-1])
			y[i] = ownY[j-1] + float64(part*(ownY[j]-ownY[j-1]))
		default:
			y[i] = math.NaN()
		}
	}
	return y, s.Draw == plot.Points || s.Style == plot.Reference
}

func axisOf(a plot.Axis) axis {
	v := axis{Label: a.Label, Percent: a.Unit == plot.Percent, Log: a.Scale == plot.Logarithmic}
	if a.Min < a.Max {
		v.Ends = &[2]plotted{plotted(a.Min), plotted(a.Max)}
	}
	for _, m := range a.Marks {
		v.Marks = append(v.Marks, [2]any{plotted(m.At), m.Label})
	}
	return v
}
