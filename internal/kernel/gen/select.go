package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Comparisons of a with b, in the order a op b. The first three hold for NaN, too, none of the others; none raises an
// exception.
const (
	unordered   = 0x03
	notAtMost   = 0x16
	notAtLeast  = 0x19
	equals      = 0x00
	atLeast     = 0x1d
	greaterThan = 0x1e
)

// selectRows is the number of scores that a turn of the loops below takes; fewer than a panel, so that little is left over.
const selectRows = 16

// selection emits what thresholds are selected with, on float64 scores.
func selection(c code) {
	tables := newCompressTables(c)
	highest(c)
	countScores(c)
	for _, s := range []shape{avx2, avx512} {
		between(c, s, tables)
		sumAbove(c, s)
		rowsAbove(c, s, tables)
	}
}

// highest is bound by memory: wider vectors would gain nothing.
func highest(c code) {
	c.function("highestAVX2", "(z *float64, blocks int, lanes *float64) (nan int)",
		"writes the maxima of blocks of 16 scores by place mod 4, and returns whether any score is NaN; blocks is positive.")
	r := c.arguments("z", "blocks", "lanes")
	z, blocks, lanes := r[0], r[1], r[2]
	top, odd := c.vectors(avx2, 4), c.vectors(avx2, 2)
	for k, v := range top {
		c.VMOVUPD(at(z, 32*k), v)
	}
	for _, v := range odd {
		c.zero(avx2, v)
	}
	c.Label("block")
	x, nan := c.vectors(avx2, 4), c.vectors(avx2, 2)
	for k, v := range x {
		c.VMOVUPD(at(z, 32*k), v)
		c.VMAXPD(v, top[k], top[k])
	}
	for k, v := range nan { // unordered where either is NaN
		c.VCMPPD(operand.Imm(unordered), x[2*k+1], x[2*k], v)
		c.VORPD(v, odd[k], odd[k])
	}
	c.add(8*selectRows, z)
	c.down(blocks, "block")
	c.VMAXPD(top[1], top[0], top[0])
	c.VMAXPD(top[3], top[2], top[2])
	c.VMAXPD(top[2], top[0], top[0])
	c.VMOVUPD(top[0], at(lanes, 0))
	c.VORPD(odd[1], odd[0], odd[0])
	bits := c.GP32()
	c.VMOVMSKPD(odd[0], bits)
	c.Store(bits.As64(), c.ReturnIndex(0))
	c.finish()
}

// countScores is bound by memory, too.
func countScores(c code) {
	c.function("countScoresAVX2", "(z *float64, blocks int, t float64, counts *int64)",
		"writes how many scores of blocks of 16 are above t, and how many equal it, by place mod 4; blocks is positive.")
	r := c.arguments("z", "blocks", "counts")
	z, blocks, counts := r[0], r[1], r[2]
	t := c.spread(avx2, "t")
	above, equal := c.vectors(avx2, 2), c.vectors(avx2, 2)
	for _, v := range append(above, equal...) {
		c.zero(avx2, v)
	}
	c.Label("block")
	for k := range selectRows / avx2.doubles() {
		x, same, more := c.YMM(), c.YMM(), c.YMM()
		c.VMOVUPD(at(z, 32*k), x)
		c.VCMPPD(operand.Imm(equals), t, x, same)
		c.VCMPPD(operand.Imm(greaterThan), t, x, more)
		c.VPSUBQ(same, equal[k%2], equal[k%2])
		c.VPSUBQ(more, above[k%2], above[k%2])
	}
	c.add(8*selectRows, z)
	c.down(blocks, "block")
	c.VPADDQ(above[1], above[0], above[0])
	c.VPADDQ(equal[1], equal[0], equal[0])
	c.VMOVDQU(above[0], at(counts, 0))
	c.VMOVDQU(equal[0], at(counts, 32))
	c.finish()
}

// spread loads a float64 argument into all places of a vector.
func (c code) spread(s shape, name string) reg.VecVirtual {
	low, v := c.Load(c.Param(name), c.XMM()), c.vector(s)
	c.VBROADCASTSD(low, v)
	return v
}

