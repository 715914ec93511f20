package kernel

import "unsafe"

// TileFilter collects one model's scores above a floor.
type TileFilter struct {
	values *float32
	rows   *int32
	count  int
	floor  float32
	space  int
}

// NewTileFilter returns a filter for the scores above a floor, which appends them and their row numbers to the first count
// elements of values and rows.
func NewTileFilter(floor float32, values []float32, rows []int32, count int) TileFilter {
	return TileFilter{unsafe.SliceData(values), unsafe.SliceData(rows), count, floor, min(len(values), len(rows))}
}

// Free returns the number of unused elements.
func (f *TileFilter) Free() int { return f.space - f.count }

// Count returns the number of elements in use.
func (f *TileFilter) Count() int { return f.count }

// FilterTile appends the scores of a tile, z[(p*models+h)*64+r], that are above the floor of their model's filter to the
// filter, with their row numbers, counted from first, in order. Each filter must have space for the scores of all panels; its
// elements after those in use are undefined. NaN is not above any floor.
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
