package main

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// decimals emits the reader of decimal numbers in text. A number fits into 16 bytes, so there is one width for all levels.
func decimals(c code) {
	c.function("decimalsAVX2", "(text, limit *byte, stops int, dst *float64, stride, count int) (left int, next *byte)",
		"reads numbers from text on, as Decimals says, while they begin at limit or before; count is positive. stops holds "+
			"the two stops in its lowest bytes, stride is in bytes. left are the numbers that it has not read.")
	r := c.arguments("text", "stops", "dst", "stride", "count")
	limit, err := c.Param("limit").Resolve()
	if err != nil {
		panic(err)
	}
	d := decimalsCode{code: c, tables: newDecimalTables(c), base: r[0], limit: limit.Addr,
		stop: r[1].(reg.GPVirtual).As8(), dst: r[2], stride: r[3], left: r[4]}
	d.others, d.minus, d.from, d.sign, d.end = c.GP64(), c.GP64(), c.GP64(), c.GP64(), c.GP64()
	d.table = c.GP64()
	c.LEAQ(d.tables.all, d.table)
	d.emit()
	c.Label("done")
	c.ADDQ(d.from, d.base)
	c.Store(d.left, c.ReturnIndex(0))
	c.Store(d.base, c.ReturnIndex(1))
	c.finish()
}

// decimalsCode examines 64 bytes of text at a time, those from base on. The mask others has a bit for each byte that is neither
// a digit nor a minus, the mask minus a bit for each minus. Finding numbers by these bits takes less time than measuring each
// number before the next one can be found. Bits of numbers that have been read are cleared; from is the start of the next
// number.
type decimalsCode struct {
	code
	tables            decimalTables
	table             reg.Register
	limit             operand.Mem
	base              reg.Register
	others, minus     reg.GPVirtual
	from, sign, end   reg.GPVirtual
	stop              reg.Register
	dst, stride, left reg.Register
}

