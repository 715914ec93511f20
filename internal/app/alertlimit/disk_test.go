package alertlimit

import (
	"errors"
	"io"
	"math/rand/v2"
)

// memoryDisk is a disk that loses power. Writes are kept for sure once Sync has returned. Before that a crash keeps
// some of their sectors.
type memoryDisk struct {
	stable   []byte // survives a crash
	unsynced []write
	failures int // the next operations fail, each after a part of its effect
	random   *rand.Rand
}

type write struct {
	at      int64
	content []byte
}

const sector = 512

var errDisk = errors.New("the disk fails")

func (d *memoryDisk) ReadAt(b []byte, at int64) (int, error) {
	if at >= int64(len(d.stable)) {
		return 0, io.EOF
	}
	n := copy(b, d.stable[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (d *memoryDisk) WriteAt(b []byte, at int64) (int, error) {
	if d.fails() {
		part := d.random.IntN(len(b))
		d.unsynced = append(d.unsynced, write{at, append([]byte(nil), b[:part]...)})
		return part, errDisk
	}
	d.unsynced = append(d.unsynced, write{at, append([]byte(nil), b...)})
	return len(b), nil
}

func (d *memoryDisk) fails() bool {
	if d.failures > 0 {
		d.failures--
		return true
	}
	return false
}

func (d *memoryDisk) Sync() error {
	if d.fails() {
		d.settle(func() bool { return d.random.IntN(2) == 0 })
		return errDisk
	}
	d.settle(func() bool { return true })
	return nil
}

// settle writes the sectors of the unsynced writes that are kept.
func (d *memoryDisk) settle(keep func() bool) {
	for _, w := range d.unsynced {
		for from := 0; from < len(w.content); from += sector {
			if !keep() {
				continue
			}
			piece := w.content[from:min(from+sector, len(w.content))]
			end := int(w.at) + from + len(piece)
			for len(d.stable) < end {
				d.stable = append(d.stable, 0)
			}
			copy(d.stable[int(w.at)+from:], piece)
		}
	}
	d.unsynced = nil
}

// crash loses what was not synced, in part.
func (d *memoryDisk) crash() { d.settle(func() bool { return d.random.IntN(2) == 0 }) }

func (d *memoryDisk) Close() error { return nil }
