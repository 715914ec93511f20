package matrix

import (
	"fmt"

	"toptau/internal/kernel"
)

// Collector gathers rows of one class from the parts of a matrix. The zero value is empty.
type Collector struct {
	blocks  []block
	weights []float64
	sources []uint32
}

// Len returns the number of rows so far.
func (c *Collector) Len() int { return len(c.sources) }

// Add appends copies of all rows of a part. All parts must have the same layout and storage.
func (c *Collector) Add(p *ClassRows) error {
	if c.blocks == nil {
		for _, b := range p.blocks {
			c.blocks = append(c.blocks, b.take(nil))
		}
	}
	for k, from := range p.blocks {
		if err := appendRows(c.blocks[k], from, p.rows); err != nil {
			return err
		}
	}
	if p.weights != nil {
		for len(c.weights) < len(c.sources) {
			c.weights = append(c.weights, 1)
		}
		c.weights = append(c.weights, p.weights...)
	}
	c.sources = append(c.sources, p.sources...)
	for len(c.weights) > 0 && len(c.weights) < len(c.sources) {
		c.weights = append(c.weights, 1)
	}
	return nil
}

// Rows returns the rows. The Collector must not be used afterwards.
func (c *Collector) Rows() *ClassRows {
	for _, b := range c.blocks {
		if f, ok := b.(interface{ flush() }); ok {
			f.flush()
		}
	}
	return newClassRows(c.blocks, len(c.sources), c.weights, c.sources)
}

// appendRows appends the rows of a block to another one of its kind.
func appendRows(to, from block, rows int) error {
	switch to := to.(type) {
	case *dense[float32]:
		to.appendPanels(from.(*dense[float32]))
		return nil
	case *dense[float64]:
		to.appendPanels(from.(*dense[float64]))
		return nil
	}
	g := growing{}
	switch to := to.(type) {
	case *coded:
		g.coded = to
	case *sparse[float32]:
		g.sparse = to
	case *sparse[float64]:
		g.sparse = to
	}
	var e rowEntries
	for i := range rows {
		e.cols, e.values = e.cols[:0], e.values[:0]
		from.appendEntries(i, &e)
		if bad, err := g.addEntries(e.cols, e.values); err != nil || bad >= 0 {
			return fmt.Errorf("row %d cannot be copied: %w", i, err)
		}
	}
	return nil
}

// appendPanels appends the rows of another block.
func (d *dense[T]) appendPanels(from *dense[T]) {
	for first := 0; first < from.rows; {
		at, source := d.rows%kernel.PanelRows, first%kernel.PanelRows
		if at == 0 {
			d.panels = append(d.panels, d.memory.alloc(d.width*kernel.PanelRows))
		}
		n := min(from.rows-first, kernel.PanelRows-at, kernel.PanelRows-source)
		src, dst := from.panels[first/kernel.PanelRows], d.panels[len(d.panels)-1]
		for j := 0; j < d.width*kernel.PanelRows; j += kernel.PanelRows {
			copy(dst[j+at:j+at+n], src[j+source:])
		}
		d.rows, first = d.rows+n, first+n
	}
}
