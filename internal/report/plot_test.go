package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"toptau/metric"
)

var update = flag.Bool("update", false, "write the golden files")

func TestGoldenFigures(t *testing.T) {
	for _, e := range examples() {
		t.Run(e.name, func(t *testing.T) {
			got := SVG(e.figure)
			path := filepath.Join("testdata", e.name+".svg")
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("differs from %s; look at it as an image, then run with -update", path)
			}
			if again := SVG(e.figure); !bytes.Equal(got, again) {
				t.Error("a second drawing has other bytes")
			}
		})
	}
}

// wellFormed parses SVG as XML and returns its texts in order.
func wellFormed(t *testing.T, svg []byte) []string {
	t.Helper()
	var texts []string
	decoder := xml.NewDecoder(bytes.NewReader(svg))
	element := ""
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			t.Fatalf("not well-formed: %v\n%.2000s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			element = token.Name.Local
		case xml.EndElement:
			element = ""
		case xml.CharData:
			if element == "text" || element == "title" || element == "desc" {
				texts = append(texts, string(token))
			}
		}
	}
}

var badNumber = regexp.MustCompile(`NaN|Inf|[0-9]e[+-]?[0-9]`)

// sound checks what holds for every figure: well-formed, and no number that SVG does not know.
func sound(t *testing.T, f Figure) []string {
	t.Helper()
	svg := SVG(f)
	body := svg[bytes.Index(svg, []byte("</style>")):]
	if bad := badNumber.Find(regexp.MustCompile(` (d|x|y|width|height)="[^"]*"`).Find(body)); bad != nil {
		t.Errorf("%s in an attribute", bad)
	}
	for _, attribute := range regexp.MustCompile(` (?:d|x|y|width|height)="([^"]*)"`).FindAllSubmatch(body, -1) {
		if badNumber.Match(attribute[1]) {
			t.Fatalf("%s is not a number for SVG", attribute[1])
		}
	}
	return wellFormed(t, svg)
}

func TestFiguresAreWellFormed(t *testing.T) {
	for _, e := range examples() {
		sound(t, e.figure)
	}
}

func TestTextIsEscaped(t *testing.T) {
	const evil = "<script>alert('x')</script> & \"q\""
	plot := &Plot{Text: Caption{Title: evil, Description: evil}, X: Axis{Label: evil}, Y: Axis{Label: evil},
		Series: []Series{{Name: evil, X: []float64{1}, Y: []float64{1}}, {Name: "b\x00\x1b", X: []float64{2}, Y: []float64{2}}},
		Rules:  []Rule{{Name: evil, At: 1}}}
	figures := []Figure{plot, &DotPlot{Rows: []Dot{{Name: evil}}, X: Axis{Label: evil}, Rules: []Rule{{Name: evil}}},
		&Histogram{Classes: []Class{{Name: evil}}, Threshold: new(1.0), Rule: evil},
		&Diagram{Boxes: []Box{{Label: evil, Key: "a"}, {Label: evil, Key: "b", Row: 1}}, Kinds: []string{evil},
			Solid: evil, Arrows: []Arrow{{From: "a", To: "b", Label: evil}}}}
	for _, f := range figures {
		texts := strings.Join(sound(t, f), "|")
		if !strings.Contains(texts, "<script>") {
			t.Errorf("%T lost the text: %s", f, texts)
		}
		if bytes.Contains(SVG(f), []byte("<script")) {
			t.Errorf("%T has a script element", f)
		}
	}
	if texts := strings.Join(sound(t, plot), "|"); !strings.Contains(texts, "b\ufffd\ufffd") {
		t.Errorf("control characters became %q", texts)
	}
}

