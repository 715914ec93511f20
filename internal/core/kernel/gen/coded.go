package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// coded emits the scores of coded groups, with codes of one and two bytes, without and with a fraction.
func coded(c code) {
	for _, bytes := range []int{1, 2} {
		for _, between := range []bool{false, true} {
			for _, s := range []shape{avx2, avx512} {
				codedScores(c, s, bytes, between)
			}
		}
	}
}

type codedCode struct {
	code
	shape   shape
	bytes   int  // of a code
	between bool // with fractions

	codes, fractions, table reg.Register
	sum                     []reg.VecVirtual
	one                     reg.VecVirtual // 1.0, with fractions
	sixteen                 reg.VecVirtual // the bit that tells the second half of 32 entries
	heads                   [fromMemory]reg.OpmaskVirtual
}

// fromMemory is the number of vectors of one-byte codes that are loaded; the others are shifted into place. Loads that
// cross a cache line and shifts use different units of the processor.
const fromMemory = 5

// codedScores keeps the sums of some rows in registers and handles group after group. A group of at most 32 levels is looked
// up in registers (AVX-512), other groups entry by entry, which is faster than a gather.
func codedScores(c code, s shape, bytes int, between bool) {
	name, signature := fmt.Sprintf("codes%d%s", 8*bytes, s.name),
		fmt.Sprintf("(codes *uint%d, w *float64, start *int32, z *float64, groups int, panels int, add int)", 8*bytes)
	if between {
		name, signature = fmt.Sprintf("between%d%s", 8*bytes, s.name),
			fmt.Sprintf("(codes *uint%d, fractions *float32, w *float64, start *int32, z *float64, groups int, panels int, add int)", 8*bytes)
	}
	c.function(name, signature, "adds the coded groups' parts to the scores of consecutive panels, or, when add is 0, "+
		"replaces these; groups and panels are positive.")
	r := c.arguments("codes", "w", "start", "z", "groups", "panels", "add")
	w, start, z, groups, panels, add := r[1], r[2], r[3], r[4], r[5], r[6]
	t := codedCode{code: c, shape: s, bytes: bytes, between: between, codes: r[0], table: c.GP64()}
	if between {
		t.fractions = c.Load(c.Param("fractions"), c.GP64())
		bits, low := c.GP64(), c.XMM()
		c.MOVQ(operand.U64(0x3ff0000000000000), bits)
		c.VMOVQ(bits, low)
		t.one = c.vector(s)
		c.VBROADCASTSD(low, t.one)
	}
	if s.bytes == 64 {
		bits, low := c.GP64(), c.XMM()
		c.MOVQ(operand.U64(16), bits)
		c.VMOVQ(bits, low)
		t.sixteen = c.ZMM()
		c.VPBROADCASTQ(low, t.sixteen)
		if bytes == 1 {
			ones := c.GP64()
			c.MOVQ(operand.I32(-1), ones)
			for k := 1; k < fromMemory; k++ {
				t.heads[k] = c.K()
				c.SHRQ(operand.Imm(1), ones)
				c.KMOVQ(ones, t.heads[k])
			}
		}
	}
	const sums = 8 // vectors
	parts := panelRows / (sums * s.doubles())
	c.Label("panel")
	for part := range parts {
		rows := part * panelRows / parts
		t.sum = c.vectors(s, sums)
		for _, v := range t.sum {
			c.zero(s, v)
		}
		c.TESTQ(add, add)
		c.jump(c.JEQ, label("from%d", part))
		for k, v := range t.sum {
			c.VMOVUPD(at(z, 8*rows+k*s.bytes), v)
		}
		c.Label(label("from%d", part))
		group, first := c.GP64(), c.GP64()
		c.MOVQ(groups, group)
		c.MOVQ(start, first)
		codes, fractions := t.codes, t.fractions
		if part+1 < parts { // the last part moves on to the next panel
			t.codes = c.GP64()
			c.MOVQ(codes, t.codes)
			if between {
				t.fractions = c.GP64()
				c.MOVQ(fractions, t.fractions)
			}
		}
		c.Label(label("group%d", part))
		t.group(label("of%d", part), first, w, rows)
		c.add(panelRows*bytes, t.codes)
		if between {
			c.add(panelRows*4, t.fractions)
		}
		c.add(4, first)
		c.down(group, label("group%d", part))
		for k, v := range t.sum {
			c.VMOVUPD(v, at(z, 8*rows+k*s.bytes))
		}
		t.codes, t.fractions = codes, fractions
	}
	c.add(8*panelRows, z)
	c.down(panels, "panel")
	c.finish()
}

