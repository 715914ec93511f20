package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Comparisons that are false for NaN and raise no exception.
const lessThan = 0x11

// filter emits the selection of the scores above a threshold, for scores of both arithmetics.
func filter(c code) {
	tables := newCompressTables(c)
	for _, size := range []int{8, 4} {
		for _, s := range []shape{avx2, avx512} {
			filterAbove(c, s, size, tables)
		}
	}
}

func filterAbove(c code, s shape, size int, tables compressTables) {
	number := label("float%d", 8*size)
	c.function(label("filterFloat%d%s", 8*size, s.name),
		label("(z *%[1]s, blocks int, t %[1]s, first int32, values *%[1]s, rows *int32) int", number),
		"appends the scores above t of blocks of 64 and their row numbers, counted from first; blocks is positive. "+
			"Up to a vector behind the last entry is overwritten, never more than values and rows of all scores take.")
	r := c.arguments("z", "blocks")
	f := filterCode{code: c, shape: s, size: size, z: r[0], tables: tables}
	blocks := r[1]
	low := c.Load(c.Param("t"), c.XMM())
	f.t = c.vector(s)
	if size == 8 {
		c.VBROADCASTSD(low, f.t)
	} else {
		c.VBROADCASTSS(low, f.t)
	}
	f.row = c.Load(c.Param("first"), c.GP32())
	f.values, f.rows = c.Load(c.Param("values"), c.GP64()), c.Load(c.Param("rows"), c.GP64())
	f.count = c.GP64()
	c.XORQ(f.count, f.count)
	f.emit(blocks)
}

type filterCode struct {
	code
	shape                  shape
	size                   int // of a score
	z, values, rows, count reg.Register
	row                    reg.Register
	t                      reg.VecVirtual
	tables                 compressTables
}

// emit looks at the maximum of 64 scores first: few blocks hold any that are wanted. A maximum with NaN as its first
// operand is the second one, so that NaN is passed over.
func (f filterCode) emit(blocks reg.Register) {
	s := f.shape
	f.Label("block")
	top := f.vector(s)
	f.VBROADCASTSD(f.tables.lowest(f.size), top)
	for k := range panelRows * f.size / s.bytes {
		z := f.vector(s)
		f.VMOVUPD(at(f.z, k*s.bytes), z)
		f.maximum(top, z, top)
	}
	if s.bytes == 64 {
		k := f.K()
		f.compare(top, k)
		f.KORTESTW(k, k)
	} else {
		f.compare(top, top)
		f.VPTEST(top, top)
	}
	f.jump(f.JZ, "next")
	if s.bytes == 64 {
		f.block512()
	} else {
		f.block256()
	}
	f.Label("next")
	f.ADDQ(operand.U32(f.size*panelRows), f.z)
	f.ADDL(operand.Imm(panelRows), f.row)
	f.down(blocks, "block")
	f.Store(f.count, f.ReturnIndex(0))
	f.finish()
}

func (f filterCode) maximum(second, first, result reg.Register) {
	if f.size == 8 {
		f.VMAXPD(second, first, result)
		return
	}
	f.VMAXPS(second, first, result)
}

// compare sets mask where the scores are above the threshold.
func (f filterCode) compare(z, mask reg.Register) {
	if f.size == 8 {
		f.VCMPPD(operand.Imm(lessThan), z, f.t, mask)
		return
	}
	f.VCMPPS(operand.Imm(lessThan), z, f.t, mask)
}

// block512 appends the wanted ones of 64 scores, a vector at a time.
func (f filterCode) block512() {
	at512 := 64 / f.size
	rows := half // eight row numbers beside eight float64 scores
	if f.size == 4 {
		rows = avx512
	}
	number, step := f.vector(rows), f.vector(rows)
	f.VPBROADCASTD(f.row, number)
	f.VPADDD(f.tables.counting, number, number)
	several := f.GP32()
	f.MOVL(operand.U32(at512), several)
	f.VPBROADCASTD(several, step)
	for k := range panelRows / at512 {
		z, wanted, mask, bits := f.ZMM(), f.vector(rows), f.K(), f.GP32()
		f.VMOVUPD(at(f.z, 64*k), z)
		f.compare(z, mask)
		if f.size == 8 {
			f.VCOMPRESSPD_Z(z, mask, z)
		} else {
			f.VCOMPRESSPS_Z(z, mask, z)
		}
		f.VPCOMPRESSD_Z(number, mask, wanted)
		f.VMOVUPD(z, operand.Mem{Base: f.values, Index: f.count, Scale: uint8(f.size)})
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
	permutations, shuffles := f.GP64(), f.GP64()
	f.LEAQ(f.tables.permutations, permutations)
	f.LEAQ(f.tables.shuffles, shuffles)
	for k := range panelRows / 4 {
		wanted, bits, entry := f.XMM(), f.GP32(), f.GP64()
		if f.size == 8 {
			z, order, mask := f.YMM(), f.YMM(), f.YMM()
			f.VMOVUPD(at(f.z, 32*k), z)
			f.compare(z, mask)
			f.VMOVMSKPD(mask, bits)
			f.MOVL(bits, entry.As32())
			f.SHLQ(operand.Imm(4), entry)
			f.VMOVDQU(operand.Mem{Base: permutations, Index: entry, Scale: 2}, order)
			f.VPERMPS(z, order, z)
			f.VMOVUPD(z, operand.Mem{Base: f.values, Index: f.count, Scale: 8})
		} else {
			z, mask := f.XMM(), f.XMM()
			f.VMOVUPS(at(f.z, 16*k), z)
			f.VCMPPS(operand.Imm(lessThan), z, f.t.AsX(), mask)
			f.VMOVMSKPS(mask, bits)
			f.MOVL(bits, entry.As32())
			f.SHLQ(operand.Imm(4), entry)
			f.VPSHUFB(operand.Mem{Base: shuffles, Index: entry, Scale: 1}, z, z)
			f.VMOVUPS(z, operand.Mem{Base: f.values, Index: f.count, Scale: 4})
		}
		f.VPSHUFB(operand.Mem{Base: shuffles, Index: entry, Scale: 1}, number, wanted)
		f.VMOVDQU(wanted, operand.Mem{Base: f.rows, Index: f.count, Scale: 4})
		f.POPCNTL(bits, bits)
		f.ADDQ(bits.As64(), f.count)
		if k+1 < panelRows/4 {
			f.VPADDD(step, number, number)
		}
	}
}

// compressTables lie in the read-only data. For each of the 16 masks of four elements: the order of 32-bit halves that
// moves the chosen doubles to the front, and the bytes that do so for four 32-bit numbers. And the numbers 0 to 15, and minus infinity.
type compressTables struct{ permutations, shuffles, counting, minusInfinity operand.Mem }

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
	t.minusInfinity = c.StaticGlobal("minusInfinity")
	c.DataAttributes(readOnly)
	c.AppendDatum(operand.U64(0xfff0000000000000))
	c.AppendDatum(operand.U64(0xff800000ff800000))
	return t
}

// lowest is eight bytes of minus infinity, as one float64 or two float32.
func (t compressTables) lowest(size int) operand.Mem {
	if size == 4 {
		return t.minusInfinity.Offset(8)
	}
	return t.minusInfinity
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
