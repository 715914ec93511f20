package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Offsets in kernel.TileFilter, and its size.
const (
	tileFilterValues = 8 * iota
	tileFilterRows
	tileFilterCount
	tileFilterFloor
	_
	tileFilterBytes
)

// filterTile emits the selection in the scores of a tile, panel by panel: they are read as they were written.
func filterTile(c code, tables compressTables) {
	for _, s := range []shape{avx2, avx512} {
		c.function("filterTile"+s.name, "(z *float32, filters *uintptr, models int, panels int, first int32)",
			"appends the scores of each model above its floor, and their row numbers, counted from first; z is panels x models "+
				"x 64; models and panels are positive. Up to a vector behind the last entry is overwritten, never more than "+
				"the scores of all panels take.")
		r := c.arguments("z", "panels")
		f := filterCode{code: c, shape: s, size: 4, z: r[0], tables: tables,
			values: c.GP64(), rows: c.GP64(), count: c.GP64(), t: c.vector(s)}
		f.row = c.Load(c.Param("first"), c.GP32()).(reg.GPVirtual)
		f.emitTile(r[1])
	}
}

func (f filterCode) emitTile(panels reg.Register) {
	filter, models := f.GP64(), f.GP64()
	f.Label("panel")
	f.Load(f.Param("filters"), filter)
	f.Load(f.Param("models"), models)
	f.Label("model")
	f.MOVQ(at(filter, tileFilterValues), f.values)
	f.MOVQ(at(filter, tileFilterRows), f.rows)
	f.MOVQ(at(filter, tileFilterCount), f.count)
	f.VBROADCASTSS(at(filter, tileFilterFloor), f.t)
	f.block(func() {
		f.MOVQ(f.count, at(filter, tileFilterCount))
		f.add(tileFilterBytes, filter)
		f.add(4*panelRows, f.z)
		f.down(models, "model")
		f.ADDL(operand.Imm(panelRows), f.row)
		f.down(panels, "panel")
		f.finish()
	})
}
