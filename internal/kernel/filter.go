package kernel

import "unsafe"

// TileFilter is what FilterTile keeps of one model's scores.
type TileFilter struct {
	values *float32
	rows   *int32
	count  int
	floor  float32
	room   int
}

// NewTileFilter returns a filter for the scores above a floor, which appends them and their row numbers to the first count
// elements of values and rows.
func NewTileFilter(floor float32, values []float32, rows []int32, count int) TileFilter {
	return TileFilter{unsafe.SliceData(values), unsafe.SliceData(rows), count, floor, min(len(values), len(rows))}
}

// Room is the number of elements that are not in use.
func (f *TileFilter) Room() int { return f.room - f.count }

// Count is the number of elements that are in use.
func (f *TileFilter) Count() int { return f.count }

// FilterTile looks for the scores of a tile, z[(p*models+h)*64+r], that lie above the floor of their model's filter, which
// appends them and their row numbers, first for the first row, in order. Each must have room for the scores of all panels; what
// lies behind the entries in use is undefined. NaN is above nothing.
func FilterTile(z []float32, filters []TileFilter, first int32) {
	models := len(filters)
	if models == 0 || len(z) < models*PanelRows {
		return
	}
	panels := len(z) / (models * PanelRows)
	if uses(filterFamily) {
		asmFilterTile(&z[0], (*uintptr)(unsafe.Pointer(&filters[0])), models, panels, first)
		return
	}
	for ; panels > 0; panels-- {
		for h := range filters {
			f := &filters[h]
			values, rows := unsafe.Slice(f.values, f.count+PanelRows), unsafe.Slice(f.rows, f.count+PanelRows)
			for r, s := range z[:PanelRows] {
				if s > f.floor {
					values[f.count], rows[f.count] = s, first+int32(r)
					f.count++
				}
			}
			z = z[PanelRows:]
		}
		first += PanelRows
	}
}
