package table

import (
	"encoding/binary"
	"math"

	"toptau/internal/kernel"
)

// segmentRows is the number of values of a segment. A power of two, so that the compiler divides by shifting.
const segmentRows = 1 << 10

// segment holds some values of a column in as few bytes as give back every bit of them: 1, 2 or 4 bytes where all are
// decimals m / 10^k of the segment's k with small m, as most columns of a text are; 4 where all are float32; else 8.
//
// The quotient is the float64 nearest to the decimal, which is what parsing its text gives, as long as m and 10^k are
// exact in float64. The least m of its size stands for a missing value.
type segment struct {
	data  []byte
	power float64 // 10^k
	form  form
}

type form uint8

const (
	decimal8 form = iota
	decimal16
	decimal32
	single
	double
)

// mostDecimals is the largest k that is tried.
const mostDecimals = 15

// newSegment packs values that are finite or NaN for a missing value, segmentRows at most.
func newSegment(values []float64) segment {
	var space [segmentRows]int32
	whole := space[:len(values)]
	for _, power := range powers[:mostDecimals+1] {
		if largest, ok := quotients(values, power, whole); ok {
			return newWholeSegment(whole, power, largest)
		}
	}
	s := segment{form: double}
	if allSingle(values) {
		s.form = single
	}
	s.data = make([]byte, s.size()*len(values))
	for i, v := range values {
		if s.form == single {
			binary.LittleEndian.PutUint32(s.data[4*i:], math.Float32bits(float32(v)))
		} else {
			binary.LittleEndian.PutUint64(s.data[8*i:], math.Float64bits(v))
		}
	}
	return s
}

// missing is the whole number of a missing value until it is packed.
const missing = math.MinInt32

// quotients writes the whole numbers m with the values m / power and returns the largest of them without its sign; ok is
// false when a value is none.
func quotients(values []float64, power float64, m []int32) (largest int32, ok bool) {
	const round = 3 << 51 // behind it float64 has no decimals: the sum's last bits are the nearest whole number
	for i, v := range values {
		q := int32(math.Float64bits(float64(v*power) + round)) // of a product beyond int32 some number, that fails
		if math.Float64bits(float64(q)/power) != math.Float64bits(v) || q == missing {
			if v == v {
				return 0, false
			}
			m[i] = missing
			continue
		}
		m[i] = q
		largest = max(largest, q, -q)
	}
	return largest, true
}

// newWholeSegment packs whole numbers.
func newWholeSegment(m []int32, power float64, largest int32) segment {
	s := segment{power: power, form: decimalForm(largest)}
	s.data = make([]byte, s.size()*len(m))
	switch s.form {
	case decimal8:
		for i, q := range m {
			s.data[i] = byte(max(q, math.MinInt8))
		}
	case decimal16:
		for i, q := range m {
			binary.LittleEndian.PutUint16(s.data[2*i:], uint16(max(q, math.MinInt16)))
		}
	default:
		for i, q := range m {
			binary.LittleEndian.PutUint32(s.data[4*i:], uint32(q))
		}
	}
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

// decimalForm is the least form for whole numbers up to largest, and one more for a missing value.
func decimalForm(largest int32) form {
	switch {
	case largest <= math.MaxInt8:
		return decimal8
	case largest <= math.MaxInt16:
		return decimal16
	}
	return decimal32
}

// allSingle reports whether all values are float32, or missing.
func allSingle(values []float64) bool {
	for _, v := range values {
		if v == v && float64(float32(v)) != v {
			return false
		}
	}
	return true
}

// size is the bytes of a value.
func (s *segment) size() int {
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
		if q := int32(binary.LittleEndian.Uint32(s.data[4*i:])); q != missing {
			return float64(q) / s.power
		}
	case single:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(s.data[4*i:])))
	default:
		return math.Float64frombits(binary.LittleEndian.Uint64(s.data[8*i:]))
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

// rows is the number of values.
func (s *segment) rows() int { return len(s.data) / s.size() }

// numbers writes values of a numeric column, from value first on.
func (s *segment) numbers(first int, dst []float64) {
	data := s.data[first*s.size():]
	switch s.form {
	case decimal8:
		for i := range dst {
			dst[i] = decimals8[data[i]]
		}
	case decimal16:
		for i := range dst {
			dst[i] = orNaN(int32(int16(binary.LittleEndian.Uint16(data[2*i:]))), math.MinInt16)
		}
	case decimal32:
		for i := range dst {
			dst[i] = orNaN(int32(binary.LittleEndian.Uint32(data[4*i:])), missing)
		}
	case single:
		for i := range dst {
			dst[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
		}
	default:
		for i := range dst {
			dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
		}
	}
	if s.power > 1 {
		kernel.Standardise(dst, dst, 0, s.power)
	}
}

// orNaN is a whole number, or the mark of a missing value.
func orNaN(q, none int32) float64 {
	if q == none {
		return math.NaN()
	}
	return float64(q)
}

// decimals8 are the whole numbers of decimal8 by their byte.
var decimals8 = func() (all [256]float64) {
	for b := range all {
		all[b] = orNaN(int32(int8(b)), math.MinInt8)
	}
	return all
}()

// wholes writes whole numbers, from number first on.
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
