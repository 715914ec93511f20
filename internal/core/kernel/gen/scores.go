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

// listedAhead is the number of listed features from a fetch into the first cache to its use. Panels of float32 are products of rows, of
// which thousands take more memory than the caches: 0.48 of the time without, at 8, 24 and 48 alike.
const listedAhead = 24

// scoreListed emits the scores of one panel under some of its features. Panels of float64 are in the second cache: as many rows at a time
// as registers hold take 0.87 of the time of 64 rows. Panels of float32 are read once.
func scoreListed(c code, s shape, size int) {
	c.function(fmt.Sprintf("scoreListedFloat%d%s", 8*size, s.name),
		fmt.Sprintf("(x *float%d, list *int32, w *float64, z *float64, count int)", 8*size),
		"adds the scores of one panel under the listed features; count is positive.")
	r := c.arguments("x", "list", "w", "z", "count")
	x, list, w, z, count := r[0], r[1], r[2], r[3], r[4]
	rows := panelRows
	if size == 8 {
		rows = min(panelRows, 8*s.doubles())
	}
	last := c.GP64()
	c.LEAQ(operand.Mem{Base: list, Index: count, Scale: 4, Disp: -4}, last)
	for first := 0; first < panelRows; first += rows {
		sums := c.newSums(s, z, rows)
		sums.load()
		next, weight, feature := c.GP64(), c.GP64(), c.GP64()
		c.MOVQ(list, next)
		c.MOVQ(w, weight)
		c.Label(label("feature%d", first))
		if size == 4 {
			c.LEAQ(at(next, 4*listedAhead), feature)
			c.CMPQ(feature, last)
			c.CMOVQGT(last, feature)
			c.listedFeature(size, x, feature, feature)
			for line := 0; line < panelRows*size; line += 64 {
				c.PREFETCHT0(at(feature, line))
			}
		}
		c.listedFeature(size, x, next, feature)
		sums.addFeature(size, feature, weight)
		c.add(4, next)
		c.add(8, weight)
		c.CMPQ(next, last)
		c.jump(c.JLE, label("feature%d", first))
		sums.store()
		c.add(rows*size, x)
		c.add(rows*8, z)
	}
	c.finish()
}

// listedFeature sets feature to the address of a feature in the panel x, whose number is at an address.
func (c code) listedFeature(size int, x, number, feature reg.Register) {
	c.MOVLQSX(at(number, 0), feature)
	c.IMUL3Q(operand.U32(panelRows*size), feature, feature)
	c.ADDQ(x, feature)
}

// advance adds the bytes of some features of a panel to an offset.
func (c code) advance(size int, features, offset reg.Register) {
	bytes := c.GP64()
	c.IMUL3Q(operand.U32(panelRows*size), features, bytes)
	c.ADDQ(bytes, offset)
}

// panelScores emits the scores of 64 rows under j features; x, weight and j are used up.
func (c code) panelScores(s shape, size int, x, weight, z, j, add reg.Register) {
	sums := c.newSums(s, z, panelRows)
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

// panelSums are the scores of some rows, the first of them in registers, the others at z.
type panelSums struct {
	code
	shape   shape
	z       reg.Register
	sum     []reg.VecVirtual
	vectors int
}

func (c code) newSums(s shape, z reg.Register, rows int) panelSums {
	vectors := rows / s.doubles()
	return panelSums{c, s, z, c.vectors(s, min(vectors, s.registers-4)), vectors}
}

func (p panelSums) clear() {
	for _, v := range p.sum {
		p.zero(p.shape, v)
	}
	for k := len(p.sum); k < p.vectors; k++ {
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
	for k := range p.vectors {
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
