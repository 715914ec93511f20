package table

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// span is a part of a chunk's text.
type span struct{ begin, end int32 }

func (s span) of(text []byte) []byte { return text[s.begin:s.end] }

// symbols gives codes to the distinct fields of a column of a chunk, in order of first appearance. The codes
// do not depend on the hash, which has a random seed so that no file can make it collide.
type symbols struct {
	codes []int32 // by row; -1: missing
	spans []span  // by code: the first place of the field
	keys  []key   // by code
	slots []int32 // open addressing: code + 1, or 0; a power of two, at most half full
	whole []int32 // by code: the code in the whole file, -1 until it is known
}

// key is the bytes of a field of at most keyBytes, none of which is zero, or the hash of a longer one.
type key struct{ first, second uint64 }

const keyBytes = 16

var (
	symbolSeed   = maphash.MakeSeed()
	symbolFactor = key{maphash.String(symbolSeed, "first"), maphash.String(symbolSeed, "second")}
)

// keyOf returns the key of a field of b, which has keyBytes more bytes after the field.
func keyOf(b []byte, field span) key {
	n := uint(field.end - field.begin)
	if n > keyBytes {
		return key{maphash.Bytes(symbolSeed, field.of(b)), 0}
	}
	text := b[field.begin:]
	k := key{binary.LittleEndian.Uint64(text), 0}
	if n <= 8 {
		k.first = k.first << (64 - 8*n) >> (64 - 8*n)
	} else {
		k.second = binary.LittleEndian.Uint64(text[8:]) << (128 - 8*n) >> (128 - 8*n)
	}
	return k
}

func (k key) hash() uint32 {
	high, low := bits.Mul64(k.first^symbolFactor.first, k.second^symbolFactor.second)
	return uint32(high ^ low)
}

// clear empties the table and makes codes for a number of rows.
func (s *symbols) clear(rows int) {
	s.codes = resized(s.codes, rows)
	if len(s.slots) == 0 {
		s.slots = make([]int32, 64)
	}
	clear(s.slots)
	s.spans, s.keys, s.whole = s.spans[:0], s.keys[:0], s.whole[:0]
}

// is reports whether code is the code of a field with key k.
func (s *symbols) is(code int32, b []byte, field span, k key) bool {
	if s.keys[code] != k {
		return false
	}
	known := s.spans[code]
	short := field.end-field.begin <= keyBytes && known.end-known.begin <= keyBytes
	return short || bytes.Equal(known.of(b), field.of(b))
}

// put sets the code of a row from a field of b. The field of the row before is the first guess.
func (s *symbols) put(b []byte, field span, row int) {
	k := keyOf(b, field)
	if row > 0 {
		if before := s.codes[row-1]; before >= 0 && s.is(before, b, field, k) {
			s.codes[row] = before
			return
		}
	}
	mask := uint32(len(s.slots) - 1)
	i := k.hash() & mask
	for ; s.slots[i] != 0; i = (i + 1) & mask {
		if code := s.slots[i] - 1; s.is(code, b, field, k) {
			s.codes[row] = code
			return
		}
	}
	s.codes[row] = int32(len(s.spans))
	s.spans, s.keys, s.whole = append(s.spans, field), append(s.keys, k), append(s.whole, -1)
	s.slots[i] = int32(len(s.spans))
	if 2*len(s.spans) > len(s.slots) {
		s.widen()
	}
}

// widen doubles the slots.
func (s *symbols) widen() {
	s.slots = make([]int32, 2*len(s.slots))
	mask := uint32(len(s.slots) - 1)
	for code, k := range s.keys {
		i := k.hash() & mask
		for s.slots[i] != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = int32(code) + 1
	}
}

// resized returns a slice with undefined elements, in the memory of s if that is large enough.
func resized[T any](s []T, length int) []T {
	if cap(s) < length {
		return make([]T, length)
	}
	return s[:length]
}
