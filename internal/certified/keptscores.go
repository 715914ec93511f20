package certified

import (
	"os"
	"slices"
	"sync/atomic"
	"unsafe"
)

// keptScores are the scores of all rows at recent points, in memory or in a file. The rows of a block are next to each
// other. A nil *keptScores keeps none.
type keptScores struct {
	rows   int64
	memory []float64 // of all points, one after the other; nil: they are in the file
	file   *os.File
	next   atomic.Int64 // the number of rows with a place
	points [recentPoints]*Point
	old    []int // places of points, the last used at the end
	fresh  []int // those whose scores a pass is writing
	failed atomic.Bool
}

// newKeptScores returns space for the scores of some rows in that many bytes of memory, or else in a new file in a
// directory; nil if there is none.
func newKeptScores(rows, bytes int64, directory string) *keptScores {
	k := &keptScores{rows: rows}
	for i := range k.points {
		k.old = append(k.old, i)
	}
	if recentPoints*8*rows <= bytes {
		k.memory = make([]float64, recentPoints*rows)
		return k
	}
	if directory == "" {
		return nil
	}
	file, err := os.CreateTemp(directory, ".scores-*")
	if err != nil {
		return nil
	}
	os.Remove(file.Name()) // the open file stays; where it cannot be removed, close does it
	k.file = file
	return k
}

func (k *keptScores) close() {
	if k.file != nil {
		k.file.Close()
		os.Remove(k.file.Name())
	}
}

// reserve returns the place of the scores of a block.
func (k *keptScores) reserve(rows int) int64 { return k.next.Add(int64(rows)) - int64(rows) }

// place returns the place of a point whose scores are kept, or -1.
func (k *keptScores) place(p *Point) int {
	if k == nil || p == nil || k.failed.Load() {
		return -1
	}
	i := slices.Index(k.points[:], p)
	if slices.Contains(k.fresh, i) {
		return -1
	}
	return i
}

// knows reports whether the scores of a point are kept, or follow from those of the ends of its line.
func (k *keptScores) knows(p *Point) bool {
	if i := k.place(p); i >= 0 {
		k.touch(i)
		return true
	}
	return p.to != nil && k.knows(p.to) && (p.from == nil || k.knows(p.from))
}

// touch marks a place as used last.
func (k *keptScores) touch(i int) {
	at := slices.Index(k.old, i)
	k.old = append(slices.Delete(k.old, at, at+1), i)
}

// begin gives the points of queries places, for a pass that writes their scores.
func (k *keptScores) begin(queries []Query) {
	if k == nil {
		return
	}
	k.fresh = k.fresh[:0]
	for _, q := range queries {
		if slices.Contains(k.points[:], q.At) || len(k.fresh) == recentPoints {
			continue // a pass writes no scores that are kept
		}
		i := k.old[0]
		if slices.Contains(k.fresh, i) {
			continue
		}
		k.points[i] = q.At
		k.fresh = append(k.fresh, i)
		k.touch(i)
	}
}

// end makes the scores that a pass wrote available.
func (k *keptScores) end() {
	if k != nil {
		k.fresh = k.fresh[:0]
	}
}

// write keeps the scores of the rows of a block, if the point has a place. Scores that cannot be written are not kept.
func (k *keptScores) write(p *Point, at int64, z []float64) {
	if k == nil || len(z) == 0 {
		return
	}
	i := slices.Index(k.points[:], p)
	if i < 0 || !slices.Contains(k.fresh, i) {
		return
	}
	at += int64(i) * k.rows
	if k.memory != nil {
		copy(k.memory[at:], z)
	} else if _, err := k.file.WriteAt(bytesOf(z), 8*at); err != nil {
		k.failed.Store(true)
	}
}

// read reads the scores of the rows of a block.
func (k *keptScores) read(p *Point, at int64, z []float64) error {
	if i := k.place(p); i >= 0 {
		return k.load(i, at, z)
	}
	if err := k.read(p.to, at, z); err != nil {
		return err
	}
	var from []float64
	if p.from != nil {
		from = make([]float64, len(z))
		if err := k.read(p.from, at, from); err != nil {
			return err
		}
	}
	p.mix(from, z)
	return nil
}

// load reads the scores of the rows of a block at the i-th point.
func (k *keptScores) load(i int, at int64, z []float64) error {
	at += int64(i) * k.rows
	if k.memory != nil {
		copy(z, k.memory[at:])
		return nil
	}
	if len(z) == 0 {
		return nil
	}
	_, err := k.file.ReadAt(bytesOf(z), 8*at)
	return err
}

// bytesOf returns the memory of some numbers. The file is read by this process alone, so the order of bytes does not matter.
func bytesOf(z []float64) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(&z[0])), 8*len(z)) }
