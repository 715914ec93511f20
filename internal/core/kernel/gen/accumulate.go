package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lanes is kernel.Lanes. An octet of rows adds to all eight lanes at once.
const lanes = 8

// denseFrom is the number of active octets of a panel from which all eight are added in one sweep.
const denseFrom = 5

// accumulate emits the exact gradient of consecutive panels.
func accumulate(c code) {
	octets(c)
	for _, size := range []int{4, 8} {
		for _, s := range []shape{avx2, avx512} {
			exactGradient(c, s, size)
			gradientTurns(c, s, size)
		}
	}
}

// exactGradient skips a panel whose v is all zero, reads a panel with many active octets once, and other panels once for each
// active octet. Skipping zeros changes no bit: a lane is never -0, and adding a zero does not change it.
func exactGradient(c code, s shape, size int) {
	c.function(fmt.Sprintf("accumulateFloat%d%s", 8*size, s.name),
		fmt.Sprintf("(x *float%d, v *float64, lanes *float64, d int, panels int)", 8*size),
		"adds consecutive panels' parts of X'v to lanes; d and panels are positive.")
	r := c.arguments("x", "v", "lanes", "d", "panels")
	g := gradient{code: c, shape: s, size: size, x: r[0], v: r[1], lanes: r[2], d: r[3]}
	panels := r[4]
	stride := c.GP64()
	c.IMUL3Q(operand.U32(panelRows*size), g.d, stride)

	c.Label("panel")
	c.anyNonZero(s, g.v)
	c.jump(c.JZ, "next")
	octets, count := g.activeOctets()
	c.CMPQ(count, operand.Imm(denseFrom))
	c.jump(c.JLT, "sparse")
	g.dense()
	c.jump(c.JMP, "next")
	c.Label("sparse")
	g.sparse(octets)

	c.Label("next")
	c.ADDQ(stride, g.x)
	c.add(panelRows*8, g.v)
	c.down(panels, "panel")
	c.finish()
}

// octets emits the mask of a panel's active octets.
func octets(c code) {
	c.function("octetsAVX2", "(v *float64) int", "returns a bit for each eight of 64 values that are not all zero.")
	g := gradient{code: c, shape: avx2, v: c.arguments("v")[0]}
	mask, _ := g.activeOctets()
	c.Store(mask, c.ReturnIndex(0))
	c.finish()
}

// gradientTurns emits the gradient of one panel of each of several streams, a page of each in turn.
func gradientTurns(c code, s shape, size int) {
	c.function(fmt.Sprintf("accumulateTurnsFloat%d%s", 8*size, s.name),
		"(turns *uintptr, streams int, d int, turn int)",
		"adds one panel's part of X'v for each stream to its lanes, stream after stream; streams and d are positive. "+
			"A turn is a positive number of features.")
	r := c.arguments("turns", "streams", "d", "turn")
	turns, streams, left, features := r[0], r[1], r[2], r[3]
	offset, laneOffset := c.GP64(), c.GP64()
	c.XORQ(offset, offset)
	c.XORQ(laneOffset, laneOffset)
	c.Label("turn")
	turn, stream := c.GP64(), c.GP64()
	c.MOVQ(turns, turn)
	c.MOVQ(streams, stream)
	c.Label("stream")
	g := gradient{code: c, shape: s, size: size, x: c.GP64(), v: c.GP64(), lanes: c.GP64(), d: c.GP64()}
	c.MOVQ(at(turn, 0), g.x)
	c.MOVQ(at(turn, 8), g.v)
	c.MOVQ(at(turn, 16), g.lanes)
	c.ADDQ(offset, g.x)
	c.ADDQ(laneOffset, g.lanes)
	c.MOVQ(features, g.d)
	c.CMPQ(left, g.d)
	c.CMOVQLT(left, g.d)
	g.dense()
	c.add(24, turn)
	c.down(stream, "stream")
	c.advance(size, features, offset)
	c.advance(lanes*8/panelRows, features, laneOffset)
	c.SUBQ(features, left)
	c.jump(c.JG, "turn")
	c.finish()
}

// anyNonZero sets the zero flag when the 64 doubles at v are all zero, of either sign.
func (c code) anyNonZero(s shape, v reg.Register) {
	any := c.YMM()
	c.VMOVUPD(at(v, 0), any)
	for k := 1; k < panelRows/4; k++ {
		c.VORPD(at(v, 32*k), any, any)
	}
	c.withoutSign(any)
	c.VPTEST(any, any)
}

