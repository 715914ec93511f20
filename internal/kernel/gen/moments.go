package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// moments emits compensated sums of four columns side by side. The sums wait for each other's results, not for more lanes:
// there is one width for all levels.
func moments(c code) {
	for _, square := range []bool{false, true} {
		name, term := "momentsFirstAVX2", "unit x"
		if square {
			name, term = "momentsSecondAVX2", "(unit x - mean)^2"
		}
		c.function(name, "(a, b, c, d *float64, blocks int, state *float64)",
			"adds "+term+" of four columns, four rows a block, to the sums in state: unit, mean, total and lost, four of each; "+
				"blocks is positive.")
		m := momentsCode{code: c, square: square}
		r := c.arguments("a", "b", "c", "d", "blocks", "state")
		m.emit(r[:4], r[4], r[5])
	}
}

type momentsCode struct {
	code
	square                  bool
	unit, mean, total, lost reg.VecVirtual
}

func (m momentsCode) emit(columns []reg.Register, blocks, state reg.Register) {
	for i, v := range []*reg.VecVirtual{&m.unit, &m.mean, &m.total, &m.lost} {
		if *v = m.YMM(); v != &m.mean || m.square {
			m.VMOVUPD(at(state, 32*i), *v)
		}
	}
	m.Label("block")
	x, y := m.vectors(avx2, 4), m.vectors(avx2, 4)
	for i, column := range columns {
		m.VMOVUPD(at(column, 0), x[i])
		m.add(32, column)
	}
	for i := 0; i < 4; i += 2 { // pairs of columns: rows 0 and 2, then rows 1 and 3
		m.VUNPCKLPD(x[i+1], x[i], y[i])
		m.VUNPCKHPD(x[i+1], x[i], y[i+1])
	}
	rows := m.vectors(avx2, 4)
	for i := range 2 {
		m.VPERM2F128(operand.Imm(0x20), y[i+2], y[i], rows[i])
		m.VPERM2F128(operand.Imm(0x31), y[i+2], y[i], rows[i+2])
	}
	for _, v := range rows {
		m.addTerm(v)
	}
	m.down(blocks, "block")
	m.VMOVUPD(m.total, at(state, 64))
	m.VMOVUPD(m.lost, at(state, 96))
	m.finish()
}

// addTerm adds a row.
func (m momentsCode) addTerm(v reg.VecVirtual) {
	m.VMULPD(m.unit, v, v)
	if m.square {
		m.VSUBPD(m.mean, v, v)
		m.VMULPD(v, v, v)
	}
	t, added, rest := m.YMM(), m.YMM(), m.YMM()
	m.VADDPD(v, m.total, t)
	m.VSUBPD(m.total, t, added)
	m.VSUBPD(added, t, rest)
	m.VSUBPD(rest, m.total, rest)
	m.VSUBPD(added, v, added)
	m.VADDPD(added, rest, rest)
	m.VADDPD(rest, m.lost, m.lost)
	m.VMOVAPD(t, m.total)
}
