package table

import (
	"encoding/binary"
	"math"
	"slices"

	"toptau/internal/kernel"
)

// segmentRows is the number of values in a segment. It is a power of two, so that the compiler divides by
// shifting.
const segmentRows = 1 << 10

// segment stores values of a column in as few bytes as reproduce every bit: 1, 2 or 4 bytes each if all are
// decimals m / 10^k with small m and the k of the segment, as in most columns of text; 4 if all are float32;
// otherwise 8.
//
// The quotient is the float64 nearest to the decimal, like the result of parsing its text, because m and 10^k
// are exact in float64. The least m of its size is a missing value.
type segment struct {
	data  []byte    // nil for form double
	plain []float64 // form double
	power float64   // 10^k
	form  form
	gaps  bool // a decimal is missing
}

type form uint8

const (
	decimal8 form = iota
	decimal16
	decimal32
	single
	double
)

// mostDecimals is the largest k tried.
const mostDecimals = 15

// newSegment packs at most segmentRows values. A missing value is NaN, all others are finite.
func newSegment(values []float64) segment {
	var space [segmentRows]int32
	whole := space[:len(values)]
	for _, power := range powers[:mostDecimals+1] {
		if largest, ok := kernel.WholeNumbers(values, power, whole); ok {
			return newWholeSegment(whole, power, largest)
		}
	}
	if !allFloat32(values) {
		return segment{plain: slices.Clone(values), form: double}
	}
	s := segment{form: single, data: make([]byte, 4*len(values))}
	for i, v := range values {
		binary.LittleEndian.PutUint32(s.data[4*i:], math.Float32bits(float32(v)))
	}
	return s
}

// newWholeSegment packs whole numbers.
func newWholeSegment(m []int32, power float64, largest int32) segment {
	s := segment{power: power, form: decimalForm(largest), gaps: slices.Contains(m, kernel.NoNumber)}
	s.data = make([]byte, s.size()*len(m))
	kernel.Narrow(m, s.size(), s.data)
	return s
}

// newCodeSegment packs codes, -1 for a missing value.
func newCodeSegment(codes []int32) segment {
	largest := int32(1)
	for _, c := range codes {
		largest = max(largest, c)
	}
	return newWholeSegment(codes, 1, largest)
}

// decimalForm returns the smallest form for whole numbers up to largest and a missing value.
func decimalForm(largest int32) form {
	switch {
	case largest <= math.MaxInt8:
		return decimal8
	case largest <= math.MaxInt16:
		return decimal16
	}
	return decimal32
}

// allFloat32 reports whether all values are exact in float32, or missing.
func allFloat32(values []float64) bool {
	for _, v := range values {
		if v == v && float64(float32(v)) != v {
			return false
		}
	}
	return true
}

// size returns the number of bytes of a value in data.
func (s *segment) size() int {
	switch s.form {
	case decimal8:
		return 1
	case decimal16:
		return 2
	}
	return 4
}

// bytes returns the memory of the values.
func (s *segment) bytes() int64 { return int64(len(s.data) + 8*len(s.plain)) }

// number returns value i of a numeric column.
func (s *segment) number(i int) float64 {
	switch s.form {
	case decimal8:
		if q := int8(s.data[i]); q != math.MinInt8 {
			return float64(q) / s.power
		}
	case decimal16:
		if q := int16(binary.LittleEndian.Uint16(s.data[2*i:])); q != math.MinInt16 {
			return float64(q) / s.power
		}
	case decimal32:
		if q := int32(binary.LittleEndian.Uint32(s.data[4*i:])); q != kernel.NoNumber {
			return float64(q) / s.power
		}
	case single:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(s.data[4*i:])))
	default:
		return s.plain[i]
	}
	return math.NaN()
}

// whole returns whole number i.
func (s *segment) whole(i int) int32 {
	switch s.form {
	case decimal8:
		return int32(int8(s.data[i]))
	case decimal16:
		return int32(int16(binary.LittleEndian.Uint16(s.data[2*i:])))
	}
	return int32(binary.LittleEndian.Uint32(s.data[4*i:]))
}

// rows returns the number of values.
func (s *segment) rows() int {
	if s.form == double {
		return len(s.plain)
	}
	return len(s.data) / s.size()
}

// numbers returns n values of a numeric column, from value first on, without a copy or in space.
func (s *segment) numbers(first, n int, space []float64) []float64 {
	if s.form == double {
		return s.plain[first : first+n]
	}
	space = space[:n]
	data := s.data[first*s.size():]
	switch {
	case s.form == single:
		kernel.Widen(data, space)
	case !s.gaps:
		kernel.Quotients(data, s.size(), s.power, space)
	default:
		for i := range space {
			space[i] = s.number(first + i)
		}
	}
	return space
}

// wholes writes whole numbers to dst, from number first on.
func (s *segment) wholes(first int, dst []int32) {
	data := s.data[first*s.size():]
	switch s.form {
	case decimal8:
		for i := range dst {
			dst[i] = int32(int8(data[i]))
		}
	case decimal16:
		for i := range dst {
			dst[i] = int32(int16(binary.LittleEndian.Uint16(data[2*i:])))
		}
	default:
		for i := range dst {
			dst[i] = int32(binary.LittleEndian.Uint32(data[4*i:]))
		}
	}
}