func between(c code, s shape, tables compressTables) {
	c.function("between"+s.name, "(z *float64, blocks int, low, high float64, values *float64, counts *int64) int",
		"appends the scores of blocks of 16 that are neither at most low nor at least high and returns their number, and "+
			"writes how many are at least high, by place mod 8; blocks is positive. Up to a vector behind the last entry is "+
			"overwritten, never more than the values of all scores take.")
	r := c.arguments("z", "blocks", "values", "counts")
	z, blocks, values, counts := r[0], r[1], r[2], r[3]
	low, high := c.spread(s, "low"), c.spread(s, "high")
	count := c.GP64()
	c.XORQ(count, count)
	top := c.vector(s)
	c.zero(s, top)
	out := operand.Mem{Base: values, Index: count, Scale: 8}
	if s.bytes == 64 {
		one, number := c.vector(s), c.GP64()
		c.MOVQ(operand.U32(1), number)
		c.VPBROADCASTQ(number, one)
		c.Label("block")
		for k := range selectRows / 8 {
			x, inside, wanted, bits := c.ZMM(), c.K(), c.K(), c.GP32()
			c.VMOVUPD(at(z, 64*k), x)
			c.VCMPPD(operand.Imm(notAtMost), low, x, inside)
			c.VCMPPD(operand.Imm(notAtLeast), high, x, inside, wanted)
			above := c.K()
			c.VCMPPD(operand.Imm(atLeast), high, x, above)
			c.VPADDQ(one, top, above, top)
			c.VCOMPRESSPD_Z(x, wanted, x)
			c.VMOVUPD(x, out)
			c.KMOVW(wanted, bits)
			c.POPCNTL(bits, bits)
			c.ADDQ(bits.As64(), count)
		}
	} else {
		permutations := c.GP64()
		c.LEAQ(tables.permutations, permutations)
		c.Label("block")
		for k := range selectRows / 4 {
			x, inside, below, above, order, bits, entry := c.YMM(), c.YMM(), c.YMM(), c.YMM(), c.YMM(), c.GP32(), c.GP64()
			c.VMOVUPD(at(z, 32*k), x)
			c.VCMPPD(operand.Imm(notAtMost), low, x, inside)
			c.VCMPPD(operand.Imm(notAtLeast), high, x, below)
			c.VCMPPD(operand.Imm(atLeast), high, x, above)
			c.VPSUBQ(above, top, top)
			c.VANDPD(below, inside, inside)
			c.VMOVMSKPD(inside, bits)
			c.MOVL(bits, entry.As32())
			c.SHLQ(operand.Imm(4), entry)
			c.VMOVDQU(operand.Mem{Base: permutations, Index: entry, Scale: 2}, order)
			c.VPERMPS(x, order, x)
			c.VMOVUPD(x, out)
			c.POPCNTL(bits, bits)
			c.ADDQ(bits.As64(), count)
		}
	}
	c.add(8*selectRows, z)
	c.down(blocks, "block")
	if s.bytes == 32 {
		zero := c.YMM()
		c.zero(s, zero)
		c.VMOVDQU(zero, at(counts, 32))
	}
	c.storeIntegers(s, top, at(counts, 0))
	c.Store(count, c.ReturnIndex(0))
	c.finish()
}

// storeIntegers stores a vector of integers.
func (c code) storeIntegers(s shape, v reg.VecVirtual, to operand.Mem) {
	if s.bytes == 64 {
		c.VMOVDQU64(v, to)
		return
	}
	c.VMOVDQU(v, to)
}

// sumAbove keeps sixteen sums with what their roundings lost (Knuth's sum of two numbers). A score that is at most the
// level adds zero to both, which changes neither.
func sumAbove(c code, s shape) {
	c.function("sumAbove"+s.name, "(z *float64, blocks int, shift, level float64, lanes *float64) int",
		"adds the z-shift of blocks of 16 scores that are not at most level to 16 sums and, behind them, what their roundings lost, "+
			"and returns how many there are; blocks is positive.")
	r := c.arguments("z", "blocks", "lanes")
	z, blocks, lanes := r[0], r[1], r[2]
	shift, level := c.spread(s, "shift"), c.spread(s, "level")
	n := selectRows / s.doubles()
	high, lost := c.vectors(s, n), c.vectors(s, n)
	for k := range n {
		c.VMOVUPD(at(lanes, k*s.bytes), high[k])
		c.VMOVUPD(at(lanes, 8*selectRows+k*s.bytes), lost[k])
	}
	total := c.GP64()
	c.XORQ(total, total)
	count := c.vector(s)
	c.zero(s, count)
	c.Label("block")
	for k := range n {
		x, t, y := c.vector(s), c.vector(s), c.vector(s)
		c.VMOVUPD(at(z, k*s.bytes), x)
		c.VSUBPD(shift, x, x)
		if s.bytes == 64 {
			above, bits := c.K(), c.GP32()
			c.VCMPPD(operand.Imm(notAtMost), level, x, above)
			c.VMOVAPD_Z(x, above, x)
			c.KMOVW(above, bits)
			c.POPCNTL(bits, bits)
			c.ADDQ(bits.As64(), total)
		} else {
			c.VCMPPD(operand.Imm(notAtMost), level, x, t)
			c.VPSUBQ(t, count, count)
			c.VANDPD(t, x, x)
		}
		c.VADDPD(x, high[k], t) // t = high + x
		c.VSUBPD(high[k], t, y) // y = t - high, the part of x that arrived
		c.VSUBPD(y, x, x)       // x - y is lost of x,
		c.VSUBPD(y, t, y)
		c.VSUBPD(y, high[k], y) // high - (t - y) of high
		c.VADDPD(x, y, y)
		c.VADDPD(y, lost[k], lost[k])
		c.VMOVAPD(t, high[k])
	}
	c.add(8*selectRows, z)
	c.down(blocks, "block")
	for k := range n {
		c.VMOVUPD(high[k], at(lanes, k*s.bytes))
		c.VMOVUPD(lost[k], at(lanes, 8*selectRows+k*s.bytes))
	}
	if s.bytes == 32 {
		c.horizontal(count, total)
	}
	c.Store(total, c.ReturnIndex(0))
	c.finish()
}

