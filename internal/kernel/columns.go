package kernel

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// Extent returns the least and the greatest of some numbers, infinite ones where there are none. Where one of them is
// NaN, ordered is false and the others mean nothing.
func Extent(x []float64) (low, high float64, ordered bool) {
	low, high = math.Inf(1), math.Inf(-1)
	done, low, high, ordered := vectorExtent(x, low, high)
	for _, v := range x[done:] {
		if v < low {
			low = v
		}
		if v > high {
			high = v
		}
		ordered = ordered && v == v
	}
	return low + 0, high + 0, ordered // -0 is 0
}

// FillPanel writes some rows of columns, at most PanelRows, to the rows of a panel from first on, rounded to its numbers. It
// reports whether all of them are finite.
func FillPanel[T Float](columns [][]float64, rows []int32, panel []T, first int) (finite bool) {
	finite = true
	if len(rows) == 0 {
		return finite
	}
	last := uint32(0) // of the rows
	for _, row := range rows {
		last = max(last, uint32(row))
	}
	for j, x := range columns {
		dst := panel[j*PanelRows+first:][:len(rows)]
		done, inside := vectorPick(x[:int(last)+1], rows, unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Sizeof(*new(T)))
		for i, row := range rows[done:] {
			v := T(x[row])
			dst[done+i] = v
			inside = inside && v-v == 0
		}
		finite = finite && inside
	}
	return finite
}

// Quotients writes whole numbers, each divided, to dst: those of data, with so many bytes (1, 2 or 4, the lowest first) and
// a sign.
func Quotients(data []byte, bytes int, divisor float64, dst []float64) {
	data = data[:bytes*len(dst)]
	done := vectorQuotients(data, bytes, divisor, dst)
	for i := done; i < len(dst); i++ {
		whole := int32(0)
		switch bytes {
		case 1:
			whole = int32(int8(data[i]))
		case 2:
			whole = int32(int16(binary.LittleEndian.Uint16(data[2*i:])))
		default:
			whole = int32(binary.LittleEndian.Uint32(data[4*i:]))
		}
		dst[i] = float64(whole) / divisor
	}
}

// Widen writes the float32 numbers of data, four bytes each, the lowest first, to dst.
func Widen(data []byte, dst []float64) {
	data = data[:4*len(dst)]
	for i := vectorWiden(data, dst); i < len(dst); i++ {
		dst[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
	}
}

// NoNumber stands for NaN among whole numbers.
const NoNumber = math.MinInt32

// WholeNumbers looks for the whole numbers of which x are the quotients, bit for bit: x[i] = whole[i] / power, NoNumber
// where x[i] is NaN. ok is false where there are none above NoNumber; otherwise largest is the largest of them without
// its sign.
func WholeNumbers(x []float64, power float64, whole []int32) (largest int32, ok bool) {
	const round = 3 << 51 // behind it float64 has no decimals: the sum's last bits are the nearest whole number
	whole = whole[:len(x)]
	done, largest, ok := vectorWholeNumbers(x, power, whole)
	if !ok {
		return 0, false
	}
	for i, v := range x[done:] {
		q := int32(math.Float64bits(float64(v*power) + round)) // of a product beyond int32 some number, that fails
		if math.Float64bits(float64(q)/power) != math.Float64bits(v) || q == NoNumber {
			if v == v {
				return 0, false
			}
			whole[done+i] = NoNumber
			continue
		}
		whole[done+i] = q
		largest = max(largest, q, -q)
	}
	return largest, true
}

// Narrow writes whole numbers to data with so many bytes each (1, 2 or 4, the lowest first). They must fit; NoNumber becomes
// the least number that does.
func Narrow(whole []int32, bytes int, data []byte) {
	data = data[:bytes*len(whole)]
	done := vectorNarrow(whole, bytes, data)
	for i := done; i < len(whole); i++ {
		switch bytes {
		case 1:
			data[i] = byte(max(whole[i], math.MinInt8))
		case 2:
			binary.LittleEndian.PutUint16(data[2*i:], uint16(max(whole[i], math.MinInt16)))
		default:
			binary.LittleEndian.PutUint32(data[4*i:], uint32(whole[i]))
		}
	}
}
