package main

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
)

// standardise emits (x - shift) / scale, and whether all of the results are far enough from the ends of float32.
func standardise(c code) {
	const readOnly = attr.RODATA | attr.NOPTR
	limit := c.StaticGlobal("standardiseLimit")
	c.DataAttributes(readOnly)
	c.AppendDatum(operand.U64(math.Float64bits(beyondFloat32)))
	magnitude := c.StaticGlobal("standardiseMagnitude")
	c.DataAttributes(readOnly)
	c.AppendDatum(operand.U64(1<<63 - 1))
	for _, s := range []shape{avx2, avx512} {
		c.function("standardise"+s.name, "(x, dst *float64, vectors int, shift, scale float64) (inside bool)",
			label("does %d numbers a vector; vectors is positive.", s.doubles()))
		r := c.arguments("x", "dst", "vectors")
		shift, scale, most, sign := c.vector(s), c.vector(s), c.vector(s), c.vector(s)
		c.VBROADCASTSD(c.Load(c.Param("shift"), c.XMM()), shift)
		c.VBROADCASTSD(c.Load(c.Param("scale"), c.XMM()), scale)
		c.VBROADCASTSD(limit, most)
		c.VBROADCASTSD(magnitude, sign)
		outside := c.GP32()
		c.XORL(outside, outside)
		c.Label("vector")
		v, bits := c.vector(s), c.GP32()
		c.VMOVUPD(at(r[0], 0), v)
		c.VSUBPD(shift, v, v)
		c.VDIVPD(scale, v, v)
		c.VMOVUPD(v, at(r[1], 0))
		if s.bytes == 64 {
			k := c.K()
			c.VPANDQ(sign, v, v)
			c.VCMPPD(operand.Imm(notLessThan), most, v, k)
			c.KMOVW(k, bits)
		} else {
			c.VANDPD(sign, v, v)
			c.VCMPPD(operand.Imm(notLessThan), most, v, v)
			c.VMOVMSKPD(v, bits)
		}
		c.ORL(bits, outside)
		c.add(s.bytes, r[0])
		c.add(s.bytes, r[1])
		c.down(r[2], "vector")
		c.TESTL(outside, outside)
		inside := c.GP8()
		c.SETEQ(inside)
		c.Store(inside, c.ReturnIndex(0))
		c.finish()
	}
}

// notLessThan is true for NaN and raises no exception.
const notLessThan = 0x15

// beyondFloat32 is the least number that rounds to an infinite float32.
const beyondFloat32 = 0x1.ffffffp127
