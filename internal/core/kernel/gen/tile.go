package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tileModels is the number of models whose sums a tile keeps in registers.
const tileModels = 4

// tile emits the scores of panels under several models, float32 with fused multiply-add.
func tile(c code) {
	for _, s := range []shape{avx2, avx512} {
		c.function("tile"+s.name,
			"(x *float32, w *float32, z *float32, d int, models int, add int, ahead int, panels int)",
			"computes the scores of panels under all models; w is d x models, z panels x models x 64; d, models and panels "+
				"are positive. Data ahead bytes further are prefetched.")
		r := c.arguments("x", "w", "z", "d", "models", "add", "ahead", "panels")
		t := tileCode{code: c, shape: s, x: r[0], w: r[1], z: r[2], d: r[3], models: r[4], adding: r[5], ahead: r[6],
			panels: r[7]}
		t.stride = c.GP64()
		c.MOVQ(t.models, t.stride)
		c.SHLQ(operand.Imm(2), t.stride)
		t.emit()
	}
}

type tileCode struct {
	code
	shape                                             shape
	x, w, z, d, models, adding, ahead, stride, panels reg.Register
}

// emit writes the loop over four models at a time, then over the models that are left.
//
// AVX-512 keeps 64 rows x 4 models in sixteen registers. AVX2 has registers for 16 rows x 4 models: it goes through the
// panel in four strips of rows, so d must be so small that a strip of the panel stays in the first cache.
func (t tileCode) emit() {
	strips := 1
	if t.shape.registers == 16 {
		strips = 4
	}
	last, none := t.GP64(), t.GP64()
	t.LEAQ(at(t.ahead, 4*panelRows), last)
	t.XORQ(none, none)
	t.Label("panel")
	t.CMPQ(t.models, operand.Imm(tileModels))
	t.jump(t.JLT, "rest")
	t.Label("four")
	for strip := range strips {
		t.sums(label("four%d", strip), strip*panelRows/strips, panelRows/strips, tileModels)
	}
	t.ADDQ(operand.Imm(64), t.ahead) // the next of a feature's four cache lines
	t.CMPQ(t.ahead, last)
	t.CMOVQEQ(none, t.ahead) // all four are on their way: what is in the first cache costs nothing
	t.ADDQ(operand.Imm(4*tileModels), t.w)
	t.ADDQ(operand.U32(4*panelRows*tileModels), t.z)
	t.SUBQ(operand.Imm(tileModels), t.models)
	t.CMPQ(t.models, operand.Imm(tileModels))
	t.jump(t.JGE, "four")
	t.Label("rest")
	t.TESTQ(t.models, t.models)
	t.jump(t.JZ, "done")
	t.Label("one")
	t.sums("one0", 0, panelRows, 1)
	t.ADDQ(operand.Imm(4), t.w)
	t.ADDQ(operand.U32(4*panelRows), t.z)
	t.down(t.models, "one")
	t.Label("done")
	t.Load(t.Param("models"), t.models)
	t.Load(t.Param("ahead"), t.ahead)
	t.SUBQ(t.stride, t.w)
	panel := t.GP64()
	t.MOVQ(t.d, panel)
	t.SHLQ(operand.Imm(8), panel) // 64 rows of 4 bytes
	t.ADDQ(panel, t.x)
	t.down(t.panels, "panel")
	t.finish()
}

// sums adds the products of rows x models sums, all kept in registers.
func (t tileCode) sums(name string, first, rows, models int) {
	s := t.shape
	if models == 1 && s == avx512 {
		s = half
	}
	vectors := rows / s.singles()
	sum := make([][]reg.VecVirtual, models)
	for h := range sum {
		sum[h] = t.vectors(s, vectors)
		for _, v := range sum[h] {
			t.zero(s, v)
		}
	}
	t.TESTQ(t.adding, t.adding)
	t.jump(t.JZ, name+"begin")
	for h := range sum {
		for k, v := range sum[h] {
			t.VMOVUPS(t.score(s, h, first, k), v)
		}
	}
	t.Label(name + "begin")
	x, w, j := t.GP64(), t.GP64(), t.GP64()
	t.MOVQ(t.x, x)
	t.MOVQ(t.w, w)
	t.MOVQ(t.d, j)
	t.Label(name)
	if models == 1 {
		wj := t.vector(s)
		t.VBROADCASTSS(at(w, 0), wj)
		for k := range vectors {
			t.VFMADD231PS(at(x, 4*first+k*s.bytes), wj, sum[0][k])
		}
	} else {
		values := t.vectors(s, vectors)
		for k := range values {
			t.VMOVUPS(at(x, 4*first+k*s.bytes), values[k])
		}
		if first == 0 {
			t.PREFETCHT1(operand.Mem{Base: x, Index: t.ahead, Scale: 1})
		}
		for h := range sum {
			wj := t.vector(s)
			t.VBROADCASTSS(at(w, 4*h), wj)
			for k := range values {
				t.VFMADD231PS(values[k], wj, sum[h][k])
			}
		}
	}
	t.add(4*panelRows, x)
	t.ADDQ(t.stride, w)
	t.down(j, name)
	for h := range sum {
		for k, v := range sum[h] {
			t.VMOVUPS(v, t.score(s, h, first, k))
		}
	}
}

func (t tileCode) score(s shape, h, first, k int) operand.Mem {
	return at(t.z, 4*(h*panelRows+first)+k*s.bytes)
}
