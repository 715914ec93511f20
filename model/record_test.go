package model

import (
	"maps"
	"math"
	"testing"
	"time"

	"toptau/diag"
)

func TestRecord(t *testing.T) {
	type host struct {
		Name string
		Load *float64
	}
	type flow struct {
		host      // its fields are the flow's
		From host `json:"from"`
		At   time.Time
		Skip int `json:"-"`
		OK   bool
		N    int64
	}
	v := flow{host{"a", nil}, host{"b", new(0.5)}, time.Date(2026, 3, 2, 1, 0, 0, 0, time.UTC), 1, true, 1<<53 + 1}
	want := map[string]string{"Name": "a", "Load": "", "from.Name": "b", "from.Load": "0.5", "At": "2026-03-02T01:00:00Z", "OK": "true",
		"N": "9007199254740993"}
	if got, err := Record(v); err != nil || !maps.Equal(got, want) {
		t.Errorf("%v: %v", got, err)
	}
	for _, v := range []any{nil, 1, []int{1}, func() {}, map[string]any{"x": math.NaN()}, (*flow)(nil)} {
		if got, err := Record(v); diag.Of(err) == nil || diag.Of(err).Kind != diag.Usage {
			t.Errorf("%v: %v, %v", v, got, err)
		} else {
			t.Log(err)
		}
	}
}
