package packed

import (
	"encoding/binary"
	"math"
	"slices"

	"toptau/internal/core/kernel"
)

// SegmentRows is the number of values in a segment. It is a power of two, so that the compiler divides by
// shifting.
const SegmentRows = 1 << 10

// Segment stores values of a column in as few bytes as reproduce every bit: 1, 2 or 4 bytes each if all are
// decimals m / 10^k with small m and the k of the segment, as in most columns of text; 4 if all are float32;
// otherwise 8.
//
// The quotient is the float64 nearest to the decimal, like the result of parsing its text, because m and 10^k
// are exact in float64. The least m of its size is a missing value.
type Segment struct {
	data  []byte    // little-endian
	plain []float64 // form double in memory, instead of data
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

// maxPower is the largest power of ten tried. All up to it are exact in float64.
const maxPower = 1e15

// NewNumbers packs at most SegmentRows values. A missing value is NaN, all others are finite.
func NewNumbers(values []float64) Segment {
	s := numbersIn(values, nil)
	s.plain = slices.Clone(s.plain)
	return s
}

// numbersIn packs values into space, or into memory of their own if it is nil. Values of the form double are not copied.
func numbersIn(values []float64, space []byte) Segment {
	var wholes [SegmentRows]int32
	whole := wholes[:len(values)]
	for power := 1.0; power <= maxPower; power *= 10 {
		if largest, ok := kernel.WholeNumbers(values, power, whole); ok {
			return newWholes(whole, power, largest, space)
		}
	}
	if !allFloat32(values) {
		return Segment{plain: values, form: double}
	}
	s := Segment{form: single, data: bytesIn(space, 4*len(values))}
	for i, v := range values {
		binary.LittleEndian.PutUint32(s.data[4*i:], math.Float32bits(float32(v)))
	}
	return s
}

func bytesIn(space []byte, n int) []byte {
	if space == nil {
		return make([]byte, n)
	}
	return space[:n]
}

// newWholes packs whole numbers.
func newWholes(m []int32, power float64, largest int32, space []byte) Segment {
	s := Segment{power: power, form: decimalForm(largest), gaps: slices.Contains(m, kernel.NoNumber)}
	s.data = bytesIn(space, s.size()*len(m))
	kernel.Narrow(m, s.size(), s.data)
	return s
}

// NewCodes packs codes, -1 for a missing value.
func NewCodes(codes []int32) Segment { return codesIn(codes, nil) }

func codesIn(codes []int32, space []byte) Segment {
	largest := int32(1)
	for _, c := range codes {
		largest = max(largest, c)
	}
	return newWholes(codes, 1, largest, space)
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
func (s *Segment) size() int {
	switch s.form {
	case decimal8:
		return 1
	case decimal16:
		return 2
	case double:
		return 8
	}
	return 4
}

// Bytes returns the memory of the values.
func (s *Segment) Bytes() int64 { return int64(len(s.data) + 8*len(s.plain)) }

// Number returns value i of a numeric column.
func (s *Segment) Number(i int) float64 {
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
		if s.plain == nil {
			return math.Float64frombits(binary.LittleEndian.Uint64(s.data[8*i:]))
		}
		return s.plain[i]
	}
	return math.NaN()
}

// Whole returns whole number i.
func (s *Segment) Whole(i int) int32 {
	switch s.form {
	case decimal8:
		return int32(int8(s.data[i]))
	case decimal16:
		return int32(int16(binary.LittleEndian.Uint16(s.data[2*i:])))
	}
	return int32(binary.LittleEndian.Uint32(s.data[4*i:]))
}

// Rows returns the number of values.
func (s *Segment) Rows() int {
	if s.plain != nil {
		return len(s.plain)
	}
	return len(s.data) / s.size()
}

// Numbers returns n values of a numeric column, from value first on, without a copy or in space.
func (s *Segment) Numbers(first, n int, space []float64) []float64 {
	if s.plain != nil {
		return s.plain[first : first+n]
	}
	space = space[:n]
	data := s.data[first*s.size():]
	switch {
	case s.form == double:
		for i := range space {
			space[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
		}
	case s.form == single:
		kernel.Widen(data, space)
	case !s.gaps:
		kernel.Quotients(data, s.size(), s.power, space)
	default:
		for i := range space {
			space[i] = s.Number(first + i)
		}
	}
	return space
}

// Singles returns the values as float32 numbers, four bytes each, lowest first. It returns false for another form.
func (s *Segment) Singles() ([]byte, bool) { return s.data, s.form == single }

// Wholes writes whole numbers to dst, from number first on.
func (s *Segment) Wholes(first int, dst []int32) {
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

// Release releases the memory of the values, which must not be read afterwards.
func (s *Segment) Release() { s.data, s.plain = nil, nil }
