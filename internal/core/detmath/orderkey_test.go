package detmath

import (
	"math"
	"slices"
	"testing"
)

func TestOrderKeys(t *testing.T) {
	rising := []float64{math.Inf(-1), -math.MaxFloat64, -1, -math.SmallestNonzeroFloat64, 0, math.SmallestNonzeroFloat64, 1, math.MaxFloat64, math.Inf(1)}
	var keys []uint64
	for _, x := range rising {
		keys = append(keys, OrderKey(x))
		if got := OfOrderKey(OrderKey(x)); got != x {
			t.Errorf("%v has the key of %v", x, got)
		}
	}
	if !slices.IsSorted(keys) || len(slices.Compact(keys)) != len(rising) {
		t.Errorf("keys %x of %v", keys, rising)
	}
	if OrderKey(math.Copysign(0, -1)) != OrderKey(0) {
		t.Error("the zeros have different keys")
	}
}
