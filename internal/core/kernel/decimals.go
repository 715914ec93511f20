package kernel

import "unsafe"

// decimalAhead is the number of bytes of text that must follow the position at which Decimals starts a number: it reads 64 at a
// time.
const decimalAhead = 64

// Decimals reads numbers from text[at] on and writes them to dst[0], dst[stride], ..., at most count of them. A number is an
// optional minus sign and at least one digit, possibly with a point and more digits, of at most 16 bytes without the sign.
// The first number is followed by stops[0], the next one by stops[1], and so on in turns; a stop is not a digit, a point or a
// minus. A number before a colon is an index and has no point.
//
// Decimals returns how many numbers it has read and the position after the stop of the last one. It ends early at anything
// else, at a number whose digits exceed 2^53, and where fewer than decimalAhead bytes follow.
//
// A number is the quotient of two numbers that float64 holds exactly, so it is rounded once, like by strconv.ParseFloat.
func Decimals(text []byte, at int, stops [2]byte, dst []float64, stride, count int) (read, next int) {
	limit := len(text) - decimalAhead
	if count <= 0 || at < 0 || at > limit {
		return 0, at
	}
	_ = dst[(count-1)*stride] // the last one
	if uses(decimalsFamily) {
		both := int(stops[0]) | int(stops[1])<<8
		left, end := asmDecimals(&text[at], &text[limit], both, &dst[0], 8*stride, count)
		return count - left, int(uintptr(unsafe.Pointer(end)) - uintptr(unsafe.Pointer(&text[0])))
	}
	for ; read < count && at <= limit; read++ {
		v, end := decimal(text[at:], stops[read&1])
		if end == 0 {
			break
		}
		dst[read*stride] = v
		at += end
	}
	return read, at
}

// decimal reads the number at the start of text and returns the position after its stop, or 0.
func decimal(text []byte, stop byte) (float64, int) {
	const longest = 16
	i, sign := 0, 1.0
	if text[0] == '-' {
		i, sign = 1, -1
	}
	begin, point, mantissa := i, -1, int64(0)
	for ; i-begin <= longest; i++ {
		if digit := text[i] - '0'; digit <= 9 {
			mantissa = mantissa*10 + int64(digit)
		} else if text[i] == '.' && point < 0 && i > begin && stop != ':' {
			point = i
		} else {
			break
		}
	}
	if i == begin || i-begin > longest || text[i] != stop || mantissa > 1<<53 {
		return 0, 0
	}
	power := 1.0
	if point >= 0 {
		power = decimalPowers[i-point-1]
	}
	return float64(sign*float64(mantissa)) / power, i + 1
}

// decimalPowers are the powers of ten that a number of 16 bytes may have.
var decimalPowers = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}
