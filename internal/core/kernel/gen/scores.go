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
			scoreListed(c, s, size)
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

// scoreListed emits the scores of one panel under some of its features.
func scoreListed(c code, s shape, size int) {
	c.function(fmt.Sprintf("scoreListedFloat%d%s", 8*size, s.name), fmt.Sprintf("(x *float%d, list *int32, w *float64, z *float64, count int)", 8*size),
		"adds the scores of one panel under the listed features; count is positive.")
	r := c.arguments("x", "list", "w", "z", "count")
	x, list, w, z, count := r[0], r[1], r[2], r[3], r[4]
	sums := c.newSums(s, z)
	sums.load()
	c.Label("feature")
	feature := c.GP64()
	c.MOVLQSX(at(list, 0), feature)
	c.IMUL3Q(operand.U32(panelRows*size), feature, feature)
	c.ADDQ(x, feature)
	sums.addFeature(size, feature, w)
	c.add(4, list)
	c.add(8, w)
	c.down(count, "feature")
	sums.store()
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
	sums := c.newSums(s, z)
	c.TESTQ(add, add)
	c.jump(c.JNZ, "load")
	sums.clear()
	c.jump(c.JMP, "feature")
	c.Label("load")
	sums.load()
	c.Label("feature")
	sums.addFeature(size, x, weight)
	c.add(panelRows*size, x)
	c.add(8, weight)
	c.down(j, "feature")
	sums.store()
}

// panelSums are the scores of 64 rows, the first of them in registers, the others at z.
type panelSums struct {
	code
	shape shape
	z     reg.Register
	sum   []reg.VecVirtual
}

func (c code) newSums(s shape, z reg.Register) panelSums {
	return panelSums{c, s, z, c.vectors(s, min(panelRows/s.doubles(), s.registers-4))}
}

func (p panelSums) clear() {
	for _, v := range p.sum {
		p.zero(p.shape, v)
	}
	for k := len(p.sum); k < panelRows/p.shape.doubles(); k++ {
		p.VMOVUPD(p.sum[0], at(p.z, k*p.shape.bytes))
	}
}

func (p panelSums) load() {
	for k, v := range p.sum {
		p.VMOVUPD(at(p.z, k*p.shape.bytes), v)
	}
}

func (p panelSums) store() {
	for k, v := range p.sum {
		p.VMOVUPD(v, at(p.z, k*p.shape.bytes))
	}
}

// addFeature adds the products of the values of one feature, at x, with its weight.
func (p panelSums) addFeature(size int, x, weight reg.Register) {
	s := p.shape
	w := p.vector(s)
	p.VBROADCASTSD(at(weight, 0), w)
	for k := range panelRows / s.doubles() {
		product := p.product(s, size, at(x, k*s.doubles()*size), w)
		if k < len(p.sum) {
			p.VADDPD(product, p.sum[k], p.sum[k])
			continue
		}
		p.VADDPD(at(p.z, k*s.bytes), product, product)
		p.VMOVUPD(product, at(p.z, k*s.bytes))
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
