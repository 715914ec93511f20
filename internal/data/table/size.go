package table

import (
	"encoding/binary"
	"os"

	"github.com/klauspost/compress/zstd"
)

// maxPacked bounds the plausible ratio of a file's content to its compressed size: gzip reaches 1,032 at
// most.
const maxPacked = 1100

// sizeOf returns the expected number of uncompressed bytes of a file, 0 if it is unknown. It serves only to
// reserve memory: the trailer of a gzip file (the bytes of the last member, in 32 bits) and the header of a
// zstd file may be wrong.
func sizeOf(f *os.File, compression string, head []byte) int64 {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	size := info.Size()
	stated := int64(0)
	switch compression {
	case "gzip":
		var trailer [4]byte
		if _, err := f.ReadAt(trailer[:], size-4); err != nil {
			return 0
		}
		stated = int64(binary.LittleEndian.Uint32(trailer[:]))
	case "zstd":
		var h zstd.Header
		if h.Decode(head) != nil || !h.HasFCS || h.FrameContentSize > 1<<62 {
			return 0
		}
		stated = int64(h.FrameContentSize)
	default:
		return size
	}
	if stated/maxPacked > size {
		return 0
	}
	return stated
}

// withCapacity returns s with a capacity. The memory after its length is not written, so that the system
// provides it only when it is used.
func withCapacity[T any](s []T, capacity int) []T {
	if cap(s) >= capacity {
		return s
	}
	grown := make([]T, len(s), capacity)
	copy(grown, s)
	return grown
}
