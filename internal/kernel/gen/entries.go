package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// entryRows is the number of rows of a block, whose codes may all be the same.
const entryRows = 16

// entryLanes is kernel.EntryLanes.
const entryLanes = 4

// entries emits the addition of table entries to the scores of several models, by the rows' codes, and the sums of several
// models' coefficients by code.
func entries(c code) {
	for _, s := range []shape{avx2, avx512} {
		entriesOf(c, s)
	}
	sumEntries(c)
}

type entriesCode struct {
	code
	shape   shape
	rows    int         // that a vector holds
	offsets operand.Mem // of a block's rows in the table, in bytes

}

// entriesOf handles blocks of rows. The entries of a row, one per model, are adjacent.
func entriesOf(c code, s shape) {
	c.function("entries"+s.name, "(codes *uint16, table *float32, z *float32, models int, panels int)",
		"adds the entries that the rows' codes name to the scores of panels; models and panels are positive.")
	r := c.arguments("codes", "table", "z", "models", "panels")
	codes, table, z, models, panels := r[0], r[1], r[2], r[3], r[4]
	t := entriesCode{code: c, shape: s, rows: s.singles(), offsets: c.AllocLocal(4 * entryRows)}
	size, next := c.GP64(), c.GP64() // bytes of a row's entries, and from the last block of a panel to the next panel
	c.MOVQ(models, size)
	c.SHLQ(operand.Imm(2), size)
	c.MOVQ(models, next)
	c.SHLQ(operand.Imm(8), next)
	c.SUBQ(operand.U32(4*panelRows), next)
	c.Label("panel")
	left := c.GP64()
	c.MOVQ(operand.U32(panelRows/entryRows), left)
	c.Label("block")
	t.block(codes, table, z, models, size)
	c.add(2*entryRows, codes)
	c.add(4*entryRows, z)
	c.down(left, "block")
	c.ADDQ(next, z)
	c.down(panels, "panel")
	c.finish()
}

// block adds the entries of entryRows rows.
func (t entriesCode) block(codes, table, z, models, size reg.Register) {
	model, scores, entry := t.GP64(), t.GP64(), t.GP64()
	t.MOVQ(models, model)
	t.MOVQ(z, scores)
	t.MOVQ(table, entry)
	all := t.blockOfCodes(codes, "different")
	t.same(codes, scores, entry, model, size)
	t.jump(t.JMP, "end")

	t.Label("different")
	t.keepOffsets(all, size)
	t.Label("four")
	t.CMPQ(model, operand.Imm(4))
	t.jump(t.JLT, "single")
	for row := 0; row < entryRows; row += t.rows {
		t.four(row, entry, scores)
	}
	t.add(4*4*panelRows, scores)
	t.add(4*4, entry)
	t.SUBQ(operand.Imm(4), model)
	t.jump(t.JMP, "four")
	t.Label("single")
	t.TESTQ(model, model)
	t.jump(t.JEQ, "end")
	for row := 0; row < entryRows; row += 4 {
		t.single(row, entry, scores)
	}
	t.add(4*panelRows, scores)
	t.add(4, entry)
	t.DECQ(model)
	t.jump(t.JMP, "single")
	t.Label("end")
}

// blockOfCodes returns the codes of a block and jumps when they are not all the same.
func (c code) blockOfCodes(codes reg.Register, different string) reg.VecVirtual {
	all, first, equal := c.YMM(), c.YMM(), c.GP32()
	c.VMOVDQU(at(codes, 0), all)
	c.VPBROADCASTW(at(codes, 0), first)
	c.VPCMPEQW(all, first, first)
	c.VPMOVMSKB(first, equal)
	c.CMPL(equal, operand.I8(-1))
	c.jump(c.JNE, different)
	return all
}

// same adds the entries of rows that have one code.
func (t entriesCode) same(codes, scores, entry, model, size reg.Register) {
	offset := t.GP64()
	t.MOVWQZX(at(codes, 0), offset)
	t.IMULQ(size, offset)
	t.ADDQ(offset, entry)
	t.Label("same")
	x := t.vector(t.shape)
	t.VBROADCASTSS(at(entry, 0), x)
	for row := 0; row < entryRows; row += t.rows {
		sum := t.vector(t.shape)
		t.VADDPS(at(scores, 4*row), x, sum)
		t.VMOVUPS(sum, at(scores, 4*row))
	}
	t.add(4, entry)
	t.add(4*panelRows, scores)
	t.down(model, "same")
}

// keepOffsets multiplies the codes by the size of a row's entries.
func (t entriesCode) keepOffsets(codes reg.VecVirtual, size reg.Register) {
	low := t.XMM()
	t.VMOVQ(size, low)
	if t.shape.bytes == 64 {
		factor, wide := t.ZMM(), t.ZMM()
		t.VPBROADCASTD(low, factor)
		t.VPMOVZXWD(codes, wide)
		t.VPMULLD(factor, wide, wide)
		t.VMOVDQU32(wide, t.offsets)
		return
	}
	factor, high := t.YMM(), t.XMM()
	t.VPBROADCASTD(low, factor)
	t.VEXTRACTI128(operand.Imm(1), codes, high)
	for i, half := range []reg.Register{codes.AsX(), high} {
		wide := t.YMM()
		t.VPMOVZXWD(half, wide)
		t.VPMULLD(factor, wide, wide)
		t.VMOVDQU(wide, t.offsets.Offset(32*i))
	}
}