// group adds one group's part for the rows from row on.
func (t codedCode) group(name string, first, w reg.Register, row int) {
	begin, levels := t.GP64(), t.GP64()
	t.MOVLQSX(at(first, 0), begin)
	t.LEAQ(operand.Mem{Base: w, Index: begin, Scale: 8}, t.table)
	if t.shape.bytes == 64 {
		t.MOVLQSX(at(first, 4), levels)
		t.SUBQ(begin, levels)
		if !t.between { // two lookups in 32 levels take longer than the loads
			t.CMPQ(levels, operand.Imm(32))
			t.jump(t.JGT, name+"many")
			t.CMPQ(levels, operand.Imm(16))
			t.jump(t.JLE, name+"few")
			t.inRegisters(levels, 4)
			t.jump(t.JMP, name+"end")
		}
		t.Label(name + "few")
		t.CMPQ(levels, operand.Imm(16))
		t.jump(t.JGT, name+"many")
		t.inRegisters(levels, 2)
		t.jump(t.JMP, name+"end")
	}
	t.Label(name + "many")
	for k := range t.sum {
		t.oneByOne(k, row+k*t.shape.doubles())
	}
	t.Label(name + "end")
}

// inRegisters looks a group up in tables of 8 entries a register. Only its own levels are loaded.
func (t codedCode) inRegisters(levels reg.Register, registers int) {
	entries := t.entries(levels, registers, 0)
	var next []reg.VecVirtual
	if t.between {
		fewer := t.GP64()
		t.LEAQ(at(levels, -1), fewer)
		next = t.entries(fewer, registers, 1)
	}
	var all reg.VecVirtual
	if t.bytes == 1 {
		all = t.ZMM()
		t.VMOVDQU64(at(t.codes, 0), all)
	}
	for k := range t.sum {
		code := t.vectorOfCodes(k, all)
		if !t.between {
			t.VADDPD(t.look(code, entries, false), t.sum[k], t.sum[k])
			continue
		}
		here := t.look(code, entries, true)
		there := t.look(code, next, false)
		t.interpolate(k, 8*k, here, there)
	}
}

// vectorOfCodes returns the codes of rows 8k to 8k+7, one per lane. A table of 16 or 32 entries ignores higher bits, so the
// one-byte code of lane i only has to be the lowest byte. It is at 8i+k (kernel.CodeIndex), so the vector starts k bytes later.
// The mask keeps the load within the group.
func (t codedCode) vectorOfCodes(k int, all reg.VecVirtual) reg.VecVirtual {
	code := t.ZMM()
	switch {
	case t.bytes == 2:
		t.VPMOVZXWQ(at(t.codes, 16*k), code)
	case k == 0:
		t.VMOVDQA64(all, code)
	case k < fromMemory:
		t.VMOVDQU8_Z(at(t.codes, k), t.heads[k], code)
	default:
		t.VPSRLQ(operand.Imm(uint64(8*k)), all, code)
	}
	return code
}

// interpolate adds (1-f) here, then f there.
func (t codedCode) interpolate(k, row int, here, there reg.VecVirtual) {
	f, rest := t.vector(t.shape), t.vector(t.shape)
	t.VCVTPS2PD(at(t.fractions, 4*row), f)
	t.VSUBPD(f, t.one, rest)
	t.VMULPD(rest, here, here)
	t.VADDPD(here, t.sum[k], t.sum[k])
	t.VMULPD(f, there, there)
	t.VADDPD(there, t.sum[k], t.sum[k])
}

