package parquet

import (
	"encoding/binary"
	"errors"
	"math"
)

// Types of the compact protocol of Thrift.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

var errThrift = errors.New("metadata that is not well-formed")

// thriftReader reads structures in the compact protocol.
type thriftReader struct {
	b     []byte
	depth int
}

// maxDepth bounds the nesting of structures; Parquet's have six levels.
const maxDepth = 32

func (r *thriftReader) byte() (byte, error) {
	if len(r.b) == 0 {
		return 0, errThrift
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c, nil
}

func (r *thriftReader) uvarint() (uint64, error) {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		return 0, errThrift
	}
	r.b = r.b[n:]
	return v, nil
}

// integer reads a zigzag number of a field of kind byte, i16, i32 or i64.
func (r *thriftReader) integer(kind byte) (int64, error) {
	switch kind {
	case thriftByte:
		c, err := r.byte()
		return int64(int8(c)), err
	case thriftI16, thriftI32, thriftI64:
		v, err := r.uvarint()
		return int64(v>>1) ^ -int64(v&1), err
	}
	return 0, errThrift
}

// small reads an integer that must be from 0 to 2^31 - 1.
func (r *thriftReader) small(kind byte) (int, error) {
	v, err := r.integer(kind)
	if err == nil && (v < 0 || v > math.MaxInt32) {
		err = errThrift
	}
	return int(v), err
}

// text reads a binary field.
func (r *thriftReader) text(kind byte) (string, error) {
	if kind != thriftBinary {
		return "", errThrift
	}
	n, err := r.uvarint()
	if err != nil || n > uint64(len(r.b)) {
		return "", errThrift
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s, nil
}

// structure reads a structure. field reads the value of a field of some kind, or calls skip.
func (r *thriftReader) structure(field func(id int, kind byte) error) error {
	if r.depth++; r.depth > maxDepth {
		return errThrift
	}
	defer func() { r.depth-- }()
	id := 0
	for {
		head, err := r.byte()
		if err != nil {
			return err
		}
		if head == 0 {
			return nil
		}
		if delta := int(head >> 4); delta > 0 {
			id += delta
		} else {
			v, err := r.integer(thriftI16)
			if err != nil {
				return err
			}
			id = int(v)
		}
		if err := field(id, head&15); err != nil {
			return err
		}
	}
}

// list reads a list or set and calls element for each element.
func (r *thriftReader) list(kind byte, element func(kind byte) error) error {
	if kind != thriftList && kind != thriftSet {
		return errThrift
	}
	head, err := r.byte()
	if err != nil {
		return err
	}
	n := uint64(head >> 4)
	if n == 15 {
		if n, err = r.uvarint(); err != nil {
			return err
		}
	}
	if n > uint64(len(r.b)) { // an element has at least a byte
		return errThrift
	}
	for range n {
		if err := element(head & 15); err != nil {
			return err
		}
	}
	return nil
}

// truth reads a field of a truth value, which its kind has.
func truth(kind byte) (bool, error) {
	if kind != thriftTrue && kind != thriftFalse {
		return false, errThrift
	}
	return kind == thriftTrue, nil
}

// skip passes over a value.
func (r *thriftReader) skip(kind byte) error { return r.skipValue(kind, false) }

// skipValue passes over a value; an element of a list has a byte even if it is a truth value.
func (r *thriftReader) skipValue(kind byte, element bool) error {
	switch kind {
	case thriftTrue, thriftFalse:
		if element {
			_, err := r.byte()
			return err
		}
		return nil
	case thriftByte:
		_, err := r.byte()
		return err
	case thriftI16, thriftI32, thriftI64:
		_, err := r.uvarint()
		return err
	case thriftDouble:
		if len(r.b) < 8 {
			return errThrift
		}
		r.b = r.b[8:]
		return nil
	case thriftBinary:
		n, err := r.uvarint()
		if err != nil || n > uint64(len(r.b)) {
			return errThrift
		}
		r.b = r.b[n:]
		return nil
	case thriftList, thriftSet:
		if r.depth++; r.depth > maxDepth {
			return errThrift
		}
		defer func() { r.depth-- }()
		return r.list(kind, func(kind byte) error { return r.skipValue(kind, true) })
	case thriftMap:
		return r.skipMap()
	case thriftStruct:
		return r.structure(func(_ int, kind byte) error { return r.skip(kind) })
	}
	return errThrift
}

func (r *thriftReader) skipMap() error {
	if r.depth++; r.depth > maxDepth {
		return errThrift
	}
	defer func() { r.depth-- }()
	n, err := r.uvarint()
	if err != nil || n > uint64(len(r.b)) {
		return errThrift
	}
	if n == 0 {
		return nil
	}
	kinds, err := r.byte()
	if err != nil {
		return err
	}
	for range n {
		if err := r.skipValue(kinds>>4, true); err != nil {
			return err
		}
		if err := r.skipValue(kinds&15, true); err != nil {
			return err
		}
	}
	return nil
}

// thriftWriter writes structures in the compact protocol.
type thriftWriter struct {
	b    []byte
	last []int // by nesting: the id of the last field
}

func (w *thriftWriter) open()  { w.last = append(w.last, 0) }
func (w *thriftWriter) close() { w.b, w.last = append(w.b, 0), w.last[:len(w.last)-1] }

func (w *thriftWriter) field(id int, kind byte) {
	last := &w.last[len(w.last)-1]
	if delta := id - *last; delta > 0 && delta < 16 {
		w.b = append(w.b, byte(delta)<<4|kind)
	} else {
		w.b = append(w.b, kind)
		w.b = binary.AppendUvarint(w.b, zigzag(int64(id)))
	}
	*last = id
}

func zigzag(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }

func (w *thriftWriter) integer(id int, kind byte, v int64) {
	w.field(id, kind)
	w.b = binary.AppendUvarint(w.b, zigzag(v))
}

func (w *thriftWriter) text(id int, s string) {
	w.field(id, thriftBinary)
	w.bytes(s)
}

func (w *thriftWriter) bytes(s string) {
	w.b = binary.AppendUvarint(w.b, uint64(len(s)))
	w.b = append(w.b, s...)
}

// list begins a list of n elements of a kind.
func (w *thriftWriter) list(id, n int, kind byte) {
	w.field(id, thriftList)
	if n < 15 {
		w.b = append(w.b, byte(n)<<4|kind)
		return
	}
	w.b = append(w.b, 0xf0|kind)
	w.b = binary.AppendUvarint(w.b, uint64(n))
}

// structure begins a structure in a field.
func (w *thriftWriter) structure(id int) {
	w.field(id, thriftStruct)
	w.open()
}
