package decide_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"toptau"
	"toptau/dataset"
	"toptau/decide"
	"toptau/method"
	"toptau/model"
	"toptau/schema"
	"toptau/threshold"
)

// Guarantees of segments that hold together: a model keeps them, and refuses them with another delta.
func TestSegmentsTogether(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	b.WriteString("y,x,site\n")
	for i := range 900 {
		y := i % 3 / 2
		fmt.Fprintf(&b, "%d,%.3f,%c\n", y, r.NormFloat64()+2*float64(y), 'a'+rune(r.IntN(3)))
	}
	read := func(segment string) *dataset.Data {
		d, err := dataset.ReadFrom(t.Context(), strings.NewReader(b.String()), schema.Format{Label: "y", Drop: []string{"site"}[:1-min(1, len(segment))], Segment: segment})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	fitted, err := toptau.Train(t.Context(), read(""), toptau.MaxFPR("10%"), toptau.TrainOptions{Folds: 2, Encoding: []schema.Encoding{schema.Raw}, Method: []method.Name{method.Logistic}, NoFingerprints: true})
	if err != nil {
		t.Fatal(err)
	}
	b.WriteString("0,-0.5,a\n") // other rows than those that trained
	o := decide.Options{Segments: true, Simultaneous: true, Delta: threshold.MustRate("10%")}
	c, err := decide.Threshold(t.Context(), read("site"), dataset.Entry{Model: fitted.Model}, toptau.MaxFPR("10%"), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Point.Segments) != 3 || c.Point.SegmentsDelta != o.Delta || c.Result.SegmentsDelta != o.Delta {
		t.Fatalf("%+v", c.Point)
	}
	for _, s := range c.Point.Segments {
		if s.Guarantee == nil || s.Guarantee.Delta.Float64() > 0.05 {
			t.Errorf("%s: %+v", s.Value, s.Guarantee)
		}
	}
	m, err := c.WithPoint(fitted.Model)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if _, err := m.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	if _, err := model.Read(&file, "m.json"); err != nil {
		t.Error(err)
	}
	c.Point.SegmentsDelta = threshold.MustRate("1%")
	if _, err := c.WithPoint(fitted.Model); err == nil || !strings.Contains(err.Error(), "do not hold together") {
		t.Error(err)
	}
	c.Point.SegmentsDelta = threshold.Rate{}
	if _, err := c.WithPoint(fitted.Model); err == nil || !strings.Contains(err.Error(), "with delta") {
		t.Error(err)
	}
}
