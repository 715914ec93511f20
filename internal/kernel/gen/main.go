package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	TEXT("t", NOSPLIT, "func(x *float32)")
	x := Load(Param("x"), GP64())
	z := ZMM()
	VCVTPS2PD(Mem{Base: x}, z)
	VADDPD(z, z, z)
	VMOVUPD(z, Mem{Base: x})
	_ = reg.Z0
	VZEROUPPER()
	RET()
	Generate()
}