func TestEmptyAndSinglePoints(t *testing.T) {
	nan := []float64{math.NaN(), math.Inf(1)}
	for name, f := range map[string]Figure{
		"plot": &Plot{}, "series": &Plot{Series: []Series{{Name: "a"}}}, "not finite": &Plot{Series: []Series{{X: nan, Y: nan}}},
		"negative on a log axis": &Plot{X: Axis{Scale: Logarithmic}, Series: []Series{{X: []float64{-1}, Y: []float64{1}}}},
		"histogram":              &Histogram{}, "dots": &DotPlot{}, "of nothing": HistogramOf(metric.Scores{}, nil, 0),
	} {
		if texts := sound(t, f); !strings.Contains(strings.Join(texts, "|"), "no data") {
			t.Errorf("%s: does not say that there is no data: %q", name, texts)
		}
	}
	sound(t, &Diagram{})
	one := string(SVG(&Plot{Series: []Series{{X: []float64{3}, Y: []float64{0.4}}}}))
	if strings.Contains(one, "no data") || !strings.Contains(one, `class="mark c1"`) {
		t.Error("a single point is not marked")
	}
	sound(t, &Plot{X: Axis{Scale: Logarithmic}, Y: Axis{Scale: Logarithmic}, Series: []Series{{X: []float64{0}, Y: []float64{0}}}})
}

// A figure of arbitrary numbers is drawn without panic, as valid SVG, on a canvas of bounded height.
func TestArbitraryNumbers(t *testing.T) {
	odd := []float64{0, 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e308, -1e308, 5e-324, 1e-300, 0.1, 1e15, 1e300, math.Copysign(0, -1)}
	for seed := range uint64(120) {
		random := rand.New(rand.NewPCG(seed, 1))
		value := func() float64 {
			if random.IntN(2) == 0 {
				return odd[random.IntN(len(odd))]
			}
			return random.Float64()*4 - 1
		}
		values := func() []float64 {
			out := make([]float64, random.IntN(8))
			for i := range out {
				out[i] = value()
			}
			return out
		}
		axis := func() Axis {
			return Axis{Scale: Scale(random.IntN(2)), Unit: Unit(random.IntN(3)), Min: value(), Max: value()}
		}
		plot := &Plot{X: axis(), Y: axis(), Square: random.IntN(2) == 0, Rules: []Rule{{Name: "r", At: value()},
			{At: value(), Horizontal: true}}}
		for i := range random.IntN(4) {
			plot.Series = append(plot.Series, Series{Name: fmt.Sprint(i), X: values(), Y: values(), Low: values(), High: values(),
				Draw: Draw(random.IntN(4)), Style: random.IntN(12) - 3})
		}
		if random.IntN(2) == 0 {
			field := &Field{X0: value(), X1: value(), Y0: value(), Y1: value(), Columns: 3, Rows: 3}
			for range 9 {
				field.Values = append(field.Values, value())
			}
			plot.Field = field
		}
		sound(t, plot)
		dots := &DotPlot{X: axis(), Rules: plot.Rules}
		for range random.IntN(4) {
			dots.Rows = append(dots.Rows, Dot{Name: "a", Value: value(), Interval: &[2]float64{value(), value()}})
		}
		sound(t, dots)
		sound(t, &Histogram{X: axis(), Edges: values(), Classes: []Class{{Name: "a", Counts: values()}}, Threshold: new(value())})
		s := metric.Scores{Positives: values(), Negatives: values(), PositiveWeights: values()}
		sound(t, HistogramOf(s, new(value()), random.IntN(60)))
		diagram := &Diagram{}
		for i := range random.IntN(5) {
			diagram.Boxes = append(diagram.Boxes, Box{Key: fmt.Sprint(i), Label: "box", Column: value(), Row: value()})
			diagram.Arrows = append(diagram.Arrows, Arrow{From: fmt.Sprint(i), To: fmt.Sprint(i / 2), Label: "x", Bend: value()})
		}
		sound(t, diagram)
	}
}

func TestLogarithmicAxisWithZeros(t *testing.T) {
	var e extent
	for _, x := range []float64{0, 0.003, 1} {
		e.add(x)
	}
	m := newMapping(Axis{Scale: Logarithmic, Unit: Percent}, e, 50, 400, labelRoom)
	zero, ok := m.at(0)
	if !ok || zero != 50 {
		t.Errorf("0 is at %v, %v, not at the start 50", zero, ok)
	}
	smallest, _ := m.at(0.003)
	if smallest <= zero+gutter {
		t.Errorf("0.003 is at %v, inside the gutter", smallest)
	}
	if end, _ := m.at(1); end != 400 {
		t.Errorf("1 is at %v", end)
	}
	if _, ok := m.at(-1); ok {
		t.Error("-1 has a place")
	}
	if m.ticks[0].label != "0"+noBreak+"%" {
		t.Errorf("the first tick is %q", m.ticks[0].label)
	}
	low, _ := m.at(0.01)
	middle, _ := m.at(0.1)
	if high, _ := m.at(1); math.Abs((high-middle)-(middle-low)) > 1e-9 {
		t.Errorf("decades differ: %v and %v", middle-low, high-middle)
	}
}

