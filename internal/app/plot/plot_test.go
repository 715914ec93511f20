package plot

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

func TestLogarithmicAxisWithZeros(t *testing.T) {
	var e extent
	for _, x := range []float64{0, 0.003, 1} {
		e.include(x)
	}
	m := newMapping(Axis{Scale: Logarithmic, Unit: Percent}, e, 50, 400, labelWidth)
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
		e.include(test.low)
		e.include(test.high)
		m := newMapping(test.axis, e, 40, 380, labelWidth)
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
func TestTickLabelsDoNotTouch(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		axis := Axis{Unit: Unit(random.IntN(3)), Scale: Scale(random.IntN(2))}
		var e extent
		for range 2 {
			x, err := exponent10(random.Float64()*14 - 8)
			if err != nil {
				t.Fatal(err)
			}
			e.include(x)
		}
		if random.IntN(3) == 0 {
			e.include(0)
		}
		m := newMapping(axis, e, 40, 200+200*random.Float64(), labelWidth)
		end, labels := math.Inf(-1), 0
		for _, tick := range m.ticks {
			if tick.label == "" {
				continue
			}
			labels++
			at, ok := m.at(tick.at)
			half := TextWidth(tick.label, SmallSize) / 2
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
		if got := test.unit.Write(test.x, test.digits); got != test.want {
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
	c := &Canvas{Width: figureWidth}
	var ex, ey extent
	ex.include(0)
	ex.include(n)
	ey.include(0)
	ey.include(3)
	f := newFrame(c, Axis{}, Axis{}, ex, ey, 250)
	peak, _ := f.At(n/3, 3)
	found := false
	for _, p := range noise.runs(&f)[0] {
		found = found || p == peak
	}
	if !found {
		t.Error("the peak is lost")
	}
}

// A thinned line keeps the extremes of each unit of x.
func TestThinKeepsTheOutline(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 3 {
		var run []Point
		for i := range 30_000 {
			run = append(run, Point{float64(i) / 100, 250 * random.Float64()})
		}
		low, high := map[int]float64{}, map[int]float64{}
		for i, p := range run {
			x := int(p.X)
			if i%100 == 0 {
				low[x], high[x] = p.Y, p.Y
			}
			low[x], high[x] = min(low[x], p.Y), max(high[x], p.Y)
		}
		for _, p := range thinColumns(run) {
			x := int(p.X)
			if p.Y == low[x] {
				delete(low, x)
			}
			if p.Y == high[x] {
				delete(high, x)
			}
		}
		if len(low)+len(high) > 0 {
			t.Fatalf("%d extremes are lost", len(low)+len(high))
		}
	}
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
		if got := strings.Join(Wrap(test.text, 13, test.width, test.limit), "|"); got != test.want {
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

// The colours of series and text must have enough contrast in light, dark and print.
func TestPaletteContrast(t *testing.T) {
	blocks := regexp.MustCompile(`\.tf\{(--tf-bg[^}]*)\}`).FindAllStringSubmatch(CSS, -1)
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
