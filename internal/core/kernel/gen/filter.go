package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Comparisons that are false for NaN and raise no exception.
const lessThan = 0x11

// Offsets in kernel.TileFilter, and its size.
const (
	tileFilterValues = 8 * iota
	tileFilterRows
	tileFilterCount
	tileFilterFloor
	_
	tileFilterBytes
)

// filter emits the selection of scores of a tile, panel by panel, in the order in which they were written.
func filter(c code) {
	tables := newCompressTables(c)
	for _, s := range []shape{avx2, avx512} {
		c.function("filterTile"+s.name, "(z *float32, filters *uintptr, models int, panels int, first int32)",
			"appends the scores of each model above its floor, and their row numbers, counted from first; z is panels x models "+
				"x 64; models and panels are positive. Up to a vector behind the last entry is overwritten, never more than "+
				"the scores of all panels take.")
		r := c.arguments("z", "panels")
		f := filterCode{code: c, shape: s, z: r[0], tables: tables,
			values: c.GP64(), rows: c.GP64(), count: c.GP64(), t: c.vector(s)}
		f.row = c.Load(c.Param("first"), c.GP32()).(reg.GPVirtual)
		f.emit(r[1])
	}
}

type filterCode struct {
	code
	shape                  shape
	z, values, rows, count reg.Register
	row                    reg.GPVirtual
	t                      reg.VecVirtual
	tables                 compressTables
}

// fewRows is the largest number of further selected scores of a block that are appended one by one.
const fewRows = 5

func (f filterCode) emit(panels reg.Register) {
	filter, models := f.GP64(), f.GP64()
	f.Label("panel")
	f.Load(f.Param("filters"), filter)
	f.Load(f.Param("models"), models)
	f.Label("model")
	f.MOVQ(at(filter, tileFilterValues), f.values)
	f.MOVQ(at(filter, tileFilterRows), f.rows)
	f.MOVQ(at(filter, tileFilterCount), f.count)
	f.VBROADCASTSS(at(filter, tileFilterFloor), f.t)
	f.block(func() {
		f.MOVQ(f.count, at(filter, tileFilterCount))
		f.add(tileFilterBytes, filter)
		f.add(4*panelRows, f.z)
		f.down(models, "model")
		f.ADDL(operand.Imm(panelRows), f.row)
		f.down(panels, "panel")
		f.finish()
	})
}

// block selects among 64 scores. Mostly none or one is selected: a first one is written without a branch and counted if it is
// selected. A few others are appended one by one, many as whole vectors. The code that follows ends in a jump or a return.
func (f filterCode) block(next func()) {
	wanted, row := f.wanted(), f.GP64()
	f.TZCNTQ(wanted, row) // 64 where there is none
	f.ANDQ(operand.Imm(panelRows-1), row)
	f.take(row)
	f.CMPQ(wanted, operand.Imm(1))
	f.SBBQ(operand.I8(-1), f.count) // one more, unless wanted is below 1
	f.BLSRQ(wanted, wanted)
	f.jump(f.JNZ, "several")
	f.Label("next")
	next()
	f.Label("several")
	number := f.GP64()
	f.POPCNTQ(wanted, number)
	f.CMPQ(number, operand.Imm(fewRows))
	f.jump(f.JG, "many")
	f.Label("one")
	f.TZCNTQ(wanted, row)
	f.take(row)
	f.INCQ(f.count)
	f.BLSRQ(wanted, wanted)
	f.jump(f.JNZ, "one")
	f.JMP(operand.LabelRef("next"))
	f.Label("many")
	f.DECQ(f.count)
	if f.shape.bytes == 64 {
		f.block512()
	} else {
		f.block256()
	}
	f.JMP(operand.LabelRef("next"))
}

// take appends the score of a row and its number.
func (f filterCode) take(row reg.Register) {
	number, value := f.GP32(), f.GP32()
	f.LEAL(operand.Mem{Base: f.row.As64(), Index: row, Scale: 1}, number)
	f.MOVL(operand.Mem{Base: f.z, Index: row, Scale: 4}, value)
	f.MOVL(value, operand.Mem{Base: f.values, Index: f.count, Scale: 4})
	f.MOVL(number, operand.Mem{Base: f.rows, Index: f.count, Scale: 4})
}

// wanted returns a bit for each of 64 scores.
func (f filterCode) wanted() reg.GPVirtual {
	s, all := f.shape, f.GP64()
	lanes := s.singles()
	for k := range panelRows / lanes {
		bits := f.GP64()
		if s.bytes == 64 {
			z, mask := f.vector(s), f.K()
			f.VMOVUPD(at(f.z, k*s.bytes), z)
			f.compare(z, mask)
			f.KMOVW(mask, bits.As32())
		} else {
			mask := f.vector(s)
			f.VMOVUPD(at(f.z, k*s.bytes), mask)
			f.compare(mask, mask)
			f.VMOVMSKPS(mask, bits.As32())
		}
		if k == 0 {
			f.MOVQ(bits, all)
			continue
		}
		f.SHLQ(operand.Imm(uint64(k*lanes)), bits)
		f.ORQ(bits, all)
	}
	return all
}

