package feature

import (
	"runtime"

	"toptau/internal/core/parallel"
	"toptau/internal/data/sketch"
	"toptau/internal/data/table"
)

// hashedRows is the number of rows that are hashed at a time. Chosen by hand: hashes and keys then stay in the cache.
const hashedRows = 1 << 10

// SketchRows adds rows, as the map m reads them, to count sketches. to returns the number of a row's sketch, -1 for a row that is left out.
// Each processor adds blocks to its own sketches, which are merged. The result does not depend on their number.
func SketchRows(m *Map, from *table.Frame, count int, newSketch func() *sketch.Sketch, to func(row int) int) ([]*sketch.Sketch, error) {
	workers := max(1, min(runtime.GOMAXPROCS(0), from.Blocks()))
	parts := make([][]*sketch.Sketch, workers)
	err := parallel.ForErr(workers, func(w int) error {
		for range count {
			parts[w] = append(parts[w], newSketch())
		}
		for block := w; block < from.Blocks(); block += workers {
			err := hashBlock(m, from, block, func(row int, hash uint64) {
				if number := to(row); number >= 0 {
					parts[w][number].Add(hash)
				}
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, part := range parts[1:] {
		for number := range part {
			parts[0][number].Merge(part[number])
		}
	}
	return parts[0], nil
}

// HashRows visits the rows, as the map m reads them, in their order.
func HashRows(m *Map, from *table.Frame, visit func(row int, hash uint64)) error {
	for block := range from.Blocks() {
		if err := hashBlock(m, from, block, visit); err != nil {
			return err
		}
	}
	return nil
}

func hashBlock(m *Map, from *table.Frame, block int, visit func(row int, hash uint64)) error {
	t, err := from.Block(block, m.InputColumns())
	if err != nil {
		return err
	}
	f := NewFingerprinter(m, t)
	hashes := make([]uint64, hashedRows)
	for begin := 0; begin < t.Rows(); begin += hashedRows {
		hashes = hashes[:min(hashedRows, t.Rows()-begin)]
		f.Hash(begin, hashes)
		for i, h := range hashes {
			visit(block*from.BlockRows()+begin+i, h)
		}
	}
	return nil
}