func TestTicks(t *testing.T) {
	for _, test := range []struct {
		axis      Axis
		low, high float64
		want      string
	}{
		{Axis{Unit: Percent, Max: 1}, 0, 1, "0 % 20 % 40 % 60 % 80 % 100 %"},
		{Axis{Unit: Percent, Max: 0.01}, 0, 1, "0.0 % 0.2 % 0.4 % 0.6 % 0.8 % 1.0 %"},
		{Axis{}, -1, 1, "−1.0 −0.5 0.0 0.5 1.0"},
		{Axis{}, 0, 12345, "0 5,000 10,000 15,000"},
		{Axis{Unit: Percent, Scale: Logarithmic}, 1e-4, 1, "0.01 % 0.1 % 1 % 10 % 100 %"},
		{Axis{Scale: Logarithmic}, 2, 9, "2 5 10"},
		{Axis{Scale: Logarithmic}, 1e-9, 10, "10⁻⁹ 10⁻⁷ 10⁻⁵ 10⁻³ 10⁻¹ 10¹"},
		{Axis{}, 3, 3, "2.6 2.7 2.8 2.9 3.0 3.1 3.2 3.3 3.4"},
	} {
		var e extent
		e.add(test.low)
		e.add(test.high)
		m := newMapping(test.axis, e, 40, 380, labelRoom)
		var got []string
		for _, tick := range m.ticks {
			if tick.label != "" {
				got = append(got, strings.ReplaceAll(tick.label, noBreak, " "))
			}
		}
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("%v to %v: %q, want %q", test.low, test.high, text, test.want)
		}
	}
}

// Labels of an axis never touch, and there are at least two ticks, for any range.
func TestTickLabelsHaveRoom(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		axis := Axis{Unit: Unit(random.IntN(3)), Scale: Scale(random.IntN(2))}
		var e extent
		for range 2 {
			x, err := exponent10(random.Float64()*14 - 8)
			if err != nil {
				t.Fatal(err)
			}
			e.add(x)
		}
		if random.IntN(3) == 0 {
			e.add(0)
		}
		m := newMapping(axis, e, 40, 200+200*random.Float64(), labelRoom)
		end, labels := math.Inf(-1), 0
		for _, tick := range m.ticks {
			if tick.label == "" {
				continue
			}
			labels++
			at, ok := m.at(tick.at)
			half := textWidth(tick.label, smallSize) / 2
			if !ok || at-half < end {
				t.Fatalf("%+v: label %q at %v begins before %v", e, tick.label, at, end)
			}
			end = at + half
		}
		if labels < 2 {
			t.Fatalf("%+v %+v: %d labels", axis, e, labels)
		}
	}
}

func exponent10(x float64) (float64, error) {
	var y float64
	_, err := fmt.Sscan(fmt.Sprintf("%ge%d", 1+math.Abs(x-math.Trunc(x))*8.9, int(math.Floor(x))), &y)
	return y, err
}

func TestNumbers(t *testing.T) {
	for _, test := range []struct {
		unit   Unit
		x      float64
		digits int
		want   string
	}{
		{Number, 0, 3, "0"}, {Number, 12345, 3, "12,345"}, {Number, 1234.5, 6, "1,234.5"}, {Number, -0.25, 3, "−0.25"},
		{Number, 2.0637624, 6, "2.06376"}, {Number, 1e-9, 3, "10⁻⁹"}, {Number, 2.5e-9, 3, "2.5·10⁻⁹"},
		{Number, 9.9999, 3, "10"}, {Number, math.NaN(), 3, "not finite"}, {Percent, 0.07, 3, "7" + noBreak + "%"},
		{Percent, 0.001, 3, "0.1" + noBreak + "%"},
		{Percent, 0.5238678, 3, "52.4" + noBreak + "%"}, {PercentagePoints, 0.061, 3, "+6.1"}, {PercentagePoints, -0.2, 3, "−20"},
		{Number, math.Copysign(0, -1), 3, "0"}, {Number, 1e20, 3, "10²⁰"},
	} {
		if got := test.unit.write(test.x, test.digits); got != test.want {
			t.Errorf("%v: %q, want %q", test.x, got, test.want)
		}
	}
}