// withoutSign shifts the sign bits of the doubles out.
func (c code) withoutSign(v reg.Register) { c.VPSLLQ(operand.Imm(1), v, v) }

type gradient struct {
	code
	shape          shape
	size           int
	x, v, lanes, d reg.Register
}

// activeOctets returns a mask of the octets with a non-zero v, and their number.
func (g gradient) activeOctets() (mask, count reg.Register) {
	mask, count = g.GP64(), g.GP64()
	g.XORQ(mask, mask)
	g.XORQ(count, count)
	for o := range panelRows / lanes {
		any, bit := g.YMM(), g.GP64()
		g.VMOVUPD(at(g.v, 64*o), any)
		g.VORPD(at(g.v, 64*o+32), any, any)
		g.withoutSign(any)
		g.XORQ(bit, bit)
		g.VPTEST(any, any)
		g.SETNE(bit.As8())
		g.ADDQ(bit, count)
		if o > 0 {
			g.SHLQ(operand.Imm(uint64(o)), bit)
		}
		g.ORQ(bit, mask)
	}
	return mask, count
}

// dense adds the whole panel, feature by feature.
func (g gradient) dense() {
	s := g.shape
	vectors := panelRows / s.doubles() // of v
	parts := lanes / s.doubles()       // vectors a feature's lanes take
	inRegisters := vectors
	if s.registers == 16 {
		inRegisters = 0
	}
	v := g.vectors(s, inRegisters)
	for k := range v {
		g.VMOVUPD(at(g.v, k*s.bytes), v[k])
	}
	x, lane, j := g.GP64(), g.GP64(), g.GP64()
	g.MOVQ(g.x, x)
	g.MOVQ(g.lanes, lane)
	g.MOVQ(g.d, j)
	g.Label("dense")
	sum := g.vectors(s, parts)
	for p := range sum {
		g.VMOVUPD(at(lane, p*s.bytes), sum[p])
	}
	for k := range vectors {
		factor := operand.Op(at(g.v, k*s.bytes))
		if k < inRegisters {
			factor = v[k]
		}
		product := g.productOf(at(x, k*s.doubles()*g.size), factor)
		g.VADDPD(product, sum[k%parts], sum[k%parts])
	}
	for p := range sum {
		g.VMOVUPD(sum[p], at(lane, p*s.bytes))
	}
	g.add(panelRows*g.size, x)
	g.add(lanes*8, lane)
	g.down(j, "dense")
}

// productOf is product for a factor that may be in memory.
func (g gradient) productOf(x operand.Mem, factor operand.Op) reg.VecVirtual {
	if _, inMemory := factor.(operand.Mem); !inMemory {
		return g.product(g.shape, g.size, x, factor)
	}
	p := g.vector(g.shape)
	if g.size == 8 {
		g.VMOVUPD(x, p)
	} else {
		g.VCVTPS2PD(x, p)
	}
	g.VMULPD(factor, p, p)
	return p
}

// sparse adds the active octets one after the other.
func (g gradient) sparse(octets reg.Register) {
	s := g.shape
	parts := lanes / s.doubles()
	x, v, lane, j := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	octet := g.GP64()
	g.Label("octet")
	g.BSFQ(octets, octet)
	g.MOVQ(octet, v)
	g.SHLQ(operand.Imm(6), v)
	g.ADDQ(g.v, v)
	factor := g.vectors(s, parts)
	for p := range factor {
		g.VMOVUPD(at(v, p*s.bytes), factor[p])
	}
	if g.size == 8 {
		g.SHLQ(operand.Imm(6), octet)
	} else {
		g.SHLQ(operand.Imm(5), octet)
	}
	g.MOVQ(g.x, x)
	g.ADDQ(octet, x)
	g.MOVQ(g.lanes, lane)
	g.MOVQ(g.d, j)
	g.Label("few")
	for p := range parts {
		product := g.product(s, g.size, at(x, p*s.doubles()*g.size), factor[p])
		g.VADDPD(at(lane, p*s.bytes), product, product)
		g.VMOVUPD(product, at(lane, p*s.bytes))
	}
	g.add(panelRows*g.size, x)
	g.add(lanes*8, lane)
	g.down(j, "few")
	rest := g.GP64()
	g.LEAQ(at(octets, -1), rest)
	g.ANDQ(rest, octets)
	g.jump(g.JNZ, "octet")
}
