package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tileLanes is kernel.TileLanes: row r of a panel adds to lane r mod 16.
const tileLanes = 16

// tileGradient emits the gradients of several models, float32 with fused multiply-add.
func tileGradient(c code) {
	for _, s := range []shape{avx2, avx512} {
		activeFloat32(c, s)
		for _, models := range []int{4, 1} {
			gradientTile(c, s, models)
		}
	}
}

// activeFloat32 emits the test for a v that is not all zero.
func activeFloat32(c code, s shape) {
	if s != avx2 {
		return
	}
	c.function("active"+s.name, "(v *float32, rows int) int",
		"returns 1 when one of rows values, a positive multiple of 64, is not zero.")
	r := c.arguments("v", "rows")
	v, rows := r[0], r[1]
	c.SHRQ(operand.Imm(6), rows)
	any, result := c.YMM(), c.GP64()
	c.zero(s, any)
	c.Label("panel")
	for k := range 8 {
		c.VORPS(at(v, 32*k), any, any)
	}
	c.add(256, v)
	c.down(rows, "panel")
	c.VPSLLD(operand.Imm(1), any, any)
	c.XORQ(result, result)
	c.VPTEST(any, any)
	c.SETNE(result.As8())
	c.Store(result, c.ReturnIndex(0))
	c.finish()
}

// gradientTile keeps the lanes of some features x models in registers while it goes through the panels listed. Offsets
// are pairs of bytes, into x and into v.
func gradientTile(c code, s shape, models int) {
	c.function(fmt.Sprintf("tileGradient%d%s", models, s.name),
		"(x *float32, v *float32, lanes *float32, offsets *[2]int, d int, panels int, stride int, ahead int)",
		fmt.Sprintf("adds the panels' parts of the gradients of %d neighbouring models; a feature's lanes are stride bytes "+
			"after the last one's; d and panels are positive. For one model, data ahead bytes further is prefetched.", models))
	r := c.arguments("x", "v", "lanes", "offsets", "d", "panels", "stride", "ahead")
	g := tileGradientCode{code: c, shape: s, models: models,
		x: r[0], v: r[1], lanes: r[2], offsets: r[3], d: r[4], panels: r[5], stride: r[6], ahead: r[7]}
	features := 4
	if s.registers == 16 && models > 1 {
		features = 2
	}
	c.CMPQ(g.d, operand.Imm(uint64(features)))
	c.jump(c.JLT, "rest")
	c.Label("block")
	g.block("block", features)
	c.SUBQ(operand.Imm(uint64(features)), g.d)
	c.CMPQ(g.d, operand.Imm(uint64(features)))
	c.jump(c.JGE, "block")
	c.Label("rest")
	c.TESTQ(g.d, g.d)
	c.jump(c.JZ, "done")
	c.Label("one")
	g.block("one", 1)
	c.down(g.d, "one")
	c.Label("done")
	c.finish()
}

type tileGradientCode struct {
	code
	shape                                          shape
	models                                         int
	x, v, lanes, offsets, d, panels, stride, ahead reg.Register
}

// block adds all panels' parts to the lanes of some features. AVX2 does it once for either half of the lanes.
func (g tileGradientCode) block(name string, features int) {
	s := g.shape
	for first := 0; first < tileLanes; first += s.singles() {
		label := fmt.Sprintf("%spanel%d", name, first)
		sum := make([][]reg.VecVirtual, features)
		lane := g.GP64()
		g.MOVQ(g.lanes, lane)
		for f := range sum {
			sum[f] = g.vectors(s, g.models)
			for h, v := range sum[f] {
				g.VMOVUPS(at(lane, 4*(h*tileLanes+first)), v)
			}
			g.ADDQ(g.stride, lane)
		}
		offset, panel := g.GP64(), g.GP64()
		g.MOVQ(g.offsets, offset)
		g.MOVQ(g.panels, panel)
		g.Label(label)
		x, v := g.GP64(), g.GP64()
		g.MOVQ(at(offset, 0), x)
		g.MOVQ(at(offset, 8), v)
		g.ADDQ(g.x, x)
		g.ADDQ(g.v, v)
		if g.models == 1 && first == 0 {
			g.fetch(x, features)
		}
		for row := first; row < panelRows; row += tileLanes {
			g.step(x, v, row, sum)
		}
		g.add(16, offset)
		g.down(panel, label)
		g.MOVQ(g.lanes, lane)
		for f := range sum {
			for h, v := range sum[f] {
				g.VMOVUPS(v, at(lane, 4*(h*tileLanes+first)))
			}
			g.ADDQ(g.stride, lane)
		}
		if first+s.singles() == tileLanes {
			g.MOVQ(lane, g.lanes)
		}
	}
	g.add(4*panelRows*features, g.x)
}

// fetch prefetches what is read later.
func (g tileGradientCode) fetch(x reg.Register, features int) {
	for line := 0; line < 4*panelRows*features; line += 64 {
		g.PREFETCHT1(operand.Mem{Base: x, Index: g.ahead, Scale: 1, Disp: line})
	}
}

// step adds one vector of rows to the sums of all features and models of a block.
func (g tileGradientCode) step(x, v reg.Register, row int, sum [][]reg.VecVirtual) {
	factor := g.vectors(g.shape, g.models)
	for h := range factor {
		g.VMOVUPS(at(v, 4*(h*panelRows+row)), factor[h])
	}
	for f := range sum {
		value := at(x, 4*(f*panelRows+row))
		if g.models == 1 {
			g.VFMADD231PS(value, factor[0], sum[f][0])
			continue
		}
		loaded := g.vector(g.shape)
		g.VMOVUPS(value, loaded)
		for h := range factor {
			g.VFMADD231PS(loaded, factor[h], sum[f][h])
		}
	}
}