func (d decimalsCode) emit() {
	d.XORQ(d.from, d.from)
	d.Label("look")
	d.ADDQ(d.from, d.base)
	d.XORQ(d.from, d.from)
	d.CMPQ(d.base, d.limit)
	d.jump(d.JHI, "done")
	d.look()
	d.TESTQ(d.others, d.others)
	d.jump(d.JZ, "done")

	d.Label("number")
	start, whole := d.GP64(), d.GP64()
	d.LEAQ(operand.Mem{Base: d.base, Index: d.from, Scale: 1}, start)
	d.CMPQ(start, d.limit)
	d.jump(d.JHI, "done")
	d.TZCNTQ(d.others, whole)
	d.jump(d.JCS, "look") // nothing is in sight any more
	d.CMPB(operand.Mem{Base: d.base, Index: whole, Scale: 1}, operand.U8('.'))
	d.jump(d.JEQ, "point")

	d.CMPB(operand.Mem{Base: d.base, Index: whole, Scale: 1}, d.stop)
	d.jump(d.JNE, "done")
	d.MOVQ(whole, d.end)
	d.SUBQ(d.from, whole)
	d.CMPQ(whole, operand.Imm(1))
	d.jump(d.JEQ, "digit")
	d.takeSign(start, whole)
	d.CMPQ(whole, operand.Imm(16))
	d.jump(d.JHI, "done")
	digits, control := d.XMM(), d.XMM()
	d.VMOVDQU(at(start, 0), digits)
	d.VPSUBB(d.tables.zeros, digits, digits)
	d.VMOVDQU(operand.Mem{Base: d.table, Index: whole, Scale: 1}, control)
	d.VPSHUFB(control, digits, digits)
	number := d.mantissa(digits)
	result := d.XMM()
	d.VXORPD(result, result, result)
	d.VCVTSI2SDQ(number, result, result)
	d.store(result)
	d.jump(d.JMP, "next")

	// A single digit, which is common in many columns.
	d.Label("digit")
	d.MOVBLZX(at(start, 0), start.As32())
	d.SUBL(operand.Imm('0'), start.As32())
	d.CMPL(start.As32(), operand.Imm(9))
	d.jump(d.JHI, "done")
	d.VXORPD(result, result, result)
	d.VCVTSI2SDQ(start, result, result)
	d.VMOVSD(result, at(d.dst, 0))
	d.jump(d.JMP, "next")

	// Digits after the point move to the end of the 16 bytes, those before it one position further than with the point.
	d.Label("point")
	d.CMPB(d.stop, operand.U8(':'))
	d.jump(d.JEQ, "done")
	rest, length := d.GP64(), d.GP64()
	d.BLSRQ(d.others, rest)
	d.TZCNTQ(rest, d.end)
	d.jump(d.JCS, "far")
	d.CMPB(operand.Mem{Base: d.base, Index: d.end, Scale: 1}, d.stop)
	d.jump(d.JNE, "done")
	d.MOVQ(rest, d.others)
	d.SUBQ(d.from, whole)
	d.MOVQ(d.end, length)
	d.SUBQ(d.from, length)
	d.takeSign(start, whole, length)
	d.CMPQ(length, operand.Imm(16))
	d.jump(d.JHI, "done")
	before, behind := d.XMM(), d.XMM()
	d.VMOVDQU(at(start, 0), digits)
	d.VPSUBB(d.tables.zeros, digits, digits)
	d.VMOVDQU(operand.Mem{Base: d.table, Index: length, Scale: 1}, behind)
	d.VMOVDQU(operand.Mem{Base: d.table, Disp: -1, Index: length, Scale: 1}, before)
	d.SUBQ(whole, length)
	sides := d.XMM()
	d.VMOVDQU(operand.Mem{Base: d.table, Disp: sidesTable - 1, Index: length, Scale: 1}, sides)
	d.VPBLENDVB(sides, behind, before, before)
	d.VPSHUFB(before, digits, digits)
	number = d.mantissa(digits)
	d.VXORPD(result, result, result)
	d.VCVTSI2SDQ(number, result, result)
	d.VDIVSD(operand.Mem{Base: d.table, Disp: powersTable - 8, Index: length, Scale: 8}, result, result)
	d.store(result)

	d.Label("next")
	d.BLSRQ(d.others, d.others)
	d.LEAQ(at(d.end, 1), d.from)
	d.RORW(operand.Imm(8), d.stop.(reg.GP).As16())
	d.ADDQ(d.stride, d.dst)
	d.down(d.left, "number")
	d.jump(d.JMP, "done")

	// The end of the number is beyond the 64 bytes.
	d.Label("far")
	d.TESTQ(d.from, d.from)
	d.jump(d.JNZ, "look")
	d.jump(d.JMP, "done")
}

// look loads the next 64 bytes.
func (d decimalsCode) look() {
	zeros, nines, minus := d.YMM(), d.YMM(), d.YMM()
	d.VMOVDQU(d.tables.zeros, zeros)
	d.VMOVDQU(d.tables.nines, nines)
	d.VMOVDQU(d.tables.minuses, minus)
	for k, masks := range [][2]reg.GPVirtual{{d.others, d.minus}, {d.GP64(), d.GP64()}} {
		x, y := d.YMM(), d.YMM()
		d.VMOVDQU(at(d.base, 32*k), x)
		d.VPCMPEQB(minus, x, y)
		d.VPMOVMSKB(y, masks[1].As32())
		d.VPSUBB(zeros, x, x)
		d.VPMINUB(nines, x, y)
		d.VPCMPEQB(y, x, x)
		d.VPMOVMSKB(x, masks[0].As32())
		d.ORL(masks[1].As32(), masks[0].As32())
		d.NOTL(masks[0].As32())
		if k == 1 {
			d.SHLQ(operand.Imm(32), masks[0])
			d.SHLQ(operand.Imm(32), masks[1])
			d.ORQ(masks[0], d.others)
			d.ORQ(masks[1], d.minus)
		}
	}
}

