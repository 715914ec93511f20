package engine_test

import (
	"fmt"
	"math"

	"toptau/sql/servers"
)

// scaleColumns is the number of columns of the rows that are measured.
const scaleColumns = 28

// scaleHash spreads the number of a row and of a column (the finaliser of SplitMix64).
func scaleHash(row, column int) uint64 {
	x := uint64(row*64+column+1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// scaleValue is the value of a column: a sum of four uniform numbers of 16 bits, which is nearly normal with deviation 1. The first
// columns of positives are larger.
func scaleValue(row, column int) float64 {
	x := scaleHash(row, column)
	sum := x&0xffff + x>>16&0xffff + x>>32&0xffff + x>>48
	z := (float64(sum)/65536 - 2) * math.Sqrt(3)
	if column < 6 {
		z += 1.5 * float64(scaleLabel(row))
	}
	return float64(float32(z))
}

// scaleLabel is 1 for one row of 200.
func scaleLabel(row int) int64 {
	if scaleHash(row, scaleColumns)%200 == 0 {
		return 1
	}
	return 0
}

// scaleTable has some of the rows.
func scaleTable(rows int) servers.Table {
	t := servers.Table{Name: "events", Key: "k", Rows: rows, Columns: []servers.Column{
		{Name: "k", Integer: func(row int) int64 { return int64(row) }}, {Name: "y", Integer: scaleLabel}}}
	for j := range scaleColumns {
		t.Columns = append(t.Columns, servers.Column{Name: fmt.Sprintf("c%d", j+1), Single: true,
			Number: func(row int) float64 { return scaleValue(row, j) }})
	}
	return t
}
