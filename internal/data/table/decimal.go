package table

import (
	"encoding/binary"
	"math"
	"math/bits"

	"toptau/internal/data/jsontext"
)

const (
	// maxDigits is the number of decimal digits that always fit into a uint64.
	maxDigits = 19

	// maxPower is the exponent of the largest power of ten that is exact in float64.
	maxPower = 22

	// exactInteger bounds the integers that are all exact in float64.
	exactInteger = 1 << 53
)

// powers holds the powers of ten that are exact in float64, up to maxPower. Its length is a power of two, so
// that a masked index needs no bounds check.
var powers = [32]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// tens holds the powers of ten for fewer than eight digits, fives the powers of five that fit into a uint64.
var (
	tens  = [8]uint64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7}
	fives = powersOfFive()
)

func powersOfFive() []uint64 {
	all := []uint64{1}
	for {
		high, low := bits.Mul64(all[len(all)-1], 5)
		if high > 0 {
			return all
		}
		all = append(all, low)
	}
}

// readNumber parses the decimal number [+-] digits [. digits] [e [+-] digits] that begins at b[p]. It returns
// the nearest float64, halves to even, and the place after the number. It returns p if there is no number,
// and also if the arithmetic below cannot round it: with more than 19 digits after the leading zeros, an
// exponent far from 0, or more bytes than jsontext.MaxNumber.
//
// This function is the fast path for [-] up to 8 digits [. up to 15 digits], with few branches that depend on
// the digits. readLong parses the other forms.
func readNumber(b []byte, p int) (float64, int) {
	if p+window > len(b) {
		return readLong(b, p)
	}
	text := (*[window]byte)(b[p:])
	minus := int((uint64(text[0]^'-') - 1) >> 63)
	mantissa := uint64(text[minus] - '0')
	if mantissa > 9 {
		return readLong(b, p)
	}
	i := minus + 1
	c := text[i]
	for ; c-'0' <= 9; c = text[i] {
		if i++; i == 9 {
			return readLong(b, p)
		}
		mantissa = mantissa*10 + uint64(c-'0')
	}
	point := i
	if c == '.' {
		i++
		x := binary.LittleEndian.Uint64(text[i:]) ^ zeros
		if nonDigits(x) == 0 {
			mantissa = mantissa*1e8 + eightDigits(x)
			i += 8
			x = binary.LittleEndian.Uint64(text[i:]) ^ zeros
			if nonDigits(x) == 0 {
				return readLong(b, p)
			}
		}
		first, n := leadingDigits(x)
		mantissa = mantissa*tens[n] + first
		i += n
		c = text[i&(window-1)]
		point++
	}
	if c|0x20 == 'e' || mantissa > exactInteger || i > maxDigits {
		return readLong(b, p)
	}
	v := float64(int64(mantissa)) / powers[(i-point)&(len(powers)-1)]
	return math.Float64frombits(math.Float64bits(v) | uint64(minus)<<63), p + i
}

// window is the number of bytes that readNumber loads: a sign, 8 digits, a point, 16 decimals and the next
// characters.
const window = 32

// zeros turns eight digits into their values by exclusive or.
const zeros = 0x3030303030303030

// nonDigits marks the first byte that is not the value of a digit by its highest bit. It returns 0 if all
// eight are. A carry changes only later bytes.
func nonDigits(x uint64) uint64 {
	return ((x + 0x7676767676767676) | x) & 0x8080808080808080
}

// leadingDigits returns the number and the count of the digits before the first other byte, which must exist.
// It shifts out the bytes after them, which puts zeros before the digits.
func leadingDigits(x uint64) (uint64, int) {
	place := bits.TrailingZeros64(nonDigits(x)) & 63 // 7, 15, ...
	return eightDigits(x << 8 << (place ^ 63)), place >> 3
}

