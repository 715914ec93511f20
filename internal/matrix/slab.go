package matrix

import "unsafe"

// slab hands out pieces of large allocations, so that a block can grow without ever being copied: a matrix that is being
// built takes its final memory and not twice as much.
type slab[T any] struct {
	free  []T
	total int
}

const slabBytes = 4 << 20 // of one allocation, unless a single piece is larger

// take returns n zeros. The capacity of a piece reaches to the end of its allocation: pieces that are taken one after the
// other lie side by side as far as it goes.
func (s *slab[T]) take(n int) []T {
	if n > len(s.free) {
		s.reserve(max(n, min(s.total, slabBytes/int(unsafe.Sizeof(*new(T))))))
	}
	piece := s.free[:n]
	s.free = s.free[n:]
	return piece
}

// reserve makes the next pieces come from an allocation of n elements.
func (s *slab[T]) reserve(n int) {
	s.free = make([]T, n)
	askForHugePages(s.free)
	s.total += n
}
