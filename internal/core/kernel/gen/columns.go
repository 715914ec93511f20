package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
)

// columns emits the conversions and checks of columns before they become panels. AVX-512 gains nothing: it gathers no faster,
// and AVX2 already reads columns at the speed of memory.
func columns(c code) {
	extent(c)
	pick(c, 8)
	pick(c, 4)
	for _, size := range []int{1, 2, 4} {
		quotients(c, size, "whole")
		quotients(c, size, "quotients")
	}
	widen(c)
	standardise(c)
	wholeNumbers(c)
	for _, size := range []int{1, 2, 4} {
		narrow(c, size)
	}
}

func extent(c code) {
	c.function("extentAVX2", "(x *float64, vectors int, low, high *float64) (ordered bool)",
		"looks for smaller numbers than four at low and greater ones than four at high; it says whether none of x is NaN. "+
			"vectors of four is positive.")
	r := c.arguments("x", "vectors", "low", "high")
	low, high, strange := c.YMM(), c.YMM(), c.YMM()
	c.VMOVUPD(at(r[2], 0), low)
	c.VMOVUPD(at(r[3], 0), high)
	c.VXORPD(strange, strange, strange)
	c.Label("vector")
	x, unordered := c.YMM(), c.YMM()
	c.VMOVUPD(at(r[0], 0), x)
	c.VMINPD(x, low, low)
	c.VMAXPD(x, high, high)
	c.VCMPPD(operand.Imm(3), x, x, unordered)
	c.VORPD(unordered, strange, strange)
	c.add(32, r[0])
	c.down(r[1], "vector")
	c.VMOVUPD(low, at(r[2], 0))
	c.VMOVUPD(high, at(r[3], 0))
	c.VPTEST(strange, strange)
	ordered := c.GP8()
	c.SETEQ(ordered)
	c.Store(ordered, c.ReturnIndex(0))
	c.finish()
}

// pick gathers numbers by row, as float64 or float32. A finite number minus itself is +0, which has no bits set.
func pick(c code, size int) {
	c.function(label("pickFloat%dAVX2", 8*size),
		label("(x *float64, rows *int32, vectors int, dst *float%d) (finite bool)", 8*size),
		"does four numbers a vector; vectors is positive.")
	r := c.arguments("x", "rows", "vectors", "dst")
	strange := c.YMM()
	c.VXORPD(strange, strange, strange)
	c.Label("vector")
	rows, all, x := c.XMM(), c.YMM(), c.YMM()
	c.VMOVDQU(at(r[1], 0), rows)
	c.VPCMPEQD(all, all, all)
	c.VXORPD(x, x, x)
	c.VGATHERDPD(all, operand.Mem{Base: r[0], Index: rows, Scale: 8}, x)
	if size == 8 {
		c.VMOVUPD(x, at(r[3], 0))
		c.VSUBPD(x, x, x)
		c.VORPD(x, strange, strange)
	} else {
		single := c.XMM()
		c.VCVTPD2PSY(x, single)
		c.VMOVUPS(single, at(r[3], 0))
		c.VSUBPS(single, single, single)
		c.VORPS(single, strange.AsX(), strange.AsX())
	}
	c.add(16, r[1])
	c.add(4*size, r[3])
	c.down(r[2], "vector")
	c.VPTEST(strange, strange)
	finite := c.GP8()
	c.SETEQ(finite)
	c.Store(finite, c.ReturnIndex(0))
	c.finish()
}

// quotients emits the conversion of whole numbers of some bytes, undivided or divided.
func quotients(c code, size int, name string) {
	c.function(label("%s%dAVX2", name, 8*size), "(x *byte, vectors int, divisor float64, dst *float64)",
		"does four numbers a vector; vectors is positive.")
	r := c.arguments("x", "vectors", "dst")
	divisor, number, v := c.YMM(), c.XMM(), c.YMM()
	c.VBROADCASTSD(c.Load(c.Param("divisor"), c.XMM()), divisor)
	c.Label("vector")
	switch size {
	case 1:
		c.VPMOVSXBD(at(r[0], 0), number)
	case 2:
		c.VPMOVSXWD(at(r[0], 0), number)
	default:
		c.VMOVDQU(at(r[0], 0), number)
	}
	c.VCVTDQ2PD(number, v)
	if name == "quotients" {
		c.VDIVPD(divisor, v, v)
	}
	c.VMOVUPD(v, at(r[2], 0))
	c.add(4*size, r[0])
	c.add(32, r[2])
	c.down(r[1], "vector")
	c.finish()
}

// widen emits the conversion of float32 to float64.
func widen(c code) {
	c.function("widenAVX2", "(x *byte, vectors int, dst *float64)", "does four numbers a vector; vectors is positive.")
	r := c.arguments("x", "vectors", "dst")
	v := c.YMM()
	c.Label("vector")
	c.VCVTPS2PD(at(r[0], 0), v)
	c.VMOVUPD(v, at(r[2], 0))
	c.add(16, r[0])
	c.add(32, r[2])
	c.down(r[1], "vector")
	c.finish()
}

