package ranked

import (
	"cmp"
	"slices"

	"toptau/internal/data/table"
	"toptau/internal/training/rowset"
	"toptau/result"
)

// exampleReasons is the number of columns that an example names. Chosen by hand.
const exampleReasons = 5

// Examples lists the units whose scores are most telling: the highest false alarms, the highest positives
// found, and the lowest positives missed, at most limit of each.
func (k *Ranking) Examples(u *rowset.Units, alarms []bool, limit int) ([]result.Example, error) {
	reasons := rowset.NewTableReasons(k.Model)
	z := u.Scores(k.Z)
	top := make([]int, len(z)) // by unit: the row of its score
	if u.Rows() {
		for row := range top {
			top[row] = row
		}
	} else {
		copy(top, u.First)
		for row, unit := range u.Of {
			if k.Z[row] > k.Z[top[unit]] {
				top[unit] = row
			}
		}
	}
	var list []result.Example
	for _, kind := range []result.ExampleKind{result.FalseAlarm, result.FoundRow, result.MissedRow} {
		var chosen []int
		for unit, class := range u.Label {
			if (class == table.Positive) == (kind != result.FalseAlarm) && alarms[unit] == (kind != result.MissedRow) {
				chosen = append(chosen, unit)
			}
		}
		slices.SortStableFunc(chosen, func(a, b int) int {
			if kind == result.MissedRow {
				return cmp.Compare(z[a], z[b])
			}
			return cmp.Compare(z[b], z[a])
		})
		for _, unit := range chosen[:min(limit, len(chosen))] {
			e, err := k.example(kind, top[unit], reasons)
			if err != nil {
				return nil, err
			}
			list = append(list, e)
		}
	}
	return list, nil
}

// example describes a row with its reasons.
func (k *Ranking) example(kind result.ExampleKind, row int, e *rowset.TableReasons) (result.Example, error) {
	t, err := k.Data.Row(row)
	if err != nil {
		return result.Example{}, err
	}
	list, err := e.Of(t, 0, exampleReasons)
	if err != nil {
		return result.Example{}, k.Data.WithFile(err)
	}
	x := result.Example{Kind: kind, Row: k.Data.RowNumber(row), Line: t.LineOf(0), Score: k.Z[row], Reasons: list}
	for _, c := range t.ID {
		x.ID = append(x.ID, c.Values[0])
	}
	return x, nil
}
