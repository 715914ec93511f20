package main

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