// horizontal adds the four integers of a vector.
func (c code) horizontal(v reg.VecVirtual, total reg.Register) {
	upper, other := c.XMM(), c.XMM()
	c.VEXTRACTI128(operand.Imm(1), v, upper)
	c.VPADDQ(upper, v.AsX(), upper)
	c.VPSRLDQ(operand.Imm(8), upper, other)
	c.VPADDQ(other, upper, upper)
	c.VMOVQ(upper, total)
}

func rowsAbove(c code, s shape, tables compressTables) {
	c.function("rowsAbove"+s.name, "(z *float64, blocks int, shift, level float64, first int32, rows *int32) int",
		"appends the numbers, counted from first, of the scores of blocks of 16 whose z-shift is not at most level, "+
			"and returns how many there are; blocks is positive. Up to a vector behind the last entry is overwritten, never more than the rows of all take.")
	r := c.arguments("z", "blocks", "rows")
	z, blocks, rows := r[0], r[1], r[2]
	shift, level := c.spread(s, "shift"), c.spread(s, "level")
	row := c.Load(c.Param("first"), c.GP32())
	width, doubles := half, s.doubles()
	number, step := reg.VecVirtual(c.YMM()), reg.VecVirtual(c.YMM())
	if s.bytes == 32 {
		number, step = c.XMM(), c.XMM()
	}
	low, several := c.XMM(), c.GP32()
	c.VMOVD(row, low)
	c.VPBROADCASTD(low, number)
	c.VPADDD(tables.counting, number, number)
	c.MOVL(operand.U32(doubles), several)
	c.VMOVD(several, low)
	c.VPBROADCASTD(low, step)
	count := c.GP64()
	c.XORQ(count, count)
	out := operand.Mem{Base: rows, Index: count, Scale: 4}
	shuffles := c.GP64()
	if s.bytes == 32 {
		c.LEAQ(tables.shuffles, shuffles)
	}
	c.Label("block")
	for k := range selectRows / doubles {
		x, bits := c.vector(s), c.GP32()
		c.VMOVUPD(at(z, k*s.bytes), x)
		c.VSUBPD(shift, x, x)
		if s.bytes == 64 {
			above, wanted := c.K(), c.vector(width)
			c.VCMPPD(operand.Imm(notAtMost), level, x, above)
			c.VPCOMPRESSD_Z(number, above, wanted)
			c.VMOVDQU(wanted, out)
			c.KMOVW(above, bits)
		} else {
			wanted, entry := c.XMM(), c.GP64()
			c.VCMPPD(operand.Imm(notAtMost), level, x, x)
			c.VMOVMSKPD(x, bits)
			c.MOVL(bits, entry.As32())
			c.SHLQ(operand.Imm(4), entry)
			c.VPSHUFB(operand.Mem{Base: shuffles, Index: entry, Scale: 1}, number, wanted)
			c.VMOVDQU(wanted, out)
		}
		c.POPCNTL(bits, bits)
		c.ADDQ(bits.As64(), count)
		c.VPADDD(step, number, number)
	}
	c.add(8*selectRows, z)
	c.down(blocks, "block")
	c.Store(count, c.ReturnIndex(0))
	c.finish()
}
