package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// hinge emits the conversion of scores to coefficients for the hinge.
func hinge(c code) {
	for _, s := range []shape{avx2, avx512} {
		hingePanels(c, s)
	}
}

// hingePanels keeps the sixteen lanes in registers. Rows are selected in float32, by comparing a score with the shift rounded
// up; the sums are formed from the scores in float64.
func hingePanels(c code, s shape) {
	c.function("hinge"+s.name,
		"(z *float32, stride int, panels int, flip float32, bound float32, sign float64, shift float64, v float32, "+
			"lanes *float64) int",
		"turns the scores of panels that are stride bytes apart into v or 0, adds shift + sign z of the rows where it is "+
			"positive to lanes, and returns their number. flip is the bits to change in a score that is to lie below bound; "+
			"panels is positive.")
	r := c.arguments("z", "stride", "panels")
	z, stride, panels := r[0], r[1], r[2]
	flip, bound, v := c.broadcast(s, "flip", 4), c.broadcast(s, "bound", 4), c.broadcast(s, "v", 4)
	sign, shift, none := c.broadcast(s, "sign", 8), c.broadcast(s, "shift", 8), c.vector(s)
	c.zero(s, none)
	lanes := c.Load(c.Param("lanes"), c.GP64())
	sums := c.vectors(s, tileLanes/s.doubles())
	for k, sum := range sums {
		c.VMOVUPD(at(lanes, k*s.bytes), sum)
	}
	count := c.GP64()
	c.XORQ(count, count)
	c.Label("panel")
	for row := 0; row < panelRows; row += s.singles() {
		for half := range 2 {
			first := row + half*s.doubles()
			u := c.vector(s)
			c.VCVTPS2PD(at(z, 4*first), u)
			c.VFMADD213PD(shift, sign, u)
			c.VMAXPD(none, u, u) // none where u is not a number
			sum := sums[first%tileLanes/s.doubles()]
			c.VADDPD(u, sum, sum)
		}
		y, bits := c.vector(s), c.GP32()
		c.VXORPS(at(z, 4*row), flip, y)
		if s.bytes == 64 {
			mask := c.K()
			c.VCMPPS(operand.Imm(lessThan), bound, y, mask)
			c.VMOVAPS_Z(v, mask, y)
			c.KMOVW(mask, bits)
		} else {
			c.VCMPPS(operand.Imm(lessThan), bound, y, y)
			c.VMOVMSKPS(y, bits)
			c.VANDPS(y, v, y)
		}
		c.VMOVUPS(y, at(z, 4*row))
		c.POPCNTL(bits, bits)
		c.ADDQ(bits.As64(), count)
	}
	c.ADDQ(stride, z)
	c.down(panels, "panel")
	for k, sum := range sums {
		c.VMOVUPD(sum, at(lanes, k*s.bytes))
	}
	c.Store(count, c.ReturnIndex(0))
	c.finish()
}

// broadcast fills a vector with an argument of 4 or 8 bytes.
func (c code) broadcast(s shape, name string, size int) reg.VecVirtual {
	low, all := c.Load(c.Param(name), c.XMM()), c.vector(s)
	if size == 8 {
		c.VBROADCASTSD(low, all)
	} else {
		c.VBROADCASTSS(low, all)
	}
	return all
}
