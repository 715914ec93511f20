package table

import (
	"bytes"
	"hash/maphash"
)

// span is a part of a chunk's text.
type span struct{ begin, end int32 }

func (s span) of(text []byte) []byte { return text[s.begin:s.end] }

// symbols numbers the distinct fields of one column of a chunk, in order of first appearance. The numbers do not depend
// on the hash, which is seeded so that no file can make it collide.
type symbols struct {
	codes  []int32 // by row; -1: missing
	spans  []span  // by code: where the field stands first
	hashes []uint32
	slots  []int32 // open addressing: code + 1, or 0; a power of two, at most half full
	whole  []int32 // by code: the code of the whole file, or -1 while that is not known
}

var symbolSeed = maphash.MakeSeed()

// clear empties the table, with room for a number of rows.
func (s *symbols) clear(rows int) {
	s.codes = sized(s.codes, rows)
	if len(s.slots) == 0 {
		s.slots = make([]int32, 64)
	}
	clear(s.slots)
	s.spans, s.hashes, s.whole = s.spans[:0], s.hashes[:0], s.whole[:0]
}

// code returns the number of a field of b, given the row's predecessor, which most often has the same field.
func (s *symbols) code(b []byte, field span, before int32) int32 {
	text := field.of(b)
	if before >= 0 && bytes.Equal(s.spans[before].of(b), text) {
		return before
	}
	hash := uint32(maphash.Bytes(symbolSeed, text))
	mask := uint32(len(s.slots) - 1)
	i := hash & mask
	for ; s.slots[i] != 0; i = (i + 1) & mask {
		code := s.slots[i] - 1
		if s.hashes[code] == hash && bytes.Equal(s.spans[code].of(b), text) {
			return code
		}
	}
	code := int32(len(s.spans))
	s.slots[i] = code + 1
	s.spans, s.hashes, s.whole = append(s.spans, field), append(s.hashes, hash), append(s.whole, -1)
	if 2*len(s.spans) > len(s.slots) {
		s.widen()
	}
	return code
}

// put sets a row's code.
func (s *symbols) put(b []byte, field span, row int) {
	before := int32(-1)
	if row > 0 {
		before = s.codes[row-1]
	}
	s.codes[row] = s.code(b, field, before)
}

// widen doubles the slots.
func (s *symbols) widen() {
	s.slots = make([]int32, 2*len(s.slots))
	mask := uint32(len(s.slots) - 1)
	for code, hash := range s.hashes {
		i := hash & mask
		for s.slots[i] != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = int32(code) + 1
	}
}

// sized returns a slice of a length, whose elements are undefined, in the memory of s if that is enough.
func sized[T any](s []T, length int) []T {
	if cap(s) < length {
		return make([]T, length)
	}
	return s[:length]
}
