package parquet

import (
	"encoding/binary"
	"testing"
)

// Pages of the older LZ4 are as Hadoop writes them, in blocks of parts, or as other writers do, without a frame.
func TestOlderLZ4(t *testing.T) {
	literals := func(s string) []byte { return append([]byte{byte(len(s)) << 4}, s...) }
	frame := func(size int, parts ...[]byte) []byte {
		b := binary.BigEndian.AppendUint32(nil, uint32(size))
		for _, p := range parts {
			b = append(binary.BigEndian.AppendUint32(b, uint32(len(p))), p...)
		}
		return b
	}
	repeated := []byte{0x11, 'a', 1, 0, 0} // an a, five copies of it, and no literals
	for _, c := range []struct {
		name, want string
		b          []byte
	}{
		{"a block", "abc", frame(3, literals("abc"))},
		{"a block of parts", "abcdef", frame(6, literals("abc"), literals("def"))},
		{"blocks", "abcdef", append(frame(3, literals("abc")), frame(3, literals("def"))...)},
		{"no frame", "aaaaaa", repeated},
	} {
		s := &cursorSpace{budget: &budget{limit: 1 << 20}}
		got, err := s.unpack(lz4Hadoop, c.b, len(c.want))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
		for _, wrong := range []int{len(c.want) - 1, len(c.want) + 1, 1 << 19} {
			if got, err := s.unpack(lz4Hadoop, c.b, wrong); err == nil {
				t.Errorf("%s as %d bytes: %q", c.name, wrong, got)
			}
		}
	}
	s := &cursorSpace{budget: &budget{limit: 1 << 20}}
	for _, b := range [][]byte{frame(1<<31, literals("abc")), frame(6, literals("abc")), frame(6, literals("abc"), nil), frame(0)} {
		if got, err := s.unpack(lz4Hadoop, b, 6); err == nil {
			t.Errorf("%x: %q", b, got)
		}
	}
}
