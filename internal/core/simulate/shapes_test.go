package simulate

import (
	"math"
	"slices"
	"testing"
)

// The classes overlap, no single feature separates them, and mass alone has no information.
func TestHepmassShape(t *testing.T) {
	o := Options{Kind: "hepmass", Rows: 20_000, Seed: 3}
	d := collect(t, o)
	names := mustNew(t, o).Names()
	if len(names) != 28 {
		t.Fatalf("%d columns", len(names))
	}
	positive := func(i int) bool { return d.positive[i] }
	negative := func(i int) bool { return !d.positive[i] }
	for j, name := range names {
		got := d.auc(t, j, positive, negative)
		if got < 0.3 || got > 0.75 {
			t.Errorf("%s alone has AUC %.3f", name, got)
		}
		if name == "mass" && math.Abs(got-0.5) > 0.02 {
			t.Errorf("mass has AUC %.3f", got)
		}
	}
	w := discriminant(t, d)
	for i, v := range d.values {
		z := 0.0
		for j := range w {
			z += w[j] * v[j]
		}
		d.values[i] = []float64{z}
	}
	got := d.auc(t, 0, positive, negative)
	t.Logf("a linear model has AUC %.3f", got)
	if got < 0.7 || got > 0.95 {
		t.Errorf("a linear model has AUC %.3f", got)
	}
}

// The values are whole numbers from 0 to 999, mostly 0. Odd columns depend on the class, even ones are
// probes.
func TestGisetteShape(t *testing.T) {
	d := collect(t, Options{Kind: "gisette", Rows: 2000, Columns: 1000, Seed: 3})
	zeros, n := 0, 0
	for _, v := range d.values {
		for _, x := range v {
			if x != math.Floor(x) || x < 0 || x > 999 {
				t.Fatalf("value %v", x)
			}
			n++
			if x == 0 {
				zeros++
			}
		}
	}
	if share := float64(zeros) / float64(n); share < 0.84 || share > 0.92 {
		t.Errorf("%.3f of the values are 0", share)
	}
	positive := func(i int) bool { return d.positive[i] }
	negative := func(i int) bool { return !d.positive[i] }
	telling := 0
	for j := range 1000 {
		distance := math.Abs(d.auc(t, j, positive, negative) - 0.5)
		if j%2 == 1 && distance > 0.04 { // four standard errors of the AUC of a probe, which is mostly tied
			t.Errorf("probe %d is %.3f from one half", j+1, distance)
		}
		if j%2 == 0 && distance > 0.04 {
			telling++
		}
	}
	// A column draws on one of the 4 telling strokes of 20 at least with probability 1 - 0.8^3 = 0.49.
	if telling < 150 || telling > 260 {
		t.Errorf("%d of 500 columns separate the classes", telling)
	}
}

func TestExampleShape(t *testing.T) {
	for _, rows := range []int{3, 2000, 2001} {
		d := collect(t, Options{Kind: "example", Rows: rows, Seed: 1})
		outliers, positives := 0, 0
		for i, v := range d.values {
			if v[0] == 2 && v[1] == 0 && !d.positive[i] {
				outliers++
				continue
			}
			if d.positive[i] {
				positives++
			}
			if (v[0] > 0 && !d.positive[i]) || (v[0] < 0 && d.positive[i]) || math.Abs(v[0]) > 1 || math.Abs(v[1]) > 1 {
				t.Fatalf("row %d: %v %v", i, v, d.positive[i])
			}
		}
		if outliers != 1 || positives != (rows-1)/2 {
			t.Errorf("%d rows: %d outliers, %d positives", rows, outliers, positives)
		}
		if last := d.values[rows-1]; !slices.Equal(last, []float64{2, 0}) {
			t.Errorf("the last row is %v", last)
		}
	}
}
