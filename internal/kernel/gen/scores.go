package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// panelRows is kernel.PanelRows.
const panelRows = 64

// scores emits the exact scores of consecutive panels, for both storages and all shapes.
func scores(c code) {
	for _, size := range []int{4, 8} {
		for _, s := range []shape{avx2, avx512} {
			exactScores(c, s, size)
			scoreTurns(c, s, size)
		}
	}
}

// exactScores keeps one sum a row in registers for all 64 rows. The sixteen registers of AVX2 do not hold them: there
// the last sixteen rows' sums stay in z, so that the panel is still read once, in order.
func exactScores(c code, s shape, size int) {
	c.function(fmt.Sprintf("scoresFloat%d%s", 8*size, s.name),
		fmt.Sprintf("(x *float%d, w *float64, z *float64, d int, panels int, add int)", 8*size),
		"computes the scores of consecutive panels; d and panels are positive. Without add, z is overwritten.")
	r := c.arguments("x", "w", "z", "d", "panels", "add")
	x, w, z, d, panels, add := r[0], r[1], r[2], r[3], r[4], r[5]
	c.Label("panel")
	weight, j := c.GP64(), c.GP64()
	c.MOVQ(w, weight)
	c.MOVQ(d, j)
	c.panelScores(s, size, x, weight, z, j, add)
	c.add(panelRows*8, z)
	c.down(panels, "panel")
	c.finish()
}

// scoreTurns emits the scores of one panel of each of several streams, a page of each in turn.
func scoreTurns(c code, s shape, size int) {
	c.function(fmt.Sprintf("scoreTurnsFloat%d%s", 8*size, s.name),
		"(turns *uintptr, streams int, w *float64, d int, turn int, add int)",
		"computes the scores of one panel of each stream; streams and d are positive. Without add, z is "+
			"overwritten. A turn is a positive number of features.")
	r := c.arguments("turns", "streams", "w", "d", "turn", "add")
	turns, streams, w, left, features, add := r[0], r[1], r[2], r[3], r[4], r[5]
	offset := c.GP64()
	c.XORQ(offset, offset)
	c.Label("turn")
	turn, stream := c.GP64(), c.GP64()
	c.MOVQ(turns, turn)
	c.MOVQ(streams, stream)
	c.Label("stream")
	x, z, weight, j := c.GP64(), c.GP64(), c.GP64(), c.GP64()
	c.MOVQ(at(turn, 0), x)
	c.MOVQ(at(turn, 8), z)
	c.ADDQ(offset, x)
	c.MOVQ(w, weight)
	c.MOVQ(features, j)
	c.CMPQ(left, j)
	c.CMOVQLT(left, j)
	c.panelScores(s, size, x, weight, z, j, add)
	c.add(16, turn)
	c.down(stream, "stream")
	c.MOVQ(operand.U32(1), add)
	c.advance(size, features, offset)
	c.LEAQ(operand.Mem{Base: w, Index: features, Scale: 8}, w)
	c.SUBQ(features, left)
	c.jump(c.JG, "turn")
	c.finish()
}

// advance adds the bytes of some features of a panel to an offset.
func (c code) advance(size int, features, offset reg.Register) {
	bytes := c.GP64()
	c.IMUL3Q(operand.U32(panelRows*size), features, bytes)
	c.ADDQ(bytes, offset)
}

// panelScores emits the scores of 64 rows under j features; x, weight and j are used up.
func (c code) panelScores(s shape, size int, x, weight, z, j, add reg.Register) {
	vectors := panelRows / s.doubles()
	inRegisters := min(vectors, s.registers-4)
	sum := c.vectors(s, inRegisters)
	c.TESTQ(add, add)
	c.jump(c.JNZ, "load")
	for _, v := range sum {
		c.zero(s, v)
	}
	for k := inRegisters; k < vectors; k++ {
		c.VMOVUPD(sum[0], at(z, k*s.bytes))
	}
	c.jump(c.JMP, "feature")
	c.Label("load")
	for k, v := range sum {
		c.VMOVUPD(at(z, k*s.bytes), v)
	}

	c.Label("feature")
	wj := c.vector(s)
	c.VBROADCASTSD(at(weight, 0), wj)
	for k := range vectors {
		product := c.product(s, size, at(x, k*s.doubles()*size), wj)
		if k < inRegisters {
			c.VADDPD(product, sum[k], sum[k])
			continue
		}
		c.VADDPD(at(z, k*s.bytes), product, product)
		c.VMOVUPD(product, at(z, k*s.bytes))
	}
	c.add(panelRows*size, x)
	c.add(8, weight)
	c.down(j, "feature")

	for k, v := range sum {
		c.VMOVUPD(v, at(z, k*s.bytes))
	}
}

// product returns a register with the rounded products of stored values and float64 factors.
func (c code) product(s shape, size int, x operand.Mem, factor operand.Op) reg.VecVirtual {
	p := c.vector(s)
	if size == 8 {
		c.VMULPD(x, factor, p)
		return p
	}
	c.VCVTPS2PD(x, p)
	c.VMULPD(factor, p, p)
	return p
}
