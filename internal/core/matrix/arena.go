package matrix

import "unsafe"

// arena hands out slices of large allocations, so that a block can grow without being copied: a matrix under construction
// takes its final memory and not twice as much.
type arena[T any] struct {
	free  []T
	total int // elements of all allocations
}

// arenaBytes is the largest allocation that grows with the block, unless a single slice is larger. Chosen by hand: two large
// pages.
const arenaBytes = 4 << 20

// alloc returns n zeros. The slice's capacity reaches to the end of its allocation: slices that are allocated one after the
// other are adjacent in memory up to that end.
func (a *arena[T]) alloc(n int) []T {
	if n > len(a.free) {
		a.reserve(max(n, min(a.total, arenaBytes/int(unsafe.Sizeof(*new(T))))))
	}
	out := a.free[:n]
	a.free = a.free[n:]
	return out
}

// reserve makes the next slices come from a new allocation of n elements.
func (a *arena[T]) reserve(n int) {
	a.free = make([]T, n)
	askForHugePages(a.free)
	a.total += n
}
