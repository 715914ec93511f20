package table

import (
	"encoding/binary"
	"os"

	"github.com/klauspost/compress/zstd"
)

// mostPacked bounds how much more than its packed size a file is believed to hold: a little more than gzip can pack.
const mostPacked = 1100

// sizeOf returns how many uncompressed bytes a file should hold from its current place, or 0 where that is not known.
// It serves to reserve memory only: what the trailer of a gzip file (the last member's bytes, in 32 bits) or the header
// of a zstd file says may be wrong.
func sizeOf(f *os.File, compression string, head []byte) int64 {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	size := info.Size()
	told := int64(0)
	switch compression {
	case "gzip":
		var trailer [4]byte
		if _, err := f.ReadAt(trailer[:], size-4); err != nil {
			return 0
		}
		told = int64(binary.LittleEndian.Uint32(trailer[:]))
	case "zstd":
		var h zstd.Header
		if h.Decode(head) != nil || !h.HasFCS || h.FrameContentSize > 1<<62 {
			return 0
		}
		told = int64(h.FrameContentSize)
	default:
		return size
	}
	if told/mostPacked > size {
		return 0
	}
	return told
}

// expect returns the capacity for a file of which the first bytes hold so many rows or entries, when the capacity was
// smaller: what the whole file should hold and a little more, or a growth of a quarter where that is unknown or was
// wrong.
func (in *input) expect(count, capacity int, bytes int64) int {
	least := max(count, capacity+capacity/4)
	if in.size <= bytes || bytes == 0 {
		return least
	}
	return max(count, int(1.03*float64(count)*(float64(in.size)/float64(bytes)))+16)
}

// roomy returns s with a capacity. The memory behind its length is not touched, so that what stays unused costs
// nothing.
func roomy[T any](s []T, capacity int) []T {
	if cap(s) >= capacity {
		return s
	}
	grown := make([]T, len(s), capacity)
	copy(grown, s)
	return grown
}