// entries loads the first levels entries of a table from offset on, followed by zeros.
func (t codedCode) entries(levels reg.Register, registers, offset int) []reg.VecVirtual {
	ones, mask, v := t.GP64(), t.GP64(), make([]reg.VecVirtual, registers)
	t.MOVQ(operand.I32(-1), ones)
	t.BZHIQ(levels, ones, mask)
	for i := range v {
		k := t.K()
		if i > 0 {
			t.SHRQ(operand.Imm(8), mask)
		}
		t.KMOVB(mask.As32(), k)
		v[i] = t.ZMM()
		t.VMOVUPD_Z(at(t.table, 8*(offset+8*i)), k, v[i])
	}
	return v
}

// look returns the entries of the codes. It overwrites the codes unless keep is set.
func (t codedCode) look(code reg.VecVirtual, entries []reg.VecVirtual, keep bool) reg.VecVirtual {
	result := code
	if keep || len(entries) == 4 {
		result = t.ZMM()
		t.VMOVDQA64(code, result)
	}
	t.VPERMI2PD(entries[1], entries[0], result)
	if len(entries) == 4 {
		second, k := code, t.K()
		if keep {
			second = t.ZMM()
			t.VMOVDQA64(code, second)
		}
		t.VPTESTMQ(t.sixteen, code, k)
		t.VPERMI2PD(entries[3], entries[2], second)
		t.VMOVAPD(second, k, result)
	}
	return result
}

// oneByOne adds a vector of entries, each loaded by its code.
func (t codedCode) oneByOne(k, row int) {
	var here, there reg.VecVirtual
	if t.between {
		here, there = t.pairs(row)
	} else {
		here = t.four(row)
	}
	if t.shape.bytes == 64 {
		wide := func(low, high reg.VecVirtual) reg.VecVirtual {
			v := t.ZMM()
			t.VINSERTF64X4(operand.Imm(1), high, low.AsZ(), v)
			return v
		}
		if t.between {
			here2, there2 := t.pairs(row + 4)
			here, there = wide(here, here2), wide(there, there2)
		} else {
			here = wide(here, t.four(row+4))
		}
	}
	if t.between {
		t.interpolate(k, row, here, there)
		return
	}
	t.VADDPD(here, t.sum[k], t.sum[k])
}

// entry is the memory of the entry that a row's code names.
func (t codedCode) entry(row int) operand.Mem {
	code := t.GP64()
	if t.bytes == 1 {
		t.MOVBQZX(at(t.codes, row%8*8+row/8), code)
	} else {
		t.MOVWQZX(at(t.codes, 2*row), code)
	}
	return operand.Mem{Base: t.table, Index: code, Scale: 8}
}

// four returns the entries of four rows.
func (t codedCode) four(row int) reg.VecVirtual {
	low, high, v := t.XMM(), t.XMM(), t.YMM()
	t.VMOVSD(t.entry(row), low)
	t.VMOVHPD(t.entry(row+1), low, low)
	t.VMOVSD(t.entry(row+2), high)
	t.VMOVHPD(t.entry(row+3), high, high)
	t.insertHigh(high, low.AsY(), v)
	return v
}

// pairs returns the entries of four rows and the entries after them. One load fetches both entries of a row.
func (t codedCode) pairs(row int) (here, there reg.VecVirtual) {
	even, odd := t.XMM(), t.XMM()
	a, b := t.YMM(), t.YMM()
	t.VMOVUPD(t.entry(row), even)
	t.VMOVUPD(t.entry(row+1), odd)
	t.insertHigh(t.entry(row+2), even.AsY(), a)
	t.insertHigh(t.entry(row+3), odd.AsY(), b)
	here, there = t.YMM(), t.YMM()
	t.VUNPCKLPD(b, a, here)
	t.VUNPCKHPD(b, a, there)
	return here, there
}

// insertHigh sets v to low with its upper half replaced. The older form does not reach all registers of AVX-512.
func (t codedCode) insertHigh(high operand.Op, low, v reg.Register) {
	if t.shape.registers == 32 {
		t.VINSERTF64X2(operand.Imm(1), high, low, v)
		return
	}
	t.VINSERTF128(operand.Imm(1), high, low, v)
}
