package feature

import (
	"math"
	"slices"
	"testing"

	"toptau/internal/data/table"
	"toptau/schema"
)

func hashes(m *Map, t *table.Table) []uint64 {
	list := make([]uint64, t.Rows())
	f := NewFingerprinter(m, t)
	for first := 0; first < len(list); first += 3 {
		f.Hash(first, list[first:min(first+3, len(list))])
	}
	return list
}

// A hash depends only on what the map reads.
func TestFingerprints(t *testing.T) {
	train := &table.Table{
		Columns: []table.Column{
			{Name: "x", Number: 1, Values: []float64{1, 2, 0, math.NaN(), 1, 1}},
			{Name: "s", Number: 2, Kind: schema.Categorical, Codes: []int32{0, 1, 0, -1, 0, 1}, Dictionary: []string{"a", "b"}},
			{Name: "constant", Number: 3, Values: []float64{7, 7, 7, 7, 7, 7}},
		},
		Line: []int{1, 2, 3, 4, 5, 6},
	}
	m, _, err := Fit(train, schema.Schema{Header: true}, nil, Options{Impute: schema.ImputeIndicator})
	if err != nil {
		t.Fatal(err)
	}
	want := hashes(m, train)
	if want[0] != want[4] {
		t.Error("equal rows have different hashes")
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(want)))
	if len(distinct) != 5 {
		t.Errorf("%d hashes of 5 different rows", len(distinct))
	}
	// The same rows with other codes, -0 for 0, and other values where the map does not look.
	same := &table.Table{
		Columns: []table.Column{
			{Name: "x", Number: 9, Values: []float64{1, 2, math.Copysign(0, -1), math.NaN(), 1, 1}},
			{Name: "s", Number: 2, Kind: schema.Categorical, Codes: []int32{2, 1, 2, -1, 2, 1}, Dictionary: []string{"z", "b", "a"}},
			{Name: "constant", Number: 3, Values: []float64{1, 2, 3, 4, 5, 6}},
		},
		Line: []int{1, 2, 3, 4, 5, 6},
	}
	if got := hashes(m, same); !slices.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
	// Values of different columns do not make up for each other, and unknown categories are one value.
	other := &table.Table{
		Columns: []table.Column{
			{Name: "x", Number: 1, Values: []float64{2, 1, 1, math.NaN()}},
			{Name: "s", Number: 2, Kind: schema.Categorical, Codes: []int32{0, 2, 3, 2}, Dictionary: []string{"a", "b", "new", "newer"}},
			{Name: "constant", Number: 3, Values: []float64{7, 7, 7, 7}},
		},
		Line: []int{1, 2, 3, 4},
	}
	got := hashes(m, other)
	if got[1] != got[2] || got[1] == got[3] {
		t.Errorf("unknown categories: %x", got)
	}
	for i, h := range got {
		if slices.Contains(want, h) {
			t.Errorf("row %d has the hash of another row", i)
		}
	}
}

func TestFingerprintsOfIndices(t *testing.T) {
	train := &table.Table{Sparse: &table.Sparse{Cols: 20, Start: []int64{0, 2, 3, 3}, Index: []uint32{0, 16, 0},
		Value: []float64{1, 2, 3}}, Line: []int{1, 2, 3}}
	for _, encode := range []Encode{EncodeRaw, EncodeScorecard} {
		m, _, err := Fit(train, schema.Schema{}, nil, Options{Encode: encode})
		if err != nil {
			t.Fatal(err)
		}
		want := hashes(m, train)
		// An index that training did not have is no difference; a value of a known one is.
		same := &table.Table{Sparse: &table.Sparse{Cols: 30, Start: []int64{0, 3, 4, 5}, Index: []uint32{0, 16, 25, 0, 25},
			Value: []float64{1, 2, 5, 3, 1}}, Line: []int{1, 2, 3}}
		if got := hashes(m, same); !slices.Equal(got, want) {
			t.Errorf("%s: %x, want %x", encode, got, want)
		}
		if want[0] == want[1] || want[1] == want[2] || want[0] == want[2] {
			t.Errorf("%s: %x", encode, want)
		}
	}
}