// compare sets mask where the scores are above the threshold.
func (f filterCode) compare(z, mask reg.Register) {
	f.VCMPPS(operand.Imm(lessThan), z, f.t, mask)
}

// block512 appends the selected ones of 64 scores, a vector at a time.
func (f filterCode) block512() {
	at512 := avx512.singles()
	number, step := f.ZMM(), f.ZMM()
	f.VPBROADCASTD(f.row, number)
	f.VPADDD(f.tables.counting, number, number)
	several := f.GP32()
	f.MOVL(operand.U32(at512), several)
	f.VPBROADCASTD(several, step)
	for k := range panelRows / at512 {
		z, wanted, mask, bits := f.ZMM(), f.ZMM(), f.K(), f.GP32()
		f.VMOVUPD(at(f.z, 64*k), z)
		f.compare(z, mask)
		f.VCOMPRESSPS_Z(z, mask, z)
		f.VPCOMPRESSD_Z(number, mask, wanted)
		f.VMOVUPD(z, operand.Mem{Base: f.values, Index: f.count, Scale: 4})
		f.VMOVUPS(wanted, operand.Mem{Base: f.rows, Index: f.count, Scale: 4})
		f.KMOVW(mask, bits)
		f.POPCNTL(bits, bits)
		f.ADDQ(bits.As64(), f.count)
		if k+1 < panelRows/at512 {
			f.VPADDD(step, number, number)
		}
	}
}

// block256 appends four scores at a time.
func (f filterCode) block256() {
	number, step, low := f.XMM(), f.XMM(), f.XMM()
	f.VMOVD(f.row, low)
	f.VPBROADCASTD(low, number)
	f.VPADDD(f.tables.counting, number, number)
	four := f.GP32()
	f.MOVL(operand.U32(4), four)
	f.VMOVD(four, low)
	f.VPBROADCASTD(low, step)
	shuffles := f.GP64()
	f.LEAQ(f.tables.shuffles, shuffles)
	for k := range panelRows / 4 {
		wanted, bits, entry := f.XMM(), f.GP32(), f.GP64()
		z, mask := f.XMM(), f.XMM()
		f.VMOVUPS(at(f.z, 16*k), z)
		f.VCMPPS(operand.Imm(lessThan), z, f.t.AsX(), mask)
		f.VMOVMSKPS(mask, bits)
		f.MOVL(bits, entry.As32())
		f.SHLQ(operand.Imm(4), entry)
		f.VPSHUFB(operand.Mem{Base: shuffles, Index: entry, Scale: 1}, z, z)
		f.VMOVUPS(z, operand.Mem{Base: f.values, Index: f.count, Scale: 4})
		f.VPSHUFB(operand.Mem{Base: shuffles, Index: entry, Scale: 1}, number, wanted)
		f.VMOVDQU(wanted, operand.Mem{Base: f.rows, Index: f.count, Scale: 4})
		f.POPCNTL(bits, bits)
		f.ADDQ(bits.As64(), f.count)
		if k+1 < panelRows/4 {
			f.VPADDD(step, number, number)
		}
	}
}

// compressTables are in read-only data. For each of the 16 masks of four elements: the order of 32-bit halves that
// moves the chosen doubles to the front, and the bytes that do so for four 32-bit numbers. And the numbers 0 to 15.
type compressTables struct{ permutations, shuffles, counting operand.Mem }

func newCompressTables(c code) compressTables {
	const readOnly = attr.RODATA | attr.NOPTR
	var t compressTables
	t.permutations = c.StaticGlobal("compressDoubles")
	c.DataAttributes(readOnly)
	for mask := range 16 {
		for _, e := range chosen(mask) {
			c.AppendDatum(operand.U32(2 * e))
			c.AppendDatum(operand.U32(2*e + 1))
		}
	}
	t.shuffles = c.StaticGlobal("compressNumbers")
	c.DataAttributes(readOnly)
	for mask := range 16 {
		for _, e := range chosen(mask) {
			for b := range 4 {
				c.AppendDatum(operand.U8(4*e + b))
			}
		}
	}
	t.counting = c.StaticGlobal("counting")
	c.DataAttributes(readOnly)
	for i := range 16 {
		c.AppendDatum(operand.U32(i))
	}
	return t
}

// chosen lists the bits set in mask, then as many others as make four.
func chosen(mask int) []int {
	var in, out []int
	for e := range 4 {
		if mask>>e&1 == 1 {
			in = append(in, e)
		} else {
			out = append(out, e)
		}
	}
	return append(in, out...)
}
