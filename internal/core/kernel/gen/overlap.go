package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
)

// overlap emits the scores of one panel together with the gradient of another. The first comes from memory while the second,
// which has been scored before, is in cache. The sixteen registers of AVX2 are not enough.
func overlap(c code) {
	for _, size := range []int{4, 8} {
		for _, s := range []shape{avx512} {
			overlapPanels(c, s, size)
		}
	}
}

func overlapPanels(c code, s shape, size int) {
	c.function(fmt.Sprintf("overlapFloat%d%s", 8*size, s.name),
		fmt.Sprintf("(x *float%d, w *float64, z *float64, last *float%d, v *float64, lanes *float64, d int, add int, ahead int, lastAhead int)",
			8*size, 8*size),
		"computes the scores of the panel at x and adds the part of X'v of the panel at last to lanes; d is positive. "+
			"Without add, z is overwritten. Data ahead bytes behind x, and lastAhead bytes behind last, are prefetched.")
	r := c.arguments("x", "w", "z", "last", "v", "lanes", "d", "add", "ahead", "lastAhead")
	x, w, z, last, v, lane, j, add, ahead, lastAhead := r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9]
	vectors, parts := panelRows/s.doubles(), lanes/s.doubles()

	score := c.vectors(s, vectors)
	c.TESTQ(add, add)
	c.jump(c.JNZ, "load")
	for _, k := range score {
		c.zero(s, k)
	}
	c.jump(c.JMP, "feature")
	c.Label("load")
	for k := range score {
		c.VMOVUPD(at(z, k*s.bytes), score[k])
	}

	c.Label("feature")
	for line := 0; line < panelRows*size; line += 64 {
		c.PREFETCHT1(operand.Mem{Base: x, Index: ahead, Scale: 1, Disp: line})
		c.PREFETCHT1(operand.Mem{Base: last, Index: lastAhead, Scale: 1, Disp: line})
	}
	wj := c.vector(s)
	c.VBROADCASTSD(at(w, 0), wj)
	sum := c.vectors(s, parts)
	for p := range sum {
		c.VMOVUPD(at(lane, p*s.bytes), sum[p])
	}
	g := gradient{code: c, shape: s, size: size}
	for k := range vectors {
		product := c.product(s, size, at(x, k*s.doubles()*size), wj)
		c.VADDPD(product, score[k], score[k])
		product = g.productOf(at(last, k*s.doubles()*size), at(v, k*s.bytes))
		c.VADDPD(product, sum[k%parts], sum[k%parts])
	}
	for p := range sum {
		c.VMOVUPD(sum[p], at(lane, p*s.bytes))
	}
	c.add(panelRows*size, x)
	c.add(panelRows*size, last)
	c.add(lanes*8, lane)
	c.add(8, w)
	c.down(j, "feature")

	for k := range score {
		c.VMOVUPD(score[k], at(z, k*s.bytes))
	}
	c.finish()
}