// standardise emits (x - shift) / scale in float64 for float32 numbers, rounded to float32 again. A finite number minus itself
// is +0, which has no bits set.
func standardise(c code) {
	c.function("standardiseAVX2", "(x *byte, vectors int, shift float64, scale float64, dst *float32) (finite bool)",
		"does eight numbers a vector; vectors is positive.")
	r := c.arguments("x", "vectors", "dst")
	shift, scale, strange := c.YMM(), c.YMM(), c.YMM()
	c.VBROADCASTSD(c.Load(c.Param("shift"), c.XMM()), shift)
	c.VBROADCASTSD(c.Load(c.Param("scale"), c.XMM()), scale)
	c.VXORPD(strange, strange, strange)
	c.Label("vector")
	for half := range 2 {
		v, single := c.YMM(), c.XMM()
		c.VCVTPS2PD(at(r[0], 16*half), v)
		c.VSUBPD(shift, v, v)
		c.VDIVPD(scale, v, v)
		c.VCVTPD2PSY(v, single)
		c.VMOVUPS(single, at(r[2], 16*half))
		c.VSUBPS(single, single, single)
		c.VORPS(single, strange.AsX(), strange.AsX())
	}
	c.add(32, r[0])
	c.add(32, r[2])
	c.down(r[1], "vector")
	c.VPTEST(strange, strange)
	finite := c.GP8()
	c.SETEQ(finite)
	c.Store(finite, c.ReturnIndex(0))
	c.finish()
}

// wholeNumbers emits the search for x = whole / power. A product outside int32 becomes the least int32, like NaN.
func wholeNumbers(c code) {
	c.function("wholeNumbersAVX2", "(x *float64, vectors int, power float64, whole *int32, largest *int32) (ok bool)",
		"does four numbers a vector; vectors is positive. It writes the largest magnitudes of four lanes.")
	none := c.StaticGlobal("noNumber")
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	c.AppendDatum(operand.U64(0x8000000080000000))
	c.AppendDatum(operand.U64(0x8000000080000000))
	r := c.arguments("x", "vectors", "whole", "largest")
	power, largest := c.YMM(), c.XMM()
	c.VBROADCASTSD(c.Load(c.Param("power"), c.XMM()), power)
	c.VPXOR(largest, largest, largest)
	result, bits := c.GP8(), c.GP32()
	c.XORB(result, result)
	c.Label("vector")
	x, product, strange, wide := c.YMM(), c.YMM(), c.YMM(), c.YMM()
	whole, least := c.XMM(), c.XMM()
	c.VMOVUPD(at(r[0], 0), x)
	c.VMULPD(power, x, product)
	c.VCVTPD2DQY(product, whole)
	c.VMOVDQU(whole, at(r[2], 0))
	c.VCVTDQ2PD(whole, product)
	c.VDIVPD(power, product, product)
	c.VPCMPEQQ(x, product, product)
	c.VPCMPEQD(none, whole, least)
	c.VPMOVSXDQ(least, wide)
	c.VPANDN(product, wide, product)
	c.VCMPPD(operand.Imm(3), x, x, strange)
	c.VPOR(strange, product, product)
	c.VMOVMSKPD(product, bits)
	c.CMPL(bits, operand.Imm(15))
	c.jump(c.JNE, "done")
	c.VPABSD(whole, whole)
	c.VPMAXSD(whole, largest, largest)
	c.add(32, r[0])
	c.add(16, r[2])
	c.down(r[1], "vector")
	c.VMOVDQU(largest, at(r[3], 0))
	c.MOVB(operand.U8(1), result)
	c.Label("done")
	c.Store(result, c.ReturnIndex(0))
	c.finish()
}

// narrow emits the conversion of whole numbers to few bytes.
func narrow(c code, size int) {
	c.function(label("narrow%dAVX2", 8*size), "(x *int32, vectors int, dst *byte)",
		"does eight numbers a vector; vectors is positive. What does not fit becomes the nearest number that does.")
	r := c.arguments("x", "vectors", "dst")
	c.Label("vector")
	low, high := c.XMM(), c.XMM()
	c.VMOVDQU(at(r[0], 0), low)
	c.VMOVDQU(at(r[0], 16), high)
	switch size {
	case 1:
		c.VPACKSSDW(high, low, low)
		c.VPACKSSWB(low, low, low)
		c.VMOVQ(low, at(r[2], 0))
	case 2:
		c.VPACKSSDW(high, low, low)
		c.VMOVDQU(low, at(r[2], 0))
	default:
		c.VMOVDQU(low, at(r[2], 0))
		c.VMOVDQU(high, at(r[2], 16))
	}
	c.add(32, r[0])
	c.add(8*size, r[2])
	c.down(r[1], "vector")
	c.finish()
}
