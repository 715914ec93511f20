package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// reduce emits the sums of the lanes of four features at a time. AVX2 suffices: it is a small part of the work.
func reduce(c code) {
	for _, size := range []int{8, 4} {
		name, signature := "reduceLanesAVX2", "(lanes *float64, sums *float64, fours int)"
		if size == 4 {
			name, signature = "reduceTileAVX2", "(lanes *float32, sums *float64, fours int)"
		}
		c.function(name, signature, "adds the lanes of four times fours features to sums and clears them; fours is positive.")
		r := c.arguments("lanes", "sums", "fours")
		lane, g, fours := r[0], r[1], r[2]
		zero := c.YMM()
		c.zero(avx2, zero)
		c.Label("four")
		c1, c0 := c.pairSum(size, lane, 1, 3), c.pairSum(size, lane, 0, 2)
		c.VHADDPD(c1, c0, c0)
		c.VADDPD(at(g, 0), c0, c0)
		c.VMOVUPD(c0, at(g, 0))
		for k := range 8 {
			c.VMOVUPD(zero, at(lane, 32*k))
		}
		c.add(256, lane)
		c.add(32, g)
		c.down(fours, "four")
		c.finish()
	}
}

// pairSum returns (a0+a2, a1+a3, b0+b2, b1+b3), where a and b are the folded lanes of two features.
func (c code) pairSum(size int, lane reg.Register, a, b int) reg.VecVirtual {
	va, vb := c.folded(size, lane, a), c.folded(size, lane, b)
	low := c.YMM()
	c.VPERM2F128(operand.Imm(0x20), vb, va, low)
	c.VPERM2F128(operand.Imm(0x31), vb, va, va)
	c.VADDPD(va, low, low)
	return low
}

// folded returns the four sums of lanes i and i+4 of a feature; sixteen float32 lanes are folded to eight first.
func (c code) folded(size int, lane reg.Register, feature int) reg.VecVirtual {
	const bytes = 64
	low, high := c.YMM(), c.YMM()
	if size == 8 {
		c.VMOVUPD(at(lane, feature*bytes), low)
		c.VADDPD(at(lane, feature*bytes+32), low, low)
		return low
	}
	c.VCVTPS2PD(at(lane, feature*bytes), low)
	c.VCVTPS2PD(at(lane, feature*bytes+32), high)
	c.VADDPD(high, low, low)
	other := c.YMM()
	c.VCVTPS2PD(at(lane, feature*bytes+16), other)
	c.VCVTPS2PD(at(lane, feature*bytes+48), high)
	c.VADDPD(high, other, other)
	c.VADDPD(other, low, low)
	return low
}
