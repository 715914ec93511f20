package table

import (
	"encoding/binary"
	"math"
)

// segmentRows is the number of values of a segment. A power of two, so that the compiler divides by shifting.
const segmentRows = 1 << 10

// segment holds some values of a column in as few bytes as give back every bit of them: 1, 2 or 4 bytes where all are
// decimals m / 10^k of the segment's k with small m, as most columns of a text are; 4 where all are float32; else 8.
//
// The quotient is the float64 nearest to the decimal, which is what parsing its text gives, as long as m and 10^k are
// exact in float64. The largest negative m of its size stands for a missing value.
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

// newSegment packs values that are finite or NaN for a missing value.
func newSegment(values []float64) segment {
	if power, largest, ok := decimals(values); ok {
		s := segment{power: power, form: decimalForm(largest)}
		s.data = make([]byte, s.size()*len(values))
		for i, v := range values {
			m := int64(math.MinInt64) // ends in the bits of the least number of every size, but for the sign
			if v == v {
				m = int64(math.RoundToEven(v * power))
			}
			s.put(i, m)
		}
		return s
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

// newCodeSegment packs codes, -1 for a missing value.
func newCodeSegment(codes []int32) segment {
	largest := int32(1)
	for _, c := range codes {
		largest = max(largest, c)
	}
	s := segment{power: 1, form: decimalForm(float64(largest))}
	s.data = make([]byte, s.size()*len(codes))
	for i, c := range codes {
		s.put(i, int64(c))
	}
	return s
}

// decimals returns the least power of ten that makes whole numbers of int32 of all values, and the largest of these
// without its sign.
func decimals(values []float64) (power, largest float64, ok bool) {
	k := 0
	for _, v := range values {
		for v == v && !isQuotient(v, powers[k]) {
			if k++; k > mostDecimals {
				return 0, 0, false
			}
		}
		if v == v {
			largest = max(largest, math.Abs(v))
		}
	}
	largest = math.RoundToEven(largest * powers[k])
	return powers[k], largest, largest <= math.MaxInt32
}

// isQuotient reports whether v has the bits of m / power for a whole number m of int32.
func isQuotient(v, power float64) bool {
	m := math.RoundToEven(v * power)
	return math.Abs(m) <= math.MaxInt32 && math.Float64bits(float64(int32(m))/power) == math.Float64bits(v)
}

func decimalForm(largest float64) form {
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

// put stores a whole number.
func (s *segment) put(i int, m int64) {
	switch s.form {
	case decimal8:
		s.data[i] = byte(max(m, math.MinInt8))
	case decimal16:
		binary.LittleEndian.PutUint16(s.data[2*i:], uint16(max(m, math.MinInt16)))
	default:
		binary.LittleEndian.PutUint32(s.data[4*i:], uint32(max(m, math.MinInt32)))
	}
}

// number returns value i of a numeric column.
func (s *segment) number(i int) float64 {
	switch s.form {
	case single:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(s.data[4*i:])))
	case double:
		return math.Float64frombits(binary.LittleEndian.Uint64(s.data[8*i:]))
	}
	m := s.whole(i)
	if m == s.none() {
		return math.NaN()
	}
	return float64(m) / s.power
}

// none is the whole number that stands for a missing value.
func (s *segment) none() int32 {
	switch s.form {
	case decimal8:
		return math.MinInt8
	case decimal16:
		return math.MinInt16
	}
	return math.MinInt32
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

// numbers writes the values from first on to dst, in one sweep.
func (s *segment) numbers(first int, dst []float64) {
	switch s.form {
	case decimal8:
		for i, b := range s.data[first : first+len(dst)] {
			dst[i] = float64(int8(b)) / s.power
			if int8(b) == math.MinInt8 {
				dst[i] = math.NaN()
			}
		}
	default:
		for i := range dst {
			dst[i] = s.number(first + i)
		}
	}
}
