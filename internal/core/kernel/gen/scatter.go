package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// scatter emits the gradient of coded groups, with codes of one and two bytes, without and with a fraction. Rows are added
// one by one, which no vector does faster.
func scatter(c code) {
	for _, bytes := range []int{1, 2} {
		scatterOnes(c, bytes)
		scatterBetween(c, bytes)
	}
}

// scatterOnes adds each row's coefficient to its level's lane. Two groups share the loads of the coefficients.
func scatterOnes(c code, bytes int) {
	c.function(fmt.Sprintf("scatter%dAVX2", 8*bytes),
		fmt.Sprintf("(codes *uint%d, v *float64, start *int32, lanes *float64, groups int)", 8*bytes),
		"adds the coefficients of a panel to the lanes of coded groups; groups is positive.")
	r := c.arguments("codes", "v", "start", "lanes", "groups")
	codes, v, start, all, groups := r[0], r[1], r[2], r[3], r[4]
	c.Label("pair")
	c.CMPQ(groups, operand.Imm(2))
	c.jump(c.JLT, "last")
	c.addGroups(2, codes, v, start, all, bytes)
	c.SUBQ(operand.Imm(2), groups)
	c.jump(c.JMP, "pair")
	c.Label("last")
	c.TESTQ(groups, groups)
	c.jump(c.JEQ, "done")
	c.addGroups(1, codes, v, start, all, bytes)
	c.Label("done")
	c.RET()
}

// addGroups adds a panel's coefficients to the lanes of some groups, and moves on.
func (c code) addGroups(groups int, codes, v, start, all reg.Register, bytes int) {
	tables, several := make([]reg.Register, groups), make([]reg.Register, groups)
	for g := range tables {
		tables[g] = c.levelLanes(at(start, 4*g), all)
		several[g] = c.GP64()
	}
	for place := range panelRows {
		row, x := rowAt(place, bytes), c.XMM()
		c.VMOVSD(at(v, 8*row), x)
		for g, table := range tables {
			lane := c.laneOf(at(codes, (g*panelRows+place)*bytes), several[g], table, place, bytes)
			sum := c.XMM()
			c.VADDSD(lane, x, sum)
			c.VMOVSD(sum, lane)
		}
	}
	c.add(groups*panelRows*bytes, codes)
	c.add(4*groups, start)
}

// rowAt is the row whose code lies at a place of its group: kernel.CodeIndex.
func rowAt(place, bytes int) int {
	if bytes == 1 {
		return place%8*8 + place/8
	}
	return place
}

// laneOf is the memory of the lane of a row's level. Codes are loaded eight bytes at a time; the one in turn is the lowest.
func (c code) laneOf(codes operand.Mem, several, table reg.Register, place, bytes int) operand.Mem {
	if place*bytes%8 == 0 {
		c.MOVQ(codes, several)
	}
	code := c.GP64()
	if bytes == 1 {
		c.MOVBQZX(several.(reg.GPVirtual).As8(), code)
	} else {
		c.MOVWQZX(several.(reg.GPVirtual).As16(), code)
	}
	c.SHRQ(operand.Imm(uint64(8*bytes)), several)
	c.SHLQ(operand.Imm(6), code)
	return operand.Mem{Base: table, Index: code, Scale: 1, Disp: rowAt(place, bytes) % lanes * 8}
}

// scatterBetween adds the two parts of each row's coefficient, which are formed before, to two neighbouring levels.
func scatterBetween(c code, bytes int) {
	c.function(fmt.Sprintf("scatterBetween%dAVX2", 8*bytes),
		fmt.Sprintf("(codes *uint%d, fractions *float32, v *float64, start *int32, lanes *float64, groups int)", 8*bytes),
		"adds the coefficients of a panel to the lanes of coded groups; groups is positive.")
	r := c.arguments("codes", "fractions", "v", "start", "lanes", "groups")
	codes, fractions, v, start, all, groups := r[0], r[1], r[2], r[3], r[4], r[5]
	c.Attributes(0) // its frame is too large for NOSPLIT
	here, there := c.AllocLocal(8*panelRows), c.AllocLocal(8*panelRows)
	bits, low, one := c.GP64(), c.XMM(), c.YMM()
	c.MOVQ(operand.U64(0x3ff0000000000000), bits)
	c.VMOVQ(bits, low)
	c.VBROADCASTSD(low, one)
	c.Label("group")
	table := c.levelLanes(at(start, 0), all)
	for row := 0; row < panelRows; row += 4 {
		f, rest := c.YMM(), c.YMM()
		c.VCVTPS2PD(at(fractions, 4*row), f)
		c.VSUBPD(f, one, rest)
		c.VMULPD(at(v, 8*row), rest, rest)
		c.VMULPD(at(v, 8*row), f, f)
		c.VMOVUPD(rest, here.Offset(8*row))
		c.VMOVUPD(f, there.Offset(8*row))
	}
	several := c.GP64()
	for place := range panelRows {
		row := rowAt(place, bytes)
		lane := c.laneOf(at(codes, place*bytes), several, table, place, bytes)
		for i, part := range []operand.Mem{here, there} {
			sum := c.XMM()
			c.VMOVSD(part.Offset(8*row), sum)
			c.VADDSD(lane.Offset(8*lanes*i), sum, sum)
			c.VMOVSD(sum, lane.Offset(8*lanes*i))
		}
	}
	c.add(4*panelRows, fractions)
	c.add(panelRows*bytes, codes)
	c.add(4, start)
	c.down(groups, "group")
	c.finish()
}

// levelLanes returns where the lanes of a group begin.
func (c code) levelLanes(start operand.Mem, all reg.Register) reg.Register {
	table := c.GP64()
	c.MOVLQSX(start, table)
	c.SHLQ(operand.Imm(6), table)
	c.ADDQ(all, table)
	return table
}