// readLong is readNumber for all forms.
func readLong(b []byte, p int) (float64, int) {
	begin := p
	negative := false
	if p < len(b) && (b[p] == '-' || b[p] == '+') {
		negative = b[p] == '-'
		p++
	}
	first := p
	mantissa, p := readDigits(b, p, 0)
	digits, exponent := p-first, 0
	if p < len(b) && b[p] == '.' {
		point := p + 1
		mantissa, p = readDigits(b, point, mantissa)
		exponent = point - p
		digits -= exponent
	}
	if digits > maxDigits {
		digits -= leadingZeros(b[first:p])
	}
	if digits == 0 || digits > maxDigits {
		return 0, begin
	}
	if p < len(b) && b[p]|0x20 == 'e' {
		e, end := readExponent(b, p+1)
		if end == p+1 {
			return 0, begin
		}
		exponent += e
		p = end
	}
	v, ok := scaleDecimal(mantissa, exponent)
	if !ok || p-begin > jsontext.MaxNumber { // zeros before the digits may be many
		return 0, begin
	}
	if negative {
		v = -v
	}
	return v, p
}

// leadingZeros returns the number of zeros before the first other digit.
func leadingZeros(text []byte) int {
	zeros := 0
	for _, c := range text {
		switch c {
		case '0':
			zeros++
		case '.':
		default:
			return zeros
		}
	}
	return zeros
}

// readDigits appends the digits that begin at b[p] to a mantissa, which overflows beyond maxDigits, and
// returns the place after them.
func readDigits(b []byte, p int, mantissa uint64) (uint64, int) {
	for p+8 <= len(b) {
		x := binary.LittleEndian.Uint64(b[p:]) ^ zeros
		if nonDigits(x) > 0 {
			first, n := leadingDigits(x)
			return mantissa*tens[n] + first, p + n
		}
		mantissa = mantissa*1e8 + eightDigits(x)
		p += 8
	}
	for ; p < len(b); p++ {
		digit := b[p] - '0'
		if digit > 9 {
			break
		}
		mantissa = mantissa*10 + uint64(digit)
	}
	return mantissa, p
}

// eightDigits returns the number whose decimal digits are the bytes of x, the first digit in the lowest byte.
// It combines pairs, then groups of four, then all eight.
func eightDigits(x uint64) uint64 {
	const mask = 0x000000ff000000ff
	x = x*10 + x>>8
	return ((x&mask)*(1_000_000<<32+100) + (x>>16&mask)*(10_000<<32+1)) >> 32
}

// readExponent parses [+-] and at most four digits and returns the place after them, or p if there are none.
func readExponent(b []byte, p int) (int, int) {
	begin := p
	negative := false
	if p < len(b) && (b[p] == '-' || b[p] == '+') {
		negative = b[p] == '-'
		p++
	}
	e, end := readDigits(b, p, 0)
	if end == p || end > p+4 {
		return 0, begin
	}
	if negative {
		return -int(e), end
	}
	return int(e), end
}

// scaleDecimal returns mantissa times ten to the exponent, rounded once, if it is a product or a quotient of
// two exact float64 numbers, or an integer quotient.
func scaleDecimal(mantissa uint64, exponent int) (float64, bool) {
	if mantissa == 0 {
		return 0, true
	}
	if mantissa <= exactInteger {
		v := float64(int64(mantissa))
		switch {
		case exponent == 0:
			return v, true
		case exponent < 0 && -exponent <= maxPower:
			return v / powers[-exponent], true
		case exponent > 0 && exponent <= maxPower:
			return v * powers[exponent], true
		}
	}
	if exponent <= 0 && -exponent < len(fives) {
		return roundedQuotient(mantissa, -exponent), true
	}
	return 0, false
}

// roundedQuotient returns m / 10^k, m > 0, rounded once to nearest, halves to even. With m and 5^k shifted
// until their highest bits are set, q = floor(m 2^63 / 5^k) has 63 or 64 bits, of which float64 keeps 53. A
// remainder sets the lowest bit, so that the discarded bits are neither zero nor a half.
func roundedQuotient(m uint64, k int) float64 {
	d := fives[k]
	shiftM, shiftD := bits.LeadingZeros64(m), bits.LeadingZeros64(d)
	m, d = m<<shiftM, d<<shiftD
	q, rest := bits.Div64(m>>1, m<<63, d)
	if rest > 0 {
		q |= 1
	}
	power := shiftD - shiftM - 63 - k // at least -153, at most 0: a normal number, and so is the product
	return float64(q) * math.Float64frombits(uint64(1023+power)<<52)
}
