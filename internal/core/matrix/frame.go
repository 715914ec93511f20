package matrix

import "toptau/internal/core/kernel"

// Frame is memory for matrices of one dense block of float32 columns, of which one is in use at a time. So rows that are
// read again in every pass need no new memory.
type Frame struct {
	cols   int
	memory [2][]float32
	matrix Matrix
}

// NewFrame returns a frame for rows of some columns.
func NewFrame(cols int) *Frame {
	f := &Frame{cols: cols}
	for _, rows := range []**ClassRows{&f.matrix.Positives, &f.matrix.Negatives} {
		*rows = newClassRows([]block{&dense[float32]{width: cols}}, 0, nil, nil)
	}
	return f
}

// Reset returns a matrix with the given rows of each class, positives first: their 0-based numbers in the user's data,
// which are kept, and their weights (nil: all 1). The caller writes the values to Panel. They must be finite. The matrix is
// valid until the next Reset.
func (f *Frame) Reset(sources [2][]uint32, weights [2][]float64) *Matrix {
	for k, p := range []*ClassRows{f.matrix.Positives, f.matrix.Negatives} {
		n := len(sources[k])
		p.rows, p.sources, p.weights = n, sources[k], weights[k]
		size, panels := f.cols*kernel.PanelRows, panelsOf(n)
		if len(f.memory[k]) < panels*size {
			f.memory[k] = make([]float32, (panels+panels/8)*size)
		}
		b := p.blocks[0].(*dense[float32])
		b.rows, b.panels = n, b.panels[:0]
		for i := range panels {
			b.panels = append(b.panels, f.memory[k][i*size:][:size])
		}
		if rest := n % kernel.PanelRows; rest > 0 { // missing rows are zero
			last := b.panels[panels-1]
			for j := range f.cols {
				clear(last[j*kernel.PanelRows+rest : (j+1)*kernel.PanelRows])
			}
		}
	}
	return &f.matrix
}

// Panel returns the values of a panel of a class, 0 for the positives: row r of column j is at 64 j + r.
func (f *Frame) Panel(class, panel int) []float32 {
	p := f.matrix.Positives
	if class == 1 {
		p = f.matrix.Negatives
	}
	return p.blocks[0].(*dense[float32]).panels[panel]
}
