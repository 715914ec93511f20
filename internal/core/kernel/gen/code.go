package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// code is the function being written.
type code struct{ *build.Context }

// shape is a vector width and the registers a kernel may use.
type shape struct {
	name      string // ends the names of its functions
	bytes     int    // of a vector
	registers int
}

// The shapes. half, 256-bit vectors with the registers of AVX-512, is for parts of AVX-512 kernels.
var (
	avx2   = shape{"AVX2", 32, 16}
	half   = shape{"", 32, 32}
	avx512 = shape{"AVX512", 64, 32}
)

func (s shape) doubles() int { return s.bytes / 8 }
func (s shape) singles() int { return s.bytes / 4 }

// vector returns a new vector register of the shape's width.
func (c code) vector(s shape) reg.VecVirtual {
	if s.bytes == 64 {
		return c.ZMM()
	}
	return c.YMM()
}

// vectors returns n new vector registers.
func (c code) vectors(s shape, n int) []reg.VecVirtual {
	v := make([]reg.VecVirtual, n)
	for i := range v {
		v[i] = c.vector(s)
	}
	return v
}

// zero clears a register. The integer form needs no DQ extension for the upper sixteen registers.
func (c code) zero(s shape, v reg.Register) {
	if s.registers == 32 {
		c.VPXORQ(v, v, v)
		return
	}
	c.VXORPD(v, v, v)
}

// function starts a leaf function without a frame.
func (c code) function(name, signature, doc string) {
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.SignatureExpr("func" + signature)
	c.Doc(name + " " + doc)
	c.Pragma("noescape")
}

// arguments loads the integer and pointer arguments named, in order.
func (c code) arguments(names ...string) []reg.Register {
	r := make([]reg.Register, len(names))
	for i, name := range names {
		r[i] = c.Load(c.Param(name), c.GP64())
	}
	return r
}

// finish ends a function that used vector registers.
func (c code) finish() {
	c.VZEROUPPER()
	c.RET()
}

// at is the memory at base plus displacement.
func at(base reg.Register, displacement int) operand.Mem {
	return operand.Mem{Base: base, Disp: displacement}
}

// add adds a constant to a pointer or a counter.
func (c code) add(n int, r reg.Register) {
	if n < 128 {
		c.ADDQ(operand.Imm(uint64(n)), r)
		return
	}
	c.ADDQ(operand.U32(n), r)
}

// down counts a register down and jumps while it is not zero.
func (c code) down(r reg.Register, label string) {
	c.DECQ(r)
	c.JNZ(operand.LabelRef(label))
}

func (c code) jump(op func(operand.Op), label string) { op(operand.LabelRef(label)) }

func label(format string, args ...any) string { return fmt.Sprintf(format, args...) }
