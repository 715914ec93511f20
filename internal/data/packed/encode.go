package packed

import (
	"encoding/binary"
	"errors"
	"math"
)

// segmentHead is the number of bytes before the data of a segment in a file: its form, the k of its power of ten,
// whether a decimal is missing, and 0.
const segmentHead = 4

// appendTo appends the segment as it stands in a file.
func (s *Segment) appendTo(b []byte) []byte {
	decimals, gaps := byte(0), byte(0)
	if s.form <= decimal32 {
		for p := 1.0; p < s.power; p *= 10 {
			decimals++
		}
	}
	if s.gaps {
		gaps = 1
	}
	b = append(b, byte(s.form), decimals, gaps, 0)
	if s.form != double {
		return append(b, s.data...)
	}
	for _, v := range s.plain {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

var errSegment = errors.New("a segment that is not well-formed")

// readSegment reads a segment of n rows from the start of b, whose memory it keeps, and returns the rest of b.
func readSegment(b []byte, n int) (s Segment, rest []byte, err error) {
	if len(b) < segmentHead || b[0] > byte(double) || b[2] > 1 || b[3] != 0 {
		return s, nil, errSegment
	}
	s.form, s.gaps, s.power = form(b[0]), b[2] == 1, 1
	for range b[1] {
		if s.power *= 10; s.power > maxPower {
			return s, nil, errSegment
		}
	}
	b = b[segmentHead:]
	size := n * s.size()
	if size > len(b) {
		return s, nil, errSegment
	}
	s.data = b[:size:size]
	return s, b[size:], nil
}
