package main

// join emits the sum of float64 parts of scores and float32 ones, rounded to float32.
func join(c code) {
	for _, s := range []shape{avx2, avx512} {
		c.function("join"+s.name, "(sums *float64, z *float32, stride int, panels int)",
			"adds sums to the scores of panels that are stride bytes apart; panels is positive.")
		r := c.arguments("sums", "z", "stride", "panels")
		sums, z, stride, panels := r[0], r[1], r[2], r[3]
		c.Label("panel")
		for row := 0; row < panelRows; row += s.doubles() {
			if s.bytes == 64 {
				narrow := c.YMM()
				c.VCVTPD2PS(at(sums, 8*row), narrow)
				c.VADDPS(at(z, 4*row), narrow, narrow)
				c.VMOVUPS(narrow, at(z, 4*row))
			} else {
				narrow := c.XMM()
				c.VCVTPD2PSY(at(sums, 8*row), narrow)
				c.VADDPS(at(z, 4*row), narrow, narrow)
				c.VMOVUPS(narrow, at(z, 4*row))
			}
		}
		c.add(8*panelRows, sums)
		c.ADDQ(stride, z)
		c.down(panels, "panel")
		c.finish()
	}
}
