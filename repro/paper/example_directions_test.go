package paper

import (
	"context"
	"testing"
)

// The three directions of Section 3: every start ends in one of them, and each has starts.
func TestExampleHasThreeDirections(t *testing.T) {
	x, err := exampleSample(1000, 1)
	if err != nil {
		t.Fatal(err)
	}
	d, err := newExampleDirections(context.Background(), x)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(d.note())
	if g := d.Gradient; g[0]+g[1]+g[2] != d.Starts || min(g[0], g[1], g[2]) == 0 {
		t.Errorf("%+v", d)
	}
}
