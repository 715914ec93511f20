package feature

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"toptau/internal/data/table"
	"toptau/schema"
)

func sparseTable(rows ...map[int]float64) *table.Table {
	t := &table.Table{File: "a.svm", Sparse: &table.Sparse{Cols: 6, Start: []int64{0}}}
	for i, row := range rows {
		for j := range 10 {
			if v, found := row[j+1]; found {
				t.Sparse.Index = append(t.Sparse.Index, uint32(j))
				t.Sparse.Value = append(t.Sparse.Value, v)
			}
		}
		t.Sparse.Start = append(t.Sparse.Start, int64(len(t.Sparse.Index)))
		t.Line = append(t.Line, i+1)
		t.Label = append(t.Label, table.Class(i%2))
	}
	return t
}

func TestSparseByHand(t *testing.T) {
	data := sparseTable(
		map[int]float64{1: 1, 2: 7, 4: 4},
		map[int]float64{2: 7, 4: 4},
		map[int]float64{1: 1, 2: 7},
		map[int]float64{2: 7, 6: 0},
	)
	m, warnings, err := Fit(data, schema.Schema{Format: "libsvm"}, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.Names(), []string{"index 1", "index 4"}; !slices.Equal(got, want) {
		t.Fatalf("names %q, want %q: 2 is constant, 3 and 5 never occur, 6 is always 0", got, want)
	}
	if got, want := encoded(t, m, data)[0], []float64{1, 2}; !slices.Equal(got, want) {
		t.Errorf("row %v, want %v: an indicator, and a value divided by the deviation 2; not shifted", got, want)
	}
	all := fit(t, data, Options{Scale: schema.ScaleAll})
	if got, want := encoded(t, all, data)[0], []float64{2, 2}; !slices.Equal(got, want) {
		t.Errorf("scale all: row %v, want %v: the indicator is divided by its deviation 1/2", got, want)
	}
	indicators := fit(t, sparseTable(map[int]float64{1: 1}, map[int]float64{2: 1}), Options{}).Blocks[0].(*SparseBlock)
	if indicators.Scale != nil {
		t.Errorf("indicators alone: scales %v", indicators.Scale)
	}
	if len(warnings) != 2 || warnings[1].Text != "dropped 3 indices without a value in the training rows" {
		t.Errorf("warnings %v", warnings)
	}
	// A later file: the constant index is silent, those that training did not have are counted.
	later := sparseTable(map[int]float64{1: 3, 2: 9, 3: 1, 9: 1, 5: 0})
	var e Encoded
	if err := m.Encode(later, 0, &e); err != nil {
		t.Fatal(err)
	}
	if e.Counts.UnknownIndices != 2 || !slices.Equal(e.Values, []float64{3}) {
		t.Errorf("counts %+v, values %v", e.Counts, e.Values)
	}
	if none := fit(t, data, Options{Scale: schema.ScaleNone}); !slices.Equal(encoded(t, none, data)[0], []float64{1, 4}) {
		t.Errorf("scale none: %v", encoded(t, none, data)[0])
	}
}

// Zeros that are not written count like written ones.
func TestSparseDeviationsAreTheDenseOnes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		data := randomTable(r, 50, true)
		m := fit(t, data, Options{})
		block := m.Blocks[0].(*SparseBlock)
		for j, index := range block.Index {
			column := make([]float64, data.Rows())
			for i := range column {
				for e := data.Sparse.Start[i]; e < data.Sparse.Start[i+1]; e++ {
					if data.Sparse.Index[e]+1 == index {
						column[i] = data.Sparse.Value[e]
					}
				}
			}
			if want := momentsOf(column, data.Weight).sd; math.Abs(block.Scale[j]-want) > 1e-12*want {
				t.Fatalf("index %d: deviation %v, want %v", index, block.Scale[j], want)
			}
		}
	}
}

// Indices far apart are found without a table of all indices.
func TestSparseIndicesFarApart(t *testing.T) {
	data := sparseTable(map[int]float64{1: 1}, map[int]float64{})
	data.Sparse.Cols = 90_000_001
	data.Sparse.Index = append(data.Sparse.Index, 90_000_000)
	data.Sparse.Value = append(data.Sparse.Value, 1)
	data.Sparse.Start[2]++
	block := SparseBlock{Index: []uint32{1, 90_000_001}}
	m := &Map{Scale: schema.ScaleNone, Impute: schema.ImputeError, Sparse: true, Blocks: blocks{&block}}
	if err := m.Prepare(); err != nil {
		t.Fatal(err)
	}
	if block.position != nil {
		t.Error("a table of 90 million positions for two indices")
	}
	if got := encoded(t, m, data); got[0][0] != 1 || got[1][1] != 1 {
		t.Errorf("%v", got)
	}
}