func TestThousandsOfPointsAreThinned(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	const n = 60_000
	noise, curve, cloud := Series{}, Series{Draw: Step}, Series{Draw: Points}
	walk := Series{Draw: Trajectory}
	for i := range n {
		y := random.Float64()
		if i == n/3 {
			y = 3 // a single peak must survive
		}
		noise.X, noise.Y = append(noise.X, float64(i)), append(noise.Y, y)
		curve.X, curve.Y = append(curve.X, float64(i)), append(curve.Y, math.Sqrt(float64(i)))
		cloud.X, cloud.Y = append(cloud.X, random.Float64()), append(cloud.Y, random.Float64())
		walk.X, walk.Y = append(walk.X, random.Float64()), append(walk.Y, random.Float64())
	}
	for name, s := range map[string]Series{"noise": noise, "curve": curve, "walk": walk} {
		if size := len(SVG(&Plot{Series: []Series{s}})); size > 80_000 {
			t.Errorf("%s: %d bytes", name, size)
		}
	}
	if size := len(SVG(&Plot{Series: []Series{cloud}})); size > 600_000 {
		t.Errorf("cloud: %d bytes", size)
	}
	c := &canvas{width: figureWidth}
	var ex, ey extent
	ex.add(0)
	ex.add(n)
	ey.add(0)
	ey.add(3)
	f := newFrame(c, Axis{}, Axis{}, ex, ey, 250)
	peak, _ := f.at(n/3, 3)
	found := false
	for _, p := range noise.runs(&f)[0] {
		found = found || p == peak
	}
	if !found {
		t.Error("the peak is lost")
	}
}

// What is drawn of a thinned line lies within a unit of the line itself in x and keeps each column's extremes.
func TestThinKeepsTheOutline(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 3 {
		var run []point
		for i := range 30_000 {
			run = append(run, point{float64(i) / 100, 250 * random.Float64()})
		}
		low, high := map[int]float64{}, map[int]float64{}
		for i, p := range run {
			x := int(p.x)
			if i%100 == 0 {
				low[x], high[x] = p.y, p.y
			}
			low[x], high[x] = min(low[x], p.y), max(high[x], p.y)
		}
		for _, p := range columns(run) {
			x := int(p.x)
			if p.y == low[x] {
				delete(low, x)
			}
			if p.y == high[x] {
				delete(high, x)
			}
		}
		if len(low)+len(high) > 0 {
			t.Fatalf("%d extremes are lost", len(low)+len(high))
		}
	}
}

func TestContourOfABowlIsAClosedEllipse(t *testing.T) {
	const n = 41
	g := &Field{X0: -1, X1: 1, Y0: -1, Y1: 1, Columns: n, Rows: n, Values: bowl(n)}
	c := &canvas{width: figureWidth}
	p := Plot{Field: g}
	ex, ey := p.extents()
	f := newFrame(c, Axis{Min: -1, Max: 1}, Axis{Min: -1, Max: 1}, ex, ey, 300)
	lines := g.contour(0.4, &f)
	if len(lines) != 1 || lines[0][0] != lines[0][len(lines[0])-1] {
		t.Fatalf("%d lines, closed: want one closed line", len(lines))
	}
	for _, q := range lines[0] {
		x := 2*(q.x-f.left)/(f.right-f.left) - 1
		y := 2*(f.bottom-q.y)/(f.bottom-f.top) - 1
		if value := x*x + y*y/2; math.Abs(value-0.4) > 0.003 {
			t.Fatalf("the contour of 0.4 passes a place of value %v", value)
		}
	}
	if lines := g.contour(1.3, &f); len(lines) != 4 {
		t.Errorf("1.3 is only reached in the corners: %d lines", len(lines))
	}
	if lines := g.contour(2, &f); len(lines) != 0 {
		t.Errorf("2 is not reached: %d lines", len(lines))
	}
}

