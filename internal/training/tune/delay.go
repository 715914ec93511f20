package tune

import (
	"math"
	"slices"
	"time"

	"toptau/diag"
	"toptau/internal/data/table"
	"toptau/schema"
)

// Labels are often known only some time after the row: a fraud is reported weeks later. A model that decides at
// some time can then only have been trained on rows that are older than this delay. So the rows of the delay
// before a test part or a validation period take no part in the training that is measured there.

// delay leaves out the rows whose labels are not known yet.
type delay struct {
	seconds []float64 // by row: since 1970
	length  float64   // in seconds
}

// newDelay returns nil without a delay.
func newDelay(t *table.Table, of schema.Delay) (*delay, error) {
	e, length := &diag.Error{Kind: diag.Usage, Param: "label-delay"}, time.Duration(of)
	switch {
	case length == 0:
		return nil, nil
	case length < 0:
		e.Found, e.Expected = length.String(), "a time above 0"
		return nil, e
	case t.Time == nil:
		e.Found, e.Expected = "without a time column", "the time of each row"
		e.Fixes = []diag.Fix{{Param: "time", Value: "COL"}}
		return nil, e
	}
	seconds, err := secondsOf(t)
	return &delay{seconds: seconds, length: length.Seconds()}, err
}

// known returns the rows whose labels are known at the start of a period.
func (d *delay) known(rows []int, start float64) []int {
	if d == nil {
		return rows
	}
	return slices.DeleteFunc(slices.Clone(rows), func(row int) bool { return d.seconds[row] > start-d.length })
}

// startOf returns the earliest time of a part.
func (d *delay) startOf(part []int) float64 {
	if d == nil {
		return 0
	}
	start := math.Inf(1)
	for _, row := range part {
		start = min(start, d.seconds[row])
	}
	return start
}
