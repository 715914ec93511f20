package feature

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
	"toptau/schema"
)

// mixedTable has numbers, some of them missing, decimals, categories and weights.
func mixedTable(r *rand.Rand, rows int) *table.Table {
	t := &table.Table{File: "t", Columns: []table.Column{
		{Name: "a", Number: 1}, {Name: "b", Number: 2}, {Name: "c", Number: 3, Kind: schema.Categorical},
		{Name: "d", Number: 4}, {Name: "e", Number: 5}, {Name: "f", Number: 6}, {Name: "g", Number: 7}}}
	t.Columns[2].Dictionary = []string{"x", "y", "z"}
	for i := range rows {
		for j := range t.Columns {
			c := &t.Columns[j]
			switch {
			case c.Kind == schema.Categorical:
				c.Codes = append(c.Codes, int32(r.IntN(4)-1))
			case j == 1 && r.IntN(5) == 0:
				c.Values = append(c.Values, math.NaN())
			case j == 3:
				c.Values = append(c.Values, 7)
			default:
				c.Values = append(c.Values, 1e3*(r.Float64()-0.3)*float64(j))
			}
		}
		t.Label, t.Line = append(t.Label, table.Class(min(1, r.IntN(4)))), append(t.Line, i+1)
		t.Weight = append(t.Weight, 0.5+r.Float64())
	}
	return t
}

// rowByRow is Matrix without batches.
func rowByRow(m *Map, t *table.Table, rows []int) (*matrix.Matrix, error) {
	p, err := newPacking(m, t, rows, matrix.Float32)
	if err != nil {
		return nil, err
	}
	for i := range rowCount(t, rows) {
		if err := p.addRow(rowAt(rows, i)); err != nil {
			return nil, err
		}
	}
	return p.to.Build()
}

// A matrix built in batches, by one worker or several, equals the one built row by row.
func TestBatches(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	r := rand.New(rand.NewPCG(3, 5))
	data := mixedTable(r, 2111)
	scattered := r.Perm(data.Rows())[:1500]
	for _, o := range []Options{{Impute: schema.ImputeIndicator}, {Impute: schema.ImputeZero, Scale: schema.ScaleNone}, {Impute: schema.ImputeMedian, Scale: schema.ScaleAll},
		{Impute: schema.ImputeIndicator, Encode: EncodeScorecard}, {Impute: schema.ImputeZero, Encode: EncodeLeaves},
		{Impute: schema.ImputeIndicator, Encode: EncodeBoosted, Rounds: 5, Derived: []Derivation{{Ratio, 4, 1}}}} {
		m, _, err := Fit(data, named, nil, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, rows := range [][]int{nil, scattered, {5, 3, 3, 2000, 7, 8, 9}} {
			want, err := rowByRow(m, data, rows)
			if err != nil {
				t.Fatal(err)
			}
			got, err := m.Matrix(data, rows, matrix.Float32)
			if err != nil {
				t.Fatal(err)
			}
			compareMatrices(t, want, got)
		}
	}
}

// If rows cannot be encoded, the error is that of the first one, as when encoding row by row.
func TestBatchErrors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	r := rand.New(rand.NewPCG(4, 5))
	for _, encode := range []Encode{EncodeRaw, EncodeScorecard} {
		data := mixedTable(r, 3000)
		m, _, err := Fit(data, named, nil, Options{Impute: schema.ImputeZero, Encode: encode})
		if err != nil {
			t.Fatal(err)
		}
		for name, spoil := range map[string]func(row int){
			"large":    func(row int) { data.Columns[5].Values[row] = 1e300 },
			"missing":  func(row int) { m.Impute = schema.ImputeError; data.Columns[0].Values[row] = math.NaN() },
			"no name":  func(row int) { m.Impute = schema.ImputeError; data.Columns[2].Codes[row] = -1 },
			"no label": func(row int) { data.Label[row] = table.Unknown },
		} {
			spoil(2500)
			spoil(1777)
			_, want := rowByRow(m, data, nil)
			_, got := m.Matrix(data, nil, matrix.Float32)
			if fmt.Sprint(got) != fmt.Sprint(want) || want == nil && encode == EncodeRaw {
				t.Errorf("%s, %s: %v, want %v", encode, name, got, want)
			}
		}
	}
}

// Moments computed for a group of columns equal those of single columns, packed or not.
func TestMomentsOfColumnGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 5))
	for _, rows := range []int{1, 2, 5, 1023, 1024, 3333} {
		data := mixedTable(r, rows)
		data.Weight = nil
		for i := range data.Columns[6].Values {
			data.Columns[6].Values[i] *= math.Ldexp(1, r.IntN(2000)-1010)
		}
		f := newFitter(data, nil, Options{Impute: schema.ImputeZero, Encode: EncodeRaw})
		all := make([]measured, len(data.Columns))
		alone := f.measureGroup([]int{0, 1, 3, 6}, all)
		for _, j := range []int{0, 1, 3, 6} {
			values := data.Columns[j].Values
			if !complete(values) {
				if len(alone) != 1 || alone[0] != j {
					t.Errorf("%d rows: columns %v alone", rows, alone)
				}
				continue
			}
			if got, want := (moments{all[j].Mean, all[j].SD, all[j].Constant}), momentsOf(values, nil); got != want {
				t.Errorf("%d rows, column %d: %+v, want %+v", rows, j, got, want)
			}
		}
	}
}
