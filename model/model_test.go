package model

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toptau/calibrate"
	"toptau/diag"
	"toptau/internal/data/sketch"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/internal/models/feature/trees"
	"toptau/method"
	"toptau/metric"
	"toptau/result"
	"toptau/schema"
	"toptau/threshold"
)

var update = flag.Bool("update", false, "rewrite the golden models")

// trained is a model of every kind of column and field, fitted on five rows.
func trained(t testing.TB) *Model {
	data := &table.Table{
		Columns: []table.Column{
			{Name: "bytes", Number: 1, Values: []float64{2, 4, math.NaN(), 6, 8}},
			{Name: "service", Number: 2, Kind: schema.Categorical, Codes: []int32{0, 1, 0, -1, 0}, Dictionary: []string{"http", "f<t>p \"ü\""}},
			{Name: "zero", Number: 4, Values: []float64{0, 0, 0, 0, 0}},
		},
		Line: []int{2, 3, 4, 5, 6},
	}
	bound := 0.04
	yes := false
	m, err := New(Parts{
		Schema: schema.Schema{Format: "csv", Header: true, Width: 5,
			Columns: []schema.Column{{Name: "bytes", Number: 1, Kind: schema.Numeric}, {Name: "service", Number: 2, Kind: schema.Categorical}, {Name: "zero", Number: 4, Kind: schema.Numeric}},
			Label:   &schema.Name{Name: "label", Number: 5}, Positive: []string{"!normal"}, Missing: []string{"NA"}, Others: []schema.Name{{Name: "id", Number: 3}}},
		Features: features(t, data, schema.Schema{Header: true}, feature.Options{Impute: schema.ImputeIndicator}),
		Weights:  []float64{1.0 / 3, -2, 0.125, 1e-17, 0.5},
		Offset:   -0.25,
		Points: []Point{
			{Name: "default", Threshold: 0.1, Goal: metric.RateGoal(metric.GoalMaxFPR, "1%"), Source: "order statistic of calibration negatives",
				Guarantee: &calibrate.Guarantee{Certified: true, Kind: "max-fpr", Rate: threshold.MustRate("1%"), Delta: threshold.MustRate("5%"),
					Negatives: 300, Order: 300, Bound: 0.049040894071285854}},
			{Name: "per id", Threshold: 1, Goal: metric.RateGoal(metric.GoalTop, "1%"), Source: "quantile of the training scores",
				Segment: "id", Segments: []Segment{{Value: "a", Threshold: 2}, {Value: "b", Threshold: 3}}},
		},
		Members: []Member{{Problem: method.Problem{Method: "patmat-np", Surrogate: "hinge", Lambda: 0.001, Tau: threshold.MustRate("1/3"), Beta: 0.1},
			Blocks: []int{0, 1}, Share: 1, Settings: method.Settings{Solver: "adam", Iterations: 1000, Step: 0.01, Start: "zero", Seed: 7},
			Evidence: &Evidence{Bounds: result.Bounds{Objective: 0.5, AtZero: 1, Lower: &bound}, Threshold: 0.7, ZeroIsOptimal: &yes}}},
		Training: Training{Rows: 5, Positives: 2, Digest: "sha256:" + strings.Repeat("0a", 32), Seed: 7},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// changed returns a model made from changed parts.
func changed(t testing.TB, m *Model, change func(*Parts)) *Model {
	p := m.Parts()
	change(&p)
	m, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// signed returns a model with a signature.
func signed(t testing.TB, m *Model, key ed25519.PrivateKey) *Model {
	m, err := m.Sign(key)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// complete is trained with fingerprints and a signature.
func complete(t testing.TB) *Model {
	return signed(t, changed(t, trained(t), func(p *Parts) {
		p.Fingerprints = &Fingerprints{Rows: 5, Sampled: 5, Cut: 1 << sketch.Bits,
			Hashes: [sketch.MaxCounted]HashList{{1, 0xfedcba987654}, nil, {0x800000000000}}}
	}), testKey(1))
}

// extended is a model with every field.
func extended(t testing.TB) *Model {
	return signed(t, changed(t, complete(t), func(p *Parts) {
		p.Averages = &Averages{Rows: 3, Score: 0.125, Adds: make([]float64, len(p.encoding().Inputs))}
		p.Averages.Adds[0] = -0.5
		p.Schema.Labels = []schema.LabelCount{{Value: "normal", Count: 2}, {Value: "attack", Count: 1}}
		p.Schema.OtherLabels = 2
		p.Probability = &calibrate.Probability{Method: calibrate.Isotonic, Knots: []calibrate.Knot{{Score: -1, Probability: 0.01}, {Score: 2.5, Probability: 0.75}},
			Scale: 0.5, Prevalence: 0.25, Rows: 40, Positives: 10, Source: "held-out rows",
			Reliability: []calibrate.Reliability{{Rows: 40, Positives: 10, Predicted: 0.26, Observed: 0.25, Low: 0.125, High: 0.5}}}
		p.Points[0].Entity, p.Points[0].Day = "host", "time"
		p.Points[0].UpTo = 0.0625
		at, former := p.Points[0].Threshold, 0.5
		p.History = []Change{{Action: PointReplaced, Name: p.Points[0].Name, Threshold: &at, Former: &former, FormerSource: "training rows", Note: "2026-11-22"},
			{Action: PointFirst, Name: p.Points[0].Name}}
		p.Profile = &Profile{Rows: 30, Columns: []ProfiledColumn{
			{Input: 0, Rank: []int{1, 15, 24, 30}, Ties: []uint32{7, 9, 5, 4000000000}, Values: []float64{-0.5, 2, 2.25}, Counts: []int{30, 14, 7, 1}},
			{Input: 1, Rank: []int{20, 29, 30}, Ties: []uint32{0, 3, 8}, Cells: []int{0, OtherCell, MissingCell}, At: []int{0, 1, 1}, Counts: []int{19, 11, 0}}}}
		p.Reference = &calibrate.Reference{Sample: calibrate.Sample{Rows: 4, Above: []int{3, 2, 1, 0}, Scores: []float64{-1, 0.5, 0.5, 3}},
			Ties: []uint32{9, 1, 2, 3}, Counts: []int{4, 3, 1, 1}, Source: "the test part"}
	}), testKey(1))
}

func features(t testing.TB, data *table.Table, s schema.Schema, o feature.Options) *feature.Map {
	fitted, _, err := feature.Fit(data, s, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	return fitted
}

// sparse is a model of LIBSVM data.
func sparse(t testing.TB) *Model {
	data := &table.Table{
		Sparse: &table.Sparse{Cols: 20, Start: []int64{0, 2, 3, 3}, Index: []uint32{0, 16, 0}, Value: []float64{1, 2, 3}},
		Line:   []int{1, 2, 3},
	}
	m, err := New(Parts{
		Schema:   schema.Schema{Format: schema.LIBSVM, Width: 20},
		Features: features(t, data, schema.Schema{}, feature.Options{Scale: schema.ScaleNone}),
		Weights:  []float64{2, -1},
		Training: Training{Rows: 3, Positives: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func encoded(t testing.TB, m *Model) []byte {
	data, err := m.bytes()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// golden are models with their files, which the readers in Python and JavaScript read, too.
func golden(t testing.TB) map[string]*Model {
	return map[string]*Model{"testdata/plain.json": trained(t), "testdata/complete.json": extended(t)}
}

func TestGoldenFiles(t *testing.T) {
	for path, m := range golden(t) {
		got := encoded(t, m)
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
		read, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(encoded(t, read), want) {
			t.Errorf("%s is saved differently", path)
		}
		score, err := read.ScoreFields([]string{"7.23607", "http", "0"})
		if err != nil || score != 0.2083336512247721 {
			t.Errorf("%s: %v, %v", path, score, err)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	for i, m := range []*Model{complete(t), sparse(t)} {
		path := filepath.Join(dir, "m.json")
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		again, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := encoded(t, m), encoded(t, again); !slices.Equal(a, b) {
			t.Errorf("model %d: bytes differ after a round trip", i)
		}
		maps := cmp.Comparer(func(a, b *feature.Map) bool { return slices.Equal(a.Names(), b.Names()) })
		rates := cmp.Comparer(func(a, b threshold.Rate) bool { return a == b })
		if diff := cmp.Diff(m.parts, again.parts, maps, rates, cmp.Comparer(func(a, b metric.Goal) bool { return a == b }),
			cmp.Comparer(func(a, b calibrate.Guarantee) bool { return reflect.DeepEqual(a, b) })); diff != "" && i == 0 {
			t.Errorf("model %d (-saved +loaded):\n%s", i, diff)
		}
	}
}

// Every byte matters: a file with a byte replaced, inserted or removed is refused, and the error names it.
func TestEveryEditIsRefused(t *testing.T) {
	data := encoded(t, trained(t))
	try := func(what string, i int, edited []byte) {
		t.Helper()
		m, err := Read(strings.NewReader(string(edited)), "m.json")
		e := diag.Of(err)
		if m != nil || e == nil || e.Kind != diag.Model || e.File != "m.json" {
			t.Fatalf("%s at byte %d: model %v, error %v", what, i, m != nil, err)
		}
	}
	for i := range data {
		for _, c := range []byte{'0', '7', ' ', data[i] ^ 1, data[i] ^ 0x20} {
			if c != data[i] {
				edited := slices.Clone(data)
				edited[i] = c
				try("replaced", i, edited)
			}
		}
		try("removed", i, slices.Delete(slices.Clone(data), i, i+1))
		try("inserted", i, slices.Insert(slices.Clone(data), i, ' '))
		try("truncated", i, data[:i])
	}
	try("appended", len(data), append(slices.Clone(data), '\n'))
}

// resealed replaces text in a model file and gives it a valid checksum, as an editor who knows the format
// would.
func resealed(t *testing.T, data []byte, old, new string) []byte {
	t.Helper()
	if strings.Count(string(data), old) == 0 {
		t.Fatalf("no %q in the file", old)
	}
	body := []byte(strings.Replace(string(data[:len(data)-tailSize]), old, new, 1))
	return append(body, trailer(body)...)
}

// forgeries are edits with a valid checksum, and part of the error; "" if the edit is accepted.
var forgeries = []struct{ old, new, want string }{
	{`"toptau_model": 1,`, `"toptau_model": 2,`, "format 2, this toptau reads format 1"},
	{`"toptau_model": 1,`, `"toptau_model": 0,`, "number is not readable"},
	{`"toptau_model": 1,`, `"toptau_model": 01,`, "number is not readable"},
	{`"toptau_model": 1,`, `"toptau_model":1,`, "not a toptau model"},
	{`"offset":-0.25`, `"offset":-0.5`, "probe row 1 scores"},
	{`"offset":-0.25`, `"offset":-0.250`, "not in the form"},
	{`"offset":-0.25`, `"offset":1e999`, "1e999"},
	{`"offset":-0.25`, `"offset":null`, "expected a number"},
	{`"offset"`, `"Offset"`, `unknown field "Offset"`},
	{`"offset":-0.25`, `"offset":-0.25,"surplus":1`, `unknown field "surplus"`},
	{`"program": {`, `"surplus": 1,` + "\n" + `"program": {`, `unknown field "surplus"`},
	{`"program": {`, `"program": null,` + "\n" + `"program": {`, `field "program" twice`},
	{`"weights":[-2]`, `"weights":[-2,1]`, "2 weights for 1 features"},
	{`"weights":[-2]`, `"weights":[]`, "0 weights for 1 features"},
	{`"weights":[0.3333333333333333]`, `"weights":[1,2]`, "2 weights for 1 inputs"},
	{`"weights":[0.125,1e-17,0.5]`, `"weights":[0.125,1.00001e-17,0.5]`, "do not belong together"}, // no probe row notices
	{`{"numbers":`, `{"pairs":`, `unknown field "pairs"`},
	{`{"numbers":`, `{"levels":[],"numbers":`, "not one of numbers"},
	{`"terms":[`, `"terms":[{},`, "not one of numbers"},
	{`"columns":[0,1]`, `"columns":[0,3]`, "column 3 of 3"},
	{`"columns":[0,1]`, `"columns":[1,0]`, "out of order"},
	{`"columns":[0,1]`, `"columns":[0]`, "input 1"},
	{`"columns":[0,1]`, `"columns":[0,1],"known":[4]`, "indices of a program of columns"},
	{`"columns":[0,1]`, `"columns":[0,1],"fill":[1]`, "1 stand-ins"},
	{`"inputs":[0]`, `"inputs":[2]`, "not a numeric input"},
	{`"texts":[{"input":1`, `"texts":[{"input":2`, "input 2"},
	{`"missing":"indicator"`, `"missing":"mean"`, `impute "mean"`},
	{`"scale":"standard"`, `"scale":"all"`, "do not belong together"},
	{`"scale":"standard"`, `"scale":"some"`, `scale "some"`},
	{`"dropped":[{"column":2`, `"dropped":[{"column":1`, "do not belong together"},
	{`"header":true`, `"header":false`, "do not belong together"},
	{`"kind":"categorical"`, `"kind":"numeric"`, "categorical"},
	{`"name":"bytes","number":1`, `"name":"octets","number":1`, "do not belong together"},
	{`"number":4`, `"number":1`, `"zero" has number 1`},
	{`"format":"csv"`, `"format":"parquet"`, `format "parquet"`},
	{`"width":5`, `"width":3`, `column "zero"`},
	{`"threshold":0.1`, `"threshold":-0.1`, ""},
	{`"name":"per id"`, `"name":"default"`, "taken"},
	{`"certified":true,"kind":"max-fpr"`, `"certified":true,"kind":"luck"`, `"luck"`},
	{`"goal":{"kind":"max-fpr"`, `"goal":{"kind":"luck"`, `"luck"`},
	{`"order":300`, `"order":301`, "order 301 of 300"},
	{`"order":300`, `"order":299`, "binomial tail of order 299 of 300"},
	{`"delta":"0.05"`, `"delta":"0.01"`, "above delta 0.01"},
	{`"goal":{"kind":"max-fpr","rate":"0.01"}`, `"goal":{"kind":"top","rate":"0.01"}`, `kind "max-fpr" with rate "0.01" for another goal`},
	{`"certified":true`, `"certified":false`, "not certified"},
	{`"source":"order`, `"source":"out-of-fold order`, "a guarantee, and the source"},
	{`"value":"a"`, `"value":"c"`, "out of order"},
	{`"rate":"0.01"`, `"rate":"1%"`, "not in the form"},
	{`"rate":"0.01"`, `"rate":"2"`, "rate"},
	{`"share":1`, `"share":0.5`, "sum to 0.5"},
	{`"blocks":[0,1]`, `"blocks":[0,2]`, "feature block 2 of 2"},
	{`"positives":2`, `"positives":6`, "6 positives of 5 rows"},
	{`"digest":"sha256:0a`, `"digest":"sha256:0`, "digest"},
	{`"probes": [`, `"probes": [ `, "not in the form"},
	{`"fields":["5"`, `"fields":["five"`, "probe row 1: column"},
}

func TestForgeriesAreRefused(t *testing.T) {
	data := encoded(t, trained(t))
	for _, edit := range forgeries {
		m, err := Read(strings.NewReader(string(resealed(t, data, edit.old, edit.new))), "m.json")
		if edit.want == "" {
			// A forger may change fields that nothing else depends on.
			if err != nil || string(encoded(t, m)) == string(data) {
				t.Errorf("%s: error %v", edit.new, err)
			}
			continue
		}
		if e := diag.Of(err); e == nil || e.Kind != diag.Model || !strings.Contains(err.Error(), edit.want) || e.File != "m.json" {
			t.Errorf("%s: error %v, want %q", edit.new, err, edit.want)
		}
	}
}

// CheckProgram trusts no check that reading made.
func TestCheckProgramCompilesAgain(t *testing.T) {
	m, err := Read(bytes.NewReader(encoded(t, trained(t))), "m.json")
	if err != nil || CheckProgram(m) != nil {
		t.Fatal(err, CheckProgram(m))
	}
	m.parts.Weights[0] = math.Nextafter(m.parts.Weights[0], 1)
	if err := CheckProgram(m); diag.Of(err) == nil || !strings.Contains(err.Error(), "do not belong together") {
		t.Error(err)
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	dir := t.TempDir()
	other, empty := filepath.Join(dir, "flows.csv"), filepath.Join(dir, "empty")
	os.WriteFile(other, []byte("a,b\n1,2\n"), 0o644)
	os.WriteFile(empty, nil, 0o644)
	for path, want := range map[string]struct {
		kind diag.Kind
		text string
	}{
		other:                      {diag.Model, "not a toptau model"},
		empty:                      {diag.Model, "an empty file, not a toptau model"},
		dir:                        {diag.IO, "cannot be read: is a directory"},
		filepath.Join(dir, "gone"): {diag.IO, "cannot be read: no such file"},
	} {
		_, err := Load(path)
		if e := diag.Of(err); e == nil || e.Kind != want.kind || e.File != path || !strings.Contains(err.Error(), want.text) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A source that never ends is refused by its first bytes.
func TestEndlessInput(t *testing.T) {
	if _, err := Read(zeros{}, "/dev/zero"); err == nil || !strings.Contains(err.Error(), "not a toptau model") {
		t.Errorf("%v", err)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func TestOtherFormatIsNamed(t *testing.T) {
	_, err := Read(strings.NewReader("{\n\"toptau_model\": 7,\n\"entirely\": \"different\"}"), "m.json")
	want := "m.json: format 7, this toptau reads format 1 (use the toptau that wrote it)"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestBrokenPartsMakeNoModel(t *testing.T) {
	for name, spoil := range map[string]func(*Parts){
		"NaN weight":    func(p *Parts) { p.Weights[0] = math.NaN() },
		"infinite":      func(p *Parts) { p.Points[0].Threshold = math.Inf(1) },
		"not UTF-8":     func(p *Parts) { p.Points[0].Source = "\xff" },
		"no features":   func(p *Parts) { p.Features = nil },
		"certificate":   func(p *Parts) { p.Members[0].Evidence = &Evidence{Bounds: result.Bounds{Objective: math.Inf(1)}} },
		"unnamed point": func(p *Parts) { p.Points[0].Name = "" },
		"a label twice": func(p *Parts) {
			p.Schema.Labels = []schema.LabelCount{{Value: "a", Count: 1}, {Value: "a", Count: 2}}
		},
		"other labels":    func(p *Parts) { p.Schema.OtherLabels = 1 },
		"too many labels": func(p *Parts) { p.Schema.Labels = make([]schema.LabelCount, 101) },
	} {
		p := trained(t).Parts()
		spoil(&p)
		if m, err := New(p); m != nil || err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFilesWithoutProbeRowsAreRefused(t *testing.T) {
	m := trained(t)
	m.probes = nil
	data, err := m.bytes()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Read(bytes.NewReader(data), "m.json"); err == nil || !strings.Contains(err.Error(), "no probe rows") {
		t.Error(err)
	}
}

// Methods that change points do not change the model itself.
func TestPointsOfANewModel(t *testing.T) {
	m := complete(t)
	before := encoded(t, m)
	point := Point{Name: "third", Threshold: 3}
	names := func(m *Model, err error) string {
		if err != nil {
			return err.Error()
		}
		var list []string
		for _, p := range m.Points() {
			list = append(list, p.Name)
		}
		if m.Signature() != nil {
			list = append(list, "signed")
		}
		return strings.Join(list, ", ")
	}
	for _, test := range []struct{ got, want string }{
		{names(m.WithPoint(point)), "default, per id, third"},
		{names(m.WithPoint(Point{Name: "per id"})), `operating point "per id" in the model, expected a new name`},
		{names(m.WithPoint(Point{})), `operating point 3: the name "" is empty or taken`},
		{names(m.WithoutPoint("default")), "per id"},
		{names(m.WithoutPoint("none")), `operating point "none", expected one of default, per id`},
		{names(m.WithDefault("per id")), "per id, default"},
		{names(m.WithReplaced(Point{Name: "per id", Threshold: 1})), "default, per id"},
		{names(m.WithReplaced(point)), `operating point "third", expected one of default, per id`},
	} {
		if test.got != test.want {
			t.Errorf("%s, want %s", test.got, test.want)
		}
	}
	m.Points()[0].Name = "changed"
	m.Members()[0].Lambda = 7
	if !bytes.Equal(before, encoded(t, m)) {
		t.Error("the model has changed")
	}
	further, err := m.WithPoint(point)
	if err != nil {
		t.Fatal(err)
	}
	if further, err = further.WithReplaced(Point{Name: "third", Threshold: 4, Source: "later rows"}); err != nil {
		t.Fatal(err)
	}
	if further, err = further.WithNote("week 47"); err != nil {
		t.Fatal(err)
	}
	if further, err = further.WithoutPoint("per id"); err != nil {
		t.Fatal(err)
	}
	again, err := Read(bytes.NewReader(encoded(t, further)), "m.json")
	if err != nil {
		t.Fatal(err)
	}
	history := ""
	for _, c := range again.History()[len(m.History()):] {
		history += fmt.Sprintf("%s %s %q; ", c.Action, c.Name, c.Note)
	}
	if want := `add third ""; replace third "week 47"; remove per id ""; `; history != want {
		t.Errorf("%s, want %s", history, want)
	}
	if p, _ := again.Point("third"); p.Threshold != 4 || *again.History()[len(m.History())+1].Former != 3 {
		t.Errorf("%+v, %+v", p, again.History())
	}
	if _, err := trained(t).WithNote("nothing changed"); err == nil {
		t.Error("a note without a change")
	}
}

func TestDigest(t *testing.T) {
	m := complete(t)
	digest, err := m.Digest()
	if err != nil || !strings.HasSuffix(string(encoded(t, m)), `"checksum": "`+digest+closing) {
		t.Errorf("%s, %v", digest, err)
	}
}

func TestWeights(t *testing.T) {
	m, text := trained(t), ""
	for name, w := range m.Weights() {
		text += fmt.Sprintf("%s %v, ", name, w)
	}
	if want := "bytes 0.3333333333333333, bytes missing -2, service=http 0.125, service=f<t>p \"ü\" 1e-17, service missing 0.5, "; text != want ||
		m.Len() != 5 || m.Offset() != -0.25 {
		t.Errorf("%q", text)
	}
}

// fullWriter takes a few bytes, then reports a full disk.
type fullWriter struct{ room int }

var errFull = errors.New("no space left on device")

func (w *fullWriter) Write(b []byte) (int, error) {
	if len(b) <= w.room {
		w.room -= len(b)
		return len(b), nil
	}
	n := w.room
	w.room = 0
	return n, errFull
}

func TestFullDisk(t *testing.T) {
	m := trained(t)
	n, err := m.WriteTo(&fullWriter{room: 100})
	if e := diag.Of(err); n != 100 || e == nil || e.Kind != diag.IO || !errors.Is(err, errFull) {
		t.Errorf("%d bytes, %v", n, err)
	}
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	if err := m.Save("/dev/full"); diag.Of(err) == nil || diag.Of(err).File != "/dev/full" {
		t.Errorf("/dev/full: %v", err)
	}
}

func TestSaveLeavesTheOldFileWhenItFails(t *testing.T) {
	if os.Getuid() == 0 {
		t.Log("running as root: permissions do not bind, only the missing directory is tested")
	}
	m, dir := trained(t), t.TempDir()
	path := filepath.Join(dir, "m.json")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() != 0 {
		os.Chmod(dir, 0o555)
		defer os.Chmod(dir, 0o755)
		if err := m.Save(path); diag.Of(err) == nil || diag.Of(err).Kind != diag.IO {
			t.Errorf("read-only directory: %v", err)
		}
	}
	if err := m.Save(filepath.Join(dir, "none", "m.json")); diag.Of(err) == nil {
		t.Errorf("missing directory: %v", err)
	}
	entries, _ := os.ReadDir(dir)
	if got, _ := os.ReadFile(path); string(got) != "old" || len(entries) != 1 {
		t.Errorf("holds %q, directory %v", got, entries)
	}
}

func TestWriteTo(t *testing.T) {
	var b strings.Builder
	n, err := trained(t).WriteTo(&b)
	if err != nil || n != int64(b.Len()) {
		t.Fatalf("%d of %d bytes, %v", n, b.Len(), err)
	}
	if _, err := Read(strings.NewReader(b.String()), "-"); err != nil {
		t.Error(err)
	}
}

func TestReadErrors(t *testing.T) {
	broken := io.MultiReader(strings.NewReader(opening+"1,\n\"schema\": {"), errReader{})
	_, err := Read(broken, "m.json")
	if e := diag.Of(err); e == nil || e.Kind != diag.IO || !errors.Is(err, errFull) {
		t.Errorf("%v", err)
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errFull }

func TestPoint(t *testing.T) {
	m := trained(t)
	first, _ := m.Point("")
	second, found := m.Point("per id")
	if _, unknown := m.Point("none"); unknown || !found || first.Name != "default" || second.Threshold != 1 {
		t.Error("points by name")
	}
}

func TestDecide(t *testing.T) {
	m := trained(t)
	for _, test := range []struct {
		point, segment string
		score          float64
		want           bool
	}{
		{"default", "", 0.1, false}, {"default", "a", 0.2, true},
		{"per id", "a", 2, false}, {"per id", "a", 2.5, true}, {"per id", "b", 2.5, false}, {"per id", "c", 1.5, true},
	} {
		p, _ := m.Point(test.point)
		if got := p.Decide(test.score, test.segment); got != test.want {
			t.Errorf("%s, segment %q, score %v: %v", test.point, test.segment, test.score, got)
		}
	}
}

// Spellings of missing values must not turn a probe row into one that the policy refuses.
func TestProbesAvoidMissingSpellings(t *testing.T) {
	p := completeColumns(t, feature.Options{Scale: schema.ScaleNone}, "0", "1", "?unknown", "2.5", "-0.75", "0.25", "0.0078125")
	if _, err := New(p); err != nil {
		t.Error(err)
	}
}

// completeColumns are the parts of a model of two complete columns with spellings of missing values.
func completeColumns(t testing.TB, o feature.Options, missing ...string) Parts {
	data := &table.Table{
		Columns: []table.Column{
			{Name: "x", Number: 1, Values: []float64{3, 4}},
			{Name: "s", Number: 2, Kind: schema.Categorical, Codes: []int32{0, 1}, Dictionary: []string{"a", "b"}},
		},
		Line: []int{1, 2},
	}
	return Parts{
		Schema: schema.Schema{Format: "csv", Header: true, Width: 3, Missing: missing,
			Columns: []schema.Column{{Name: "x", Number: 1, Kind: schema.Numeric}, {Name: "s", Number: 2, Kind: schema.Categorical}}},
		Features: features(t, data, schema.Schema{Header: true}, o),
		Weights:  []float64{1, 2, 3},
	}
}

func FuzzRead(f *testing.F) {
	f.Add(encoded(f, trained(f)), false)
	f.Add(encoded(f, sparse(f)), false)
	f.Add(encoded(f, encodings(f, 200)["boosted"]), true)
	f.Add(encoded(f, encodings(f, 200)["additive"]), true)
	f.Add(encoded(f, trained(f)), true)
	f.Add([]byte("{\n\"toptau_model\": 7,\n"), false)
	f.Add([]byte("{}"), false)
	for _, edit := range forgeries {
		f.Add([]byte(strings.Replace(string(encoded(f, trained(f))), edit.old, edit.new, 1)), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, reseal bool) {
		if reseal && len(data) > tailSize {
			body := data[:len(data)-tailSize]
			data = append(slices.Clone(body), trailer(body)...)
		}
		m, err := Read(strings.NewReader(string(data)), "m.json")
		if err != nil {
			if diag.Of(err) == nil {
				t.Fatalf("an error without a place: %v", err)
			}
			return
		}
		if string(encoded(t, m)) != string(data) {
			t.Fatal("accepted, but saved differently")
		}
	})
}

// Lists of every kind are refused before they take more memory than an honest file of the size needs.
func TestLongListsAreRefused(t *testing.T) {
	data := encoded(t, trained(t))
	for _, edit := range []struct{ old, start, element, end string }{
		{`"weights":[-2]`, `"weights":[-2`, ",0", "]"},
		{`"columns":[0,1]`, `"columns":[0`, ",1", "]"},
		{`"blocks":[0,1]`, `"blocks":[0`, ",1", "]"},
		{`"inputs":[0]`, `"inputs":[0],"scale":[1`, ",1", "]"},
		{`"categories":["http"`, `"categories":["http"`, `,""`, `,"x"`},
		{`"levels":[`, `"levels":[{}`, ",{}", ","},
		{`"terms":[`, `"terms":[null`, ",null", ","},
	} {
		edited := resealed(t, data, edit.old, edit.start+strings.Repeat(edit.element, 5<<20)+edit.end)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := decodeModel(edited)
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; err == nil || !strings.Contains(err.Error(), "longer lists") || taken > 1<<20 {
			t.Errorf("%s: %v, %d bytes of memory for a file of %d", edit.start, err, taken, len(edited))
		}
	}
}

// Honest models may have long lists of short numbers: weights that are all 0, cuts, leaves.
func TestLongListsAreRead(t *testing.T) {
	tree := trees.Tree{}
	var grow func(leaves int)
	grow = func(leaves int) {
		if leaves == 1 {
			tree.Ask, tree.Mass = append(tree.Ask, -1), append(tree.Mass, float64(10+len(tree.Mass)%90))
			return
		}
		tree.Ask, tree.At = append(tree.Ask, 0), append(tree.At, float64(len(tree.At)%1000))
		grow(leaves / 2)
		grow(leaves - leaves/2)
	}
	grow(1 << 15)
	block := &feature.LeavesBlock{Inputs: []int{0}}
	for range 8 {
		block.Trees = append(block.Trees, tree)
	}
	card := feature.Card{}
	for i := range 1 << 15 {
		card.Atoms = append(card.Atoms, float64(i))
	}
	m := &feature.Map{Scale: schema.ScaleStandard, Impute: schema.ImputeError, Inputs: []feature.Input{{Name: "x", Kind: schema.Numeric}}, Dropped: []feature.Dropped{},
		Blocks: []feature.Block{&feature.ScorecardBlock{Columns: []feature.Card{card}}, block}}
	if err := m.Prepare(); err != nil {
		t.Fatal(err)
	}
	made, err := New(Parts{Schema: schema.Schema{Format: "csv", Width: 2, Columns: []schema.Column{{Name: "x", Number: 1, Kind: schema.Numeric}}}, Features: m,
		Weights: make([]float64, m.Cols()), Training: Training{Rows: 2, Positives: 1}})
	if err != nil {
		t.Fatal(err)
	}
	data := encoded(t, made)
	if numbers := bytes.Count(data, []byte(",")); numbers < 1<<20 || len(data) > 4*numbers {
		t.Fatalf("%d numbers in %d bytes are not many and short", numbers, len(data))
	}
	if _, err := Read(bytes.NewReader(data), "m.json"); err != nil {
		t.Error(err)
	}
}