// takeSign moves start past a minus and shortens lengths, the first of which must remain positive. It ends the loop where a
// minus is not the first byte.
func (d decimalsCode) takeSign(start reg.Register, lengths ...reg.Register) {
	d.SHRXQ(d.from, d.minus, d.sign)
	d.BZHIQ(lengths[len(lengths)-1], d.sign, d.sign)
	d.CMPQ(d.sign, operand.Imm(1))
	d.jump(d.JHI, "done")
	d.ADDQ(d.sign, start)
	for _, n := range lengths[1:] {
		d.SUBQ(d.sign, n)
	}
	d.SUBQ(d.sign, lengths[0])
	d.jump(d.JLE, "done")
}

// mantissa returns the number of 16 digits: pairs, fours, eights, all. It ends the loop where float64 may not hold the number.
func (d decimalsCode) mantissa(digits reg.VecVirtual) reg.GPVirtual {
	high, low := d.GP64(), d.GP64()
	d.VPMADDUBSW(d.tables.tens, digits, digits)
	d.VPMADDWD(d.tables.hundreds, digits, digits)
	d.VPACKUSDW(digits, digits, digits)
	d.VPMADDWD(d.tables.tenThousands, digits, digits)
	d.VMOVQ(digits, low)
	d.MOVL(low.As32(), high.As32())
	d.SHRQ(operand.Imm(32), low)
	d.IMUL3Q(operand.U32(100_000_000), high, high)
	d.ADDQ(high, low)
	most := d.GP64()
	d.MOVQ(operand.U64(1<<53), most)
	d.CMPQ(low, most)
	d.jump(d.JHI, "done")
	return low
}

// store writes a number with its sign.
func (d decimalsCode) store(number reg.VecVirtual) {
	sign := d.XMM()
	d.SHLQ(operand.Imm(63), d.sign)
	d.VMOVQ(d.sign, sign)
	d.VORPD(sign, number, number)
	d.VMOVSD(number, at(d.dst, 0))
}

// decimalTables are in read-only data. From byte n on, all contains the control that moves the first n bytes of 16 to the end,
// after zeros; from byte sidesTable + n on, a mask of the last n bytes; from powersTable on, powers of ten.
type decimalTables struct{ zeros, nines, minuses, tens, hundreds, tenThousands, all operand.Mem }

const sidesTable, powersTable = 32, 64

func newDecimalTables(c code) decimalTables {
	const readOnly = attr.RODATA | attr.NOPTR
	repeated := func(name string, datum operand.Constant, times int) operand.Mem {
		m := c.StaticGlobal(name)
		c.DataAttributes(readOnly)
		for range times {
			c.AppendDatum(datum)
		}
		return m
	}
	t := decimalTables{
		zeros:        repeated("decimalZeros", operand.U64(0x3030303030303030), 4),
		nines:        repeated("decimalNines", operand.U64(0x0909090909090909), 4),
		minuses:      repeated("decimalMinuses", operand.U64(0x2d2d2d2d2d2d2d2d), 4),
		tens:         repeated("decimalTens", operand.U16(1<<8|10), 8),
		hundreds:     repeated("decimalHundreds", operand.U32(1<<16|100), 4),
		tenThousands: repeated("decimalTenThousands", operand.U32(1<<16|10_000), 4),
	}
	t.all = c.StaticGlobal("decimalTables")
	c.DataAttributes(readOnly)
	for i := range sidesTable {
		c.AppendDatum(operand.U8([]int{0x80, i - 16}[i/16]))
	}
	for i := range powersTable - sidesTable {
		c.AppendDatum(operand.U8([]int{0, 0xff}[i/16]))
	}
	power := 1.0
	for range 16 {
		c.AppendDatum(operand.U64(math.Float64bits(power)))
		power *= 10
	}
	return t
}
