package main

import "github.com/mmcloughlin/avo/reg"

// read emits the reading of memory that benchmarks measure the machine with. Wider vectors do not read faster.
func read(c code) {
	c.function("readAVX2", "(x *float32, blocks int, sums *float32)",
		"writes eight partial sums of blocks of 128 values; blocks is positive.")
	r := c.arguments("x", "blocks", "sums")
	x, blocks, sums := r[0], r[1], r[2]
	sum := c.vectors(avx2, 8)
	for _, v := range sum {
		c.zero(avx2, v)
	}
	c.Label("block")
	for k := range 16 {
		c.VADDPS(at(x, 32*k), sum[k%8], sum[k%8])
	}
	c.add(512, x)
	c.down(blocks, "block")
	for k := 1; k < 8; k++ {
		c.VADDPS(sum[k], sum[0], sum[0])
	}
	c.VMOVUPS(sum[0], at(sums, 0))
	c.finish()
}

// cpuid emits the query of the processor's family.
func cpuid(c code) {
	c.function("cpuid", "(leaf uint32) (eax, ebx, ecx, edx uint32)", "asks the processor about itself.")
	c.Load(c.Param("leaf"), reg.EAX)
	c.XORL(reg.ECX, reg.ECX)
	c.CPUID()
	c.Store(reg.EAX, c.Return("eax"))
	c.Store(reg.EBX, c.Return("ebx"))
	c.Store(reg.ECX, c.Return("ecx"))
	c.Store(reg.EDX, c.Return("edx"))
	c.RET()
}
