package dialect

import (
	"strings"
	"testing"
)

// PostgreSQL looks keys up in a hash table only if the list has the type of their column, and that of an array of integers is integer.
func TestListsOfKeysTakeTheTypeOfTheirColumn(t *testing.T) {
	d := Postgres()
	for want, literals := range map[string][]string{
		`k = ANY ('{-7,12}')`:           {"-7", "12"},
		`k = ANY (ARRAY['7', 'it''s'])`: {"'7'", "'it''s'"},
		`k = ANY (ARRAY[E'\u000a'])`:    {`E'\u000a'`},
	} {
		if got := d.Among("k", literals); got != want {
			t.Errorf("%s instead of %s", got, want)
		}
	}
}

// ClickHouse computes the conditions of all runs of cuts for every row, so cuts at quantiles are searched, and those at equal distances are
// counted in steps.
func TestCutsAtQuantilesAreSearched(t *testing.T) {
	d := ClickHouse()
	var equal, quantiles []float64
	for k := range 1000 {
		equal, quantiles = append(equal, float64(k)/8), append(quantiles, float64(k*k))
	}
	if near := d.Near(d, "s", equal); !strings.Contains(near, "floor") {
		t.Errorf("equal distances: %.200s", near)
	}
	if near := d.Near(d, "s", quantiles); strings.Contains(near, "CASE") {
		t.Errorf("quantiles: %.200s", near)
	}
}
