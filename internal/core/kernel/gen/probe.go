package main

// probes emits the yardsticks of command bench. The library does not use them.
func probes(c code) {
	read(c)
	multiply(c)
}

// read emits a sweep over memory. Wider vectors do not read faster.
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

// multiply emits fused multiply-adds of registers and nothing else: the limit that a tile is measured against.
func multiply(c code) {
	for _, s := range []shape{avx2, avx512} {
		c.function("multiply"+s.name, "(rounds int)", "does 12 vectors of float32 fused multiply-adds a round; rounds is positive.")
		rounds := c.arguments("rounds")[0]
		sums := c.vectors(s, 12)
		factor := c.vector(s)
		for _, v := range append(sums, factor) {
			c.zero(s, v)
		}
		c.Label("round")
		for _, v := range sums {
			c.VFMADD231PS(factor, factor, v)
		}
		c.down(rounds, "round")
		c.finish()
	}
}
