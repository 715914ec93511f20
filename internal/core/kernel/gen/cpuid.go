package main

import "github.com/mmcloughlin/avo/reg"

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
