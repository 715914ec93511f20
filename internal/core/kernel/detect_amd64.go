//go:build !purego

package kernel

import "golang.org/x/sys/cpu"

// hasAssembly is true where families may have implementations in assembly.
const hasAssembly = true

// convert contains the families that spend their time converting float32 to float64.
var convert = [families]bool{scoresFamily: true, accumulateFamily: true, hingeFamily: true}

// detect returns the level of a family. A processor that executes a 512-bit instruction in two halves converts numbers faster
// in 256 bits.
func detect(f family) level {
	switch {
	case hasAVX512() && !(convert[f] && splitsVectors()):
		return levelAVX512
	case hasAVX2():
		return levelAVX2
	}
	return levelGo
}

func hasAVX2() bool {
	return cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasPOPCNT && cpu.X86.HasBMI1 && cpu.X86.HasBMI2
}

func hasAVX512() bool {
	x := &cpu.X86
	return hasAVX2() && x.HasAVX512F && x.HasAVX512VL && x.HasAVX512BW && x.HasAVX512DQ
}

// splitsVectors reports whether the processor executes 512-bit instructions in two halves: AMD's family 19h (Zen 4).
func splitsVectors() bool { return amdFamily() == 0x19 }

// readsOneStream reports whether the processor reads one stream faster than several in turns: AMD's family 1Ah (Zen 5).
func readsOneStream() bool { return amdFamily() == 0x1a }

// amdFamily returns the family of a processor of AMD, 0 of any other.
func amdFamily() uint32 {
	const authenticAMD = 0x68747541 // the first four letters of the vendor
	_, vendor, _, _ := cpuid(0)
	version, _, _, _ := cpuid(1)
	if vendor != authenticAMD {
		return 0
	}
	return version>>8&0xf + version>>20&0xff
}

// levels returns the implementations that this processor runs.
func levels() []level {
	all := []level{levelGo, levelAVX2, levelAVX512}
	switch {
	case hasAVX512():
		return all
	case hasAVX2():
		return all[:2]
	}
	return all[:1]
}
