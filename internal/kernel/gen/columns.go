package main

import (
	"github.com/mmcloughlin/avo/operand"
)

// columns emits what columns of numbers are asked before they become panels. A processor with AVX-512 has nothing to win:
// it gathers no faster, and reads columns as fast as memory delivers them.
func columns(c code) {
	extent(c)
	pick(c, 8)
	pick(c, 4)
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

// pick takes numbers by their places, as they are or as float32. A finite number less itself is +0, which has no bits.
func pick(c code, size int) {
	c.function(label("pickFloat%dAVX2", 8*size), label("(x *float64, rows *int32, vectors int, dst *float%d) (finite bool)", 8*size),
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
