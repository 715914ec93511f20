package matrix

import (
	"syscall"
	"unsafe"
)

const (
	hugePage     = 2 << 20 // bytes
	madvCollapse = 25      // of Linux 6.1
)

// askForHugePages asks the system for large pages behind a slab, so that a pass over it does not wait for translations
// of addresses: many systems give them only on request. They are asked for the whole of each large page that the slab
// touches; its neighbours there belong to the same heap. Memory that was in use before has small pages already, whose
// content is then moved. All this is a wish: errors mean that pages stay as they are.
func askForHugePages[T any](slab []T) {
	bytes := uintptr(len(slab)) * unsafe.Sizeof(*new(T))
	if bytes < hugePage {
		return
	}
	begin := uintptr(unsafe.Pointer(unsafe.SliceData(slab)))
	first, end := begin&^(hugePage-1), (begin+bytes+hugePage-1)&^(hugePage-1)
	advise(first, end, syscall.MADV_HUGEPAGE)
	if resident((begin + bytes/2) &^ (hugePage - 1)) {
		advise(first, end, madvCollapse)
	}
}

func advise(first, end, advice uintptr) {
	_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, first, end-first, advice)
}

// resident reports whether the page at an address has been touched.
func resident(address uintptr) bool {
	var state byte
	_, _, failed := syscall.Syscall(syscall.SYS_MINCORE, address, 1, uintptr(unsafe.Pointer(&state)))
	return failed == 0 && state&1 != 0
}
