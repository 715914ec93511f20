package main

import "github.com/mmcloughlin/avo/operand"

// choose emits the evaluation of trees on bytes, 32 rows in a vector. AVX2 suffices: what follows, a lookup for each row
// and tree, takes as long.
func choose(c code) {
	c.function("chooseAVX2", "(choices *int32, count int, codes *uint8, space *uint8, vectors int)",
		"makes the choices one after the other for some vectors of 32 rows; count and vectors are positive.")
	r := c.arguments("choices", "count", "codes", "space", "vectors")
	choice, count, codes, space, vectors := r[0], r[1], r[2], r[3], r[4]
	c.Label("choice")
	x, left, right, to := c.GP64(), c.GP64(), c.GP64(), c.GP64()
	leftStep, rightStep, n, offset := c.GP64(), c.GP64(), c.GP64(), c.GP64()
	for i, p := range []struct{ base, offset operand.Op }{{codes, x}, {space, left}, {space, right}, {space, to}} {
		c.MOVLQSX(at(choice, 4*i), p.offset)
		c.ADDQ(p.base, p.offset)
	}
	c.MOVLQSX(at(choice, 16), leftStep)
	c.MOVLQSX(at(choice, 20), rightStep)
	bound := c.YMM()
	c.VPBROADCASTB(at(choice, 24), bound)
	c.MOVQ(vectors, n)
	c.XORQ(offset, offset)
	c.Label("vector")
	above, result := c.YMM(), c.YMM()
	c.VMOVDQU(operand.Mem{Base: x, Index: offset, Scale: 1}, above)
	c.VPCMPGTB(bound, above, above)
	c.VMOVDQU(at(left, 0), result)
	c.VPBLENDVB(above, at(right, 0), result, result)
	c.VMOVDQU(result, operand.Mem{Base: to, Index: offset, Scale: 1})
	c.ADDQ(leftStep, left)
	c.ADDQ(rightStep, right)
	c.add(32, offset)
	c.down(n, "vector")
	c.add(28, choice)
	c.down(count, "choice")
	c.finish()
}