// of is the memory of a row's entries.
func (t entriesCode) of(row int, entry reg.Register) operand.Mem {
	offset := t.GP64()
	t.MOVL(t.offsets.Offset(4*row), offset.As32())
	return operand.Mem{Base: entry, Index: offset, Scale: 1}
}

// four adds the entries of four models for a vector of rows from row on. Rows four apart share a vector, whose 128-bit
// lanes are transposed one by one.
func (t entriesCode) four(row int, entry, scores reg.Register) {
	x := make([]reg.Register, 4)
	for i := range x {
		low := t.XMM()
		t.VMOVUPS(t.of(row+i, entry), low)
		x[i] = low.AsY()
		if t.shape.bytes == 64 {
			x[i] = low.AsZ()
		}
		for lane := 1; lane < t.rows/4; lane++ {
			m := t.of(row+4*lane+i, entry)
			if t.shape.bytes == 64 {
				t.VINSERTF32X4(operand.Imm(uint64(lane)), m, x[i], x[i])
			} else {
				t.VINSERTF128(operand.Imm(uint64(lane)), m, x[i], x[i])
			}
		}
	}
	half := t.vectors(t.shape, 4)
	t.VUNPCKLPS(x[1], x[0], half[0])
	t.VUNPCKHPS(x[1], x[0], half[1])
	t.VUNPCKLPS(x[3], x[2], half[2])
	t.VUNPCKHPS(x[3], x[2], half[3])
	y := t.vectors(t.shape, 4)
	t.VUNPCKLPD(half[2], half[0], y[0])
	t.VUNPCKHPD(half[2], half[0], y[1])
	t.VUNPCKLPD(half[3], half[1], y[2])
	t.VUNPCKHPD(half[3], half[1], y[3])
	for model, v := range y {
		score := at(scores, 4*(model*panelRows+row))
		t.VADDPS(score, v, v)
		t.VMOVUPS(v, score)
	}
}

// single adds the entries of one model for four rows.
func (t entriesCode) single(row int, entry, scores reg.Register) {
	x := t.XMM()
	t.VMOVSS(t.of(row, entry), x)
	for i := 1; i < 4; i++ {
		t.VINSERTPS(operand.Imm(uint64(i<<4)), t.of(row+i, entry), x, x)
	}
	t.VADDPS(at(scores, 4*row), x, x)
	t.VMOVUPS(x, at(scores, 4*row))
}

// sumEntries adds the coefficients of several models to the lanes of the rows' codes, which lie side by side for the models.
func sumEntries(c code) {
	c.function("sumEntriesAVX2", "(codes *uint16, v *float32, lanes *float64, models int, panels int)",
		"adds the coefficients of panels to the lanes of the rows' codes; models and panels are positive.")
	r := c.arguments("codes", "v", "lanes", "models", "panels")
	codes, v, all, models, panels := r[0], r[1], r[2], r[3], r[4]
	const size = 8 * entryLanes
	next := c.GP64() // bytes from the last block of a panel to the next panel
	c.MOVQ(models, next)
	c.SHLQ(operand.Imm(8), next)
	c.SUBQ(operand.U32(4*panelRows), next)
	of := func(row int) reg.Register { // what lies before the lanes of a row's code
		offset := c.GP64()
		c.MOVWQZX(at(codes, 2*row), offset)
		c.IMULQ(models, offset)
		c.SHLQ(operand.Imm(5), offset)
		return offset
	}
	zero := c.XMM()
	c.VPXOR(zero, zero, zero)
	c.Label("panel")
	left := c.GP64()
	c.MOVQ(operand.U32(panelRows/entryRows), left)
	c.Label("block")
	model, own, values := c.GP64(), c.GP64(), c.GP64()
	c.MOVQ(models, model)
	c.MOVQ(v, values)
	c.MOVQ(all, own)
	c.blockOfCodes(codes, "different")
	c.ADDQ(of(0), own)
	c.Label("same")
	sum := c.YMM()
	c.VMOVUPD(at(own, 0), sum)
	for row := 0; row < entryRows; row += entryLanes {
		x := c.YMM()
		c.VCVTPS2PD(at(values, 4*row), x)
		c.VADDPD(x, sum, sum)
	}
	c.VMOVUPD(sum, at(own, 0))
	c.add(size, own)
	c.add(4*panelRows, values)
	c.down(model, "same")
	c.jump(c.JMP, "end")

	c.Label("different")
	low, high := c.YMM(), c.YMM()
	c.VMOVDQU(at(values, 0), low)
	c.VMOVDQU(at(values, 32), high)
	c.VPOR(low, high, high)
	c.VPTEST(high, high)
	c.jump(c.JEQ, "none") // nothing but zeros of this model
	for row := range entryRows {
		lane := operand.Mem{Base: own, Index: of(row), Scale: 1, Disp: row % entryLanes * 8}
		x := c.XMM()
		c.VCVTSS2SD(at(values, 4*row), zero, x)
		c.VADDSD(lane, x, x)
		c.VMOVSD(x, lane)
	}
	c.Label("none")
	c.add(size, own)
	c.add(4*panelRows, values)
	c.down(model, "different")
	c.Label("end")
	c.add(2*entryRows, codes)
	c.add(4*entryRows, v)
	c.down(left, "block")
	c.ADDQ(next, v)
	c.down(panels, "panel")
	c.finish()
}
