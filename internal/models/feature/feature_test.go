package feature

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toptau/diag"
	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
	"toptau/schema"
)

var missing = math.NaN()

func number(name string, values ...float64) table.Column {
	return table.Column{Name: name, Values: values}
}

// symbol returns a categorical column; "" is a missing value.
func symbol(name string, values ...string) table.Column {
	c := table.Column{Name: name, Kind: schema.Categorical}
	for _, v := range values {
		code := int32(slices.Index(c.Dictionary, v))
		if v != "" && code < 0 {
			code = int32(len(c.Dictionary))
			c.Dictionary = append(c.Dictionary, v)
		}
		c.Codes = append(c.Codes, code)
	}
	return c
}

// tableOf returns a table whose first row is on line 2. Its rows are alternately positive and negative.
func tableOf(columns ...table.Column) *table.Table {
	t := &table.Table{File: "train.csv", Columns: columns}
	for i := range max(len(columns[0].Values), len(columns[0].Codes)) {
		t.Line = append(t.Line, i+2)
		t.Label = append(t.Label, table.Class(i%2))
	}
	for j := range columns {
		columns[j].Number = j + 1
	}
	return t
}

var named = schema.Schema{Format: "csv", Header: true}

func fit(t *testing.T, data *table.Table, o Options) *Map {
	t.Helper()
	m, _, err := Fit(data, named, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// encoded returns the rows of a table with every weight's value, as a matrix would hold them.
func encoded(t *testing.T, m *Map, data *table.Table) [][]float64 {
	t.Helper()
	if err := m.Check(data); err != nil {
		t.Fatal(err)
	}
	var e Encoded
	var rows [][]float64
	for i := range data.Rows() {
		if err := m.Encode(data, i, &e); err != nil {
			t.Fatal(err)
		}
		row := make([]float64, m.Cols())
		for col, x := range m.values(&e) {
			row[col] = x
		}
		rows = append(rows, row)
	}
	return rows
}

func TestStandardScaling(t *testing.T) {
	data := tableOf(
		number("bytes", 2, 4, 4, 4, 5, 5, 7, 9),
		number("zero", 0, 0, 0, 0, 0, 0, 0, 0),
		symbol("service", "http", "ftp", "http", "dns", "ftp", "http", "smtp", "dns"),
		symbol("same", "x", "x", "x", "x", "x", "x", "x", "x"),
	)
	m, warnings, err := Fit(data, named, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"bytes", "service=http", "service=dns", "service=ftp", "service=smtp"}
	if diff := cmp.Diff(want, m.Names()); diff != "" {
		t.Errorf("names: heaviest first, then by bytes (-want +got):\n%s", diff)
	}
	wantRows := [][]float64{
		{-1.5, 1, 0, 0, 0}, {-.5, 0, 0, 1, 0}, {-.5, 1, 0, 0, 0}, {-.5, 0, 1, 0, 0},
		{0, 0, 0, 1, 0}, {0, 1, 0, 0, 0}, {1, 0, 0, 0, 1}, {2, 0, 1, 0, 0},
	}
	if diff := cmp.Diff(wantRows, encoded(t, m, data)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	wantDropped := []Dropped{{1, "zero", "constant"}, {3, "same", "constant"}}
	if diff := cmp.Diff(wantDropped, m.Dropped); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
	wantWarnings := []diag.Warning{{Code: "dropped-columns",
		Text: "dropped 2 constant columns: zero, same"}}
	if diff := cmp.Diff(wantWarnings, warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	wantLayout := matrix.Layout{{Kind: matrix.Dense, Cols: 1}, matrix.CodedSpec([]matrix.Group{{Levels: 4}})}
	if diff := cmp.Diff(wantLayout, m.Layout()); diff != "" {
		t.Errorf("layout (-want +got):\n%s", diff)
	}
}

func TestScaleNoneAndAll(t *testing.T) {
	data := tableOf(number("x", 2, 4, 4, 4, 5, 5, 7, 9), symbol("s", "a", "b", "b", "b", "a", "b", "b", "b"))
	none := fit(t, data, Options{Scale: schema.ScaleNone})
	if got := encoded(t, none, data)[0]; !slices.Equal(got, []float64{2, 0, 1}) {
		t.Errorf("none: %v", got)
	}
	all := fit(t, data, Options{Scale: schema.ScaleAll})
	sd := float64(float32(1 / math.Sqrt(0.75*0.25)))
	if got := encoded(t, all, data)[0]; !slices.Equal(got, []float64{-1.5, 0, sd}) {
		t.Errorf("all: %v, want the one-hot columns divided by sqrt(p (1 - p))", got)
	}
}

// Columns without a header are named by number.
func TestNumberedColumns(t *testing.T) {
	data := tableOf(number("1", 1, 2), symbol("2", "tcp", "udp"))
	m, _, err := Fit(data, schema.Schema{Format: "csv"}, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.Names(), []string{"column 1", "column 2=tcp", "column 2=udp"}; !slices.Equal(got, want) {
		t.Errorf("names %q, want %q", got, want)
	}
}

func TestFitUsesTheTrainingRowsOnly(t *testing.T) {
	data := tableOf(
		number("x", 1, 3, 1e9, missing),
		number("later", 5, 5, 6, 7),
		symbol("s", "a", "b", "new", ""),
	)
	m, _, err := Fit(data, named, []int{0, 1}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.Names(), []string{"x", "s=a", "s=b"}; !slices.Equal(got, want) {
		t.Fatalf("names %q, want %q", got, want)
	}
	data.Columns[0].Values = []float64{1, 3, 2, 5}
	data.Columns[2].Codes[3] = 0
	var e Encoded
	for i := range 4 {
		if err := m.Encode(data, i, &e); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(e.Counts.Unknown, []int{0, 1}) || !slices.Equal(e.Counts.Missing, []int{0, 0}) || e.Counts.Rows != 4 {
		t.Errorf("counts %+v, want one unknown value of s in four rows", e.Counts)
	}
}

func TestMissingValues(t *testing.T) {
	data := tableOf(
		number("x", 1, 2, 6, missing),
		symbol("s", "a", "b", "a", ""),
	)
	for _, test := range []struct {
		impute schema.Impute
		names  []string
		last   []float64 // the row with the missing values, unscaled columns
	}{
		{schema.ImputeMedian, []string{"x", "s=a", "s=b"}, []float64{2, 1, 0}},
		{schema.ImputeZero, []string{"x", "s=a", "s=b"}, []float64{0, 0, 0}},
		{schema.ImputeIndicator, []string{"x", "x missing", "s=a", "s=b", "s missing"}, []float64{0, 1, 0, 0, 1}},
	} {
		m := fit(t, data, Options{Scale: schema.ScaleNone, Impute: test.impute})
		if got := m.Names(); !slices.Equal(got, test.names) {
			t.Errorf("%s: names %q, want %q", test.impute, got, test.names)
		}
		if got := encoded(t, m, data)[3]; !slices.Equal(got, test.last) {
			t.Errorf("%s: %v, want %v", test.impute, got, test.last)
		}
	}
	_, _, err := Fit(data, named, nil, Options{})
	e := diag.Of(err)
	if e == nil || e.Kind != diag.Data || e.File != "train.csv" || e.Line != 5 || e.Column != "x" || len(e.Fixes) == 0 {
		t.Errorf("error policy: %v", err)
	}
}

// Scaled columns: under median and zero the imputed training column has mean 0 and deviation 1. Under
// indicator the present values have, and a missing one is at the mean.
func TestMissingValuesAndScaling(t *testing.T) {
	data := tableOf(number("x", 1, 2, 6, missing, 7), number("y", 1, 2, 3, 4, 5))
	for _, impute := range []schema.Impute{schema.ImputeMedian, schema.ImputeZero, schema.ImputeIndicator} {
		m := fit(t, data, Options{Impute: impute})
		var mean, square, n float64
		for i, row := range encoded(t, m, data) {
			if impute == schema.ImputeIndicator && i == 3 {
				if row[0] != 0 {
					t.Errorf("own: %v, want 0 after scaling", row[0])
				}
				continue
			}
			mean, square, n = mean+row[0], square+row[0]*row[0], n+1
		}
		if math.Abs(mean) > 1e-6 || math.Abs(square/n-1) > 1e-6 {
			t.Errorf("%s: mean %v, variance %v", impute, mean/n, square/n)
		}
	}
}

// A policy also applies to later files if no value was missing in training.
func TestMissingAfterCompleteTraining(t *testing.T) {
	train := tableOf(number("x", 1, 2, 6), symbol("s", "b", "b", "a"))
	later := tableOf(number("x", missing), symbol("s", ""))
	for impute, want := range map[schema.Impute][]float64{
		schema.ImputeMedian: {2, 1, 0}, schema.ImputeZero: {0, 0, 0}, schema.ImputeIndicator: {0, 0, 0},
	} {
		m := fit(t, train, Options{Scale: schema.ScaleNone, Impute: impute})
		if got := encoded(t, m, later)[0]; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", impute, got, want)
		}
	}
	m := fit(t, train, Options{})
	var e Encoded
	if err := m.Encode(later, 0, &e); err == nil || !strings.Contains(err.Error(), `train.csv:2: column "x": a missing value`) {
		t.Errorf("error policy: %v", err)
	}
}

func TestNothingVaries(t *testing.T) {
	data := tableOf(number("x", 1, 1), number("gone", missing, missing))
	_, _, err := Fit(data, named, nil, Options{Impute: schema.ImputeMedian})
	if e := diag.Of(err); e == nil || e.Kind != diag.Data || !strings.Contains(e.Found, "no column is left") {
		t.Errorf("%v", err)
	}
}

func TestUnknownOptions(t *testing.T) {
	data := tableOf(number("x", 1, 2))
	for param, o := range map[string]Options{"scale": {Scale: "robust"}, "impute": {Impute: "mean"}} {
		_, _, err := Fit(data, named, nil, o)
		if e := diag.Of(err); e == nil || e.Kind != diag.Usage || e.Param != param {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestValuesBeyondFloat32AreRefused(t *testing.T) {
	m := fit(t, tableOf(number("x", 1, 2)), Options{})
	var e Encoded
	err := m.Encode(tableOf(number("x", 1, 1e40)), 1, &e)
	if f := diag.Of(err); f == nil || f.Line != 3 || f.Column != "x" {
		t.Errorf("%v", err)
	}
}

func TestWrongTable(t *testing.T) {
	m := fit(t, tableOf(number("x", 1, 2), symbol("s", "a", "b")), Options{})
	sparse := &table.Table{Sparse: &table.Sparse{Start: []int64{0}}}
	for name, data := range map[string]*table.Table{
		"other kind":   tableOf(number("x", 1), number("s", 2)),
		"other name":   tableOf(number("y", 1), symbol("s", "a")),
		"fewer":        tableOf(number("x", 1)),
		"other format": sparse,
	} {
		if err := m.Check(data); diag.Of(err) == nil || diag.Of(err).Kind != diag.Model {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A row of weight 2 has the same effect as two equal rows.
func TestWeightsAsRepeatedRows(t *testing.T) {
	weighted := tableOf(number("x", 1, 2, 6, missing), symbol("s", "a", "b", "c", "b"))
	weighted.Weight = []float64{2, 1, 3, 1}
	repeated := tableOf(number("x", 1, 1, 2, 6, 6, 6, missing), symbol("s", "a", "a", "b", "c", "c", "c", "b"))
	for _, impute := range []schema.Impute{schema.ImputeMedian, schema.ImputeZero, schema.ImputeIndicator} {
		o := Options{Scale: schema.ScaleAll, Impute: impute}
		a, b := fit(t, weighted, o), fit(t, repeated, o)
		near := cmp.Comparer(func(x, y float64) bool { return math.Abs(x-y) <= 1e-12*max(1, math.Abs(x)) })
		if diff := cmp.Diff(toAny(t, a), toAny(t, b), near); diff != "" {
			t.Errorf("%s (-weighted +repeated):\n%s", impute, diff)
		}
	}
}

func toAny(t *testing.T, m *Map) any {
	t.Helper()
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestEncodingAllocatesNothing(t *testing.T) {
	data := tableOf(number("x", 1, 2, 3), symbol("s", "a", "b", "a"))
	m := fit(t, data, Options{})
	scorer, err := NewScorer(m, []float64{1, 2, 3}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() {
		for row := range data.Rows() {
			if _, err := scorer.Score(data, row); err != nil {
				t.Fatal(err)
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestColumnsThatMayBeIdentifiers(t *testing.T) {
	values := make([]string, 1500)
	for i := range values {
		values[i] = strings.Repeat("x", i%800+1)
	}
	_, warnings, err := Fit(tableOf(symbol("host", values...)), named, nil, Options{})
	if err != nil || len(warnings) != 1 || warnings[0].Code != "many-categories" ||
		!strings.Contains(warnings[0].Text, `"host" has 800`) {
		t.Errorf("%v, %v", warnings, err)
	}
}

// Counts of goroutines that share a map add up.
func TestCountsAdd(t *testing.T) {
	m := fit(t, tableOf(number("x", 1, 2), symbol("s", "a", "b")), Options{Impute: schema.ImputeZero})
	later := tableOf(number("x", missing, 3), symbol("s", "c", ""))
	var total Counts
	for row := range 2 {
		var e Encoded
		if err := m.Encode(later, row, &e); err != nil {
			t.Fatal(err)
		}
		total.Add(e.Counts)
	}
	want := []Tally{{Column: "x", Missing: 1}, {Column: "s", Missing: 1, Unknown: 1}}
	if got := total.Tallies(m); !slices.Equal(got, want) || total.Rows != 2 {
		t.Errorf("%+v of %d rows, want %+v", got, total.Rows, want)
	}
}

// randomTable has numeric and categorical columns with missing values, or LIBSVM rows.
func randomTable(r *rand.Rand, rows int, sparse bool) *table.Table {
	data := &table.Table{File: "random"}
	for i := range rows {
		data.Line = append(data.Line, i+1)
		data.Label = append(data.Label, table.Class(r.IntN(2)))
		data.Weight = append(data.Weight, 1+float64(r.IntN(3))/2)
	}
	data.Label[0], data.Label[rows-1] = table.Positive, table.Negative
	if sparse {
		data.Sparse = &table.Sparse{Cols: 40, Start: []int64{0}}
		for range rows {
			for j := range 40 {
				if r.IntN(5) == 0 {
					data.Sparse.Index = append(data.Sparse.Index, uint32(j))
					data.Sparse.Value = append(data.Sparse.Value, (r.Float64()-.5)*100)
				}
			}
			data.Sparse.Start = append(data.Sparse.Start, int64(len(data.Sparse.Index)))
		}
		return data
	}
	words := []string{"", "tcp", "udp", "icmp", "ß", `"`, "<&>", "a b"}
	for j := range 7 {
		c := number("x")
		if j%3 == 2 {
			c = symbol("x", words...)
			c.Codes = nil
		}
		c.Name, c.Number = c.Name+string(rune('0'+j)), j+1
		for range rows {
			if c.Kind == schema.Categorical {
				c.Codes = append(c.Codes, int32(r.IntN(len(words)))-1)
			} else if r.IntN(9) == 0 {
				c.Values = append(c.Values, missing)
			} else {
				c.Values = append(c.Values, math.Ldexp(r.Float64()-.4, j*5))
			}
		}
		data.Columns = append(data.Columns, c)
	}
	return data
}

// The packed matrix, the scorer and a map that went through JSON give the same bits.
func TestScoresAreTheMatrixsBits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for trial := range 60 {
		data := randomTable(r, 70+r.IntN(80), trial%4 == 3)
		o := Options{
			Scale:  []schema.Scale{schema.ScaleStandard, schema.ScaleAll, schema.ScaleNone}[trial%3],
			Impute: []schema.Impute{schema.ImputeMedian, schema.ImputeZero, schema.ImputeIndicator}[r.IntN(3)],
		}
		m := fit(t, data, o)
		w := make([]float64, m.Cols())
		for j := range w {
			w[j] = r.NormFloat64()
		}
		packed, err := m.Matrix(data, nil, matrix.Float32)
		if err != nil {
			t.Fatal(err)
		}
		if packed.Cols() != m.Cols() || packed.Rows() != data.Rows() {
			t.Fatalf("matrix of %d rows, %d columns", packed.Rows(), packed.Cols())
		}
		scores := make([]float64, data.Rows())
		scorer, err := NewScorer(reread(t, m), w, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := scorer.Scores(data, scores); err != nil {
			t.Fatal(err)
		}
		for _, part := range []*matrix.ClassRows{packed.Positives, packed.Negatives} {
			z := make([]float64, part.Rows())
			part.Scores(w, z)
			for i := range z {
				if got := scores[part.Source(i)]; math.Float64bits(got) != math.Float64bits(z[i]) {
					t.Fatalf("trial %d, row %d: scorer %v, matrix %v", trial, part.Source(i), got, z[i])
				}
			}
		}
	}
}

func reread(t *testing.T, m *Map) *Map {
	t.Helper()
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	again := new(Map)
	if err := json.Unmarshal(data, again); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	if second, _ := json.Marshal(again); string(second) != string(data) {
		t.Fatalf("not stable:\n%s\n%s", data, second)
	}
	return again
}

func TestMatrixRequiresLabels(t *testing.T) {
	data := tableOf(number("x", 1, 2, 3))
	m := fit(t, data, Options{})
	data.Label[1] = table.Unknown
	_, err := m.Matrix(data, nil, matrix.Float32)
	if e := diag.Of(err); e == nil || e.Line != 3 {
		t.Errorf("%v", err)
	}
}

func TestMatrixRows(t *testing.T) {
	data := tableOf(number("x", 1, 2, 3, 4, 5, 6))
	m := fit(t, data, Options{Scale: schema.ScaleNone})
	x, err := m.Matrix(data, []int{1, 2, 5}, matrix.Float64)
	if err != nil {
		t.Fatal(err)
	}
	row := make([]float64, 1)
	x.Positives.Row(1, row)
	if x.Rows() != 3 || x.Positives.Source(1) != 5 || row[0] != 6 {
		t.Errorf("%d rows, second positive is row %d with %v", x.Rows(), x.Positives.Source(1), row)
	}
}
