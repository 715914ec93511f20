package main

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// decimals emits the reader of decimal numbers in text. A number fits into 16 bytes, so there is one width for all levels.
func decimals(c code) {
	c.function("decimalsAVX2", "(text *byte, at, limit int, stops int, dst *float64, stride, count int) (read, next int)",
		"reads numbers from text[at] on, as Decimals says, while they begin at limit or before; count is positive. stops "+
			"holds the two stops in its lowest bytes, stride is in bytes.")
	r := c.arguments("text", "at", "limit", "stops", "dst", "stride", "count")
	d := decimalsCode{code: c, tables: newDecimalTables(c), text: r[0], at: r[1], stop: r[3], dst: r[4], stride: r[5], left: r[6]}
	d.read, d.begin, d.end, d.minus = c.GP64(), c.GP64(), c.GP64(), c.GP64()
	d.emit(r[2])
}

type decimalsCode struct {
	code
	tables                      decimalTables
	text, at, stop              reg.Register
	dst, stride, left           reg.Register
	read, begin, end, minus     reg.GPVirtual
	zeros, nines                reg.VecVirtual
	shuffles, powers, character reg.GPVirtual
}

func (d decimalsCode) emit(limit reg.Register) {
	d.zeros, d.nines = d.XMM(), d.XMM()
	d.VMOVDQU(d.tables.zeros, d.zeros)
	d.VMOVDQU(d.tables.nines, d.nines)
	d.shuffles, d.powers, d.character = d.GP64(), d.GP64(), d.GP64()
	d.LEAQ(d.tables.shuffles, d.shuffles)
	d.LEAQ(d.tables.powers, d.powers)
	d.XORQ(d.read, d.read)

	d.Label("number")
	d.CMPQ(d.at, limit)
	d.jump(d.JGT, "done")
	d.LEAQ(operand.Mem{Base: d.text, Index: d.at, Scale: 1}, d.begin)
	d.MOVBLZX(at(d.begin, 0), d.character.As32())
	d.short()
	d.XORQ(d.minus, d.minus)
	d.CMPB(d.character.As8(), operand.U8('-'))
	d.SETEQ(d.minus.As8())
	d.ADDQ(d.minus, d.begin)

	digits, mask := d.XMM(), d.XMM()
	whole, others := d.GP64(), d.GP32()
	d.VMOVDQU(at(d.begin, 0), digits)
	d.VPSUBB(d.zeros, digits, digits)
	d.VPMINUB(d.nines, digits, mask)
	d.VPCMPEQB(mask, digits, mask)
	d.VPMOVMSKB(mask, others)
	d.NOTL(others)
	d.TZCNTL(others, whole.As32())
	d.TESTL(whole.As32(), whole.As32())
	d.jump(d.JZ, "done")
	d.CMPB(operand.Mem{Base: d.begin, Index: whole, Scale: 1}, operand.U8('.'))
	d.jump(d.JEQ, "point")

	control := d.XMM()
	d.VMOVDQU(operand.Mem{Base: d.shuffles, Index: whole, Scale: 1}, control)
	d.VPSHUFB(control, digits, digits)
	d.ADDQ(whole, d.begin)
	d.ends()
	number := d.mantissa(digits)
	result := d.XMM()
	d.VXORPD(result, result, result)
	d.VCVTSI2SDQ(number, result, result)
	d.store(result)
	d.jump(d.JMP, "next")

	// Digits behind the point go to the end of the 16 bytes, those before it one place farther than they would with it.
	d.Label("point")
	d.CMPB(d.stop.(reg.GPVirtual).As8(), operand.U8(':'))
	d.jump(d.JEQ, "done")
	length, before, behind := d.GP64(), d.XMM(), d.XMM()
	d.BLSRL(others, others)
	d.TZCNTL(others, length.As32())
	d.CMPL(length.As32(), operand.Imm(16))
	d.jump(d.JGT, "done")
	d.VMOVDQU(operand.Mem{Base: d.shuffles, Index: length, Scale: 1}, behind)
	d.VMOVDQU(operand.Mem{Base: d.shuffles, Disp: -1, Index: length, Scale: 1}, before)
	d.ADDQ(length, d.begin)
	d.SUBQ(whole, length)
	d.SUBQ(operand.Imm(1), length)
	sides := d.XMM()
	d.VMOVDQU(operand.Mem{Base: d.shuffles, Disp: sidesTable, Index: length, Scale: 1}, sides)
	d.VPBLENDVB(sides, behind, before, before)
	d.VPSHUFB(before, digits, digits)
	d.ends()
	number = d.mantissa(digits)
	d.VXORPD(result, result, result)
	d.VCVTSI2SDQ(number, result, result)
	d.VDIVSD(operand.Mem{Base: d.powers, Index: length, Scale: 8}, result, result)
	d.store(result)

	d.Label("next")
	d.SUBQ(d.text, d.begin)
	d.LEAQ(at(d.begin, 1), d.at)
	d.Label("counted")
	d.RORW(operand.Imm(8), d.stop.(reg.GPVirtual).As16())
	d.INCQ(d.read)
	d.ADDQ(d.stride, d.dst)
	d.down(d.left, "number")
	d.Label("done")
	d.Store(d.read, d.ReturnIndex(0))
	d.Store(d.at, d.ReturnIndex(1))
	d.RET()
}