func TestContourOfASaddleDoesNotCross(t *testing.T) {
	g := &Field{X0: 0, X1: 1, Y0: 0, Y1: 1, Columns: 2, Rows: 2, Values: []float64{1, 0, 0, 1}}
	c := &canvas{width: figureWidth}
	var e extent
	e.add(0)
	e.add(1)
	f := newFrame(c, Axis{}, Axis{}, e, e, 100)
	for _, level := range []float64{0.3, 0.5, 0.7} {
		lines := g.contour(level, &f)
		if len(lines) != 2 || len(lines[0]) != 2 || len(lines[1]) != 2 {
			t.Errorf("level %v: %v, want two lines across corners", level, lines)
		}
	}
}

func TestHistogramCountsEveryScore(t *testing.T) {
	s := scores(5000, 200)
	s.Positives = append(s.Positives, 1e9, math.Inf(1), math.Inf(-1))
	s.NegativeWeights = make([]float64, len(s.Negatives))
	for i := range s.NegativeWeights {
		s.NegativeWeights[i] = 2
	}
	h := HistogramOf(s, new(2.5), 40)
	sums := []float64{0, 0}
	for i, class := range h.Classes {
		for _, n := range class.Counts {
			sums[i] += n
		}
	}
	if sums[0] != 10_000 || sums[1] != 203 {
		t.Errorf("masses are %v, want 10000 and 203", sums)
	}
	if bins := len(h.Edges) - 1; bins < 20 || bins > 80 {
		t.Errorf("%d bins where about 40 were asked for", bins)
	}
	if h.Edges[0] > 2.5 || h.Edges[len(h.Edges)-1] < 2.5 {
		t.Errorf("the threshold lies outside %v to %v", h.Edges[0], h.Edges[len(h.Edges)-1])
	}
	if !strings.Contains(h.Text.Note, "lie beyond the ends") {
		t.Errorf("note: %q", h.Text.Note)
	}
	one := HistogramOf(metric.Scores{Negatives: []float64{7, 7, 7}}, nil, 10)
	if sum := one.Classes[0].Counts; len(sum) == 0 {
		t.Error("a constant score has no bins")
	}
	sound(t, one)
}

func TestWrap(t *testing.T) {
	for _, test := range []struct {
		text  string
		width float64
		limit int
		want  string
	}{
		{"one two", 1000, 2, "one two"}, {"one two", 45, 2, "one|two"}, {"one two three four", 45, 2, "one|two…"},
		{"abcdefghij", 45, 3, "abcde|fghij"}, {"", 10, 1, ""}, {"W", 1, 1, "…"},
	} {
		if got := strings.Join(wrap(test.text, 13, test.width, test.limit), "|"); got != test.want {
			t.Errorf("%q in %v: %q, want %q", test.text, test.width, got, test.want)
		}
	}
}

func TestStylesDiffer(t *testing.T) {
	seen := map[string]bool{}
	for style := 1; style <= styleCount*styleCount; style++ {
		l := lookOf(style)
		key := fmt.Sprint(l.class, l.marker)
		if seen[key] {
			t.Errorf("style %d looks like another: %s", style, key)
		}
		seen[key] = true
	}
}

// Every colour of a series, and of text, can be seen on its background in light and dark.
func TestPaletteContrast(t *testing.T) {
	blocks := regexp.MustCompile(`\.tf\{(--tf-bg[^}]*)\}`).FindAllStringSubmatch(figureCSS, -1)
	if len(blocks) != 3 {
		t.Fatalf("%d palettes, want light, dark and print", len(blocks))
	}
	for _, block := range blocks {
		colours := map[string]float64{}
		for _, m := range regexp.MustCompile(`--tf-([a-z0-9]+):#([0-9a-f]+)`).FindAllStringSubmatch(block[1], -1) {
			colours[m[1]] = luminance(t, m[2])
		}
		for name, least := range map[string]float64{"ink": 7, "dim": 4.5, "1": 3, "2": 3, "3": 3, "4": 3, "5": 3, "6": 3} {
			a, b := colours[name], colours["bg"]
			if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < least {
				t.Errorf("%s has a contrast of %.2f, less than %v, in %s", name, ratio, least, block[1])
			}
		}
	}
}

// luminance is the relative luminance of WCAG 2.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	var r, g, b int
	if _, err := fmt.Sscanf(hex, "%02x%02x%02x", &r, &g, &b); err != nil {
		t.Fatal(err)
	}
	linear := func(c int) float64 {
		v := float64(c) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}
