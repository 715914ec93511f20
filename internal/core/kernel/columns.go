package kernel

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// Extent returns the least and the greatest of some numbers, +Inf and -Inf where there are none. When one of them is NaN,
// ordered is false and the other results are undefined.
func Extent(x []float64) (low, high float64, ordered bool) {
	low, high = math.Inf(1), math.Inf(-1)
	done, ordered := 0, true
	if vectors := len(x) / 4; uses(columnsFamily) && vectors > 0 {
		lows, highs := [4]float64{low, low, low, low}, [4]float64{high, high, high, high}
		ordered = asmExtent(&x[0], vectors, &lows[0], &highs[0])
		for i := range lows {
			low, high = min(low, lows[i]), max(high, highs[i])
		}
		done = 4 * vectors
	}
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

// FillPanel writes some rows of columns, at most PanelRows, to the rows of a panel from first on, rounded to its type. It
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
		done, inside := 0, true
		if vectors := len(rows) / 4; uses(columnsFamily) && vectors > 0 {
			inside = pick(&x[:int(last)+1][0], &rows[0], vectors, &dst[0])
			done = 4 * vectors
		}
		for i, row := range rows[done:] {
			v := T(x[row])
			dst[done+i] = v
			inside = inside && v-v == 0
		}
		finite = finite && inside
	}
	return finite
}

// pick writes the elements of x with the numbers rows, four for each vector, to dst and reports whether all are finite.
func pick[T Float](x *float64, rows *int32, vectors int, dst *T) (finite bool) {
	if unsafe.Sizeof(*dst) == 4 {
		return asmPickFloat32(x, rows, vectors, (*float32)(unsafe.Pointer(dst)))
	}
	return asmPickFloat64(x, rows, vectors, (*float64)(unsafe.Pointer(dst)))
}

// Quotients writes the signed whole numbers in data, of 1, 2 or 4 bytes each (lowest first), divided by divisor, to dst.
func Quotients(data []byte, bytes int, divisor float64, dst []float64) {
	data = data[:bytes*len(dst)]
	done := 0
	if vectors := len(dst) / 4; uses(columnsFamily) && vectors > 0 {
		divideVectors(&data[0], bytes, vectors, divisor, &dst[0])
		done = 4 * vectors
	}
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

// divideVectors does Quotients for some vectors of four numbers.
func divideVectors(data *byte, bytes, vectors int, divisor float64, dst *float64) {
	switch {
	case bytes == 1 && divisor == 1:
		asmWhole8(data, vectors, divisor, dst)
	case bytes == 2 && divisor == 1:
		asmWhole16(data, vectors, divisor, dst)
	case divisor == 1:
		asmWhole32(data, vectors, divisor, dst)
	case bytes == 1:
		asmQuotients8(data, vectors, divisor, dst)
	case bytes == 2:
		asmQuotients16(data, vectors, divisor, dst)
	default:
		asmQuotients32(data, vectors, divisor, dst)
	}
}

// Widen writes the float32 numbers in data, four bytes each (lowest first), to dst.
func Widen(data []byte, dst []float64) {
	data = data[:4*len(dst)]
	done := 0
	if vectors := len(dst) / 4; uses(columnsFamily) && vectors > 0 {
		asmWiden(&data[0], vectors, &dst[0])
		done = 4 * vectors
	}
	for i := done; i < len(dst); i++ {
		dst[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
	}
}

// NoNumber represents NaN among whole numbers.
const NoNumber = math.MinInt32

// WholeNumbers finds the whole numbers with x[i] = whole[i] / power, bit for bit, and NoNumber where x[i] is NaN. ok is false
// when they do not exist or are not above NoNumber; otherwise largest is the largest magnitude.
func WholeNumbers(x []float64, power float64, whole []int32) (largest int32, ok bool) {
	const round = 3 << 51 // from here on float64 has no decimals: the sum's last bits are the nearest whole number
	whole = whole[:len(x)]
	done := 0
	if vectors := len(x) / 4; uses(columnsFamily) && vectors > 0 {
		var lanes [4]int32
		if !asmWholeNumbers(&x[0], vectors, power, &whole[0], &lanes[0]) {
			return 0, false
		}
		largest = max(lanes[0], lanes[1], lanes[2], lanes[3])
		done = 4 * vectors
	}
	for i, v := range x[done:] {
		q := int32(math.Float64bits(float64(v*power) + round)) // for a product beyond int32 some number that fails the check
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

// Narrow writes whole numbers to data with 1, 2 or 4 bytes each (lowest first). They must fit; NoNumber becomes the least
// number of that size.
func Narrow(whole []int32, bytes int, data []byte) {
	data = data[:bytes*len(whole)]
	done := 0
	if vectors := len(whole) / 8; uses(columnsFamily) && vectors > 0 {
		switch bytes {
		case 1:
			asmNarrow8(&whole[0], vectors, &data[0])
		case 2:
			asmNarrow16(&whole[0], vectors, &data[0])
		default:
			asmNarrow32(&whole[0], vectors, &data[0])
		}
		done = 8 * vectors
	}
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