// short takes a single digit, which many columns are full of.
func (d decimalsCode) short() {
	digit, result := d.GP64(), d.XMM()
	d.CMPB(at(d.begin, 1), d.stop.(reg.GPVirtual).As8())
	d.jump(d.JNE, "long")
	d.MOVL(d.character.As32(), digit.As32())
	d.SUBL(operand.Imm('0'), digit.As32())
	d.CMPL(digit.As32(), operand.Imm(9))
	d.jump(d.JHI, "done")
	d.VXORPD(result, result, result)
	d.VCVTSI2SDQ(digit, result, result)
	d.VMOVSD(result, at(d.dst, 0))
	d.ADDQ(operand.Imm(2), d.at)
	d.jump(d.JMP, "counted")
	d.Label("long")
}

// ends gives up where begin, now behind the number, is no stop.
func (d decimalsCode) ends() {
	d.CMPB(at(d.begin, 0), d.stop.(reg.GPVirtual).As8())
	d.jump(d.JNE, "done")
}

// mantissa is the number that 16 digits make: pairs, fours, eights, all. It gives up where float64 may not have it.
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
	d.SHLQ(operand.Imm(63), d.minus)
	d.VMOVQ(d.minus, sign)
	d.VORPD(sign, number, number)
	d.VMOVSD(number, at(d.dst, 0))
}

// decimalTables lie in the read-only data. From byte n on, shuffles holds the control that moves the first n bytes of 16
// to the end, behind zeros; from byte sidesTable + n on, a mask of the last n bytes.
type decimalTables struct{ zeros, nines, tens, hundreds, tenThousands, shuffles, powers operand.Mem }

const sidesTable = 32

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
		zeros:        repeated("decimalZeros", operand.U64(0x3030303030303030), 2),
		nines:        repeated("decimalNines", operand.U64(0x0909090909090909), 2),
		tens:         repeated("decimalTens", operand.U16(1<<8|10), 8),
		hundreds:     repeated("decimalHundreds", operand.U32(1<<16|100), 4),
		tenThousands: repeated("decimalTenThousands", operand.U32(1<<16|10_000), 4),
	}
	t.shuffles = c.StaticGlobal("decimalShuffles")
	c.DataAttributes(readOnly)
	for i := range 32 {
		datum := operand.U8(0x80)
		if i >= 16 {
			datum = operand.U8(i - 16)
		}
		c.AppendDatum(datum)
	}
	for i := range 32 {
		datum := operand.U8(0)
		if i >= 16 {
			datum = operand.U8(0xff)
		}
		c.AppendDatum(datum)
	}
	t.powers = c.StaticGlobal("decimalPowers")
	c.DataAttributes(readOnly)
	power := 1.0
	for range 17 {
		c.AppendDatum(operand.U64(math.Float64bits(power)))
		power *= 10
	}
	return t
}
