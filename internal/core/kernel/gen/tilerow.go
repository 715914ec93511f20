package main

import "github.com/mmcloughlin/avo/operand"

// tileRow emits one row's part of the gradient of one model.
func tileRow(c code) {
	c.function("tileRowAVX2", "(x *float32, v float32, lanes *float32, d int, stride int)",
		"adds v times every 64th value of x to lanes that are stride bytes apart; d is positive.")
	x, v := c.Load(c.Param("x"), c.GP64()), c.Load(c.Param("v"), c.XMM())
	r := c.arguments("lanes", "d", "stride")
	lanes, d, stride := r[0], r[1], r[2]
	c.Label("feature")
	sum := c.XMM()
	c.VMOVSS(at(lanes, 0), sum)
	c.VFMADD231SS(at(x, 0), v, sum)
	c.VMOVSS(sum, at(lanes, 0))
	c.ADDQ(operand.U32(4*panelRows), x)
	c.ADDQ(stride, lanes)
	c.down(d, "feature")
	c.finish()
}
