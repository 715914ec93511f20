package proof

import (
	"context"
	"sync/atomic"
	"testing"

	"toptau/internal/core/matrix"
	"toptau/method"
	"toptau/threshold"
)

// counted counts the blocks that were read and not given back.
type counted struct {
	x         *matrix.Matrix
	now, most atomic.Int64
}

func (c *counted) Count() int { return 400 }

func (c *counted) Read(context.Context, int) (*matrix.Matrix, error) {
	n := c.now.Add(1)
	for most := c.most.Load(); n > most && !c.most.CompareAndSwap(most, n); most = c.most.Load() {
	}
	return c.x, nil
}

func (c *counted) Done(*matrix.Matrix) { c.now.Add(-1) }

// A pass holds some blocks at a time, and gives all of them back.
func TestBlocksAreGivenBack(t *testing.T) {
	b := matrix.NewBuilder(matrix.Layout{{Kind: matrix.Dense, Cols: 2}}, matrix.Float64)
	for i := range 10 {
		b.Add(i < 3, []float64{float64(i), 1}, nil, nil, 1, i)
	}
	x, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	blocks := &counted{x: x}
	p, err := method.Problem{Method: method.PatMatNP, Tau: threshold.MustRate("30%"), Beta: 1, Lambda: 1}.Complete()
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(Rows(blocks, method.Negatives), p, threshold.NewPopulation(1200, nil), threshold.NewPopulation(2800, nil), []float64{1, -1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Bounds(t.Context(), &Multipliers{}, &Multipliers{}, 0); err != nil {
		t.Fatal(err)
	}
	if blocks.now.Load() != 0 || blocks.most.Load() > blocksAtOnce {
		t.Errorf("%d blocks were kept, %d were read at a time", blocks.now.Load(), blocks.most.Load())
	}
}
