package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Comparisons that are false for NaN and raise no exception.
const lessThan = 0x11

// filter emits the selection of the scores above a threshold.
func filter(c code) {
	tables := newCompressTables(c)
	for _, s := range []shape{avx2, avx512} {
		c.function("filter"+s.name,
			"(z *float64, blocks int, t float64, first int32, values *float64, rows *int32) int",
			"appends the scores above t of blocks of 64 and their row numbers, counted from first; blocks is positive. "+
				"Up to a vector behind the last entry is overwritten, never more than values and rows of all scores take.")
		r := c.arguments("z", "blocks")
		f := filterCode{code: c, shape: s, z: r[0], tables: tables}
		blocks := r[1]
		low := c.Load(c.Param("t"), c.XMM())
		f.t = c.vector(s)
		c.VBROADCASTSD(low, f.t)
		f.row = c.Load(c.Param("first"), c.GP32())
		f.values, f.rows = c.Load(c.Param("values"), c.GP64()), c.Load(c.Param("rows"), c.GP64())
		f.count = c.GP64()
		c.XORQ(f.count, f.count)
		f.emit(blocks)
	}
}

type filterCode struct {
	code
	shape                  shape
	z, values, rows, count reg.Register
	row                    reg.Register
	t                      reg.VecVirtual
	tables                 compressTables
}

// emit looks at the maximum of 64 scores first: few blocks hold any that are wanted.
func (f filterCode) emit(blocks reg.Register) {
	s := f.shape
	f.Label("block")
	top := f.vector(s)
	f.VMOVUPD(at(f.z, 0), top)
	for k := 1; k < panelRows/s.doubles(); k++ {
		f.VMAXPD(at(f.z, k*s.bytes), top, top)
	}
	if s.bytes == 64 {
		k := f.K()
		f.VCMPPD(operand.Imm(lessThan), top, f.t, k)
		f.KORTESTB(k, k)
	} else {
		f.VCMPPD(operand.Imm(lessThan), top, f.t, top)
		f.VPTEST(top, top)
	}
	f.jump(f.JZ, "next")
	f.block()
	f.Label("next")
	f.ADDQ(operand.U32(8*panelRows), f.z)
	f.ADDL(operand.Imm(panelRows), f.row)
	f.down(blocks, "block")
	f.Store(f.count, f.ReturnIndex(0))
	f.finish()
}

// block appends the wanted ones of 64 scores.
func (f filterCode) block() {
	if f.shape.bytes == 64 {
		f.block512()
		return
	}
	f.block256()
}

func (f filterCode) block512() {
	number, step := f.YMM(), f.YMM()
	f.VPBROADCASTD(f.row, number)
	f.VPADDD(f.tables.counting, number, number)
	eight := f.GP32()
	f.MOVL(operand.U32(8), eight)
	f.VPBROADCASTD(eight, step)
	for k := range panelRows / 8 {
		z, mask := f.ZMM(), f.K()
		bits, wanted := f.GP32(), f.YMM()
		f.VMOVUPD(at(f.z, 64*k), z)
		f.VCMPPD(operand.Imm(lessThan), z, f.t, mask)
		f.VCOMPRESSPD_Z(z, mask, z)
		f.VPCOMPRESSD_Z(number, mask, wanted)
		f.VMOVUPD(z, operand.Mem{Base: f.values, Index: f.count, Scale: 8})
		f.VMOVDQU(wanted, operand.Mem{Base: f.rows, Index: f.count, Scale: 4})
		f.KMOVB(mask, bits)
		f.POPCNTL(bits, bits)
		f.ADDQ(bits.As64(), f.count)
		if k+1 < panelRows/8 {
			f.VPADDD(step, number, number)
		}
	}
}

func (f filterCode) block256() {
	number, step, low := f.XMM(), f.XMM(), f.XMM()
	f.VMOVD(f.row, low)
	f.VPBROADCASTD(low, number)
	f.VPADDD(f.tables.counting, number, number)
	four := f.GP32()
	f.MOVL(operand.U32(4), four)
	f.VMOVD(four, low)
	f.VPBROADCASTD(low, step)
	permutations, shuffles := f.GP64(), f.GP64()
	f.LEAQ(f.tables.permutations, permutations)
	f.LEAQ(f.tables.shuffles, shuffles)
	for k := range panelRows / 4 {
		z, order, mask := f.YMM(), f.YMM(), f.YMM()
		wanted := f.XMM()
		bits, entry := f.GP32(), f.GP64()
		f.VMOVUPD(at(f.z, 32*k), z)
		f.VCMPPD(operand.Imm(lessThan), z, f.t, mask)
		f.VMOVMSKPD(mask, bits)
		f.MOVL(bits, entry.As32())
		f.SHLQ(operand.Imm(4), entry)
		f.VPSHUFB(operand.Mem{Base: shuffles, Index: entry, Scale: 1}, number, wanted)
		f.VMOVDQU(operand.Mem{Base: permutations, Index: entry, Scale: 2}, order)
		f.VPERMPS(z, order, z)
		f.VMOVUPD(z, operand.Mem{Base: f.values, Index: f.count, Scale: 8})
		f.VMOVDQU(wanted, operand.Mem{Base: f.rows, Index: f.count, Scale: 4})
		f.POPCNTL(bits, bits)
		f.ADDQ(bits.As64(), f.count)
		if k+1 < panelRows/4 {
			f.VPADDD(step, number, number)
		}
	}
}

// compressTables lie in the read-only data. For each of the 16 masks of four elements: the order of 32-bit halves that
// moves the chosen doubles to the front, and the bytes that do so for four 32-bit numbers. And the numbers 0 to 7.
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
	for i := range 8 {
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
